// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// Draws what the manager sends each second. Elements are kept and changed, not
// made anew, so that the keyboard's focus stays where it is.
"use strict";

const $ = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const ROW = 120, TOP = 50;
// More switches or hosts than these are folded, more rows are for a button. Rates
// of more hosts, or of more links outside the chosen tree, would cover each other.
const SWITCHES = 48, HOSTS = 64, RATES = 24, ROWS = 12;
// What a switch's box, and a host's name, need in width.
const BOX = 104, DISC = 58;
let chosen = null, state = null, past = {};
const all_rows = {};

// The element of this key below parent, made if there is none.
function keep(parent, key, make) {
	parent.kept ??= new Map();
	let el = parent.kept.get(key);
	if (!el) {
		el = make();
		parent.kept.set(key, el);
		parent.append(el);
	}
	el.seen = true;
	return el;
}

function sweep(parent) {
	for (const [key, el] of parent.kept ?? []) {
		if (!el.seen) {
			el.remove();
			parent.kept.delete(key);
		}
		el.seen = false;
	}
}

function set(el, attrs) {
	for (const [name, value] of Object.entries(attrs))
		if (el.getAttribute(name) !== String(value))
			el.setAttribute(name, value);
}

function say(el, text) {
	if (el.textContent !== text)
		el.textContent = text;
}

function svg(name, attrs, ...children) {
	const el = document.createElementNS(SVG, name);
	set(el, attrs);
	el.append(...children);
	return el;
}

function bytes(n) {
	const unit = n >= 1e9 ? [1e9, "GB"] : n >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
	return n ? (n / unit[0]).toFixed(1) + " " + unit[1] : "0";
}

const rate = n => bytes(n) + (n ? "/s" : "");
// With its date, if that is not today's.
function clock(ms) {
	const at = new Date(ms), today = new Date().toDateString();
	return at.toDateString() === today ? at.toLocaleTimeString() :
		at.toLocaleDateString() + " " + at.toLocaleTimeString();
}
const natural = (a, b) => a.localeCompare(b, undefined, { numeric: true });
// Others choose names: one could be "constructor".
const own = (o, name) => o && Object.hasOwn(o, name) ? o[name] : undefined;
// Several tenants may have a group of one name.
const key_of = g => JSON.stringify([g.tenant, g.name]);
const call = g => g.name + (g.tenant ? " of " + g.tenant : "");

// By name: as much of it as there is room for. Of those that begin alike it is
// where they differ.
function shorten(names) {
	const out = new Map(), alike = new Map();
	for (const name of names) {
		const head = name.slice(0, 8);
		out.set(name, name.length > 9 ? head + "…" : name);
		alike.set(head, [...alike.get(head) ?? [], name]);
	}
	for (const list of alike.values()) {
		const longest = Math.max(...list.map(n => n.length));
		let same = 8;
		while (same < longest && list.every(n => n[same] === list[0][same]))
			same++;
		for (const name of list)
			if (list.length > 1 && name.length > 9)
				out.set(name, name.slice(0, 3) + "…" +
					name.slice(Math.min(same, name.length - 5)).slice(0, 5));
	}
	return out;
}

// Does what the user looks for stand in one of these texts?
function found(...texts) {
	const word = $("search").value.trim().toLowerCase();
	return texts.some(t => (t ?? "").toLowerCase().includes(word));
}

// --- The fabric -----------------------------------------------------------

const name_of = s => s.id || s.address;

// Distance of each switch from the hosts: leaves 0, spines 1 ...
function levels(topology) {
	const level = new Map(), near = new Map();
	for (const s of topology.switches)
		near.set(name_of(s), []);
	for (const l of topology.links) {
		near.get(l["from-switch"])?.push(l["to-switch"]);
		near.get(l["to-switch"])?.push(l["from-switch"]);
	}
	let queue = [...new Set(topology.hosts.map(h => h["switch-id"]))];
	for (const s of queue)
		level.set(s, 0);
	while (queue.length) {
		const s = queue.shift();
		for (const n of near.get(s) ?? [])
			if (!level.has(n)) {
				level.set(n, level.get(s) + 1);
				queue.push(n);
			}
	}
	// Those without a link are drawn at the top.
	const top = Math.max(0, ...level.values());
	for (const s of near.keys())
		if (!level.has(s))
			level.set(s, Math.max(1, top));
	return { level, near };
}

// The switches on a shortest way.
function way(near, from, to) {
	const before = new Map([[from, null]]), queue = [from];
	while (queue.length && !before.has(to)) {
		const s = queue.shift();
		for (const n of near.get(s) ?? [])
			if (!before.has(n)) {
				before.set(n, s);
				queue.push(n);
			}
	}
	const list = [];
	for (let s = to; s !== null && before.has(s); s = before.get(s))
		list.push(s);
	return list;
}

const edge_key = (a, b) => a < b ? a + " - " + b : b + " - " + a;
const host_name = h => state.names[h.addr] ?? "";
const end = (sw, itf) => itf ? sw + ":" + itf : sw;
const link_name = l => end(l["from-switch"], l["from-interface"]) + " – " +
	end(l["to-switch"], l["to-interface"]);

// Which links the groups' trees use, and what they carry: one stream each.
function trees(near) {
	const rates = new Map(), edges = new Set(), switches = new Set();
	const hosts = new Map();
	const tasks = new Map(state["task-list"].map(t => [key_of(t), t]));
	const picked = chosen_group();
	let root = null;
	for (const g of state.groups.groups) {
		const task = tasks.get(key_of(g)), mine = g === picked;
		for (const part of g.tree) {
			if (mine) {
				switches.add(part["switch-id"]);
				part.hosts.forEach((h, i) => hosts.set(h,
					[...hosts.get(h) ?? [], part.ranks[i]]));
			}
			if (mine && !part.parent)
				root = part["switch-id"];
			if (!part.parent)
				continue;
			const list = way(near, part["switch-id"], part.parent);
			for (let i = 1; i < list.length; i++) {
				const key = edge_key(list[i - 1], list[i]);
				const one = (task?.["rx-rate"] ?? 0) / g.ranks;
				rates.set(key, (rates.get(key) ?? 0) + one);
				if (mine)
					edges.add(key);
			}
		}
	}
	return { rates, edges, switches, hosts, root, name: picked && call(picked) };
}

// One that is ending only if there is no other of its name.
function chosen_group() {
	const list = state.groups.groups.filter(g => key_of(g) === chosen);
	return list.find(g => g.state !== "ending") ?? list[0];
}

const state_of = s => s.why ? s.state + ": " + s.why : s.state;

// @names: short ones; @hidden: number of its hosts that are folded.
function draw_switch(s, x, y, t, names, hidden) {
	const name = name_of(s), up = s.state === "up";
	const g = keep($("nodes"), "switch " + name, () => svg("g",
		{ tabindex: 0, role: "img" },
		svg("polygon", { class: "shape" }), svg("rect", { class: "inner" }),
		svg("text", { class: "label" }), svg("text", { class: "more" }),
		svg("title", {})));
	const [shape, inner, label, line, title] = g.children;
	const notes = [up ? "" : "✗", hidden ? "+" + hidden : ""].filter(n => n);
	say(title, name);
	set(g, { class: "node switch" + (up ? "" : " down") +
		(t.switches.has(name) ? " tree" : "") +
		(t.root === name ? " root" : ""),
		"aria-label": "switch " + name + ", " + state_of(s) + ", " + s.trees +
		" trees" + (t.root === name ? ", root of " + t.name :
		t.switches.has(name) ? ", in the tree of " + t.name : "") +
		(hidden ? ", " + hidden + " hosts not shown" : "") });
	const cut = up ? 0 : 12;
	set(shape, { points: [[-45 + cut, -18], [45 - cut, -18], [45, -18 + cut],
		[45, 18 - cut], [45 - cut, 18], [-45 + cut, 18], [-45, 18 - cut],
		[-45, -18 + cut]].map(p => (p[0] + x) + "," + (p[1] + y)).join(" ") });
	set(inner, { x: x - 41, y: y - 14, width: 82, height: 28 });
	set(label, { x, y: notes.length ? y : y + 5 });
	say(label, names.get(name));
	set(line, { x, y: y + 12 });
	say(line, notes.join(" "));
}

const host_label = h => host_name(h).split(".")[0] ||
	h.addr.split(/[.:]/).slice(-2).join(".");

function draw_host(h, x, y, client, ranks, t, names) {
	const busy = client?.state === "busy", name = host_name(h);
	const g = keep($("nodes"), "host " + h.addr, () => svg("g",
		{ tabindex: 0, role: "img" }, svg("circle", { class: "ring", r: 16 }),
		svg("circle", { class: "shape", r: 12 }),
		svg("circle", { class: "dot", r: 5 }), svg("text", { class: "label" }),
		svg("title", {})));
	set(g, { class: "node host" + (busy ? " busy" : "") + (ranks ? " tree" : ""),
		"aria-label": "host " + (name ? name + " " : "") + h.addr + " at " +
		h["switch-id"] + (ranks ? ", rank " + ranks + " of " + t.name : "") +
		(busy ? ", sends " + rate(client["rx-rate"]) : ", idle") });
	for (const c of [...g.children].slice(0, 3))
		set(c, { cx: x, cy: y });
	set(g.children[3], { x, y: y + 32 });
	say(g.children[3], names.get(host_label(h)));
	say(g.children[4], name ? name + " " + h.addr : h.addr);
}

// Where on a line a text has room, beside the others and the switches; NULL:
// nowhere. A digit takes up to eight units.
function find_room(taken, from, to, text) {
	const half = text.length * 4 + 4, edge = taken.width - half;
	for (const part of [.65, .5, .38, .76, .28]) {
		const x = Math.max(half, Math.min(edge,
			from[0] * (1 - part) + to[0] * part));
		const y = from[1] * (1 - part) + to[1] * part;
		if (taken.every(b => Math.abs(b[0] - x) > b[2] + half ||
			Math.abs(b[1] - y) > b[3] + 8)) {
			taken.push([x, y, half, 8]);
			return [x, y];
		}
	}
	return null;
}

// @taken: where there is no room for its text.
function draw_edge(key, from, to, kind, text, title, taken) {
	const g = keep($("edges"), key, () => svg("g", {}, svg("line", {}),
		svg("title", {})));
	set(g, { class: kind });
	set(g.children[0], { x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
	const at = text ? find_room(taken, from, to, text) : null;
	say(g.children[1], title);
	if (!at)
		return;
	// Above all lines.
	const label = keep($("rates"), key, () => svg("text", {}));
	set(label, { x: at[0], y: at[1],
		class: kind === "cut" ? "rate missing" : "rate" });
	say(label, text);
}

// Of a large fabric: what the group uses, what is wrong, and what is looked for.
function shown_switches(topo, level, t) {
	if (topo.switches.length <= SWITCHES)
		return topo.switches;
	const word = $("search").value.trim(), wrong = new Set();
	for (const c of state.cuts)
		wrong.add(c["from-switch"]).add(c["to-switch"]);
	const top = Math.max(...level.values(), 0);
	const weight = s => (t.switches.has(name_of(s)) ? 8 : 0) +
		(word && found(name_of(s)) ? 4 : 0) +
		(s.state !== "up" || wrong.has(name_of(s)) ? 2 : 0) +
		(!t.root && level.get(name_of(s)) === top ? 1 : 0);
	return topo.switches.filter(weight).sort((a, b) => weight(b) - weight(a))
		.slice(0, SWITCHES);
}

function shown_hosts(topo, at, t) {
	const there = topo.hosts.filter(h => at.has(h["switch-id"]));
	if (there.length <= HOSTS)
		return there;
	const word = $("search").value.trim();
	return there.filter(h => t.hosts.has(h.addr) ||
		word && found(h.addr, host_name(h))).slice(0, HOSTS);
}

function place_switches(topo, level, t) {
	const shown = shown_switches(topo, level, t), at = new Map(), rows = [];
	for (const s of shown)
		(rows[level.get(name_of(s))] ??= []).push(s);
	const full = rows.filter(row => row), top = full.length - 1;
	const room = $("fabric").parentElement.clientWidth || 1000;
	const width = Math.max(room, ...full.map(row => row.length * BOX));
	full.forEach((row, l) => row
		.sort((a, b) => natural(name_of(a), name_of(b)))
		.forEach((s, i) => at.set(name_of(s), [(i + .5) * width / row.length,
			TOP + (top - l) * ROW])));
	return { at, shown, width, top };
}

function draw_hosts(hosts, at, t, width, y, taken) {
	const names = shorten(hosts.map(host_label));
	const busy = new Map(state["client-list"].map(c => [c.name, c]));
	hosts.sort((a, b) => at.get(a["switch-id"])[0] - at.get(b["switch-id"])[0] ||
		natural(a.addr, b.addr));
	hosts.forEach((h, i) => {
		const client = busy.get(h.addr), ranks = t.hosts.get(h.addr);
		const x = (i + .5) * width / hosts.length;
		const text = client?.["rx-rate"] ? rate(client["rx-rate"]) : "";
		draw_host(h, x, y, client, ranks?.join(", "), t, names);
		draw_edge("host " + h.addr, at.get(h["switch-id"]), [x, y],
			ranks ? "edge tree" : "edge",
			hosts.length <= RATES ? text : "",
			(host_name(h) || h.addr) + (text ? ": " + text : ""), taken);
	});
}

// What is wrong has room first, then the chosen tree.
function draw_links(topo, at, t, taken) {
	const there = l => at.has(l["from-switch"]) && at.has(l["to-switch"]);
	const edge = l => edge_key(l["from-switch"], l["to-switch"]);
	const links = topo.links.filter(there).sort((a, b) =>
		t.edges.has(edge(b)) - t.edges.has(edge(a)));
	for (const c of state.cuts.filter(there))
		draw_edge("cut " + link_name(c), at.get(c["from-switch"]),
			at.get(c["to-switch"]), "cut", "✗ " + clock(c.seen),
			link_name(c) + ": missing since " + clock(c.seen), taken);
	for (const l of links) {
		const key = edge(l), mine = t.edges.has(key);
		const text = t.rates.get(key) ? rate(t.rates.get(key)) : "";
		draw_edge(key + " " + l["from-interface"], at.get(l["from-switch"]),
			at.get(l["to-switch"]), "edge" + (mine ? " tree" : ""),
			mine || links.length <= RATES ? text : "",
			link_name(l) + (text ? ": " + text : ""), taken);
	}
}

function draw_fabric() {
	const topo = state.topology, { level, near } = levels(topo);
	const t = trees(near), { at, shown, width, top } =
		place_switches(topo, level, t);
	const hosts = shown_hosts(topo, at, t), there = new Map();
	const names = shorten(shown.map(name_of));
	const wide = Math.max(width, hosts.length * DISC);
	for (const p of at.values())
		p[0] *= wide / width;
	for (const h of topo.hosts)
		there.set(h["switch-id"], (there.get(h["switch-id"]) ?? 0) + 1);
	for (const h of hosts)
		there.set(h["switch-id"], there.get(h["switch-id"]) - 1);
	for (const s of shown)
		draw_switch(s, ...at.get(name_of(s)), t, names,
			there.get(name_of(s)));
	const y = TOP + (top + 1) * ROW;
	const taken = [...at.values()].map(p => [...p, 46, 19]);
	taken.width = wide;
	draw_links(topo, at, t, taken);
	draw_hosts(hosts, at, t, wide, y, taken);
	set($("fabric"), { viewBox: `0 0 ${wide} ${y + 45}`,
		width: wide, "aria-label":
		"fabric of " + topo.switches.length + " switches, " + topo.hosts.length +
		" hosts and " + topo.links.length + " links between switches" });
	const folded = [topo.switches.length - shown.length,
		topo.hosts.length - hosts.length];
	$("folded").hidden = !folded[0] && !folded[1];
	say($("folded"), `${folded[0]} of ${topo.switches.length} switches and ` +
		`${folded[1]} of ${topo.hosts.length} hosts are not shown: look for ` +
		"one above, or choose a group.");
	sweep($("edges"));
	sweep($("rates"));
	sweep($("nodes"));
}

// --- Tables ---------------------------------------------------------------

// On a narrow screen each cell stands below its column's name.
function row(table, key, cells) {
	const tr = keep($(table), key, () => {
		const el = document.createElement("tr");
		for (const th of $(table).parentElement.querySelectorAll("th")) {
			const td = document.createElement("td");
			td.dataset.name = th.textContent.trim();
			el.append(td);
		}
		return el;
	});
	cells.forEach((text, i) => text === null || say(tr.children[i], String(text)));
	return tr;
}

function choose(key) {
	chosen = chosen === key ? null : key;
	draw();
}

// The last hour, a value for each minute.
function spark(cell, line) {
	const el = keep(cell, "spark", () => svg("svg", { class: "spark",
		role: "img", viewBox: "0 0 120 20", preserveAspectRatio: "none" },
		svg("polyline", {}), svg("title", {})));
	const most = Math.max(...line ?? [0]);
	set(el.children[0], { points: (line ?? []).map((v, i) =>
		i * 120 / (line.length - 1) + "," + (19 - 18 * v / most).toFixed(1))
		.join(" ") });
	say(el.children[1], most ? "last hour: at most " + rate(most) : "");
	set(el, { "aria-label": most ? "at most " + rate(most) : "idle" });
}

// A button for the rows that are not shown.
function more(table, hidden) {
	const button = $(table + "-more");
	button.hidden = !hidden && !all_rows[table];
	say(button, all_rows[table] ? "show fewer" : "show " + hidden + " more");
}

// The rows of a table: those that are looked for, and not too many.
function rows_of(table, list, texts) {
	const fit = list.filter(o => found(...texts(o)));
	const shown = all_rows[table] ? fit : fit.slice(0, ROWS);
	more(table, fit.length - shown.length);
	return shown;
}

function draw_groups() {
	for (const t of rows_of("groups", state["task-list"],
			t => [t.name, t.tenant])) {
		const key = key_of(t), tr = row("groups", key, [null, t.tenant || "–",
			t.state, t.present + " of " + t.ranks, t.switches, t.levels,
			rate(t["rx-rate"]), rate(t["tx-rate"]), bytes(t["rx-bytes"]),
			null, t["waits-for"]]);
		const button = keep(tr.children[0], "b", () => {
			const b = document.createElement("button");
			b.addEventListener("click", () => choose(key));
			return b;
		});
		say(button, t.name);
		set(button, { "aria-pressed": key === chosen });
		spark(tr.children[9], own(own(past.task, t.tenant), t.name));
	}
	sweep($("groups"));
}

function draw_switches() {
	const list = [...state["switch-list"]].sort((a, b) =>
		(a.state === "up") - (b.state === "up") || natural(a.name, b.name));
	for (const s of rows_of("switches", list, s => [s.name])) {
		const tr = row("switches", s.name, [s.name, state_of(s), s.switches,
			rate(s["rx-rate"]), rate(s["tx-rate"]), null, s.trouble]);
		spark(tr.children[5], own(past.switch, s.name));
	}
	sweep($("switches"));
}

function draw_events() {
	for (const e of state.events.events) {
		const li = keep($("events"), e.seq, () => {
			const el = document.createElement("li");
			el.value = e.seq;
			return el;
		});
		say(li, clock(e.time) + " " + e.kind + " " +
			call({ name: e.subject, tenant: e.tenant }) + ": " + e.text);
		if ($("events").firstElementChild !== li && li.fresh === undefined)
			$("events").prepend(li);
		li.fresh = false;
	}
	sweep($("events"));
}

// What an operator has to look after.
function draw_alarms() {
	const list = [
		...state.topology.switches.filter(s => s.state !== "up")
			.map(s => "switch " + name_of(s) + " does not answer: " + s.why),
		...state.cuts.map(c => "link " + link_name(c) + " is missing since " +
			clock(c.seen)),
		...state.certificates.map(c => c.of + " " + c.name + ": " + c.text)];
	$("alarms").hidden = !list.length;
	say($("h-alarms"), list.length + (list.length === 1 ? " alarm" : " alarms"));
	const shown = list.slice(0, ROWS);
	if (list.length > ROWS)
		shown.push("and " + (list.length - ROWS) + " more");
	for (const text of shown)
		say(keep($("alarm-list"), text,
			() => document.createElement("li")), text);
	sweep($("alarm-list"));
	document.title = (list.length ? "(" + list.length + ") " : "") +
		"rdma_inc: aggregation manager";
}

function draw() {
	const groups = state.groups.groups, n = state.topology.switches.length;
	if (!chosen_group()) {
		const first = groups.find(g => g.state === "ready");
		chosen = first ? key_of(first) : chosen;
	}
	const up = state.topology.switches.filter(s => s.state === "up").length;
	const waits = state["task-list"].filter(t => t["waits-for"])
		.map(t => call(t) + " waits for " + t["waits-for"]);
	say($("status"), [...state.standby ? ["this manager is " + state.standby] : [],
		groups.length + (groups.length === 1 ? " group" :
		" groups"), up + " of " + n + " switches answer", ...waits].join("; "));
	set($("status"), { class: "" });
	draw_alarms();
	draw_groups();
	draw_fabric();
	draw_switches();
	draw_events();
	document.body.dataset.ready = "yes";
}

async function look_back() {
	try {
		past = await (await fetch("/history")).json();
	} catch {
		// The page says already that the manager does not answer.
	}
}

for (const table of ["groups", "switches"])
	$(table + "-more").addEventListener("click", () => {
		all_rows[table] = !all_rows[table];
		draw();
	});
$("search").addEventListener("input", () => state && draw());
look_back();
setInterval(look_back, 10000);
const source = new EventSource("/events");
source.onmessage = message => {
	state = JSON.parse(message.data);
	draw();
};
source.onerror = () => {
	say($("status"), "The manager does not answer; what is shown is old.");
	set($("status"), { class: "lost" });
};

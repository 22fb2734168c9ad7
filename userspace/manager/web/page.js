// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// Draws what the manager sends each second. Elements are kept and changed, not
// made anew, so that the keyboard's focus stays where it is.
"use strict";

const $ = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const ROW = 120, TOP = 50;
let chosen = null, state = null;

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

// Which links the groups' trees use, and what they carry: one stream each.
function trees(near) {
	const rates = new Map(), edges = new Set(), switches = new Set();
	let root = null;
	for (const g of state.groups.groups) {
		const task = state["task-list"].find(t => t.name === g.name);
		for (const part of g.tree) {
			const mine = g.name === chosen;
			if (mine)
				switches.add(part["switch-id"]);
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
	return { rates, edges, switches, root };
}

function draw_switch(s, x, y, t) {
	const name = name_of(s), up = s.state === "up";
	const g = keep($("nodes"), "switch " + name, () => svg("g",
		{ tabindex: 0, role: "img" },
		svg("polygon", { class: "shape" }), svg("rect", { class: "inner" }),
		svg("text", { class: "label" })));
	const [shape, inner, label] = g.children;
	set(g, { class: "node switch" + (up ? "" : " down") +
		(t.switches.has(name) ? " tree" : "") +
		(t.root === name ? " root" : ""),
		"aria-label": "switch " + name + ", " + s.state + ", " + s.trees +
		" trees" + (t.root === name ? ", root of " + chosen :
		t.switches.has(name) ? ", in the tree of " + chosen : "") });
	const cut = up ? 0 : 12;
	set(shape, { points: [[-45 + cut, -18], [45 - cut, -18], [45, -18 + cut],
		[45, 18 - cut], [45 - cut, 18], [-45 + cut, 18], [-45, 18 - cut],
		[-45, -18 + cut]].map(p => (p[0] + x) + "," + (p[1] + y)).join(" ") });
	set(inner, { x: x - 41, y: y - 14, width: 82, height: 28 });
	set(label, { x, y: y + 5 });
	say(label, name + (up ? "" : " ✗"));
}

function draw_host(h, x, y, client) {
	const busy = client?.state === "busy";
	const g = keep($("nodes"), "host " + h.addr, () => svg("g",
		{ tabindex: 0, role: "img" }, svg("circle", { class: "shape", r: 12 }),
		svg("circle", { class: "dot", r: 5 }), svg("text", { class: "label" })));
	set(g, { class: "node host" + (busy ? " busy" : ""),
		"aria-label": "host " + h.addr + " at " + h["switch-id"] +
		(busy ? ", sends " + rate(client["rx-rate"]) : ", idle") });
	for (const c of [g.children[0], g.children[1]])
		set(c, { cx: x, cy: y });
	set(g.children[2], { x, y: y + 28 });
	say(g.children[2], h.addr.split(/[.:]/).slice(-2).join("."));
}

// @part: where on the line the text stands; next to each other they would overlap.
function draw_edge(key, from, to, tree, text, part = .65) {
	const g = keep($("edges"), key, () => svg("g", {}, svg("line", {}),
		svg("text", { class: "rate" }), svg("title", {})));
	set(g, { class: "edge" + (tree ? " tree" : "") });
	set(g.children[0], { x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
	set(g.children[1], { x: from[0] * (1 - part) + to[0] * part,
		y: from[1] * (1 - part) + to[1] * part });
	say(g.children[1], text);
	say(g.children[2], key + (text ? ": " + text : ""));
}

function draw_fabric() {
	const topo = state.topology, { level, near } = levels(topo);
	const top = Math.max(...level.values(), 0), at = new Map();
	const t = trees(near);
	for (let l = top; l >= 0; l--) {
		const row = topo.switches.filter(s => level.get(name_of(s)) === l)
			.sort((a, b) => name_of(a).localeCompare(name_of(b)));
		row.forEach((s, i) => {
			at.set(name_of(s), [(i + .5) * 1000 / row.length,
				TOP + (top - l) * ROW]);
			draw_switch(s, ...at.get(name_of(s)), t);
		});
	}
	const y = TOP + (top + 1) * ROW;
	const hosts = [...topo.hosts].sort((a, b) =>
		(at.get(a["switch-id"])?.[0] ?? 0) - (at.get(b["switch-id"])?.[0] ?? 0) ||
		a.addr.localeCompare(b.addr, undefined, { numeric: true }));
	hosts.forEach((h, i) => {
		const client = state["client-list"].find(c => c.name === h.addr);
		const x = (i + .5) * 1000 / hosts.length;
		draw_host(h, x, y, client);
		draw_edge("host " + h.addr, at.get(h["switch-id"]) ?? [x, y], [x, y],
			false, client?.["rx-rate"] ? rate(client["rx-rate"]) : "",
			[.45, .6, .75][i % 3]);
	});
	for (const l of topo.links) {
		const key = edge_key(l["from-switch"], l["to-switch"]);
		const a = at.get(l["from-switch"]), b = at.get(l["to-switch"]);
		if (a && b)
			draw_edge(key + " " + l["from-interface"], a, b, t.edges.has(key),
				t.rates.get(key) ? rate(t.rates.get(key)) : "");
	}
	set($("fabric"), { viewBox: "0 0 1000 " + (y + 45), "aria-label":
		"fabric of " + topo.switches.length + " switches, " + topo.hosts.length +
		" hosts and " + topo.links.length + " links between switches" });
	sweep($("edges"));
	sweep($("nodes"));
}

// --- Tables ---------------------------------------------------------------

function row(table, key, cells) {
	const tr = keep($(table), key, () => {
		const el = document.createElement("tr");
		cells.forEach(() => el.append(document.createElement("td")));
		return el;
	});
	cells.forEach((text, i) => text === null || say(tr.children[i], String(text)));
	return tr;
}

function choose(name) {
	chosen = chosen === name ? null : name;
	draw();
}

function draw_groups() {
	for (const t of state["task-list"]) {
		const tr = row("groups", t.name, [null, t.state, t.present + " of " +
			t.ranks, t.switches, t.levels, rate(t["rx-rate"]),
			rate(t["tx-rate"]), bytes(t["rx-bytes"]), t["waits-for"]]);
		const button = keep(tr.children[0], "b", () => {
			const b = document.createElement("button");
			b.addEventListener("click", () => choose(t.name));
			return b;
		});
		say(button, t.name);
		set(button, { "aria-pressed": t.name === chosen });
	}
	for (const s of state["switch-list"])
		row("switches", s.name, [s.name, s.state, s.switches,
			rate(s["rx-rate"]), rate(s["tx-rate"]), s.trouble]);
	sweep($("groups"));
	sweep($("switches"));
}

function draw_events() {
	for (const e of state.events.events) {
		const li = keep($("events"), e.seq, () => {
			const el = document.createElement("li");
			el.value = e.seq;
			return el;
		});
		say(li, new Date(e.time).toLocaleTimeString() + " " + e.kind + " " +
			e.subject + ": " + e.text);
		if ($("events").firstElementChild !== li && li.fresh === undefined)
			$("events").prepend(li);
		li.fresh = false;
	}
	sweep($("events"));
}

function draw() {
	const groups = state.groups.groups;
	if (!groups.some(g => g.name === chosen))
		chosen = groups.find(g => g.state === "ready")?.name ?? chosen;
	const waits = state["task-list"].filter(t => t["waits-for"])
		.map(t => t.name + " waits for " + t["waits-for"]);
	const down = state.topology.switches.filter(s => s.state !== "up");
	say($("status"), [groups.length + (groups.length === 1 ? " group" : " groups"), ...waits,
		...down.map(s => "switch " + name_of(s) + " does not answer")]
		.join("; "));
	set($("status"), { class: "" });
	draw_groups();
	draw_fabric();
	draw_events();
	document.body.dataset.ready = "yes";
}

const source = new EventSource("/events");
source.onmessage = message => {
	state = JSON.parse(message.data);
	draw();
};
source.onerror = () => {
	say($("status"), "The manager does not answer; what is shown is old.");
	set($("status"), { class: "lost" });
};

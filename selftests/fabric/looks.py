#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
looks.py INC-AMD [FOLDER]: the manager's page as people see it, light and dark, wide
and narrow: a fabric that is whole, one with a cut, one of 1,000 switches, and a
standby. Pictures of all are left in FOLDER, and fabric.svg, which is README's.
"""
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

from browser import Browser
from rpcbase import ktap, plan

RED = {"light": "rgb(170, 0, 0)", "dark": "rgb(255, 123, 114)"}
NOW = int(time.time() * 1000)
DAY = 24 * 3600 * 1000

# Contrast of texts with what is behind them, by WCAG 2.1; and what else a person
# would see at once.
SEEN = """(() => {
    const rgb = c => (c.match(/[\\d.]+/g) ?? []).map(Number);
    const light = c => rgb(c).slice(0, 3).map(v => v / 255).map(v =>
        v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
    const contrast = (a, b) => (Math.max(light(a), light(b)) + .05) /
        (Math.min(light(a), light(b)) + .05);
    const clear = c => c === "none" || rgb(c)[3] === 0;
    const behind = el => {
        const shape = el.closest(".switch")?.querySelector(".shape");
        if (shape)
            return getComputedStyle(shape).fill;
        for (let e = el; e; e = e.parentElement)
            if (!clear(getComputedStyle(e).backgroundColor))
                return getComputedStyle(e).backgroundColor;
        return "rgb(255, 255, 255)";
    };
    const pale = [];
    for (const el of document.querySelectorAll("body *")) {
        const own = [...el.childNodes].some(n => n.nodeType === 3 &&
            n.textContent.trim());
        if (!own || el.localName === "title" || !el.getClientRects().length)
            continue;
        const style = getComputedStyle(el);
        const value = contrast(el.localName === "text" ? style.fill :
            style.color, behind(el));
        if (value < 4.5)
            pale.push([el.localName, el.textContent, value]);
    }
    const boxes = [...document.querySelectorAll("#fabric .rate")]
        .map(t => [t.textContent, t.getBBox()]);
    const over = [];
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) =>
        p.x < q.x + q.width && q.x < p.x + p.width && p.y < q.y + q.height &&
        q.y < p.y + p.height && over.push([a, b])));
    const room = document.getElementById("fabric").viewBox.baseVal.width;
    const out = boxes.filter(([a, p]) => p.x < 0 || p.x + p.width > room);
    const labels = [...document.querySelectorAll(".node .label")]
        .map(l => l.textContent);
    return { pale, over, out, rates: boxes.length,
        wide: [document.documentElement.scrollWidth, innerWidth],
        nodes: document.querySelectorAll("*").length,
        same: labels.filter((l, i) => labels.indexOf(l) !== i),
        titles: [...document.querySelectorAll(".node")].filter(n =>
            !n.querySelector("title")?.textContent).length,
        cut: [...document.querySelectorAll(".cut line")]
            .map(l => getComputedStyle(l).stroke),
        when: [...document.querySelectorAll(".missing")]
            .map(t => t.textContent),
        alarms: [...document.querySelectorAll("#alarm-list li")]
            .map(l => l.textContent),
        owners: [...document.querySelectorAll("#groups tr")]
            .map(r => [r.children[0].textContent, r.children[1].textContent,
                r.children[8].textContent]),
        status: document.getElementById("status").textContent };
})()"""


def task(name, tenant="", rx=0.0, kind="task", state="ready"):
    return {"kind": kind, "name": name, "tenant": tenant, "state": state,
            "ranks": 4, "present": 4, "levels": 2, "switches": 3,
            "rx-bytes": int(rx * 10), "tx-bytes": int(rx * 10), "messages": 1,
            "trouble": 0, "rx-rate": rx, "tx-rate": rx, "message-rate": 1.0,
            "waits-for": "", "history": True}


def part(switch, parent, hosts):
    return {"switch-id": switch, "tree-id": 1, "parent": parent,
            "ranks": list(range(len(hosts))), "hosts": hosts}


# @leaves of @hosts each, and two spines: two groups of one name.
def fabric(leaves, hosts):
    tops = ["spine-east-01", "spine-east-02"]
    lows = [f"node-rack1-{n:02}" for n in range(1, leaves + 1)]
    where = {leaf: [f"10.1.{i}.{h}" for h in range(1, hosts + 1)]
             for i, leaf in enumerate(lows)}
    links = [{"from-switch": top, "from-interface": f"down{i}",
              "to-switch": leaf, "to-interface": f"up{k}", "speed": 0,
              "learnt": "lldp", "load": 1}
             for k, top in enumerate(tops) for i, leaf in enumerate(lows)]
    groups = [{"name": "job", "state": "ready", "ranks": 4, "present": 4,
               "tenant": tenant, "by-cm": 0,
               "tree": [part(root, "", [])] +
               [part(leaf, root, where[leaf][k:k + 1]) for leaf in some]}
              for k, (tenant, root, some) in enumerate(
                  (("red", tops[0], lows[:2]), ("blue", tops[1], lows[1:24])))]
    return {
        "names": {}, "cuts": [], "certificates": [],
        "topology": {
            "switches": [{"id": s, "address": "/" + s, "state": "up",
                          "trees": 1} for s in tops + lows],
            "hosts": [{"addr": a, "switch-id": leaf, "interface": "v"}
                      for leaf in lows for a in where[leaf]],
            "links": links},
        "groups": {"groups": groups},
        "events": {"events": [
            {"seq": 1, "time": NOW - 2 * DAY, "kind": "group-ready",
             "subject": "job", "text": "4 ranks", "tenant": "red"}]},
        "task-list": [task("job", "red", 1.5e9), task("job", "blue", 1.5e8),
                      task("constructor", "constructor")],
        "switch-list": [task(s, kind="switch", state="up", rx=1e9)
                        for s in tops + lows],
        "client-list": [task(a, kind="client", state="busy", rx=1e8)
                        for leaf in lows for a in where[leaf]]}


def cut(state, leaf, top, seen):
    state["topology"]["links"] = [
        li for li in state["topology"]["links"]
        if (li["from-switch"], li["to-switch"]) != (top, leaf)]
    state["cuts"].append({"from-switch": top, "from-interface": "down",
                          "to-switch": leaf, "to-interface": "up",
                          "seen": seen})


def states():
    yield "whole", fabric(3, 2)
    state = fabric(3, 2)
    cut(state, "node-rack1-01", "spine-east-01", NOW - 60000)
    cut(state, "node-rack1-03", "spine-east-02", NOW - 2 * DAY)
    state["topology"]["switches"][3].update(state="down", why="silent")
    state["certificates"] = [
        {"of": "client", "name": f"c{i}", "text": "it expires in 3 days"}
        for i in range(20)]
    yield "cut", state
    state = fabric(998, 32)
    cut(state, "node-rack1-900", "spine-east-01", NOW - 60000)
    yield "large", state
    yield "rack", fabric(46, 1)
    state = fabric(0, 0)
    state["groups"]["groups"] = []
    state["task-list"] = []
    state["standby"] = "not the leader, it is at 192.0.2.7:18790"
    yield "standby", state


def check(name, what, scheme, seen):
    ktap(not seen["pale"], f"{name}: texts have contrast", seen["pale"][:5])
    ktap(seen["wide"][0] <= seen["wide"][1], f"{name}: nothing is cut off",
         seen["wide"])
    ktap(not seen["over"] and not seen["out"],
         f"{name}: no rate covers another, or is outside",
         [seen["over"][:5], seen["out"][:5]])
    ktap(seen["nodes"] < 4000, f"{name}: {seen['nodes']} elements",
         seen["nodes"])
    ktap(not seen["same"] and not seen["titles"],
         f"{name}: names can be told apart, and are there in full",
         seen["same"][:5])
    if what in ("cut", "large"):
        ktap(set(seen["cut"]) == {RED[scheme]} and all(seen["when"]),
             f"{name}: what is cut is red, with its time", seen["cut"])
    if what == "cut":
        ktap(len(seen["cut"]) == 2 and len(seen["when"][1]) >
             len(seen["when"][0]) + 5, f"{name}: with a date if it was not today",
             seen["when"])
        ktap(seen["alarms"][-1] == "and 11 more", f"{name}: alarms are counted",
             seen["alarms"])
    if what == "standby":
        ktap("not the leader" in seen["status"], f"{name}: it says so",
             seen["status"])
    else:
        ktap(seen["owners"][:2] == [["job", "red", "15.0 GB"],
                                    ["job", "blue", "1.5 GB"]],
             f"{name}: two groups of one name have their own figures",
             seen["owners"])


# The tree of one is not that of the other.
def check_choice(browser):
    tree = ("[...document.querySelectorAll('.switch.tree title')]"
            ".map(t => t.textContent).sort()")
    pressed = ("[...document.querySelectorAll('#groups button')]"
               ".map(b => b.getAttribute('aria-pressed'))")
    for i, want in enumerate(
            (["node-rack1-01", "node-rack1-02", "spine-east-01"],
             ["node-rack1-02", "node-rack1-03", "spine-east-02"])):
        browser.eval("chosen = null;"
                     f"document.querySelectorAll('#groups button')[{i}].click()")
        ktap(browser.eval(tree) == want and
             browser.eval(pressed) == [str(k == i).lower() for k in range(3)],
             f"group {i + 1} of a name: its tree, no other",
             browser.eval(tree))


def look(browser, folder):
    for what, state in states():
        for scheme, width in itertools.product(("light", "dark"), (1100, 400)):
            browser.scheme(scheme)
            browser.size(width, 900)
            browser.eval(f"chosen = null; state = {json.dumps(state)};"
                         "past = { task: { red: { job: [0, 3, 9, 6, 1] } } };"
                         "draw()")
            # A scroll bar that comes takes room from the picture.
            browser.eval("draw()")
            name = f"{what}-{scheme}-{width}"
            check(name, what, scheme, browser.eval(SEEN))
            if folder:
                browser.picture(os.path.join(folder, name + ".png"))
        if what == "whole":
            check_choice(browser)
    ktap(not browser.errors, "no error", browser.errors[:3])


# The fabric alone, with the tree of a group, for README: with the page's style, so
# light and dark, too.
DRAWING = """(() => {
    const drawn = document.getElementById("fabric").cloneNode(true);
    for (const el of drawn.querySelectorAll("[tabindex], [role]"))
        for (const name of ["tabindex", "role", "aria-label"])
            el.removeAttribute(name);
    const style = document.createElementNS(drawn.namespaceURI, "style");
    style.textContent = [...document.styleSheets].flatMap(sheet =>
        [...sheet.cssRules].map(rule => rule.cssText)).join("\\n");
    drawn.prepend(style);
    drawn.setAttribute("xmlns", drawn.namespaceURI);
    return new XMLSerializer().serializeToString(drawn);
})()"""


def draw(browser, path):
    state = fabric(4, 3)
    cut(state, "node-rack1-04", "spine-east-02", NOW - 60000)
    state["groups"]["groups"][0]["tree"] = [
        part("spine-east-01", "", [])] + [
            part(f"node-rack1-0{i + 1}", "spine-east-01",
                 [f"10.1.{i}.{h}" for h in (1, 2, 3)]) for i in range(3)]
    text = json.dumps(state).replace("spine-east-0", "spine").replace(
        "node-rack1-0", "leaf")
    browser.scheme("light")
    browser.size(1000, 900)
    browser.eval(f"chosen = null; state = {text}; draw(); draw();"
                 "document.querySelectorAll('#groups button')[0].click()")
    with open(path, "w") as f:
        f.write("<!-- SPDX-License-" "Identifier: GPL-2.0 -->\n" +
                browser.eval(DRAWING) + "\n")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    port = free_port()
    with subprocess.Popen(
            [sys.argv[1], "--store", "none", "--switch", "/none", "--listen",
             f"127.0.0.1:{free_port()}", "--http", f"127.0.0.1:{port}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as amd:
        amd.stdout.readline()
        browser = Browser()
        browser.open(f"http://127.0.0.1:{port}/")
        ready = browser.wait("document.body && document.body.dataset.ready")
        ktap(ready, "the page is drawn", browser.errors)
        browser.eval("source.close()")
        look(browser, folder)
        draw(browser, os.path.join(folder, "fabric.svg"))
        browser.proc.kill()
        amd.kill()
    plan()


main()

# SPDX-License-Identifier: GPL-2.0
#
# The manager's page in headless Chromium, by its debugging protocol.
#
#   page.py URL PICTURE GROUP SWITCHES HOSTS EDGES      prints KTAP
#   page.py URL cut     a link has been cut
#   page.py URL -       takes pictures: their names are lines of standard input,
#                       each is answered by a line when it is there

import sys
import time

from browser import Browser
from rpcbase import ktap, plan

URL, PICTURE = sys.argv[1:3]


def count(browser, selector):
    return browser.eval(f"document.querySelectorAll('{selector}').length")


def focused(browser):
    return browser.eval("document.activeElement.getAttribute('aria-label') "
                        "|| document.activeElement.textContent")


def check(browser, group, switches, hosts, edges):
    ktap(count(browser, ".node.switch") == switches, f"{switches} switches",
         count(browser, ".node.switch"))
    ktap(count(browser, ".node.host") == hosts, f"{hosts} hosts",
         count(browser, ".node.host"))
    ktap(count(browser, ".edge") == edges, f"{edges} edges",
         count(browser, ".edge"))
    want = f"fabric of {switches} switches, {hosts} hosts"
    label = browser.eval("document.getElementById('fabric')"
                         ".getAttribute('aria-label')")
    ktap(label.startswith(want), "the picture is described", label)
    tree = [count(browser, s) for s in (".switch.tree", ".edge.tree",
                                        ".host.tree", ".switch.root")]
    ktap(tree == [switches, switches - 1 + hosts, hosts, 1],
         "the group's tree is shown, down to its hosts", tree)
    check_names(browser)
    check_past(browser, group)
    check_search(browser, group, switches, hosts)
    check_fold(browser)
    names = browser.eval("[...document.querySelectorAll('#groups button')]"
                         ".map(b => b.textContent)")
    names += browser.eval("[...document.querySelectorAll('.node')]"
                          ".map(n => n.getAttribute('aria-label'))")
    order = []
    for _ in range(len(names) + 2):
        browser.key("Tab", 9)
        order.append(focused(browser))
    # What hosts do may change meanwhile.
    plain = [name.split(",")[0] for name in order]
    ktap(order[1] == group and
         plain[1:-1] == [name.split(",")[0] for name in names] and
         plain[-1].startswith("events") and
         any(f"root of {group}" in name for name in order),
         "Tab: search, groups, switches, hosts, events", order)
    time.sleep(1.5)
    ktap(focused(browser) == order[-1], "an update leaves the focus alone",
         focused(browser))
    browser.eval("document.querySelector('#groups button').focus()")
    pressed = "document.activeElement.getAttribute('aria-pressed')"
    ktap(browser.eval(pressed) == "true", "the group is chosen")
    texts = browser.eval("document.getElementById('events').textContent")
    ktap("group-ready " + group in texts, "the events", texts)
    ktap(browser.eval("document.querySelectorAll('[style]').length") == 0 and
         not browser.errors, "no error, nothing that the policy forbids",
         browser.errors)


# The resolver knows this host (ops.sh).
def check_names(browser):
    ktap(browser.wait("[...document.querySelectorAll('.host')].some(h => "
                      "h.getAttribute('aria-label').includes('trainer-5 '))"),
         "a host by its name", browser.eval("state.names"))


def check_past(browser, group):
    browser.wait(f"look_back() && past.task?.['']?.['{group}']")
    browser.eval("draw()")
    ktap(browser.eval("document.querySelector('#groups .spark polyline')"
                      ".getAttribute('points')").count(",") == 60,
         "the last hour of the group: a value for each minute",
         browser.eval("past"))


def search(browser, word):
    browser.eval("document.getElementById('search').value = '%s';"
                 "document.getElementById('search')"
                 ".dispatchEvent(new Event('input'))" % word)


def check_search(browser, group, switches, hosts):
    search(browser, "l1")
    rows = [count(browser, f"#{table} tr") for table in ("groups", "switches")]
    ktap(rows == [0, 1], "search: one switch", rows)
    search(browser, group)
    rows = [count(browser, f"#{table} tr") for table in ("groups", "switches")]
    ktap(rows[0] == 1, "search: the group", rows)
    search(browser, "")
    ktap(count(browser, "#switches tr") == switches and
         count(browser, ".host") == hosts, "search: all again")


# What the page makes of a fabric of 1,000 switches, one of which is down, and a
# link that is missing: the state that it has, made larger.
BIG = """(() => {
    const s = structuredClone(state), leaf = s.topology.switches.at(-1);
    for (let i = 0; i < 1000; i++) {
        s.topology.switches.push({ ...leaf, id: "x" + i,
            ...(i == 7 ? { state: "down", why: "silent" } : {}) });
        s["switch-list"].push({ ...s["switch-list"][0], name: "x" + i });
        for (let h = 0; h < 32; h++)
            s.topology.hosts.push({ addr: `10.9.${i}.${h}`,
                "switch-id": "x" + i, interface: "a" });
    }
    s.cuts = [{ "from-switch": "x1", "from-interface": "up", "seen": Date.now(),
        "to-switch": "x2", "to-interface": "" }];
    const was = state, begin = performance.now();
    state = s; draw();
    const seen = [performance.now() - begin,
        document.querySelectorAll(".switch").length,
        document.querySelectorAll(".host").length,
        document.querySelectorAll(".switch.down").length,
        document.querySelectorAll(".cut").length,
        document.querySelectorAll("#switches tr").length,
        document.getElementById("h-alarms").textContent,
        document.getElementById("folded").hidden];
    state = was; draw();
    return seen;
})()"""


def check_fold(browser):
    seen = browser.eval(BIG)
    print("# 1000 switches, 32000 hosts: drawn in %d ms" % seen[0])
    ktap(seen[1] < 60 and seen[2] < 100 and seen[3:5] == [1, 1] and
         seen[5] < 20 and seen[6] == "2 alarms" and not seen[7],
         "1000 switches: the rest is folded, what is wrong is not", seen)
    ktap(browser.eval("document.getElementById('alarms').hidden"),
         "no alarm where nothing is wrong",
         browser.eval("document.getElementById('alarms').textContent"))


def check_cut(browser):
    ktap(browser.wait("document.querySelectorAll('.cut').length == 1"),
         "a cut link is shown", browser.eval("state.cuts"))
    ktap(browser.eval("document.getElementById('alarms').textContent")
         .count("is missing since") == 1, "and counted as an alarm",
         browser.eval("document.getElementById('alarms').textContent"))


browser = Browser()
browser.open(URL)
READY = "document.body && document.body.dataset.ready"
ready = browser.wait(READY)
if PICTURE == "cut":
    ktap(ready, "the page is drawn", browser.errors)
    check_cut(browser)
    plan()
elif PICTURE != "-":
    ktap(ready, "the page is drawn", browser.errors)
    browser.wait(f"document.body.textContent.includes('{sys.argv[3]}')")
    check(browser, sys.argv[3], *map(int, sys.argv[4:7]))
    browser.picture(PICTURE)
    with open(PICTURE, "rb") as f:
        png = f.read()
    ktap(png.startswith(b"\x89PNG") and len(png) > 10000, "a picture of it",
         len(png))
    plan()
else:
    for line in sys.stdin:
        browser.reload()
        ready = browser.wait(READY)
        browser.picture(line.strip())
        print("there" if ready else "not ready", flush=True)
browser.proc.kill()
sys.exit(not ready)

# SPDX-License-Identifier: GPL-2.0
#
# The manager's page in headless Chromium, by its debugging protocol.
#
#   page.py URL PICTURE GROUP SWITCHES HOSTS EDGES      prints KTAP
#   page.py URL -       takes pictures: their names are lines of standard input,
#                       each is answered by a line when it is there

import base64
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

from rpcbase import ktap, plan

URL, PICTURE = sys.argv[1:3]


# Chromium reads requests from file 3 and writes answers to file 4.
class Browser:
    def __init__(self):
        to_r, self.to = os.pipe()
        self.back, back_w = os.pipe()
        # Numbers above 4, so that dup2() below overwrites none of them.
        to_r, back_w = (os.dup2(fd, n) for fd, n in ((to_r, 13),
                                                     (back_w, 14)))

        def files():
            os.dup2(to_r, 3)
            os.dup2(back_w, 4)

        self.log = tempfile.TemporaryFile()
        self.proc = subprocess.Popen(
            ["chromium-headless-shell", "--no-sandbox", "--disable-gpu",
             "--single-process", "--no-zygote", "--window-size=1100,1100",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=files, close_fds=False, stderr=self.log)
        os.close(to_r)
        os.close(back_w)
        self.ids = itertools.count(1)
        self.buf = b""
        self.session = None
        self.errors = []

    def next(self):
        while b"\0" not in self.buf:
            data = os.read(self.back, 1 << 16)
            if not data:
                self.log.seek(0)
                raise EOFError(self.log.read()[-500:])
            self.buf += data
        msg, self.buf = self.buf.split(b"\0", 1)
        return json.loads(msg)

    def do(self, method, **params):
        number = next(self.ids)
        msg = {"id": number, "method": method, "params": params}
        if self.session:
            msg["sessionId"] = self.session
        os.write(self.to, json.dumps(msg).encode() + b"\0")
        while True:
            msg = self.next()
            if msg.get("method") in ("Runtime.exceptionThrown",
                                     "Log.entryAdded"):
                self.errors.append(msg["params"])
            if msg.get("id") == number:
                if "error" in msg:
                    raise RuntimeError(msg)
                return msg["result"]

    def open(self, url):
        target = self.do("Target.createTarget", url="about:blank")
        self.session = self.do("Target.attachToTarget", flatten=True,
                               targetId=target["targetId"])["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.do(domain + ".enable")
        self.do("Page.navigate", url=url)

    def reload(self):
        self.eval("delete document.body.dataset.ready")
        self.do("Page.reload")

    def eval(self, text):
        return self.do("Runtime.evaluate", expression=text,
                       returnByValue=True)["result"].get("value")

    def wait(self, text, seconds=20):
        until = time.time() + seconds
        while time.time() < until:
            if self.eval(text):
                return True
            time.sleep(0.2)
        return False

    def key(self, name, code):
        for kind in ("rawKeyDown", "char", "keyUp"):
            if kind == "char" and name != "Enter":
                continue
            self.do("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                    windowsVirtualKeyCode=code,
                    text="\r" if kind == "char" else "")

    def picture(self, path):
        shot = self.do("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))


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
    ktap(count(browser, ".switch.tree") == switches and
         count(browser, ".edge.tree") == switches - 1 and
         count(browser, ".switch.root") == 1,
         "the group's tree is shown",
         [count(browser, s) for s in (".switch.tree", ".edge.tree")])
    names = browser.eval("[...document.querySelectorAll('#groups button')]"
                         ".map(b => b.textContent)")
    names += browser.eval("[...document.querySelectorAll('.node')]"
                          ".map(n => n.getAttribute('aria-label'))")
    order = []
    for _ in range(len(names) + 1):
        browser.key("Tab", 9)
        order.append(focused(browser))
    # What hosts do may change meanwhile.
    plain = [name.split(",")[0] for name in order]
    ktap(order[0] == group and
         plain[:-1] == [name.split(",")[0] for name in names] and
         plain[-1].startswith("events") and
         any(f"root of {group}" in name for name in order),
         "Tab: groups, switches, hosts, events", order)
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


browser = Browser()
browser.open(URL)
READY = "document.body && document.body.dataset.ready"
ready = browser.wait(READY)
if PICTURE != "-":
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
        ready = browser.wait(READY, 60)
        browser.picture(line.strip())
        print("there" if ready else "not ready", flush=True)
browser.proc.kill()
sys.exit(not ready)

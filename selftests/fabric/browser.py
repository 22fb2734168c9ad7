# SPDX-License-Identifier: GPL-2.0
#
# Headless Chromium, by its debugging protocol.

import base64
import itertools
import json
import os
import subprocess
import tempfile
import time


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

    def size(self, width, height):
        self.do("Emulation.setDeviceMetricsOverride", width=width,
                height=height, deviceScaleFactor=1, mobile=False)
        self.do("Emulation.setScrollbarsHidden", hidden=True)

    def scheme(self, name):
        self.do("Emulation.setEmulatedMedia",
                features=[{"name": "prefers-color-scheme", "value": name}])

    def reload(self):
        self.eval("delete document.body.dataset.ready")
        self.do("Page.reload")

    def eval(self, text):
        return self.do("Runtime.evaluate", expression=text,
                       returnByValue=True)["result"].get("value")

    # Longer than a busy machine takes to load a page.
    def wait(self, text, seconds=120):
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

# SPDX-License-Identifier: GPL-2.0
#
# The manager's HTTP server: what it offers, and what hostile clients get.
#
#   web.py ADDRESS PORT PID DASHBOARD RULES      prints KTAP

import json
import random
import re
import socket
import sys
import time
import urllib.error
import urllib.request

import yaml

from rpcbase import ROOT, ktap, plan

sys.path.insert(0, ROOT + "/selftests/lib")
from prometheus import Bad, Reader  # noqa: E402

ADDRESS, PORT, PID = sys.argv[1], int(sys.argv[2]), sys.argv[3]
URL = f"http://{ADDRESS}:{PORT}"
# There only if certificates or limits are: secure.sh, tenant.sh.
OPTIONAL = {"inc_am_certificate_expires_timestamp_seconds",
            "inc_am_credentials_stale",
            "inc_am_tenant_ranks_limit"}
with open(ROOT + "/VERSION") as version:
    VERSION = version.read().strip()
SEED = random.randrange(1 << 30)
print(f"# seed {SEED}")
random.seed(SEED)


def get(path, method="GET", headers=()):
    req = urllib.request.Request(URL + path, method=method,
                                 headers=dict(headers))
    try:
        with urllib.request.urlopen(req, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read().decode()


def raw(data, wait=8.0):
    s = socket.create_connection((ADDRESS, PORT), timeout=wait)
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        return s.recv(65536)
    except OSError:
        return b""
    finally:
        s.close()


def memory():
    with open(f"/proc/{PID}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])


def serves():
    return get("/state")[0] == 200


status, headers, text = get("/")
policy = headers["Content-Security-Policy"]
ktap(status == 200 and "default-src 'none'" in policy and
     "unsafe" not in policy, "a strict Content-Security-Policy", policy)
ktap("http:" not in text and "https:" not in text,
     "the page loads nothing from elsewhere")
state = json.loads(get("/state")[2])
ktap(len(state["topology"]["switches"]) == 4, "/state", state)
for path, method, want in (("/etc/passwd", "GET", 404), ("/", "POST", 405),
                           ("/../../etc/passwd", "GET", 404),
                           ("/state", "DELETE", 405)):
    ktap(get(path, method)[0] == want, f"{method} {path}: {want}")
# Of names that others can have resolved to this host none is its own.
for name in ("evil.example", "localhost.evil.example", "127.evil.example",
             "127.0.0.1.evil.example", "[::1].evil.example", "[::1", "",
             "localhost:1:2", "localhostx", "2130706433", "10.0.0.1"):
    ktap(get("/", headers={"Host": name})[0] in (400, 403),
         f'"{name}" is not this host\'s name')
for name in ("localhost", f"localhost:{PORT}", "127.0.0.1", "127.1.2.3:80",
             "[::1]", f"[::1]:{PORT}"):
    ktap(get("/", headers={"Host": name})[0] == 200,
         f'"{name}" is this host\'s name')
with socket.create_connection(("127.0.0.1", PORT)) as s:
    s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nHOST: evil.example\r\n\r\n")
    got = s.recv(4096)
    ktap(b" 400 " in got, "two Host headers", got)

status, headers, text = get("/metrics")
reader = Reader()
try:
    reader.read(text)
except Bad as e:
    ktap(False, "metrics, in Prometheus' format", e)
names = {s[0] for s in reader.samples}
levels = [float(s[2]) for s in reader.samples
          if s[0] == "inc_am_tree_levels_bucket"]
ktap(levels == sorted(levels) and levels[-1] > 0 and
     "inc_am_task_received_bytes_total" in names,
     "metrics: histograms, tasks", sorted(names))
value = {(s[0], *s[1].values()): float(s[2]) for s in reader.samples}
ktap(value.get(("inc_am_leader",)) == 1 and
     [s[1]["version"] for s in reader.samples
      if s[0] == "inc_am_build_info"] == [VERSION],
     "metrics: leader, version", text[:500])
ktap(0 < value.get(("process_cpu_seconds_total",), 0) < 1000 and
     abs(value.get(("process_resident_memory_bytes",), 0) / 1024 -
         memory()) < 4096 and
     abs(time.time() - value.get(("process_start_time_seconds",), 0)) < 3600 and
     3 < value.get(("process_open_fds",), 0) <
     value.get(("process_max_fds",), 0), "metrics: the process",
     [v for v in value.items() if v[0][0].startswith("process_")])
ktap(("inc_am_tenant_ranks", "") in value and
     ("inc_am_tenant_ranks_limit", "") not in value,
     "metrics: a tenant without limits", [*value])
links = {s[1]["switch"] + " " + s[1]["interface"]: s[2]
         for s in reader.samples if s[0] == "inc_am_link_up"}
ktap(links == {f"sw down{n}": "1" for n in (1, 2, 3)}, "metrics: links", links)


def metrics_of(expr):
    return set(re.findall(r"\b(?:inc_am|process)_\w+", expr))


with open(sys.argv[4]) as f:
    board = json.load(f)
targets = [t for p in board["panels"] for t in p.get("targets", ())]
used = set().union(*(metrics_of(t["expr"]) for t in targets))
ktap(used and used - names <= OPTIONAL and len(board["panels"]) > 5,
     "each metric that the dashboard names exists", used - names)
ktap(all(p["type"] == "heatmap" and p["targets"][0]["format"] == "heatmap" and
         "by (le)" in p["targets"][0]["expr"] and
         p["targets"][0]["legendFormat"] == "{{le}}"
         for p in board["panels"] for t in p["targets"]
         if "_bucket" in t["expr"] and "histogram_quantile" not in t["expr"]),
     "buckets are drawn as heatmaps")
# Grafana chooses the prefix of a unit: none is computed, and an axis has one.
ktap(not any(re.search(r"[*/] *[\d.]+", t["expr"]) for t in targets) and
     all(len({bool(re.search("bytes", t["expr"])) for t in p["targets"]}) == 1
         for p in board["panels"]), "the dashboard has base units")
with open(sys.argv[5]) as f:
    rules = [r for g in yaml.safe_load(f)["groups"] for r in g["rules"]]
used = set().union(*(metrics_of(r["expr"]) for r in rules))
ktap(used and used - names <= OPTIONAL,
     "each metric that an alert names exists", used - names)
ktap(all(r["alert"].startswith("Inc") and r["annotations"]["summary"] and
         r["labels"]["severity"] in ("info", "warning", "critical")
         for r in rules) and
     len({r["alert"] for r in rules}) == len(rules) > 5,
     "alerts have a name, a severity and a summary", rules)

before = memory()
for _ in range(100):
    raw(bytes(random.randrange(256) for _ in range(random.randrange(2000))))
good = b"GET /state HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
for _ in range(100):
    data = bytearray(good)
    for _ in range(random.randrange(1, 8)):
        data[random.randrange(len(data))] = random.randrange(256)
    raw(bytes(data), 2)
ktap(serves(), "200 malformed requests")
for name, data in (
        ("a long line", b"GET /" + b"x" * 1000000 + b" HTTP/1.1\r\n\r\n"),
        ("many headers", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100000 + b"\r\n"),
        ("a body", b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" +
         b"x" * 1000000)):
    answer = raw(data)
    ktap(not answer.startswith(b"HTTP/1.1 200") and serves(),
         f"{name}: no success", answer[:60])

# More streams than there may be: each is answered or refused.
streams = []
for _ in range(200):
    try:
        s = socket.create_connection((ADDRESS, PORT), timeout=5)
        s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        streams.append(s)
    except OSError:
        pass
time.sleep(1.5)
for s in streams:
    s.close()
until = time.time() + 10
while time.time() < until and not serves():
    time.sleep(0.2)
ktap(serves(), "200 streams")

# Connections that say nothing, or a byte now and then (slowloris).
lazy = []
for i in range(1000):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((ADDRESS, PORT))
    lazy.append(s)
begin = time.time()
good = False
while time.time() < begin + 40 and not good:
    for s in lazy[:200]:
        try:
            s.send(b"G")
        except OSError:
            pass
    try:
        good = serves()
    except OSError:
        time.sleep(0.2)
print(f"# served after {time.time() - begin:.1f} s beside 1000 connections")
ktap(good, "1000 connections, 200 of them dribble")
for s in lazy:
    s.close()

# One that asks and does not read is dropped, soon after the buffers between are
# full; one that reads is not.
def viewer():
    v = socket.socket()
    v.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    v.settimeout(20)
    v.connect((ADDRESS, PORT))
    v.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return v


# The manager's end: what the viewer's own sees is behind all that it has not read.
def served(v):
    peer = f":{v.getsockname()[1]:04X}"
    with open("/proc/self/net/tcp") as f:
        return any(line.split()[1].endswith(f":{PORT:04X}") and
                   line.split()[2].endswith(peer) and line.split()[3] == "01"
                   for line in f)


deaf, reader = viewer(), viewer()
got = reader.recv(65536)
ktap(served(deaf) and got.startswith(b"HTTP/1.1 200"), "two viewers", got)
begin = time.time()
while time.time() < begin + 60 and served(deaf):
    reader.recv(65536)
print(f"# dropped after {time.time() - begin:.1f} s")
ktap(not served(deaf), "a viewer that does not read is dropped")
ktap(served(reader) and reader.recv(65536), "one that reads is not")
deaf.close()
reader.close()
print(f"# memory {before} kB, then {memory()} kB")
ktap(memory() < before + 16384, "memory stays within 16 MB",
     f"{before} kB, {memory()} kB")
plan()

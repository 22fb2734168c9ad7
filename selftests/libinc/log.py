# SPDX-License-Identifier: GPL-2.0
"""log.py JOB RANK RANKS <LOG: each line of a libinc log is a JSON object with
time, level, whose it is and text; and the lines that must be there are."""
import datetime
import json
import sys

JOB, RANK, RANKS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
seen = []
last = None
for line in sys.stdin:
    obj = json.loads(line)
    when = datetime.datetime.fromisoformat(obj["time"])
    if last and when < last - datetime.timedelta(seconds=1):
        sys.exit(f"goes back in time: {line}")
    last = when
    if obj["level"] not in ("error", "warn", "info", "debug"):
        sys.exit(f"level: {line}")
    if set(obj) - {"time", "level", "pid", "job", "rank", "ranks", "tree",
                   "message"}:
        sys.exit(f"members: {line}")
    if "job" in obj and \
       (obj["job"], obj["rank"], obj["ranks"]) != (JOB, RANK, RANKS):
        sys.exit(f"whose: {line}")
    if obj["message"].startswith("allreduce") and "tree" not in obj:
        sys.exit(f"no tree: {line}")
    seen.append((obj["level"], obj["message"]))
for level, begin in (("debug", "to daemon: join"), ("debug", "from daemon: joined"),
                     ("info", "inc"),
                     ("debug", "allreduce begins: blocks of 4 bytes"),
                     ("debug", "allreduce ends: success"), ("info", "left: ")):
    if not any(lv == level and m.startswith(begin) for lv, m in seen):
        sys.exit(f"there is no {level} line \"{begin}...\"")

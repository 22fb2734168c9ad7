#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Compares two files that "inc-perf --json" has written, each with one run or several.
Results with the same collective, type, operation, number of ranks and size are
compared: "faster" or "slower" if the repetitions (--reps, 3 or more) of the two do
not overlap, else "same".
"""
import argparse
import collections
import json
import sys

# Fewer repetitions say nothing of the spread.
MIN_SAMPLES = 3
# A run's settings that may differ, and are then reported.
SETTINGS = ("pmtu", "slots", "msg_size", "outstanding")
VERDICTS = ("faster", "slower", "same")

Row = collections.namedtuple("Row", "run samples")


def end(text):
    sys.exit(f"{sys.argv[0]}: {text}")


def runs_of(text):
    """One after the other, separated by white space."""
    text = text.strip()
    while text:
        run, at = json.JSONDecoder().raw_decode(text)
        yield run
        text = text[at:].lstrip()


def samples_of(result):
    samples = [float(us) for us in result["samples_us"]]
    # A year: larger numbers are no latencies, and NaN compares false.
    if not samples or not all(0 < us < 3e13 for us in samples):
        raise ValueError
    return sorted(samples)


def read(name):
    """What was timed, by what it is comparable with."""
    rows = collections.defaultdict(list)
    try:
        with open(name, encoding="utf-8") as f:
            for run in runs_of(f.read()):
                for result in run["results"]:
                    if "samples_us" not in result:
                        continue
                    key = (run.get("collective", "-"), run.get("dtype", "-"),
                           run.get("op", "-"), int(run.get("ranks", 0)),
                           int(result.get("size", 0)))
                    rows[key].append(Row(run, samples_of(result)))
    except OSError as e:
        end(f"{name}: {e.strerror}")
    except (ValueError, TypeError, KeyError, AttributeError):
        end(f'{name}: not what "inc-perf --json" writes')
    if not rows:
        end(f"{name}: nothing was timed there")
    return rows


def median(samples):
    return samples[len(samples) // 2]


def spread(samples):
    """Per cent of the median."""
    return 100 * (samples[-1] - samples[0]) / median(samples)


def judge(old, new):
    if min(len(old), len(new)) < MIN_SAMPLES:
        return None
    if new[-1] < old[0]:
        return "faster"
    return "slower" if new[0] > old[-1] else "same"


def compare(old, new):
    """Each pair of results. If a file has one twice, they pair in their order."""
    noted = None
    for key, rows in old.items():
        for a, b in zip(rows, new.get(key, [])):
            if a.run is not noted:
                for name in SETTINGS:
                    if a.run.get(name, 0) != b.run.get(name, 0):
                        print(f"{sys.argv[0]}: note: {name} is "
                              f"{a.run.get(name, 0)} in OLD and "
                              f"{b.run.get(name, 0)} in NEW", file=sys.stderr)
            noted = a.run
            yield dict(zip(("collective", "dtype", "op", "ranks", "size"), key),
                       old_us=median(a.samples),
                       old_spread_pct=spread(a.samples),
                       new_us=median(b.samples),
                       new_spread_pct=spread(b.samples),
                       change_pct=100 * (median(b.samples) /
                                         median(a.samples) - 1),
                       verdict=judge(a.samples, b.samples))


def show(args, results, counts):
    print(f"# OLD {args.old}, NEW {args.new}: median latency in us, "
          "spread of the repetitions")
    print(f"# {'Collective':12} {'Type':10} {'Op':6} {'Ranks':>5} {'Size':>12} "
          f"{'OLD':>12} {'+-%':>6} {'NEW':>12} {'+-%':>6} {'Change%':>8}")
    for r in results:
        print("{collective:14} {dtype:10} {op:6} {ranks:5} {size:12} "
              "{old_us:12.2f} {old_spread_pct:6.1f} {new_us:12.2f} "
              "{new_spread_pct:6.1f} {change_pct:+8.1f}  ".format(**r) +
              (r["verdict"] or "-"))
    text = "# {faster} faster, {slower} slower, {same} same".format(**counts)
    if counts["unknown"]:
        text += (", {unknown} without a verdict (measure with --reps "
                 f"{MIN_SAMPLES} or more)").format(**counts)
    if counts["only_old"] or counts["only_new"]:
        text += "; {only_old} only in OLD, {only_new} only in NEW".format(**counts)
    print(text)


def percentage(text):
    value = float(text)
    if not 0 <= value <= 1e9:
        raise ValueError
    return value


def main():
    p = argparse.ArgumentParser(description=__doc__.strip(), epilog="Exit status: "
                                "0, 1 if a file cannot be read, nothing can be "
                                "compared, or a result is slower than allowed, 2 "
                                "for usage.")
    p.add_argument("--max-slowdown", metavar="PCT", type=percentage,
                   help="fail if a result is slower by more than PCT per cent")
    p.add_argument("-j", "--json", action="store_true", help="print JSON")
    p.add_argument("old", metavar="OLD")
    p.add_argument("new", metavar="NEW")
    args = p.parse_args()
    old, new = read(args.old), read(args.new)
    results = list(compare(old, new))
    verdicts = [r["verdict"] for r in results]
    counts = {v: verdicts.count(v) for v in VERDICTS}
    counts["unknown"] = verdicts.count(None)
    counts["only_old"] = sum(map(len, old.values())) - len(results)
    counts["only_new"] = sum(map(len, new.values())) - len(results)
    if args.json:
        print(json.dumps({"results": [{k: v for k, v in r.items() if v is not None}
                                      for r in results], **counts}, indent=1))
    else:
        show(args, results, counts)
    sys.stdout.flush()
    if not results:
        end("the files have no result in common: collective, type, operation, "
            "ranks and size must be the same")
    beyond = [r for r in results if args.max_slowdown is not None and
              r["change_pct"] > args.max_slowdown and
              r["verdict"] in ("slower", None)]
    if beyond:
        end(f"{len(beyond)} of {len(results)} results are slower by more than "
            f"{args.max_slowdown:g} %")


main()

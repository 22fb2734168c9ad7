#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Did the network do what it was told to, and did those meet it that must? Reads
what watch_start and watch_end of suite.sh wrote to DIR. Ends with 77 if so few
packets went that it need not have happened.

    watched.py DIR PROBABILITY lost|doubled|reordered|corrupted
"""
import collections
import json
import os
import sys

DIR, P, WHAT = sys.argv[1], float(sys.argv[2]), sys.argv[3]
# With that many expected, the probability of none at all is e^-12.
ENOUGH = 12
# A packet with altered contents fails one of these checks.
BROKEN = ("rx-icrc", "rx-short", "rx-bth", "rx-opcode", "rx-no-qp", "rx-source",
          "rx-pkey", "rx-udp-checksum", "rx-ip-options")


def text(name):
    with open(os.path.join(DIR, name)) as f:
        return f.read()


def values(name):
    """The JSON values of a file, one behind the other."""
    rest, decoder = text(name).strip(), json.JSONDecoder()
    while rest:
        value, end = decoder.raw_decode(rest)
        yield value
        rest = rest[end:].strip()


def netem(when):
    """{direction: (packets, dropped)}"""
    total = {"in": [0, 0], "out": [0, 0]}
    for qdiscs in values("netem." + when):
        for q in qdiscs:
            if q.get("kind") == "netem":
                way = "in" if q["dev"] in ("eth0", "uplink") else "out"
                total[way][0] += q["packets"] + q["drops"]
                total[way][1] += q["drops"]
    return total


def rxe(when):
    total = collections.Counter()
    for links in values("rxe." + when):
        for link in links:
            total.update({k: v for k, v in link.items()
                          if k not in ("ifname", "port")})
    return total


def switches(when, what):
    """Counters of all switches: of no member, or of members of gone trees."""
    total = collections.Counter()
    for switch in values("switch." + when):
        for one in switch if isinstance(switch, list) else [switch]:
            total.update(one[what])
    return total


def main():
    before, after = netem("before"), netem("after")
    packets, drops = ({way: after[way][i] - before[way][i] for way in after}
                      for i in (0, 1))
    hosts = rxe("after") - rxe("before")
    switch, m = (switches("after", what) - switches("before", what)
                 for what in ("stats", "gone-member-stats"))
    says = ["%d packets to the switch and %d from it" %
            (packets["in"], packets["out"])]
    met = []
    if WHAT == "lost":
        met += [drops["in"], drops["out"]]
        says.append("netem dropped %d and %d" % (drops["in"], drops["out"]))
        found = m["rx-out-of-sequence"] + m["rx-gaps"] + \
            m["tx-rnr-naks"] + m["rx-queries"]
        again = m["tx-retransmits"] + m["tx-resend-replies"] + \
            hosts["rcvd_seq_err"]
        met += [found, again]
        says.append("holes found %d, sent again %d" % (found, again))
    elif WHAT == "doubled":
        met.append(m["rx-duplicates"])
        says.append("duplicates at the switch %d, at hosts %d" % (
            m["rx-duplicates"], hosts["duplicate_request"]))
    elif WHAT == "reordered":
        met.append(m["rx-out-of-sequence"] + m["rx-gaps"])
        says.append("beyond a hole %d, gaps %d, at hosts %d" % (
            m["rx-out-of-sequence"], m["rx-gaps"], hosts["out_of_seq_request"]))
    else:
        met.append(sum(switch[name] for name in BROKEN))
        says.append("broken at the switch %d" % met[0])
    print("; ".join(says))
    if min(met) > 0:
        return 0
    return 77 if P * min(packets.values()) < ENOUGH and packets["in"] else 1


sys.exit(main())

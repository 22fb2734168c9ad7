# SPDX-License-Identifier: GPL-2.0
"""Runs the packet tests. Arguments: SEED=n ONLY=pattern FAMILIES=one VERBOSE=1."""
import importlib
import random
import sys
import time

import ktap
import peer
from net import Lab

# Each adds its tests when it is imported, in this order.
MODULES = ("basic", "border", "ingress", "bypass", "responder", "header",
           "requester", "life", "memory", "hold", "luck", "uc", "child",
           "trust", "work", "turn", "cnp", "random")


class TestLab(Lab):
    def before(self):
        """No test sees what is left of the one before it."""
        self.quiet(0.0)
        self.strangers.clear()
        self.sw.events()

    def tree(self, *args, **kw):
        return peer.Tree(self, *args, **kw)

    def good(self, family=4):
        """The switch works: a fresh tree, an AllReduce."""
        with self.tree(family=family) as t:
            t.good()


def main():
    opts = dict(arg.split("=", 1) for arg in sys.argv[1:])
    seed = int(opts.get("SEED", random.SystemRandom().randrange(1 << 31)))
    for name in MODULES:
        importlib.import_module("test_" + name)
    start = time.monotonic()
    lab = TestLab(seed)
    lab.seed = seed
    print("# seed %d (SEED=%d repeats it)" % (seed, seed))
    print("# reduce: %s" % lab.sw.do("switch-get")["reduce-impl"])
    failed = ktap.run(lab, opts.get("ONLY", "*"), opts.get("VERBOSE"),
                      opts.get("FAMILIES") == "one")
    print("# %d packets came in pieces" %
          sum(port.tap.sent for port in lab.ports if port.tap))
    print("# %.1f s" % (time.monotonic() - start))
    return 1 if failed else 0


sys.exit(main())

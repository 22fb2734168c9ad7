# SPDX-License-Identifier: GPL-2.0
"""Counters before and after: what a packet did to them, and nothing else."""
import contextlib

from ktap import expect


def delta(after, before):
    return {k: v - before.get(k, 0) for k, v in after.items()
            if v != before.get(k, 0)}


def dashed(want):
    return {k.replace("_", "-"): v for k, v in want.items() if v}


@contextlib.contextmanager
def switch(lab, **want):
    """The switch's drop counters move like this, all others not at all."""
    before = lab.sw.stats()
    yield
    lab.quiet()
    want = dashed(want)
    lab.until(lambda: delta(lab.sw.stats(), before) == want, 0.3)
    expect("switch counters", delta(lab.sw.stats(), before), want)


@contextlib.contextmanager
def member(m, **want):
    """The named counters of a member's QP grow by so much."""
    before = m.stats()
    yield
    m.lab.quiet()

    def moved():
        d = delta(m.stats(), before)
        return {k.replace("_", "-"): d.get(k.replace("_", "-"), 0) for k in want}

    want = {k.replace("_", "-"): v for k, v in want.items()}
    m.lab.until(lambda: moved() == want, 0.3)
    expect("counters of rank %d" % m.rank, moved(), want)


def taken(stats):
    """Packets of a member's QP that came in, each in one counter."""
    return sum(stats[k] for k in (
        "rx-packets", "rx-duplicates", "rx-out-of-sequence", "rx-acks",
        "rx-naks", "rx-rnr-naks", "rx-bad-request", "rx-bad-response",
        "rx-in-error")) + stats["tx-rnr-naks"] - stats["rx-kept"]

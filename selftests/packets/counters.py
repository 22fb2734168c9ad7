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
    try:
        yield
    except AssertionError as e:
        raise AssertionError("%s; switch counters: %s" % (
            e, delta(lab.sw.stats(), before))) from e
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
        return {k.replace("_", "-"): d.get(k.replace("_", "-"), 0)
                for k in want}

    want = {k.replace("_", "-"): v for k, v in want.items()}
    m.lab.until(lambda: moved() == want, 0.3)
    expect("counters of rank %d (all: %s)" % (m.rank, delta(m.stats(), before)),
           moved(), want)


def arrived(stats):
    """
    Packets that a QP counted on arrival. Only one that is kept beyond a hole
    counts again, when the hole is filled and it is looked at.
    """
    return sum(stats[k] for k in (
        "rx-packets", "rx-duplicates", "rx-out-of-sequence", "rx-acks",
        "rx-naks", "rx-rnr-naks", "rx-bad-request", "rx-bad-response",
        "rx-in-error", "tx-rnr-naks", "rx-queries", "rx-deferred",
        "rx-untrusted", "rx-cnps"))

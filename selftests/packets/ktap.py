# SPDX-License-Identifier: GPL-2.0
"""Tests by decorator, KTAP on standard output, a time limit for each."""
import fnmatch
import os
import random
import signal
import sys
import time
import traceback

TESTS = []

# A kernel with all checks on, or emulated, is slow.
BACKEND = os.environ.get("LAB_BACKEND", "")
SLOW = 10 if BACKEND in ("uml-debug", "vm", "vm-6.12") else 1


class TimeUp(Exception):
    pass


class Skip(Exception):
    pass


class Late(AssertionError):
    """Something took too long, or this machine stood still: once more."""


TRIES = 3


def timed():
    """The test measures time."""
    if SLOW > 1:
        raise Skip("the kernel is too slow")


def test(name, families=(4, 6), limit=10, cases=None):
    """@cases: {name: arguments}, each a test of its own."""
    def add(fn):
        for label, args in (cases or {"": ()}).items():
            for family in families or (None,):
                title = name + (": " + label if label else "")
                if family and len(families) > 1:
                    title += " (IPv%d)" % family
                TESTS.append((title, fn, family, args, limit))
        return fn
    return add


def expect(what, got, want):
    if got != want:
        raise AssertionError("%s: got %s, want %s" %
                             (what, _text(got), _text(want)))


def _text(value):
    if isinstance(value, int) and not isinstance(value, bool) and value > 255:
        return hex(value)
    return str(value)


def check(cond, why):
    if not cond:
        raise AssertionError(why)


def in_time(took, limit, what, least=0.0):
    """
    It took @least to @limit seconds. Who is late in one try but not in each of
    three had to wait for this machine's CPU.
    """
    check(took >= least, "%s after %.3f s" % (what, took))
    if took >= limit:
        raise Late("%s after %.3f s" % (what, took))


def _alarm(*_):
    raise TimeUp("time limit")


def _try(lab, fn, family, args, limit):
    for left in reversed(range(TRIES)):
        signal.alarm(limit * SLOW)
        try:
            lab.before()
            fn(lab, *family, *args)
            return
        except Late as e:
            if not left:
                raise
            print("# once more: %s" % e, flush=True)


def draw(tests, seed):
    """Of each test that runs over both families, one, as the seed has it."""
    rng = random.Random(seed)
    twins = {}
    for t in tests:
        twins.setdefault(t[0].removesuffix(" (IPv%s)" % t[2]), []).append(t)
    return [rng.choice(pair) for pair in twins.values()]


def run(lab, pattern, verbose, one_family):
    """Returns the number of failed tests."""
    chosen = [t for t in TESTS if fnmatch.fnmatch(t[0], pattern)]
    if one_family:
        chosen = draw(chosen, lab.seed)
    print("KTAP version 1\n1..%d" % len(chosen), flush=True)
    signal.signal(signal.SIGALRM, _alarm)
    failed = 0
    for number, (title, fn, family, args, limit) in enumerate(chosen, 1):
        start = time.monotonic()
        why = ""
        result = "ok"
        try:
            _try(lab, fn, (family,) if family else (), args, limit)
        except Skip as e:
            why = " # SKIP %s" % e
        except Exception as e:          # pylint: disable=broad-except
            signal.alarm(0)
            result = "not ok"
            why = " # %s: %s" % (type(e).__name__, str(e).replace("\n", " "))
            failed += 1
            if verbose:
                traceback.print_exc(file=sys.stdout)
        finally:
            signal.alarm(0)
        took = time.monotonic() - start
        if not why and took > 1:
            why = " # %.1f s" % took
        print("%s %d - %s%s" %
              (result, number, title.replace("#", "no. "), why),
              flush=True)
    print("# %d passed, %d failed" % (len(chosen) - failed, failed), flush=True)
    return failed

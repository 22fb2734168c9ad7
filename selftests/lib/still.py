# SPDX-License-Identifier: GPL-2.0
"""
Naps again and again, for as long as who started it is there. Where a nap takes
longer than it should, this machine stood still: others had its CPU.

    still.py MS >FILE

FILE has for how many microseconds in all, of naps that took MS milliseconds too
long, or more: 15 digits, at any time. Whoever starts it puts a zero there.
"""
import os
import sys
import time

# What a nap costs a virtual kernel is seen in all that runs beside it.
NAP = 0.02

parent, late, total = os.getppid(), int(sys.argv[1]) / 1000, 0.0
last = time.monotonic()
while os.getppid() == parent:
    time.sleep(NAP)
    now = time.monotonic()
    if now - last >= NAP + late:
        total += now - last - NAP
        os.pwrite(1, b"%015d\n" % (total * 1e6), 0)
    last = now

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [PATTERN]: lets spin look at every state of slot.pml, in variants, and
# then at variants with a bug, in which it has to find an error. KTAP on standard
# output. Where an error is found, build/model/N.trail shows the way to it:
# (cd build/model && spin -t -p FLAGS -k N.trail slot.pml).
#

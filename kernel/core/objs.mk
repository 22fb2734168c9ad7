# SPDX-License-Identifier: GPL-2.0
# The core: files without locks, packets, clock or memory of their own. Included by
# Kbuild two directories up, for the module and for its unit tests, and by
# userspace/core-tests/Makefile, which compiles the same files in user space.

inc-core-objs := core/collective.o core/icrc.o core/layout.o core/lost_place.o
inc-core-objs += core/message.o core/msg_loss.o
inc-core-objs += core/oldest.o core/part.o core/prefetch.o core/rank_range.o
inc-core-objs += core/reduce_tree.o core/requester.o core/responder.o
inc-core-objs += core/result_queue.o core/slot.o
inc-core-objs += core/uplink_queue.o core/wire.o

include $(dir $(lastword $(MAKEFILE_LIST)))reduce/objs.mk
inc-core-objs += $(inc-reduce-objs)

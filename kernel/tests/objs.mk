# SPDX-License-Identifier: GPL-2.0
# Included by Kbuild one directory up, for make INC_KUNIT=1: instead of the
# module itself, rdma_inc_kunit.ko with the leaf files and their tests.

ifndef CONFIG_KUNIT
$(error INC_KUNIT=1: this kernel has no KUnit (CONFIG_KUNIT))
endif

obj-m := rdma_inc_kunit.o

rdma_inc_kunit-y := ahead.o coll.o gap.o icrc.o layout.o req.o resp.o slot.o span.o wire.o
rdma_inc_kunit-y += $(inc-reduce-objs)
rdma_inc_kunit-y += tests/main.o tests/parts.o
rdma_inc_kunit-y += tests/coll_kunit.o tests/gap_kunit.o tests/icrc_kunit.o tests/psn_kunit.o
rdma_inc_kunit-y += tests/req_kunit.o tests/req_timer_kunit.o tests/req_model_kunit.o
rdma_inc_kunit-y += tests/resp_kunit.o tests/resp_model_kunit.o
rdma_inc_kunit-y += tests/slot_kunit.o tests/slot_order_kunit.o
rdma_inc_kunit-y += tests/slot_coll_kunit.o tests/slot_type_kunit.o
rdma_inc_kunit-y += tests/slot_level_kunit.o
rdma_inc_kunit-y += tests/wire_kunit.o
rdma_inc_kunit-y += tests/reduce_ref.o tests/reduce_kunit.o tests/reduce_wide_kunit.o

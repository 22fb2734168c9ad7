# SPDX-License-Identifier: GPL-2.0
# Included by Kbuild two directories up, for make INC_KUNIT=1: instead of the
# module itself, rdma_inc_kunit.ko with the core's files and their tests.

ifndef CONFIG_KUNIT
$(error INC_KUNIT=1: this kernel has no KUnit (CONFIG_KUNIT))
endif

obj-m := rdma_inc_kunit.o

inc-tests := main parts reduce_ref
inc-tests += collective_kunit icrc_kunit msg_loss_kunit psn_kunit
inc-tests += reduce_kunit reduce_wide_kunit
inc-tests += requester_kunit requester_model_kunit requester_timer_kunit
inc-tests += responder_kunit responder_model_kunit
inc-tests += slot_kunit slot_coll_kunit slot_level_kunit slot_order_kunit slot_type_kunit
inc-tests += wire_kunit

rdma_inc_kunit-y := $(inc-core-objs) $(inc-tests:%=core/tests/%.o)

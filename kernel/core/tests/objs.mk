# SPDX-License-Identifier: GPL-2.0
# Included by Kbuild two directories up: rdma_inc_kunit.ko, which has the core's
# files and their tests. It is made instead of the module (make INC_KUNIT=1).

inc-tests := main levels parts reduce_ref
inc-tests += collective_kunit icrc_kunit msg_loss_kunit oldest_kunit psn_kunit
inc-tests += reduce_kunit reduce_block_kunit reduce_wide_kunit
inc-tests += lost_place_kunit
inc-tests += requester_kunit requester_model_kunit requester_path_kunit
inc-tests += requester_timer_kunit
inc-tests += responder_kunit responder_model_kunit result_queue_kunit
inc-tests += slot_kunit slot_coll_kunit slot_level_kunit slot_order_kunit slot_type_kunit
inc-tests += uplink_queue_kunit wire_kunit

rdma_inc_kunit-y := $(inc-core-objs) $(inc-tests:%=core/tests/%.o)

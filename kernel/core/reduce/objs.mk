# SPDX-License-Identifier: GPL-2.0
# Included by Kbuild one directory up: what the reductions are made of, and
# with which flags. Only x86-64 has SIMD files, others take the C ones.

inc-reduce-objs := core/reduce/reduce.o core/reduce/int.o core/reduce/softfp.o core/reduce/pair.o

ifdef CONFIG_X86_64
inc-reduce-simd := sse2 avx2
inc-reduce-objs += $(inc-reduce-simd:%=core/reduce/simd_%.o)

CFLAGS_core/reduce/reduce.o += -DINC_REDUCE_X86

# UML forbids vector registers by flags of its own and has no CC_FLAGS_FPU.
inc-reduce-fpu := $(or $(CC_FLAGS_FPU),-msse -msse2)
inc-reduce-no-fpu := $(CC_FLAGS_NO_FPU) \
	-mno-sse -mno-sse2 -mno-mmx -mno-3dnow -mno-avx -mno-sse4a -mno-80387

CFLAGS_core/reduce/simd_sse2.o += $(inc-reduce-fpu)
CFLAGS_core/reduce/simd_avx2.o += $(inc-reduce-fpu) -mavx2 -mf16c
CFLAGS_REMOVE_core/reduce/simd_sse2.o += $(inc-reduce-no-fpu)
CFLAGS_REMOVE_core/reduce/simd_avx2.o += $(inc-reduce-no-fpu)

# sparse knows no vector types.
$(inc-reduce-simd:%=$(obj)/core/reduce/simd_%.o): override CHECK := true
endif

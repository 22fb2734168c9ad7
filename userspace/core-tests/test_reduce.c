// SPDX-License-Identifier: GPL-2.0
/*
 * Floating-point reductions of two operands, and divisions, against GNU MPFR:
 * many more pairs than reduce_kunit.c can afford. INC_SEED selects others,
 * INC_ROUNDS the number of rounds (4 K pairs each).
 */
#include <stdio.h>
#include <time.h>

#include <linux/kernel.h>
#include <linux/string.h>

#include "core/reduce/reduce_impl.h"
#include "reduce_ref.h"
#include "rnd.h"

#define NELEM	4096

static const u8 types[] = {
	INC_DTYPE_FP16, INC_DTYPE_BF16, INC_DTYPE_FP32, INC_DTYPE_FP64,
};

static const u8 ops[] = { INC_OP_SUM, INC_OP_PROD, INC_OP_MIN, INC_OP_MAX };

static u64 a[NELEM], b[NELEM], want[NELEM];
static char va[NELEM * 8], vb[NELEM * 8], dst[NELEM * 8];

/* Choose @y's exponent for a product near 1, or near either end of range. */
static void rnd_pair(const struct ref_format *f, u64 *x, u64 *y)
{
	const u64 top = (1ull << (f->width - f->prec)) - 1;
	u64 exp = rnd();

	if (rnd() % 4 == 0)
		exp = rnd() % 2 ? top - rnd() % 3 : 0;
	*x = rnd_fp(f, exp);
	switch (rnd() % 6) {
	case 0:
		*y = rnd_fp(f, exp);
		break;
	case 1:
		*y = rnd_fp(f, exp - rnd() % (f->prec + 4));
		break;
	case 2:
		*y = *x ^ 1ull << (f->width - 1) ^ rnd() % 4;
		break;
	case 3:
		*y = rnd_fp(f, top / 2 - exp - rnd() % (f->prec + 4));
		break;
	case 4:
		*y = rnd_fp(f, top / 2 + top - exp - rnd() % 4);
		break;
	default:
		*y = rnd_fp(f, rnd());
		break;
	}
}

/* Print the first wrong element. */
static int compare(const char *impl, u8 dtype, const char *what)
{
	const unsigned int size = inc_dtype_size(dtype);

	for (unsigned int i = 0; i < NELEM; i++) {
		u64 got = 0;

		memcpy(&got, dst + i * size, size);
		if (got == want[i])
			continue;
		printf("not ok - %s dtype %u %s: 0x%llx, 0x%llx: 0x%llx, not 0x%llx\n",
		       impl, dtype, what, (unsigned long long)a[i],
		       (unsigned long long)b[i], (unsigned long long)got,
		       (unsigned long long)want[i]);
		return 1;
	}
	return 0;
}

static int check_op(u8 dtype, u8 op)
{
	const struct inc_reduce_ops *row = inc_reduce_lookup(dtype, op);
	const struct inc_reduce_impl *impl;
	char what[16];
	int bad = 0;

	if (!row)
		return 0;
	snprintf(what, sizeof(what), "op %u", op);
	for (unsigned int i = 0; i < NELEM; i++)
		want[i] = ref_fp(ref_format(dtype), op, a[i], b[i]);
	for (int i = 0; (impl = inc_reduce_impl_at(i)); i++) {
		if (!impl->fn[dtype][op])
			continue;
		inc_reduce_by(impl, row, dst, va, vb, NELEM);
		bad += compare(impl->name, dtype, what);
	}
	return bad;
}

static int check_div(u8 dtype)
{
	const struct inc_reduce_ops *row = inc_reduce_lookup(dtype, INC_OP_AVG);
	const struct inc_reduce_impl *impl;
	unsigned int ranks = 2 + rnd() % (rnd() % 2 ? 30 : 65534);
	char what[16];
	int bad = 0;

	snprintf(what, sizeof(what), "/ %u", ranks);
	for (unsigned int i = 0; i < NELEM; i++)
		want[i] = ref_div(ref_format(dtype), a[i], ranks);
	for (int i = 0; (impl = inc_reduce_impl_at(i)); i++) {
		if (!impl->div[dtype])
			continue;
		memcpy(dst, va, sizeof(dst));
		inc_reduce_finish_by(impl, row, dst, NELEM, ranks);
		bad += compare(impl->name, dtype, what);
	}
	return bad;
}

static int one_round(u8 dtype)
{
	const unsigned int size = inc_dtype_size(dtype);
	int bad = 0;

	for (unsigned int i = 0; i < NELEM; i++) {
		rnd_pair(ref_format(dtype), &a[i], &b[i]);
		memcpy(va + i * size, &a[i], size);
		memcpy(vb + i * size, &b[i], size);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++)
		bad += check_op(dtype, ops[i]);
	return bad + check_div(dtype);
}

int main(void)
{
	unsigned long n = rnd_init(30);
	int bad = 0;

	inc_reduce_init();
	for (unsigned long i = 0; i < n && !bad; i++)
		for (unsigned int t = 0; t < ARRAY_SIZE(types); t++)
			bad += one_round(types[t]);
	printf("%s 1 test_reduce\n1..1\n", bad ? "not ok" : "ok");
	return bad ? 1 : 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Whole reductions of 16-bit floats, as in a slot: balanced trees of 2 to 70
 * ranks, partial results in two planes in place of their operands, rounded
 * once. GNU MPFR uses the same tree. Set INC_SEED and INC_ROUNDS to choose
 * others.
 */
#include <stdio.h>

#include <linux/kernel.h>
#include <linux/string.h>

#include "core/reduce/reduce_impl.h"
#include "reduce_ref.h"
#include "rnd.h"

#define MAX_RANKS	70
#define MAX_ELEM	150

static u16 data[MAX_RANKS][MAX_ELEM];
static u16 want[MAX_ELEM], result[MAX_ELEM];

static void fill(const struct ref_format *f, unsigned int ranks,
		 unsigned int nelem)
{
	const u64 middle = (1ull << (f->width - f->prec - 1)) - 4;

	for (unsigned int i = 0; i < nelem; i++) {
		unsigned int kind = rnd() % 8;
		u64 exp = rnd();

		for (unsigned int r = 0; r < ranks; r++) {
			if (kind == 0)		/* any bits */
				data[r][i] = rnd();
			else if (kind == 1)	/* subnormal, or next to it */
				data[r][i] = rnd_fp(f, 0);
			else if (kind < 4)	/* far apart */
				data[r][i] =
					rnd_fp(f, exp - rnd() % (2 * f->prec));
			else			/* products stay near 1 */
				data[r][i] = rnd_fp(f, middle + rnd() % 4);
		}
	}
}

static u16 reference(const struct ref_format *f, u8 op, unsigned int ranks,
		     unsigned int i)
{
	u64 vals[MAX_RANKS], n = ranks;

	for (unsigned int r = 0; r < ranks; r++)
		vals[r] = ref_convert(&ref_fp32, f, data[r][i]);
	for (; n > 1; n = (n + 1) / 2) {
		for (unsigned int r = 0; r < n / 2; r++)
			vals[r] = ref_fp(&ref_fp32,
					 op == INC_OP_PROD ? op : INC_OP_SUM,
					 vals[2 * r], vals[2 * r + 1]);
		if (n % 2)
			vals[n / 2] = vals[n - 1];
	}
	if (op == INC_OP_AVG)
		vals[0] = ref_div(&ref_fp32, vals[0], ranks);
	return ref_convert(f, &ref_fp32, vals[0]);
}

/* @impl NULL: the module's own choice. */
static void pair(const struct inc_reduce_impl *impl,
		 const struct inc_reduce_ops *row, struct inc_operand dst,
		 struct inc_operand a, struct inc_operand b, unsigned int nelem,
		 unsigned int ranks)
{
	if (impl)
		inc_reduce_wide_by(impl, row, dst, a, b, nelem, ranks);
	else
		inc_reduce_wide(row, dst, a, b, nelem, ranks);
}

/* Reduce the parts of a row of the tree, or make the final result. */
static void tree(const struct inc_reduce_impl *impl,
		 const struct inc_reduce_ops *row, unsigned int ranks,
		 unsigned int nelem)
{
	static u8 buf[MAX_RANKS][MAX_ELEM * 2 + 1];
	struct inc_operand part[MAX_RANKS];
	unsigned int n;

	for (unsigned int r = 0; r < ranks; r++) {
		part[r].hi = buf[r] + rnd() % 2;
		part[r].lo = NULL;
		memcpy(part[r].hi, data[r], nelem * 2);
	}
	for (n = ranks; n > 2; n = (n + 1) / 2) {
		for (unsigned int r = 0; r < n / 2; r++) {
			struct inc_operand a = part[2 * r], b = part[2 * r + 1];
			struct inc_operand dst = { a.hi, a.lo ? a.lo : b.hi };

			pair(impl, row, dst, a, b, nelem, ranks);
			part[r] = dst;
		}
		if (n % 2)
			part[n / 2] = part[n - 1];
	}
	pair(impl, row, (struct inc_operand){ result, NULL }, part[0], part[1],
	     nelem, ranks);
}

static int compare(const char *name, const struct inc_reduce_ops *row,
		   unsigned int ranks, unsigned int nelem)
{
	for (unsigned int i = 0; i < nelem; i++) {
		if (result[i] == want[i])
			continue;
		printf("not ok - %s dtype %u op %u, %u ranks, [%u of %u]: 0x%x, not 0x%x:",
		       name, row->dtype, row->op, ranks, i, nelem, result[i],
		       want[i]);
		for (unsigned int r = 0; r < ranks; r++)
			printf(" %x", data[r][i]);
		printf("\n");
		return 1;
	}
	return 0;
}

static int one_round(u8 dtype, u8 op)
{
	const struct inc_reduce_ops *row = inc_reduce_lookup(dtype, op);
	const struct ref_format *f = ref_format(dtype);
	unsigned int ranks = 2 + rnd() % (rnd() % 4 ? 7 : MAX_RANKS - 1);
	unsigned int nelem = 1 + rnd() % MAX_ELEM;
	const struct inc_reduce_impl *impl;
	int bad = 0;

	fill(f, ranks, nelem);
	for (unsigned int i = 0; i < nelem; i++)
		want[i] = reference(f, op, ranks, i);
	tree(NULL, row, ranks, nelem);
	bad += compare("inc_reduce_wide", row, ranks, nelem);
	for (int i = 0; (impl = inc_reduce_impl_at(i)); i++) {
		if (!impl->wide[dtype][op])
			continue;
		tree(impl, row, ranks, nelem);
		bad += compare(impl->name, row, ranks, nelem);
	}
	return bad;
}

int main(void)
{
	static const u8 ops[] = { INC_OP_SUM, INC_OP_PROD, INC_OP_AVG };
	unsigned long n = rnd_init(150);
	int bad = 0;

	inc_reduce_init();
	for (unsigned long i = 0; i < n && !bad; i++) {
		for (unsigned int o = 0; o < ARRAY_SIZE(ops); o++) {
			bad += one_round(INC_DTYPE_FP16, ops[o]);
			bad += one_round(INC_DTYPE_BF16, ops[o]);
		}
	}
	printf("%s 1 test_wide\n1..1\n", bad ? "not ok" : "ok");
	return bad ? 1 : 0;
}

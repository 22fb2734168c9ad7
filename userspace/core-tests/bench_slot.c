// SPDX-License-Identifier: GPL-2.0
/*
 * CPU time of a packet in the slot machine, from the payload in memory to the
 * chunk's result and its CRC: hosts at one switch, at a leaf with an aligned
 * block of ranks, and at leaves with two blocks or three.
 *
 *   bench_slot [TURNS]
 *
 * The rows take turns; the figure is the least of the turns, which a busy
 * machine disturbs least.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/kernel.h>

#include "core/reduce/reduce.h"
#include "core/slot.h"

#define PMTU		1024
#define CHUNKS		16
#define MESSAGES	400
#define MEMBERS		4
#define NELEM		((CHUNKS * PMTU - INC_HDR_LEN) / 4)

static const struct row {
	const char	*name;
	u16		first, all;
} rows[] = {
	{ "one switch, ranks 0-3 of 4", 0, 0 },
	{ "leaf, ranks 4-7 of 8: one block", 4, 8 },
	{ "leaf, ranks 2-5 of 8: two blocks", 2, 8 },
	{ "leaf, ranks 1-4 of 8: three blocks", 1, 8 },
};

static struct inc_part parts[MEMBERS][CHUNKS];
static u8 data[MEMBERS][CHUNKS][PMTU];

void inc_part_free(struct inc_part *part)
{
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void send_chunks(struct inc_slot *s, const struct inc_msg *msg)
{
	u16 chunk, m;

	for (chunk = 0; chunk < CHUNKS; chunk++)
		for (m = 0; m < MEMBERS; m++) {
			parts[m][chunk] = (struct inc_part) {
				.data = data[m][chunk],
				.len = inc_chunk_len(s->geom, chunk,
						     msg->data_len),
			};
			inc_slot_add(s, m, msg->msg_id, &parts[m][chunk]);
		}
}

/* A child's slot goes on once it has the parent's result. */
static double run(const struct row *row)
{
	struct inc_slot_geom g = {
		.members = MEMBERS, .slots = 1, .pmtu = PMTU,
		.max_chunks = CHUNKS, .msg_size = CHUNKS * PMTU,
		.collectives = ~0U, .dtypes = ~0U, .ops = ~0U,
		.child = row->all, .job_ranks = row->all,
		.own = { row->first, row->all ? MEMBERS : 0 },
	};
	struct inc_hdr hdr = {
		.version = INC_VERSION, .collective = INC_COLL_ALLREDUCE,
		.dtype = INC_DTYPE_FP32, .op = INC_OP_SUM,
		.nelem = cpu_to_be32(NELEM),
	};
	void *mem = aligned_alloc(PMTU, inc_slot_size(&g));
	struct inc_part result = {};
	struct inc_slot s;
	struct inc_msg msg;
	double start, spent = 0;
	u32 id, m;

	inc_slot_init(&s, &g, 0);
	memset(mem, 0, inc_slot_size(&g));
	inc_slot_place(&s, mem);
	for (id = 0; id < MESSAGES; id++) {
		hdr.msg_id = cpu_to_be32(id);
		start = now();
		for (m = 0; m < MEMBERS; m++) {
			if (inc_msg_parse(&g, m, &hdr, CHUNKS * PMTU, false, &msg) ||
			    inc_slot_begin(&s, m, &msg, 0))
				abort();
		}
		send_chunks(&s, &msg);
		spent += now() - start;
		if (s.gathered != CHUNKS)
			abort();
		result.data = s.partial;
		result.len = msg.data_len;
		if (row->all)
			inc_slot_result(&s, 0, &result);
		inc_slot_answer(&s, INC_STATUS_OK);
	}
	free(mem);
	return spent / (MESSAGES * MEMBERS * CHUNKS);
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 20;
	double best[ARRAY_SIZE(rows)], ns;
	unsigned int i;

	inc_reduce_init();
	memset(data, 0x3f, sizeof(data));
	for (int t = 0; t < turns; t++)
		for (i = 0; i < ARRAY_SIZE(rows); i++) {
			ns = run(&rows[i]);
			best[i] = t && best[i] < ns ? best[i] : ns;
		}
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		printf("%-36s %6.1f ns a packet of %u bytes\n", rows[i].name,
		       best[i], PMTU);
	return 0;
}

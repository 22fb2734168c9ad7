// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * mpi-train - data-parallel training, as an MPI program that knows of no
 * switch: a network of two layers learns a function from seeded data, each rank
 * from its share, and one MPI_Allreduce per step sums up the gradients of all
 * ranks.
 *
 *   mpi-train [-n STEPS] [-w WIDTH] [-b BATCH] [-s SEED] [-r]
 *
 *	-w  units of the hidden layer; a step's gradients are 66 floats for each
 *	-b  samples of a rank and step
 *	-r  sum up by MPI_Allgather and a balanced binary tree over ranks, as an
 *	    INC switch does, so that the losses have to be the same bits
 *
 * Rank 0 prints each step's loss, also as bits, and the step's microseconds.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUTS	64
#define RATE	0.05f

/* Parameters, and gradients, one after the other; the last is the loss. */
struct net {
	int	width;
	size_t	size;
	float	*w1;	/* [width][INPUTS] */
	float	*b1;	/* [width] */
	float	*w2;	/* [width] */
	float	*loss;
};

static void *get_memory(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p) {
		fprintf(stderr, "mpi-train: no memory\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return p;
}

static struct net new_net(int width)
{
	struct net n = { .width = width };

	n.size = (size_t)width * (INPUTS + 2) + 1;
	n.w1 = get_memory(n.size * sizeof(float));
	n.b1 = n.w1 + (size_t)width * INPUTS;
	n.w2 = n.b1 + width;
	n.loss = n.w2 + width;
	return n;
}

/* -1 ... 1, the same on all machines. */
static float draw_number(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (float)(int32_t)(*state >> 32) / 2147483648.0f;
}

/* Weights that all ranks begin with. */
static void init_net(struct net *n, uint64_t seed)
{
	size_t i;

	for (i = 0; i < n->size - 1; i++)
		n->w1[i] =
			draw_number(&seed) / (i < (size_t)n->width * INPUTS ?
					      8 : 16);
}

/* A sample, and what the network is to say of it. */
static float draw_sample(float x[INPUTS], uint64_t *state)
{
	float y = 0;
	int i;

	for (i = 0; i < INPUTS; i++) {
		x[i] = draw_number(state);
		y += i % 2 ? x[i] : -x[i] * x[i];
	}
	return y / 8;
}

/* Adds the gradients of a sample to @g. */
static void add_gradients(const struct net *n, struct net *g, float *hidden,
			  const float x[INPUTS], float want)
{
	float out = 0, delta, back;
	int i, j;

	for (j = 0; j < n->width; j++) {
		float a = n->b1[j];

		for (i = 0; i < INPUTS; i++)
			a += n->w1[j * INPUTS + i] * x[i];
		hidden[j] = a > 0 ? a : 0;
		out += n->w2[j] * hidden[j];
	}
	delta = out - want;
	*g->loss += delta * delta;
	for (j = 0; j < n->width; j++) {
		g->w2[j] += delta * hidden[j];
		if (hidden[j] <= 0)
			continue;
		back = delta * n->w2[j];
		g->b1[j] += back;
		for (i = 0; i < INPUTS; i++)
			g->w1[j * INPUTS + i] += back * x[i];
	}
}

/* The sum over ranks as Documentation/protocol.rst defines it. */
static void tree_sum(struct net *g, int ranks)
{
	float *all = get_memory(g->size * sizeof(float) * (size_t)ranks);
	size_t i;
	int n, r;

	MPI_Allgather(g->w1, (int)g->size, MPI_FLOAT, all, (int)g->size,
		      MPI_FLOAT, MPI_COMM_WORLD);
	for (n = ranks; n > 1; n = (n + 1) / 2) {
		for (r = 0; r < (n + 1) / 2; r++) {
			const float *a = all + g->size * (size_t)(2 * r);
			float *to = all + g->size * (size_t)r;

			for (i = 0; i < g->size; i++)
				to[i] = 2 * r + 1 < n ? a[i] + a[g->size + i] :
							a[i];
		}
	}
	memcpy(g->w1, all, g->size * sizeof(float));
	free(all);
}

static void step_weights(struct net *n, const struct net *g, int samples)
{
	size_t i;

	for (i = 0; i < n->size - 1; i++)
		n->w1[i] -= RATE * g->w1[i] / (float)samples;
}

static void show_step(int number, float loss, double us)
{
	uint32_t bits;

	memcpy(&bits, &loss, sizeof(bits));
	printf("{\"step\":%d,\"loss\":%.6g,\"bits\":\"%08x\",\"us\":%.0f}\n",
	       number, (double)loss, bits, us);
	fflush(stdout);
}

struct train_options {
	int	steps;
	int	width;
	int	batch;
	int	seed;
	int	reference;
};

static void train_net(const struct train_options *o, int rank, int ranks)
{
	uint64_t state = (uint64_t)o->seed * 1000003 + (uint64_t)rank + 1;
	struct net n = new_net(o->width), g = new_net(o->width);
	float *hidden = get_memory((size_t)o->width * sizeof(float));
	float x[INPUTS];
	double start;
	int s, i;

	init_net(&n, (uint64_t)o->seed);
	for (s = 0; s < o->steps; s++) {
		MPI_Barrier(MPI_COMM_WORLD);
		start = MPI_Wtime();
		memset(g.w1, 0, g.size * sizeof(float));
		for (i = 0; i < o->batch; i++) {
			float want = draw_sample(x, &state);

			add_gradients(&n, &g, hidden, x, want);
		}
		if (o->reference)
			tree_sum(&g, ranks);
		else
			MPI_Allreduce(MPI_IN_PLACE, g.w1, (int)g.size,
				      MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		step_weights(&n, &g, o->batch * ranks);
		if (!rank)
			show_step(s, *g.loss / (float)(o->batch * ranks),
				  (MPI_Wtime() - start) * 1e6);
	}
	free(n.w1);
	free(g.w1);
	free(hidden);
}

int main(int argc, char **argv)
{
	struct train_options o = {
		.steps = 10, .width = 256, .batch = 16, .seed = 1,
	};
	int rank, ranks, opt;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	while ((opt = getopt(argc, argv, "n:w:b:s:r")) != -1) {
		int value = optarg ? atoi(optarg) : 1;

		switch (opt) {
		case 'n': o.steps = value; break;
		case 'w': o.width = value; break;
		case 'b': o.batch = value; break;
		case 's': o.seed = value; break;
		case 'r': o.reference = 1; break;
		default: value = 0;
		}
		if (value < 1) {
			fprintf(stderr, "usage: mpi-train [-n STEPS] [-w WIDTH] [-b BATCH] [-s SEED] [-r]\n");
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
	}
	train_net(&o, rank, ranks);
	MPI_Finalize();
	return 0;
}

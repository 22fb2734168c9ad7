// SPDX-License-Identifier: GPL-2.0
/*
 * The data of random MPI programs, and what MPI defines as their results. All
 * data is a function of the operation, the ranks and the position; results are
 * exact in any order of operands. A whole buffer is compared, with the gaps of
 * its type and the memory around it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "random_data.h"

#define AROUND	64	/* bytes before and behind a buffer's data */
#define FILLED	0xa5

/* --- Types with gaps ----------------------------------------------------- */

/*
 * struct type - a type of words
 * @words: of an element
 * @extent: in words
 * @at: where they are
 */
struct type {
	int	words;
	int	extent;
	int	at[3];
};

static const struct type types[] = {
	{ 1, 1, { 0 } },
	{ 2, 2, { 0, 1 } },
	{ 1, 2, { 0 } },		/* a gap behind */
	{ 3, 3, { 2, 0, 1 } },		/* out of order */
	{ 2, 5, { -1, 1 } },		/* gaps, and begins before its address */
};

#define TYPES	((int)(sizeof(types) / sizeof(*types)))

static MPI_Datatype mpi_types[2][TYPES];

static MPI_Datatype type_of(int word, int type)
{
	return mpi_types[word > 1][type];
}

static void make_type(int word, int n)
{
	MPI_Datatype base = word > 1 ? MPI_INT : MPI_CHAR, t;
	const struct type *p = &types[n];
	MPI_Aint at[3];
	int len[3] = { 1, 1, 1 }, i;

	if (!n) {
		mpi_types[word > 1][0] = base;
		return;
	}
	for (i = 0; i < p->words; i++)
		at[i] = p->at[i] * word;
	MPI_Type_create_hindexed(p->words, len, at, base, &t);
	MPI_Type_create_resized(t, p->at[0] < 0 ? -word : 0,
				p->extent * word, &mpi_types[word > 1][n]);
	MPI_Type_free(&t);
	MPI_Type_commit(&mpi_types[word > 1][n]);
}

/* --- Types and operations of reductions ---------------------------------- */

enum rop {
	R_MAX, R_MIN, R_SUM, R_PROD, R_LAND, R_LOR, R_LXOR, R_BAND, R_BOR,
	R_BXOR, R_MAXLOC, R_MINLOC, R_OWN, R_AFFINE, NROPS
};

#define ARITH	(1u << R_MAX | 1u << R_MIN | 1u << R_SUM | 1u << R_PROD)
#define BITS	(1u << R_BAND | 1u << R_BOR | 1u << R_BXOR)
#define LOGIC	(1u << R_LAND | 1u << R_LOR | 1u << R_LXOR)
#define INTEGER	(ARITH | BITS | LOGIC)
#define PAIR	(1u << R_MAXLOC | 1u << R_MINLOC)

/**
 * struct dtype - a type of elements
 * @type: of MPI; MPI_DATATYPE_NULL: the type of @affine
 * @size: bytes
 * @ops: operations
 * @put: set an element
 * @reduce: reduce an element by that of a higher rank
 */
struct dtype {
	MPI_Datatype	type;
	size_t		size;
	unsigned int	ops;
	void		(*put)(void *to, unsigned int hash, enum rop op);
	void		(*reduce)(void *to, const void *from, enum rop op);
};

/* Small enough for all sums to be exact in all types. */
static int small(unsigned int hash, enum rop op)
{
	switch (op) {
	case R_PROD:
		return hash % 4 ? 1 : 2;
	case R_LAND:
	case R_LOR:
	case R_LXOR:
		return hash % 2;
	default:
		return (int)(hash % 7);
	}
}

#define PUT(name, c)							\
static void put_##name(void *to, unsigned int hash, enum rop op)	\
{									\
	c v = (c)small(hash, op);					\
									\
	memcpy(to, &v, sizeof(v));					\
}

#define REDUCE(name, c, more)						\
static void reduce_##name(void *to, const void *from, enum rop op)	\
{									\
	c a, b;								\
									\
	memcpy(&a, to, sizeof(a));					\
	memcpy(&b, from, sizeof(b));					\
	switch (op) {							\
	case R_MAX: a = a > b ? a : b; break;				\
	case R_MIN: a = a < b ? a : b; break;				\
	case R_SUM: case R_OWN: a = (c)(a + b); break;			\
	case R_PROD: a = (c)(a * b); break;				\
	more								\
	default: abort();						\
	}								\
	memcpy(to, &a, sizeof(a));					\
}

#define WHOLE								\
	case R_LAND: a = a && b; break;					\
	case R_LOR: a = a || b; break;					\
	case R_LXOR: a = !a != !b; break;				\
	case R_BAND: a &= b; break;					\
	case R_BOR: a |= b; break;					\
	case R_BXOR: a ^= b; break;

#define NUMBER(name, c, more) PUT(name, c) REDUCE(name, c, more)

NUMBER(i8, int8_t, WHOLE)
NUMBER(u16, uint16_t, WHOLE)
NUMBER(i32, int32_t, WHOLE)
NUMBER(u64, uint64_t, WHOLE)
NUMBER(f32, float,)
NUMBER(f64, double,)

/* A value and a number, for MAXLOC and MINLOC; equal values are frequent. */
#define PAIR_OF(name, c)						\
struct name { c v; int at; };						\
static void put_##name(void *to, unsigned int hash, enum rop op)	\
{									\
	struct name *p = to;						\
									\
	p->v = (c)(hash % 3);						\
	p->at = small(hash >> 4, op);					\
}									\
									\
static void reduce_##name(void *to, const void *from, enum rop op)	\
{									\
	const struct name *b = from;					\
	struct name *a = to;						\
									\
	if (op == R_MAXLOC ? b->v > a->v : b->v < a->v)			\
		*a = *b;						\
	else if (b->v == a->v && b->at < a->at)				\
		a->at = b->at;						\
}

PAIR_OF(float_int, float)
PAIR_OF(double_int, double)
PAIR_OF(two_ints, int)
PAIR_OF(short_int, short)

/* x -> a x + b: the order of operands matters. */
struct affine {
	uint32_t a;
	uint32_t b;
};

static void put_affine(void *to, unsigned int hash, enum rop op)
{
	(void)op;
	*(struct affine *)to = (struct affine){ hash | 1, hash >> 7 };
}

static void reduce_affine(void *to, const void *from, enum rop op)
{
	const struct affine *y = from;
	struct affine *x = to;

	(void)op;
	x->b = y->a * x->b + y->b;
	x->a *= y->a;
}

#define DTYPE(type, name, c, ops) { type, sizeof(c), ops, put_##name, reduce_##name }
static struct dtype dtypes[] = {
	DTYPE(MPI_INT8_T, i8, int8_t, INTEGER),
	DTYPE(MPI_UINT16_T, u16, uint16_t, INTEGER),
	DTYPE(MPI_INT, i32, int32_t, INTEGER | 1u << R_OWN),
	DTYPE(MPI_UINT64_T, u64, uint64_t, INTEGER),
	DTYPE(MPI_BYTE, i8, int8_t, BITS),
	DTYPE(MPI_C_BOOL, i8, int8_t, LOGIC),
	DTYPE(MPI_FLOAT, f32, float, ARITH),
	DTYPE(MPI_DOUBLE, f64, double, ARITH),
	DTYPE(MPI_FLOAT_INT, float_int, struct float_int, PAIR),
	DTYPE(MPI_DOUBLE_INT, double_int, struct double_int, PAIR),
	DTYPE(MPI_2INT, two_ints, struct two_ints, PAIR),
	DTYPE(MPI_SHORT_INT, short_int, struct short_int, PAIR),
	DTYPE(MPI_DATATYPE_NULL, affine, struct affine, 1u << R_AFFINE),
};

#define DTYPES	((int)(sizeof(dtypes) / sizeof(*dtypes)))
#define AFFINE	(&dtypes[DTYPES - 1])

static MPI_Op ops[NROPS] = {
	MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_LOR, MPI_LXOR,
	MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC,
};

static void own_add(void *in, void *inout, int *len, MPI_Datatype *type)
{
	int i;

	(void)type;
	for (i = 0; i < *len; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void own_affine(void *in, void *inout, int *len, MPI_Datatype *type)
{
	struct affine *x = in, *y = inout, out;
	int i;

	(void)type;
	for (i = 0; i < *len; i++) {
		out = x[i];
		reduce_affine(&out, &y[i], R_AFFINE);
		y[i] = out;
	}
}

/**
 * data_up() - make types and operations
 */
void data_up(void)
{
	int i;

	for (i = 0; i < TYPES; i++) {
		make_type(1, i);
		make_type(4, i);
	}
	MPI_Type_contiguous(2, MPI_UINT32_T, &AFFINE->type);
	MPI_Type_commit(&AFFINE->type);
	MPI_Op_create(own_add, 1, &ops[R_OWN]);
	MPI_Op_create(own_affine, 0, &ops[R_AFFINE]);
}

/**
 * data_down() - free them
 */
void data_down(void)
{
	int i;

	for (i = 1; i < TYPES; i++) {
		MPI_Type_free(&mpi_types[0][i]);
		MPI_Type_free(&mpi_types[1][i]);
	}
	MPI_Type_free(&AFFINE->type);
	MPI_Op_free(&ops[R_OWN]);
	MPI_Op_free(&ops[R_AFFINE]);
}

/* --- An operation -------------------------------------------------------- */

/**
 * kind_name() - get the name of an operation
 * @kind: operation
 *
 * Return: a constant string.
 */
const char *kind_name(enum kind kind)
{
	static const char *const names[] = {
#define X(name, cap) #name,
		KINDS(X)
#undef X
		"send", "recv",
	};

	return names[kind];
}

/**
 * is_reduction() - check whether a collective reduces
 * @kind: collective
 *
 * Return: true if it does.
 */
bool is_reduction(enum kind kind)
{
	return kind >= K_reduce && kind < NKINDS;
}

static bool is_message(enum kind kind)
{
	return kind == K_send || kind == K_recv;
}

static bool has_counts(enum kind kind)
{
	return kind == K_gatherv || kind == K_scatterv ||
	       kind == K_allgatherv || kind == K_alltoallv ||
	       kind == K_alltoallw || kind == K_reduce_scatter;
}

/*
 * Exscan alone does not define that on rank 0.
 *
 * Open MPI's own non-blocking Alltoallv and Alltoallw in place (coll/libnbc)
 * end with wrong blocks now and then.
 */
static bool may_be_in_place(const struct op *o)
{
	if (o->mode != BLOCKING &&
	    (o->kind == K_alltoallv || o->kind == K_alltoallw))
		return false;
	return o->kind != K_barrier && o->kind != K_bcast &&
	       !is_message(o->kind);
}

static unsigned int mixed(unsigned int x)
{
	x ^= x >> 16;
	x *= 0x7feb352dU;
	x ^= x >> 15;
	x *= 0x846ca68bU;
	return x ^ x >> 16;
}

/**
 * draw() - draw a random number
 * @state: of a sequence
 * @n: number of values
 *
 * Return: below @n.
 */
unsigned int draw(unsigned int *state, unsigned int n)
{
	*state += 0x9e3779b9;
	return mixed(*state) % n;
}

/**
 * op_draw() - choose what an operation moves
 * @o: operation with a kind
 * @state: random numbers that are the same on all ranks
 */
void op_draw(struct op *o, unsigned int *state)
{
	unsigned int how = draw(state, 16);

	o->n = !how ? 0 : how < 12 ? (int)draw(state, 24) : how < 15 ?
	       (int)draw(state, 600) : (int)draw(state, 9000);
	o->root = (int)draw(state, RANKS);
	o->in_place = !draw(state, 4) && may_be_in_place(o);
	o->varied = has_counts(o->kind) && draw(state, 3);
	o->word = draw(state, 2) ? 4 : 1;
	o->stype = (int)draw(state, 2 * (unsigned int)TYPES);
	o->rtype = (int)draw(state, 2 * (unsigned int)TYPES);
	o->stype = o->stype < TYPES ? o->stype : 0;
	o->rtype = o->rtype < TYPES ? o->rtype : 0;
	o->apart = (int)draw(state, 3);
	/* Elements of all types. */
	if (o->stype || o->rtype)
		o->n -= o->n % 6;
	o->d = &dtypes[draw(state, (unsigned int)DTYPES)];
	do {
		o->rop = (int)draw(state, NROPS);
	} while (!(o->d->ops & 1u << o->rop));
}

/**
 * op_draw_pair() - choose what a message between two ranks moves, and how
 * @o: one side of it
 * @state: random numbers that are the same on all ranks
 *
 * Each rank sends one and gets one; from how far away, @root says till op_make().
 */
void op_draw_pair(struct op *o, unsigned int *state)
{
	op_draw(o, state);
	o->line = !draw(state, 3);
	o->sync = !draw(state, 3);
	o->any = !draw(state, 3);
}

/**
 * op_spoil() - have an Allreduce fail, if its result can't be written
 * @o: operation that was drawn; nothing is chosen by chance
 */
void op_spoil(struct op *o)
{
	o->d = &dtypes[2];
	o->rop = R_SUM;
	o->in_place = false;
	o->n += 12000;	/* shorter results are copied by the CPU */
	o->spoilt = true;
}

/* Words that rank @from sends to @to; of a reduction: elements. */
static int share(const struct op *o, int from, int to)
{
	if (!o->varied)
		return o->n;
	if (o->kind == K_alltoallv || o->kind == K_alltoallw)
		return o->n * ((from + to + o->id) % 3);
	return o->n * (((o->kind == K_gatherv || o->kind == K_allgatherv ?
			 from : to) + o->id) % 3);
}

static void add_block(struct side *s, const struct op *o, int len)
{
	int n = s->blocks++, step = is_reduction(o->kind) ? 1 :
		types[s->type].words;

	s->len[n] = len;
	s->count[n] = len / step;
	/* Blocks of their own places leave room in between. */
	s->disp[n] = n ? s->disp[n - 1] + s->count[n - 1] +
		     (has_counts(o->kind) && !is_reduction(o->kind) ? 1 : 0) : 0;
}

static char *word_at(const struct side *s, char *mem, int block, int i)
{
	const struct type *t = &types[s->type];
	ptrdiff_t at = (ptrdiff_t)s->disp[block] * t->extent +
		       (ptrdiff_t)(i / t->words) * t->extent +
		       t->at[i % t->words];

	return mem + AROUND + at * s->word;
}

static void side_make(struct side *s)
{
	int last = s->blocks - 1;

	s->bytes = 2 * AROUND;
	if (last >= 0)
		s->bytes += (size_t)(s->disp[last] + s->count[last] + 1) *
			    (size_t)types[s->type].extent * (size_t)s->word;
	s->bytes = (s->bytes + 4095) & ~4095UL;
	s->mem = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s->want = malloc(s->bytes);
	if (s->mem == MAP_FAILED || !s->want)
		abort();
}

/* Does this rank get a result? */
static bool gets(const struct op *o)
{
	switch (o->kind) {
	case K_barrier:
	case K_send:
		return false;
	case K_recv:
		return o->root != MPI_PROC_NULL;
	case K_gather:
	case K_gatherv:
	case K_reduce:
		return o->c->me == o->root;
	default:
		return true;
	}
}

/* Does it send from a buffer of its own? */
static bool gives(const struct op *o)
{
	bool root = o->c->me == o->root;

	switch (o->kind) {
	case K_barrier:
	case K_bcast:
	case K_recv:
		return false;
	case K_gather:
	case K_gatherv:
	case K_reduce:
		return !root || !o->in_place;
	case K_scatter:
	case K_scatterv:
		return root;
	default:
		return !o->in_place;
	}
}

static bool scatters(enum kind kind)
{
	return kind == K_scatter || kind == K_scatterv;
}

static bool sends_blocks(const struct op *o)
{
	return scatters(o->kind) || o->kind == K_alltoall ||
	       o->kind == K_alltoallv || o->kind == K_alltoallw ||
	       o->kind == K_reduce_scatter ||
	       o->kind == K_reduce_scatter_block;
}

static bool gets_blocks(const struct op *o)
{
	return o->kind == K_gather || o->kind == K_gatherv ||
	       (o->kind >= K_allgather && o->kind <= K_alltoallw);
}

/* The other rank of a message, @far places away. */
static int other_rank(const struct op *o, int far)
{
	int r = o->c->me + (o->kind == K_send ? far : -far), np = o->c->np;

	return o->line && (r < 0 || r >= np) ? MPI_PROC_NULL : (r + np) % np;
}

/**
 * op_make() - make an operation's buffers
 * @o: operation
 */
void op_make(struct op *o)
{
	int me = o->c->me, r;

	o->root %= o->c->np;
	if (is_message(o->kind))
		o->root = other_rank(o, o->root);
	o->s.word = is_reduction(o->kind) ? (int)o->d->size : o->word;
	o->r.word = o->s.word;
	if (!is_reduction(o->kind) && (o->stype || o->rtype)) {
		o->s.type = (o->stype + me * o->apart) % TYPES;
		o->r.type = (o->rtype + me * o->apart) % TYPES;
		/*
		 * Open MPI's coll/tuned counts received elements in the size
		 * of sent ones, and so has ranks choose different algorithms.
		 */
		if (o->kind == K_allgatherv && o->mode == BLOCKING)
			o->s.type = o->r.type;
	}
	for (r = 0; r < o->c->np; r++) {
		if (sends_blocks(o) || !r)
			add_block(&o->s, o, share(o, me, sends_blocks(o) ?
						  r : o->root));
		/* In place, a reduction's data is where its result will be. */
		if (gets_blocks(o) || !r ||
		    (o->in_place && sends_blocks(o) && is_reduction(o->kind)))
			add_block(&o->r, o, gets_blocks(o) ? share(o, r, me) :
				  is_reduction(o->kind) && o->in_place &&
				  sends_blocks(o) ? share(o, me, r) :
				  share(o, o->root, me));
	}
	side_make(&o->s);
	side_make(&o->r);
}

/* Word @i of what @from sends to @to. */
static unsigned int hash(const struct op *o, unsigned int seed, int from,
			 int to, int i)
{
	if (o->kind == K_allgather || o->kind == K_allgatherv ||
	    o->kind == K_gather || o->kind == K_gatherv ||
	    o->kind == K_bcast || is_message(o->kind))
		to = 0;
	return mixed(seed + mixed((unsigned int)o->id * 977 + o->round) +
		     mixed((unsigned int)(from * RANKS + to)) * 3 +
		     (unsigned int)i * 2654435761U);
}

static void put_block(const struct op *o, unsigned int seed, struct side *s,
		      char *mem, int block, int from, int to)
{
	unsigned int h;
	int i;

	for (i = 0; i < s->len[block]; i++) {
		h = hash(o, seed, from, to, i);
		if (is_reduction(o->kind))
			o->d->put(word_at(s, mem, block, i), h,
				  (enum rop)o->rop);
		else
			memcpy(word_at(s, mem, block, i), &h, (size_t)s->word);
	}
}

/* The result of reducing block @to of the ranks from @first to @last. */
static void reduce_block(const struct op *o, unsigned int seed, char *mem,
			 int block, int to, int last)
{
	char one[16] = "", sum[16] = "";
	int i, r;

	for (i = 0; i < o->r.len[block]; i++) {
		for (r = 0; r <= last; r++) {
			o->d->put(r ? one : sum, hash(o, seed, r, to, i),
				  (enum rop)o->rop);
			if (r)
				o->d->reduce(sum, one, (enum rop)o->rop);
		}
		memcpy(word_at(&o->r, mem, block, i), sum, o->d->size);
	}
}

/* Data that is in the result's buffer when it begins. */
static void fill_in_place(struct op *o, unsigned int seed)
{
	int me = o->c->me, r;

	if (o->kind == K_bcast && me == o->root)
		put_block(o, seed, &o->r, o->r.mem, 0, me, 0);
	if (!o->in_place || !gets(o) || scatters(o->kind))
		return;
	if (is_reduction(o->kind)) {
		for (r = 0; r < o->r.blocks; r++)
			put_block(o, seed, &o->r, o->r.mem, r, me,
				  sends_blocks(o) ? r : 0);
		return;
	}
	for (r = 0; r < o->c->np; r++)
		if (sends_blocks(o) || r == me)
			put_block(o, seed, &o->r, o->r.mem, r, me, r);
}

static void want_reduced(struct op *o, unsigned int seed)
{
	int me = o->c->me, last = o->kind == K_scan ? me :
		   o->kind == K_exscan ? me - 1 : o->c->np - 1;
	struct side *r = &o->r;

	if (!sends_blocks(o)) {
		if (last >= 0)
			reduce_block(o, seed, r->want, 0, 0, last);
		return;
	}
	/* The result is at the beginning, where block 0 was. */
	r->len[0] = share(o, 0, me);
	reduce_block(o, seed, r->want, 0, me, last);
}

/**
 * op_fill() - write an operation's data, and what it shall result in
 * @o: operation
 * @seed: of its program
 */
void op_fill(struct op *o, unsigned int seed)
{
	int me = o->c->me, r;

	memset(o->s.mem, FILLED, o->s.bytes);
	memset(o->r.mem, FILLED, o->r.bytes);
	for (r = 0; r < o->s.blocks && gives(o); r++)
		put_block(o, seed, &o->s, o->s.mem, r, me,
			  sends_blocks(o) ? r : 0);
	memcpy(o->s.want, o->s.mem, o->s.bytes);
	if (o->in_place && sends_blocks(o) && is_reduction(o->kind))
		o->r.len[0] = share(o, me, 0);
	fill_in_place(o, seed);
	memcpy(o->r.want, o->r.mem, o->r.bytes);
	if (!gets(o) || (scatters(o->kind) && o->in_place && me == o->root))
		return;
	if (is_reduction(o->kind))
		want_reduced(o, seed);
	else if (gets_blocks(o))
		for (r = 0; r < o->c->np; r++)
			put_block(o, seed, &o->r, o->r.want, r, r, me);
	else
		put_block(o, seed, &o->r, o->r.want, 0, o->root, me);
}

/* The bytes between a pair's value and number, and behind it, may be any. */
static void clear_gaps(const struct op *o, char *mem)
{
	size_t i, n = (size_t)o->r.len[0];

	if (o->d->type == MPI_DOUBLE_INT)
		for (i = 0; i < n; i++)
			memset(mem + AROUND + 16 * i + 12, 0, 4);
	if (o->d->type == MPI_SHORT_INT)
		for (i = 0; i < n; i++)
			memset(mem + AROUND + 8 * i + 2, 0, 2);
}

/**
 * op_check() - compare an operation's buffers with what they shall contain
 * @o: operation that has ended without an error
 *
 * Return: what is wrong; NULL: nothing.
 */
const char *op_check(struct op *o)
{
	size_t len = o->r.bytes, end;

	if (memcmp(o->s.mem, o->s.want, o->s.bytes))
		return "the data to send was changed";
	if (o->kind == K_exscan && !o->c->me)
		return NULL;
	if (is_reduction(o->kind)) {
		clear_gaps(o, o->r.mem);
		clear_gaps(o, o->r.want);
		end = AROUND + (size_t)o->r.len[0] * o->d->size;
		/* In place, MPI does not define what is behind the result. */
		if (o->in_place && sends_blocks(o))
			len = end;
	}
	return memcmp(o->r.mem, o->r.want, len) ? "wrong result" : NULL;
}

/**
 * op_check_status() - check what MPI says of a message that has come
 * @o: operation that has ended without an error
 * @st: its status
 *
 * Return: what is wrong; NULL: nothing.
 */
const char *op_check_status(const struct op *o, const MPI_Status *st)
{
	int n = 0;

	if (o->kind != K_recv)
		return NULL;
	if (st->MPI_SOURCE != o->root ||
	    st->MPI_TAG != (gets(o) ? o->id : MPI_ANY_TAG))
		return "its status is another one's";
	MPI_Get_count(st, type_of(o->word, o->r.type), &n);
	return n == (gets(o) ? o->r.count[0] : 0) ? NULL :
	       "its status has a wrong count";
}

/**
 * op_free() - free an operation's buffers
 * @o: operation
 */
void op_free(struct op *o)
{
	munmap(o->s.mem, o->s.bytes);
	munmap(o->r.mem, o->r.bytes);
	free(o->s.want);
	free(o->r.want);
}

/* --- Calls --------------------------------------------------------------- */

#define CALL(o, Name, name, ...)					\
	((o)->mode == BLOCKING ? MPI_##Name(__VA_ARGS__, (o)->c->c) :	\
	 (o)->mode == NONBLOCKING ?					\
	 MPI_I##name(__VA_ARGS__, (o)->c->c, &(o)->q) :			\
	 MPI_##Name##_init(__VA_ARGS__, (o)->c->c, MPI_INFO_NULL, &(o)->q))

static int call_barrier(struct op *o)
{
	return o->mode == BLOCKING ? MPI_Barrier(o->c->c) :
	       o->mode == NONBLOCKING ? MPI_Ibarrier(o->c->c, &o->q) :
	       MPI_Barrier_init(o->c->c, MPI_INFO_NULL, &o->q);
}

static int call_reduction(struct op *o, void *s, void *r)
{
	MPI_Datatype t = o->d->type;
	MPI_Op op = ops[o->rop];

	switch (o->kind) {
	case K_reduce:
		return CALL(o, Reduce, reduce, s, r, o->n, t, op, o->root);
	case K_allreduce:
		return CALL(o, Allreduce, allreduce, s, r, o->n, t, op);
	case K_reduce_scatter:
		return CALL(o, Reduce_scatter, reduce_scatter, s, r,
			    o->in_place ? o->r.count : o->s.count, t, op);
	case K_reduce_scatter_block:
		return CALL(o, Reduce_scatter_block, reduce_scatter_block, s,
			    r, o->n, t, op);
	case K_scan:
		return CALL(o, Scan, scan, s, r, o->n, t, op);
	default:
		return CALL(o, Exscan, exscan, s, r, o->n, t, op);
	}
}

static int call_alltoallw(struct op *o, void *s, void *r)
{
	int i, n;

	for (i = 0; i < o->c->np; i++) {
		n = types[o->s.type].extent * o->word;
		o->types[0][i] = type_of(o->word, o->s.type);
		o->sbytes[i] = o->s.disp[i] * n;
		n = types[o->r.type].extent * o->word;
		o->types[1][i] = type_of(o->word, o->r.type);
		o->rbytes[i] = o->r.disp[i] * n;
	}
	return CALL(o, Alltoallw, alltoallw, s, o->s.count, o->sbytes,
		    o->types[0], r, o->r.count, o->rbytes, o->types[1]);
}

static int call_movement(struct op *o, void *s, void *r)
{
	MPI_Datatype st = type_of(o->word, o->s.type);
	MPI_Datatype rt = type_of(o->word, o->r.type);
	int sn = o->s.count[0], rn = o->r.count[0], root = o->root;

	switch (o->kind) {
	case K_bcast:
		return CALL(o, Bcast, bcast, r, rn, rt, root);
	case K_gather:
		return CALL(o, Gather, gather, s, sn, st, r, rn, rt, root);
	case K_gatherv:
		return CALL(o, Gatherv, gatherv, s, sn, st, r, o->r.count,
			    o->r.disp, rt, root);
	case K_scatter:
		return CALL(o, Scatter, scatter, s, sn, st, r, rn, rt, root);
	case K_scatterv:
		return CALL(o, Scatterv, scatterv, s, o->s.count, o->s.disp,
			    st, r, rn, rt, root);
	case K_allgather:
		return CALL(o, Allgather, allgather, s, sn, st, r, rn, rt);
	case K_allgatherv:
		return CALL(o, Allgatherv, allgatherv, s, sn, st, r,
			    o->r.count, o->r.disp, rt);
	case K_alltoall:
		return CALL(o, Alltoall, alltoall, s, sn, st, r, rn, rt);
	case K_alltoallv:
		return CALL(o, Alltoallv, alltoallv, s, o->s.count, o->s.disp,
			    st, r, o->r.count, o->r.disp, rt);
	default:
		return call_alltoallw(o, s, r);
	}
}

/* It has a request: not with BLOCKING. */
static int call_message(struct op *o, void *s, void *r)
{
	bool sends = o->kind == K_send, lasts = o->mode == PERSISTENT;
	const struct side *side = sends ? &o->s : &o->r;
	MPI_Datatype t = type_of(o->word, side->type);
	int n = side->count[0], other = o->root, id = o->id;
	MPI_Comm c = o->c->c;

	if (!sends && o->any && gets(o))
		other = MPI_ANY_SOURCE;
	if (!sends)
		return (lasts ? MPI_Recv_init : MPI_Irecv)(r, n, t, other, id,
							   c, &o->q);
	if (o->sync)
		return (lasts ? MPI_Ssend_init : MPI_Issend)(s, n, t, other, id,
							     c, &o->q);
	return (lasts ? MPI_Send_init : MPI_Isend)(s, n, t, other, id, c,
						   &o->q);
}

/**
 * op_call() - call an operation, or make its persistent request
 * @o: operation; with BLOCKING it ends
 *
 * Return: MPI's.
 */
int op_call(struct op *o)
{
	void *s = o->s.mem + AROUND, *r = o->r.mem + AROUND;

	if (o->in_place && scatters(o->kind) && o->c->me == o->root)
		r = MPI_IN_PLACE;
	else if (o->in_place && !gives(o))
		s = MPI_IN_PLACE;
	if (o->kind == K_barrier)
		return call_barrier(o);
	if (is_message(o->kind))
		return call_message(o, s, r);
	if (is_reduction(o->kind))
		return call_reduction(o, s, r);
	return call_movement(o, s, r);
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reductions of floating-point numbers that fall through, in the switch's order and
 * with its arithmetic (protocol.rst, "Operations"), so that a result has the same bits
 * whether the ranks had a tree or not: the balanced binary tree over the ranks, pairs,
 * then pairs of pairs, where a rank or subtree without a sibling moves up as it is.
 *
 * The ranks exchange messages in steps. Short data goes up the tree as it is. In an
 * Allreduce, each rank of a subtree has its sum and sends it to the sibling's ranks;
 * in a Reduce only one has, the root if it is in the subtree. Of longer data, each
 * rank gets one part from all others, adds it up, and passes it on.
 *
 * Messages have the tag of Open MPI's own collective, in whose place they are, or a
 * reserved one: they cannot meet the program's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"

/*
 * Bytes of a part, or of all data, from which parts are exchanged: else the more
 * messages take longer than the bytes that they save.
 */
#define PART_MIN	2048
#define PARTS_FROM	131072

typedef void merge_fn(void *to, const void *left, const void *right, size_t n);

/**
 * struct coll_inc_ranked - a reduction in progress
 * @comm: its communicator
 * @a: its arguments; @counts is not used later
 * @merge: reduces two vectors of its type by its operation
 * @tag: tag of its messages
 * @me: this rank
 * @n: number of ranks
 * @esize: bytes of an element
 * @at: first element of each rank's part, and the end
 * @side: copies of data that is on a device
 * @from: this rank's data
 * @to: where its result belongs
 * @sum: of short data: the sum of this rank's subtree; this rank's data at first
 * @room: memory for it, or NULL
 * @in: the sibling's sum; with parts, this rank's of all ranks' data, then its sum
 * @reqs: messages of the current step
 * @nreqs: their number; 0: there is no further step
 * @span: ranks of this rank's subtree, a power of two; less if the last ones
 *	are missing
 * @sibling: first rank of the sibling whose sum is in @in; -1: none
 * @step: with parts: the number of the current step
 */
struct coll_inc_ranked {
	ompi_communicator_t	*comm;
	struct coll_inc_args	a;
	merge_fn		*merge;
	int			tag;
	int			me;
	int			n;
	size_t			esize;
	size_t			*at;
	struct coll_inc_op	side;
	const char		*from;
	char			*to;
	const char		*sum;
	char			*room;
	char			*in;
	ompi_request_t		**reqs;
	int			nreqs;
	int			span;
	int			sibling;
	int			step;
};

/* --- Arithmetic ---------------------------------------------------------- */

/* Elements for whose sums a compiler uses vector registers. */
#define BLOCK	64

/*
 * If an operand is a NaN, so is the result: that one made quiet, the left one of two.
 * What else is no number, as infinity less infinity, is the NaN with the sign. A block
 * without any is reduced at once.
 */
#define MERGE(name, type, word, expr)					\
static type name##_one(type a, type b)					\
{									\
	const type x = (expr);						\
									\
	if (isnan(a))							\
		return a + a;						\
	if (isnan(b))							\
		return b + b;						\
	return isnan(x) ? -(type)NAN : x;				\
}									\
									\
static bool name##_block(type *x, const type *l, const type *r)		\
{									\
	word odd = 0;							\
	int i;								\
									\
	for (i = 0; i < BLOCK; i++) {					\
		const type a = l[i], b = r[i];				\
									\
		x[i] = (expr);						\
		odd |= a != a;						\
		odd |= b != b;						\
		odd |= x[i] != x[i];					\
	}								\
	return !odd;							\
}									\
									\
static void name(void *to, const void *left, const void *right, size_t n) \
{									\
	const type *l = left, *r = right;				\
	type *t = to, x[BLOCK];						\
	size_t i = 0, end;						\
									\
	while (i < n) {							\
		end = n - i < BLOCK ? n : i + BLOCK;			\
		if (end - i == BLOCK && name##_block(x, l + i, r + i)) { \
			memcpy(t + i, x, sizeof(x));			\
			i = end;					\
		}							\
		for (; i < end; i++)					\
			t[i] = name##_one(l[i], r[i]);			\
	}								\
}

/* -0 is less than +0. */
#define LESS(a, b)	((a) < (b) || ((a) == (b) && signbit(a)))

#define MERGES(type, word)						\
MERGE(type##_sum, type, word, a + b)					\
MERGE(type##_prod, type, word, a * b)					\
MERGE(type##_min, type, word, LESS(a, b) ? a : b)			\
MERGE(type##_max, type, word, LESS(a, b) ? b : a)

MERGES(float, int32_t)
MERGES(double, int64_t)

#define FNS(type) {							\
	[INC_OP_SUM] = type##_sum, [INC_OP_PROD] = type##_prod,		\
	[INC_OP_MIN] = type##_min, [INC_OP_MAX] = type##_max,		\
}

/* Find the function of a reduction; NULL: its bits depend on no order. */
static merge_fn *merge_of(const struct coll_inc_args *a)
{
	static merge_fn *const floats[INC_OP_COUNT] = FNS(float);
	static merge_fn *const doubles[INC_OP_COUNT] = FNS(double);
	enum inc_dtype dtype;
	enum inc_op op;

	if (!a->op || coll_inc_terms(a->rtype, a->op, &dtype, &op))
		return NULL;
	return dtype == INC_DTYPE_FP32 ? floats[op] :
	       dtype == INC_DTYPE_FP64 ? doubles[op] : NULL;
}

/*
 * Check whether an operation is one that depends on the order of the ranks. Returns
 * the same on all ranks.
 */
bool coll_inc_ranked_is(const struct coll_inc_args *a)
{
	return merge_of(a);
}

/* --- Messages ------------------------------------------------------------ */

static int send_to(struct coll_inc_ranked *t, const char *data, size_t n, int to)
{
	if (!n)
		return OMPI_SUCCESS;
	return MCA_PML_CALL(isend(data, n * t->esize, &ompi_mpi_byte.dt, to,
				  t->tag, MCA_PML_BASE_SEND_STANDARD, t->comm,
				  &t->reqs[t->nreqs++]));
}

static int receive(struct coll_inc_ranked *t, char *data, size_t n, int from)
{
	if (!n)
		return OMPI_SUCCESS;
	return MCA_PML_CALL(irecv(data, n * t->esize, &ompi_mpi_byte.dt, from,
				  t->tag, t->comm, &t->reqs[t->nreqs++]));
}

static size_t elements(const struct coll_inc_ranked *t, int rank)
{
	return t->at[rank + 1] - t->at[rank];
}

static size_t all_elements(const struct coll_inc_ranked *t)
{
	return t->at[t->n];
}

static bool scatters(const struct coll_inc_ranked *t)
{
	return t->a.coll == COLL_INC_reduce_scatter ||
	       t->a.coll == COLL_INC_reduce_scatter_block;
}

/* Bytes of this rank's result. */
static size_t result_len(const struct coll_inc_ranked *t)
{
	if (scatters(t))
		return elements(t, t->me) * t->esize;
	if (t->a.coll == COLL_INC_reduce && t->me != t->a.root)
		return 0;
	return all_elements(t) * t->esize;
}

/* --- Short data ---------------------------------------------------------- */

/* Get memory for sums, if this rank adds any; they may be in the result's place. */
static bool get_room(struct coll_inc_ranked *t)
{
	size_t len = all_elements(t) * t->esize;

	if (t->in)
		return true;
	if (result_len(t) < len || scatters(t)) {
		t->room = malloc(len);
		if (!t->room)
			return false;
	}
	t->in = malloc(len);
	return t->in;
}

/* Ranks of the subtree that begins at @first, as high as this rank's. */
static int ranks_of(const struct coll_inc_ranked *t, int first)
{
	return first + t->span < t->n ? t->span : t->n - first;
}

/* All ranks of two subtrees exchange their sums; the smaller one's send to several. */
static int swap_sums(struct coll_inc_ranked *t, int first, int sibling)
{
	int place = t->me - first, theirs = ranks_of(t, sibling), ret;

	if (!get_room(t))
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = receive(t, t->in, all_elements(t), sibling + place % theirs);
	for (; place < theirs && ret == OMPI_SUCCESS; place += ranks_of(t, first))
		ret = send_to(t, t->sum, all_elements(t), sibling + place);
	t->sibling = sibling;
	return ret;
}

/* The rank of a subtree that has its sum in a Reduce. */
static int holder(const struct coll_inc_ranked *t, int first, int span)
{
	return t->a.root >= first && t->a.root < first + span ? t->a.root : first;
}

/* One of two subtrees sends its sum to the other, which then has both. */
static int pass_sum(struct coll_inc_ranked *t, int first, int sibling)
{
	int to = holder(t, first & ~t->span, 2 * t->span);

	if (t->me == to) {
		t->sibling = sibling;
		if (!get_room(t))
			return OMPI_ERR_OUT_OF_RESOURCE;
		return receive(t, t->in, all_elements(t),
			       holder(t, sibling, t->span));
	}
	/* This rank is done. */
	t->span = t->n;
	return send_to(t, t->sum, all_elements(t), to);
}

static void add_sibling(struct coll_inc_ranked *t)
{
	char *to = t->room ? t->room : t->to;
	bool left = t->sibling < t->me;

	t->merge(to, left ? t->in : t->sum, left ? t->sum : t->in,
		 all_elements(t));
	t->sum = to;
	t->sibling = -1;
}

static int go_up(struct coll_inc_ranked *t)
{
	int first, sibling, ret = OMPI_SUCCESS;

	if (t->sibling >= 0)
		add_sibling(t);
	while (t->span < t->n && !t->nreqs && ret == OMPI_SUCCESS) {
		first = t->me & ~(t->span - 1);
		sibling = first ^ t->span;
		if (sibling < t->n && t->a.coll == COLL_INC_reduce)
			ret = pass_sum(t, first, sibling);
		else if (sibling < t->n)
			ret = swap_sums(t, first, sibling);
		if (t->span < t->n)
			t->span *= 2;
	}
	return ret;
}

/* --- Parts --------------------------------------------------------------- */

/* Bytes before a rank's part. */
static size_t before(const struct coll_inc_ranked *t, int rank)
{
	return t->at[rank] * t->esize;
}

/* Exchange what the ranks have of each other's parts. */
static int swap_parts(struct coll_inc_ranked *t)
{
	size_t mine = elements(t, t->me), len = mine * t->esize;
	int i, to, from, ret = OMPI_SUCCESS;

	memcpy(t->in + len * (size_t)t->me, t->from + before(t, t->me), len);
	for (i = 1; i < t->n && ret == OMPI_SUCCESS; i++) {
		to = (t->me + i) % t->n;
		from = (t->me + t->n - i) % t->n;
		ret = receive(t, t->in + len * (size_t)from, mine, from);
		if (ret == OMPI_SUCCESS)
			ret = send_to(t, t->from + before(t, to), elements(t, to),
				      to);
	}
	return ret;
}

static void add_parts(struct coll_inc_ranked *t)
{
	size_t mine = elements(t, t->me), len = mine * t->esize;
	char *left;
	int span, i;

	for (span = 1; span < t->n; span *= 2)
		for (i = 0; i + span < t->n; i += 2 * span) {
			left = t->in + len * (size_t)i;
			t->merge(left, left, left + len * (size_t)span, mine);
		}
}

/* Pass the parts' sums to the root, or to all. */
static int collect_parts(struct coll_inc_ranked *t)
{
	bool all = t->a.coll == COLL_INC_allreduce;
	int i, to, from, ret = OMPI_SUCCESS;

	for (i = 1; i < t->n && ret == OMPI_SUCCESS; i++) {
		to = (t->me + i) % t->n;
		from = (t->me + t->n - i) % t->n;
		if (all || t->me == t->a.root)
			ret = receive(t, t->to + before(t, from),
				      elements(t, from), from);
		if (ret == OMPI_SUCCESS && (all || to == t->a.root))
			ret = send_to(t, t->in, elements(t, t->me), to);
	}
	return ret;
}

static int go_by_parts(struct coll_inc_ranked *t)
{
	switch (t->step++) {
	case 0:
		return swap_parts(t);
	case 1:
		add_parts(t);
		return scatters(t) ? OMPI_SUCCESS : collect_parts(t);
	default:
		return OMPI_SUCCESS;
	}
}

/* --- An operation -------------------------------------------------------- */

static bool has_parts(const struct coll_inc_ranked *t)
{
	size_t len = all_elements(t) * t->esize;

	return t->n > 2 &&
	       (len >= PARTS_FROM || len >= PART_MIN * (size_t)t->n);
}

/* Parts of a Reduce_scatter, or equal ones. */
static void find_parts(struct coll_inc_ranked *t)
{
	const struct coll_inc_args *a = &t->a;
	size_t count = (size_t)a->rcount;
	int i;

	for (i = 0; i < t->n; i++) {
		if (a->coll == COLL_INC_reduce_scatter)
			t->at[i + 1] = t->at[i] + (size_t)a->counts[i];
		else if (a->coll == COLL_INC_reduce_scatter_block)
			t->at[i + 1] = t->at[i] + count;
		else
			t->at[i + 1] = count * ((size_t)i + 1) / (size_t)t->n;
	}
}

static int get_memory(struct coll_inc_ranked *t)
{
	const void *from;
	void *to;

	if (coll_inc_stage(&t->side, &t->a, &from, all_elements(t) * t->esize, &to,
			   result_len(t)))
		return OMPI_ERR_OUT_OF_RESOURCE;
	t->from = from == INC_IN_PLACE ? to : from;
	t->sum = t->from;
	t->to = to;
	t->reqs = calloc(2 * (size_t)t->n, sizeof(*t->reqs));
	if (t->reqs && has_parts(t))
		t->in = malloc(elements(t, t->me) * t->esize * (size_t)t->n + 1);
	return t->reqs && (t->in || !has_parts(t)) ? OMPI_SUCCESS :
						     OMPI_ERR_OUT_OF_RESOURCE;
}

static void drop(struct coll_inc_ranked *t)
{
	free(t->reqs);
	free(t->room);
	free(t->in);
	free(t->at);
	free(t->side.send_tmp);
	free(t->side.recv_tmp);
	free(t);
}

/*
 * Begin a reduction, without any message yet. Returns it, or NULL without memory.
 * @tag: tag of its messages; 0: that of the blocking collective
 */
struct coll_inc_ranked *coll_inc_ranked_begin(ompi_communicator_t *comm,
					      const struct coll_inc_args *a,
					      int32_t tag)
{
	static const int tags[COLL_INC_NFN] = {
		[COLL_INC_allreduce] = MCA_COLL_BASE_TAG_ALLREDUCE,
		[COLL_INC_reduce] = MCA_COLL_BASE_TAG_REDUCE,
		[COLL_INC_reduce_scatter] = MCA_COLL_BASE_TAG_REDUCE_SCATTER,
		[COLL_INC_reduce_scatter_block] =
			MCA_COLL_BASE_TAG_REDUCE_SCATTER_BLOCK,
	};
	struct coll_inc_ranked *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->comm = comm;
	t->a = *a;
	t->merge = merge_of(a);
	t->tag = tag ? tag : tags[a->coll];
	t->me = ompi_comm_rank(comm);
	t->n = ompi_comm_size(comm);
	t->esize = coll_inc_size(a->rtype, 1);
	t->span = 1;
	t->sibling = -1;
	t->at = calloc((size_t)t->n + 1, sizeof(*t->at));
	if (t->at)
		find_parts(t);
	if (!t->at || get_memory(t) != OMPI_SUCCESS) {
		drop(t);
		return NULL;
	}
	return t;
}

/*
 * Check whether the messages of the current step have arrived, or cannot.
 */
bool coll_inc_ranked_ready(const struct coll_inc_ranked *t)
{
	int i;

	for (i = 0; i < t->nreqs; i++) {
		/* NULL: Open MPI could not begin it. */
		if (!t->reqs[i] || REQUEST_COMPLETE(t->reqs[i]))
			continue;
#if OPAL_ENABLE_FT_MPI
		if (ompi_request_is_failed(t->reqs[i]))
			continue;
#endif
		return false;
	}
	return true;
}

/*
 * Wait for the current step's messages, and send the next one's. Returns OMPI_SUCCESS
 * or an error.
 * @more: set to false after the last step
 */
int coll_inc_ranked_next(struct coll_inc_ranked *t, bool *more)
{
	int ret = OMPI_SUCCESS;

	if (t->nreqs)
		ret = ompi_request_wait_all((size_t)t->nreqs, t->reqs,
					    MPI_STATUSES_IGNORE);
	if (ret != OMPI_SUCCESS)
		return ret;
	t->nreqs = 0;
	if (all_elements(t))
		ret = has_parts(t) ? go_by_parts(t) : go_up(t);
	*more = t->nreqs;
	return ret;
}

static int deliver(struct coll_inc_ranked *t)
{
	size_t len = result_len(t);

	if (!len)
		return OMPI_SUCCESS;
	if (!has_parts(t) && t->room)
		memcpy(t->to, t->room + before(t, t->me), len);
	else if (has_parts(t) && scatters(t))
		memcpy(t->to, t->in, len);
	else if (has_parts(t))
		memcpy(t->to + before(t, t->me), t->in,
		       elements(t, t->me) * t->esize);
	return t->side.recv_tmp ? coll_inc_deliver(&t->side) : OMPI_SUCCESS;
}

/*
 * End a reduction. Returns OMPI_SUCCESS or an error.
 * @ret: its result so far: OMPI_SUCCESS after the last step, or an error
 */
int coll_inc_ranked_end(struct coll_inc_ranked *t, int ret)
{
	bool idle = coll_inc_ranked_ready(t);
	int i;

	if (ret == OMPI_SUCCESS)
		ret = deliver(t);
	for (i = 0; i < t->nreqs; i++)
		if (t->reqs[i] && t->reqs[i] != MPI_REQUEST_NULL)
			ompi_request_free(&t->reqs[i]);
	/* Messages on their way may yet use the memory. */
	if (idle)
		drop(t);
	return ret;
}

/* Execute a blocking reduction. Returns OMPI_SUCCESS or an error. */
int coll_inc_ranked(ompi_communicator_t *comm, const struct coll_inc_args *a)
{
	struct coll_inc_ranked *t = coll_inc_ranked_begin(comm, a, 0);
	int ret = OMPI_SUCCESS;
	bool more = true;

	if (!t)
		return OMPI_ERR_OUT_OF_RESOURCE;
	while (more && ret == OMPI_SUCCESS)
		ret = coll_inc_ranked_next(t, &more);
	return coll_inc_ranked_end(t, ret);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Random MPI programs: collectives, and messages between two ranks, which are
 * started and completed together. All ranks draw the same operations from a seed, and each
 * its own delays, and when and how it completes what it has started. Program N
 * of seed S is program 0 of seed S + N. Nothing in here knows of INC.
 *
 *   random SEED PROGRAMS [plain|threads|faults|errors [LIMIT]]
 *
 * threads: several threads at a time, each with communicators of its own;
 * others complete what these have started.
 * faults: a rank's memory for a result can't be written, now and then.
 * errors: somebody else breaks things; what ends without an error is right.
 * LIMIT: seconds that a program may take; then it says where it is, and ends.
 *
 * Prints a KTAP line for each program that fails, and one for all, on rank 0.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random_data.h"

#define MOST	12	/* operations of a rank at a time */
#define COMMS	4
#define LASTING	4	/* persistent operations; a pair of messages is one */
#define THREADS	3
#define BATCH	(MOST + 3)

static int me, np;
static bool threads, faults, errors;
static unsigned int limit = 20;
static int messages, mixed;	/* of all programs, on this rank */

/**
 * struct program - what a thread executes
 * @seed: seed
 * @all: random numbers, the same on all ranks
 * @own: random numbers of this rank
 * @comms: communicators
 * @ncomms: their number
 * @going: operations that have been started
 * @ngoing: their number
 * @lasting: persistent operations
 * @nlasting: their number
 * @at: number of the current step
 * @doing: what this thread is in
 * @what: its operation
 * @helper: completes @batch
 * @helped: there is one
 * @batch: what it completes
 * @nbatch: their number
 * @waits: what this thread and its helper wait for
 * @slot: which of these is this thread's
 * @messages: number of messages sent, and got
 * @mixed: number of requests of collectives and messages that started together
 * @bad: number of errors
 */
struct program {
	unsigned int	seed;
	unsigned int	all;
	unsigned int	own;
	struct comm	comms[COMMS];
	int		ncomms;
	struct op	*going[MOST];
	int		ngoing;
	struct op	*lasting[LASTING];
	int		nlasting;
	int		at;
	const char	*doing;
	struct op	*what;
	pthread_t	helper;
	bool		helped;
	struct op	*batch[MOST];
	int		nbatch;
	struct batch	*waits[2];
	struct batch	**slot;
	int		messages;
	int		mixed;
	int		bad;
};

/**
 * struct batch - operations that are completed together
 * @p: program
 * @o: operations; NULL: no operation, or it has ended
 * @q: their requests
 * @st: their statuses
 * @n: their number
 * @left: that have not ended
 */
struct batch {
	struct program	*p;
	struct op	*o[BATCH];
	MPI_Request	q[BATCH];
	MPI_Status	st[BATCH];
	int		n;
	int		left;
};

static struct program programs[THREADS];
static int nprograms;

/* --- Complaints ---------------------------------------------------------- */

static const char *const modes[] = { "", "i", "persistent " };

/* Describe an operation; fit for a signal handler. */
static int describe(char *text, size_t len, const struct op *o)
{
	return snprintf(text, len, " %s%s#%d(%d of %d, n %d%s, communicator of %d)",
			modes[o->mode], kind_name(o->kind), o->id, o->c->me,
			o->c->np, o->n, o->in_place ? ", in place" : "",
			o->c->np);
}

static void complain(struct program *p, const struct op *o, const char *fmt,
		     ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = snprintf(text, sizeof(text), "# rank %d, program %u, %s:", me,
		     p->seed, p->doing);
	if (o)
		n += describe(text + n, sizeof(text) - (size_t)n, o);
	n += snprintf(text + n, sizeof(text) - (size_t)n, ": ");
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	printf("%s\n", text);
	fflush(stdout);
	p->bad++;
}

static int describe_all(char *text, size_t len, const char *what,
			struct op *const *o, int n)
{
	int i, at = snprintf(text, len, "; %s:", what);

	for (i = 0; i < n && (size_t)at < len - 200; i++)
		if (o[i])
			at += describe(text + at, len - (size_t)at, o[i]);
	return at;
}

/* The time is up. */
static void hangs(int sig)
{
	const struct program *p;
	const struct batch *b;
	char text[8192];
	int i, k, n;

	(void)sig;
	for (i = 0; i < nprograms; i++) {
		p = &programs[i];
		n = snprintf(text, 1000,
			     "# rank %d, program %u: hangs at step %d in %s",
			     me, p->seed, p->at, p->doing);
		if (p->what)
			n += describe(text + n, 500, p->what);
		n += describe_all(text + n, 2000, "started", p->going,
				  p->ngoing);
		for (k = 0; k < 2; k++) {
			b = p->waits[k];
			if (b)
				n += describe_all(text + n, 2000,
						  "waits for", b->o, b->n);
		}
		text[n++] = '\n';
		if (write(STDOUT_FILENO, text, (size_t)n) < 0)
			break;
	}
	/* The other ranks say where they are, too. */
	sleep(2);
	_exit(3);
}

/* --- Completion ---------------------------------------------------------- */

static void judge(struct program *p, struct op *o, int err)
{
	const char *wrong;

	if (o->spoilt)
		mprotect(o->r.mem, o->r.bytes, PROT_READ | PROT_WRITE);
	o->spoilt = false;
	if (err != MPI_SUCCESS && (err < 0 || err >= MPI_ERR_LASTCODE))
		complain(p, o, "error %d, which is none of MPI's", err);
	else if (err != MPI_SUCCESS && !errors)
		complain(p, o, "error %d", err);
	wrong = err == MPI_SUCCESS ? op_check(o) : NULL;
	if (wrong)
		complain(p, o, "%s", wrong);
	o->going = false;
	o->round++;
	if (o->mode == PERSISTENT)
		return;
	op_free(o);
	free(o);
}

/* Operation @i of a batch has ended. @st: its status, or NULL */
static void ended(struct batch *b, int i, int err, const MPI_Status *st)
{
	struct op *o = i >= 0 && i < b->n ? b->o[i] : NULL;
	const char *wrong;

	if (!o) {
		complain(b->p, NULL, "request %d has not been started", i);
		return;
	}
	if (o->mode != PERSISTENT && b->q[i] != MPI_REQUEST_NULL &&
	    err == MPI_SUCCESS)
		complain(b->p, o, "ended, and has a request");
	wrong = st && err == MPI_SUCCESS ? op_check_status(o, st) : NULL;
	if (wrong)
		complain(b->p, o, "%s", wrong);
	o->q = b->q[i];
	b->o[i] = NULL;
	b->left--;
	judge(b->p, o, err);
}

/*
 * Open MPI frees all requests with errors when it reports one of them, even
 * persistent ones.
 */
static void freed(struct batch *b)
{
	int i;

	for (i = 0; i < b->n; i++)
		if (b->o[i] && b->q[i] == MPI_REQUEST_NULL)
			ended(b, i, MPI_ERR_OTHER, NULL);
}

static void idle(struct program *p)
{
	if (draw(&p->own, 4))
		sched_yield();
	else
		usleep(200);
}

static void one_by_one(struct batch *b, unsigned int how)
{
	int i, flag, err;

	for (i = 0; i < b->n; i++) {
		flag = 0;
		err = MPI_SUCCESS;
		while (how == 1 && !flag && b->o[i]) {
			err = MPI_Test(&b->q[i], &flag, &b->st[i]);
			idle(b->p);
		}
		while (how == 2 && !flag) {
			MPI_Request_get_status(b->q[i], &flag, &b->st[i]);
			idle(b->p);
		}
		if (how != 1)
			err = MPI_Wait(&b->q[i], MPI_STATUS_IGNORE);
		if (b->o[i])
			ended(b, i, err, how ? &b->st[i] : NULL);
	}
}

static void all_at_once(struct batch *b, bool test)
{
	bool ignore = !errors && draw(&b->p->own, 2);
	MPI_Status *st = ignore ? MPI_STATUSES_IGNORE : b->st;
	int flag = 0, err, i, one;

	do {
		if (!test)
			err = MPI_Waitall(b->n, b->q, st);
		else
			err = MPI_Testall(b->n, b->q, &flag, st);
		if (test)
			idle(b->p);
	} while (test && !flag && err == MPI_SUCCESS);
	for (i = 0; i < b->n; i++) {
		if (!b->o[i])
			continue;
		one = err == MPI_ERR_IN_STATUS && !ignore ?
		      b->st[i].MPI_ERROR : err;
		if (one == MPI_ERR_PENDING && b->q[i] == MPI_REQUEST_NULL)
			one = MPI_ERR_OTHER;
		else if (one == MPI_ERR_PENDING)
			one = MPI_Wait(&b->q[i], &b->st[i]);
		ended(b, i, one, ignore ? NULL : &b->st[i]);
	}
}

static void any(struct batch *b, bool test)
{
	int err, i, flag;

	while (b->left) {
		i = -1;
		flag = 1;
		if (!test)
			err = MPI_Waitany(b->n, b->q, &i, &b->st[0]);
		else
			err = MPI_Testany(b->n, b->q, &i, &flag, &b->st[0]);
		if (i != MPI_UNDEFINED && (flag || err != MPI_SUCCESS))
			ended(b, i, err, &b->st[0]);
		if (err != MPI_SUCCESS)
			freed(b);
		else if (i == MPI_UNDEFINED && flag)
			complain(b->p, NULL, "nothing to wait for");
		else if (!flag)
			idle(b->p);
		if (i == MPI_UNDEFINED && flag)
			return;
	}
}

static void some(struct batch *b, bool test)
{
	int at[BATCH], n, err, i;

	while (b->left) {
		if (!test)
			err = MPI_Waitsome(b->n, b->q, &n, at, b->st);
		else
			err = MPI_Testsome(b->n, b->q, &n, at, b->st);
		if (n == MPI_UNDEFINED) {
			complain(b->p, NULL, "nothing to wait for");
			return;
		}
		for (i = 0; i < n; i++)
			ended(b, at[i], err == MPI_ERR_IN_STATUS ?
			      b->st[i].MPI_ERROR : err, &b->st[i]);
		if (!n)
			idle(b->p);
	}
}

/* Add requests that nobody has to wait for. */
static void add_none(struct batch *b)
{
	struct program *p = b->p;
	int i;

	b->o[b->n] = NULL;
	b->q[b->n++] = MPI_REQUEST_NULL;
	for (i = 0; i < p->nlasting; i++)
		if (p->lasting[i]->c && !p->lasting[i]->going &&
		    draw(&p->own, 2)) {
			b->o[b->n] = NULL;
			b->q[b->n++] = p->lasting[i]->q;
			return;
		}
}

static void finish(struct program *p, struct op **ops, int n, bool alone)
{
	static const char *const names[] = {
		"Wait", "Test", "Request_get_status", "Waitall", "Testall",
		"Waitany", "Testany", "Waitsome", "Testsome",
	};
	unsigned int how = draw(&p->own, 9);
	struct batch b = { .p = p, .left = n };
	int i;

	p->doing = names[how];
	*p->slot = &b;
	for (i = 0; i < n; i++) {
		/* Another thread may start these. */
		if (alone && !draw(&p->own, 6) && b.n + n - i + 2 < BATCH)
			add_none(&b);
		b.o[b.n] = ops[i];
		b.q[b.n++] = ops[i]->q;
	}
	if (how < 3)
		one_by_one(&b, how);
	else if (how < 5)
		all_at_once(&b, how == 4);
	else if (how < 7)
		any(&b, how == 6);
	else
		some(&b, how == 8);
	*p->slot = NULL;
	p->doing = "the program";
}

static void *help(void *arg)
{
	struct program *p = arg, other = *p;

	other.bad = 0;
	other.own += 77;
	other.slot = &p->waits[1];
	finish(&other, p->batch, p->nbatch, false);
	return (void *)(intptr_t)other.bad;
}

static void join_helper(struct program *p)
{
	void *bad;

	if (!p->helped)
		return;
	p->doing = "a helper thread";
	pthread_join(p->helper, &bad);
	p->doing = "the program";
	p->bad += (int)(intptr_t)bad;
	p->helped = false;
	p->nbatch = 0;
}

/* Complete at most @most operations, in an order of this rank's own. */
static void finish_some(struct program *p, int most)
{
	struct op *ops[MOST];
	int n, k;

	for (n = 0; n < most && p->ngoing; n++) {
		k = (int)draw(&p->own, (unsigned int)p->ngoing);
		ops[n] = p->going[k];
		p->going[k] = p->going[--p->ngoing];
	}
	if (!threads || draw(&p->own, 2)) {
		finish(p, ops, n, true);
		return;
	}
	join_helper(p);
	memcpy(p->batch, ops, sizeof(ops));
	p->nbatch = n;
	p->helped = !pthread_create(&p->helper, NULL, help, p);
	if (!p->helped)
		abort();
}

static void finish_all(struct program *p)
{
	while (p->ngoing)
		finish_some(p, p->ngoing);
	join_helper(p);
}

/* --- Steps: the same on all ranks ---------------------------------------- */

/* Be late, or let MPI work. */
static void linger(struct program *p)
{
	unsigned int dice = draw(&p->own, 24);
	int flag;

	if (!dice)
		usleep(draw(&p->own, 20000));
	else if (dice < 4)
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag,
			   MPI_STATUS_IGNORE);
}

/* Make the data of what was drawn, if this rank takes part. */
static bool op_ready(struct program *p, struct op *o)
{
	if (o->c->c == MPI_COMM_NULL) {
		free(o);
		return false;
	}
	op_make(o);
	op_fill(o, p->seed);
	return true;
}

static struct op *op_new(struct program *p, enum mode mode)
{
	struct op *o = calloc(1, sizeof(*o));
	bool fault = faults && !draw(&p->all, 24);

	o->id = p->at;
	o->mode = mode;
	o->kind = (enum kind)draw(&p->all, NKINDS);
	o->c = &p->comms[draw(&p->all, (unsigned int)p->ncomms)];
	if (fault && mode != PERSISTENT)
		o->kind = K_allreduce;
	op_draw(o, &p->all);
	if (fault && mode != PERSISTENT)
		op_spoil(o);
	if (!op_ready(p, o))
		return NULL;
	if (o->spoilt && (o->c->np < 2 || o->root != o->c->me))
		o->spoilt = false;
	if (o->spoilt)
		mprotect(o->r.mem, o->r.bytes, PROT_READ);
	return o;
}

/* A message that this rank sends, and @twin, which it gets. */
static struct op *pair_new(struct program *p, enum mode mode, struct op **twin)
{
	struct op *o = calloc(1, sizeof(*o)), *t = calloc(1, sizeof(*t));

	o->id = p->at;
	o->mode = mode;
	o->kind = K_send;
	o->c = &p->comms[draw(&p->all, (unsigned int)p->ncomms)];
	op_draw_pair(o, &p->all);
	*t = *o;
	t->kind = K_recv;
	*twin = op_ready(p, t) ? t : NULL;
	return op_ready(p, o) ? o : NULL;
}

static void add_going(struct program *p, struct op *o)
{
	o->going = true;
	p->going[p->ngoing++] = o;
}

static void collective(struct program *p, enum mode mode)
{
	struct op *o = op_new(p, mode);
	int err;

	if (!o)
		return;
	p->doing = "the call";
	p->what = o;
	err = op_call(o);
	p->what = NULL;
	if (mode == NONBLOCKING && err == MPI_SUCCESS)
		add_going(p, o);
	else
		judge(p, o, err);
}

/* Both sides, in an order of this rank's own, before it waits for any. */
static void message(struct program *p)
{
	struct op *o[2];
	int i, k, err;

	o[0] = pair_new(p, NONBLOCKING, &o[1]);
	if (!o[0])
		return;
	k = (int)draw(&p->own, 2);
	for (i = 0; i < 2; i++, k = !k) {
		p->doing = "the call";
		p->what = o[k];
		err = op_call(o[k]);
		p->what = NULL;
		if (err == MPI_SUCCESS)
			add_going(p, o[k]);
		else
			judge(p, o[k], err);
	}
	p->messages++;
}

/* Make the request of a persistent operation. */
static void make_request(struct program *p, struct op *o)
{
	int err;

	p->doing = "making";
	p->what = o;
	err = op_call(o);
	p->what = NULL;
	if (err == MPI_SUCCESS)
		return;
	judge(p, o, err);
	op_free(o);
	memset(o, 0, sizeof(*o));
}

/* Make a persistent operation. */
static void make_lasting(struct program *p)
{
	struct op *o, *twin = NULL;

	if (p->nlasting == LASTING)
		return;
	if (draw(&p->all, 2))
		o = op_new(p, PERSISTENT);
	else
		o = pair_new(p, PERSISTENT, &twin);
	if (!o)
		o = calloc(1, sizeof(*o));
	if (o->c)
		make_request(p, o);
	if (twin)
		make_request(p, twin);
	o->twin = twin;
	p->lasting[p->nlasting++] = o;
}

/* Complete operation @o, which may be any of those that are going. */
static void finish_one(struct program *p, struct op *o)
{
	int i;

	join_helper(p);
	for (i = 0; i < p->ngoing; i++)
		if (p->going[i] == o) {
			p->going[i] = p->going[--p->ngoing];
			finish(p, &o, 1, true);
			return;
		}
}

/* Persistent operations to start, complete, in an order of this rank's own. */
static int choose_lasting(struct program *p, struct op **o)
{
	unsigned int which = draw(&p->all, 1u << LASTING) |
			     draw(&p->all, 1u << LASTING);
	struct op *all[2 * LASTING], *swap;
	int i, k, n = 0, m = 0;

	for (i = 0; i < p->nlasting; i++) {
		if (!(which & 1u << i) || !p->lasting[i]->c)
			continue;
		all[n++] = p->lasting[i];
		if (p->lasting[i]->twin)
			all[n++] = p->lasting[i]->twin;
	}
	for (i = n - 1; i > 0; i--) {
		k = (int)draw(&p->own, (unsigned int)i + 1);
		swap = all[i];
		all[i] = all[k];
		all[k] = swap;
	}
	for (i = 0; i < n; i++) {
		finish_one(p, all[i]);
		if (all[i]->q != MPI_REQUEST_NULL)
			o[m++] = all[i];
	}
	return m;
}

/* Start @n operations by one call. */
static void start(struct program *p, struct op **o, int n)
{
	MPI_Request q[2 * LASTING];
	int i, err, sides = 0;

	for (i = 0; i < n; i++) {
		op_fill(o[i], p->seed);
		q[i] = o[i]->q;
		sides += o[i]->kind >= NKINDS;
	}
	p->doing = n > 1 ? "Startall" : "Start";
	p->what = o[0];
	err = n == 1 && draw(&p->own, 2) ? MPI_Start(&q[0]) :
	      MPI_Startall(n, q);
	p->what = NULL;
	p->mixed += sides && sides < n ? n : 0;
	/* Of several, nobody knows which one did not start. */
	if (n > 1 && err != MPI_SUCCESS)
		complain(p, NULL, "error %d", err);
	for (i = 0; i < n; i++) {
		if (q[i] != o[i]->q)
			complain(p, o[i], "another request");
		if (n > 1 || err == MPI_SUCCESS)
			add_going(p, o[i]);
		else
			judge(p, o[i], err);
	}
}

/*
 * Start persistent operations, one by one or several at a time. Both sides of a
 * message start before anything is waited for.
 */
static void start_lasting(struct program *p)
{
	struct op *o[2 * LASTING];
	int i, k, n = choose_lasting(p, o);
	bool single = draw(&p->own, 3) == 0;

	while (p->ngoing + n > MOST)
		finish_some(p, 3);
	for (i = 0; i < n; i += k) {
		k = single ? 1 : 1 + (int)draw(&p->own, (unsigned int)(n - i));
		if (!single && draw(&p->own, 2))
			k = n - i;
		start(p, &o[i], k);
	}
}

static void free_one(struct program *p, struct op *o)
{
	if (o->c) {
		finish_one(p, o);
		p->doing = "Request_free";
		if (o->q != MPI_REQUEST_NULL &&
		    MPI_Request_free(&o->q) != MPI_SUCCESS)
			complain(p, o, "can't be freed");
		op_free(o);
	}
	free(o);
}

static void free_lasting(struct program *p)
{
	struct op *o;

	if (!p->nlasting)
		return;
	o = p->lasting[--p->nlasting];
	if (o->twin)
		free_one(p, o->twin);
	free_one(p, o);
}

/* Ranks in any order, without a collective of MPI_COMM_WORLD. */
static MPI_Comm of_group(struct program *p)
{
	int ranks[RANKS], n = 0, i, k, swap;
	MPI_Group world, group;
	MPI_Comm c;

	for (i = 0; i < np; i++)
		ranks[n++] = i;
	for (i = n - 1; i > 0; i--) {
		k = (int)draw(&p->all, (unsigned int)i + 1);
		swap = ranks[i];
		ranks[i] = ranks[k];
		ranks[k] = swap;
	}
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, n, ranks, &group);
	if (MPI_Comm_create_group(MPI_COMM_WORLD, group,
				  (int)(p - programs) * 100 + p->ncomms,
				  &c) != MPI_SUCCESS)
		abort();
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	return c;
}

static void add_comm(struct program *p)
{
	unsigned int how = draw(&p->all, 4), parts = 1 + draw(&p->all, 3);
	struct comm *from = &p->comms[0], *c = &p->comms[p->ncomms];
	MPI_Request q;
	int color;

	p->doing = "making a communicator";
	color = (int)(((unsigned int)from->me + how) % parts);
	if (errors || faults || !from->c)
		c->c = of_group(p);
	else if (!how)
		MPI_Comm_dup(from->c, &c->c);
	else if (how == 1 && MPI_Comm_idup(from->c, &c->c, &q) == MPI_SUCCESS)
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	else
		MPI_Comm_split(from->c, parts > 1 && !color ? MPI_UNDEFINED :
			       color, -from->me, &c->c);
	p->ncomms++;
	if (c->c == MPI_COMM_NULL)
		return;
	MPI_Comm_set_errhandler(c->c, MPI_ERRORS_RETURN);
	MPI_Comm_rank(c->c, &c->me);
	MPI_Comm_size(c->c, &c->np);
}

static void step(struct program *p)
{
	unsigned int what = draw(&p->all, 34);

	linger(p);
	if (what == 0 && p->ncomms < COMMS)
		add_comm(p);
	else if (what < 4)
		make_lasting(p);
	else if (what < 9)
		start_lasting(p);
	else if (what == 9)
		free_lasting(p);
	else if (what < 15)
		message(p);
	else
		collective(p, what < 19 ? BLOCKING : NONBLOCKING);
	/* A message takes two. */
	while (p->ngoing > MOST - 2 || (p->ngoing && !draw(&p->own, 6)))
		finish_some(p, 1 + (int)draw(&p->own, MOST));
}

static void *run(void *arg)
{
	struct program *p = arg;
	int steps = 20 + (int)draw(&p->all, 60);

	for (p->at = 1; p->at <= steps; p->at++)
		step(p);
	finish_all(p);
	while (p->nlasting)
		free_lasting(p);
	p->doing = "freeing communicators";
	while (p->ncomms)
		if (p->comms[--p->ncomms].c != MPI_COMM_NULL)
			MPI_Comm_free(&p->comms[p->ncomms].c);
	return NULL;
}

/* The sum of all ranks, without a collective. */
static int sum(int mine)
{
	int other, r, total = mine;

	for (r = 1; r < np; r++) {
		if (!me) {
			MPI_Recv(&other, 1, MPI_INT, r, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			total += other;
		} else if (me == r) {
			MPI_Send(&mine, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		}
	}
	for (r = 1; r < np; r++) {
		if (!me)
			MPI_Send(&total, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
		else if (me == r)
			MPI_Recv(&total, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
	return total;
}

/* Returns the number of errors on all ranks. */
static int program(unsigned int seed)
{
	pthread_t thread[THREADS];
	int i, bad = 0;

	alarm(limit);
	nprograms = threads ? 1 + (int)(seed % THREADS) : 1;
	for (i = 0; i < nprograms; i++) {
		memset(&programs[i], 0, sizeof(programs[i]));
		programs[i].seed = seed;
		programs[i].slot = &programs[i].waits[0];
		programs[i].all = seed * 31 + (unsigned int)i;
		programs[i].own = seed * 37 + (unsigned int)(i + me * THREADS);
		add_comm(&programs[i]);
	}
	for (i = 1; i < nprograms; i++)
		if (pthread_create(&thread[i], NULL, run, &programs[i]))
			abort();
	run(&programs[0]);
	for (i = 0; i < nprograms; i++) {
		if (i)
			pthread_join(thread[i], NULL);
		bad += programs[i].bad;
		messages += programs[i].messages;
		mixed += programs[i].mixed;
	}
	return sum(bad);
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 1 ? (unsigned int)atoi(argv[1]) : 1;
	int count = argc > 2 ? atoi(argv[2]) : 10, failed = 0, i;
	const char *mode = argc > 3 ? argv[3] : "plain";
	int level;

	threads = !strcmp(mode, "threads");
	faults = !strcmp(mode, "faults");
	errors = faults || !strcmp(mode, "errors");
	limit = argc > 4 ? (unsigned int)atoi(argv[4]) : limit;
	MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE :
			MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	signal(SIGALRM, hangs);
	data_up();
	for (i = 0; i < count; i++) {
		if (!program(seed + (unsigned int)i))
			continue;
		failed++;
		if (!me)
			printf("not ok %d - %s, program %u # wrong\n", i + 1,
			       mode, seed + (unsigned int)i);
		fflush(stdout);
	}
	alarm(limit);
	data_down();
	if (!me)
		printf("# drawn: %d messages; %d requests of collectives and messages started together\n",
		       messages, mixed);
	if (!me)
		printf("%s %d - %s, %d programs from %u on, %d ranks\n1..%d\n",
		       failed ? "not ok" : "ok", count + 1, mode, count, seed,
		       np, count + 1);
	fflush(stdout);
	MPI_Finalize();
	return failed ? 1 : 0;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The main loop's queue, and the log.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "base/loop.h"
#include "base/text.h"

#define LATE_MS	3000	/* the process was stopped, or its machine */

static bool chatty;

static int64_t read_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/**
 * now_ms() - read CLOCK_MONOTONIC
 *
 * Return: milliseconds.
 */
int64_t now_ms(void)
{
	return read_ms(CLOCK_MONOTONIC);
}

/**
 * unix_ms() - read the clock that people set
 *
 * Return: milliseconds since 1970.
 */
int64_t unix_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

/**
 * loop_init() - make an empty queue
 * @loop: queue
 */
void loop_init(struct loop *loop)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&loop->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&loop->lock, NULL);
	loop->head = NULL;
	loop->tail = &loop->head;
	loop->now = now_ms();
	loop->late_at = 0;
	loop->busy_since = 0;
	loop->timers = (struct timers){ .n = 0 };
}

/**
 * loop_post() - hand the main loop some work
 * @loop: queue
 * @work: what to do; belongs to the loop until @work->fn is called
 *
 * Context: Any thread.
 */
void loop_post(struct loop *loop, struct work *work)
{
	bool first;

	work->next = NULL;
	pthread_mutex_lock(&loop->lock);
	/* Who takes it takes all that there is by then. */
	first = !loop->head;
	*loop->tail = work;
	loop->tail = &work->next;
	if (first)
		pthread_cond_signal(&loop->wake);
	pthread_mutex_unlock(&loop->lock);
}

static struct work *take_all(struct loop *loop, int64_t until)
{
	const struct timespec ts = {
		.tv_sec = until / 1000,
		.tv_nsec = until % 1000 * 1000000,
	};
	struct work *list;
	int ret = 0;

	pthread_mutex_lock(&loop->lock);
	while (!loop->head && !ret)
		ret = until == INT64_MAX ?
		      pthread_cond_wait(&loop->wake, &loop->lock) :
		      pthread_cond_timedwait(&loop->wake, &loop->lock, &ts);
	list = loop->head;
	loop->head = NULL;
	loop->tail = &loop->head;
	pthread_mutex_unlock(&loop->lock);
	return list;
}

/**
 * loop_turn() - wait for work or a timer, and do what there is to do
 * @loop: queue
 * @until: milliseconds of CLOCK_MONOTONIC; when to return without any;
 *	INT64_MAX: never
 */
void loop_turn(struct loop *loop, int64_t until)
{
	int64_t due = timers_next(&loop->timers);
	int64_t before = loop->now;
	struct work *work, *next;

	atomic_store(&loop->busy_since, 0);
	work = take_all(loop, due < until ? due : until);
	loop->now = now_ms();
	atomic_store(&loop->busy_since, loop->now);
	/* The manager always has something to do within a second. */
	if (loop->now - before > LATE_MS)
		loop->late_at = loop->now;
	for (; work; work = next) {
		next = work->next;
		work->fn(work);
	}
	timers_run(&loop->timers, loop->now);
}

/**
 * loop_busy_since() - ask whether the main loop gets on
 * @loop: queue
 *
 * A turn lasts until the next one begins: what is done between two counts.
 *
 * Context: Any thread.
 * Return: milliseconds of now_ms(); when its turn began. 0: it waits for work.
 */
int64_t loop_busy_since(const struct loop *loop)
{
	return atomic_load(&loop->busy_since);
}

/**
 * log_open() - choose what is logged
 * @verbose: what log_debug() says, too
 */
void log_open(bool verbose)
{
	chatty = verbose;
	setvbuf(stderr, NULL, _IOLBF, 0);
}

static void say(const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	text_clean(text);
	fprintf(stderr, "inc-amd: %s\n", text);
}

/**
 * log_say() - log a line
 * @fmt: text, without a newline
 *
 * Context: Any thread.
 */
void log_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

/**
 * log_debug() - log a line if --verbose
 * @fmt: text, without a newline
 *
 * Context: Any thread.
 */
void log_debug(const char *fmt, ...)
{
	va_list ap;

	if (!chatty)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

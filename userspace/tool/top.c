// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool top: show the activity of the switch, periodically. On a terminal,
 * each picture replaces the previous one on the alternate screen. The normal
 * screen is restored however the program ends.
 */
#include "common.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "conf/clock.h"
#include "conf/opts.h"
#include "conf/output.h"
#include "conf/unit.h"
#include "tool.h"
#include "top-show.h"

#define SCREEN_ENTER	"\033[?1049h\033[?25l\033[2J"
#define SCREEN_LEAVE	"\033[?25h\033[?1049l"
#define CURSOR_HOME	"\033[H"
#define CLEAR_REST	"\033[J"

/**
 * struct top - a call
 * @interval: seconds between pictures
 * @count: number of pictures, 0 for no limit
 * @tree_id: tree, 0 for all
 * @batch: not on a terminal
 */
struct top {
	double		interval;
	uint64_t	count;
	uint32_t	tree_id;
	bool		batch;
};

static volatile sig_atomic_t stop, resized, suspended;
static struct termios saved;

static void on_signal(int sig)
{
	if (sig == SIGWINCH)
		resized = 1;
	else if (sig == SIGTSTP)
		suspended = 1;
	else
		stop = 1;
}

static void screen_leave(void)
{
	fputs(SCREEN_LEAVE, stdout);
	inc_output_flush();
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved);
}

/* Read keys one by one, without echo. */
static void screen_enter(void)
{
	struct termios raw;

	tcgetattr(STDIN_FILENO, &saved);
	raw = saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	fputs(SCREEN_ENTER, stdout);
}

/* Ctrl-Z: restore the terminal until the program continues. */
static void suspend_top(void)
{
	suspended = 0;
	screen_leave();
	raise(SIGSTOP);
	screen_enter();
}

static void screen_size(struct screen *screen)
{
	struct winsize ws = { .ws_row = 0 };

	screen->live = true;
	screen->rows = 24;
	screen->columns = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col) {
		screen->rows = ws.ws_row;
		screen->columns = ws.ws_col;
	}
}

static void draw_screen(const struct top *top, const struct snapshot *before,
			const struct snapshot *now)
{
	struct screen screen = { .rows = 0 };

	if (conf.json) {
		top_json(before, now);
		return;
	}
	if (!top->batch) {
		screen_size(&screen);
		fputs(CURSOR_HOME, stdout);
	}
	top_show(&screen, before, now);
	fputs(top->batch ? "\n" : CLEAR_REST, stdout);
	inc_output_flush();
}

/* Wait for a key or a signal. */
static void wait_key(const struct top *top, const sigset_t *mask, double left)
{
	struct pollfd pfd = { .fd = top->batch ? -1 : STDIN_FILENO,
			      .events = POLLIN };
	struct timespec t = { .tv_sec = (time_t)left };
	char key;

	t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
	if (ppoll(&pfd, 1, &t, mask) > 0 &&
	    (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q'))
		stop = 1;
	if (suspended) {
		suspend_top();
		resized = 1;
	}
}

/* Wait until the next picture is due; redraw the last one if needed. */
static void pause_until(const struct top *top, const sigset_t *mask,
			const struct snapshot *before,
			const struct snapshot *now)
{
	double due = now->time + top->interval, left;

	while (!stop && (left = due - now_us() / 1e6) > 0) {
		wait_key(top, mask, left);
		if (resized && !stop && before->time > 0)
			draw_screen(top, before, now);
		resized = 0;
	}
}

static int run_top(const struct top *top, struct inc_nl *nl,
		   const sigset_t *mask)
{
	struct snapshot before = { .time = 0 }, now;
	uint64_t shown = 0;
	int rc;

	rc = snapshot_take(nl, top->tree_id, SNAPSHOT_WAITS, &now);
	while (!rc && !stop) {
		pause_until(top, mask, &before, &now);
		if (stop)
			break;
		snapshot_free(&before);
		before = now;
		rc = snapshot_take(nl, top->tree_id, SNAPSHOT_WAITS, &now);
		if (rc)
			break;
		draw_screen(top, &before, &now);
		if (!inc_output_flush() || ++shown == top->count)
			break;
	}
	snapshot_free(&before);
	snapshot_free(&now);
	return rc;
}

/* Admit signals only while waiting: a picture must not be interrupted. */
static void catch_signals(bool batch, sigset_t *old)
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP,
	};
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t block;
	size_t i;

	sigemptyset(&block);
	/* Without a screen to restore, leave SIGWINCH and SIGTSTP alone. */
	for (i = 0; i < ARRAY_SIZE(signals) - (batch ? 2 : 0); i++) {
		sigaddset(&block, signals[i]);
		sigaction(signals[i], &sa, NULL);
	}
	sigprocmask(SIG_BLOCK, &block, old);
}

static int top_run(const struct top *top)
{
	struct inc_nl *nl = tool_nl();
	sigset_t old;
	int rc;

	if (!nl)
		return TOOL_FAILED;
	catch_signals(top->batch, &old);
	if (!top->batch)
		screen_enter();
	rc = run_top(top, nl, &old);
	if (!top->batch)
		screen_leave();
	sigprocmask(SIG_SETMASK, &old, NULL);
	return rc ? tool_nl_fail(nl) : TOOL_OK;
}

/* Parse seconds, which may have a fraction, or a duration with a unit. */
static int take_interval(void *ctx, const struct opt *opt, char *text)
{
	struct top *top = ctx;
	uint64_t ms;
	char *end;

	top->interval = strtod(text, &end);
	if (*end && unit_msec(text, 1000, &ms)) {
		top->interval = (double)ms / 1000;
		end = text;
	}
	/* The comparison must fail for "nan". */
	if ((end == text || !*end) && top->interval >= 0.1 &&
	    top->interval <= 86400)
		return 0;
	return opts_wrong_value(opt, text, "seconds, from 0.1 to 86400, or as in 500ms or 1m");
}

#define AT(field)	OPT_AT(struct top, field)

static const struct opt options_list[] = {
	{ "interval", 'i', OPT_CALL, "TIME",
	  "time between updates, in seconds or with a unit, as in 0.5, 500ms, 1m; at least 0.1 (default 1)",
	  .call = take_interval },
	{ "count", 'n', OPT_NUM, "N", "exit after N updates",
	  AT(count), 1, UINT64_MAX },
	{ "batch", 'b', OPT_FLAG, NULL,
	  "print updates one after the other, as if the output is not a terminal",
	  AT(batch) },
	{ "tree", 't', OPT_NUM, "ID", "show this tree only",
	  AT(tree_id), 1, UINT32_MAX },
	OPT_HELP_ROW,
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-tool: top",
	.head	= "Usage: inc-tool [ -j ] top [ OPTIONS ]\n"
		  "Show rates by tree and rank until q or Ctrl-C.\n",
	.tail	= "With -j, each update is a line of JSON.\n",
	.list	= options_list,
};

int cmd_top(int argc, char **argv)
{
	struct top top = { .interval = 1 };
	int ret = opts_command(&options, &top, argc, argv);

	if (ret)
		return ret < 0 ? TOOL_USAGE : TOOL_OK;
	if (conf.json || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		top.batch = true;
	return top_run(&top);
}

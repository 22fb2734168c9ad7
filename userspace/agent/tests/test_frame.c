// SPDX-License-Identifier: GPL-2.0
/*
 * NETCONF's framing: good messages in pieces of any size, sizes of chunks that are
 * none, limits, and random bytes.
 *
 *	test_frame [INPUTS]
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/frame.h"

static unsigned int tests;
static bool failed;

static void check(bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	failed |= !good;
}

/* Feed it by @step bytes. Returns the last result, and the number of messages. */
static int feed(struct frame *f, const char *data, size_t len, size_t step,
		unsigned int *messages, char *last, size_t room)
{
	size_t at = 0, n, used;
	int ret = 0;

	*messages = 0;
	while (at < len && ret >= 0) {
		n = len - at < step ? len - at : step;
		ret = frame_take(f, data + at, n, &used);
		at += used;
		if (ret != 1)
			continue;
		(*messages)++;
		snprintf(last, room, "%s", f->text);
		frame_done(f);
	}
	return ret;
}

static const struct {
	const char	*name;
	bool		chunked;
	const char	*data;
	int		ret;
	const char	*text;		/* the last message, if @ret is 1 */
	unsigned int	messages;
} cases[] = {
	{ "a message with its mark", false, "<a/>]]>]]>", 1, "<a/>", 1 },
	{ "two of them", false, "<a/>]]>]]><b/>]]>]]>", 1, "<b/>", 2 },
	{ "brackets that are no mark", false, "]]>]]]]>]]>]]>]]>", 1, "", 2 },
	{ "half a mark", false, "<a/>]]>]]", 0, NULL, 0 },
	{ "an empty message", false, "]]>]]>", 1, "", 1 },
	{ "a chunk", true, "\n#4\n<a/>\n##\n", 1, "<a/>", 1 },
	{ "two chunks", true, "\n#1\n<\n#3\na/>\n##\n", 1, "<a/>", 1 },
	{ "two messages", true, "\n#4\n<a/>\n##\n\n#4\n<b/>\n##\n", 1, "<b/>", 2 },
	{ "a mark of chunks in a chunk", true, "\n#4\n\n##\n\n##\n", 1, "\n##\n", 1 },
	{ "a line feed before a chunk", true, "\n\n#1\nx\n##\n", 1, "x", 1 },
	{ "a message without a chunk", true, "\n##\n", -EBADMSG, NULL, 0 },
	{ "a chunk of 0", true, "\n#0\n", -EBADMSG, NULL, 0 },
	{ "a chunk of -1", true, "\n#-1\n", -EBADMSG, NULL, 0 },
	{ "a size that begins with 0", true, "\n#01\nx", -EBADMSG, NULL, 0 },
	{ "a hexadecimal size", true, "\n#0x1\nx", -EBADMSG, NULL, 0 },
	{ "a size with a space", true, "\n#1 \nx", -EBADMSG, NULL, 0 },
	{ "no size", true, "\n#\nx", -EBADMSG, NULL, 0 },
	{ "a chunk of 4 GiB", true, "\n#4294967296\n", -EMSGSIZE, NULL, 0 },
	{ "a chunk of 16 MiB", true, "\n#16777216\nx", 0, NULL, 0 },
	{ "one byte more", true, "\n#16777217\n", -EMSGSIZE, NULL, 0 },
	{ "a size without end", true, "\n#11111111111111111111111111111",
	  -EMSGSIZE, NULL, 0 },
	{ "text before a chunk", true, "x\n#1\nx\n##\n", -EBADMSG, NULL, 0 },
	{ "line feeds without end", true,
	  "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", -EBADMSG, NULL, 0 },
	{ "a chunk that is longer than its size", true, "\n#1\nxx", -EBADMSG,
	  NULL, 0 },
	{ "an end that is none", true, "\n#1\nx\n#\n", -EBADMSG, NULL, 0 },
	{ "the older mark", true, "<a/>]]>]]>", -EBADMSG, NULL, 0 },
};

static void test_cases(void)
{
	unsigned int messages;
	size_t i, step, len;
	char last[64];
	bool good;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		good = true;
		len = strlen(cases[i].data);
		for (step = 1; step <= len; step++) {
			struct frame f = { .chunked = cases[i].chunked };

			ret = feed(&f, cases[i].data, len, step, &messages,
				   last, sizeof(last));
			good = good && ret == cases[i].ret &&
			       messages == cases[i].messages &&
			       (ret != 1 || !strcmp(last, cases[i].text));
			frame_done(&f);
		}
		check(good, cases[i].name);
	}
}

static void test_limits(void)
{
	struct frame_pool pool = { .taken = 0 };
	static char data[4096];
	unsigned int messages, n;
	char last[8];
	int ret;

	for (n = 0; n < 2; n++) {
		struct frame f = { .max = n ? 4097 : 4096 };

		memset(data, 'x', sizeof(data));
		ret = feed(&f, data, sizeof(data), 100, &messages, last,
			   sizeof(last));
		check(n ? !ret : ret == -EMSGSIZE, n ? "as long as it may be" :
		      "one byte longer than it may be");
		frame_done(&f);
	}
	for (n = 0; n < 2; n++) {
		struct frame f = { .elements_max = 1024 - !n };

		for (size_t i = 0; i < sizeof(data); i += 4)
			memcpy(data + i, "<x/>", 4);
		ret = feed(&f, data, sizeof(data), 7, &messages, last,
			   sizeof(last));
		check(n ? !ret : ret == -EMSGSIZE, n ? "as many elements as there may be" :
		      "one more than there may be");
		frame_done(&f);
	}
	for (n = 0; n < 2; n++) {
		struct frame f = { .attributes_max = 512 - !n };

		memset(data, ' ', sizeof(data));
		for (size_t i = 0; i < sizeof(data); i += 8)
			memcpy(data + i, "x=''", 4);
		ret = feed(&f, data, sizeof(data), 7, &messages, last,
			   sizeof(last));
		check(n ? !ret : ret == -EMSGSIZE, n ? "as many attributes as there may be" :
		      "one attribute more");
		frame_done(&f);
	}
	{
		struct frame f[2] = { { .pool = &pool }, { .pool = &pool } };

		for (ret = 0; !ret; )
			ret = feed(&f[0], data, sizeof(data), sizeof(data),
				   &messages, last, sizeof(last));
		check(ret == -ENOMEM && f[0].len > 64 << 20,
		      "all large messages together");
		ret = feed(&f[1], data, sizeof(data), sizeof(data), &messages,
			   last, sizeof(last));
		check(!ret, "a small one beside them");
		frame_done(&f[0]);
		frame_done(&f[1]);
		check(!pool.taken, "nothing is held afterwards");
	}
}

/* Pieces of what means something, in any order: it neither fails nor hangs. */
static void test_random(unsigned int inputs)
{
	static const char *const pieces[] = {
		"\n", "#", "##", "1", "9", "0", "-", "]]>", "]]>]]>", "<a/>",
		"\n#4\n<a/>", "\n##\n", "x",
	};
	unsigned int i, k, n, messages;
	char data[256], last[256];
	bool good = true;

	srandom(1);
	for (i = 0; i < inputs; i++) {
		struct frame f = { .chunked = random() % 2, .max = 100 };

		data[0] = '\0';
		n = (unsigned int)random() % 20;
		for (k = 0; k < n; k++)
			strcat(data, pieces[(size_t)random() %
					    (sizeof(pieces) / sizeof(pieces[0]))]);
		feed(&f, data, strlen(data), 1 + (size_t)random() % 9,
		     &messages, last, sizeof(last));
		good = good && f.len <= 100;
		frame_done(&f);
	}
	check(good, "random pieces");
}

int main(int argc, char **argv)
{
	test_cases();
	test_limits();
	test_random(argc > 1 ? (unsigned int)atoi(argv[1]) : 100000);
	printf("1..%u\n", tests);
	return failed;
}

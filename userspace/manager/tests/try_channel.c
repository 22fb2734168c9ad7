// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A client for selftests/fabric/channel.py: calls that its input names, over one
 * channel, a line each.
 *
 *   try_channel ADDRESS [TOKEN]      INC_AM_CERTS, ...: TLS, as of inc-amctl
 *
 *   PATH TIMEOUT_MS COUNT LEN        COUNT messages of LEN bytes; then it waits.
 *                                    LEN -1: the call is cancelled by a thread
 *                                    300 ms after its messages; -2: at once
 *
 * Prints of each call "STATUS FAULT MESSAGES BYTES SUM TEXT".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpc/hint.h"
#include "conf/text.h"
#include "http2/channel.h"

static void *cancel(void *arg)
{
	usleep(300000);
	channel_cancel(arg);
	return NULL;
}

static void send_messages(struct channel *c, unsigned int count, long len)
{
	uint8_t *data = calloc(1, len > 0 ? (size_t)len : 1);
	unsigned int i;

	for (i = 0; i < count; i++) {
		memset(data, 'a' + (int)i % 26, len > 0 ? (size_t)len : 1);
		channel_send(c, data, len >= 0 ? (size_t)len : 1);
	}
	free(data);
	if (len >= 0)
		channel_half(c);
}

static void call(struct channel *c, const char *path, int timeout_ms,
		 unsigned int count, long len)
{
	size_t n, i, messages = 0, bytes = 0;
	unsigned int sum = 0;
	enum fault fault;
	const char *said;
	pthread_t thread;
	uint8_t *data;
	char *text;
	int status;

	channel_begin(c, path, timeout_ms);
	send_messages(c, count, len);
	if (len == -2)
		channel_cancel(c);
	else if (len < 0)
		pthread_create(&thread, NULL, cancel, c);
	while (channel_receive(c, &data, &n)) {
		messages++;
		bytes += n;
		for (i = 0; i < n; i++)
			sum = sum * 31 + data[i];
		free(data);
	}
	if (len == -1)
		pthread_join(thread, NULL);
	status = channel_status(c, &said, &fault);
	text = strdup(said);
	text_clean(text);
	printf("%d %d %zu %zu %u %s%s\n", status, fault, messages, bytes, sum,
	       text, fault == FAULT_CUT ? "+" : "");
	free(text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct channel_how how = {
		.program = "tested", .port = 1, .ask_ms = 500, .answer_ms = 500,
	};
	char err[512], path[256];
	struct auth_client a;
	unsigned int count;
	struct channel *c;
	int timeout_ms;
	long len;

	if (argc < 2 || inc_auth_read(&a, "INC_AM", err, sizeof(err)))
		return 1;
	how.address = argv[1];
	how.token = argv[2];
	how.tls = am_tls(&a);
	c = channel_new(&how, err, sizeof(err));
	if (!c) {
		printf("%s\n", err);
		return 1;
	}
	while (scanf("%255s %d %u %ld", path, &timeout_ms, &count, &len) == 4)
		call(c, path, timeout_ms, count, len);
	channel_free(c);
	inc_auth_free(&a);
	return 0;
}

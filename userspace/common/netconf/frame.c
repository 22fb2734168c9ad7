// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See frame.h. A peer may send what it likes: the size of a chunk is one to
 * FRAME_CHUNK_MAX in decimal digits, a message has at least one chunk, and only what
 * has come takes memory.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/frame.h"

#define END		"]]>]]>"
#define LARGE		(1U << 20)	/* bytes; most messages are shorter */
#define POOL_MAX	(128U << 20)	/* of all large ones */
#define BEFORE_MAX	16	/* line feeds that some clients put before a chunk */

enum {
	BEFORE,		/* "\n#" begins a chunk, or the end */
	HASH,
	FIRST,		/* a digit, or the second # */
	DIGITS,
	DATA,
	LAST,		/* the end's line feed */
};

/* What all sessions hold of large messages is limited, too. */
static bool take_pool(struct frame *f, size_t room)
{
	size_t more;

	if (!f->pool || room <= LARGE || room <= f->held)
		return true;
	more = room - f->held;
	if (atomic_fetch_add(&f->pool->taken, more) + more > POOL_MAX) {
		f->pool->taken -= more;
		return false;
	}
	f->held = room;
	return true;
}

static int make_room(struct frame *f, size_t len)
{
	size_t need = f->len + len + 1;
	size_t room = f->room ? f->room : 1024;
	char *text;

	if (f->max && need > f->max)
		return -EMSGSIZE;
	if (need <= f->room)
		return 0;
	/* Of a large one nothing is copied; it takes little that it does not need. */
	while (room < need)
		room += room < LARGE ? room : room / 8;
	if (f->max && room > f->max)
		room = f->max;
	if (!take_pool(f, room))
		return -ENOMEM;
	text = realloc(f->text, room);
	if (!text)
		return -ENOMEM;
	f->text = text;
	f->room = room;
	return 0;
}

/* Many small elements take a hundred times their text when they are parsed. */
static bool has_many(struct frame *f)
{
	const char *at;

	if (!f->elements_max)
		return false;
	/* What follows a '<' may not have come yet. */
	while (f->counted + 1 < f->len) {
		at = memchr(f->text + f->counted, '<', f->len - 1 - f->counted);
		if (!at) {
			f->counted = f->len - 1;
			break;
		}
		f->elements += at[1] != '/';
		f->counted = (size_t)(at - f->text) + 1;
	}
	return f->elements > f->elements_max;
}

/*
 * libyang compares each attribute with all of its element, and each namespace with
 * all that are open: 50,000 of them took 9 s. Each has an equals sign.
 */
static bool has_many_attributes(struct frame *f, const char *data, size_t len)
{
	const char *end = data + len;

	if (!f->attributes_max)
		return false;
	while ((data = memchr(data, '=', (size_t)(end - data)))) {
		f->attributes++;
		data++;
	}
	return f->attributes > f->attributes_max;
}

static int append_text(struct frame *f, const char *data, size_t len)
{
	int ret = make_room(f, len);

	if (ret)
		return ret;
	memcpy(f->text + f->len, data, len);
	f->len += len;
	f->text[f->len] = '\0';
	return has_many(f) || has_many_attributes(f, data, len) ? -EMSGSIZE : 0;
}

/* A message of the older framing, up to its mark. */
static int take_marked(struct frame *f, const char *data, size_t len,
		       size_t *used)
{
	const size_t mark = strlen(END);
	size_t before = f->len, from;
	const char *end;
	int ret;

	ret = append_text(f, data, len);
	if (ret)
		return ret;
	from = before < mark ? 0 : before - (mark - 1);
	end = memmem(f->text + from, f->len - from, END, mark);
	*used = len;
	if (!end)
		return 0;
	f->len = (size_t)(end - f->text);
	*used = f->len + mark - before;
	f->text[f->len] = '\0';
	return 1;
}

static int take_digit(struct frame *f, char c)
{
	if (c == '\n' && f->state == DIGITS) {
		f->state = DATA;
		return 0;
	}
	if (c < '0' || c > '9' || (c == '0' && f->state == FIRST))
		return -EBADMSG;
	f->state = DIGITS;
	f->size = f->size * 10 + (size_t)(c - '0');
	return f->size > FRAME_CHUNK_MAX ? -EMSGSIZE : 0;
}

/* One byte of what is around chunks. Returns 1: the message has ended. */
static int take_mark(struct frame *f, char c)
{
	switch (f->state) {
	case BEFORE:
		f->state = HASH;
		return c == '\n' ? 0 : -EBADMSG;
	case HASH:
		if (c == '\n' && !f->len && f->before++ < BEFORE_MAX)
			return 0;
		f->state = FIRST;
		f->size = 0;
		return c == '#' ? 0 : -EBADMSG;
	case LAST:
		f->state = BEFORE;
		f->before = 0;
		return c == '\n' ? 1 : -EBADMSG;
	case FIRST:
		if (c != '#')
			break;
		f->state = LAST;
		/* RFC 6242: a message is one chunk or more. */
		return f->len ? 0 : -EBADMSG;
	}
	return take_digit(f, c);
}

static int take_chunked(struct frame *f, const char *data, size_t len,
			size_t *used)
{
	size_t n;
	int ret = 0;

	while (*used < len && !ret) {
		if (f->state != DATA) {
			ret = take_mark(f, data[(*used)++]);
			continue;
		}
		n = len - *used < f->size ? len - *used : f->size;
		ret = append_text(f, data + *used, n);
		*used += n;
		f->size -= n;
		if (!f->size)
			f->state = BEFORE;
	}
	return ret;
}

/*
 * Take bytes that have come. Returns 1 if @f->text is a whole message, to be
 * followed by frame_done(); 0: there is more to come; -EBADMSG, -EMSGSIZE or
 * -ENOMEM, after which the session is of no use.
 * @used: result: how many of them were taken
 */
int frame_take(struct frame *f, const char *data, size_t len, size_t *used)
{
	*used = 0;
	if (!len)
		return 0;
	return f->chunked ? take_chunked(f, data, len, used) :
			    take_marked(f, data, len, used);
}

/* Forget the message. */
void frame_done(struct frame *f)
{
	free(f->text);
	f->text = NULL;
	if (f->pool)
		f->pool->taken -= f->held;
	f->len = 0;
	f->room = 0;
	f->held = 0;
	f->elements = 0;
	f->attributes = 0;
	f->counted = 0;
}

/* Get why frame_take() has failed, in words of who the peer is to. */
const char *frame_why(int err)
{
	return err == -EMSGSIZE ? "its request is too long" :
	       err == -ENOMEM ? "there is no memory for its request" :
	       "it does not keep to the framing of RFC 6242";
}

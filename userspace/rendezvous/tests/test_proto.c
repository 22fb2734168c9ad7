// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Codec of the rendezvous protocol: round trips and malformed input. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "lib/tests/test.h"
#include "proto.h"

static char err[INC_RDV_TEXT_MAX];

static struct inc_rdv_msg again(const struct inc_rdv_msg *msg)
{
	char line[INC_RDV_LINE_MAX + 1];
	struct inc_rdv_msg res;
	int len = inc_rdv_format(msg, line, sizeof(line));

	OK(len > 0 && line[len - 1] == '\n' && !line[len]);
	line[len - 1] = '\0';
	OK(!strchr(line, '\n'));
	EQ(inc_rdv_parse(line, &res, err, sizeof(err)), 0);
	EQ(res.type, msg->type);
	return res;
}

static void join(void)
{
	struct inc_rdv_msg m = {
		.type = INC_RDV_JOIN,
		.join = {
			.job = "a \"job\" / x", .ranks = 1024, .rank = 1023,
			.qpn = 0xffffff, .psn = 0, .mtu = 4096, .rts = true,
			.wrong = true, .cm = true,
			.tree = { .slots = 256, .msg_size = 65536, .pmtu = 1024,
				  .has_first_msg_id = true,
				  .first_msg_id = 0xfffffff0 },
		},
	}, r;

	EQ(inc_rdv_addr_parse("10.1.2.3", &m.join.addr), 0);
	r = again(&m);
	OK(!strcmp(r.join.job, m.join.job));
	EQ(r.join.ranks, 1024);
	EQ(r.join.rank, 1023);
	EQ(r.join.qpn, 0xffffff);
	OK(r.join.rts);
	OK(r.join.wrong);
	OK(r.join.cm);
	EQ(r.join.addr.len, 4);
	OK(!memcmp(r.join.addr.bytes, "\n\1\2\3", 4));
	OK(!memcmp(&r.join.tree, &m.join.tree, sizeof(r.join.tree)));
	m.join.tree = (struct inc_rdv_tree){ 0 };
	m.join.mtu = 0;
	EQ(inc_rdv_addr_parse("fd00::1", &m.join.addr), 0);
	r = again(&m);
	EQ(r.join.addr.len, 16);
	EQ(r.join.tree.has_first_msg_id, 0);
	EQ(r.join.tree.slots, 0);
}

static void joined(void)
{
	struct inc_rdv_msg m = {
		.type = INC_RDV_JOINED,
		.joined = {
			.tree_id = 0xffffffff, .qpn = 0x800001, .psn = 0xffffff,
			.rkey = 0xdeadbeef, .slots = 4096, .msg_size = 65536,
			.pmtu = 4096, .first_msg_id = 7, .dead_time = 600,
			.collectives = 0x1ff, .dtypes = 0xfff, .ops = 0x1fff,
			.traffic_class = 0xb8, .rts = true, .wrong = true,
		},
	}, r;

	EQ(inc_rdv_addr_parse("::ffff:10.0.0.1", &m.joined.addr), 0);
	EQ(m.joined.addr.len, 4);
	r = again(&m);
	OK(!memcmp(&r.joined, &m.joined, sizeof(r.joined)));
	OK(!r.joined.has_own_psn);
	strcpy(m.joined.rails, "10.0.0.1,fd00::1");
	r = again(&m);
	OK(!strcmp(r.joined.rails, m.joined.rails));
	m.joined.has_own_psn = true;
	r = again(&m);
	OK(r.joined.has_own_psn);
	EQ(r.joined.own_psn, 0);
	m.joined.own_psn = 0xfffffe;
	r = again(&m);
	EQ(r.joined.own_psn, 0xfffffe);
}

static void events(void)
{
	struct inc_rdv_msg m = { .type = INC_RDV_READY }, r;

	again(&m);
	m.type = INC_RDV_BYE;
	again(&m);
	m.type = INC_RDV_ALIVE;
	again(&m);
	m.type = INC_RDV_LEAVE;
	again(&m);
	m.type = INC_RDV_RTS;
	EQ(again(&m).rails, 0);
	m.rails = 0x80;
	EQ(again(&m).rails, 0x80);
	m.type = INC_RDV_READY;
	strcpy(m.text, "train~rail-1");
	r = again(&m);
	EQ(r.rails, 0x80);
	OK(!strcmp(r.text, "train~rail-1"));
	m = (struct inc_rdv_msg){ .type = INC_RDV_LEFT, .rank = 3 };
	r = again(&m);
	EQ(r.rank, 3);
	m = (struct inc_rdv_msg){
		.type = INC_RDV_FAILED, .rank = -1, .status = 17,
	};
	strcpy(m.text, "gone \\ \t");
	r = again(&m);
	EQ(r.rank, -1);
	EQ(r.status, 17);
	OK(!strcmp(r.text, "gone \\ ?"));
}

static void whose_request(void)
{
	struct inc_rdv_msg m = {
		.type = INC_RDV_WRONG, .rank = 2, .status = 7,
		.msg_id = 0xffffffff,
	}, r;

	strcpy(m.text, "the request of rank 2 disagrees with that of rank 0");
	r = again(&m);
	EQ(r.rank, 2);
	EQ(r.status, 7);
	EQ(r.msg_id, 0xffffffff);
	OK(!strcmp(r.text, m.text));
	m.rank = -1;
	r = again(&m);
	EQ(r.rank, -1);
}

static void change(void)
{
	struct inc_rdv_msg m = { .type = INC_RDV_LOSSY }, r;

	again(&m);
	m = (struct inc_rdv_msg){ .type = INC_RDV_CHANGE };
	strcpy(m.text, "train~uc-1");
	r = again(&m);
	EQ(r.type, INC_RDV_CHANGE);
	OK(!strcmp(r.text, m.text));
}

static void errors(void)
{
	struct inc_rdv_msg m = { .type = INC_RDV_ERROR, .err = ENOBUFS }, r;

	strcpy(m.text, "no room");
	r = again(&m);
	EQ(r.err, ENOBUFS);
	OK(!strcmp(r.text, "no room"));
	m.err = EXDEV;		/* the protocol has no name for it */
	r = again(&m);
	EQ(r.err, EREMOTEIO);
	/* The longest text still fits into a line. */
	memset(m.text, '"', sizeof(m.text) - 1);
	m.text[sizeof(m.text) - 1] = '\0';
	r = again(&m);
	EQ(strlen(r.text), sizeof(m.text) - 1);
}

#define DEEP	"[[[[[[[["
#define GOOD "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":2,\"rank\":0,\"addr\":\"10.0.0.1\",\"qpn\":17,\"psn\":5}"

static void wrong(void)
{
	static const struct {
		const char	*line;
		int		ret;
		const char	*says;
	} bad[] = {
		{ "", -EINVAL, "JSON" },
		{ "hello", -EINVAL, "JSON" },
		{ "{\"cmd\":\"join\"", -EINVAL, "JSON" },
		{ "{}{}", -EINVAL, "more than one" },
		{ "[]", -EINVAL, "object" },
		{ "7", -EINVAL, "JSON" },
		{ "null", -EINVAL, "JSON" },
		{ "{}", -EINVAL, "cmd" },
		{ "{\"cmd\":7}", -EINVAL, "cmd" },
		{ "{\"cmd\":\"dance\"}", -EOPNOTSUPP, "dance" },
		{ "{\"event\":\"join\"}", -EOPNOTSUPP, "join" },
		{ "{\"cmd\":\"join\"}", -EINVAL, "version" },
		{ "{\"cmd\":\"join\",\"version\":2}", -EPROTONOSUPPORT,
		  "protocol 2" },
		{ "{\"cmd\":\"join\",\"version\":3,\"oldest\":2}",
		  -EPROTONOSUPPORT, "protocol 3" },
		{ "{\"cmd\":\"join\",\"version\":0,\"oldest\":0}",
		  -EPROTONOSUPPORT, "protocol 0" },
		{ "{\"cmd\":\"join\",\"version\":2,\"oldest\":1}", -EINVAL,
		  "job" },
		{ "{\"cmd\":\"join\",\"version\":1,\"oldest\":2}", -EINVAL,
		  "\"oldest\" is 2, must be 0 ... 1" },
		{ "{\"cmd\":\"join\",\"version\":1,\"mapping\":2}",
		  -EPROTONOSUPPORT, "mapping 2" },
		{ "{\"event\":\"joined\",\"version\":1,\"mapping\":2}",
		  -EPROTONOSUPPORT, "mapping 2" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"\"}", -EINVAL,
		  "empty" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"a\\u0000b\"}",
		  -EINVAL, "unprintable" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"a\\nb\"}", -EINVAL,
		  "unprintable" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":0}",
		  -EINVAL, "ranks" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":-1}",
		  -EINVAL, "ranks" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":99999999999999999999}",
		  -EINVAL, "ranks" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":1025,\"rank\":0}",
		  -EINVAL, "must be 1 ... 1024" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":2,\"rank\":1024}",
		  -EINVAL, "must be 0 ... 1023" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":2.5}",
		  -EINVAL, "ranks" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":2,\"rank\":2}",
		  -EINVAL, "0 ... 1" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":2,\"rank\":0,\"addr\":\"me\"}",
		  -EINVAL, "IP" },
		{ "{\"cmd\":\"join\",\"version\":1,\"job\":\"j\",\"ranks\":2,\"rank\":0,\"addr\":\"::1\",\"qpn\":16777216}",
		  -EINVAL, "qpn" },
		{ "{\"cmd\":\"leave\",\"a\":" DEEP DEEP DEEP DEEP "1",
		  -EINVAL, "JSON" },
	};
	char line[INC_RDV_LINE_MAX * 2];
	struct inc_rdv_msg msg;
	size_t i;

	EQ(inc_rdv_parse(GOOD, &msg, err, sizeof(err)), 0);
	/* Unknown members do no harm, whatever is in them. */
	EQ(inc_rdv_parse("{\"cmd\":\"leave\",\"a\":" DEEP "1]]]]]]]]}", &msg,
			 err, sizeof(err)), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err[0] = '\0';
		EQ(inc_rdv_parse(bad[i].line, &msg, err, sizeof(err)),
		   bad[i].ret);
		if (!strstr(err, bad[i].says)) {
			printf("# %s: \"%s\" does not say \"%s\"\n",
			       bad[i].line, err, bad[i].says);
			test_errors++;
		}
	}
	snprintf(line, sizeof(line),
		 "{\"cmd\":\"join\",\"version\":1,\"job\":\"%0*d\"}",
		 INC_RDV_JOB_MAX + 1, 0);
	EQ(inc_rdv_parse(line, &msg, err, sizeof(err)), -EINVAL);
}

/* No prefix of a good line and no changed byte crashes the parser. */
static void mangled(void)
{
	char line[sizeof(GOOD)];
	struct inc_rdv_msg msg;
	size_t i;
	int c;

	for (i = 0; i < sizeof(GOOD) - 1; i++) {
		memcpy(line, GOOD, i);
		line[i] = '\0';
		OK(inc_rdv_parse(line, &msg, err, sizeof(err)));
	}
	for (i = 0; i < sizeof(GOOD) - 1; i++)
		for (c = 1; c < 256; c++) {
			memcpy(line, GOOD, sizeof(line));
			line[i] = (char)c;
			inc_rdv_parse(line, &msg, err, sizeof(err));
		}
	OK(1);
}

static void feed(struct inc_rdv_lines *l, const char *data, size_t n)
{
	size_t len;
	char *to = inc_rdv_space(l, &len);

	OK(n <= len);
	memcpy(to, data, n);
	inc_rdv_added(l, n);
}

static void lines(void)
{
	struct inc_rdv_lines l = { 0 };
	char line[INC_RDV_LINE_MAX], big[INC_RDV_LINE_MAX];
	size_t len;

	EQ(inc_rdv_line(&l, line, sizeof(line)), 0);
	feed(&l, "ab", 2);
	EQ(inc_rdv_line(&l, line, sizeof(line)), 0);
	feed(&l, "c\n\nd", 4);
	EQ(inc_rdv_line(&l, line, sizeof(line)), 1);
	OK(!strcmp(line, "abc"));
	EQ(inc_rdv_line(&l, line, sizeof(line)), 1);
	OK(!strcmp(line, ""));
	EQ(inc_rdv_line(&l, line, sizeof(line)), 0);
	feed(&l, "\n", 1);
	EQ(inc_rdv_line(&l, line, sizeof(line)), 1);
	feed(&l, "x\0y\n", 4);
	EQ(inc_rdv_line(&l, line, sizeof(line)), -EINVAL);
	EQ(l.used, 0);
	memset(big, 'z', sizeof(big));
	big[sizeof(big) - 1] = '\n';
	feed(&l, big, sizeof(big));	/* the maximum length */
	EQ(inc_rdv_line(&l, line, sizeof(line)), 1);
	EQ(strlen(line), sizeof(big) - 1);
	big[sizeof(big) - 1] = 'z';
	feed(&l, big, sizeof(big));
	inc_rdv_space(&l, &len);
	EQ(len, 0);
	EQ(inc_rdv_line(&l, line, sizeof(line)), -EMSGSIZE);
}

static void addresses(void)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct sockaddr un = { .sa_family = AF_UNIX };
	struct inc_rdv_addr a;
	char buf[INET6_ADDRSTRLEN];

	EQ(inc_rdv_addr_parse("300.1.1.1", &a), -EINVAL);
	EQ(inc_rdv_addr_parse("fe80::1", &a), 0);
	OK(!strcmp(inc_rdv_addr_str(&a, buf, sizeof(buf)), "fe80::1"));
	inet_pton(AF_INET6, "::ffff:1.2.3.4", &sin6.sin6_addr);
	EQ(inc_rdv_addr_from_sockaddr((void *)&sin6, &a), 0);
	OK(!strcmp(inc_rdv_addr_str(&a, buf, sizeof(buf)), "1.2.3.4"));
	inet_pton(AF_INET, "4.3.2.1", &sin.sin_addr);
	EQ(inc_rdv_addr_from_sockaddr((void *)&sin, &a), 0);
	EQ(a.len, 4);
	EQ(inc_rdv_addr_from_sockaddr(&un, &a), -EAFNOSUPPORT);
	a.len = 0;
	OK(!strcmp(inc_rdv_addr_str(&a, buf, sizeof(buf)), "none"));
}

static const struct test_case cases[] = {
	{ "join", join },
	{ "joined", joined },
	{ "events", events },
	{ "whose request", whose_request },
	{ "change", change },
	{ "errors", errors },
	{ "wrong", wrong },
	{ "mangled", mangled },
	{ "lines", lines },
	{ "addresses", addresses },
};

TEST_MAIN(cases)

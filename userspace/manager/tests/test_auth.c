// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What strangers and operators write: messages of ranks, files of tokens,
 * configuration files, certificates. Known cases first; then SEED and INPUTS of
 * the environment say which random inputs, and how many of each. AddressSanitizer
 * watches.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rpc/message.h"
#include "auth/address.h"
#include "auth/client.h"
#include "auth/identity.h"
#include "auth/token.h"
#include "auth/verify.h"
#include "conf/conf.h"
#include "tests/fuzz.h"

#define INPUT_MAX	600

/* --- Known cases --------------------------------------------------------- */

/* SHA-256 of "secret". */
#define DIGEST	"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"

static bool parses(const char *text, size_t len)
{
	struct tokens *t = NULL;
	char err[256];
	bool good = !tokens_parse(&t, text, len, err, sizeof(err));

	tokens_free(t);
	return good;
}

static void known_tokens(void)
{
	static const char good[] = "# comment\n\n bob blue client " DIGEST "\n"
				   "eve - admin " DIGEST "  # twice";
	static const char no_name[] = "b\001b blue client " DIGEST;
	static const char no_tenant[] = "bob bl\001e client " DIGEST;
	static const char some[] = "nonsense\nbob blue client " DIGEST "\nx y";
	static const char *const bad[] = {
		"bob blue client", "bob blue client x", "bob blue god " DIGEST,
		"bob blue client " DIGEST "0", "a b client " DIGEST " more",
	};
	struct identity id;
	struct tokens *t;
	char err[256];
	size_t i;

	check(!tokens_parse(&t, good, sizeof(good) - 1, err, sizeof(err)),
	      "a good file");
	check(tokens_find(t, "secret", 6, &id) && id.role == ROLE_ADMIN &&
	      !strcmp(id.name, "eve") && !id.tenant[0], "the last one wins");
	check(!tokens_find(t, "secret", 5, &id), "a part of a token");
	check(!tokens_find(t, "", 0, &id), "an empty token");
	check(tokens_have(t, &id), "it is still valid");
	snprintf(id.tenant, sizeof(id.tenant), "green");
	check(!tokens_have(t, &id), "not for another tenant");
	id.token++;
	id.tenant[0] = '\0';
	check(!tokens_have(t, &id), "one that is not there any more");
	tokens_free(t);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(!parses(bad[i], strlen(bad[i])), bad[i]);
	check(!parses("a\0b", 3), "a zero byte");
	check(tokens_parse(&t, no_name, sizeof(no_name) - 1, err, sizeof(err)) &&
	      strstr(err, "line 1: the name must have 1 to"), "a wrong name");
	tokens_free(t);
	check(tokens_parse(&t, no_tenant, sizeof(no_tenant) - 1, err,
			   sizeof(err)) &&
	      strstr(err, "line 1: the tenant may have"), "a wrong tenant");
	tokens_free(t);
	check(tokens_parse(&t, some, sizeof(some) - 1, err, sizeof(err)) &&
	      strstr(err, "line 1: must be"), "a wrong line");
	check(tokens_find(t, "secret", 6, &id) && !strcmp(id.name, "bob"),
	      "all other lines count");
	tokens_free(t);
}

/* What cannot be read is no file without tokens. */
static void known_files(void)
{
	struct tokens *t = NULL;
	char err[256], *text;

	check(tokens_read(&t, "/nowhere", err, sizeof(err)) &&
	      strstr(err, "No such file"), "no file of tokens");
	check(tokens_read(&t, "/", err, sizeof(err)) &&
	      strstr(err, "regular file"), "tokens: a directory");
	check(tokens_read(&t, "/dev/null", err, sizeof(err)) &&
	      strstr(err, "regular file"), "tokens: a device");
	text = inc_auth_file("/", err, sizeof(err));
	check(!text && strstr(err, "/: is not a regular file"), "a directory");
	text = inc_auth_file("/dev/null", err, sizeof(err));
	check(!text && strstr(err, "is not a regular file"), "a device");
}

/* What OpenSSL holds against certificates. */
static void known_verify(void)
{
	static const struct {
		long		result;
		const char	*text;
	} results[] = {
		{ X509_V_ERR_CERT_HAS_EXPIRED, "has expired" },
		{ X509_V_ERR_CERT_NOT_YET_VALID, "clock" },
		{ X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "in /x/ca.pem" },
		{ X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "in /x/ca.pem" },
		{ X509_V_ERR_HOSTNAME_MISMATCH, "does not name amd" },
		{ X509_V_ERR_IP_ADDRESS_MISMATCH, "does not name amd" },
		{ X509_V_ERR_INVALID_PURPOSE, "one of a server" },
		{ X509_V_ERR_CERT_REVOKED, "has been revoked" },
		{ X509_V_ERR_UNABLE_TO_GET_CRL, "no list of revoked" },
		{ X509_V_ERR_CRL_HAS_EXPIRED, "must be renewed" },
		{ X509_V_ERR_EE_KEY_TOO_SMALL, "too weak" },
		{ X509_V_ERR_PATH_LENGTH_EXCEEDED,
		  "not accepted: path length constraint exceeded" },
	};
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		check(strstr(inc_auth_verify(results[i].result, "/x/ca.pem",
					     "amd", text, sizeof(text)),
			     results[i].text), results[i].text);
	check(strstr(inc_auth_alert(SSL_R_TLSV1_ALERT_UNKNOWN_CA),
		     "another authority") &&
	      strstr(inc_auth_alert(SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE),
		     "use"), "alerts");
	check(!inc_auth_alert(SSL_R_TLSV1_ALERT_INTERNAL_ERROR),
	      "an alert that says nothing");
	check(strstr(inc_auth_verify(X509_V_ERR_INVALID_PURPOSE, "x", NULL,
				     text, sizeof(text)), "one of a client"),
	      "a server's certificate at a client");
	check(strstr(inc_auth_verify(X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
				     NULL, NULL, text, sizeof(text)),
		     "an authority that is known here"), "no authority");
}

/* What else OpenSSL meets. */
static void known_broken(void)
{
	static const struct {
		int		reason;
		const char	*text;
	} errors[] = {
		{ SSL_R_UNEXPECTED_EOF_WHILE_READING, "has closed" },
		{ SSL_R_HTTP_REQUEST, "does not speak it" },
		{ SSL_R_UNSUPPORTED_PROTOCOL, "no version of it" },
		{ SSL_R_NO_SHARED_CIPHER, "no cipher in common" },
		{ SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, "changed on" },
		{ SSL_R_BAD_LENGTH, "(OpenSSL: " },
	};
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		check(strstr(inc_auth_broken(ERR_PACK(ERR_LIB_SSL, 0,
						      errors[i].reason),
					     text, sizeof(text)),
			     errors[i].text), errors[i].text);
	check(!strcmp(inc_auth_broken(0, text, sizeof(text)),
		      "has closed the connection"), "no error at all");
}

static int taken;

static int take(void *ctx, int opt, char *value)
{
	(void)ctx;
	taken = opt * 100 + (value ? (int)strlen(value) : 0);
	return 0;
}

static int read_stream(FILE *f)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 1 },
		{ "flag", no_argument, NULL, 2 },
		{ NULL, 0, NULL, 0 }
	};
	const struct conf conf = {
		.prog = "test", .options = options, .take = take,
	};
	int ret;

	ret = conf_stream(&conf, f, "file");
	fclose(f);
	return ret;
}

static int read_conf(const char *text, size_t len)
{
	return read_stream(fmemopen((char *)text, len, "r"));
}

/* A disk that fails in the middle of a line. */
static ssize_t read_some(void *cookie, char *buf, size_t size)
{
	static const char text[] = "name = a\nname = abc";
	bool *begun = cookie;

	(void)size;
	if (*begun) {
		errno = EIO;
		return -1;
	}
	*begun = true;
	memcpy(buf, text, sizeof(text) - 1);
	return sizeof(text) - 1;
}

static void known_failure(void)
{
	const cookie_io_functions_t io = { .read = read_some };
	bool begun = false;

	taken = 0;
	check(read_stream(fopencookie(&begun, "r", io)) && taken == 101,
	      "a file that cannot be read to its end");
}

static void known_conf(void)
{
	static const struct {
		const char	*text;
		int		taken;
	} cases[] = {
		{ "name = abc", 103 }, { "name=abc\n", 103 },
		{ " name abc \r\n", 103 }, { "name = a b = c", 107 },
		{ "flag", 200 }, { "# name = x", 0 }, { "\n\n", 0 },
		{ "name", -1 }, { "name =", -1 }, { "flag = x", -1 },
		{ "nam = x", -1 }, { "= x", -1 },
		{ "name = abc # x", 103 }, { "name = abc\t#x", 103 },
		{ "name = a#b", 103 }, { "name abc #", 103 },
		{ "flag # x", 200 }, { " # name = x", 0 }, { "name = # x", -1 },
		{ "name = a#b#c # x # y", 105 },
	};
	size_t i;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		taken = 0;
		ret = read_conf(cases[i].text, strlen(cases[i].text));
		check(ret ? cases[i].taken < 0 : taken == cases[i].taken,
		      cases[i].text);
	}
}

static int repack(const struct am_message *in, struct am_message *out,
		  char *err, size_t err_len)
{
	uint8_t *data;
	size_t len;
	int ret;

	if (am_rank_pack(in, &data, &len))
		abort();
	ret = am_rank_unpack(data, len, out, err, err_len);
	free(data);
	return ret;
}

static void known_addresses(void)
{
	static const struct {
		const char	*text;
		const char	*host;
		int		port;
	} good[] = {
		{ "amd", "amd", -1 }, { "amd:1", "amd", 1 },
		{ "127.0.0.1:0", "127.0.0.1", 0 },
		{ "192.0.2.1:65535", "192.0.2.1", 65535 },
		{ "[::1]", "::1", -1 }, { "[::1]:18790", "::1", 18790 },
		{ "::1", "::1", -1 }, { "fe80::1:2", "fe80::1:2", -1 },
		{ "a23456", "a23456", -1 },
	};
	static const char *const bad[] = {
		"", ":", ":1", "amd:", "amd:65536", "amd:84326", "amd:-1",
		"amd:+1", "amd: 1", "amd:1 ", "amd:x", "amd:0x10",
		"amd:4294967297", "amd:18446744073709551617", "[]", "[]:1",
		"[::1", "[::1]1", "[::1]:", "[::1]:65536", "a2345678",
	};
	char host[8 + sizeof("192.0.2.1")];
	int port;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		port = -1;
		check(!inc_auth_address(good[i].text, host, sizeof(host),
					&port) &&
		      !strcmp(host, good[i].host) && port == good[i].port,
		      good[i].text);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(inc_auth_address(bad[i], host, 8, &port), bad[i]);
}

static void key_of(const char *text, struct in6_addr *key)
{
	bool v4 = !strchr(text, ':');
	struct in6_addr addr;

	check(inet_pton(v4 ? AF_INET : AF_INET6, text, &addr) == 1, text);
	inc_auth_host_key(&addr, v4 ? sizeof(struct in_addr) : sizeof(addr),
			  key);
}

/* Which addresses are one host's? */
static void known_hosts(void)
{
	static const struct {
		const char	*one;
		const char	*other;
		bool		same;
	} pairs[] = {
		{ "192.0.2.1", "192.0.2.1", true },
		{ "192.0.2.1", "192.0.2.2", false },
		{ "192.0.2.1", "::ffff:192.0.2.1", true },
		{ "::ffff:192.0.2.1", "::ffff:192.0.2.2", false },
		{ "2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true },
		{ "2001:db8::1", "2001:db8:0:1::1", false },
		{ "::1", "::ffff:0.0.0.1", false },
		{ "192.0.2.1", "c000:201::", false },
	};
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr other = { .sa_family = AF_UNIX };
	struct in6_addr a, b;
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		key_of(pairs[i].one, &a);
		key_of(pairs[i].other, &b);
		check(IN6_ARE_ADDR_EQUAL(&a, &b) == pairs[i].same,
		      pairs[i].other);
	}
	inet_pton(AF_INET, "192.0.2.1", &in.sin_addr);
	inet_pton(AF_INET6, "::ffff:192.0.2.1", &in6.sin6_addr);
	inc_auth_peer_key((struct sockaddr *)&in, &a);
	inc_auth_peer_key((struct sockaddr *)&in6, &b);
	check(IN6_ARE_ADDR_EQUAL(&a, &b), "one host by both families");
	inc_auth_peer_key(&other, &a);
	check(IN6_IS_ADDR_UNSPECIFIED(&a), "no host at all");
}

/* Ranks that connect by RDMA CM. */
static void known_wishes(void)
{
	static const struct {
		struct inc_rdv_tree	tree;
		const char		*what;
	} wishes[] = {
		{ { .slots = 4096, .msg_size = 65536, .pmtu = 4096 }, "" },
		{ { .slots = 1, .msg_size = 64, .pmtu = 256 }, "" },
		{ { .slots = 63 }, "slots must be a power of two" },
		{ { .slots = 8192 }, "up to 4096" },
		{ { .msg_size = 100 }, "msg_size must be a multiple of 64" },
		{ { .msg_size = 65600 }, "up to 65536" },
		{ { .pmtu = 1500 }, "pmtu must be 256," },
		{ { .pmtu = 128 }, "pmtu must be 256," },
		{ { .pmtu = 8192 }, "pmtu must be 256," },
	};
	struct am_message in = { .rdv.type = INC_RDV_JOIN }, out;
	char err[256];
	size_t i;

	in.rdv.join = (struct inc_rdv_join){
		.job = "job", .ranks = 2, .qpn = 17, .addr.len = 4,
	};
	for (i = 0; i < sizeof(wishes) / sizeof(*wishes); i++) {
		in.rdv.join.tree = wishes[i].tree;
		err[0] = '\0';
		check(repack(&in, &out, err, sizeof(err)) ==
		      (*wishes[i].what ? -EINVAL : 0) &&
		      strstr(err, wishes[i].what), "wishes for a tree");
	}
}

static void known_cm(void)
{
	struct am_message in = { .rdv.type = INC_RDV_JOIN }, out;
	char err[256];
	uint8_t *data;
	size_t len;

	in.rdv.join = (struct inc_rdv_join){
		.job = "job", .ranks = 2, .rank = 1, .qpn = 17, .cm = true,
		.addr.len = 4,
	};
	check(!repack(&in, &out, err, sizeof(err)) && out.rdv.join.cm,
	      "a rank that asks for RDMA CM");
	in.rdv.join.uc = true;
	check(!repack(&in, &out, err, sizeof(err)) && out.rdv.join.cm &&
	      out.rdv.join.uc, "the same over UC");
	in = (struct am_message){ .failure = true };
	strcpy(in.rdv.text, "no\033cable");
	check(!repack(&in, &out, err, sizeof(err)) && out.failure &&
	      !strcmp(out.rdv.text, "it says \"no?cable\""), "a failure");
	strcpy(in.rdv.text, "x\" (tenant red); \"y");
	check(!repack(&in, &out, err, sizeof(err)) &&
	      !strcmp(out.rdv.text, "it says \"x' (tenant red); 'y\""),
	      "a failure whose words would end like the manager's");
	memset(in.rdv.text, 'x', sizeof(in.rdv.text) - 1);
	in.rdv.text[sizeof(in.rdv.text) - 1] = '\0';
	check(!repack(&in, &out, err, sizeof(err)) &&
	      strlen(out.rdv.text) == 210 && out.rdv.text[209] == '"',
	      "a failure of many words");
	in.rdv.text[0] = '\0';
	check(!repack(&in, &out, err, sizeof(err)) &&
	      !strcmp(out.rdv.text, "it cannot connect"),
	      "a failure without a reason");
	in = (struct am_message){ .rdv.type = INC_RDV_JOINED };
	in.rdv.joined.addr.len = 4;
	in.cm_port = 18792;
	in.cm_member = 1023;
	in.brief = true;
	if (am_manager_pack(&in, &data, &len))
		abort();
	check(!am_manager_unpack(data, len, &out) && out.cm_port == 18792 &&
	      out.cm_member == 1023 && out.brief, "where to connect");
	free(data);
}

static bool is_beat(const struct am_message *msg)
{
	uint8_t *data;
	size_t len;
	bool is;

	if (am_rank_pack(msg, &data, &len))
		abort();
	is = am_rank_is_beat(data, len);
	free(data);
	return is;
}

/* They are told from all others by their bytes. */
static void known_beats(void)
{
	static const enum inc_rdv_type types[] = {
		INC_RDV_JOIN, INC_RDV_RTS, INC_RDV_LEAVE, INC_RDV_LOST,
		INC_RDV_REJOIN, INC_RDV_LOSSY,
	};
	struct am_message msg = { .heartbeat = true }, out;
	char err[256];
	size_t i;

	check(is_beat(&msg), "a heartbeat");
	msg.brief = true;
	check(is_beat(&msg) && !repack(&msg, &out, err, sizeof(err)) &&
	      out.heartbeat, "a short heartbeat");
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		msg = (struct am_message){ .rdv.type = types[i] };
		check(!is_beat(&msg), "what is no heartbeat");
	}
	msg = (struct am_message){ .failure = true };
	check(!is_beat(&msg), "a failure is no heartbeat");
}

/* --- Random inputs ------------------------------------------------------- */

/* A message of a rank, packed, for the mutations to begin with. */
static size_t seed_message(uint8_t *to)
{
	struct am_message msg = { .heartbeat = any(8) == 0 };
	uint8_t *data;
	size_t len;

	msg.rdv.type = INC_RDV_JOIN;
	msg.rdv.join.ranks = any(1100);
	msg.rdv.join.rank = any(1100);
	msg.rdv.join.addr.len = any(2) ? 4 : 16;
	msg.rdv.join.qpn = any(1u << 24);
	snprintf(msg.rdv.join.job, sizeof(msg.rdv.join.job), "job%u", any(9));
	if (any(2))
		snprintf(msg.reservation, sizeof(msg.reservation), "r%u",
			 any(9));
	if (am_rank_pack(&msg, &data, &len))
		abort();
	if (len > INPUT_MAX)
		abort();
	memcpy(to, data, len);
	free(data);
	return len;
}

static size_t seed_text(uint8_t *to, const char *text)
{
	memcpy(to, text, strlen(text));
	return strlen(text);
}

static size_t mutate(uint8_t *data, size_t len)
{
	uint32_t n = any(6);

	while (n--) {
		if (!len || any(4) == 0)
			len = any(INPUT_MAX);
		if (len)
			data[any((uint32_t)len)] = any(3) ? (uint8_t)any(256) :
						   (uint8_t)" \n=#\0"[any(5)];
	}
	return len;
}

static void read_cert(const uint8_t *data, size_t len)
{
	BIO *bio = BIO_new_mem_buf(data, (int)len);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	struct identity id;
	char err[512];

	if (cert)
		identity_of_cert(&id, cert, err, sizeof(err));
	X509_free(cert);
	BIO_free(bio);
}

/* An exact copy, so that AddressSanitizer sees its end. */
static void feed(int kind, const uint8_t *from, size_t len)
{
	uint8_t *data = malloc(len ? len : 1);
	struct am_message msg;
	char err[512];

	memcpy(data, from, len);
	if (kind == 0)
		check((!am_rank_unpack(data, len, &msg, err, sizeof(err)) &&
		       msg.heartbeat) || !am_rank_is_beat(data, len),
		      "bytes of a heartbeat");
	else if (kind == 1)
		am_manager_unpack(data, len, &msg);
	else if (kind == 2)
		parses((char *)data, len);
	else if (kind == 3 && len)
		read_conf((char *)data, len);
	else if (kind == 4)
		read_cert(data, len);
	free(data);
}

static void fuzz(unsigned long inputs)
{
	static const char *const seeds[] = {
		NULL, NULL, "bob blue client " DIGEST "\neve - admin " DIGEST,
		"name = abc\nflag\n# x\nname x",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
	};
	uint8_t data[INPUT_MAX] = { 0 };
	unsigned long i;
	size_t len;
	int kind;

	for (i = 0; i < inputs; i++)
		for (kind = 0; kind < 5; kind++) {
			len = seeds[kind] ? seed_text(data, seeds[kind]) :
					    seed_message(data);
			feed(kind, data, mutate(data, len));
		}
}

int main(void)
{
	const char *seed = getenv("SEED"), *inputs = getenv("INPUTS");
	unsigned long n = inputs ? strtoul(inputs, NULL, 0) : 20000;

	state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
	printf("# seed %llu, %lu inputs of each kind\n",
	       (unsigned long long)state, n);
	fflush(stdout);
	known_tokens();
	known_files();
	known_verify();
	known_broken();
	known_cm();
	known_wishes();
	known_beats();
	known_addresses();
	known_hosts();
	/* The messages about what is wrong are many. */
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	known_conf();
	known_failure();
	fuzz(n);
	printf("%s - what strangers write\n", failures ? "not ok" : "ok");
	return failures ? 1 : 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Packets to the QPs of a tree: mostly what its members would send next, some
 * of them modified. The ICRC is right unless it is the modification, so that
 * other modifications get past it. Trees are replaced every so often, and when
 * too many QPs of one are in error.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/rdma_inc_proto.h>

#include "fuzz.h"

#define ROCE_PORT	4791
#define MAX_PACKET	4500
#define IP_UDP		28

struct bth {
	uint8_t		opcode, flags;
	uint16_t	pkey;
	uint32_t	qpn, psn;	/* AckReq is the top bit of psn */
} __attribute__((__packed__));

struct reth {
	uint64_t	va;
	uint32_t	rkey, len;
} __attribute__((__packed__));

struct packet {
	uint8_t		bytes[MAX_PACKET];
	unsigned int	len;			/* without the ICRC */
	unsigned int	hdr;			/* of the INC header, or 0 */
};

static int raw, listener;
static uint32_t crc_table[256];
static struct tree tree;
enum {
	VALID, FIELD, HEADER, LENGTH, BITS, ICRC, RESPONSE, NOISE, ASK, RESULT,
	KINDS
};

static const char * const kinds[KINDS] = {
	"valid", "field", "header", "length", "bits", "icrc", "response",
	"noise", "question", "result",
};

static unsigned long sent[KINDS], trees, uc_trees, leaves;

static void crc_init(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		crc_table[i] = c;
	}
}

/* IBTA A17.3.3: with ones for fields that a router may change. */
static uint32_t icrc(const uint8_t *p, unsigned int len)
{
	uint32_t crc = 0xdebb20e3;	/* after eight bytes of ones */

	for (unsigned int i = 0; i < len; i++) {
		uint8_t b = p[i];

		if (i == 1 || i == 8 || i == 10 || i == 11 || i == 26 ||
		    i == 27 || i == IP_UDP + 4)
			b = 0xff;
		crc = crc_table[(crc ^ b) & 0xff] ^ crc >> 8;
	}
	return ~crc;
}

static uint16_t ip_sum(const uint8_t *p)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += i == 10 ? 0 : p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void ip_udp(const struct options *o, struct packet *p)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.id = htons(1 + rnd(65535)), .frag_off = htons(IP_DF),
		.tot_len = htons(p->len + 4),
		.saddr = o->host_addr, .daddr = o->switch_addr,
	};
	struct udphdr udp = {
		.source = htons(0xc000 + rnd(4)), .dest = htons(ROCE_PORT),
		.len = htons(p->len + 4 - 20),
	};

	memcpy(p->bytes, &ip, sizeof(ip));
	memcpy(p->bytes + 20, &udp, sizeof(udp));
	ip.check = htons(ip_sum(p->bytes));
	memcpy(p->bytes, &ip, sizeof(ip));
}

static void put(struct packet *p, const void *data, unsigned int len)
{
	memcpy(p->bytes + p->len, data, len);
	p->len += len;
}

static void put_bth(struct packet *p, const struct member *m, uint8_t opcode,
		    uint32_t psn, unsigned int pad)
{
	struct bth bth = {
		.opcode = opcode, .flags = pad << 4, .pkey = 0xffff,
		.qpn = htonl(m->qpn),
		.psn = htonl((psn & 0xffffff) | (uint32_t)!rnd(4) << 31),
	};

	p->len = IP_UDP;
	p->hdr = 0;
	put(p, &bth, sizeof(bth));
}

static void put_header(struct packet *p, const struct member *m, uint32_t nelem)
{
	struct inc_hdr hdr = {
		.version = INC_VERSION,
		.collective = nelem ? INC_COLL_ALLREDUCE : INC_COLL_BARRIER,
		.dtype = INC_DTYPE_INT32, .op = INC_OP_SUM,
		.tree_id = htonl(tree.id), .msg_id = htonl(m->msg_id),
		.nelem = htonl(nelem), .result_rkey = htonl(1),
		.result_va = htobe64(0x1000),
	};

	p->hdr = p->len;
	put(p, &hdr, sizeof(hdr));
}

static const struct {
	bool	reth, imm;
} has[32] = {
	[0x06] = { true, false }, [0x07] = { false, false },
	[0x08] = { false, false }, [0x09] = { false, true },
	[0x0a] = { true, false }, [0x0b] = { true, true },
};

#define UC	0x20

/*
 * Packet @i of @m's next request of @nelem elements. All members send messages
 * of one size, so that they agree.
 */
static bool request(struct packet *p, const struct member *m, uint32_t nelem,
		    unsigned int i)
{
	unsigned int len = 32 + nelem * 4, from = i * tree.pmtu;
	unsigned int n = len - from < tree.pmtu ? len - from : tree.pmtu;
	bool last = from + n == len;
	uint8_t opcode = !i ? last ? 0x0b : 0x06 : last ? 0x09 : 0x07;
	struct reth reth = {
		.va = htobe64((uint64_t)(m->msg_id % tree.slots) *
			      tree.msg_size),
		.rkey = htonl(m->rkey),
		.len = htonl(len),
	};
	uint32_t imm = htonl(m->msg_id & 0xffffff);

	put_bth(p, m, opcode | (m->uc ? UC : 0), m->peer_psn + i, 0);
	if (has[opcode].reth)
		put(p, &reth, sizeof(reth));
	if (has[opcode].imm)
		put(p, &imm, sizeof(imm));
	if (!i)
		put_header(p, m, nelem);
	for (unsigned int left = n - (i ? 0 : 32); left; left -= 4) {
		uint32_t word = rnd(1 << 16);

		put(p, &word, 4);
	}
	return last;
}

/* Query the status of a message: this one, an older or a future one. */
static void question(struct packet *p, const struct member *m)
{
	struct member asking = *m;
	uint16_t flags = htons(INC_HDR_F_QUERY);

	asking.msg_id += rnd(2 * tree.slots + 4) - tree.slots - 2;
	asking.peer_psn += rnd(8) - 4;
	request(p, &asking, 0, 0);
	memcpy(p->bytes + p->hdr + offsetof(struct inc_hdr, flags), &flags, 2);
}

/* As the parent: part of a result, its end, or a status. */
static void result(struct packet *p, const struct member *up)
{
	unsigned int off = rnd(4) ? rnd(tree.msg_size / tree.pmtu) * tree.pmtu :
				    rnd(tree.msg_size);
	unsigned int len = rnd(3) ? 4 * rnd(tree.pmtu / 4 + 1) : 0;
	uint32_t msg_id = tree.m[0].msg_id + rnd(3) - 2;
	uint8_t opcode = rnd(2) ? 0x0b : 0x0a, status = rnd(4) ? 0 : rnd(34);
	uint64_t slot = rnd(8) ? msg_id % tree.slots : rnd(2 * tree.slots);
	uint32_t imm = htonl((uint32_t)status << 24 | (msg_id & 0xffffff));
	struct reth reth = {
		.va = htobe64(slot * tree.msg_size + off),
		.rkey = htonl(up->rkey), .len = htonl(len),
	};

	put_bth(p, up, opcode, up->peer_psn, 0);
	put(p, &reth, sizeof(reth));
	if (opcode == 0x0b)
		put(p, &imm, sizeof(imm));
	for (; len; len -= 4) {
		uint32_t word = rnd(1 << 16);

		put(p, &word, 4);
	}
}

static void response(struct packet *p, const struct member *m)
{
	static const uint8_t syndromes[] = {
		0x1f, 0x1f, 0x1f, 0x00, 0x60, 0x21,
		0x2e, 0x61, 0x62, 0x63, 0x40, 0xff,
	};
	/* A syndrome that ends the QP is rare. */
	unsigned int i = rnd(rnd(50) ? 7 : sizeof(syndromes));
	uint32_t aeth = htonl((uint32_t)syndromes[i] << 24 | rnd(1 << 24));

	put_bth(p, m, 0x11, m->psn + (rnd(8) ? 0 : rnd(64) - 32), 0);
	put(p, &aeth, sizeof(aeth));
}

/* Change a field of the BTH or behind it, by its offset there. */
static void change_field(struct packet *p)
{
	static const uint8_t at[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	unsigned int off = IP_UDP, what = rnd(6);
	static const uint8_t edge[] = { 0, 1, 0x7f, 0x80, 0xff, 0x10, 0x40, 3 };

	if (what == 0)
		p->bytes[off] = rnd(256);
	else if (what == 1)
		p->bytes[off] = 6 + rnd(6);
	else if (what == 2)
		p->bytes[off + 11] += rnd(64) - 32;		/* PSN */
	else if (what == 3)
		p->bytes[off + 1] ^= 1 << rnd(8);
	else if (what == 4)
		p->bytes[off + at[rnd(sizeof(at))]] = edge[rnd(sizeof(edge))];
	else if (p->len > off + 12)
		p->bytes[off + 12 + rnd(p->len - off - 12 < 24 ?
					p->len - off - 12 : 24)] =
			edge[rnd(sizeof(edge))];
}

static void change_header(struct packet *p)
{
	if (p->hdr)
		p->bytes[p->hdr + rnd(32)] = rnd(2) ? rnd(256) : rnd(16);
	else
		change_field(p);
}

/* Not always by 4: add pads, and omit required ones. */
static void change_length(struct packet *p)
{
	unsigned int room = p->len - IP_UDP;

	switch (rnd(4)) {
	case 0:
		p->len = IP_UDP + rnd(room);
		break;
	case 1:
		p->len -= rnd(4) < room ? rnd(4) : 0;
		break;
	case 2:
		memset(p->bytes + p->len, 0x55, 64);
		p->len += rnd(64);
		break;
	case 3:
		p->bytes[IP_UDP + 1] ^= 1 << (4 + rnd(2));
		p->len += rnd(4);
		break;
	}
}

static void flip(struct packet *p)
{
	unsigned int room = p->len - IP_UDP;

	for (unsigned int i = room ? 1 + rnd(8) : 0; i; i--)
		p->bytes[IP_UDP + rnd(room)] ^= 1 << rnd(8);
}

static void noise(struct packet *p, const struct member *m)
{
	struct bth bth;

	p->len = IP_UDP + rnd(400);
	for (unsigned int i = IP_UDP; i < p->len; i++)
		p->bytes[i] = rnd(256);
	if (rnd(2) && p->len >= IP_UDP + sizeof(bth)) {
		memcpy(&bth, p->bytes + IP_UDP, sizeof(bth));
		bth.qpn = htonl(m->qpn);
		bth.pkey = 0xffff;
		memcpy(p->bytes + IP_UDP, &bth, sizeof(bth));
	}
}

static int transmit(const struct options *o, struct packet *p, bool good)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = o->switch_addr };
	uint32_t crc;

	ip_udp(o, p);
	crc = icrc(p->bytes, p->len) ^ (good ? 0 : 1 << rnd(32));
	crc = htole32(crc);
	memcpy(p->bytes + p->len, &crc, 4);
	if (sendto(raw, p->bytes, p->len + 4, 0, (void *)&to, sizeof(to)) >= 0)
		return 0;
	return errno == ENOBUFS || errno == EMSGSIZE ? 0 : -1;
}

/* Packets from the switch: PSNs to acknowledge, and fatal NAKs. */
static void hear(void)
{
	uint8_t b[MAX_PACKET];
	ssize_t n;

	while ((n = recv(listener, b, sizeof(b), MSG_DONTWAIT)) > 0) {
		struct member *m;
		struct bth bth;
		uint32_t rank;

		if (n < (ssize_t)(IP_UDP + sizeof(bth) + 4))
			continue;
		memcpy(&bth, b + IP_UDP, sizeof(bth));
		rank = ntohl(bth.qpn) - OUR_QPN;
		if (rank > tree.ranks || (rank == tree.ranks && !tree.leaf))
			continue;
		m = rank == tree.ranks ? &tree.up : &tree.m[rank];
		if (bth.opcode != 0x11)
			m->psn = ntohl(bth.psn) & 0xffffff;
		else if (b[IP_UDP + 12] >> 5 == 3)
			m->fatal |= b[IP_UDP + 12] != 0x60;
		else if (m == &tree.up && b[IP_UDP + 12] >> 5 == 0)
			m->peer_psn = (ntohl(bth.psn) + 1) & 0xffffff;
	}
}

static bool used_up(void)
{
	unsigned int fatal = tree.up.fatal;

	for (unsigned int i = 0; i < tree.ranks; i++)
		fatal += tree.m[i].fatal;
	/* One in error: the failed tree's other QPs are worth some packets. */
	return fatal >= tree.ranks || (fatal && !rnd(100));
}

/* Send a packet of kind @kind for rank @m; results are modified, too. */
static int one(const struct options *o, struct member *m, unsigned int kind,
	       uint32_t nelem)
{
	static struct packet p;
	unsigned int n = (32 + nelem * 4 + tree.pmtu - 1) / tree.pmtu;
	bool good = true;

	if (tree.leaf && !rnd(4))
		m = &tree.up;
	if (kind == RESULT && m != &tree.up)
		kind = ASK;
	if (kind == RESPONSE)
		response(&p, m);
	else if (kind == NOISE)
		noise(&p, m);
	else if (m == &tree.up)
		result(&p, m);
	else if (kind == ASK)
		question(&p, m);
	else
		request(&p, m, nelem, kind ? rnd(n) : 0);
	switch (kind) {
	case FIELD: change_field(&p); break;
	case HEADER: change_header(&p); break;
	case LENGTH: change_length(&p); break;
	case BITS: flip(&p); break;
	case ICRC: good = false; break;
	case RESPONSE:
		if (!rnd(4))
			change_length(&p);
		break;
	case NOISE: good = rnd(2); break;
	}
	sent[kind]++;
	return transmit(o, &p, good);
}

/* Send a whole request and move on; returns packets, or -1. */
static int whole(const struct options *o, struct member *m, uint32_t nelem)
{
	static struct packet p;
	int n = 0;
	bool last;

	do {
		last = request(&p, m, nelem, n++);
		sent[VALID]++;
		if (transmit(o, &p, true))
			return -1;
	} while (!last);
	m->peer_psn = (m->peer_psn + n) & 0xffffff;
	m->msg_id++;
	return n;
}

/* Choose a modification: fatal ones are rarer than harmless ones. */
static unsigned int some_kind(void)
{
	static const uint8_t often[] = {
		ICRC, ICRC, ICRC, RESPONSE, RESPONSE, RESPONSE, RESPONSE, NOISE,
		NOISE, ASK, RESULT, RESULT,
	};

	return rnd(25) ? often[rnd(sizeof(often))] : FIELD + rnd(4);
}

static long life(const struct options *o, unsigned long most)
{
	uint32_t nelem = rnd((tree.msg_size - 32) / 4 + 1);
	unsigned long done = 0;

	while (done < most) {
		struct member *m = &tree.m[rnd(tree.ranks)];
		/* Wrong packets do no harm to a UC member. */
		unsigned int kind = m->uc && rnd(2) ? FIELD + rnd(4) :
						      some_kind();
		int n = rnd(3) ? one(o, m, kind, nelem) ? -1 : 1 :
				 whole(o, m, nelem);

		if (n < 0)
			return -1;
		done += n;
		hear();
		if (used_up())
			break;
	}
	return done;
}

static int sockets(const struct options *o)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_addr.s_addr = o->host_addr };
	int room = 4 << 20;

	enter(o->host_ns);
	raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	listener = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
	if (raw < 0 || listener < 0 ||
	    bind(listener, (void *)&any, sizeof(any)))
		return -1;
	setsockopt(listener, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	enter(o->switch_ns);
	return control_open();
}

/**
 * fuzz_packets() - send packets
 * @o: options
 *
 * Return: 0, or -1 if something other than the switch is in the way.
 */
int fuzz_packets(const struct options *o)
{
	unsigned long done = 0, refused = 0;	/* in a row */

	crc_init();
	if (sockets(o)) {
		perror("packets: sockets");
		return -1;
	}
	while (done < o->count) {
		long n;

		/* Another process may have used up all memory. */
		if (control_tree(o, &tree)) {
			if (++refused > 1000)
				return -1;
			control_purge();
			continue;
		}
		refused = 0;
		trees++;
		leaves += tree.leaf;
		uc_trees += tree.m[0].uc || tree.m[1].uc || tree.m[2].uc;
		n = life(o, 200 + rnd(3000));
		control_tree_end(&tree);
		if (n < 0) {
			perror("packets: sendto");
			return -1;
		}
		done += n;
	}
	printf("# packets: %lu, trees: %lu, with UC %lu, leaves %lu", done,
	       trees, uc_trees, leaves);
	for (int i = 0; i < KINDS; i++)
		printf(", %s %lu", kinds[i], sent[i]);
	puts("");
	return 0;
}

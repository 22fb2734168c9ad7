/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inc-pktgen: what a bridge host does with the packets of RoCEv2 hosts, alone.
 *
 * The module makes bridge ports, prepares the packets that the hosts behind
 * them would send, gives them to the kernel as a driver does, and takes what
 * comes back. It knows the wire protocol, and nothing of rdma_inc.
 */
#ifndef _INC_PKTGEN_H
#define _INC_PKTGEN_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <linux/udp.h>

#define PG_PORTS_MAX	256
/* CPUs that receive at most. */
#define PG_CPUS		2
#define PG_PMTU_MAX	4096
/* BTH, RETH, Immediate. */
#define PG_TRANSPORT_MAX 32
#define PG_FRAME_MAX	(ETH_HLEN + sizeof(struct iphdr) + \
			 sizeof(struct udphdr) + PG_TRANSPORT_MAX + \
			 PG_PMTU_MAX + 4)
/* Elements of the repeated pattern. */
#define PG_PATTERN	256

/**
 * struct pg_tree - an aggregation tree whose members the module plays
 * @members: by rank
 * @parent: of a child switch: the parent, which the module plays, too; else NULL
 * @sum: the pattern's sum over all ranks, and enough of it again
 * @id: tree ID on the wire
 * @msg_id: next message
 * @msg_size: bytes of a slot
 * @pmtu: bytes of payload in a full packet
 * @slots: number of slots
 * @ranks: number of members
 * @uc: they have UC QPs
 */
struct pg_tree {
	struct pg_member	*members;
	struct pg_member	*parent;
	__le32			*sum;
	u32			id;
	u32			msg_id;
	u32			msg_size;
	u32			pmtu;
	u32			slots;
	u32			ranks;
	bool			uc;
};

/**
 * struct pg_member - a host's QP
 * @tree: its tree
 * @dev: port that its host is behind
 * @addr: IPv4 address of the host, which its MAC address is made of
 * @local: IPv4 address of the switch
 * @qpn: QPN of the host
 * @peer_qpn: QPN of the switch
 * @rkey: R_Key of the requests
 * @psn: next PSN to send
 * @epsn: PSN expected next
 * @msn: messages received
 * @rank: rank
 * @up: a parent: the request that it receives
 * @up.msg_id: its message
 * @up.off: bytes of its data so far
 * @up.va: where the result goes
 * @up.rkey: and its R_Key
 */
struct pg_member {
	struct pg_tree		*tree;
	struct net_device	*dev;
	__be32			addr;
	__be32			local;
	u32			qpn;
	u32			peer_qpn;
	u32			rkey;
	u32			psn;
	u32			epsn;
	u32			msn;
	u32			rank;
	struct {
		u32		msg_id;
		u32		off;
		u64		va;
		u32		rkey;
	} up;
};

/**
 * struct pg_counts - what came back
 * @bytes: bytes of results
 * @results: packets of results
 * @acks: acknowledgments
 * @forwarded: packets to other hosts
 * @repeats: packets of results that had arrived before
 * @wrong: packets that should not be: NAKs, gaps, wrong payload, wrong ICRC
 */
struct pg_counts {
	u64	bytes;
	u64	results;
	u64	acks;
	u64	forwarded;
	u64	repeats;
	u64	wrong;
};

/**
 * struct pg_request - which packet of which request
 * @msg_id: message
 * @len: bytes of the message's data
 * @index: packet of it
 * @frag: bytes of a page fragment; 0 if the packet is linear
 */
struct pg_request {
	u32	msg_id;
	u32	len;
	u32	index;
	u32	frag;
};

/**
 * struct pg_reply - what a packet is answered with
 * @m: the host's QP
 * @ack: it is acknowledged
 * @psn: with this PSN
 * @off: from a parent: part of the result, which begins there
 * @len: and has so many bytes; 0: there is none
 * @last: it is the last one
 */
struct pg_reply {
	struct pg_member	*m;
	bool			ack;
	u32			psn;
	u32			off;
	u32			len;
	bool			last;
};

int pg_ports_make(unsigned int n);
void pg_ports_remove(void);
struct net_device *pg_port(unsigned int i);
struct sk_buff *pg_port_sent(struct net_device *dev);

void pg_packet_init(void);
int pg_packet_sums(struct pg_tree *tree);
u32 pg_packet_count(const struct pg_tree *tree, u32 len);
struct sk_buff *pg_packet_request(struct pg_member *m,
				  const struct pg_request *r);
struct sk_buff *pg_packet_ack(struct pg_member *m, u32 psn);
struct sk_buff *pg_packet_result(const struct pg_reply *r, u32 frag);
struct pg_member *pg_packet_member(const struct sk_buff *skb);
void pg_packet_address(struct sk_buff *skb, const struct pg_member *to);
bool pg_packet_check(const struct sk_buff *skb, struct pg_counts *c,
		     struct pg_reply *r);

struct pg_tree *pg_tree_add(u32 ranks, u32 slots, u32 msg_size, u32 pmtu,
			    bool uc);
struct pg_member *pg_tree_add_parent(u32 tree);
struct pg_member *pg_tree_member(u32 tree, u32 rank);
struct pg_member *pg_member_by_qpn(u32 qpn);
void pg_trees_remove(void);

/**
 * enum pg_kind - what is measured
 * @PG_TREE: requests to a tree
 * @PG_FORWARD: the same packets to the next host instead
 * @PG_CRC: the same, and a CRC of each
 * @PG_LAST: requests to a tree, and only the time from the last rank's of a message
 * until its last result is sent
 */
enum pg_kind {
	PG_TREE,
	PG_FORWARD,
	PG_CRC,
	PG_LAST,
};

/**
 * enum pg_split - which CPU receives a packet
 * @PG_ONE: the one that measures
 * @PG_BY_RANK: a second one those of the upper half of the ranks
 * @PG_BY_TREE: a second one those of every other tree
 * @PG_SPLITS: how many there are
 */
enum pg_split {
	PG_ONE,
	PG_BY_RANK,
	PG_BY_TREE,
	PG_SPLITS,
};

/**
 * struct pg_run - a measurement
 * @kind: what is measured
 * @first: first tree
 * @trees: number of trees, used in turns, a message each
 * @len: bytes of a message's data
 * @msgs: messages of a round
 * @rounds: number of rounds
 * @frag: as in struct pg_request
 * @ahead: packets prepared at a time
 * @split: which CPU receives them
 * @next: messages made
 * @late: times that results did not come at once
 * @due: bytes of results that should have come
 * @packets: packets of a round
 * @began: PG_LAST: when the last rank's request was received
 * @ended: when the last packet was sent that has been taken from a port
 * @sample: cycles per packet of each round; PG_LAST: of the time of each message
 * @counts: what came back
 */
struct pg_run {
	enum pg_kind		kind;
	u32			first;
	u32			trees;
	u32			len;
	u32			msgs;
	u32			rounds;
	u32			frag;
	u32			ahead;
	enum pg_split		split;
	u32			next;
	u32			late;
	u64			due;
	u32			packets;
	u64			began;
	u64			ended;
	u32			*sample;
	struct pg_counts	counts;
};

int pg_second_start(void);
void pg_second_stop(void);
bool pg_second_is_here(void);
void pg_second_call(void (*fn)(void *arg), void *arg);
void pg_second_wait(void);

int pg_run(struct pg_run *run);

/**
 * pg_cycles() - read the clock
 *
 * Context: any.
 * Return: cycles of the time stamp counter; nanoseconds if there is none.
 */
static inline u64 pg_cycles(void)
{
#ifdef CONFIG_X86_64
	/* User-Mode Linux has no get_cycles(). */
	return __builtin_ia32_rdtsc();
#else
	return ktime_get_mono_fast_ns();
#endif
}

#endif /* _INC_PKTGEN_H */

/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The lines that ranks and the rendezvous daemon say to each other
 * (Documentation/rendezvous.rst): JSON objects to and from structs. No I/O.
 * Used by libinc and by inc-tool's daemon.
 */
#ifndef INC_LIB_RDV_H
#define INC_LIB_RDV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define INC_RDV_VERSION		1
/* The newest INC header that switches of this source take: INC_VERSION. */
#define INC_RDV_HEADER		1
/* How collectives are cut into messages: Documentation/mapping.rst. */
#define INC_RDV_MAPPING		1
#define INC_RDV_PORT		"18791"
#define INC_RDV_LINE_MAX	2048	/* bytes, newline included */
#define INC_RDV_JOB_MAX		63	/* characters */
#define INC_RDV_TEXT_MAX	512

/*
 * The daemon says "alive" to a UC rank so many times per dead time. Whoever has not
 * had that many, or their acknowledgment, takes the other one for dead.
 */
#define INC_RDV_BEATS		5
#define INC_RDV_BEATS_MISSED	5

/**
 * struct inc_rdv_addr - address of a GID
 * @len: 4 (IPv4) or 16 (IPv6); 0: none
 * @bytes: network byte order
 */
struct inc_rdv_addr {
	unsigned int	len;
	uint8_t		bytes[16];
};

/**
 * struct inc_rdv_tree - wanted settings of the tree, 0: no wish
 * @slots: number of slots
 * @msg_size: longest message, bytes
 * @pmtu: path MTU, bytes
 * @has_first_msg_id: @first_msg_id is a wish
 * @first_msg_id: message ID of the first message
 */
struct inc_rdv_tree {
	uint32_t	slots;
	uint32_t	msg_size;
	uint32_t	pmtu;
	bool		has_first_msg_id;
	uint32_t	first_msg_id;
};

/**
 * struct inc_rdv_join - a rank wants to join a job
 * @job: name of the job
 * @ranks: number of ranks that it will have
 * @rank: rank of this one
 * @addr: address of its GID
 * @qpn: its QPN
 * @psn: first PSN that it sends
 * @mtu: active MTU of its port, bytes; 0: not said
 * @uc: its queue pair is UC, else RC
 * @rts: it will say INC_RDV_RTS
 * @wrong: it knows INC_RDV_WRONG
 * @tree: what it wants the tree to be
 */
struct inc_rdv_join {
	char			job[INC_RDV_JOB_MAX + 1];
	uint32_t		ranks;
	uint32_t		rank;
	struct inc_rdv_addr	addr;
	uint32_t		qpn;
	uint32_t		psn;
	uint32_t		mtu;
	bool			uc;
	bool			rts;
	bool			wrong;
	struct inc_rdv_tree	tree;
};

/**
 * struct inc_rdv_joined - the daemon's answer: what the rank needs
 * @tree_id: tree
 * @addr: address of the switch
 * @qpn: QPN of the switch's queue pair
 * @psn: first PSN that the switch sends
 * @rkey: R_Key of the slots
 * @slots: number of slots
 * @msg_size: stride of the slots and longest message, bytes
 * @pmtu: path MTU, bytes
 * @first_msg_id: message ID of the first message
 * @dead_time: milliseconds after which the switch takes a silent rank for dead
 * @collectives: mask of offered collectives
 * @dtypes: mask of offered data types
 * @ops: mask of offered operations
 * @traffic_class: of the switch's packets to the rank, and the rank's to it
 * @rts: the daemon waits for INC_RDV_RTS, if the rank said that it will come
 * @wrong: it says INC_RDV_WRONG, if the rank knows that
 */
struct inc_rdv_joined {
	uint32_t		tree_id;
	struct inc_rdv_addr	addr;
	uint32_t		qpn;
	uint32_t		psn;
	uint32_t		rkey;
	uint32_t		slots;
	uint32_t		msg_size;
	uint32_t		pmtu;
	uint32_t		first_msg_id;
	uint32_t		dead_time;
	uint32_t		collectives;
	uint32_t		dtypes;
	uint32_t		ops;
	uint32_t		traffic_class;
	bool			rts;
	bool			wrong;
};

/**
 * struct inc_rdv_placed - which ranks a leaf has, and what its tree has to be
 * @first: first rank
 * @count: how many
 * @tree: settings, all of them if there are more ranks than that
 */
struct inc_rdv_placed {
	uint32_t		first;
	uint32_t		count;
	struct inc_rdv_tree	tree;
};

enum inc_rdv_type {
	/* rank to daemon */
	INC_RDV_JOIN,
	INC_RDV_RTS,
	INC_RDV_LEAVE,
	INC_RDV_LOST,
	/* daemon to rank */
	INC_RDV_JOINED,
	INC_RDV_READY,
	INC_RDV_LEFT,
	INC_RDV_FAILED,
	INC_RDV_BYE,
	INC_RDV_ERROR,
	INC_RDV_ALIVE,
	INC_RDV_WRONG,
	/* a leaf's daemon to the parent's */
	INC_RDV_GATHER,
	INC_RDV_RETRACT,
	INC_RDV_LINK,		/* and INC_RDV_RTS */
	/* and back */
	INC_RDV_PLACED,
	INC_RDV_LINKED,
};

/**
 * struct inc_rdv_msg - any line
 * @type: which
 * @join: if INC_RDV_JOIN; INC_RDV_GATHER and INC_RDV_RETRACT: without addr, qpn and
 *	psn; INC_RDV_LINK: these three and rts alone
 * @joined: if INC_RDV_JOINED or INC_RDV_LINKED
 * @placed: if INC_RDV_PLACED
 * @rank: if INC_RDV_LEFT, INC_RDV_FAILED or INC_RDV_WRONG: which rank; -1: none in
 *	particular
 * @status: if INC_RDV_FAILED: enum inc_status that the tree answers with; if
 *	INC_RDV_WRONG: that @msg_id has ended with
 * @msg_id: if INC_RDV_WRONG: message
 * @err: if INC_RDV_ERROR: positive errno value
 * @text: if INC_RDV_FAILED, INC_RDV_ERROR or INC_RDV_WRONG: what happened
 */
struct inc_rdv_msg {
	enum inc_rdv_type	type;
	union {
		struct inc_rdv_join	join;
		struct inc_rdv_joined	joined;
		struct inc_rdv_placed	placed;
		struct {
			int		rank;
			unsigned int	status;
			uint32_t	msg_id;
			int		err;
			char		text[INC_RDV_TEXT_MAX];
		};
	};
};

/**
 * struct inc_rdv_lines - bytes of a connection, cut into lines
 * @used: bytes in @data
 * @data: what was received and not yet taken
 */
struct inc_rdv_lines {
	size_t	used;
	char	data[INC_RDV_LINE_MAX];
};

int inc_rdv_parse(const char *line, struct inc_rdv_msg *msg, char *err,
		  size_t err_len);
int inc_rdv_format(const struct inc_rdv_msg *msg, char *line, size_t len);

char *inc_rdv_space(struct inc_rdv_lines *lines, size_t *len);
void inc_rdv_added(struct inc_rdv_lines *lines, size_t len);
int inc_rdv_line(struct inc_rdv_lines *lines, char *line, size_t len);

const char *inc_rdv_addr_str(const struct inc_rdv_addr *addr, char *buf,
			     size_t len);
int inc_rdv_addr_parse(const char *text, struct inc_rdv_addr *addr);
int inc_rdv_addr_from_sockaddr(const struct sockaddr *sa,
			       struct inc_rdv_addr *addr);

#endif /* INC_LIB_RDV_H */

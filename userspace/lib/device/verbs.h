/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Verbs devices, GIDs and the states of an RC or UC queue pair. Used by libinc
 * and inc-rtt; independent of trees and messages.
 */
#ifndef INC_LIB_VERBS_H
#define INC_LIB_VERBS_H

#include <errno.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "cause.h"
#include "hca.h"
#include "rendezvous/proto.h"

/**
 * struct inc_dev - an open device and the GID in use
 * @hca: device, shared
 * @ctx: its verbs context
 * @port: port number
 * @gid_index: index of the GID
 * @addr: address in the GID
 * @mtu: active MTU of the port in bytes
 * @queue: length of the network device's queue in packets; 0: unknown
 */
struct inc_dev {
	struct inc_hca		*hca;
	struct ibv_context	*ctx;
	uint8_t			port;
	int			gid_index;
	struct inc_rdv_addr	addr;
	unsigned int		mtu;
	unsigned int		queue;
};

/**
 * struct inc_rc - parameters to connect a queue pair to its peer
 * @addr: address of the peer's GID
 * @qpn: peer's QPN
 * @rq_psn: first PSN that the peer sends
 * @sq_psn: first PSN that we send
 * @pmtu: path MTU in bytes
 * @timeout: local ACK timeout exponent; RC
 * @traffic_class: traffic class of packets to the peer
 */
struct inc_rc {
	struct inc_rdv_addr	addr;
	uint32_t		qpn;
	uint32_t		rq_psn;
	uint32_t		sq_psn;
	unsigned int		pmtu;
	unsigned int		timeout;
	unsigned int		traffic_class;
};

/* Error of a failed libibverbs call; some providers leave errno unset. */
static inline int inc_verbs_errno(void)
{
	return errno ? -errno : -EIO;
}

int inc_dev_open(struct inc_dev *dev, const struct inc_dev_sel *sel, char *err,
		 size_t err_len);
void inc_dev_close(struct inc_dev *dev);
int inc_dev_check_mtu(const struct inc_dev *dev,
		      const struct inc_rdv_addr *peer, unsigned int pmtu,
		      char *err, size_t err_len);
int inc_dev_check_path(const struct inc_dev *dev,
		       const struct inc_rdv_addr *peer, unsigned int pmtu,
		       char *err, size_t err_len);

int inc_qp_to_init(struct ibv_qp *qp, const struct inc_dev *dev);
int inc_qp_to_rts(struct ibv_qp *qp, const struct inc_dev *dev,
		  const struct inc_rc *rc, char *err, size_t err_len);
void inc_qp_to_err(struct ibv_qp *qp);

#endif /* INC_LIB_VERBS_H */

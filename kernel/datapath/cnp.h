/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _INC_DATAPATH_CNP_H
#define _INC_DATAPATH_CNP_H

struct inc_pkt;
struct inc_qp;

void inc_cnp_note(struct inc_qp *qp);
void inc_cnp_rx(struct inc_qp *qp, const struct inc_pkt *pkt);

#endif /* _INC_DATAPATH_CNP_H */

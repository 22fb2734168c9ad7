/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The rtt command, which needs no switch. */
#ifndef INC_PERF_RTT_H
#define INC_PERF_RTT_H

int rtt_main(int argc, char **argv);

#endif /* INC_PERF_RTT_H */

/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_PERF_DIFF_H
#define INC_PERF_DIFF_H

int diff_main(int argc, char **argv);

#endif /* INC_PERF_DIFF_H */

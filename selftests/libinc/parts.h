/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The parts of live.c, a file each. */
#ifndef PARTS_H
#define PARTS_H

int live_threads(int rank, int nranks, int argc, char **argv);
int live_ranks(int proc, int nprocs, int argc, char **argv);
int live_change(int rank, int nranks, int argc, char **argv);
int live_steady(int rank, int nranks, int argc, char **argv);
int live_rails(int rank, int nranks, int argc, char **argv);

#endif /* PARTS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Device memory of accel.c, and where tests can read it. */
#ifndef SELFTESTS_MPI_ACCEL_H
#define SELFTESTS_MPI_ACCEL_H

#include <stdint.h>

#define DEVICE		((uintptr_t)0x600000000000)
#define SHADOW		((uintptr_t)0x610000000000)
#define DEVICE_SIZE	((uintptr_t)16 << 20)

#endif /* SELFTESTS_MPI_ACCEL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the fuzz targets.
 */
#ifndef _UNIT_FUZZ_H
#define _UNIT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define require(cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "# line %d: %s\n", __LINE__, #cond);	\
		abort();						\
	}								\
} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* _UNIT_FUZZ_H */

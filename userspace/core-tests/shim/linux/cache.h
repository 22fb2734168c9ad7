/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_CACHE_H
#define _SHIM_LINUX_CACHE_H

#define __ro_after_init
#define SMP_CACHE_BYTES	64

#endif

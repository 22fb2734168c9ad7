/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_INIT_H
#define _SHIM_LINUX_INIT_H

#define __init
#define __exit

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _INC_NETNS_H
#define _INC_NETNS_H

int inc_netns_init(void);
void inc_netns_exit(void);

#endif /* _INC_NETNS_H */

/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The NETCONF client, so far as the manager needs one. Only netconf.c knows the
 * library. A session may be used by one thread at a time.
 */
#ifndef INC_MANAGER_NETCONF_H
#define INC_MANAGER_NETCONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libyang/libyang.h>

#define NETCONF_ERROR_LEN	512

struct netconf;

/**
 * struct netconf_target - address of a switch's agent
 * @path: UNIX socket; empty: SSH or TLS
 * @tls: TLS, not SSH
 * @user: SSH: user
 * @host: SSH, TLS: host
 * @port: SSH, TLS: port
 * @key: SSH: file with the private key; empty: none
 * @cert: TLS: file with the manager's certificate
 * @cert_key: TLS: file with its private key
 * @ca: TLS: file with the authority of the agents' certificates
 * @known_hosts: SSH: file with the hosts' keys; empty: any key is accepted
 */
struct netconf_target {
	char		path[108];
	bool		tls;
	char		user[64];
	char		host[256];
	uint16_t	port;
	char		key[256];
	char		known_hosts[256];
	const char	*cert;
	const char	*cert_key;
	const char	*ca;
};

int netconf_target_parse(struct netconf_target *t, const char *text);
int netconf_target_cmp(const struct netconf_target *a,
		       const struct netconf_target *b);
struct netconf *netconf_open(const struct netconf_target *t, char *err);
void netconf_close(struct netconf *n);
int netconf_fd(const struct netconf *n);
int netconf_edit(struct netconf *n, const char *config, char *err);
const char *netconf_error_path(const struct netconf *n);
int netconf_act(struct netconf *n, const char *action, char *err);
int netconf_get(struct netconf *n, const char *filter, struct lyd_node **data,
		char *err);
void netconf_free(struct lyd_node *data);
int netconf_subscribe(struct netconf *n, char *err);
int netconf_notif(struct netconf *n, int timeout_ms, struct lyd_node **notif);


#endif /* INC_MANAGER_NETCONF_H */

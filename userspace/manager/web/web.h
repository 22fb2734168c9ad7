/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The web page and Prometheus' metrics. http.c is the server, in a thread of
 * its own: it only serves published texts, so no client can keep the manager
 * from its work. publish.c makes these texts, once a second.
 */
#ifndef INC_MANAGER_WEB_H
#define INC_MANAGER_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEB_ADDRESS	"127.0.0.1:18789"

struct http;
struct manager;
struct MHD_Connection;
struct MHD_Response;
struct names;
struct rpc;
struct ssl_ctx_st;
struct stats;
struct web;

struct web *web_start(struct manager *m, struct stats *st, const char *address,
		      char *err, size_t len);
void web_publish(struct web *web);
void web_stop(struct web *web);

/* http.c */
struct http *http_start(const char *address, struct rpc *gate, char *err,
			size_t len);
void http_renew(struct http *h);
void http_publish(struct http *h, char *state, char *metrics);
void http_publish_history(struct http *h, char *history);
void http_stop(struct http *h);

/**
 * struct web_file - a file of the page, which is part of the program
 * @path: its path
 * @type: its media type
 * @data: its bytes
 * @end: the first byte after it
 */
struct web_file {
	const char	*path;
	const char	*type;
	const char	*data;
	const char	*end;
};

/* gate.c */
void gate_pem(struct ssl_ctx_st *tls, char **cert, char **key);
char *gate_token(struct MHD_Connection *conn);
void gate_forget(char *token);
bool gate_admits(struct rpc *rpc, struct MHD_Connection *conn);

/* names.c */
struct names *names_start(void);
void names_get(struct names *all, const char *addr, char *buf, size_t len);
void names_stop(struct names *all);

/* files.c */
extern const struct web_file web_files[];

#endif /* INC_MANAGER_WEB_H */

/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * inc-amctl. main.c has the command line and the table of objects; each object has
 * a file of its own, words.c has common parts, ask.c sends requests, rpc.c is gRPC.
 */
#ifndef INC_MANAGER_AMCTL_H
#define INC_MANAGER_AMCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/* Exit status, as inc-tool's. */
enum {
	CTL_OK,
	CTL_USAGE,
	CTL_REFUSED,	/* the manager has refused, or was not reached; no output */
};

/**
 * struct ctl_object - a kind of objects that inc-amctl shows or changes
 * @name: its name
 * @usage: text of "inc-amctl NAME help"
 * @keywords: words that take a value, ended by NULL; or NULL
 * @run: runs it with the arguments after the name; returns the exit status
 */
struct ctl_object {
	const char	*name;
	const char	*usage;
	const char	*const *keywords;
	int		(*run)(int argc, char **argv);
};

/* Defined in group.c, topology.c, event.c, task.c, quota.c, reserve.c. */
extern const struct ctl_object ctl_topology, ctl_group, ctl_switch, ctl_client,
	ctl_event, ctl_task, ctl_why, ctl_quota, ctl_reservation;

/* words.c */
extern bool ctl_json;
extern bool ctl_pretty;
extern const char *ctl_manager;	/* one, or several separated by commas */
int ctl_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool ctl_is(const char *word, const char *name);
bool ctl_is_show(const char *word);

/* ask.c */
int ctl_check_managers(void);
ProtobufCMessage *ctl_ask(const char *method, const ProtobufCMessage *req,
			  const ProtobufCMessageDescriptor *type);
int ctl_show(const char *method, const ProtobufCMessage *req,
	     const ProtobufCMessageDescriptor *type, const char *list,
	     void (*print)(const ProtobufCMessage *msg));
int ctl_follow(const char *method, const ProtobufCMessage *req,
	       const ProtobufCMessageDescriptor *type,
	       void (*print)(const ProtobufCMessage *msg));
void ctl_free(ProtobufCMessage *msg);
void ctl_print_json(const ProtobufCMessage *msg, const char *list);
void ctl_print_line(const ProtobufCMessage *msg);

/* rpc.c */
bool amctl_check(char *err, size_t err_len);
int amctl_call(const char *manager, int fd, const char *method,
	       int timeout_ms, const uint8_t *in, size_t in_len,
	       bool (*got)(void *ctx, const uint8_t *data, size_t len),
	       void *ctx, char *err, size_t err_len);

#endif /* INC_MANAGER_AMCTL_H */

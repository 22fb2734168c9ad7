// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The database of several managers: etcd. The leader is the owner of the lease of the
 * key "leader", which etcd deletes when the lease is not renewed for TTL seconds.
 * Each write is conditional on this key's revision: a manager that has lost the lead
 * without knowing it writes nothing. A leader that resigns sets the key "resigned",
 * which the next one deletes: without that key, the previous leader may hang.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/address.h"
#include "loop/loop.h"
#include "etcd.pb-c.h"
#include "store/client.h"
#include "store/db.h"

#define PREFIX		"/rdma_inc/"
#define LEADER		PREFIX "leader"
#define RESIGNED	PREFIX "resigned"
#define TTL		2	/* seconds; etcd's defaults refuse less */
#define TTL_MAX		3600
#define LEAD_MS		250	/* between renewals, or attempts */
#define CALL_MS		700
#define SERVERS_MAX	8

/**
 * struct etcd - the database
 * @db: base
 * @servers: clients of the servers
 * @n: number of @servers
 * @current: server that answered last
 * @self: address of this manager
 * @lease: its lease, 0: none
 * @revision: revision at which it became the leader; 0: it is not
 * @prev_resigned: the previous leader has resigned
 */
struct etcd {
	struct store_db		db;
	struct client		*servers[SERVERS_MAX];
	unsigned int		n;
	unsigned int		current;
	char			self[STORE_NAME_MAX + 1];
	int64_t			lease;
	int64_t			revision;
	bool			prev_resigned;
};

static struct etcd *from_db(struct store_db *db)
{
	return container_of(db, struct etcd, db);
}

static ProtobufCBinaryData bytes_of(const char *text)
{
	return (ProtobufCBinaryData) {
		.len = strlen(text),
		.data = (uint8_t *)text,
	};
}

/* Try one server after another. Returns the answer, or NULL with @ret. */
static void *ask_servers(struct etcd *e, const char *path,
			 const ProtobufCMessage *req,
			 const ProtobufCMessageDescriptor *type, int *ret,
			 char *err)
{
	size_t n = protobuf_c_message_get_packed_size(req), len = 0;
	uint8_t *in = malloc(n + 1), *out = NULL;
	ProtobufCMessage *msg = NULL;
	unsigned int i;

	*ret = in ? -EHOSTUNREACH : store_failed(err, -ENOMEM, "no memory");
	if (in)
		protobuf_c_message_pack(req, in);
	for (i = 0; in && i < e->n; i++) {
		*ret = client_call(e->servers[e->current], path, CALL_MS, in, n,
				   &out, &len, err);
		if (*ret != -EHOSTUNREACH)
			break;
		e->current = (e->current + 1) % e->n;
	}
	if (!*ret)
		msg = protobuf_c_message_unpack(type, NULL, len, out);
	if (!*ret && !msg)
		*ret = store_failed(err, -EPROTO, "etcd: its answer cannot be read");
	free(in);
	free(out);
	return msg;
}

/* --- Records ------------------------------------------------------------- */

/* Make a change if, and only if, this manager leads. */
static int change_key(struct etcd *e, Etcdserverpb__RequestOp *op, char *err)
{
	Etcdserverpb__TxnRequest txn = ETCDSERVERPB__TXN_REQUEST__INIT;
	Etcdserverpb__Compare cmp = ETCDSERVERPB__COMPARE__INIT;
	Etcdserverpb__Compare *cmps[] = { &cmp };
	Etcdserverpb__TxnResponse *ans;
	int ret;

	if (!e->revision)
		return store_failed(err, -ESTALE, "this manager does not lead");
	cmp.target = ETCDSERVERPB__COMPARE__COMPARE_TARGET__CREATE;
	cmp.key = bytes_of(LEADER);
	cmp.target_union_case =
		ETCDSERVERPB__COMPARE__TARGET_UNION_CREATE_REVISION;
	cmp.create_revision = e->revision;
	txn.n_compare = 1;
	txn.compare = cmps;
	txn.n_success = 1;
	txn.success = &op;
	ans = ask_servers(e, "/etcdserverpb.KV/Txn", &txn.base,
			  &etcdserverpb__txn_response__descriptor, &ret, err);
	if (!ans)
		return ret;
	if (!ans->succeeded) {
		e->revision = 0;
		ret = store_failed(err, -ESTALE, "another manager leads");
	}
	etcdserverpb__txn_response__free_unpacked(ans, NULL);
	return ret;
}

static int put_key(struct store_db *db, const char *key, const uint8_t *data,
		   size_t len, char *err)
{
	Etcdserverpb__PutRequest req = ETCDSERVERPB__PUT_REQUEST__INIT;
	Etcdserverpb__RequestOp op = ETCDSERVERPB__REQUEST_OP__INIT;
	char full[sizeof(PREFIX) + STORE_KEY_MAX];

	snprintf(full, sizeof(full), PREFIX "%s", key);
	req.key = bytes_of(full);
	req.value.data = (uint8_t *)data;
	req.value.len = len;
	op.request_case = ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_PUT;
	op.request_put = &req;
	return change_key(from_db(db), &op, err);
}

static int del_key(struct store_db *db, const char *key, char *err)
{
	Etcdserverpb__DeleteRangeRequest req =
		ETCDSERVERPB__DELETE_RANGE_REQUEST__INIT;
	Etcdserverpb__RequestOp op = ETCDSERVERPB__REQUEST_OP__INIT;
	char full[sizeof(PREFIX) + STORE_KEY_MAX];

	snprintf(full, sizeof(full), PREFIX "%s", key);
	req.key = bytes_of(full);
	op.request_case =
		ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE;
	op.request_delete_range = &req;
	return change_key(from_db(db), &op, err);
}

static bool is_ours(const Etcdserverpb__KeyValue *kv)
{
	size_t len = strlen(PREFIX);

	return kv->key.len > len && !memcmp(kv->key.data, PREFIX, len);
}

static struct store_record *record_new(const Etcdserverpb__KeyValue *kv)
{
	size_t skip = sizeof(PREFIX) - 1;
	char key[STORE_KEY_MAX + 1];
	struct store_record *r;

	snprintf(key, sizeof(key), "%.*s", (int)(kv->key.len - skip),
		 (const char *)kv->key.data + skip);
	r = store_record_new(key, kv->value.data, kv->value.len);
	if (r)
		r->version = (uint64_t)kv->version;
	return r;
}

static int list_keys(struct store_db *db, const char *prefix,
		     struct store_record **result, char *err)
{
	Etcdserverpb__RangeRequest req = ETCDSERVERPB__RANGE_REQUEST__INIT;
	struct store_record **tail = result, *r;
	char from[sizeof(PREFIX) + STORE_KEY_MAX], to[sizeof(from)];
	Etcdserverpb__RangeResponse *ans;
	size_t i, len;
	int ret;

	*result = NULL;
	len = (size_t)snprintf(from, sizeof(from), PREFIX "%s", prefix);
	memcpy(to, from, sizeof(from));
	/* End of the range: the first key without this prefix. */
	to[len - 1]++;
	req.key = bytes_of(from);
	req.range_end = bytes_of(to);
	ans = ask_servers(from_db(db), "/etcdserverpb.KV/Range", &req.base,
			  &etcdserverpb__range_response__descriptor, &ret, err);
	for (i = 0; ans && i < ans->n_kvs; i++) {
		if (ans->kvs[i]->key.len == strlen(LEADER) &&
		    !memcmp(ans->kvs[i]->key.data, LEADER, strlen(LEADER)))
			continue;
		if (!is_ours(ans->kvs[i])) {
			ret = store_failed(err, -EPROTO, "etcd: it lists what was not asked for");
			break;
		}
		r = record_new(ans->kvs[i]);
		if (!r) {
			ret = store_failed(err, -ENOMEM, "no memory");
			break;
		}
		*tail = r;
		tail = &r->next;
	}
	etcdserverpb__range_response__free_unpacked(ans, NULL);
	if (!ret)
		return 0;
	store_list_free(*result);
	*result = NULL;
	return ret;
}

/* --- Leading ------------------------------------------------------------- */

/* Get a lease, or renew it. Returns its time to live in milliseconds. */
static int64_t renew_lease(struct etcd *e, int *ret, char *err)
{
	Etcdserverpb__LeaseGrantRequest grant =
		ETCDSERVERPB__LEASE_GRANT_REQUEST__INIT;
	Etcdserverpb__LeaseRequest keep = ETCDSERVERPB__LEASE_REQUEST__INIT;
	Etcdserverpb__LeaseResponse *ans;
	int64_t ttl;

	grant.ttl = TTL;
	keep.id = e->lease;
	ans = ask_servers(e, e->lease ? "/etcdserverpb.Lease/LeaseKeepAlive" :
			  "/etcdserverpb.Lease/LeaseGrant",
			  e->lease ? &keep.base : &grant.base,
			  &etcdserverpb__lease_response__descriptor, ret, err);
	if (!ans)
		return 0;
	ttl = ans->ttl < TTL_MAX ? ans->ttl * 1000 : TTL_MAX * 1000;
	if (ttl <= 0) {
		/* The lease has run out: the next call gets a new one. */
		e->lease = 0;
		e->revision = 0;
		*ret = store_failed(err, -ESTALE, "etcd: the lease has run out");
	} else {
		e->lease = ans->id;
	}
	etcdserverpb__lease_response__free_unpacked(ans, NULL);
	return ttl;
}

/* Read the leader's address, unless this manager leads. */
static void read_leader(struct etcd *e, const Etcdserverpb__TxnResponse *ans,
			struct store_lead *l)
{
	const Etcdserverpb__RangeResponse *range;
	const Etcdserverpb__KeyValue *kv;

	if (ans->n_responses != 1 || ans->responses[0]->response_case !=
	    ETCDSERVERPB__RESPONSE_OP__RESPONSE_RESPONSE_RANGE)
		return;
	range = ans->responses[0]->response_range;
	if (!range || range->n_kvs != 1)
		return;
	kv = range->kvs[0];
	/* The answer to this manager's own request may have been lost. */
	if (kv->lease == e->lease)
		e->revision = kv->create_revision;
	else
		snprintf(l->leader, sizeof(l->leader), "%.*s",
			 (int)kv->value.len, (const char *)kv->value.data);
}

/* Has the previous leader resigned? */
static bool has_resigned(const Etcdserverpb__TxnResponse *ans)
{
	const Etcdserverpb__ResponseOp *op;

	if (ans->n_responses != 2)
		return false;
	op = ans->responses[1];
	return op->response_case ==
	       ETCDSERVERPB__RESPONSE_OP__RESPONSE_RESPONSE_DELETE_RANGE &&
	       op->response_delete_range->deleted;
}

/* Become the leader if there is none. */
static int run_campaign(struct etcd *e, struct store_lead *l, char *err)
{
	Etcdserverpb__TxnRequest txn = ETCDSERVERPB__TXN_REQUEST__INIT;
	Etcdserverpb__Compare cmp = ETCDSERVERPB__COMPARE__INIT;
	Etcdserverpb__PutRequest write = ETCDSERVERPB__PUT_REQUEST__INIT;
	Etcdserverpb__RangeRequest read = ETCDSERVERPB__RANGE_REQUEST__INIT;
	Etcdserverpb__DeleteRangeRequest drop =
		ETCDSERVERPB__DELETE_RANGE_REQUEST__INIT;
	Etcdserverpb__RequestOp yes = ETCDSERVERPB__REQUEST_OP__INIT;
	Etcdserverpb__RequestOp too = ETCDSERVERPB__REQUEST_OP__INIT;
	Etcdserverpb__RequestOp no = ETCDSERVERPB__REQUEST_OP__INIT;
	Etcdserverpb__RequestOp *success[] = { &yes, &too }, *failure = &no;
	Etcdserverpb__Compare *compare = &cmp;
	Etcdserverpb__TxnResponse *ans;
	int ret;

	cmp.target = ETCDSERVERPB__COMPARE__COMPARE_TARGET__CREATE;
	cmp.key = bytes_of(LEADER);
	cmp.target_union_case =
		ETCDSERVERPB__COMPARE__TARGET_UNION_CREATE_REVISION;
	write.key = bytes_of(LEADER);
	write.value = bytes_of(e->self);
	write.lease = e->lease;
	yes.request_case = ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_PUT;
	yes.request_put = &write;
	drop.key = bytes_of(RESIGNED);
	too.request_case =
		ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE;
	too.request_delete_range = &drop;
	read.key = bytes_of(LEADER);
	no.request_case = ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_RANGE;
	no.request_range = &read;
	txn.n_compare = 1;
	txn.compare = &compare;
	txn.n_success = 2;
	txn.success = success;
	txn.n_failure = 1;
	txn.failure = &failure;
	ans = ask_servers(e, "/etcdserverpb.KV/Txn", &txn.base,
			  &etcdserverpb__txn_response__descriptor, &ret, err);
	if (!ans)
		return ret;
	e->prev_resigned = ans->succeeded && has_resigned(ans);
	if (ans->succeeded && ans->header)
		e->revision = ans->header->revision;
	else
		read_leader(e, ans, l);
	etcdserverpb__txn_response__free_unpacked(ans, NULL);
	return 0;
}

static int take_lead(struct store_db *db, struct store_lead *l, char *err)
{
	struct etcd *e = from_db(db);
	int64_t since = now_ms(), ms;
	int ret = 0;

	ms = renew_lease(e, &ret, err);
	if (!ret && !e->revision)
		ret = run_campaign(e, l, err);
	if (ret || !e->revision)
		return ret;
	l->leads = true;
	l->prev_ended = e->prev_resigned;
	/* No other manager can get the lead before this time. */
	l->valid_until = since + ms - ms / 4;
	return 0;
}

/* --- Opening ------------------------------------------------------------- */

static void close_db(struct store_db *db)
{
	Etcdserverpb__LeaseRequest req = ETCDSERVERPB__LEASE_REQUEST__INIT;
	struct etcd *e = from_db(db);
	char err[STORE_ERROR_LEN];
	unsigned int i;
	void *ans;
	int ret;

	if (e->revision)
		put_key(db, "resigned", (const uint8_t *)e->self,
			strlen(e->self), err);
	if (e->lease) {
		/* Without the lease, the next leader need not wait. */
		req.id = e->lease;
		ans = ask_servers(e, "/etcdserverpb.Lease/LeaseRevoke",
				  &req.base,
				  &etcdserverpb__lease_response__descriptor,
				  &ret, err);
		protobuf_c_message_free_unpacked(ans, NULL);
	}
	for (i = 0; i < e->n; i++)
		client_close(e->servers[i]);
	free(e);
}

static int add_server(struct etcd *e, const char *server,
		      const struct store_security *how, char *err)
{
	char host[256];
	int port = 0;

	if (e->n == SERVERS_MAX ||
	    inc_auth_address(server, host, sizeof(host), &port) || !port)
		return store_failed(err, -EINVAL, "etcd: must be followed by HOST:PORT, up to %d of them, separated by commas",
				    SERVERS_MAX);
	e->servers[e->n] = client_open(server, how, err);
	if (!e->servers[e->n])
		return -EINVAL;
	e->n++;
	return 0;
}

/*
 * Use etcd. Returns 0 or a negative errno value. The servers need not be up
 * yet.
 */
int etcd_open(struct store_db **db, const char *servers, const char *self,
	      const struct store_security *how, char *err)
{
	static const struct store_ops ops = {
		.put	= put_key,
		.del	= del_key,
		.list	= list_keys,
		.lead	= take_lead,
		.close	= close_db,
	};
	struct etcd *e = calloc(1, sizeof(*e));
	char text[1024], *next = text;
	int ret = 0;

	if (!e)
		return store_failed(err, -ENOMEM, "no memory");
	e->db.ops = &ops;
	e->db.lead_ms = LEAD_MS;
	snprintf(e->self, sizeof(e->self), "%s", self);
	snprintf(text, sizeof(text), "%s", servers);
	while (!ret && next)
		ret = add_server(e, strsep(&next, ","), how, err);
	if (ret) {
		close_db(&e->db);
		return ret;
	}
	*db = &e->db;
	return 0;
}

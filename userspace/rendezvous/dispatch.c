// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Hands each line that the other ends of connections send to the rendezvous daemon
 * to what acts on it.
 */
#include "nl/common.h"

#include "job.h"
#include "tls/tls.h"

static void handle_join(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_join fits = *join;
	uint32_t pmtu = addr_pmtu(c);

	if (c->role == ROLE_CHILD) {
		client_error(c, EBUSY, "this connection belongs to a child switch: a rank needs its own");
		return;
	}
	if (c->job) {
		client_error(c, EBUSY, "this connection is rank %u of a job already: each rank needs its own connection",
			     gather_of(c) ? c->join.rank : c->rank);
		return;
	}
	if (!addr_believed(c, &join->addr))
		return;
	/* A tree whose PMTU nobody has chosen gets what fits all ranks' ways. */
	if (pmtu && pmtu < fits.mtu)
		fits.mtu = pmtu;
	c->role = ROLE_RANK;
	c->takes_wrong = join->wrong;
	if (gather_wants(c->server, join))
		gather_join(c, &fits);
	else
		job_join(c, &fits);
}

static void handle_gather(struct client *c, const struct inc_rdv_join *join)
{
	if (c->role == ROLE_RANK) {
		client_error(c, EBUSY, "this connection belongs to a rank: a child switch needs its own for each job");
		return;
	}
	if (job_of(c)) {
		client_error(c, EBUSY, "this connection's job has all its ranks: another job needs another connection");
		return;
	}
	c->role = ROLE_CHILD;
	gather_join(c, join);
}

static void handle_link(struct client *c, const struct inc_rdv_join *join)
{
	if (c->role != ROLE_CHILD || !job_of(c))
		client_error(c, EPROTO, "\"link\" before \"placed\": a child switch says \"gather\" for its ranks, and waits for the answer");
	else if (addr_believed(c, &join->addr))
		level_link(c, join);
}

/* Handle a line of the parent's daemon. The switch reports failures itself. */
static void handle_up(struct client *c, const struct inc_rdv_msg *msg)
{
	switch (msg->type) {
	case INC_RDV_PLACED:
		if (gather_of(c))
			gather_placed(c->job, &msg->placed);
		break;
	case INC_RDV_LINKED:
		if (job_of(c) && level_linked(c->job, &msg->joined))
			client_end(c);
		break;
	case INC_RDV_READY:
		if (job_of(c))
			level_ready(c->job);
		break;
	case INC_RDV_CHANGE:
		if (job_of(c))
			job_change(c->job, msg);
		break;
	case INC_RDV_ERROR:
		if (gather_of(c))
			job_refuse(c->job, msg->err, "%s", msg->text);
		client_end(c);
		break;
	default:
		break;
	}
}

static void handle_msg(struct client *c, const struct inc_rdv_msg *msg)
{
	switch (msg->type) {
	case INC_RDV_GATHER:
		handle_gather(c, &msg->join);
		return;
	case INC_RDV_RETRACT:
		if (gather_of(c) && c->role == ROLE_CHILD)
			gather_retract(c, &msg->join);
		/*
		 * If all ranks are present by now, this closes the connection.
		 */
		else if (!job_of(c) || c->role != ROLE_CHILD)
			client_error(c, EPROTO, "\"retract\" without \"gather\": a rank says \"leave\"");
		return;
	case INC_RDV_LINK:
		handle_link(c, &msg->join);
		return;
	case INC_RDV_JOIN:
		handle_join(c, &msg->join);
		return;
	case INC_RDV_RTS:
		if (job_of(c))
			job_rts(c, msg->rails);
		else
			client_error(c, EPROTO, "\"rts\" before \"joined\": join, and wait for the answer");
		return;
	case INC_RDV_LEAVE:
		if (job_of(c))
			job_leave(c);
		else
			client_bye(c, "");
		return;
	case INC_RDV_LOST:
		if (!job_of(c)) {
			client_error(c, EPROTO, "\"lost\" before \"joined\": join, and wait for the answer");
			return;
		}
		job_lost(c, "the switch does not answer it");
		client_end(c);
		return;
	case INC_RDV_LOSSY:
		if (job_of(c))
			job_lossy(c);
		else
			client_error(c, EPROTO, "\"lossy\" before \"joined\": join, and wait for the answer");
		return;
	default:
		client_error(c, EPROTO, "only the daemon sends that: a rank sends join, rts, leave, lost or lossy");
	}
}

static void handle_line(struct client *c, const char *line)
{
	char err[INC_RDV_TEXT_MAX] = "";
	struct inc_rdv_msg msg;
	int ret;

	if (admit_line(c, line))
		return;
	ret = inc_rdv_parse(line, &msg, err, sizeof(err));
	if (ret)
		client_error(c, -ret, "%s", err);
	else if (c->role == ROLE_UP)
		handle_up(c, &msg);
	else
		handle_msg(c, &msg);
}

static void handle_lines(struct client *c)
{
	char line[INC_RDV_LINE_MAX];
	int ret;

	while (!c->closing) {
		ret = inc_rdv_line(&c->in, line, sizeof(line));
		if (!ret)
			return;
		if (ret == -EMSGSIZE)
			client_error(c, EMSGSIZE, "line longer than %d bytes: each line is one JSON object, ended by a newline",
				     INC_RDV_LINE_MAX);
		else if (ret < 0)
			client_error(c, EINVAL, "line with a NUL byte: each line is one JSON object, as text");
		else
			handle_line(c, line);
	}
}

/* Returns whether to try again at once. */
static bool take_input(struct client *c)
{
	const struct inc_tls_ops *tls = c->server->security.ops;
	size_t len;
	ssize_t n;
	char *to = inc_rdv_space(&c->in, &len);

	n = secure_recv(c, to, len);
	if (n == -EAGAIN || n == -EINTR)
		return false;
	if (n <= 0) {
		client_close(c, !n ? "connection lost" : c->tls ?
				tls->why(c->tls) : strerror((int)-n));
		return false;
	}
	if (admit_speaks_tls(c, *to))
		return false;
	inc_rdv_added(&c->in, (size_t)n);
	handle_lines(c);
	return c->fd >= 0 && !c->closing && c->tls && tls->pending(c->tls);
}

/**
 * dispatch_input() - read and process input
 * @c: connection that is not closing
 *
 * With TLS, all that was decrypted: at most a record.
 */
void dispatch_input(struct client *c)
{
	while (take_input(c))
		;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See login.h. Nothing has a time limit here: who waits too long is shut down.
 */
#include "login.h"

#include <fcntl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"
#include "remote.h"
#include "tls/tls.h"

#define TRIES_MAX	12	/* keys, each of them asked for and used */

/* --- UNIX sockets -------------------------------------------------------- */

static bool login_unix(struct session *s)
{
	struct ucred cred = { .uid = 0 };
	socklen_t len = sizeof(cred);
	struct passwd pw, *found = NULL;
	char buf[1024];

	if (getsockopt(s->c.fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		cred.uid = (uid_t)-1;
	snprintf(s->user, sizeof(s->user), "uid%u", cred.uid);
	getpwuid_r(cred.uid, &pw, buf, sizeof(buf), &found);
	if (found)
		snprintf(s->user, sizeof(s->user), "%s", pw.pw_name);
	s->may_change = true;
	return true;
}

/* --- TLS ----------------------------------------------------------------- */

static bool login_tls(struct session *s)
{
	struct pollfd p = { .fd = s->c.fd };
	int ret;

	s->c.tls = remote_tls(s->a, s->c.fd);
	if (!s->c.tls)
		return false;
	while ((ret = inc_tls_shake(s->c.tls, &p.events)) == -EAGAIN)
		poll(&p, 1, -1);
	if (ret) {
		log_debug("%s: %s", s->host, inc_tls_why(s->c.tls));
		return false;
	}
	s->cert = inc_tls_peer(s->c.tls);
	/* RFC 7589: a user's name is what the certificate says. */
	if (!s->cert ||
	    X509_NAME_get_text_by_NID(X509_get_subject_name(s->cert),
				      NID_commonName, s->user,
				      sizeof(s->user)) <= 0) {
		log_warn("refused a client at %s: its certificate has no common name",
			 s->host);
		return false;
	}
	return remote_admits(s);
}

/* --- SSH ----------------------------------------------------------------- */

static int on_key(ssh_session ssh, const char *user,
		  struct ssh_key_struct *key, char state, void *data)
{
	struct login *l = data;
	struct session *s = &l->s;
	bool may_change;

	if (++l->tries > TRIES_MAX)
		shutdown(s->c.fd, SHUT_RDWR);
	if (l->tries > TRIES_MAX || strlen(user) >= sizeof(s->user) ||
	    (state != SSH_PUBLICKEY_STATE_NONE &&
	     state != SSH_PUBLICKEY_STATE_VALID) ||
	    !remote_knows(s->a, user, key, &may_change))
		return SSH_AUTH_DENIED;
	/* The first time it only asks. */
	if (state == SSH_PUBLICKEY_STATE_VALID) {
		strcpy(s->user, user);
		s->may_change = may_change;
	}
	return SSH_AUTH_SUCCESS;
}

/* One is enough. */
static ssh_channel on_channel(ssh_session ssh, void *data)
{
	struct login *l = data;

	if (l->s.c.channel || !l->s.user[0])
		return NULL;
	l->s.c.channel = ssh_channel_new(ssh);
	if (l->s.c.channel)
		ssh_set_channel_callbacks(l->s.c.channel, &l->channel);
	return l->s.c.channel;
}

static int on_subsystem(ssh_session ssh, ssh_channel channel, const char *name,
			void *data)
{
	struct login *l = data;

	l->ready = !strcmp(name, "netconf");
	return l->ready ? 0 : 1;
}

/* Until it has asked for NETCONF. */
static bool speak_ssh(struct login *l, ssh_session ssh)
{
	ssh_event event = ssh_event_new();

	if (!event)
		return false;
	ssh_event_add_session(event, ssh);
	while (!l->ready && ssh_event_dopoll(event, -1) == SSH_OK &&
	       !(ssh_get_status(ssh) & (SSH_CLOSED | SSH_CLOSED_ERROR)))
		;
	ssh_event_remove_session(event, ssh);
	ssh_event_free(event);
	return l->ready;
}

static bool login_ssh(struct login *l)
{
	struct session *s = &l->s;

	s->c.ssh = remote_ssh(s->a, s->c.fd);
	if (!s->c.ssh)
		return false;
	l->server = (struct ssh_server_callbacks_struct){
		.userdata = l,
		.auth_pubkey_function = on_key,
		.channel_open_request_session_function = on_channel,
	};
	l->channel = (struct ssh_channel_callbacks_struct){
		.userdata = l,
		.channel_subsystem_request_function = on_subsystem,
	};
	ssh_callbacks_init(&l->server);
	ssh_callbacks_init(&l->channel);
	ssh_set_server_callbacks(s->c.ssh, &l->server);
	ssh_set_auth_methods(s->c.ssh, SSH_AUTH_METHOD_PUBLICKEY);
	if (ssh_handle_key_exchange(s->c.ssh) != SSH_OK ||
	    !speak_ssh(l, s->c.ssh)) {
		log_debug("%s: SSH: %s", s->host, ssh_get_error(s->c.ssh));
		return false;
	}
	ssh_set_blocking(s->c.ssh, 0);
	return true;
}

/*
 * Have a client log in. Returns true if it may, and its session has its user and
 * what that may do.
 */
bool login_run(struct login *l)
{
	switch (l->s.transport) {
	case TRANSPORT_UNIX:
		return login_unix(&l->s);
	case TRANSPORT_SSH:
		return login_ssh(l);
	case TRANSPORT_TLS:
		return login_tls(&l->s);
	}
	return false;
}

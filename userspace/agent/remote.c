// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See remote.h. A user either may change everything or may only look: over SSH
 * as the command line says, over TLS as the certificate's OU says (manager and
 * admin, or operator). libnetconf2 has no engine for the rules of RFC 8341.
 */
#include "remote.h"

#include <openssl/x509.h>
#include <pthread.h>

#include <libnetconf2/netconf.h>
#include <libnetconf2/server_config.h>
#include <libnetconf2/session_server.h>

#include "auth/crl.h"

#define AUTH_TIMEOUT	"/ietf-netconf-server:netconf-server/listen/" \
			"endpoints/endpoint[name='ssh']/ssh/" \
			"ssh-server-parameters/client-authentication/" \
			"libnetconf2-netconf-server:auth-timeout"

enum access {
	ACCESS_NONE,
	ACCESS_READ,
	ACCESS_ALL,
};

static const struct netconf_ssh *users;

/* Those who log in and those who ask are different threads'. */
static pthread_mutex_t crl_lock = PTHREAD_MUTEX_INITIALIZER;
static struct crl *crl;

/* --- What a user may do -------------------------------------------------- */

static enum access access_of_cert(const struct nc_session *s)
{
	static const struct {
		const char	*role;
		enum access	access;
	} roles[] = {
		{ "manager", ACCESS_ALL },
		{ "admin", ACCESS_ALL },
		{ "operator", ACCESS_READ },
	};
	const X509 *cert = nc_session_get_client_cert(s);
	const X509_NAME *subject;
	char role[32];
	size_t i;
	int at;

	if (!cert)
		return ACCESS_NONE;
	subject = X509_get_subject_name(cert);
	at = X509_NAME_get_index_by_NID(subject, NID_organizationalUnitName,
					-1);
	/* Several would be of two minds. */
	if (at < 0 ||
	    X509_NAME_get_index_by_NID(subject, NID_organizationalUnitName,
				       at) >= 0 ||
	    X509_NAME_get_text_by_NID((X509_NAME *)subject,
				      NID_organizationalUnitName, role,
				      sizeof(role)) < 0)
		return ACCESS_NONE;
	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(role, roles[i].role))
			return roles[i].access;
	return ACCESS_NONE;
}

/**
 * remote_revoked() - ask whether a remote user's certificate has been revoked
 * @s: session
 *
 * The list is read again if it has changed.
 *
 * Return: true if so.
 */
bool remote_revoked(const struct nc_session *s)
{
	const X509 *cert;
	char err[512];
	bool revoked;
	int ret;

	if (!crl || nc_session_get_ti(s) != NC_TI_TLS)
		return false;
	cert = nc_session_get_client_cert(s);
	if (!cert)
		return true;
	pthread_mutex_lock(&crl_lock);
	ret = crl_refresh(crl, err, sizeof(err));
	if (ret < 0)
		log_warn("%s; the list that was read before still counts", err);
	else if (ret)
		log_info("the list of revoked certificates was read again");
	revoked = crl_revokes(crl, cert);
	pthread_mutex_unlock(&crl_lock);
	return revoked;
}

/**
 * remote_admits() - ask whether a remote user may log in
 * @s: session; libnetconf2 has checked its certificate, or its key
 *
 * libnetconf2's own callback for this does not get the certificate.
 *
 * Return: true if it may.
 */
bool remote_admits(const struct nc_session *s)
{
	if (nc_session_get_ti(s) != NC_TI_TLS)
		return true;
	if (remote_revoked(s)) {
		log_warn("refused %s: its certificate has been revoked",
			 nc_session_get_username(s));
		return false;
	}
	if (access_of_cert(s) != ACCESS_NONE)
		return true;
	log_warn("refused %s: a certificate's OU must be manager, admin or operator",
		 nc_session_get_username(s));
	return false;
}

/**
 * remote_may_change() - ask whether a remote user may do more than look
 * @s: session
 *
 * Return: true if it may.
 */
bool remote_may_change(const struct nc_session *s)
{
	const char *name = nc_session_get_username(s);
	unsigned int i;

	if (nc_session_get_ti(s) == NC_TI_TLS)
		return access_of_cert(s) == ACCESS_ALL;
	for (i = 0; users && i < users->nusers; i++)
		if (!strcmp(name, users->users[i].name))
			return !users->users[i].reader;
	return false;
}

/* --- Endpoints ----------------------------------------------------------- */

static int add_ssh(const struct ly_ctx *ctx, const struct netconf_ssh *ssh,
		   unsigned int login_s, struct lyd_node **cfg)
{
	char text[16];
	unsigned int i;
	int rc;

	rc = nc_server_config_add_address_port(ctx, "ssh", NC_TI_SSH, ssh->addr,
					       ssh->port, cfg) ||
	     nc_server_config_add_ssh_hostkey(ctx, "ssh", "host", ssh->hostkey,
					      NULL, cfg);
	for (i = 0; !rc && i < ssh->nusers; i++) {
		snprintf(text, sizeof(text), "key%u", i);
		rc = nc_server_config_add_ssh_user_pubkey(ctx, "ssh",
							  ssh->users[i].name,
							  text,
							  ssh->users[i].key,
							  cfg);
		if (rc)
			log_error("%s: not a public key", ssh->users[i].key);
	}
	snprintf(text, sizeof(text), "%u", login_s);
	rc = rc || lyd_new_path(*cfg, ctx, AUTH_TIMEOUT, text,
				LYD_NEW_PATH_UPDATE, NULL);
	if (rc)
		log_error("cannot listen for SSH on %s port %u with host key %s",
			  ssh->addr, ssh->port, ssh->hostkey);
	users = ssh;
	return rc;
}

static int add_tls(const struct ly_ctx *ctx, const struct netconf_tls *tls,
		   struct lyd_node **cfg)
{
	char err[512];
	int rc;

	if (tls->crl) {
		crl = crl_open(tls->crl, tls->ca, err, sizeof(err));
		if (!crl) {
			log_error("%s", err);
			return -1;
		}
	}
	rc = nc_server_config_add_address_port(ctx, "tls", NC_TI_TLS, tls->addr,
					       tls->port, cfg) ||
	     nc_server_config_add_tls_server_cert(ctx, "tls", tls->key, NULL,
						  tls->cert, cfg) ||
	     nc_server_config_add_tls_ca_cert(ctx, "tls", "ca", tls->ca, cfg) ||
	     nc_server_config_add_tls_ctn(ctx, "tls", 1, NULL,
					  NC_TLS_CTN_COMMON_NAME, "", cfg);
	if (rc)
		log_error("cannot listen for TLS on %s port %u with certificate %s, key %s, authority %s",
			  tls->addr, tls->port, tls->cert, tls->key, tls->ca);
	return rc;
}

/**
 * remote_config() - make the endpoints
 * @ctx: libyang's context
 * @ssh: endpoint, or NULL; must stay
 * @tls: endpoint, or NULL
 * @login_s: how long logging in by SSH may take, seconds
 *
 * Return: 0, or -1 after a message.
 */
int remote_config(const struct ly_ctx *ctx, const struct netconf_ssh *ssh,
		  const struct netconf_tls *tls, unsigned int login_s)
{
	struct lyd_node *cfg = NULL;
	int rc = 0;

	if (ssh)
		rc = add_ssh(ctx, ssh, login_s, &cfg);
	if (!rc && tls)
		rc = add_tls(ctx, tls, &cfg);
	if (!rc) {
		rc = nc_server_config_setup_data(cfg);
		if (rc)
			log_error("cannot listen for %s%s%s: is the address this host's, are the key and the certificate good?",
				  ssh ? "SSH" : "", ssh && tls ? " and " : "",
				  tls ? "TLS" : "");
	}
	lyd_free_all(cfg);
	return rc ? -1 : 0;
}

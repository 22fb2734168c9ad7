// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See remote.h. A user may either change everything or only read: over SSH as
 * the command line says, over TLS as the certificate's OU says (manager and
 * admin, or operator). libnetconf2 has no engine for the rules of RFC 8341.
 */
#include "remote.h"

#include "agent.h"

#include <errno.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdatomic.h>

#include <libnetconf2/netconf.h>
#include <libnetconf2/server_config.h>
#include <libnetconf2/session_server.h>

#include "auth/crl.h"
#include "auth/expiry.h"
#include "auth/files.h"
#include "conf/open.h"

#define AUTH_TIMEOUT	"/ietf-netconf-server:netconf-server/listen/" \
			"endpoints/endpoint[name='ssh']/ssh/" \
			"ssh-server-parameters/client-authentication/" \
			"libnetconf2-netconf-server:auth-timeout"

enum access {
	ACCESS_NONE,
	ACCESS_READ,
	ACCESS_ALL,
};

/* libnetconf2's endpoints, and the options that they were made from. */
static struct {
	const struct ly_ctx		*ctx;
	const struct netconf_ssh	*ssh;
	const struct netconf_tls	*tls;
	unsigned int			login_s;
	struct lyd_node			*cfg;
} endpoints;

/* Logins and requests are handled by different threads. */
static pthread_mutex_t crl_lock = PTHREAD_MUTEX_INITIALIZER;
static struct crl *crl;

/* Expiry of the certificate that was read last, in seconds since 1970. */
static _Atomic int64_t expires = EXPIRY_UNKNOWN;

/* --- Rights of users ----------------------------------------------------- */

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
	/* Several OUs would be ambiguous. */
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

/*
 * Ask whether a remote user's certificate has been revoked. A list that has
 * changed is read again. Returns true if so.
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

/*
 * Ask whether a remote user may log in. libnetconf2's own callback for this
 * does not get the certificate. Returns true if so.
 * @s: session, whose certificate or key libnetconf2 has checked
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

/* Ask whether a remote user may make changes. Returns true if so. */
bool remote_may_change(const struct nc_session *s)
{
	const char *name = nc_session_get_username(s);
	const struct netconf_ssh *ssh = endpoints.ssh;
	unsigned int i;

	if (nc_session_get_ti(s) == NC_TI_TLS)
		return access_of_cert(s) == ACCESS_ALL;
	for (i = 0; ssh && i < ssh->nusers; i++)
		if (!strcmp(name, ssh->users[i].name))
			return !ssh->users[i].reader;
	return false;
}

/* --- Endpoints ----------------------------------------------------------- */

/* libnetconf2 would wait for the other end of a FIFO. */
static bool is_usable(const char *path)
{
	const char *why = inc_unusable(path);

	if (why)
		log_error("%s: %s", path, why);
	return !why;
}

/* libnetconf2 takes a private key for its public one. */
static bool is_private(const char *path)
{
	const char *why;
	FILE *f = inc_open(path, &why);
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "-----BEGIN ", 11) &&
			strstr(line, "PRIVATE KEY-----");
	if (f)
		fclose(f);
	return found;
}

static int add_user(const struct ly_ctx *ctx, const struct netconf_user *user,
		    unsigned int n, struct lyd_node **cfg)
{
	char text[16];

	snprintf(text, sizeof(text), "key%u", n);
	if (!is_usable(user->key))
		return -1;
	if (is_private(user->key)) {
		log_error("%s: this is a private key, which only the user who logs in should have: name the public one, as in %s.pub",
			  user->key, user->key);
		return -1;
	}
	if (!nc_server_config_add_ssh_user_pubkey(ctx, "ssh", user->name, text,
						  user->key, cfg))
		return 0;
	log_error("%s: not a public key", user->key);
	return -1;
}

/* libnetconf2 does not report names, and misreports some kinds of keys. */
static int add_host(const struct ly_ctx *ctx, const struct netconf_ssh *ssh,
		    struct lyd_node **cfg)
{
	if (!is_usable(ssh->hostkey))
		return -1;
	if (nc_server_config_add_address_port(ctx, "ssh", NC_TI_SSH, ssh->addr,
					      ssh->port, cfg)) {
		log_error("--ssh %s: must be an IP address of this host, and no name",
			  ssh->addr);
		return -1;
	}
	if (!nc_server_config_add_ssh_hostkey(ctx, "ssh", "host", ssh->hostkey,
					      NULL, cfg))
		return 0;
	log_error("%s: must be a private key of ECDSA or RSA without a passphrase, as \"ssh-keygen -t ecdsa -m PEM -N ''\" makes it; libnetconf2 has no Ed25519",
		  ssh->hostkey);
	return -1;
}

static int add_ssh(const struct ly_ctx *ctx, const struct netconf_ssh *ssh,
		   unsigned int login_s, struct lyd_node **cfg)
{
	char text[16];
	unsigned int i;
	int rc;

	rc = add_host(ctx, ssh, cfg);
	for (i = 0; !rc && i < ssh->nusers; i++)
		rc = add_user(ctx, &ssh->users[i], i, cfg);
	snprintf(text, sizeof(text), "%u", login_s);
	if (!rc && lyd_new_path(*cfg, ctx, AUTH_TIMEOUT, text,
				LYD_NEW_PATH_UPDATE, NULL)) {
		log_error("no memory");
		rc = -1;
	}
	return rc;
}

/* libnetconf2 would find errors only when a client connects. */
static bool read_pair(const struct netconf_tls *tls)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	char err[512] = "no memory";
	int ret = ctx ? inc_auth_load(ctx, tls->ca, tls->cert, tls->key, err,
				      sizeof(err)) : -ENOMEM;

	if (ret == -EKEYEXPIRED) {
		log_error("%s: managers will refuse it", err);
		ret = 0;
	}
	if (ret)
		log_error("%s", err);
	else
		atomic_store(&expires,
			     inc_auth_expiry(SSL_CTX_get0_certificate(ctx)));
	SSL_CTX_free(ctx);
	return !ret;
}

static int add_tls(const struct ly_ctx *ctx, const struct netconf_tls *tls,
		   struct lyd_node **cfg)
{
	int rc;

	if (!read_pair(tls))
		return -1;
	if (nc_server_config_add_address_port(ctx, "tls", NC_TI_TLS, tls->addr,
					      tls->port, cfg)) {
		log_error("--tls %s: must be an IP address of this host, and no name",
			  tls->addr);
		return -1;
	}
	rc = nc_server_config_add_tls_server_cert(ctx, "tls", tls->key, NULL,
						  tls->cert, cfg) ||
	     nc_server_config_add_tls_ca_cert(ctx, "tls", "ca", tls->ca, cfg) ||
	     nc_server_config_add_tls_ctn(ctx, "tls", 1, NULL,
					  NC_TLS_CTN_COMMON_NAME, "", cfg);
	if (rc)
		log_error("TLS on %s port %u cannot have the certificate %s, key %s, authority %s",
			  tls->addr, tls->port, tls->cert, tls->key, tls->ca);
	return rc;
}

/*
 * Get the time when the agent's certificate expires.
 * @len: size of @buf in bytes
 */
void remote_expires(char *buf, size_t len)
{
	int64_t when = atomic_load(&expires);

	buf[0] = '\0';
	if (when != EXPIRY_UNKNOWN)
		inc_auth_expiry_text(when, buf, len);
}

/* Make the configuration from the files as they are now. */
static int make_config(struct lyd_node **cfg)
{
	int rc = 0;

	*cfg = NULL;
	if (endpoints.ssh)
		rc = add_ssh(endpoints.ctx, endpoints.ssh, endpoints.login_s,
			     cfg);
	if (!rc && endpoints.tls)
		rc = add_tls(endpoints.ctx, endpoints.tls, cfg);
	if (!rc)
		return 0;
	lyd_free_all(*cfg);
	*cfg = NULL;
	return -1;
}

static int open_crl(void)
{
	const struct netconf_tls *tls = endpoints.tls;
	struct crl *now, *before;
	char err[512];

	if (!tls || !tls->crl)
		return 0;
	now = crl_open(tls->crl, tls->ca, err, sizeof(err));
	if (!now) {
		log_error("%s", err);
		return -1;
	}
	pthread_mutex_lock(&crl_lock);
	before = crl;
	crl = now;
	pthread_mutex_unlock(&crl_lock);
	crl_free(before);
	return 0;
}

/*
 * Set the endpoints up. Returns 0, or -1 after a message.
 * @ssh: endpoint, or NULL; must stay valid
 * @tls: endpoint, or NULL; must stay valid
 * @login_s: time limit of logins by SSH, in seconds
 */
int remote_config(const struct ly_ctx *ctx, const struct netconf_ssh *ssh,
		  const struct netconf_tls *tls, unsigned int login_s)
{
	endpoints.ctx = ctx;
	endpoints.ssh = ssh;
	endpoints.tls = tls;
	endpoints.login_s = login_s;
	if (open_crl() || make_config(&endpoints.cfg))
		return -1;
	if (!nc_server_config_setup_data(endpoints.cfg))
		return 0;
	log_error("cannot listen for %s%s%s: is the address this host's, are the key and the certificate good?",
		  ssh ? "SSH" : "", ssh && tls ? " and " : "",
		  tls ? "TLS" : "");
	remote_free();
	return -1;
}

/*
 * Read keys and certificates again. Sessions go on. If something is wrong, all
 * stays as it was.
 */
void remote_reload(void)
{
	struct lyd_node *cfg = NULL, *diff = NULL;

	if (make_config(&cfg) || open_crl()) {
		log_error("the keys and certificates that were read before still count");
		lyd_free_all(cfg);
		return;
	}
	if (lyd_diff_siblings(endpoints.cfg, cfg, 0, &diff) ||
	    (diff && nc_server_config_setup_diff(diff)))
		log_error("the keys and certificates cannot be replaced: restart inc-agentd");
	else
		log_info("the keys and certificates were read again: %s",
			 diff ? "they count from now on" :
			 "they are the same");
	lyd_free_all(diff);
	lyd_free_all(endpoints.cfg);
	endpoints.cfg = cfg;
}

/* Free the endpoints. */
void remote_free(void)
{
	lyd_free_all(endpoints.cfg);
	endpoints.cfg = NULL;
}

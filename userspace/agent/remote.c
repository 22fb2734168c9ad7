// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See remote.h. A user either may change everything or may only look: over SSH
 * as the command line says, over TLS as the certificate's OU says (manager and
 * admin, or operator). The rules of RFC 8341 are not served.
 */
#include "remote.h"

#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <libssh/libssh.h>
#include <libssh/server.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "auth/crl.h"
#include "auth/expiry.h"
#include "auth/files.h"
#include "conf/open.h"
#include "session.h"
#include "tls/tls.h"

/**
 * struct files - what was read from files
 * @tls: the server's settings of TLS, or NULL
 * @ssh: its settings of SSH, or NULL
 * @keys: the users' keys, in their order
 * @nkeys: how many
 * @digest: of all files that they were read from
 */
struct files {
	SSL_CTX		*tls;
	ssh_bind	ssh;
	ssh_key		*keys;
	unsigned int	nkeys;
	unsigned char	digest[EVP_MAX_MD_SIZE];
};

/**
 * struct remote - keys and certificates
 * @ssh: which ones, or NULL
 * @tls: likewise
 * @lock: protects the members below: logins and requests have threads of their own
 * @files: what counts now
 * @crl: certificates that are revoked, or NULL
 * @expires: when the agent's expires, in seconds since 1970
 */
struct remote {
	const struct netconf_ssh	*ssh;
	const struct netconf_tls	*tls;
	pthread_mutex_t			lock;
	struct files			files;
	struct crl			*crl;
	_Atomic int64_t			expires;
};

enum access {
	ACCESS_NONE,
	ACCESS_READ,
	ACCESS_ALL,
};

/* --- Rights of users ----------------------------------------------------- */

static enum access access_of_cert(const X509 *cert)
{
	static const struct {
		const char	*role;
		enum access	access;
	} roles[] = {
		{ "manager", ACCESS_ALL },
		{ "admin", ACCESS_ALL },
		{ "operator", ACCESS_READ },
	};
	const X509_NAME *subject = X509_get_subject_name(cert);
	char role[32];
	size_t i;
	int at;

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
bool remote_revoked(const struct session *s)
{
	struct remote *r = s->a->remote;
	char err[512];
	bool revoked;
	int ret;

	if (s->transport != TRANSPORT_TLS || !r->tls->crl)
		return false;
	pthread_mutex_lock(&r->lock);
	ret = crl_refresh(r->crl, err, sizeof(err));
	if (ret < 0)
		log_warn("%s; the list that was read before still counts", err);
	else if (ret)
		log_info("the list of revoked certificates was read again");
	revoked = crl_revokes(r->crl, s->cert);
	pthread_mutex_unlock(&r->lock);
	return revoked;
}

/*
 * Ask whether a user with a certificate of the authority's may log in, and note
 * whether it may do more than look.
 */
bool remote_admits(struct session *s)
{
	enum access access = access_of_cert(s->cert);

	if (remote_revoked(s)) {
		log_warn("refused %s: its certificate has been revoked",
			 s->user);
		return false;
	}
	s->may_change = access == ACCESS_ALL;
	if (access != ACCESS_NONE)
		return true;
	log_warn("refused %s: a certificate's OU must be manager, admin or operator",
		 s->user);
	return false;
}

/*
 * Ask whether a user has a key of SSH.
 * @may_change: result: may it do more than look
 */
bool remote_knows(struct agent *a, const char *user,
		  struct ssh_key_struct *key, bool *may_change)
{
	struct remote *r = a->remote;
	const struct netconf_user *u;
	bool found = false;
	unsigned int i;

	pthread_mutex_lock(&r->lock);
	for (i = 0; i < r->files.nkeys && !found; i++) {
		u = &r->ssh->users[i];
		found = !strcmp(user, u->name) &&
			!ssh_key_cmp(key, r->files.keys[i], SSH_KEY_CMP_PUBLIC);
		*may_change = found && !u->reader;
	}
	pthread_mutex_unlock(&r->lock);
	return found;
}

/* --- Connections --------------------------------------------------------- */

/* Begin to speak TLS with a client. Returns NULL: no memory. */
struct inc_tls *remote_tls(struct agent *a, int fd)
{
	static const struct inc_tls_words words = {
		.peer = "the client",
		.cert = "--tls-cert",
		.plain = "it has to",
	};
	struct inc_tls *t;

	pthread_mutex_lock(&a->remote->lock);
	t = inc_tls_accept(a->remote->files.tls, fd, &words);
	pthread_mutex_unlock(&a->remote->lock);
	return t;
}

/* Begin to speak SSH with a client. Returns NULL: no memory. */
struct ssh_session_struct *remote_ssh(struct agent *a, int fd)
{
	ssh_session ssh = ssh_new();
	/* libssh closes it when it likes. */
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	bool good = false;

	if (ssh && copy >= 0) {
		pthread_mutex_lock(&a->remote->lock);
		good = ssh_bind_accept_fd(a->remote->files.ssh, ssh, copy) ==
		       SSH_OK;
		pthread_mutex_unlock(&a->remote->lock);
	}
	if (good)
		return ssh;
	if (copy >= 0)
		close(copy);
	ssh_free(ssh);
	return NULL;
}

/* --- Files --------------------------------------------------------------- */

static void free_files(struct files *f)
{
	unsigned int i;

	SSL_CTX_free(f->tls);
	ssh_bind_free(f->ssh);
	for (i = 0; i < f->nkeys; i++)
		ssh_key_free(f->keys[i]);
	free(f->keys);
	*f = (struct files){ .tls = NULL };
}

/* Nobody waits for the other end of a FIFO. */
static bool is_usable(const char *path)
{
	const char *why = inc_unusable(path);

	if (why)
		log_error("%s: %s", path, why);
	return !why;
}

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

static int load_user(const struct netconf_user *user, ssh_key *key)
{
	if (!is_usable(user->key))
		return -1;
	if (is_private(user->key)) {
		log_error("%s: this is a private key, which only the user who logs in should have: name the public one, as in %s.pub",
			  user->key, user->key);
		return -1;
	}
	if (ssh_pki_import_pubkey_file(user->key, key) == SSH_OK)
		return 0;
	log_error("%s: not a public key", user->key);
	return -1;
}

static bool is_host_key(ssh_key key)
{
	switch (ssh_key_type(key)) {
	case SSH_KEYTYPE_RSA:
	case SSH_KEYTYPE_ECDSA_P256:
	case SSH_KEYTYPE_ECDSA_P384:
	case SSH_KEYTYPE_ECDSA_P521:
		return true;
	default:
		return false;
	}
}

static int load_host(const struct netconf_ssh *ssh, struct files *f)
{
	static const bool no;
	ssh_key key = NULL;

	if (!is_usable(ssh->hostkey))
		return -1;
	if (ssh_pki_import_privkey_file(ssh->hostkey, NULL, NULL, NULL,
					&key) != SSH_OK || !is_host_key(key)) {
		ssh_key_free(key);
		log_error("%s: must be a private key of ECDSA or RSA without a passphrase, as \"ssh-keygen -t ecdsa -m PEM -N ''\" makes it",
			  ssh->hostkey);
		return -1;
	}
	f->ssh = ssh_bind_new();
	/* What the host's own server of SSH is told does not count here. */
	if (f->ssh && !ssh_bind_options_set(f->ssh,
					    SSH_BIND_OPTIONS_PROCESS_CONFIG,
					    &no) &&
	    !ssh_bind_options_set(f->ssh, SSH_BIND_OPTIONS_IMPORT_KEY, key))
		return 0;
	ssh_key_free(key);
	log_error("no memory");
	return -1;
}

static int load_ssh(const struct netconf_ssh *ssh, struct files *f)
{
	if (load_host(ssh, f))
		return -1;
	f->keys = calloc(ssh->nusers, sizeof(*f->keys));
	if (!f->keys) {
		log_error("no memory");
		return -1;
	}
	for (; f->nkeys < ssh->nusers; f->nkeys++)
		if (load_user(&ssh->users[f->nkeys], &f->keys[f->nkeys]))
			return -1;
	return 0;
}

static int load_tls(const struct netconf_tls *tls, struct files *f)
{
	char err[512] = "no memory";
	int ret = -ENOMEM;

	f->tls = SSL_CTX_new(TLS_server_method());
	if (f->tls) {
		inc_auth_modes(f->tls);
		SSL_CTX_set_verify(f->tls, SSL_VERIFY_PEER |
				   SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
		ret = inc_auth_load(f->tls, tls->ca, tls->cert, tls->key, err,
				    sizeof(err));
	}
	if (ret == -EKEYEXPIRED) {
		log_error("%s: managers will refuse it", err);
		ret = 0;
	}
	if (ret)
		log_error("%s", err);
	return ret;
}

static void digest_file(EVP_MD_CTX *md, const char *path)
{
	const char *why;
	FILE *f = inc_open(path, &why);
	char buf[4096];
	size_t n;

	while (f && (n = fread(buf, 1, sizeof(buf), f)))
		EVP_DigestUpdate(md, buf, n);
	if (f)
		fclose(f);
	/* Where one ends, and the next begins. */
	EVP_DigestUpdate(md, "", 1);
}

/* To tell whether anything has changed. */
static void digest_files(const struct remote *r, struct files *f)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned int i;

	if (!md || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1) {
		EVP_MD_CTX_free(md);
		return;
	}
	if (r->ssh)
		digest_file(md, r->ssh->hostkey);
	for (i = 0; r->ssh && i < r->ssh->nusers; i++)
		digest_file(md, r->ssh->users[i].key);
	if (r->tls) {
		digest_file(md, r->tls->cert);
		digest_file(md, r->tls->key);
		digest_file(md, r->tls->ca);
	}
	EVP_DigestFinal_ex(md, f->digest, NULL);
	EVP_MD_CTX_free(md);
}

static int load_files(const struct remote *r, struct files *f)
{
	*f = (struct files){ .tls = NULL };
	digest_files(r, f);
	if ((!r->ssh || !load_ssh(r->ssh, f)) &&
	    (!r->tls || !load_tls(r->tls, f)))
		return 0;
	free_files(f);
	return -1;
}

/*
 * Get the time when the agent's certificate expires.
 * @len: size of @buf in bytes
 */
void remote_expires(const struct agent *a, char *buf, size_t len)
{
	buf[0] = '\0';
	if (a->remote && a->remote->expires != EXPIRY_UNKNOWN)
		inc_auth_expiry_text(a->remote->expires, buf, len);
}

/* Have other files count. */
static void take_files(struct remote *r, const struct files *f, struct crl *crl)
{
	struct files before;
	struct crl *old;

	pthread_mutex_lock(&r->lock);
	before = r->files;
	old = r->crl;
	r->files = *f;
	r->crl = crl;
	pthread_mutex_unlock(&r->lock);
	if (f->tls)
		r->expires = inc_auth_expiry(SSL_CTX_get0_certificate(f->tls));
	free_files(&before);
	crl_free(old);
}

static int read_all(struct remote *r, struct files *f, struct crl **crl)
{
	char err[512];

	*crl = NULL;
	if (load_files(r, f))
		return -1;
	if (!r->tls || !r->tls->crl)
		return 0;
	*crl = crl_open(r->tls->crl, r->tls->ca, err, sizeof(err));
	if (*crl)
		return 0;
	log_error("%s", err);
	free_files(f);
	return -1;
}

/*
 * Read keys and certificates. Returns 0, or -1 after a message.
 * @ssh: which ones, or NULL; must stay
 * @tls: which ones, or NULL; must stay
 */
int remote_config(struct agent *a, const struct netconf_ssh *ssh,
		  const struct netconf_tls *tls)
{
	struct remote *r = calloc(1, sizeof(*r));
	struct files f;
	struct crl *crl;

	if (!r) {
		log_error("no memory");
		return -1;
	}
	pthread_mutex_init(&r->lock, NULL);
	r->ssh = ssh;
	r->tls = tls;
	r->expires = EXPIRY_UNKNOWN;
	a->remote = r;
	if (read_all(r, &f, &crl))
		return -1;
	take_files(r, &f, crl);
	return 0;
}

/*
 * Read keys and certificates again. Sessions go on. If something is wrong, all
 * stays as it was.
 */
void remote_reload(struct agent *a)
{
	struct remote *r = a->remote;
	struct files f;
	struct crl *crl;
	bool same;

	if (read_all(r, &f, &crl)) {
		log_error("the keys and certificates that were read before still count");
		return;
	}
	same = !memcmp(f.digest, r->files.digest, sizeof(f.digest));
	take_files(r, &f, crl);
	log_info("the keys and certificates were read again: %s",
		 same ? "they are the same" : "they count from now on");
}

/* Forget them. */
void remote_free(struct agent *a)
{
	if (!a->remote)
		return;
	free_files(&a->remote->files);
	crl_free(a->remote->crl);
	free(a->remote);
	a->remote = NULL;
}

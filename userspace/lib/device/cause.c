// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See cause.h. An errno value alone misleads: for an exhausted RLIMIT_MEMLOCK it
 * reads "Cannot allocate memory".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cause.h"

#define SYS_DEVICES	"/sys/class/infiniband"
#define SYS_UVERBS	"/sys/class/infiniband_verbs/abi_version"

#define NODES		"/dev/infiniband"
#define NO_NODE		": make it visible here (udev; containers: --device)"

/* Maximum number of devices to describe; the others are only counted. */
#define UNFIT_MOST	3

/*
 * Get the name of this host. Returns its name, of this thread until the next
 * call.
 */
const char *inc_cause_host(void)
{
	static __thread char name[64];

	if (gethostname(name, sizeof(name) - 1) || !*name)
		strcpy(name, "this host");
	return name;
}

/* Describe the limits of the process that may have caused an error. */
static void add_limit(int err, char *text, size_t len)
{
	struct rlimit l;

	if ((err == ENOMEM || err == EPERM) &&
	    !getrlimit(RLIMIT_MEMLOCK, &l) &&
	    (err == EPERM ? !l.rlim_cur : l.rlim_cur != RLIM_INFINITY))
		snprintf(text, len, ": this user may lock %" PRIu64 " KiB of memory: raise that (ulimit -l; LimitMEMLOCK= of a service)",
			 (uint64_t)l.rlim_cur / 1024);
	else if (err == EMFILE && !getrlimit(RLIMIT_NOFILE, &l))
		snprintf(text, len, ": this process may have %" PRIu64 ": raise that (ulimit -n; LimitNOFILE= of a service)",
			 (uint64_t)l.rlim_cur);
	else if (err == EAGAIN)
		snprintf(text, len, ": is a limit of processes or of RDMA reached (ulimit -u; pids.max, rdma.max)?");
	else
		*text = '\0';
}

/*
 * Describe a failure, and the limit of this process that may have caused it.
 * @len: size of @text in bytes
 */
void inc_cause(int err, char *text, size_t len, const char *fmt, ...)
{
	char limit[160], what[INC_RDV_TEXT_MAX / 2];
	va_list ap;

	add_limit(err, limit, sizeof(limit));
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(text, len, "%s: %s%s", what, strerror(err), limit);
}

static void add_unfit(struct inc_unfit *u, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add_unfit(struct inc_unfit *u, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (u->n++ >= UNFIT_MOST)
		return;
	n = snprintf(u->text + u->len, sizeof(u->text) - u->len, "%s",
		     u->len ? "; " : "");
	u->len += (size_t)n;
	va_start(ap, fmt);
	n = vsnprintf(u->text + u->len, sizeof(u->text) - u->len, fmt, ap);
	va_end(ap);
	u->len += (size_t)n;
	if (u->len >= sizeof(u->text))
		u->len = sizeof(u->text) - 1;
}

/* Note that a device cannot be opened. */
void inc_unfit_closed(struct inc_unfit *u, struct ibv_device *device, int err)
{
	char limit[160], path[sizeof(device->dev_name) + 20];

	/* libibverbs' errno may be from another attempt. */
	snprintf(path, sizeof(path), NODES "/%s", device->dev_name);
	if (err == ENOENT && faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS))
		err = errno;
	add_limit(err, limit, sizeof(limit));
	add_unfit(u, "%s: %s: %s%s", ibv_get_device_name(device), path,
		  strerror(err),
		  err == EACCES || err == EPERM ?
		  ": give the user access (rdma-core's udev rules do; containers: --device)" :
		  err == ENOENT ? NO_NODE : limit);
}

/* Note why a device that was opened does not suit. */
void inc_unfit_open(struct inc_unfit *u, struct ibv_context *ctx,
		    const struct inc_dev_sel *sel)
{
	const char *name = ibv_get_device_name(ctx->device);
	struct ibv_device_attr dattr = { .phys_port_cnt = 0 };
	struct ibv_port_attr attr;
	int port = sel->port ? sel->port : 1;

	u->opened = true;
	if (ibv_query_device(ctx, &dattr) ||
	    ibv_query_port(ctx, (uint8_t)port, &attr))
		add_unfit(u, port > dattr.phys_port_cnt ? "%s has no port %d" :
			  "%s, port %d, does not answer", name, port);
	else if (attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		add_unfit(u, "%s is no Ethernet device", name);
	else if (attr.state != IBV_PORT_ACTIVE)
		add_unfit(u, "%s is down: see rdma link; ip link set ... up",
			  name);
	else
		add_unfit(u, "%s has other GIDs: see rdma link, ip addr", name);
}

/* Find the network device that has an address. */
static void find_netdev(const struct inc_rdv_addr *addr, char *name, size_t len)
{
	struct inc_rdv_addr has;
	struct ifaddrs *list, *i;

	snprintf(name, len, "...");
	if (!addr->len || getifaddrs(&list))
		return;
	for (i = list; i; i = i->ifa_next) {
		if (i->ifa_addr &&
		    !inc_rdv_addr_from_sockaddr(i->ifa_addr, &has) &&
		    has.len == addr->len &&
		    !memcmp(has.bytes, addr->bytes, has.len))
			snprintf(name, len, "%s", i->ifa_name);
	}
	freeifaddrs(list);
}

/* Find a directory's entry whose name begins with @begin. */
static bool find_entry(const char *path, const char *begin, char *name,
		       size_t len)
{
	struct dirent *entry = NULL;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir)) &&
	       (*entry->d_name == '.' ||
		strncmp(entry->d_name, begin, strlen(begin))))
		;
	if (entry)
		snprintf(name, len, "%s", entry->d_name);
	if (dir)
		closedir(dir);
	return entry;
}

/* The kernel may have a device here that libibverbs does not list. */
static void no_device(const struct inc_dev_sel *sel, char *err, size_t err_len)
{
	char name[256], node[256];
	int fd = open(SYS_DEVICES, O_PATH | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	if (fd < 0 && errno == EMFILE) {
		inc_cause(EMFILE, err, err_len, "list of RDMA devices");
	} else if (sel->dev) {
		snprintf(err, err_len, "no verbs device \"%s\": see rdma link",
			 sel->dev);
	} else if (!find_entry(SYS_DEVICES, "", name, sizeof(name))) {
		find_netdev(&sel->addr, name, sizeof(name));
		snprintf(err, err_len, "no RDMA device in this network namespace: for rdma_rxe, modprobe rdma_rxe; rdma link add rxe0 type rxe netdev %s",
			 name);
	} else if (access(SYS_UVERBS, F_OK)) {
		snprintf(err, err_len, "%s cannot be used by programs: modprobe ib_uverbs",
			 name);
	} else if (!find_entry(NODES, "uverbs", node, sizeof(node))) {
		snprintf(err, err_len, "%s has no device file in " NODES NO_NODE,
			 name);
	} else {
		snprintf(err, err_len, "libibverbs has no provider for %s: install ibverbs-providers",
			 name);
	}
}

/*
 * Describe why no device is used.
 * @err_len: size of @err in bytes
 */
void inc_unfit_why(const struct inc_unfit *u, const struct inc_dev_sel *sel,
		   char *err, size_t err_len)
{
	char addr[64], more[32] = "";
	int n;

	if (!u->n) {
		no_device(sel, err, err_len);
		return;
	}
	if (u->n > UNFIT_MOST)
		snprintf(more, sizeof(more), "; and %u more",
			 u->n - UNFIT_MOST);
	if (!u->opened)
		n = snprintf(err, err_len, "no device can be opened");
	else if (sel->gid_index >= 0)
		n = snprintf(err, err_len, "no active RoCE port has a GID %d",
			     sel->gid_index);
	else
		n = snprintf(err, err_len, "no active RoCE port has a RoCEv2 GID that suits %s",
			     inc_rdv_addr_str(&sel->addr, addr, sizeof(addr)));
	if (n > 0 && (size_t)n < err_len)
		snprintf(err + n, err_len - (size_t)n, ": %s%s", u->text, more);
}

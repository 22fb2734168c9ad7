// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-agentd: the NETCONF server of an INC switch.
 */
#include "agent.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cm.h"
#include "conf/notify.h"
#include "conf/output.h"
#include "conf/pidfile.h"
#include "home.h"
#include "lldp.h"
#include "name.h"
#include "options.h"
#include "notif.h"
#include "rpc.h"

/*
 * A local request may be as long as it likes. Where there is no more memory it is
 * dropped, and others are served.
 */
static void limit_memory(uint64_t bytes)
{
	const struct rlimit limit = { bytes, bytes };

	if (bytes && setrlimit(RLIMIT_DATA, &limit))
		log_warn("--max-memory: %s", strerror(errno));
}

/* Drop port 830's capability before there are threads, which inherit it. */
static void drop_net_bind(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
	const uint32_t bit = CAP_TO_MASK(CAP_NET_BIND_SERVICE);

	if (syscall(SYS_capget, &head, caps) || !(caps[0].permitted & bit))
		return;
	caps[0].effective &= ~bit;
	caps[0].permitted &= ~bit;
	caps[0].inheritable &= ~bit;
	if (syscall(SYS_capset, &head, caps))
		log_warn("CAP_NET_BIND_SERVICE: %s", strerror(errno));
}

static int start_threads(struct agent *a, const struct agent_options *o)
{
	bool lldp = !o->lldp || strcmp(o->lldp, "none");

	if (notif_start(a) || (lldp && lldp_start(a, o->lldp, notif_changed)))
		return -1;
	if (cm_start(a, &o->cm) || netconf_start(a))
		return -1;
	return o->nmanagers ? home_start(a, o->managers, o->nmanagers) : 0;
}

static int start_agent(struct agent *a, const struct agent_options *o)
{
	if (netconf_init(a, o->yang, &rpc_ops, o->max))
		return -1;
	if (o->ssh.addr)
		snprintf(a->addrs[a->naddrs++], sizeof(a->addrs[0]), "%s",
			 o->ssh.addr);
	if (o->tls.addr && (!o->ssh.addr || strcmp(o->ssh.addr, o->tls.addr)))
		snprintf(a->addrs[a->naddrs++], sizeof(a->addrs[0]), "%s",
			 o->tls.addr);
	if ((o->ssh.addr || o->tls.cert) &&
	    netconf_listen_remote(a, o->ssh.addr ? &o->ssh : NULL,
				  o->tls.cert ? &o->tls : NULL))
		return -1;
	/*
	 * A script that waits for the UNIX socket expects all transports to be
	 * ready.
	 */
	if (netconf_listen_unix(a, o->sock, o->mode))
		return -1;
	drop_net_bind();
	if (inc_pidfile_write("inc-agentd", o->pidfile))
		return -1;
	if (!start_threads(a, o))
		return 0;
	inc_pidfile_remove(o->pidfile);
	return -1;
}

int main(int argc, char **argv)
{
	/* Threads that have started may outlive this function. */
	static struct agent a;
	struct agent_options o;
	sigset_t set;
	int sig;

	inc_output_open();
	/* Threads inherit the mask: only main() takes these signals. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	options_read(&o, argc, argv);
	log_start("inc-agentd", o.level);
	limit_memory(o.max_memory);
	signal(SIGPIPE, SIG_IGN);
	if (name_init(&a, o.id, o.state))
		return o.id ? 2 : 1;
	if (start_agent(&a, &o)) {
		netconf_unlisten(&a);
		return 1;
	}
	log_info("ready");
	inc_notify("READY=1");
	while (!sigwait(&set, &sig) && sig == SIGHUP)
		netconf_reload(&a);
	inc_notify("STOPPING=1");
	home_stop(&a);
	cm_stop(&a);
	lldp_stop(&a);
	notif_stop(&a);
	netconf_stop(&a);
	notif_free(&a);
	lldp_free(&a);
	inc_pidfile_remove(o.pidfile);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool save and restore: print the switch's settings, trees and members as
 * the commands of a batch file that creates them again.
 *
 * All settings, QPNs and first PSNs are restored. R_Keys are not, as the kernel
 * always chooses them, nor is the state of messages: if a tree was in use, its
 * members have advanced beyond the first PSNs that are saved.
 */
#include "common.h"

#include <arpa/inet.h>
#include <inttypes.h>

#include "collect.h"
#include "tool.h"

static const char save_usage[] =
"Usage: inc-tool save [ > FILE ]\n"
"Print the commands that recreate this switch. Requires CAP_NET_ADMIN.\n";

static const char restore_usage[] =
"Usage: inc-tool restore FILE\n"
"Run the commands of a file, as -batch does; \"-\" is standard input.\n";

static void put_tree(const struct inc_nl_tree *t)
{
	unsigned int i;

	printf("tree add id %u ranks %u slots %u msg-size %u pmtu %u first-msg-id %u \\\n"
	       "\tcollectives 0x%x dtypes 0x%x ops 0x%x \\\n"
	       "\twindow %u hold %u min-rto %u dead-time %u order %s",
	       t->id, t->ranks, t->slots, t->msg_size, t->pmtu,
	       t->first_msg_id, t->collectives, t->dtypes, t->ops, t->window,
	       t->hold, t->min_rto, t->dead_time,
	       inc_nl_order_name(t->order));
	if (t->traffic_class)
		printf(" traffic-class %u", t->traffic_class);
	if (t->ecn)
		printf(" ecn %s", inc_nl_ecn_name(t->ecn));
	if (t->priority)
		printf(" priority %u", t->priority);
	if (t->cnp_interval != RDMA_INC_DEFAULT_CNP_INTERVAL)
		printf(" cnp-interval %u", t->cnp_interval);
	if (INC_NL_HAS(t, TREE_JOB_RANKS))
		printf(" \\\n\tjob-ranks %u first-rank %u", t->job_ranks,
		       t->first_rank);
	for (i = 0; i < t->nbelow; i++)
		printf("%s%u", i ? "," : " \\\n\tbelow ", t->below[i]);
	putchar('\n');
	if (INC_NL_HAS(t, TREE_JOB_RANKS))
		printf("# needs parent set, with the values that the parent prints\n");
}

static const char *addr_text(const struct inc_nl_addr *addr, char *text)
{
	return inet_ntop(addr->len == 4 ? AF_INET : AF_INET6, addr->bytes, text,
			 INET6_ADDRSTRLEN);
}

static void put_member(const struct inc_nl_member *m)
{
	const char *transport = m->transport == RDMA_INC_TRANSPORT_UC ?
				" transport uc" : "";
	char peer[INET6_ADDRSTRLEN], local[INET6_ADDRSTRLEN], by[32] = "";

	if (m->ifindex)
		snprintf(by, sizeof(by), " ifindex %u", m->ifindex);
	if (!m->peer_addr.len) {
		printf("member add tree %u rank %u local-qpn 0x%06x local-psn 0x%06x%s%s\n"
		       "# waits for its host, which needs a new rkey\n",
		       m->tree_id, m->rank, m->qpn, m->psn, transport, by);
		return;
	}
	printf("member add tree %u rank %u addr %s qpn 0x%06x psn 0x%06x \\\n"
	       "\tlocal %s local-qpn 0x%06x local-psn 0x%06x pkey 0x%04x%s%s\n",
	       m->tree_id, m->rank, addr_text(&m->peer_addr, peer),
	       m->peer_qpn, m->peer_psn, addr_text(&m->local_addr, local),
	       m->qpn, m->psn, m->pkey, transport, by);
	if (m->stats[RDMA_INC_A_MEMBER_STATS_RX_PACKETS])
		printf("# was in use: the host's QP must start again, too\n");
}

static int put_all(const struct snapshot *snap)
{
	size_t t, r;

	printf("# inc-tool " TOOL_VERSION " save\n"
	       "switch set memory-limit %" PRIu64 " max-trees %u max-ranks %u \\\n"
	       "\tmax-slots %u max-tree-memory %" PRIu64 " max-tree-hold %" PRIu64 "\n",
	       snap->sw.memory_limit, snap->sw.max_trees, snap->sw.max_ranks,
	       snap->sw.max_slots, snap->sw.max_tree_memory,
	       snap->sw.max_tree_hold);
	for (t = 0; t < snap->ntrees; t++) {
		const struct inc_nl_tree *tree = &snap->trees[t];

		if (tree->state == RDMA_INC_TREE_STATE_FAILED) {
			printf("# tree %u has failed and is left out\n",
			       tree->id);
			continue;
		}
		put_tree(tree);
		for (r = 0; r < snap->nmembers; r++) {
			const struct inc_nl_member *m = &snap->members[r];

			if (m->tree_id != tree->id)
				continue;
			if (!INC_NL_HAS(m, MEMBER_PSN)) {
				fputs("inc-tool: save: PSNs are not shown without CAP_NET_ADMIN\n",
				      stderr);
				return TOOL_FAILED;
			}
			put_member(m);
		}
	}
	return TOOL_OK;
}

int cmd_save(int argc, char **argv)
{
	struct snapshot snap;
	struct inc_nl *nl;
	int rc;

	if (wants_help(argc, argv)) {
		fputs(save_usage, stdout);
		return TOOL_OK;
	}
	if (argc)
		return tool_fail("save: unexpected argument \"%s\"", argv[0]);
	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;
	if (snapshot_take(nl, 0, 0, &snap))
		rc = tool_nl_fail(nl);
	else
		rc = put_all(&snap);
	snapshot_free(&snap);
	return rc;
}

int cmd_restore(int argc, char **argv)
{
	if (wants_help(argc, argv)) {
		fputs(restore_usage, stdout);
		return TOOL_OK;
	}
	if (argc != 1)
		return tool_fail("restore: %s", argc ? "it takes one file" :
						       "a file is missing");
	return batch_run(argv[0]);
}

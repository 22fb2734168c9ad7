// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reports of switches, by notifications and in answers, and their effects on
 * groups.
 */
#include <stdio.h>

#include "group/group.h"
#include "rdma_inc_proto.h"

#define LINKS_TOLD_MAX	64	/* for each answer */

/* Message failures that a rank can cause. */
static const char *const statuses[] = {
	[INC_STATUS_VERSION]	= "version",
	[INC_STATUS_COLLECTIVE]	= "collective",
	[INC_STATUS_DTYPE]	= "data type",
	[INC_STATUS_TREE_ID]	= "tree ID",
	[INC_STATUS_MSG_ID]	= "message ID",
	[INC_STATUS_LENGTH]	= "length",
	[INC_STATUS_MISMATCH]	= "mismatch",
	[INC_STATUS_ROOT]	= "root",
};

/* --- Trees --------------------------------------------------------------- */

/* Describe a member. Returns its rank; -1: a switch, or the parent. */
static int describe_member(const struct subtree *subtree, int member,
			   char *text, size_t len)
{
	const struct group *g = subtree->group;
	const struct rank *r = member < 0 ? NULL :
			       subtree_rank(subtree, (uint32_t)member);
	const struct subtree *child;
	uint32_t i;

	if (r) {
		snprintf(text, len, "rank %u", r->join.rank);
		return (int)r->join.rank;
	}
	for (i = 0; member >= 0 && i < g->nsubtrees; i++) {
		child = &g->subtrees[i];
		if (child->parent != subtree || child->place != (uint32_t)member)
			continue;
		snprintf(text, len, "switch %s, with ranks %u to %u",
			 sw_name(child->sw), child->first,
			 child->first + child->count - 1);
		return -1;
	}
	snprintf(text, len, "%s %s", subtree->parent ? "its parent, switch" :
		 "a member of switch", sw_name(subtree->parent ?
					       subtree->parent->sw : subtree->sw));
	return -1;
}

static void note_tree_failed(struct subtree *subtree, unsigned int status)
{
	char who[128], link[192];
	int rank;

	if (!status)
		status = INC_STATUS_PEER_DEAD;
	if (!subtree->lost_why[0]) {
		group_undetermined_tree(subtree->group, status,
					"tree %u of switch %s has failed",
					subtree->tree.id, sw_name(subtree->sw));
		return;
	}
	rank = describe_member(subtree, subtree->lost_member, who, sizeof(who));
	if (group_down_link(subtree->group, rank, link, sizeof(link)))
		group_fail(subtree->group, CAUSE_LINK, rank, status, "%s", link);
	else
		group_fail(subtree->group, CAUSE_TREE, rank, status,
			   "switch %s has lost %s (%s%s)", sw_name(subtree->sw),
			   who, subtree->lost_why,
			   inc_job_hint(subtree->lost_why));
}

/* The kernel names the member before it reports that its tree has failed. */
static void note_member_error(struct subtree *subtree,
			      const struct sw_notif *notif)
{
	if (subtree->lost_why[0])
		return;
	subtree->lost_member = notif->member;
	snprintf(subtree->lost_why, sizeof(subtree->lost_why), "%s",
		 notif->text[0] ? notif->text : "error");
}

static void note_slot_failed(const struct subtree *subtree,
			     const struct sw_notif *notif)
{
	struct inc_rdv_msg msg = {
		.type	= INC_RDV_WRONG,
		.status	= notif->status,
		.msg_id	= notif->msg_id,
	};
	char wrong[128], unlike[128];
	const char *status = NULL;

	if (notif->member < 0)
		return;
	if (notif->status < sizeof(statuses) / sizeof(statuses[0]))
		status = statuses[notif->status];
	msg.rank = describe_member(subtree, notif->member, wrong, sizeof(wrong));
	describe_member(subtree, notif->other_member, unlike, sizeof(unlike));
	inc_job_say_wrong(&msg, wrong, notif->other_member >= 0 ? unlike : NULL,
			  status);
	if (msg.rank < 0)
		group_undetermined_message(subtree->group, &msg);
	else
		group_log_wrong(subtree->group, &msg);
}

/* Handle a notification of a switch's agent. */
void group_on_notif(struct manager *m, const struct sw_notif *notif)
{
	struct subtree *subtree = group_find_subtree(m, notif->sw, notif->tree);

	switch (notif->kind) {
	case SW_NOTIF_WATCHED:
	case SW_NOTIF_UNWATCHED:
	case SW_NOTIF_LINK:
		if (!m->stop)
			sw_refresh(notif->sw);
		return;
	case SW_NOTIF_TREE_FAILED:
		if (subtree)
			note_tree_failed(subtree, notif->status);
		return;
	case SW_NOTIF_TREE_DELETED:
		/*
			 * A tree's ID is free before its members have heard of its
			 * end, so this may be an earlier tree: ask the switch.
		 */
		if (subtree && subtree->exists && !m->stop)
			sw_refresh(notif->sw);
		return;
	case SW_NOTIF_MEMBER_ERROR:
		if (subtree)
			note_member_error(subtree, notif);
		return;
	case SW_NOTIF_SLOT_FAILED:
		if (subtree)
			note_slot_failed(subtree, notif);
		return;
	}
}

/* --- Switches ------------------------------------------------------------ */

/* Limited: a switch with 20,000 interfaces could fill the list of events. */
static void compare_links(struct manager *m, const struct sw *sw,
			  const struct sw_snapshot *before)
{
	const struct sw_if *was, *is;
	unsigned int i, told = 0;

	for (i = 0; i < before->nifs; i++) {
		was = &before->ifs[i];
		is = sw_if_again(sw->info, was->index, was->name);
		if (was->up == (is && is->up) || told++ >= LINKS_TOLD_MAX)
			continue;
		if (was->up)
			event_log(&m->events, EVENT_LINK_DOWN, sw_name(sw),
				  "interface %s%s", was->name,
				  is ? "" : " is gone");
		else
			event_log(&m->events, EVENT_LINK_UP, sw_name(sw),
				  "interface %s", was->name);
	}
	if (told > LINKS_TOLD_MAX)
		event_log(&m->events, EVENT_LINK_DOWN, sw_name(sw),
			  "%u interfaces more have gone down or come up",
			  told - LINKS_TOLD_MAX);
}

static const struct sw_tree *find_tree(const struct sw_snapshot *info,
				       uint32_t id)
{
	uint32_t i;

	for (i = 0; i < info->ntrees; i++)
		if (info->trees[i].id == id)
			return &info->trees[i];
	return NULL;
}

/*
 * Find a subtree that is gone, or has failed: its notification may have been
 * lost, or have come while no manager ran. @tree: NULL: the subtree is gone.
 */
static struct subtree *find_bad_subtree(struct group *g, const struct sw *sw,
					const struct sw_tree **tree)
{
	struct subtree *subtree;
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++) {
		subtree = &g->subtrees[i];
		if (subtree->sw != sw || !subtree->exists ||
		    subtree->made_at >= sw->refresh.asked_at)
			continue;
		*tree = find_tree(sw->info, subtree->tree.id);
		if (!*tree || (*tree)->error)
			return subtree;
	}
	return NULL;
}

/* Has none of the ranks come back to this manager yet? */
static bool are_all_away(const struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->request.ranks; i++)
		if (g->ranks[i].stream)
			return false;
	return true;
}

static void check_subtrees(struct group *g, const struct sw *sw)
{
	const struct sw_tree *tree = NULL;
	struct subtree *subtree = find_bad_subtree(g, sw, &tree);

	/*
	 * A tree fails when members are deleted, so also when a group ends in
	 * order; but ranks that are away have no more use for it.
	 */
	if (g->state == GROUP_ENDING) {
		if (subtree && are_all_away(g))
			group_raise(g, GROUP_EV_ENDED);
		return;
	}
	if (subtree && tree)
		note_tree_failed(subtree, tree->error);
	else if (subtree)
		group_fail(g, CAUSE_TREE, -1, INC_STATUS_TREE_GONE,
			   "tree %u of switch %s is gone", subtree->tree.id,
			   sw_name(sw));
	else if (group_is_joined(g->state))
		group_check_links(g, sw);
}

static void log_state(struct manager *m, struct sw *sw)
{
	if (sw->up == sw->reported_up)
		return;
	sw->reported_up = sw->up;
	event_log(&m->events, sw->up ? EVENT_SWITCH_UP : EVENT_SWITCH_DOWN,
		  sw_name(sw), "%s", sw->up ? sw->address : sw->why);
}

static void lose_switch(struct manager *m, const struct sw *sw)
{
	struct group *g;

	event_log(&m->events, EVENT_SWITCH_LOST, sw_name(sw), "%u answers missed: %s",
		  sw->refresh.missed, sw->why);
	for (g = m->groups; g; g = g->next)
		if (group_uses(g, sw))
			group_fail(g, CAUSE_SWITCH, -1, INC_STATUS_TREE_GONE,
				   "switch %s is lost: %s", sw_name(sw),
				   sw->why);
}

/*
 * Handle an answer of a switch's agent, or a missed one.
 * @before: previous answer; NULL: none, or this one was missed
 */
void group_on_snapshot(struct manager *m, struct sw *sw,
		       const struct sw_snapshot *before)
{
	struct group_at *at;

	if (m->stop)
		return;
	log_state(m, sw);
	if (!sw->up) {
		if (sw->refresh.missed == m->o.agent_misses + 1 &&
		    sw->refresh.missed_at == m->loop.now)
			lose_switch(m, sw);
		return;
	}
	if (before)
		compare_links(m, sw, before);
	/* Even groups whose trees are still being made may have lost one. */
	LIST_FOREACH(at, &sw->groups, by_sw)
		if (at->g->state != GROUP_OVER && !at->g->making.err)
			check_subtrees(at->g, sw);
}

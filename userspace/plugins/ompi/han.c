// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Bypasses coll/han where it is wrong.
 *
 * In Open MPI 5.0.7, coll/han puts the blocks of a Gather, Scatter or Allgather
 * into the wrong order on some communicators whose ranks are not grouped by
 * host. Where this component would fall through to it, it falls through to the
 * function that Open MPI would use without coll/han.
 *
 * This file also knows each rank's node.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/proc/proc.h"
#include "opal/mca/pmix/pmix-internal.h"

#define UNKNOWN	UINT32_MAX

/* Nodes of this job's processes, by their numbers; UNKNOWN: not asked yet. */
static uint32_t *nodes;
static uint32_t nnodes;

/*
 * Allocate the table of this job's processes. Context: MPI starts; later,
 * several threads may use it at a time.
 */
void coll_inc_hosts_init(void)
{
	free(nodes);
	nnodes = opal_process_info.num_procs;
	nodes = malloc(nnodes * sizeof(*nodes));
	if (nodes)
		memset(nodes, 0xff, nnodes * sizeof(*nodes));
	else
		nnodes = 0;
}

/* The launcher has told all processes the same, so no message is needed. */
static uint32_t ask_node(opal_process_name_t name)
{
	uint32_t node = UNKNOWN, *to = &node;
	int ret;

	OPAL_MODEX_RECV_VALUE_OPTIONAL(ret, PMIX_NODEID, &name, &to,
				       PMIX_UINT32);
	return ret == PMIX_SUCCESS ? node : UNKNOWN;
}

static uint32_t node_of(ompi_communicator_t *comm, int rank)
{
	opal_process_name_t name =
		ompi_comm_peer_lookup(comm, rank)->super.proc_name;

	/* Knowledge of other jobs may differ between processes. */
	if (name.jobid != OPAL_PROC_MY_NAME.jobid)
		return UNKNOWN;
	if (name.vpid >= nnodes)
		return ask_node(name);
	if (nodes[name.vpid] == UNKNOWN)
		nodes[name.vpid] = ask_node(name);
	return nodes[name.vpid];
}

/* Are each host's ranks consecutive? Returns the same on all ranks. */
static bool is_grouped(ompi_communicator_t *comm)
{
	uint32_t last = node_of(comm, 0), node;
	int i, k;

	for (i = 1; i < ompi_comm_size(comm) && last != UNKNOWN; i++) {
		node = node_of(comm, i);
		for (k = 0; node != last && k < i; k++)
			if (node_of(comm, k) == node)
				return false;
		last = node;
	}
	return last != UNKNOWN;
}

/*
 * Check whether any host has several ranks. Returns true if unknown, too; the
 * same on all ranks.
 */
bool coll_inc_hosts_shared(ompi_communicator_t *comm)
{
	uint32_t node;
	int i, k;

	for (i = 0; i < ompi_comm_size(comm); i++) {
		node = node_of(comm, i);
		if (node == UNKNOWN)
			return true;
		for (k = 0; k < i; k++)
			if (node_of(comm, k) == node)
				return true;
	}
	return false;
}

static bool is_han(const mca_coll_base_avail_coll_t *avail)
{
	return !strcmp(avail->ac_component_name, "han");
}

/* Does coll/han have a module for @comm? */
static bool has_han(const ompi_communicator_t *comm)
{
	mca_coll_base_avail_coll_t *a;

	OPAL_LIST_FOREACH(a, comm->c_coll->module_list,
			  mca_coll_base_avail_coll_t)
		if (is_han(a))
			return true;
	return false;
}

/* Fall through to other components where coll/han is wrong. */
void coll_inc_around_han(struct coll_inc_module *m, ompi_communicator_t *comm)
{
	mca_coll_base_avail_coll_t *a;

	if (!comm->c_coll->module_list || !has_han(comm) || is_grouped(comm))
		return;
	/* The last match in the list has the highest priority. */
#define AROUND(name)							\
	OPAL_LIST_FOREACH(a, comm->c_coll->module_list,			\
			  mca_coll_base_avail_coll_t) {			\
		if (is_han(a) || a->ac_module == &m->super ||		\
		    !a->ac_module->coll_##name)				\
			continue;					\
		OBJ_RETAIN(a->ac_module);				\
		OBJ_RELEASE(m->below.name##_module);			\
		m->below.name = a->ac_module->coll_##name;		\
		m->below.name##_module = a->ac_module;			\
	}
	AROUND(allgather)
	AROUND(gather)
	AROUND(scatter)
#undef AROUND
}

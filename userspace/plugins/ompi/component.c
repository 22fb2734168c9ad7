// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The component that Open MPI looks up in mca_coll_inc.so.
 */
#include "coll_inc.h"

#include "ompi/mca/mca.h"

static int init_query(bool progress_threads, bool mpi_threads)
{
	return OMPI_SUCCESS;
}

static int component_open(void)
{
	coll_inc_output = opal_output_open(NULL);
	opal_output_set_verbosity(coll_inc_output, coll_inc_params.verbose);
	coll_inc_params_tell();
	coll_inc_hosts_init();
	return OMPI_SUCCESS;
}

static int component_close(void)
{
	coll_inc_aside_end();
	coll_inc_progress_end();
	coll_inc_watch_end();
	coll_inc_show_stats();
	opal_output_close(coll_inc_output);
	return OMPI_SUCCESS;
}

static int component_register(void);

OMPI_DECLSPEC mca_coll_base_component_2_4_0_t mca_coll_inc_component = {
	.collm_version = {
		MCA_COLL_BASE_VERSION_2_4_0,
		.mca_component_name = "inc",
		MCA_BASE_MAKE_VERSION(component, 1, 0, 0),
		.mca_open_component = component_open,
		.mca_close_component = component_close,
		.mca_register_component_params = component_register,
	},
	.collm_data = { MCA_BASE_METADATA_PARAM_CHECKPOINT },
	.collm_init_query = init_query,
	.collm_comm_query = coll_inc_comm_query,
};

static void add_param(const char *name, const char *text,
		      mca_base_var_type_t type, void *value)
{
	mca_base_component_var_register(&mca_coll_inc_component.collm_version,
					name, text, type, NULL, 0, 0,
					OPAL_INFO_LVL_4,
					MCA_BASE_VAR_SCOPE_READONLY, value);
}

static int component_register(void)
{
	struct coll_inc_params *p = &coll_inc_params;

	*p = (struct coll_inc_params) {
		.priority	 = 90,
		.min_ranks	 = 2,
		.meet_after	 = 16,
		.max_bytes	 = 1UL << 31,
		.max_persistent	 = 8,
		.join_timeout_ms = 10000,
		.try_timeout_ms	 = 700,
	};
	add_param("priority", "Priority of coll/inc; 0 switches it off",
		  MCA_BASE_VAR_TYPE_INT, &p->priority);
	add_param("verbose",
		  "1: which communicators go through the switch, or why not; 2: and which operations",
		  MCA_BASE_VAR_TYPE_INT, &p->verbose);
	add_param("stats",
		  "At the end, say how many operations went through the switch, and why others did not; 1: of the first rank, 2: of each",
		  MCA_BASE_VAR_TYPE_INT, &p->stats);
	add_param("server",
		  "HOST[:PORT] of the rendezvous daemon (inc-tool serve); default: environment INC_SERVER",
		  MCA_BASE_VAR_TYPE_STRING, &p->server);
	add_param("min_ranks",
		  "Smallest communicator that goes through the switch",
		  MCA_BASE_VAR_TYPE_INT, &p->min_ranks);
	add_param("meet_after",
		  "A communicator's ranks meet at the switch in its suitable collective of this number; until then, all fall through. Each further 16 KiB of a collective's data count as one more. 1: in the first one",
		  MCA_BASE_VAR_TYPE_INT, &p->meet_after);
	add_param("min_bytes",
		  "Smallest data of a rank (for blocks, of one block) that goes through the switch",
		  MCA_BASE_VAR_TYPE_UNSIGNED_LONG, &p->min_bytes);
	add_param("max_bytes", "Largest, likewise",
		  MCA_BASE_VAR_TYPE_UNSIGNED_LONG, &p->max_bytes);
	add_param("max_persistent",
		  "Persistent operations of a communicator that may have trees of their own at a time, 0 to 16; others fall through",
		  MCA_BASE_VAR_TYPE_INT, &p->max_persistent);
	add_param("same_bits",
		  "Add up and multiply floating-point numbers in the switch's order also where an operation falls through, so that results have the same bits; not where hosts have several ranks",
		  MCA_BASE_VAR_TYPE_BOOL, &p->same_bits);
	add_param("timeout_ms",
		  "Milliseconds without any progress after which an operation ends with an error; 0: never, since a rank may come late. Ranks, links and switches that die are noticed without",
		  MCA_BASE_VAR_TYPE_INT, &p->timeout_ms);
	add_param("join_timeout_ms",
		  "Milliseconds that the ranks of a communicator wait for each other at the daemon",
		  MCA_BASE_VAR_TYPE_INT, &p->join_timeout_ms);
	add_param("try_timeout_ms",
		  "Milliseconds that a process's first meetings wait until it knows whether it can use the switch; 0: not at all",
		  MCA_BASE_VAR_TYPE_INT, &p->try_timeout_ms);
	return OMPI_SUCCESS;
}

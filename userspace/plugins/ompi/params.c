// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Checks that all ranks decide alike.
 *
 * Parameters determine which operations go through the switch. Ranks with other
 * parameters, or without coll/inc, would call other collectives than the rest,
 * and all would wait forever. So each process publishes its parameters when MPI
 * starts, along with the data that Open MPI exchanges anyway, and ranks compare
 * them before they meet. The comparison needs no collective, in which the odd
 * rank would not take part.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

#include "ompi/mca/mca.h"
#include "ompi/proc/proc.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/util/proc.h"

struct coll_inc_params coll_inc_params;
int coll_inc_output = -1;

#define KEY		"coll.inc.params"
#define TEXT_MAX	256
#define THREADS_AT	8	/* character of "threads=N" */
#define LIMIT		5	/* seconds to wait for a process's parameters */

/*
 * Processes of this job known to have the same parameters, by number; THREADS:
 * they, or this process, also allow several threads in MPI.
 */
enum { UNKNOWN, SAME, THREADS };
static unsigned char *known;
static uint32_t nknown;

/* Skip the first word, the number of threads, which may differ. */
static const char *skip_threads(const char *text)
{
	text += strcspn(text, " ");
	return *text ? text + 1 : text;
}

/* List all that decisions depend on, and the layout of data on this machine. */
static void own_text(char text[TEXT_MAX])
{
	const struct coll_inc_params *p = &coll_inc_params;
	const uint16_t order = 1;

	snprintf(text, TEXT_MAX,
		 "threads=%d version=2 priority=%d min_ranks=%d meet_after=%d min_bytes=%lu max_bytes=%lu max_persistent=%d same_bits=%d sizeof_long=%zu little_endian=%d",
		 ompi_mpi_thread_multiple, p->priority, p->min_ranks,
		 p->meet_after, p->min_bytes, p->max_bytes, p->max_persistent, p->same_bits,
		 sizeof(long), *(const char *)&order);
}

/*
 * Publish this process's parameters. Context: MPI starts; nothing has been
 * exchanged yet.
 */
void coll_inc_params_tell(void)
{
	char text[TEXT_MAX];
	int ret;

	free(known);
	nknown = opal_process_info.num_procs;
	known = calloc(nknown, 1);
	/* Other ranks will find no parameters of this process. */
	if (!known)
		return;
	own_text(text);
	OPAL_MODEX_SEND_VALUE(ret, PMIX_GLOBAL, KEY, text, PMIX_STRING);
	if (ret == PMIX_SUCCESS)
		ret = PMIx_Commit();
	if (ret != PMIX_SUCCESS)
		coll_inc_say(1, "coll/inc: other ranks cannot be told this one's parameters (PMIx: %s): nothing will go through the switch; is the launcher's daemon here all right (prted, slurmd)?",
			     PMIx_Error_string(ret));
}

/* Length of the first word, if it is the same in both. */
static size_t same_word(const char *a, const char *b)
{
	size_t len = strcspn(a, " ");

	return len == strcspn(b, " ") && !strncmp(a, b, len) ? len : 0;
}

static void report_mismatch(ompi_communicator_t *comm, int rank,
			    const char *mine, const char *other)
{
	size_t len;

	if (ompi_comm_rank(comm) && coll_inc_params.verbose < 1)
		return;
	if (!other) {
		opal_output(coll_inc_output,
			    "coll/inc: %s: rank %d has no coll/inc: nothing goes through the switch",
			    comm->c_name, rank);
		return;
	}
	while ((len = same_word(mine, other)) && mine[len]) {
		mine += len + 1;
		other += len + 1;
	}
	opal_output(coll_inc_output,
		    "coll/inc: %s: rank %d has coll_inc_%.*s, rank %d coll_inc_%.*s: nothing goes through the switch",
		    comm->c_name, ompi_comm_rank(comm), (int)strcspn(mine, " "),
		    mine, rank, (int)strcspn(other, " "), other);
}

/* Get the text that @name has published, to be freed; NULL: none. */
static char *ask_peer(const opal_process_name_t *name)
{
	pmix_value_t *value = NULL;
	int limit = LIMIT;
	char *text = NULL;
	pmix_proc_t proc;
	pmix_info_t info;

	OPAL_PMIX_CONVERT_NAME(&proc, name);
	PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &limit, PMIX_INT);
	if (PMIx_Get(&proc, KEY, &info, 1, &value) == PMIX_SUCCESS && value &&
	    value->type == PMIX_STRING)
		text = strdup(value->data.string);
	PMIX_INFO_DESTRUCT(&info);
	if (value)
		PMIX_VALUE_RELEASE(value);
	return text;
}

static bool same_at(ompi_communicator_t *comm, int rank, const char *mine)
{
	opal_process_name_t name =
		ompi_comm_peer_lookup(comm, rank)->super.proc_name;
	bool of_job = name.jobid == OPAL_PROC_MY_NAME.jobid &&
		      name.vpid < nknown;
	char *other;
	bool same;

	if (of_job && known[name.vpid])
		return true;
	other = ask_peer(&name);
	same = other && !strcmp(skip_threads(mine), skip_threads(other));
	if (!same)
		report_mismatch(comm, rank, skip_threads(mine), other ?
				skip_threads(other) : NULL);
	else if (of_job)
		known[name.vpid] = mine[THREADS_AT] == '0' &&
				   other[THREADS_AT] == '0' ? SAME : THREADS;
	free(other);
	return same;
}

/*
 * Check that all ranks have the same parameters. Returns the same on all
 * ranks: if one differs, each rank finds a difference.
 */
bool coll_inc_params_same(ompi_communicator_t *comm)
{
	char mine[TEXT_MAX];
	int i;

	if (!known)
		return false;
	own_text(mine);
	for (i = 0; i < ompi_comm_size(comm); i++)
		if (i != ompi_comm_rank(comm) && !same_at(comm, i, mine))
			return false;
	return true;
}

/*
 * Check whether any rank has MPI_THREAD_MULTIPLE. Returns true if unknown, too;
 * the same on all ranks.
 * @comm: communicator whose ranks have the same parameters
 */
bool coll_inc_params_threads(ompi_communicator_t *comm)
{
	opal_process_name_t name;
	int i;

	for (i = 0; i < ompi_comm_size(comm); i++) {
		name = ompi_comm_peer_lookup(comm, i)->super.proc_name;
		if (i == ompi_comm_rank(comm))
			continue;
		if (name.jobid != OPAL_PROC_MY_NAME.jobid ||
		    name.vpid >= nknown || known[name.vpid] != SAME)
			return true;
	}
	return false;
}

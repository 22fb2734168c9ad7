// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The trees of communicators that were revoked or have lost a process.
 *
 * Open MPI fails its own messages of such a communicator, which ends its collectives.
 * Ours have no such messages, so a progress function ends the communicator's trees,
 * and every wait for them fails as for any tree that is gone. The communicator of a
 * host's ranks, which is ours alone, is revoked.
 */
#include <errno.h>
#include <stddef.h>

#include "coll_inc.h"

#include "opal/runtime/opal_progress.h"

/* Modules with trees, under coll_inc_lock(). */
static opal_list_t watched;
static bool running;

static void revoke_local(ompi_communicator_t *comm)
{
#if OPAL_ENABLE_FT_MPI
	ompi_comm_revoke_internal(comm);
#endif
}

/* Find a newly lost module. Context: coll_inc_lock() is held. */
static struct coll_inc_module *find_lost(void)
{
	struct coll_inc_module *m;
	opal_list_item_t *item;

	OPAL_LIST_FOREACH(item, &watched, opal_list_item_t) {
		m = (struct coll_inc_module *)((char *)item -
			offsetof(struct coll_inc_module, watched));
		if (!m->lost && coll_inc_lost(m->comm))
			return m;
	}
	return NULL;
}

static int progress_lost(void)
{
	ompi_communicator_t *local = NULL;
	struct coll_inc_module *m;

	if (!coll_inc_trylock())
		return 0;
	m = find_lost();
	if (m) {
		m->lost = true;
		coll_inc_end(m, -ECONNABORTED);
		local = m->local;
	}
	if (local)
		OBJ_RETAIN(local);
	coll_inc_unlock();
	if (local) {
		revoke_local(local);
		OBJ_RELEASE(local);
	}
	return m ? 1 : 0;
}

/* End a communicator's trees once it is lost. */
void coll_inc_watch(struct coll_inc_module *m)
{
	if (!coll_inc_survives())
		return;
	coll_inc_lock();
	if (!running) {
		OBJ_CONSTRUCT(&watched, opal_list_t);
		opal_progress_register(progress_lost);
	}
	running = true;
	OBJ_CONSTRUCT(&m->watched, opal_list_item_t);
	opal_list_append(&watched, &m->watched);
	m->is_watched = true;
	coll_inc_unlock();
}

/* Stop watching a communicator that will have no more trees. */
void coll_inc_unwatch(struct coll_inc_module *m)
{
	if (!m->is_watched)
		return;
	coll_inc_lock();
	opal_list_remove_item(&watched, &m->watched);
	m->is_watched = false;
	coll_inc_unlock();
	OBJ_DESTRUCT(&m->watched);
}

/* End progress. */
void coll_inc_watch_end(void)
{
	if (!running)
		return;
	opal_progress_unregister(progress_lost);
	OBJ_DESTRUCT(&watched);
	running = false;
}

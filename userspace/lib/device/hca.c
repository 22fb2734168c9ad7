// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Open verbs devices, see hca.h. To libibverbs, a device that was removed and
 * added again is a different one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hca.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct inc_hca *hcas;		/* guarded by lock */

static struct inc_hca *open_hca(struct ibv_device *device)
{
	struct inc_hca *hca = calloc(1, sizeof(*hca));
	int flags;

	if (!hca)
		return NULL;
	hca->ctx = ibv_open_device(device);
	if (!hca->ctx) {
		free(hca);
		return NULL;
	}
	/* The thread that reads its events has other work: never block it. */
	flags = fcntl(hca->ctx->async_fd, F_GETFL);
	if (flags >= 0)
		fcntl(hca->ctx->async_fd, F_SETFL, flags | O_NONBLOCK);
	hca->next = hcas;
	hcas = hca;
	return hca;
}

/*
 * Open a device, or share an open one. Returns the device, NULL if it
 * can't be opened (errno).
 */
struct inc_hca *inc_hca_get(struct ibv_device *device)
{
	struct inc_hca *hca;

	pthread_mutex_lock(&lock);
	for (hca = hcas; hca && hca->ctx->device != device; hca = hca->next)
		;
	if (!hca)
		hca = open_hca(device);
	if (hca)
		hca->refs++;
	pthread_mutex_unlock(&lock);
	return hca;
}

static bool has_addr(const struct inc_hca *hca, const char *name,
		     const struct inc_rdv_addr *addr)
{
	return addr->len && hca->gid.addr.len == addr->len &&
	       !memcmp(hca->gid.addr.bytes, addr->bytes, addr->len) &&
	       (!name || !strcmp(name, ibv_get_device_name(hca->ctx->device)));
}

/*
 * Share an open device in which an address was found before. Returns the open
 * device, or NULL.
 * @name: name of the device, NULL: any
 * @gid: filled in; may have changed in the meantime
 */
struct inc_hca *inc_hca_find(const char *name, const struct inc_rdv_addr *addr,
			     struct inc_hca_gid *gid)
{
	struct inc_hca *hca;

	pthread_mutex_lock(&lock);
	for (hca = hcas; hca && !has_addr(hca, name, addr); hca = hca->next)
		;
	if (hca) {
		hca->refs++;
		*gid = hca->gid;
	}
	pthread_mutex_unlock(&lock);
	return hca;
}

/* Remember a GID for inc_hca_find(). */
void inc_hca_found(struct inc_hca *hca, const struct inc_hca_gid *gid)
{
	pthread_mutex_lock(&lock);
	hca->gid = *gid;
	pthread_mutex_unlock(&lock);
}

/*
 * Release a device.
 * @hca: device, NULL does nothing
 */
void inc_hca_put(struct inc_hca *hca)
{
	struct inc_hca **link;

	if (!hca)
		return;
	pthread_mutex_lock(&lock);
	if (!--hca->refs) {
		for (link = &hcas; *link != hca; link = &(*link)->next)
			;
		*link = hca->next;
		if (hca->pd)
			ibv_dealloc_pd(hca->pd);
		ibv_close_device(hca->ctx);
		free(hca);
	}
	pthread_mutex_unlock(&lock);
}

/*
 * Get the protection domain of a device. Returns the protection domain, NULL
 * if it can't be created (errno).
 */
struct ibv_pd *inc_hca_pd(struct inc_hca *hca)
{
	pthread_mutex_lock(&lock);
	if (!hca->pd)
		hca->pd = ibv_alloc_pd(hca->ctx);
	pthread_mutex_unlock(&lock);
	return hca->pd;
}

/* Forget the parent's devices in a child of fork(). */
void inc_hca_forked(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	hcas = NULL;
}

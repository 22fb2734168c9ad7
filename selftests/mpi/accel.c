// SPDX-License-Identifier: GPL-2.0
/*
 * A device for Open MPI's accelerator framework, where there is none: memory at
 * DEVICE that the CPU cannot touch, except through this component's copy
 * functions. Tests find the same memory at SHADOW.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opal_config.h"
#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"

#include "accel.h"

static void *behind(const void *p)
{
	uintptr_t at = (uintptr_t)p;

	return (void *)(at - DEVICE < DEVICE_SIZE ? at - DEVICE + SHADOW : at);
}

static int check_addr(const void *addr, int *dev, uint64_t *flags)
{
	bool on_device = (uintptr_t)addr - DEVICE < DEVICE_SIZE;

	*flags = 0;
	*dev = on_device ? 0 : MCA_ACCELERATOR_NO_DEVICE_ID;
	return on_device;
}

static int create_stream(int dev, opal_accelerator_stream_t **stream)
{
	*stream = OBJ_NEW(opal_accelerator_stream_t);
	return OPAL_SUCCESS;
}

static int create_event(int dev, opal_accelerator_event_t **event)
{
	*event = OBJ_NEW(opal_accelerator_event_t);
	return OPAL_SUCCESS;
}

static int record_event(int dev, opal_accelerator_event_t *event,
			opal_accelerator_stream_t *stream)
{
	return OPAL_SUCCESS;
}

static int query_event(int dev, opal_accelerator_event_t *event)
{
	return OPAL_SUCCESS;
}

static int move(int to_dev, int from_dev, void *to, const void *from,
		size_t size, opal_accelerator_transfer_type_t type)
{
	memmove(behind(to), behind(from), size);
	return OPAL_SUCCESS;
}

static int copy_async(int to_dev, int from_dev, void *to, const void *from,
		      size_t size, opal_accelerator_stream_t *stream,
		      opal_accelerator_transfer_type_t type)
{
	return move(to_dev, from_dev, to, from, size, type);
}

static int get_range(int dev, const void *ptr, void **base, size_t *size)
{
	*base = (void *)DEVICE;
	*size = DEVICE_SIZE;
	return OPAL_SUCCESS;
}

static int get_device(int *dev)
{
	*dev = 0;
	return OPAL_SUCCESS;
}

static int get_buffer_id(int dev, const void *addr,
			 opal_accelerator_buffer_id_t *id)
{
	*id = 1;
	return OPAL_SUCCESS;
}

static opal_accelerator_base_module_t module = {
	.check_addr = check_addr,
	.create_stream = create_stream,
	.create_event = create_event,
	.record_event = record_event,
	.query_event = query_event,
	.mem_copy_async = copy_async,
	.mem_copy = move,
	.mem_move = move,
	.get_address_range = get_range,
	.get_device = get_device,
	.get_buffer_id = get_buffer_id,
};

static bool map(int fd, uintptr_t at, int prot)
{
	return mmap((void *)at, DEVICE_SIZE, prot,
		    MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) == (void *)at;
}

static opal_accelerator_base_module_t *init(void)
{
	int fd = memfd_create("device", MFD_CLOEXEC);
	bool there = fd >= 0 && !ftruncate(fd, DEVICE_SIZE) &&
		     map(fd, DEVICE, PROT_NONE) &&
		     map(fd, SHADOW, PROT_READ | PROT_WRITE);

	close(fd);
	return there ? &module : NULL;
}

static void finalize(opal_accelerator_base_module_t *m)
{
	munmap((void *)DEVICE, DEVICE_SIZE);
	munmap((void *)SHADOW, DEVICE_SIZE);
}

OPAL_DECLSPEC opal_accelerator_base_component_t
mca_accelerator_pretend_component = {
	.base_version = {
		OPAL_ACCELERATOR_BASE_VERSION_1_0_0,
		.mca_component_name = "pretend",
		MCA_BASE_MAKE_VERSION(component, 1, 0, 0),
	},
	.base_data = { MCA_BASE_METADATA_PARAM_CHECKPOINT },
	.accelerator_init = init,
	.accelerator_finalize = finalize,
};

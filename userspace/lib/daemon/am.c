// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Loads libinc-am, which speaks gRPC with the coordinator, only when needed: programs
 * without communicators need neither HTTP/2 nor TLS.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "am.h"

#define NAME_OF(x)	#x
#define NAME(x)		NAME_OF(x)

static const char here[] = "an address in this library or program";

/*
 * Load a library from this library's directory, else from the linker's search
 * path. It stays loaded. Returns its handle for dlsym(), or NULL; dlerror() says
 * why.
 */
static void *load_library(const char *name)
{
	void *lib = NULL;
	const char *end;
	char path[4096];
	Dl_info info;

	if (dladdr(here, &info) && info.dli_fname) {
		end = strrchr(info.dli_fname, '/');
		snprintf(path, sizeof(path), "%.*s/%s",
			 end ? (int)(end - info.dli_fname) : 1,
			 end ? info.dli_fname : ".", name);
		lib = end ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	}
	return lib ? lib : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/*
 * Get libinc-am. Returns its functions; NULL if it is missing. It stays loaded:
 * OpenSSL has functions that run when the program ends.
 * @err_len: size of @err in bytes
 */
const struct inc_am_ops *inc_am_load(char *err, size_t err_len)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const struct inc_am_ops *ops;
	void *lib;

	pthread_mutex_lock(&lock);
	lib = ops ? NULL : load_library(INC_AM_LIBRARY);
	if (lib)
		ops = dlsym(lib, NAME(INC_AM_OPS));
	if (!ops)
		snprintf(err, err_len, "communicators need " INC_AM_LIBRARY ": %s",
			 dlerror());
	pthread_mutex_unlock(&lock);
	return ops;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Loads libraries that only some programs need.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tls/tls.h"

static const char here[] = "an address in this library or program";

/**
 * inc_load_library() - load a library
 * @name: name of its file
 *
 * It is looked for beside this library, else where the linker looks. It stays
 * loaded.
 *
 * Return: for dlsym(), or NULL; dlerror() says why.
 */
void *inc_load_library(const char *name)
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

/**
 * inc_tls_load() - load libinc-tls
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Several threads may do so.
 *
 * Return: its functions, or NULL.
 */
const struct inc_tls_ops *inc_tls_load(char *err, size_t err_len)
{
	const struct inc_tls_ops *ops = NULL;
	void *lib = inc_load_library(INC_TLS_LIBRARY);

	if (lib)
		ops = dlsym(lib, INC_TLS_OPS);
	if (!ops)
		snprintf(err, err_len, "TLS and tokens need " INC_TLS_LIBRARY ": %s",
			 dlerror());
	return ops;
}

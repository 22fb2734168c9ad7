// SPDX-License-Identifier: GPL-2.0
/*
 * To be preloaded, for mpi.sh: PMIx does not take what coll/inc wants to tell the
 * other ranks. Open MPI itself is not hindered.
 */
#include <dlfcn.h>
#include <pmix.h>
#include <string.h>

pmix_status_t PMIx_Commit(void)
{
	pmix_status_t (*commit)(void) = dlsym(RTLD_NEXT, "PMIx_Commit");
	Dl_info who;

	if (dladdr(__builtin_return_address(0), &who) &&
	    strstr(who.dli_fname, "mca_coll_inc"))
		return PMIX_ERR_UNREACH;
	return commit();
}

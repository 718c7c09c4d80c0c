/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads libucp; see the header. It stays loaded: it may have threads of its own.
 */
#include "libbcs/fabric/transport/ucx/ucp_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"

#define UCP_SONAME "libucp.so.0"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define UCP_ROW(name) {#name, offsetof(struct ucp_library, name)},
    UCP_FUNCTIONS(UCP_ROW)
#undef UCP_ROW
};

/** libucs, which libucp brings, would take over the program's SIGSEGV and others. It
 *  reads its settings while it is loaded. */
static void *load_quietly(void)
{
    void *library;

    setenv("UCX_ERROR_SIGNALS", "", 0);
    library = dlopen(UCP_SONAME, RTLD_NOW | RTLD_LOCAL);
    return library;
}

int ucp_library_load(struct ucp_library *library_out)
{
    void *handle = load_quietly();

    if (handle == NULL) {
        bcs_error("several machines need UCX, 1.13 or later, which cannot be loaded: "
                  "%s; install it on each machine (Debian's package libucx0)",
                  dlerror());
        return -ELIBACC;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *address = dlsym(handle, functions[i].name);

        if (address == NULL) {
            bcs_error("several machines need UCX, 1.13 or later: " UCP_SONAME
                      " has no %s",
                      functions[i].name);
            return -ELIBACC;
        }
        memcpy((char *)library_out + functions[i].offset, &address, sizeof(address));
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of transports. A new transport adds its line here. Called by the core when
 * a handle is created and by programs that list what this build has.
 */
#include "libbcs/fabric/transport/transport.h"

#include <stddef.h>
#include <string.h>

#include "libbcs/fabric/base/build_options.h"
#if BCS_TESTS
#include "libbcs/fabric/transport/shm/defer.h"
#endif
#include "libbcs/fabric/transport/shm/shm.h"
#include "libbcs/fabric/transport/ucx/ucx.h"

#if BCS_TESTS
#define TEST_TRANSPORTS(X) X("shm-defer", bcs_shm_defer_ops)
#else
#define TEST_TRANSPORTS(X)
#endif

/* One line a transport, best first. */
#define TRANSPORTS(X)                                                                  \
    X("shm", bcs_shm_ops)                                                              \
    X("ucx", bcs_ucx_ops)                                                              \
    TEST_TRANSPORTS(X)

#define OPS_OF(name, ops) &ops,
#define NAME_OF(name, ops) name,

static const struct bcs_transport_ops *const transports[] = {TRANSPORTS(OPS_OF)};
static const char *const names[] = {TRANSPORTS(NAME_OF) NULL};

const struct bcs_transport_ops *bcs_transport_find(const char *name)
{
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return transports[i];
        }
    }
    return NULL;
}

const char *const *bcs_transport_names(void)
{
    return names;
}

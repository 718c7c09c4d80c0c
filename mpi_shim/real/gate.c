/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes the way from the entry points to us. The fast path of an entry point is
 * one test of one byte: zero means that the shim is active, the MDS off and no tool below
 * us.
 */
#include "mpi_shim/real/gate.h"

#include <pthread.h>
#include <stddef.h>

#include "mds/collect.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"

struct shim_gate shim_gate = {.mpi_is_slow = true, .pmpi_is_slow = true};

static void update(void)
{
    bool is_slow = !shim_gate.is_active || mds_collect != NULL;

    shim_gate.pmpi_is_slow = is_slow;
    shim_gate.mpi_is_slow = is_slow || shim_gate.has_tool;
}

static void resolve_once(void)
{
    shim_gate.has_tool = shim_real_resolve();
    shim_handles_resolve();
}

void shim_gate_resolve(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, resolve_once);
}

void shim_gate_open(void)
{
    shim_gate.is_active = true;
    update();
}

void shim_gate_close(void)
{
    shim_gate.is_active = false;
    update();
}

void shim_gate_forbid(void *unused)
{
    (void)unused;
    shim_gate.is_forked = true;
    shim_gate_close();
}

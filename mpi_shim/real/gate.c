/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes the way from the entry points to us. The fast path of an entry point
 * is one test of one byte: zero means that the shim is active, the MDS and the lint
 * off, no buffers watched, and no tool below us.
 */
#include "mpi_shim/real/gate.h"

#include "libbcs/fabric/base/shm_segment.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

static void update(void)
{
    struct shim_gate *gate = &shim_state.gate;
    bool is_slow = !gate->is_active || shim_state.is_watched || shim_state.lint != NULL;

    gate->pmpi_is_slow = is_slow;
    gate->mpi_is_slow = is_slow || gate->has_tool;
}

static void resolve_once(void)
{
    shim_state.gate.has_tool = shim_real_resolve();
    shim_handles_resolve();
    bcs_shm_mark("bcs-called"); /* bcsrun looks for it: rank_signs.h */
}

void shim_gate_resolve(void)
{
    pthread_once(&shim_state.resolved, resolve_once);
}

void shim_gate_open(void)
{
    shim_state.gate.is_active = true;
    update();
}

void shim_gate_close(void)
{
    shim_state.gate.is_active = false;
    update();
}

void shim_gate_forbid(void *unused)
{
    (void)unused;
    shim_state.gate.is_forked = true;
    shim_gate_close();
}

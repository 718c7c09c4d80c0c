/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of requests; see request.h. Called by the entry points in the
 * application's threads, after shim_enter.
 */
#include "mpi_shim/request/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/notice.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/handles.h"

/** How many requests slab i has. */
static uint32_t slab_size(uint32_t i)
{
    return (uint32_t)SHIM_FIRST_SLAB << (i == 0 ? 0 : i - 1);
}

/** Add a slab. @return whether there is memory */
static bool grow(struct shim_arena *arena)
{
    uint32_t n = arena->n_slabs;
    struct shim_request *slab;

    if (n == SHIM_SLABS_MOST) {
        return false;
    }
    slab = calloc(slab_size(n), sizeof(*slab)); /* what is touched becomes memory */
    if (slab == NULL) {
        return false;
    }
    arena->slabs[n] = slab;
    arena->n_slabs = n + 1;
    return true;
}

int shim_request_setup(void)
{
    struct shim_arena *arena = calloc(1, sizeof(*arena));

    if (arena == NULL || !grow(arena)) {
        free(arena);
        return -ENOMEM;
    }
    shim_state.arena = arena;
    shim_state.requests = arena->slabs[0];
    shim_state.requests_end = arena->slabs[0] + SHIM_FIRST_SLAB;
    return 0;
}

void shim_request_teardown(void)
{
    for (uint32_t i = 0; i < shim_state.arena->n_slabs; i++) {
        free(shim_state.arena->slabs[i]);
    }
    free(shim_state.arena);
    shim_state.requests = NULL;
    shim_state.requests_end = NULL;
    shim_state.arena = NULL;
    shim_at_leave(NULL);
}

struct shim_request *shim_request_find_later(struct shim_request *request)
{
    const struct shim_arena *arena = shim_state.arena;

    for (uint32_t i = 1; arena != NULL && i < arena->n_slabs; i++) {
        if (request >= arena->slabs[i] && request < arena->slabs[i] + slab_size(i)) {
            return request;
        }
    }
    return NULL;
}

/** A request that has never been used. @return NULL: there are as many as may be, or no
 *  memory */
static struct shim_request *touch(struct shim_arena *arena)
{
    uint32_t index = arena->n_touched;
    struct shim_request *request;

    if (index >= bcs_context_requests(shim_context()) ||
        (index == slab_size(arena->n_slabs) && !grow(arena))) {
        return NULL;
    }
    request = shim_request_at(index);
    request->fortran_handle = SHIM_FORTRAN_BASE + (int32_t)index;
    arena->n_touched++;
    return request;
}

void shim_request_rest(struct shim_request *request)
{
    struct shim_arena *arena = shim_state.arena;
    uint32_t i = arena->next_resting++ % SHIM_N_RESTING;
    struct shim_request *rested = arena->resting[i];

    arena->n_used--;
    arena->resting[i] = request;
    if (rested != NULL) {
        rested->next = arena->free;
        arena->free = rested;
    }
}

/** There is no other: take the one that has rested for longest. @return NULL: none */
static struct shim_request *wake(void)
{
    struct shim_arena *arena = shim_state.arena;
    struct shim_request *request = NULL;

    for (uint32_t n = 0; request == NULL && n < SHIM_N_RESTING; n++) {
        uint32_t i = (arena->next_resting + n) % SHIM_N_RESTING;

        request = arena->resting[i];
        arena->resting[i] = NULL;
    }
    return request;
}

struct shim_request *shim_request_new(void)
{
    struct shim_arena *arena = shim_state.arena;
    struct shim_request *request = arena->free;
    int32_t fortran_handle;

    if (request != NULL) {
        arena->free = request->next;
    } else {
        request = touch(arena);
        request = request != NULL ? request : wake();
    }
    if (request == NULL) {
        bcs_notice(BCS_NOTICE_REQUESTS_USED,
                   "rank %u has %u requests, as many as it may",
                   bcs_context_rank(shim_context()), arena->n_used);
        return NULL;
    }
    arena->n_used++;
    fortran_handle = request->fortran_handle;
    memset(request, 0, sizeof(*request));
    request->fortran_handle = fortran_handle;
    return request;
}

/** Let a request have its communicator until it is over, so that it is known what it is
 *  about. */
static void hold_comm(struct shim_request *request)
{
    if (!request->is_persistent && !request->holds_comm &&
        request->kind < SHIM_RECEIVE_MESSAGE) {
        request->comm->n_users++;
        request->holds_comm = true;
        request->is_plain = false; /* there is something to give back */
    }
}

void shim_request_outlive(MPI_Comm comm)
{
    const struct shim_arena *arena = shim_state.arena;
    const struct shim_comm *ours = shim_comm_find(comm);

    if (arena->n_used == 0) {
        return;
    }
    for (uint32_t i = 0; i < arena->n_touched; i++) {
        struct shim_request *request = shim_request_at(i);

        if (request->error_comm == comm) {
            request->error_comm = shim_handles.comm_world;
        }
        if (ours != NULL && request->comm == ours) {
            hold_comm(request);
        }
    }
}

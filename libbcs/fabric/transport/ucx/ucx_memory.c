/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of transport "ucx"; see the header. A second struct, of transport shm,
 * shares the tables of windows with the first, so that near heaps are where they would
 * be without a network. Where all nodes are near there is no network, and nothing of
 * UCX is loaded.
 */
#include "libbcs/fabric/transport/ucx/ucx_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/node_set.h"
#include "libbcs/fabric/transport/shm/shm.h"
#include "libbcs/fabric/transport/shm/shm_memory.h"
#include "libbcs/fabric/transport/ucx/ucx_worker.h"

/** What an address of a node has in it. */
struct ucx_address {
    struct bcs_shm_handle heap;
    uint32_t machine, end; /* the nodes of its machine: from, to */
    struct ucx_worker_address worker;
};

_Static_assert(sizeof(struct ucx_address) <= sizeof(struct bcs_memory_address),
               "an address holds it");

static struct ucx_memory *ucx_of(struct bcs_memory *memory)
{
    return (struct ucx_memory *)memory;
}

static const struct ucx_memory *const_ucx_of(const struct bcs_memory *memory)
{
    return (const struct ucx_memory *)memory;
}

size_t ucx_memory_size(uint32_t n_nodes)
{
    (void)n_nodes;
    return sizeof(struct ucx_memory);
}

int ucx_memory_create(struct bcs_memory *memory, const struct bcs_node_set *makes)
{
    struct ucx_memory *ucx = ucx_of(memory);
    int rc;

    ucx->shm = calloc(1, shm_memory_size(memory->n_nodes));
    if (ucx->shm == NULL) {
        bcs_error("transport ucx: no memory for the names of %u heaps",
                  memory->n_nodes);
        return -ENOMEM;
    }
    *ucx->shm = *memory;
    ucx->shm->ops = &bcs_shm_ops;
    ucx->shm->near = bcs_node_set_range(0, memory->n_nodes); /* it sees no others */
    rc = shm_memory_create(ucx->shm, makes);
    if (rc == 0 && memory->near.n_nodes < memory->n_nodes) {
        rc = ucx_worker_new(ucx, &ucx->worker);
    }
    return rc;
}

struct bcs_memory_address ucx_memory_address(const struct bcs_memory *memory,
                                             uint32_t node)
{
    const struct ucx_memory *ucx = const_ucx_of(memory);
    struct bcs_memory_address address = {{0}};
    struct ucx_address mine = {
        .machine = memory->near.first,
        .end = memory->near.first + memory->near.n_nodes,
    };
    struct bcs_memory_address heap = shm_memory_address(ucx->shm, node);

    memcpy(&mine.heap, &heap, sizeof(mine.heap));
    if (ucx->worker != NULL && ucx_worker_address(ucx->worker, &mine.worker) < 0) {
        mine.worker.n_bytes = 0; /* logged; who needs it is refused */
    }
    memcpy(&address, &mine, sizeof(mine));
    return address;
}

/** Note where the processes of all nodes are. @return 0 or -errno, logged */
static int learn(struct ucx_memory *ucx, const struct bcs_memory_address addresses[])
{
    int rc = 0;

    for (uint32_t i = 0; i < ucx->base.n_nodes && rc == 0; i++) {
        struct ucx_address one;

        memcpy(&one, &addresses[i], sizeof(one));
        if (one.worker.n_bytes == 0) {
            bcs_error("node %u has no address on the network between machines", i);
            return -EADDRNOTAVAIL;
        }
        ucx->worker->peers[i].machine = one.machine;
        ucx->worker->peers[i].end = one.end;
        rc = ucx_worker_learn(ucx->worker, i, &one.worker);
    }
    return rc;
}

int ucx_memory_connect(struct bcs_memory *memory,
                       const struct bcs_memory_address addresses[])
{
    struct ucx_memory *ucx = ucx_of(memory);
    const struct bcs_node_set *near = &memory->near;
    int rc = 0;

    for (uint32_t i = bcs_node_set_step(near, 0); i != BCS_NODE_NONE && rc == 0;
         i = bcs_node_set_step(near, i + 1)) {
        rc = shm_memory_attach(ucx->shm, i, &addresses[i]);
    }
    if (rc < 0 || ucx->worker == NULL) {
        return rc;
    }
    rc = learn(ucx, addresses);
    if (rc == 0) {
        rc = bcs_shm_ops.open(ucx->shm, near->first, &ucx->worker->near);
    }
    return rc < 0 ? rc : ucx_worker_start(ucx->worker);
}

void ucx_memory_seal(struct bcs_memory *memory)
{
    shm_memory_seal(ucx_of(memory)->shm);
}

int ucx_memory_map(const struct bcs_memory *memory, uint32_t node, uint64_t gva,
                   uint64_t n_bytes, void **place_out)
{
    return shm_memory_map(const_ucx_of(memory)->shm, node, gva, n_bytes, place_out);
}

void ucx_memory_fini(struct bcs_memory *memory)
{
    struct ucx_memory *ucx = ucx_of(memory);

    if (ucx->worker != NULL) {
        struct bcs_transport *near = ucx->worker->near;

        ucx_worker_free(ucx->worker);
        if (near != NULL) {
            near->ops->close(near);
        }
    }
    if (ucx->shm != NULL) {
        shm_memory_fini(ucx->shm);
        free(ucx->shm);
    }
}

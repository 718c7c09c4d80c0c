/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of communicators, and the entry points that make and free them. The real
 * library makes every communicator; the shim then agrees with the other members on a
 * context id and a collective slot. Called in the application's threads.
 *
 * Agreement. Rank 0 of the new communicator, its leader, takes a slot of its own range
 * (no two leaders share one) and a number that it has never used, and broadcasts both over
 * the new communicator by the real library. So ids are unique in the job for all time, and
 * members alone take part, which holds for MPI_Comm_create_group, too.
 */
#include "mpi_shim/comm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/base/log.h"
#include "mpi_shim/error.h"
#include "mpi_shim/handles.h"
#include "mpi_shim/slots.h"
#include "mpi_shim/symbols.h"
#include <bcs/bcs.h>

enum { TABLE_SIZE = 256, CONTEXT_SLOT_BITS = 28 };

struct shim_comm *shim_comm_last;

static struct {
    struct shim_comm *heads[TABLE_SIZE];
    uint32_t n_agreed; /* numbers given out by this process */
} table;

/** What the leader tells the members; an id of 0 says that it has no slot left. */
struct agreement {
    uint64_t number;
    uint32_t slot;
    uint32_t is_valid;
};

static struct shim_comm **head_of(MPI_Comm handle)
{
    return &table.heads[((uintptr_t)handle >> 4) % TABLE_SIZE];
}

struct shim_comm *shim_comm_search(MPI_Comm handle)
{
    struct shim_comm *comm = *head_of(handle);

    while (comm != NULL && comm->handle != handle) {
        comm = comm->next;
    }
    if (comm != NULL) {
        shim_comm_last = comm;
    }
    return comm;
}

/** Leader: take a slot and a number. */
static struct agreement propose(void)
{
    struct agreement agreement = {.number = ++table.n_agreed};

    agreement.is_valid = shim_slot_take(&agreement.slot);
    return agreement;
}

enum { TRANSLATE_E_FOREIGN = 1 };

/**
 * The job's port numbers of the members, in rank order.
 *
 * @return 0, -ENOMEM, or TRANSLATE_E_FOREIGN: some member is a process of another job, by
 *         MPI_Comm_spawn or the like; then every member finds one
 */
static int translate(MPI_Comm handle, int size, uint32_t *ports)
{
    MPI_Group group, world;
    int *ranks = malloc(2 * (size_t)size * sizeof(*ranks));
    int rc = 0;

    if (ranks == NULL) {
        return -ENOMEM;
    }
    for (int i = 0; i < size; i++) {
        ranks[i] = i;
    }
    shim_real.Comm_group(handle, &group);
    shim_real.Comm_group(shim_handles.comm_world, &world);
    shim_real.Group_translate_ranks(group, size, ranks, world, ranks + size);
    shim_real.Group_free(&group);
    shim_real.Group_free(&world);
    for (int i = 0; i < size; i++) {
        ports[i] = (uint32_t)ranks[size + i];
        rc = ranks[size + i] == MPI_UNDEFINED ? TRANSLATE_E_FOREIGN : rc;
    }
    free(ranks);
    return rc;
}

static void insert(struct shim_comm *comm, const struct agreement *agreement)
{
    struct shim_comm **head;

    comm->group.context_id = (agreement->number << CONTEXT_SLOT_BITS | agreement->slot)
                             << 1;
    comm->group.slot = agreement->slot;
    comm->group.ports = comm->ports;
    comm->n_users = 1;
    shim_enter();
    if (comm->group.size > 1) {
        bcs_group_open(shim_context(), &comm->group, agreement->number << 32);
    }
    head = head_of(comm->handle);
    comm->next = *head;
    *head = comm;
    shim_leave();
}

int shim_comm_add(MPI_Comm handle)
{
    int is_inter, size;
    struct agreement agreement = {0};
    struct shim_comm *comm;
    int rc;

    if (handle == shim_handles.comm_null ||
        shim_real.Comm_test_inter(handle, &is_inter) != MPI_SUCCESS || is_inter) {
        return MPI_SUCCESS;
    }
    shim_real.Comm_size(handle, &size);
    comm = calloc(1, sizeof(*comm) + (size_t)size * sizeof(comm->ports[0]));
    rc = comm == NULL ? -ENOMEM : translate(handle, size, comm->ports);
    if (rc != 0) {
        free(comm);
        return rc < 0 ? shim_error(handle, MPI_ERR_NO_MEM) : MPI_SUCCESS;
    }
    comm->handle = handle;
    comm->group.size = size;
    shim_real.Comm_rank(handle, &comm->group.rank);
    if (comm->group.rank == 0) {
        shim_enter();
        agreement = propose();
        shim_leave();
    }
    if (size > 1) {
        shim_real.Bcast(&agreement, sizeof(agreement), shim_handles.byte, 0, handle);
    }
    if (!agreement.is_valid) {
        if (comm->group.rank == 0) {
            bcs_error("rank %u leads more than %d communicators at once; free some",
                      shim_context()->rank, NIC_GROUPS_A_PORT);
        }
        free(comm);
        return shim_error(handle, MPI_ERR_NO_MEM);
    }
    insert(comm, &agreement);
    return MPI_SUCCESS;
}

void shim_comm_release(struct shim_comm *comm)
{
    if (--comm->n_users == 0) {
        free(comm->neighbors);
        free(comm);
    }
}

/** Take a communicator out of the table. Its use by the handle remains. */
static void remove_comm(struct shim_comm *comm)
{
    struct shim_comm **link = head_of(comm->handle);

    while (*link != comm) {
        link = &(*link)->next;
    }
    *link = comm->next;
    shim_comm_last = NULL;
    comm->handle = shim_handles.comm_null;
}

int shim_comm_setup(void)
{
    int rc = shim_comm_add(shim_handles.comm_self);

    return rc == MPI_SUCCESS && shim_comm_add(shim_handles.comm_world) == MPI_SUCCESS
               ? 0
               : -ENOMEM;
}

void shim_comm_teardown(void)
{
    for (int i = 0; i < TABLE_SIZE; i++) {
        while (table.heads[i] != NULL) {
            struct shim_comm *comm = table.heads[i];
            remove_comm(comm);
            shim_comm_release(comm);
        }
    }
    shim_slots_teardown();
}

/** Before a communicator is freed: leave it. */
static void retire(MPI_Comm handle)
{
    struct shim_comm *comm = shim_comm_find(handle);

    if (comm != NULL) {
        remove_comm(comm);
        shim_slot_leave(comm);
    }
}

static bool is_permanent(MPI_Comm handle)
{
    return handle == shim_handles.comm_null || handle == shim_handles.comm_world ||
           handle == shim_handles.comm_self;
}

int shim_Comm_free(MPI_Comm *comm)
{
    if (comm != NULL && !is_permanent(*comm)) {
        shim_enter();
        retire(*comm);
        shim_leave();
    }
    return shim_real.Comm_free(comm);
}

int shim_Comm_disconnect(MPI_Comm *comm)
{
    if (comm != NULL && !is_permanent(*comm)) {
        shim_enter();
        retire(*comm);
        shim_leave();
    }
    return shim_real.Comm_disconnect(comm);
}

/** Carry the communicator that a constructor of the real library has returned. */
static int made(int rc, const MPI_Comm *newcomm)
{
    return rc == MPI_SUCCESS ? shim_comm_add(*newcomm) : rc;
}

int shim_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_dup(comm, newcomm), newcomm);
}

int shim_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_dup_with_info(comm, info, newcomm), newcomm);
}

int shim_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_split(comm, color, key, newcomm), newcomm);
}

int shim_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                         MPI_Comm *newcomm)
{
    return made(shim_real.Comm_split_type(comm, split_type, key, info, newcomm),
                newcomm);
}

int shim_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_create(comm, group, newcomm), newcomm);
}

int shim_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_create_group(comm, group, tag, newcomm), newcomm);
}

int shim_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm *newcomm)
{
    return made(shim_real.Cart_create(comm, ndims, dims, periods, reorder, newcomm),
                newcomm);
}

int shim_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    return made(shim_real.Cart_sub(comm, remain_dims, newcomm), newcomm);
}

int shim_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[],
                      int reorder, MPI_Comm *newcomm)
{
    return made(shim_real.Graph_create(comm, nnodes, index, edges, reorder, newcomm),
                newcomm);
}

int shim_Dist_graph_create(MPI_Comm comm, int n, const int sources[],
                           const int degrees[], const int destinations[],
                           const int weights[], MPI_Info info, int reorder,
                           MPI_Comm *newcomm)
{
    return made(shim_real.Dist_graph_create(comm, n, sources, degrees, destinations,
                                            weights, info, reorder, newcomm),
                newcomm);
}

int shim_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[], const int destweights[],
                                    MPI_Info info, int reorder, MPI_Comm *newcomm)
{
    return made(shim_real.Dist_graph_create_adjacent(
                    comm, indegree, sources, sourceweights, outdegree, destinations,
                    destweights, info, reorder, newcomm),
                newcomm);
}

int shim_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newcomm)
{
    return made(shim_real.Intercomm_merge(intercomm, high, newcomm), newcomm);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of collective calls: what Open MPI finds wrong with them, and what they
 * name. Called under the lock in the application's threads.
 *
 * Data that a rank need not describe, as a gather's blocks on other ranks than the root,
 * may be anything and are not looked at.
 */
#include "mpi_shim/collective.h"
#include "mpi_shim/neighbors.h"

/** The error class of a count and a type (NULL: not usable), or MPI_SUCCESS. */
static int class_of(int count, const struct shim_datatype *type)
{
    return count < 0 ? MPI_ERR_COUNT : type == NULL ? MPI_ERR_TYPE : MPI_SUCCESS;
}

static bool is_in_place(const struct shim_layout *layout)
{
    return layout->buf == MPI_IN_PLACE;
}

/** Look up one buffer's type. */
static int check_one(struct shim_layout *layout)
{
    layout->type = shim_datatype_find(layout->datatype);
    return class_of(layout->count, layout->type);
}

/** Look up the type of each of size blocks. */
static int check_types(struct shim_layout *layout, int32_t size)
{
    layout->types = malloc(((size_t)size + 1) * sizeof(*layout->types));
    if (layout->types == NULL) {
        return MPI_ERR_NO_MEM;
    }
    for (int32_t i = 0; i < size; i++) {
        int class;

        layout->types[i] = shim_datatype_find(layout->datatypes[i]);
        class = class_of(layout->counts[i], layout->types[i]);
        if (class != MPI_SUCCESS) {
            return class;
        }
        layout->n_types = i + 1;
    }
    return MPI_SUCCESS;
}

/** Blocks of size ranks; no_displs is the class of missing displacements. */
static int check_blocks(struct shim_layout *layout, int32_t size, int no_displs)
{
    if (layout->is_vector && size > 0) {
        if (layout->displs == NULL && layout->offsets == NULL) {
            return no_displs;
        }
        if (layout->counts == NULL) {
            return layout->has_types ? MPI_ERR_ARG : MPI_ERR_COUNT;
        }
        if (layout->has_types && layout->datatypes == NULL) {
            return MPI_ERR_ARG;
        }
        layout->n_blocks = size;
    }
    if (layout->has_types) {
        return check_types(layout, size);
    }
    for (int32_t i = 0; layout->is_vector && i < size; i++) {
        if (layout->counts[i] < 0) {
            return MPI_ERR_COUNT;
        }
    }
    return check_one(layout);
}

static int first_of(int class, int other)
{
    return class != MPI_SUCCESS ? class : other;
}

enum shim_role shim_collective_role(const struct shim_comm *comm, int root)
{
    if ((uint32_t)root < (uint32_t)comm->group.size) {
        return root == comm->group.rank && !shim_comm_is_inter(comm) ? SHIM_ROLE_ROOT
                                                                     : SHIM_ROLE_MEMBER;
    }
    if (shim_comm_is_inter(comm)) {
        return root == MPI_ROOT        ? SHIM_ROLE_ROOT
               : root == MPI_PROC_NULL ? SHIM_ROLE_NONE
                                       : SHIM_ROLE_INVALID;
    }
    return SHIM_ROLE_INVALID;
}

static int check_bcast(const struct shim_comm *comm, struct shim_collective *call)
{
    enum shim_role role = shim_collective_role(comm, call->root);
    int class = role == SHIM_ROLE_NONE ? MPI_SUCCESS : check_one(&call->receive);

    if (class != MPI_SUCCESS) {
        return class;
    }
    if (is_in_place(&call->receive)) {
        return MPI_ERR_ARG;
    }
    return role != SHIM_ROLE_INVALID ? MPI_SUCCESS : MPI_ERR_ROOT;
}

/** Gather: the root has blocks to receive; scatter: to send. Members have one buffer. */
static int check_rooted(const struct shim_comm *comm, struct shim_collective *call)
{
    bool is_gather = call->kind == SHIM_GATHER;
    struct shim_layout *own = is_gather ? &call->send : &call->receive;
    struct shim_layout *all = is_gather ? &call->receive : &call->send;
    enum shim_role role = shim_collective_role(comm, call->root);
    bool is_root = role == SHIM_ROLE_ROOT;
    int class = MPI_SUCCESS;

    if (role == SHIM_ROLE_INVALID) {
        return MPI_ERR_ROOT;
    }
    if (role == SHIM_ROLE_NONE) {
        return MPI_SUCCESS;
    }
    if (is_root ? is_in_place(all) : is_in_place(own)) {
        return MPI_ERR_ARG;
    }
    if (!is_in_place(own) && !(is_root && shim_comm_is_inter(comm))) {
        class = check_one(own);
    }
    if (class == MPI_SUCCESS && is_root) {
        class = check_blocks(all, comm->group.size, MPI_ERR_ARG);
    }
    return class;
}

/** Whether a call is in place that must not be. */
static bool is_wrongly_in_place(const struct shim_comm *comm,
                                const struct shim_collective *call)
{
    return is_in_place(&call->receive) ||
           (is_in_place(&call->send) && shim_comm_is_inter(comm));
}

static int check_allgather(const struct shim_comm *comm, struct shim_collective *call,
                           int32_t n_blocks)
{
    int class = MPI_SUCCESS;

    if (is_wrongly_in_place(comm, call)) {
        return MPI_ERR_ARG;
    }
    if (!is_in_place(&call->send)) {
        class = check_one(&call->send);
    }
    return first_of(class, check_blocks(&call->receive, n_blocks, MPI_ERR_BUFFER));
}

static int check_alltoall(const struct shim_comm *comm, struct shim_collective *call,
                          int32_t n_to, int32_t n_from)
{
    int class = MPI_SUCCESS;

    if (is_wrongly_in_place(comm, call)) {
        return MPI_ERR_ARG;
    }
    if (!is_in_place(&call->send)) {
        class = check_blocks(&call->send, n_to, MPI_ERR_ARG);
    }
    return first_of(class, class == MPI_SUCCESS
                               ? check_blocks(&call->receive, n_from, MPI_ERR_ARG)
                               : class);
}

static int check_neighbors(struct shim_comm *comm, struct shim_collective *call)
{
    const struct bcs_neighbors *neighbors = shim_neighbors_of(comm);

    if (neighbors == NULL) {
        return MPI_ERR_TOPOLOGY;
    }
    if (is_in_place(&call->send) || is_in_place(&call->receive)) {
        return MPI_ERR_ARG;
    }
    if (call->kind == SHIM_NEIGHBOR_ALLGATHER) {
        return check_allgather(comm, call, neighbors->n_sources);
    }
    return check_alltoall(comm, call, neighbors->n_targets, neighbors->n_sources);
}

/** Whether the buffers of a reduction are named as they may be on this rank. */
static int check_reduced_buffers(const struct shim_comm *comm,
                                 const struct shim_collective *call)
{
    const void *in = call->send.buf, *out = call->receive.buf;

    if (shim_comm_is_inter(comm)) {
        return in == MPI_IN_PLACE || out == MPI_IN_PLACE ? MPI_ERR_ARG : MPI_SUCCESS;
    }
    switch (call->kind) {
    case SHIM_ALLREDUCE:
        return out == MPI_IN_PLACE ||
                       (in == out && in != MPI_BOTTOM && call->send.count > 1)
                   ? MPI_ERR_BUFFER
                   : MPI_SUCCESS;
    case SHIM_EXSCAN:
        return MPI_SUCCESS;
    case SHIM_REDUCE:
        if (comm->group.rank != call->root) {
            return in == MPI_IN_PLACE ? MPI_ERR_ARG : MPI_SUCCESS;
        }
        return out == MPI_IN_PLACE || (in == out && call->send.count > 0) ? MPI_ERR_ARG
                                                                          : MPI_SUCCESS;
    default:
        return out == MPI_IN_PLACE ? MPI_ERR_ARG : MPI_SUCCESS;
    }
}

/** The counts of a reduction; those of a reduce-scatter are the parts. */
static int check_reduced_counts(const struct shim_comm *comm,
                                struct shim_collective *call)
{
    struct shim_layout *out = &call->receive;

    if (out->is_vector && out->counts == NULL) {
        return MPI_ERR_COUNT;
    }
    out->n_blocks = out->is_vector ? shim_comm_own_size(comm) : 0;
    for (int32_t i = 0; i < out->n_blocks; i++) {
        if (out->counts[i] < 0) {
            return MPI_ERR_COUNT;
        }
    }
    return class_of(out->count, out->type);
}

static int check_reduction(const struct shim_comm *comm, struct shim_collective *call)
{
    struct shim_layout *out = &call->receive;
    enum shim_role role = SHIM_ROLE_MEMBER;
    int class;

    if (call->kind == SHIM_REDUCE) {
        role = shim_collective_role(comm, call->root);
    }
    if (role == SHIM_ROLE_NONE) {
        return MPI_SUCCESS;
    }
    out->type = shim_datatype_find(out->datatype);
    call->op = shim_op_find(call->op_handle);
    if (call->op == SHIM_OP_NONE || (call->op != SHIM_OP_USER && out->type == NULL)) {
        return MPI_ERR_OP;
    }
    class =
        first_of(check_reduced_counts(comm, call), check_reduced_buffers(comm, call));
    if (class != MPI_SUCCESS) {
        return class;
    }
    if (role == SHIM_ROLE_INVALID) {
        return MPI_ERR_ROOT;
    }
    if (!shim_op_is_valid(call->op, out->type)) {
        /* as if it were ours, for those who have no role */
        comm->whole->n_started[!call->is_blocking]++;
        return SHIM_COLLECTIVE_FOREIGN;
    }
    return MPI_SUCCESS;
}

/** Whether an intercommunicator has no such call. */
static bool is_for_one_side(enum shim_collective_kind kind)
{
    return kind == SHIM_SCAN || kind == SHIM_EXSCAN ||
           kind == SHIM_NEIGHBOR_ALLGATHER || kind == SHIM_NEIGHBOR_ALLTOALL;
}

int shim_collective_check(struct shim_comm *comm, struct shim_collective *call)
{
    int32_t size = comm->group.size;

    if (shim_comm_is_inter(comm) && is_for_one_side(call->kind)) {
        return SHIM_COLLECTIVE_FOREIGN; /* which says so */
    }
    switch (call->kind) {
    case SHIM_BARRIER:
        return MPI_SUCCESS;
    case SHIM_BCAST:
        return check_bcast(comm, call);
    case SHIM_GATHER:
    case SHIM_SCATTER:
        return check_rooted(comm, call);
    case SHIM_ALLGATHER:
        return check_allgather(comm, call, size);
    case SHIM_ALLTOALL:
        return check_alltoall(comm, call, size, size);
    case SHIM_NEIGHBOR_ALLGATHER:
    case SHIM_NEIGHBOR_ALLTOALL:
        return check_neighbors(comm, call);
    default:
        return check_reduction(comm, call);
    }
}

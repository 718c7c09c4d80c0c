/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of collective calls: what Open MPI finds wrong with them, and what they
 * name. Called under the lock in the application's threads.
 *
 * Data that a rank need not describe, as a gather's blocks on other ranks than the
 * root, may be anything and are not looked at.
 */
#include "mpi_shim/collective/collective_check.h"

#include "libbcs/api/collective/disagreement.h"
#include "mpi_shim/comm/comm_neighbors.h"

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
static int check_type(struct shim_layout *layout)
{
    layout->type = shim_datatype_find(layout->datatype);
    return class_of(layout->count, layout->type);
}

static int class_of_buffer(const void *buf, int64_t count,
                           const struct shim_datatype *type)
{
    return shim_datatype_fits(type, buf, count) ? MPI_SUCCESS : MPI_ERR_BUFFER;
}

/** The same, and look whether there is a buffer. */
static int check_one(struct shim_layout *layout)
{
    int class = check_type(layout);

    return class != MPI_SUCCESS
               ? class
               : class_of_buffer(layout->buf, layout->count, layout->type);
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

/** Whether data of a block would be at NULL. */
static bool is_nowhere(const struct shim_layout *layout, int32_t i)
{
    const struct shim_datatype *type =
        layout->has_types ? layout->types[i] : layout->type;
    bool is_moved =
        layout->offsets != NULL ? layout->offsets[i] != 0 : layout->displs[i] != 0;

    return !is_moved && !shim_datatype_fits(type, NULL, layout->counts[i]);
}

/** Without a buffer all blocks must be empty, or say where they are. */
static int check_nowhere(const struct shim_layout *layout, int32_t size)
{
    if (!layout->is_vector) {
        return class_of_buffer(NULL, (int64_t)layout->count * size, layout->type);
    }
    for (int32_t i = 0; i < size; i++) {
        if (is_nowhere(layout, i)) {
            return MPI_ERR_BUFFER;
        }
    }
    return MPI_SUCCESS;
}

/** What Open MPI calls it if there are no displacements or counts. */
struct missing {
    int displs;
    int counts;
};

/** The arrays that describe blocks of size ranks. */
static int check_arrays(struct shim_layout *layout, int32_t size,
                        struct missing missing)
{
    if (layout->displs == NULL && layout->offsets == NULL) {
        return missing.displs;
    }
    if (layout->counts == NULL) {
        return missing.counts;
    }
    if (layout->has_types) {
        return layout->datatypes == NULL ? MPI_ERR_ARG : check_types(layout, size);
    }
    for (int32_t i = 0; i < size; i++) {
        if (layout->counts[i] < 0) {
            return MPI_ERR_COUNT;
        }
    }
    return MPI_SUCCESS;
}

/** Blocks of size ranks. */
static int check_blocks(struct shim_layout *layout, int32_t size,
                        struct missing missing)
{
    int class = MPI_SUCCESS;

    if (layout->is_vector && size > 0) {
        layout->n_blocks = size;
        class = check_arrays(layout, size, missing);
    }
    if (class == MPI_SUCCESS && !layout->has_types) {
        class = check_type(layout);
    }
    return class == MPI_SUCCESS && __builtin_expect(layout->buf == NULL, 0)
               ? check_nowhere(layout, size)
               : class;
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
    struct shim_layout *buffer = &call->receive;
    int class = role == SHIM_ROLE_NONE ? MPI_SUCCESS : check_type(buffer);

    if (class != MPI_SUCCESS) {
        return class;
    }
    if (is_in_place(buffer)) {
        return MPI_ERR_ARG;
    }
    if (role == SHIM_ROLE_INVALID) {
        return MPI_ERR_ROOT;
    }
    return role == SHIM_ROLE_NONE || comm->whole->size == 1
               ? MPI_SUCCESS
               : class_of_buffer(buffer->buf, buffer->count, buffer->type);
}

/** Gather: the root has blocks to receive; scatter: to send. Members have one
 *  buffer. */
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
        class = check_blocks(all, comm->group.size,
                             (struct missing){MPI_ERR_ARG, MPI_ERR_COUNT});
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

/** Whether a rank can tell by itself how long a block that it gets must be: it gets one
 *  from itself, or all are as long. */
static bool is_balance_known(const struct shim_comm *comm,
                             const struct shim_collective *call)
{
    return !shim_comm_is_inter(comm) && !is_in_place(&call->send) &&
           (call->kind == SHIM_ALLGATHER || call->kind == SHIM_ALLTOALL ||
            (call->kind == SHIM_NEIGHBOR_ALLTOALL && !call->send.is_vector));
}

/** What a rank sends is not as long as what it gets: say so. */
static __attribute__((cold)) int refuse_lengths(const struct shim_comm *comm,
                                                size_t n_sent, size_t n_expected)
{
    bcs_wrong_own_length(shim_context(), comm->whole, comm->group.rank, n_sent,
                         n_expected);
    return MPI_ERR_TRUNCATE;
}

/** Whether what a rank sends is as long as what it gets, where it can tell. What it
 *  sends to itself is copied by the length of what it gets. */
static inline int check_balance(const struct shim_comm *comm,
                                const struct shim_collective *call)
{
    const struct shim_layout *send = &call->send, *receive = &call->receive;
    size_t n_sent, n_expected;

    if ((send->type == receive->type && send->count == receive->count &&
         !receive->is_vector) ||
        !is_balance_known(comm, call)) {
        return MPI_SUCCESS;
    }
    n_sent = shim_layout_block_bytes(send, comm->group.rank);
    n_expected = shim_layout_block_bytes(receive, comm->group.rank);
    return n_sent == n_expected ? MPI_SUCCESS
                                : refuse_lengths(comm, n_sent, n_expected);
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
    class =
        first_of(class, check_blocks(&call->receive, n_blocks,
                                     (struct missing){MPI_ERR_BUFFER, MPI_ERR_COUNT}));
    return class == MPI_SUCCESS ? check_balance(comm, call) : class;
}

static int check_alltoall(const struct shim_comm *comm, struct shim_collective *call,
                          int32_t n_to, int32_t n_from)
{
    static const struct missing missing = {MPI_ERR_ARG, MPI_ERR_ARG};
    int class = MPI_SUCCESS;

    if (is_wrongly_in_place(comm, call)) {
        return MPI_ERR_ARG;
    }
    if (!is_in_place(&call->send)) {
        class = check_blocks(&call->send, n_to, missing);
    }
    if (class == MPI_SUCCESS) {
        class = check_blocks(&call->receive, n_from, missing);
    }
    return class == MPI_SUCCESS ? check_balance(comm, call) : class;
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

    if (shim_comm_is_inter(comm) && (in == MPI_IN_PLACE || out == MPI_IN_PLACE)) {
        return call->kind == SHIM_ALLREDUCE ? MPI_ERR_BUFFER : MPI_ERR_ARG;
    }
    if (shim_comm_is_inter(comm)) {
        return MPI_SUCCESS;
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

/** Whether a rank's data of a reduction are at NULL: those that are combined, and those
 *  that it gets. role is that of a reduction to one. */
static int check_reduced_places(const struct shim_comm *comm,
                                const struct shim_collective *call, enum shim_role role)
{
    const struct shim_layout *out = &call->receive;
    bool is_root_only = call->kind == SHIM_REDUCE && role != SHIM_ROLE_ROOT;
    bool is_member_only = role == SHIM_ROLE_ROOT && shim_comm_is_inter(comm);
    bool is_partial = call->kind == SHIM_EXSCAN;
    int64_t n_in = out->count, n_out = out->count;

    if (out->is_vector) {
        n_out = out->counts[comm->group.rank];
        n_in = 0;
        for (int32_t i = 0; i < out->n_blocks; i++) {
            n_in += out->counts[i];
        }
    }
    if (is_member_only || (is_partial && comm->group.size == 1)) {
        n_in = 0;
    }
    if (is_root_only || (is_partial && comm->group.rank == 0)) {
        n_out = 0;
    }
    return first_of(class_of_buffer(call->send.buf, n_in, out->type),
                    class_of_buffer(out->buf, n_out, out->type));
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
        call->is_counted = true;
        return SHIM_COLLECTIVE_FOREIGN;
    }
    return __builtin_expect(call->send.buf == NULL || out->buf == NULL, 0)
               ? check_reduced_places(comm, call, role)
               : MPI_SUCCESS;
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

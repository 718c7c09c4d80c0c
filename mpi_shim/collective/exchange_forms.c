/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls on their way through the API: their buffers are opened, given to it,
 * and closed when it is done. Called under the lock in the application's threads.
 */
#include "mpi_shim/collective/exchange_forms.h"

#include <errno.h>

#include "mpi_shim/collective/collective_bytes.h"
#include "mpi_shim/collective/collective_check.h"
#include "mpi_shim/comm/comm_neighbors.h"

static bool is_in_place(const struct shim_layout *layout)
{
    return layout->buf == MPI_IN_PLACE;
}

/** Open count elements as the input, or as the output, of the exchange. */
static int open_side(struct shim_exchange *x, bool is_input, const void *buf,
                     size_t count, const struct shim_datatype *type)
{
    struct shim_side *side = is_input ? &x->in : &x->out;
    int status = shim_side_open(side, buf, count, type, is_input);

    if (is_input) {
        x->is_in_open = side->temporary != NULL;
    } else {
        x->is_out_open = side->temporary != NULL;
    }
    return status;
}

/** No data on this member. */
static void leave_closed(struct shim_side *side)
{
    side->data = NULL;
    side->n_bytes = 0;
}

/** Open this member's own buffer. */
static int open_own(struct shim_exchange *x, bool is_input,
                    const struct shim_layout *layout)
{
    return open_side(x, is_input, layout->buf, (size_t)layout->count, layout->type);
}

/** Open the blocks that are sent. */
static int open_from(struct shim_exchange *x, int32_t size)
{
    int status = shim_blocks_open(&x->from, &x->call.send, size, SHIM_INPUT_ALL);

    x->is_from_open = shim_blocks_is_open(&x->from);
    return status;
}

/** Open the blocks that are received; input as of shim_blocks_open. */
static int open_to(struct shim_exchange *x, int32_t size, int input)
{
    int status = shim_blocks_open(&x->to, &x->call.receive, size, input);

    x->is_to_open = shim_blocks_is_open(&x->to);
    return status;
}

/** The root of a call on an intercommunicator, as the API names it. */
static int32_t root_across(int root)
{
    return root == MPI_ROOT        ? BCS_ROOT_SELF
           : root == MPI_PROC_NULL ? BCS_ROOT_OUR_SIDE
                                   : root;
}

static int start_bcast(struct shim_exchange *x, struct shim_comm *comm,
                       struct bcs_request *request)
{
    int root = x->call.root;
    enum shim_role role = shim_collective_role(comm, root);
    bool is_root = role == SHIM_ROLE_ROOT;
    struct shim_side *side = is_root ? &x->in : &x->out;
    int status = 0;

    if (role == SHIM_ROLE_NONE) {
        leave_closed(side);
    } else {
        status = open_own(x, is_root, &x->call.receive);
    }
    if (status != 0) {
        return status;
    }
    return shim_comm_is_inter(comm)
               ? bcs_across_bcast(shim_context(), &comm->sides, side->data,
                                  side->n_bytes, root_across(root), request)
               : bcs_api_bcast(shim_context(), &comm->group, side->data, side->n_bytes,
                               root, request);
}

/** Open the own block of a gather or scatter, unless it is in place or there is
 *  none. */
static int open_part(struct shim_exchange *x, const struct shim_comm *comm,
                     enum shim_role role, bool is_input)
{
    const struct shim_layout *own = is_input ? &x->call.send : &x->call.receive;
    bool has_own = role == SHIM_ROLE_MEMBER ||
                   (role == SHIM_ROLE_ROOT && !shim_comm_is_inter(comm));

    if (has_own && !is_in_place(own)) {
        return open_own(x, is_input, own);
    }
    leave_closed(is_input ? &x->in : &x->out);
    return 0;
}

/** This member's own block of a gather or scatter. */
static const struct bcs_part *part_of(const struct shim_side *side,
                                      const struct shim_layout *layout,
                                      struct bcs_part *part)
{
    *part = (struct bcs_part){side->data, side->n_bytes};
    return is_in_place(layout) ? NULL : part;
}

static int start_gather(struct shim_exchange *x, struct shim_comm *comm,
                        struct bcs_request *request)
{
    const struct shim_layout *own = &x->call.send;
    int root = x->call.root;
    enum shim_role role = shim_collective_role(comm, root);
    int input = is_in_place(own) ? root : SHIM_INPUT_NONE;
    struct bcs_part part;
    int status = open_part(x, comm, role, true);

    if (status == 0 && role == SHIM_ROLE_ROOT) {
        status = open_to(x, comm->group.size, input);
    }
    if (status != 0) {
        return status;
    }
    return shim_comm_is_inter(comm)
               ? bcs_across_gather(shim_context(), &comm->sides,
                                   part_of(&x->in, own, &part), &x->to.blocks,
                                   root_across(root), request)
               : bcs_api_gather(shim_context(), &comm->group,
                                part_of(&x->in, own, &part), &x->to.blocks, root,
                                request);
}

static int start_scatter(struct shim_exchange *x, struct shim_comm *comm,
                         struct bcs_request *request)
{
    const struct shim_layout *own = &x->call.receive;
    int root = x->call.root;
    enum shim_role role = shim_collective_role(comm, root);
    struct bcs_part part;
    int status = open_part(x, comm, role, false);

    if (status == 0 && role == SHIM_ROLE_ROOT) {
        status = open_from(x, comm->group.size);
    }
    if (status != 0) {
        return status;
    }
    return shim_comm_is_inter(comm)
               ? bcs_across_scatter(shim_context(), &comm->sides,
                                    part_of(&x->out, own, &part), &x->from.blocks,
                                    root_across(root), request)
               : bcs_api_scatter(shim_context(), &comm->group,
                                 part_of(&x->out, own, &part), &x->from.blocks, root,
                                 request);
}

static int start_allgather(struct shim_exchange *x, struct shim_comm *comm,
                           struct bcs_request *request)
{
    bool is_here = is_in_place(&x->call.send);
    int status =
        open_to(x, comm->group.size, is_here ? comm->group.rank : SHIM_INPUT_NONE);

    if (status == 0 && !is_here) {
        status = open_own(x, true, &x->call.send);
    }
    if (status != 0) {
        return status;
    }
    return shim_comm_is_inter(comm)
               ? bcs_across_allgather(shim_context(), &comm->sides,
                                      &(struct bcs_part){x->in.data, x->in.n_bytes},
                                      &x->to.blocks, request)
               : bcs_api_allgather(shim_context(), &comm->group,
                                   is_here ? NULL : x->in.data, &x->to.blocks, request);
}

static int start_alltoall(struct shim_exchange *x, struct shim_comm *comm,
                          struct bcs_request *request)
{
    bool is_here = is_in_place(&x->call.send);
    int status =
        open_to(x, comm->group.size, is_here ? SHIM_INPUT_ALL : SHIM_INPUT_NONE);

    if (is_here) {
        x->from.blocks.data = NULL;
    } else if (status == 0) {
        status = open_from(x, comm->group.size);
    }
    if (status != 0) {
        return status;
    }
    return shim_comm_is_inter(comm)
               ? bcs_across_alltoall(shim_context(), &comm->sides, &x->from.blocks,
                                     &x->to.blocks, request)
               : bcs_api_alltoall(shim_context(), &comm->group, &x->from.blocks,
                                  &x->to.blocks, request);
}

/** All neighbours get the same block. @return 0 or -ENOMEM */
static int open_same_block(struct shim_exchange *x, int32_t n_targets)
{
    struct shim_blocks *from = &x->from;
    int status = open_own(x, true, &x->call.send);

    if (status != 0) {
        return status;
    }
    from->temporary = NULL;
    from->numbers = calloc((size_t)n_targets + 1, sizeof(*from->numbers));
    if (from->numbers == NULL) {
        return -ENOMEM;
    }
    x->is_from_open = true;
    from->blocks = (struct bcs_blocks){.data = x->in.data,
                                       .block_bytes = x->in.n_bytes,
                                       .displacements = from->numbers};
    return 0;
}

/** Whether some block is not received, and so keeps its values. */
static bool has_gap(const struct bcs_neighbors *neighbors)
{
    for (int32_t i = 0; i < neighbors->n_sources; i++) {
        if (neighbors->sources[i] == BCS_NO_NEIGHBOR) {
            return true;
        }
    }
    return false;
}

static int start_neighbors(struct shim_exchange *x, struct shim_comm *comm,
                           struct bcs_request *request)
{
    const struct bcs_neighbors *neighbors = shim_neighbors_of(comm);
    int status = open_to(x, neighbors->n_sources,
                         has_gap(neighbors) ? SHIM_INPUT_ALL : SHIM_INPUT_NONE);

    if (status == 0 && x->call.kind == SHIM_NEIGHBOR_ALLGATHER) {
        status = open_same_block(x, neighbors->n_targets);
    } else if (status == 0) {
        status = open_from(x, neighbors->n_targets);
    }
    return status != 0 ? status
                       : bcs_neighbor_exchange(shim_context(), &comm->group, neighbors,
                                               &x->from.blocks, &x->to.blocks, request);
}

/** Elements of each part of a reduce-scatter. */
struct parts {
    size_t *counts; /* NULL: all have the same; allocated */
    size_t own;
    size_t all;
};

static int find_parts(const struct shim_exchange *x, const struct shim_comm *comm,
                      struct parts *parts)
{
    const struct shim_layout *out = &x->call.receive;
    size_t size = (size_t)shim_comm_own_size(comm);

    *parts =
        (struct parts){.own = (size_t)out->count, .all = (size_t)out->count * size};
    if (!out->is_vector) {
        return 0;
    }
    parts->counts = malloc(size * sizeof(*parts->counts));
    if (parts->counts == NULL) {
        return -ENOMEM;
    }
    parts->all = 0;
    for (size_t i = 0; i < size; i++) {
        parts->counts[i] = (size_t)out->counts[i];
        parts->all += parts->counts[i];
    }
    parts->own = parts->counts[comm->group.rank];
    return 0;
}

/* In and out may be the same memory: that is how the API does it in place. */
static int open_vectors(struct shim_exchange *x, size_t n_in, size_t n_out, bool is_out)
{
    const struct shim_collective *call = &x->call;
    const struct shim_datatype *type = call->receive.type;
    bool is_here = is_in_place(&call->send);
    int status = shim_op_prepare(&x->combine, call->op_handle, call->op, type, n_in);

    x->out.data = NULL;
    if (status == 0) {
        x->is_combining = x->combine.kernel < 0 || x->combine.scratch != NULL;
        status = open_side(x, true, is_here ? call->receive.buf : call->send.buf, n_in,
                           type);
    }
    if (status == 0 && is_out) {
        status = open_side(x, false, call->receive.buf, n_out, type);
    }
    return status;
}

static struct bcs_reduction reduction_of(struct shim_exchange *x, size_t count)
{
    const struct shim_collective *call = &x->call;

    return (struct bcs_reduction){
        .in = x->in.data,
        .out = x->out.data,
        .count = count,
        .element_bytes = call->receive.type->size,
        .op = x->combine.kernel < 0 ? BCS_OP_COMBINE : (enum bcs_op)(call->op + 1),
        .type = (enum bcs_type)call->receive.type->reduce_type,
        .combine = shim_op_combine,
        .arg = &x->combine,
    };
}

static int start_reduce_across(struct shim_exchange *x, struct shim_comm *comm,
                               struct bcs_request *request)
{
    bool is_to_all = x->call.kind == SHIM_ALLREDUCE;
    int32_t root = is_to_all ? BCS_ROOT_ALL : root_across(x->call.root);
    size_t count = (size_t)x->call.receive.count;
    struct bcs_reduction reduction = {.op = BCS_OP_COMBINE};
    int status = 0;

    if (root != BCS_ROOT_OUR_SIDE) {
        bool is_root = root == BCS_ROOT_SELF;

        status = open_vectors(x, is_root ? 0 : count, count, is_root || is_to_all);
        reduction = reduction_of(x, count);
    }
    return status != 0 ? status
                       : bcs_across_reduce(shim_context(), &comm->sides, &reduction,
                                           root, request);
}

static int start_reduction(struct shim_exchange *x, struct shim_comm *comm,
                           struct bcs_request *request)
{
    enum shim_collective_kind kind = x->call.kind;
    int root = kind == SHIM_REDUCE ? x->call.root : BCS_ROOT_ALL;
    size_t count = (size_t)x->call.receive.count;
    bool is_target = root == BCS_ROOT_ALL || root == comm->group.rank;
    struct bcs_reduction reduction;
    int status;

    if (kind == SHIM_EXSCAN && comm->group.rank == 0) {
        is_target = false;
    }
    status = open_vectors(x, count, count, is_target);
    if (status != 0) {
        return status;
    }
    reduction = reduction_of(x, count);
    if (kind == SHIM_SCAN || kind == SHIM_EXSCAN) {
        return bcs_api_scan(shim_context(), &comm->group, &reduction,
                            kind == SHIM_EXSCAN, request);
    }
    return bcs_api_reduce(shim_context(), &comm->group, &reduction, root, request);
}

static int start_reduce_scatter(struct shim_exchange *x, struct shim_comm *comm,
                                struct bcs_request *request)
{
    struct bcs_reduction reduction;
    struct parts parts;
    int status = find_parts(x, comm, &parts);

    if (status == 0) {
        status = open_vectors(x, parts.all, parts.own, true);
    }
    if (status == 0) {
        reduction = reduction_of(x, parts.own);
        status = shim_comm_is_inter(comm)
                     ? bcs_across_reduce_scatter(shim_context(), &comm->sides,
                                                 &reduction, parts.counts, request)
                     : bcs_api_reduce_scatter(shim_context(), &comm->group, &reduction,
                                              parts.counts, request);
    }
    free(parts.counts);
    return status;
}

int shim_exchange_start(struct shim_exchange *exchange, struct shim_comm *comm,
                        struct bcs_request *request)
{
    exchange->status = 0;
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        shim_collective_record(comm, &exchange->call);
    }
    switch (exchange->call.kind) {
    case SHIM_BARRIER:
        return bcs_api_barrier(shim_context(), comm->whole, request);
    case SHIM_BCAST:
        return start_bcast(exchange, comm, request);
    case SHIM_GATHER:
        return start_gather(exchange, comm, request);
    case SHIM_SCATTER:
        return start_scatter(exchange, comm, request);
    case SHIM_ALLGATHER:
        return start_allgather(exchange, comm, request);
    case SHIM_ALLTOALL:
        return start_alltoall(exchange, comm, request);
    case SHIM_NEIGHBOR_ALLGATHER:
    case SHIM_NEIGHBOR_ALLTOALL:
        return start_neighbors(exchange, comm, request);
    case SHIM_REDUCE_SCATTER:
        return start_reduce_scatter(exchange, comm, request);
    default:
        return shim_comm_is_inter(comm) ? start_reduce_across(exchange, comm, request)
                                        : start_reduction(exchange, comm, request);
    }
}

int shim_exchange_close_buffers(struct shim_exchange *exchange, int status)
{
    bool is_output = status >= 0;

    if (exchange->is_combining) {
        int finished = shim_op_finish(&exchange->combine);

        status = status != 0 ? status : finished;
    }
    if (exchange->is_to_open) {
        shim_blocks_close(&exchange->to, is_output);
    }
    if (exchange->is_out_open) {
        shim_side_close(&exchange->out, is_output);
    }
    if (exchange->is_from_open) {
        shim_blocks_close(&exchange->from, false);
    }
    if (exchange->is_in_open) {
        shim_side_close(&exchange->in, false);
    }
    exchange->is_combining = false;
    exchange->is_to_open = false;
    exchange->is_out_open = false;
    exchange->is_from_open = false;
    exchange->is_in_open = false;
    return status;
}

typedef void hold_fn(const struct shim_datatype *type);

static void for_each_type(const struct shim_layout *layout, hold_fn *hold)
{
    if (layout->type != NULL) {
        hold(layout->type);
    }
    for (int32_t i = 0; i < layout->n_types; i++) {
        hold(layout->types[i]);
    }
}

void shim_exchange_hold(struct shim_exchange *exchange)
{
    struct shim_collective *call = &exchange->call;

    for_each_type(&call->send, shim_datatype_hold);
    for_each_type(&call->receive, shim_datatype_hold);
    shim_layout_keep(&call->send);
    shim_layout_keep(&call->receive);
    if (call->op == SHIM_OP_USER) {
        shim_op_hold(call->op_handle);
    }
    exchange->is_held = true;
}

void shim_exchange_free(struct shim_exchange *exchange)
{
    if (exchange == NULL) {
        return;
    }
    shim_exchange_close(exchange, -ECANCELED);
    if (exchange->is_held) {
        for_each_type(&exchange->call.send, shim_datatype_release);
        for_each_type(&exchange->call.receive, shim_datatype_release);
        if (exchange->call.op == SHIM_OP_USER) {
            shim_op_release(exchange->call.op_handle);
        }
        free(exchange->call.send.kept);
        free(exchange->call.receive.kept);
    }
    shim_collective_forget(&exchange->call);
    free(exchange);
}

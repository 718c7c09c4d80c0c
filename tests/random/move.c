/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that move data: barrier, broadcast, gather, scatter, allgather, alltoall
 * and those of neighbourhoods. What a member sends and receives is a list of blocks,
 * each with a partner and the key of its data; all of them are made and checked in one
 * way.
 */
#include "tests/random/run.h"

enum { MAX_BLOCKS = 2 * MAX_RANKS };

/* The blocks of one buffer. */
struct blocks {
    int n;
    int elements[MAX_BLOCKS];
    uint64_t keys[MAX_BLOCKS];
    bool is_absent[MAX_BLOCKS]; /* of MPI_PROC_NULL: stays as it is */
    int counts[MAX_BLOCKS];     /* as MPI has them, in instances of the layout */
    int displacements[MAX_BLOCKS];
    int bytes[MAX_BLOCKS];
    MPI_Aint aints[MAX_BLOCKS];
    MPI_Datatype types[MAX_BLOCKS];
    struct buffer buffer;
};

struct moving {
    const struct collective *collective;
    struct blocks out;
    struct blocks in;
};

static void add_block(struct blocks *blocks, const struct collective *collective,
                      int from, int to)
{
    blocks->elements[blocks->n] = plan_block(collective, from, to);
    blocks->keys[blocks->n++] = plan_block_key(collective, from, to);
}

static void add_absent(struct blocks *blocks, const struct collective *collective)
{
    blocks->is_absent[blocks->n] = true;
    blocks->elements[blocks->n++] = plan_block(collective, -1, -1);
}

/* Ranks of the program before and behind in each dimension; -1 if there is none. */
static int cart_neighbours(const struct comm *comm, int me, int *ranks)
{
    int stride = comm->side[0].n;
    int n = 0;

    for (int i = 0; i < comm->n_dims; i++) {
        stride /= comm->dims[i];
        for (int step = -1; step <= 1; step += 2) {
            int at = me / stride % comm->dims[i];
            int there = at + step;

            if (comm->periods[i]) {
                there = (there + comm->dims[i]) % comm->dims[i];
            }
            ranks[n++] = there < 0 || there >= comm->dims[i]
                             ? -1
                             : comm->side[0].ranks[me + (there - at) * stride];
        }
    }
    return n;
}

static int graph_neighbours(const struct comm *comm, int me, bool is_out, int *ranks)
{
    int n = 0;

    for (int i = 0; i < comm->side[0].n; i++) {
        if ((is_out ? comm->edges[me] >> i : comm->edges[i] >> me) & 1) {
            ranks[n++] = comm->side[0].ranks[i];
        }
    }
    return n;
}

static void add_neighbours(const struct comm *comm, int rank, bool is_out,
                           const struct collective *collective, struct blocks *blocks)
{
    bool is_gather = collective->kind <= C_NEIGHBOR_ALLGATHERV;
    int me = plan_rank_in(&comm->side[0], rank);
    int ranks[MAX_RANKS];
    int n = comm->n_dims > 0 ? cart_neighbours(comm, me, ranks)
                             : graph_neighbours(comm, me, is_out, ranks);

    if (is_gather && is_out) {
        add_block(blocks, collective, rank, -1);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (ranks[i] < 0) {
            add_absent(blocks, collective);
        } else if (is_out) {
            add_block(blocks, collective, rank, ranks[i]);
        } else {
            add_block(blocks, collective, ranks[i], is_gather ? -1 : rank);
        }
    }
}

/* Which side the root is on decides who sends and who receives. */
struct part {
    bool is_root;
    bool is_other; /* the root's counterpart */
    int root;      /* rank of the program */
};

static struct part part_of(const struct comm *comm, int rank,
                           const struct collective *collective)
{
    const struct members *side = &comm->side[collective->root_side];
    struct part part = {.root = side->ranks[collective->root]};

    part.is_root = part.root == rank;
    part.is_other =
        !comm->is_inter || plan_side_of(comm, rank) != collective->root_side;
    return part;
}

static void add_rooted(const struct comm *comm, int rank,
                       const struct collective *collective, struct moving *moving)
{
    struct part part = part_of(comm, rank, collective);
    const struct members *others = plan_others(comm, part.root);
    bool is_gather = collective->kind == C_GATHER || collective->kind == C_GATHERV;

    if (collective->kind == C_BCAST) {
        if (part.is_root) {
            add_block(&moving->out, collective, part.root, -1);
        } else if (part.is_other) {
            add_block(&moving->in, collective, part.root, -1);
        }
        return;
    }
    if (part.is_other) {
        add_block(is_gather ? &moving->out : &moving->in, collective,
                  is_gather ? rank : -1, is_gather ? -1 : rank);
    }
    for (int i = 0; part.is_root && i < others->n; i++) {
        int other = others->ranks[i];

        add_block(is_gather ? &moving->in : &moving->out, collective,
                  is_gather ? other : -1, is_gather ? -1 : other);
    }
}

static void add_blocks(const struct comm *comm, int rank,
                       const struct collective *collective, struct moving *moving)
{
    const struct members *others = plan_others(comm, rank);
    bool is_gather =
        collective->kind == C_ALLGATHER || collective->kind == C_ALLGATHERV;

    if (collective->kind == C_BARRIER) {
        return;
    }
    if (collective->kind >= C_FIRST_NEIGHBOR) {
        add_neighbours(comm, rank, true, collective, &moving->out);
        add_neighbours(comm, rank, false, collective, &moving->in);
        return;
    }
    if (collective->kind < C_ALLGATHER) {
        add_rooted(comm, rank, collective, moving);
        return;
    }
    if (is_gather) {
        add_block(&moving->out, collective, rank, -1);
    }
    for (int i = 0; i < others->n; i++) {
        if (!is_gather) {
            add_block(&moving->out, collective, rank, others->ranks[i]);
        }
        add_block(&moving->in, collective, others->ranks[i], is_gather ? -1 : rank);
    }
}

/* Blocks one after the other, or, where their places can be said, in any order; of
 * instances whose elements divide unit. */
static void place_blocks(struct blocks *blocks, enum base base, int unit, bool is_v,
                         struct draw *draw)
{
    int order[MAX_BLOCKS];
    struct layout layout;
    int next = 0;

    for (int i = 0; i < blocks->n; i++) {
        order[i] = i;
    }
    if (is_v) {
        draw_shuffle(draw, order, blocks->n);
    }
    layout_draw(&layout, base, unit, draw);
    for (int k = 0; k < blocks->n; k++) {
        int i = order[k];

        next += is_v ? draw_below(draw, 3) : 0;
        blocks->counts[i] = blocks->elements[i] / layout.n;
        blocks->displacements[i] = next;
        blocks->aints[i] = next * layout.extent;
        blocks->bytes[i] = (int)blocks->aints[i];
        blocks->types[i] = layout.type;
        next += blocks->counts[i];
    }
    buffer_make(&blocks->buffer, &layout, next);
}

static void put_blocks(struct blocks *to, const struct blocks *from)
{
    for (int i = 0; i < to->n; i++) {
        if (!to->is_absent[i]) {
            buffer_put(&to->buffer, (int64_t)to->displacements[i] * to->buffer.layout.n,
                       from->elements[i], from->keys[i]);
        }
    }
}

/* What a member contributes in place lies where its part of the result will be. */
static void put_in_place(struct moving *moving, const struct comm *comm, int rank)
{
    struct blocks *in = &moving->in;
    int me = plan_rank_in(&comm->side[0], rank);

    if (moving->collective->kind >= C_ALLTOALL) {
        put_blocks(in, &moving->out);
    } else if (in->n > 0) {
        buffer_put(&in->buffer, (int64_t)in->displacements[me] * in->buffer.layout.n,
                   in->elements[me], in->keys[me]);
    }
}

/* The arguments of a call, as MPI wants them. */
struct call {
    const void *out;
    void *in;
    int out_count;
    int in_count;
    MPI_Datatype out_type;
    MPI_Datatype in_type;
    int root;
    MPI_Comm comm;
    MPI_Request *request;
};

#define CALL(name, iname, ...)                                                         \
    (call->request ? MPI_I##iname(__VA_ARGS__, call->request) : MPI_##name(__VA_ARGS__))

static int call_plain(const struct call *call, enum collective_kind kind, void *data,
                      int count, MPI_Datatype type)
{
    switch (kind) {
    case C_BARRIER:
        return call->request ? MPI_Ibarrier(call->comm, call->request)
                             : MPI_Barrier(call->comm);
    case C_BCAST:
        return CALL(Bcast, bcast, data, count, type, call->root, call->comm);
    case C_GATHER:
        return CALL(Gather, gather, call->out, call->out_count, call->out_type,
                    call->in, call->in_count, call->in_type, call->root, call->comm);
    case C_SCATTER:
        return CALL(Scatter, scatter, call->out, call->out_count, call->out_type,
                    call->in, call->in_count, call->in_type, call->root, call->comm);
    case C_ALLGATHER:
        return CALL(Allgather, allgather, call->out, call->out_count, call->out_type,
                    call->in, call->in_count, call->in_type, call->comm);
    case C_ALLTOALL:
        return CALL(Alltoall, alltoall, call->out, call->out_count, call->out_type,
                    call->in, call->in_count, call->in_type, call->comm);
    case C_NEIGHBOR_ALLGATHER:
        return CALL(Neighbor_allgather, neighbor_allgather, call->out, call->out_count,
                    call->out_type, call->in, call->in_count, call->in_type,
                    call->comm);
    default:
        return CALL(Neighbor_alltoall, neighbor_alltoall, call->out, call->out_count,
                    call->out_type, call->in, call->in_count, call->in_type,
                    call->comm);
    }
}

static int call_vector(const struct call *call, enum collective_kind kind,
                       const struct blocks *out, const struct blocks *in)
{
    switch (kind) {
    case C_GATHERV:
        return CALL(Gatherv, gatherv, call->out, call->out_count, call->out_type,
                    call->in, in->counts, in->displacements, call->in_type, call->root,
                    call->comm);
    case C_SCATTERV:
        return CALL(Scatterv, scatterv, call->out, out->counts, out->displacements,
                    call->out_type, call->in, call->in_count, call->in_type, call->root,
                    call->comm);
    case C_ALLGATHERV:
        return CALL(Allgatherv, allgatherv, call->out, call->out_count, call->out_type,
                    call->in, in->counts, in->displacements, call->in_type, call->comm);
    case C_ALLTOALLV:
        return CALL(Alltoallv, alltoallv, call->out, out->counts, out->displacements,
                    call->out_type, call->in, in->counts, in->displacements,
                    call->in_type, call->comm);
    case C_ALLTOALLW:
        return CALL(Alltoallw, alltoallw, call->out, out->counts, out->bytes,
                    out->types, call->in, in->counts, in->bytes, in->types, call->comm);
    case C_NEIGHBOR_ALLGATHERV:
        return CALL(Neighbor_allgatherv, neighbor_allgatherv, call->out,
                    call->out_count, call->out_type, call->in, in->counts,
                    in->displacements, call->in_type, call->comm);
    case C_NEIGHBOR_ALLTOALLV:
        return CALL(Neighbor_alltoallv, neighbor_alltoallv, call->out, out->counts,
                    out->displacements, call->out_type, call->in, in->counts,
                    in->displacements, call->in_type, call->comm);
    default:
        return CALL(Neighbor_alltoallw, neighbor_alltoallw, call->out, out->counts,
                    out->aints, out->types, call->in, in->counts, in->aints, in->types,
                    call->comm);
    }
}

static bool is_vector(enum collective_kind kind)
{
    return kind == C_GATHERV || kind == C_SCATTERV || kind == C_ALLGATHERV ||
           kind == C_ALLTOALLV || kind == C_ALLTOALLW ||
           kind == C_NEIGHBOR_ALLGATHERV || kind >= C_NEIGHBOR_ALLTOALLV;
}

int run_root_of(const struct run *run, const struct act *act)
{
    const struct comm *comm = &run->plan->comms[act->comm];
    const struct collective *collective = &run->plan->ops[act->op].collective;
    struct part part = part_of(comm, run->me, collective);

    if (!comm->is_inter || part.is_other) {
        return collective->root;
    }
    return part.is_root ? MPI_ROOT : MPI_PROC_NULL;
}

/* Instances of a block, which is as long for members without a neighbour. */
static int count_of(const struct blocks *blocks, const struct collective *collective)
{
    return blocks->n > 0 ? blocks->counts[0]
                         : plan_block(collective, -1, -1) / blocks->buffer.layout.n;
}

/* Whether Open MPI 4.1 by itself goes wrong with a call in place: one of these, and
 * another non-blocking collective behind it, and the first has other data. */
static bool is_wrong_natively(const struct run *run, enum collective_kind kind,
                              const MPI_Request *request)
{
    return run->is_native && request != NULL && kind >= C_ALLTOALL && is_vector(kind);
}

/* What the elements of an instance divide: on an intercommunicator Open MPI 4.1 has the
 * first member of a side gather or scatter for all, and takes their counts, or those
 * that the root has for them, for numbers of the first member's type. */
static int unit_of(const struct run *run, const struct comm *comm,
                   const struct collective *collective)
{
    enum collective_kind kind = collective->kind;
    bool is_of_one_type =
        run->is_native && comm->is_inter &&
        (kind == C_GATHERV || kind == C_SCATTERV || kind == C_ALLGATHERV);

    return is_of_one_type ? 1 : collective->unit;
}

/* The count of a broadcast. Who neither sends nor gets anything may give any; from Open
 * MPI 4.1 MPI_Ibcast returns at once for none and numbers its later collectives
 * otherwise than the other members do, which hang then. */
static int bcast_count_of(const struct run *run, const struct blocks *data,
                          const struct collective *collective)
{
    return run->is_native ? count_of(data, collective) : data->counts[0];
}

struct moving *moving_start(struct run *run, const struct act *act,
                            MPI_Request *request)
{
    const struct collective *collective = &run->plan->ops[act->op].collective;
    const struct comm *comm = &run->plan->comms[act->comm];
    struct moving *moving = check_alloc(sizeof(*moving));
    struct blocks *out = &moving->out;
    struct blocks *in = &moving->in;
    struct call call = {.root = run_root_of(run, act), .request = request};
    enum collective_kind kind = collective->kind;
    bool is_v = is_vector(kind);
    bool is_scatter = kind == C_SCATTER || kind == C_SCATTERV;
    int unit = unit_of(run, comm, collective);
    bool is_in_place;
    int error;

    moving->collective = collective;
    add_blocks(comm, run->me, collective, moving);
    place_blocks(out, collective->base, unit, is_v && out->n > 1, &run->draw);
    place_blocks(in, collective->base, unit, is_v && in->n > 1, &run->draw);
    is_in_place = collective->is_in_place && !is_wrong_natively(run, kind, request) &&
                  (kind >= C_ALLGATHER ||
                   plan_rank_in(&comm->side[0], run->me) == collective->root);
    put_blocks(out, out);
    call.comm = run->comms[act->comm];
    call.out = out->buffer.origin;
    call.in = in->buffer.origin;
    call.out_count = count_of(out, collective);
    call.in_count = count_of(in, collective);
    call.out_type = out->buffer.layout.type;
    call.in_type = in->buffer.layout.type;
    if (is_in_place && is_scatter) {
        call.in = MPI_IN_PLACE;
        in->n = 0;
    } else if (is_in_place) {
        call.out = MPI_IN_PLACE;
        put_in_place(moving, comm, run->me);
    }
    if (is_v) {
        error = call_vector(&call, kind, out, in);
    } else {
        struct blocks *data = in->n > 0 ? in : out;

        error =
            call_plain(&call, kind, data->buffer.origin,
                       bcast_count_of(run, data, collective), data->buffer.layout.type);
    }
    run_expect(run, error, MPI_SUCCESS, "collective");
    return moving;
}

void moving_check(struct run *run, const struct act *act, struct moving *moving)
{
    struct blocks *in = &moving->in;
    bool is_stray;
    ptrdiff_t at;

    (void)act;
    for (int i = 0; i < in->n; i++) {
        int different =
            in->is_absent[i]
                ? -1
                : buffer_take(&in->buffer,
                              (int64_t)in->displacements[i] * in->buffer.layout.n,
                              in->elements[i], in->keys[i]);

        if (different >= 0) {
            run_fail(run, "element %d of %d of block %d of a collective is wrong",
                     different, in->elements[i], i);
        }
    }
    at = buffer_stray(&in->buffer, &is_stray);
    if (is_stray) {
        run_fail(run, "a collective has written to byte %td, where nothing was to come",
                 at);
    }
    buffer_free(&moving->out.buffer);
    buffer_free(&moving->in.buffer);
    free(moving);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of a plan: which there are, who is in them in which order, and when
 * they are made and freed.
 */
#include "tests/random/plan.h"

static struct comm *add_comm(struct plan *plan, int op)
{
    struct comm *comm = &plan->comms[plan->n_comms++];

    comm->op = op;
    comm->parent = op >= 0 ? plan->ops[op].comm : -1;
    comm->made_by = op >= 0 ? plan->ops[op].make : MAKE_DUP;
    comm->freed_by = -1;
    if (op >= 0) {
        plan->ops[op].n_made++;
    }
    return comm;
}

void plan_first_comms(struct plan *plan)
{
    for (int i = COMM_ALL; i <= COMM_STREAM; i++) {
        struct comm *comm = add_comm(plan, -1);

        comm->side[0].n = plan->n_ranks;
        for (int rank = 0; rank < plan->n_ranks; rank++) {
            comm->side[0].ranks[rank] = rank;
        }
    }
}

int plan_draw_comm(const struct plan *plan, int op, struct draw *draw)
{
    int i = draw_chance(draw, 40) ? COMM_ALL : draw_below(draw, plan->n_comms);
    const struct comm *comm = &plan->comms[i];

    return i == COMM_STREAM || comm->op >= op || comm->freed_by >= 0 ? COMM_ALL : i;
}

static void add_all(struct members *members, const struct members *more)
{
    for (int i = 0; i < more->n; i++) {
        members->ranks[members->n++] = more->ranks[i];
    }
}

/* Up to three communicators without a common member; some ranks are in none. */
static void make_parts(struct plan *plan, int op, struct draw *draw)
{
    struct members from = plan->comms[plan->ops[op].comm].side[0];
    int n_parts = 1 + draw_below(draw, 3);
    struct comm *parts[3] = {NULL, NULL, NULL};

    draw_shuffle(draw, from.ranks, from.n);
    for (int i = 0; i < from.n; i++) {
        int part = draw_below(draw, 10 * n_parts + 1) / 10;

        if (part == n_parts) {
            continue;
        }
        if (!parts[part]) {
            parts[part] = add_comm(plan, op);
        }
        parts[part]->side[0].ranks[parts[part]->side[0].n++] = from.ranks[i];
    }
}

static void make_cart(struct plan *plan, int op, struct draw *draw)
{
    const struct members *from = &plan->comms[plan->ops[op].comm].side[0];
    struct comm *comm = add_comm(plan, op);
    int n = 1;

    comm->has_topology = true;
    comm->n_dims = 1 + draw_below(draw, 3);
    for (int i = 0; i < comm->n_dims; i++) {
        int most = from->n / n < 5 ? from->n / n : 5;

        comm->dims[i] = 1 + draw_below(draw, most);
        /* Where two neighbours are one rank, which block is whose is not clear. */
        comm->periods[i] = comm->dims[i] > 2 && draw_chance(draw, 60);
        n *= comm->dims[i];
    }
    add_all(&comm->side[0], from);
    comm->side[0].n = n;
}

static void make_graph(struct plan *plan, int op, struct draw *draw)
{
    const struct members *from = &plan->comms[plan->ops[op].comm].side[0];
    struct comm *comm = add_comm(plan, op);
    bool is_symmetric = comm->made_by == MAKE_GRAPH;

    comm->has_topology = true;
    add_all(&comm->side[0], from);
    for (int i = 0; i < from->n; i++) {
        for (int j = 0; j < from->n; j++) {
            if (draw_below(draw, from->n + 2) < 3 && (i != j || !is_symmetric)) {
                comm->edges[i] |= 1u << j;
                comm->edges[j] |= is_symmetric ? 1u << i : 0;
            }
        }
    }
}

static void make_inter(struct plan *plan, int op, struct draw *draw)
{
    const struct members *from = &plan->comms[plan->ops[op].comm].side[0];
    struct comm *comm = add_comm(plan, op);

    comm->is_inter = true;
    for (int i = 0; i < from->n; i++) {
        struct members *side = &comm->side[i < 2 ? i : draw_below(draw, 2)];

        if (i < 2 || draw_chance(draw, 90)) {
            side->ranks[side->n++] = from->ranks[i];
        }
    }
}

static void make_merged(struct plan *plan, int op, struct draw *draw)
{
    const struct comm *from = &plan->comms[plan->ops[op].comm];
    struct comm *comm = add_comm(plan, op);
    int first = draw_below(draw, 2);

    add_all(&comm->side[0], &from->side[first]);
    add_all(&comm->side[0], &from->side[1 - first]);
}

static void make_same(struct plan *plan, int op)
{
    const struct comm from = plan->comms[plan->ops[op].comm];
    struct comm *comm = add_comm(plan, op);

    comm->is_inter = from.is_inter;
    memcpy(comm->side, from.side, sizeof(comm->side));
    comm->has_topology = from.has_topology;
    comm->n_dims = from.n_dims;
    memcpy(comm->dims, from.dims, sizeof(comm->dims));
    memcpy(comm->periods, from.periods, sizeof(comm->periods));
    memcpy(comm->edges, from.edges, sizeof(comm->edges));
}

static enum make_kind draw_make(const struct comm *parent, struct draw *draw)
{
    enum make_kind kind;

    if (parent->is_inter) {
        return draw_chance(draw, 50) ? MAKE_MERGE : MAKE_DUP;
    }
    kind = (enum make_kind)draw_below(draw, MAKE_MERGE);
    return kind == MAKE_INTER && parent->side[0].n < 2 ? MAKE_DUP : kind;
}

/* All members at once; the first position is everybody's. */
static void add_acts(struct plan *plan, int op, enum act_kind kind,
                     const struct comm *comm)
{
    int64_t position = plan_position(plan, 1000 * (int64_t)op + 500);

    for (int side = 0; side <= comm->is_inter; side++) {
        for (int i = 0; i < comm->side[side].n; i++) {
            struct act *act = plan_add_act(plan, kind, op, comm->side[side].ranks[i]);

            act->position = position;
            act->ready = position;
        }
    }
}

void plan_make_comm(struct plan *plan, int op, struct draw *draw)
{
    struct op *mine = &plan->ops[op];
    const struct comm *parent = &plan->comms[mine->comm];

    mine->make = draw_make(parent, draw);
    mine->first_made = plan->n_comms;
    if (plan->n_comms + 3 > MAX_COMMS) {
        return;
    }
    switch (mine->make) {
    case MAKE_SPLIT:
    case MAKE_CREATE:
    case MAKE_CREATE_GROUP:
        make_parts(plan, op, draw);
        break;
    case MAKE_CART:
        make_cart(plan, op, draw);
        break;
    case MAKE_GRAPH:
    case MAKE_DIST_GRAPH:
        make_graph(plan, op, draw);
        break;
    case MAKE_INTER:
        make_inter(plan, op, draw);
        break;
    case MAKE_MERGE:
        make_merged(plan, op, draw);
        break;
    default:
        make_same(plan, op);
        break;
    }
    if (mine->n_made > 0) {
        add_acts(plan, op, ACT_MAKE, parent);
    }
}

void plan_free_comm(struct plan *plan, int op, struct draw *draw)
{
    int i = plan_draw_comm(plan, op, draw);

    if (i > COMM_STREAM) {
        plan->ops[op].comm = i;
        plan->comms[i].freed_by = op;
        add_acts(plan, op, ACT_FREE, &plan->comms[i]);
    }
}

static bool may_be_in_place(const struct comm *comm, enum collective_kind kind)
{
    return !comm->is_inter && kind != C_BARRIER && kind != C_BCAST &&
           kind < C_FIRST_NEIGHBOR;
}

static bool is_reduction(enum collective_kind kind)
{
    return kind >= C_REDUCE && kind <= C_EXSCAN;
}

static enum collective_kind draw_collective(const struct comm *comm, struct draw *draw)
{
    static const enum collective_kind often[] = {C_BARRIER,   C_BCAST,     C_REDUCE,
                                                 C_ALLREDUCE, C_ALLREDUCE, C_ALLGATHER};
    int n_others = N_COLLECTIVES - C_FIRST_NEIGHBOR;

    if (comm->has_topology && draw_chance(draw, 50)) {
        return (enum collective_kind)(C_FIRST_NEIGHBOR + draw_below(draw, n_others));
    }
    if (draw_chance(draw, 40)) {
        return often[draw_below(draw, CHECK_N(often))];
    }
    return (enum collective_kind)draw_below(draw,
                                            comm->is_inter ? C_SCAN : C_FIRST_NEIGHBOR);
}

/* Elements of a block: all blocks of a member together do not grow with their
 * number. */
static int draw_elements(const struct plan *plan, const struct collective *collective,
                         int n_members, struct draw *draw)
{
    bool is_one = collective->kind == C_BCAST || collective->kind == C_REDUCE ||
                  collective->kind == C_ALLREDUCE || collective->kind == C_SCAN ||
                  collective->kind == C_EXSCAN;
    int n_bytes = draw_bytes(draw);

    if (n_bytes > plan->max_bytes) {
        n_bytes = plan->max_bytes;
    }
    if (is_reduction(collective->kind)) {
        n_bytes /= draw_chance(draw, 80) ? 2000 : 2;
        return 1 + n_bytes / 8 / (is_one ? 1 : n_members);
    }
    return n_bytes / plan_base_bytes(collective->base) / (is_one ? 1 : n_members) /
           collective->unit;
}

void plan_collective(struct plan *plan, int op, struct draw *draw)
{
    struct op *mine = &plan->ops[op];
    struct collective *collective = &mine->collective;
    const struct comm *comm;

    if (plan->storm == 0 && draw_chance(draw, 10)) {
        mine->comm = COMM_STREAM;
    }
    comm = &plan->comms[mine->comm];
    collective->kind = draw_collective(comm, draw);
    collective->is_blocking = draw_chance(draw, 60);
    collective->is_in_place =
        may_be_in_place(comm, collective->kind) && draw_chance(draw, 25);
    collective->root_side = draw_below(draw, 1 + comm->is_inter);
    collective->root = draw_below(draw, comm->side[collective->root_side].n);
    collective->base = (enum base)draw_below(draw, N_BASES);
    collective->unit = draw_chance(draw, 30) ? 12 : 1;
    collective->n =
        draw_elements(plan, collective, comm->side[0].n + comm->side[1].n, draw);
    collective->reduction = draw_below(draw, N_REDUCTIONS);
    collective->key = draw_word(draw);
    if (plan->storm > 0) {
        plan->storm--;
        collective->kind = draw_chance(draw, 80) ? C_ALLREDUCE : C_REDUCE;
        collective->is_blocking = true;
        collective->is_in_place = false;
        collective->n = 1 + draw_below(draw, 4);
    }
    add_acts(plan, op, ACT_COLLECTIVE, comm);
}

int plan_block(const struct collective *collective, int from, int to)
{
    bool is_v = collective->kind == C_GATHERV || collective->kind == C_SCATTERV ||
                collective->kind == C_ALLGATHERV || collective->kind == C_ALLTOALLV ||
                collective->kind == C_ALLTOALLW ||
                collective->kind == C_NEIGHBOR_ALLGATHERV ||
                collective->kind >= C_NEIGHBOR_ALLTOALLV;
    int low = from < to ? from : to;
    int high = from < to ? to : from;
    uint64_t word;

    if (!is_v) {
        return collective->n * collective->unit;
    }
    /* What is exchanged in place has the same length in both directions. */
    word = collective->is_in_place
               ? check_mix(check_mix(collective->key, (uint64_t)(low + 1)),
                           (uint64_t)(high + 1))
               : check_mix(check_mix(collective->key, (uint64_t)(from + 1)),
                           (uint64_t)(to + 100));
    return (int)(word % ((uint64_t)collective->n + 1)) * collective->unit;
}

uint64_t plan_block_key(const struct collective *collective, int from, int to)
{
    return check_mix(check_mix(collective->key, 300 + (uint64_t)(from + 1)),
                     (uint64_t)(to + 1));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Acts that make and free communicators; starts collectives. */
#include "tests/random/run.h"

static void check_comm(struct run *run, int i)
{
    const struct comm *comm = &run->plan->comms[i];
    int side = plan_side_of(comm, run->me);
    int expected[4] = {plan_rank_in(&comm->side[side], run->me), comm->side[side].n,
                       comm->is_inter, comm->is_inter ? comm->side[1 - side].n : 0};
    int got[4] = {0};

    if (run->comms[i] == MPI_COMM_NULL) {
        run_fail(run, "communicator %d is MPI_COMM_NULL", i);
    }
    MPI_Comm_set_errhandler(run->comms[i], MPI_ERRORS_RETURN);
    MPI_Comm_rank(run->comms[i], &got[0]);
    MPI_Comm_size(run->comms[i], &got[1]);
    MPI_Comm_test_inter(run->comms[i], &got[2]);
    if (got[2]) {
        MPI_Comm_remote_size(run->comms[i], &got[3]);
    }
    if (memcmp(expected, got, sizeof(got)) != 0) {
        run_fail(run, "communicator %d: rank %d, size %d, inter %d, remote size %d", i,
                 got[0], got[1], got[2], got[3]);
    }
}

/* Wait for MPI_Comm_idup: for the one that makes this communicator, or for all (-1). */
static void wait_for_idup(struct run *run, int comm)
{
    for (int i = 0; i < run->n_entries; i++) {
        struct entry *entry = &run->entries[i];

        if (entry->act >= 0 && entry->is_active &&
            run->plan->acts[entry->act].kind == ACT_MAKE &&
            (comm < 0 ||
             run->plan->ops[run->plan->acts[entry->act].op].first_made == comm)) {
            run_wait(run, entry);
        }
    }
}

MPI_Comm run_comm(struct run *run, int comm)
{
    if (run->comms[comm] == MPI_COMM_NULL ||
        run->plan->comms[comm].made_by == MAKE_IDUP) {
        wait_for_idup(run, comm);
    }
    if (run->comms[comm] == MPI_COMM_NULL) {
        run_fail(run, "communicator %d is not there", comm);
    }
    return run->comms[comm];
}

/* The communicator of those that an operation makes which has this rank, or -1. */
static int mine_of(const struct run *run, const struct op *op)
{
    for (int i = op->first_made; i < op->first_made + op->n_made; i++) {
        if (plan_side_of(&run->plan->comms[i], run->me) >= 0) {
            return i;
        }
    }
    return -1;
}

static MPI_Group group_of(const struct comm *parent, MPI_Comm from,
                          const struct members *members)
{
    int ranks[MAX_RANKS];
    MPI_Group whole;
    MPI_Group group;

    for (int i = 0; i < members->n; i++) {
        ranks[i] = plan_rank_in(&parent->side[0], members->ranks[i]);
    }
    MPI_Comm_group(from, &whole);
    MPI_Group_incl(whole, members->n, ranks, &group);
    MPI_Group_free(&whole);
    return group;
}

static int make_of_group(struct run *run, const struct op *op, int mine, MPI_Comm from,
                         MPI_Comm *made)
{
    static const struct members none;
    const struct comm *parent = &run->plan->comms[op->comm];
    MPI_Group group =
        group_of(parent, from, mine < 0 ? &none : &run->plan->comms[mine].side[0]);
    int error = MPI_SUCCESS;

    /* The messages of Open MPI 4.1's MPI_Comm_create_group go to receives of any
     * tag. */
    if (op->make == MAKE_CREATE || run->is_native) {
        error = MPI_Comm_create(from, group, made);
    } else if (mine >= 0) {
        error = MPI_Comm_create_group(from, group, 77, made);
    }
    MPI_Group_free(&group);
    return error;
}

static int make_graph(struct run *run, int mine, MPI_Comm from, MPI_Comm *made)
{
    const struct comm *comm = &run->plan->comms[mine];
    int n = comm->side[0].n;
    int index[MAX_RANKS];
    int edges[MAX_RANKS * MAX_RANKS];
    int n_edges = 0;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (comm->edges[i] >> j & 1) {
                edges[n_edges++] = j;
            }
        }
        index[i] = n_edges;
    }
    return MPI_Graph_create(from, n, index, edges, 0, made);
}

static int make_dist_graph(struct run *run, int mine, MPI_Comm from, MPI_Comm *made)
{
    const struct comm *comm = &run->plan->comms[mine];
    int me = plan_rank_in(&comm->side[0], run->me);
    int sources[MAX_RANKS];
    int targets[MAX_RANKS];
    int weights[MAX_RANKS] = {0};
    int n_sources = 0;
    int n_targets = 0;

    for (int i = 0; i < comm->side[0].n; i++) {
        if (comm->edges[i] >> me & 1) {
            sources[n_sources++] = i;
        }
        if (comm->edges[me] >> i & 1) {
            targets[n_targets++] = i;
        }
    }
    return MPI_Dist_graph_create_adjacent(from, n_sources, sources, weights, n_targets,
                                          targets, weights, MPI_INFO_NULL, 0, made);
}

/* The leaders talk over a communicator of their own: over the program's, a receive by
 * any tag that is pending there would get what they say. */
static int make_inter(struct run *run, const struct op *op, int mine, MPI_Comm from,
                      MPI_Comm *made)
{
    const struct comm *parent = &run->plan->comms[op->comm];
    const struct comm *comm = &run->plan->comms[op->first_made];
    int side = mine < 0 ? MPI_UNDEFINED : plan_side_of(comm, run->me);
    MPI_Comm local, bridge;
    int error = MPI_Comm_split(from, side, 0, &local);

    run_expect(run, error, MPI_SUCCESS, "MPI_Comm_split");
    error = MPI_Comm_dup(from, &bridge);
    run_expect(run, error, MPI_SUCCESS, "MPI_Comm_dup");
    if (mine >= 0) {
        error = MPI_Intercomm_create(
            local, 0, bridge,
            plan_rank_in(&parent->side[0], comm->side[1 - side].ranks[0]), 78, made);
        MPI_Comm_free(&local);
    }
    MPI_Comm_free(&bridge);
    return error;
}

static int make_merged(struct run *run, const struct op *op, MPI_Comm from,
                       MPI_Comm *made)
{
    const struct comm *parent = &run->plan->comms[op->comm];
    int side = plan_side_of(parent, run->me);
    bool is_low = run->plan->comms[op->first_made].side[0].ranks[0] ==
                  parent->side[side].ranks[0];

    return MPI_Intercomm_merge(from, !is_low, made);
}

static int make(struct run *run, const struct op *op, int mine, MPI_Comm from,
                MPI_Comm *made)
{
    const struct comm *comm = &run->plan->comms[mine < 0 ? op->first_made : mine];

    switch (op->make) {
    case MAKE_SPLIT:
        return MPI_Comm_split(from, mine < 0 ? MPI_UNDEFINED : mine,
                              mine < 0 ? 0 : plan_rank_in(&comm->side[0], run->me),
                              made);
    case MAKE_CREATE:
    case MAKE_CREATE_GROUP:
        return make_of_group(run, op, mine, from, made);
    case MAKE_CART:
        return MPI_Cart_create(from, comm->n_dims, comm->dims, comm->periods, 0, made);
    case MAKE_GRAPH:
        return make_graph(run, mine, from, made);
    case MAKE_DIST_GRAPH:
        return make_dist_graph(run, mine, from, made);
    case MAKE_INTER:
        return make_inter(run, op, mine, from, made);
    case MAKE_MERGE:
        return make_merged(run, op, from, made);
    default:
        return MPI_Comm_dup(from, made);
    }
}

/* Complete the collectives that are pending on a communicator. */
static void wait_for_collectives(struct run *run, int comm)
{
    for (int i = 0; i < run->n_entries; i++) {
        struct entry *entry = &run->entries[i];

        if (entry->act >= 0 && entry->is_active && (entry->moving || entry->reducing) &&
            run->plan->acts[entry->act].comm == comm) {
            run_wait(run, entry);
        }
    }
}

void run_make(struct run *run, const struct act *act)
{
    const struct op *op = &run->plan->ops[act->op];
    MPI_Comm from = run_comm(run, act->comm);
    int mine = mine_of(run, op);
    MPI_Comm made = MPI_COMM_NULL;

    /* Open MPI 4.1 gives numbers twice if other communicators are made meanwhile. */
    wait_for_idup(run, -1);
    if (run->is_native && run->plan->comms[act->comm].is_inter) {
        /* Open MPI 4.1's reduce-scatters talk within a side where the sides also agree
         * on the new one's number, and may have the same tags. */
        wait_for_collectives(run, act->comm);
    }
    if (op->make == MAKE_IDUP) {
        struct entry *entry = run_add_entry(run, act);

        run_expect(run, MPI_Comm_idup(from, &run->comms[mine], &entry->request),
                   MPI_SUCCESS, "MPI_Comm_idup");
        return;
    }
    run_expect(run, make(run, op, mine, from, &made), MPI_SUCCESS,
               "making a communicator");
    if (mine < 0 && made != MPI_COMM_NULL) {
        run_fail(run, "a communicator though not a member");
    }
    if (mine >= 0) {
        run->comms[mine] = made;
        check_comm(run, mine);
    }
}

void run_made(struct run *run, const struct act *act)
{
    check_comm(run, run->plan->ops[act->op].first_made);
}

/* Messages that are pending on it go on. Collectives would, too, but with Open MPI 4.1,
 * which crashes. */
void run_free(struct run *run, const struct act *act)
{
    wait_for_collectives(run, act->comm);
    wait_for_idup(run, -1);
    run_expect(run, MPI_Comm_free(&run->comms[act->comm]), MPI_SUCCESS,
               "MPI_Comm_free");
    if (run->comms[act->comm] != MPI_COMM_NULL) {
        run_fail(run, "a freed communicator is not MPI_COMM_NULL");
    }
}

void run_collective(struct run *run, const struct act *act)
{
    const struct collective *collective = &run->plan->ops[act->op].collective;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Request *asked = collective->is_blocking ? NULL : &request;
    bool reduces = collective->kind >= C_REDUCE && collective->kind <= C_EXSCAN;
    struct moving *moving = NULL;
    struct reducing *reducing = NULL;

    run_comm(run, act->comm);
    if (run->is_native && asked) { /* Open MPI 4.1 mixes up the parts of both */
        wait_for_idup(run, -1);
    }
    if (reduces) {
        reducing = reducing_start(run, act, asked);
    } else {
        moving = moving_start(run, act, asked);
    }
    if (!asked) {
        if (reduces) {
            reducing_check(run, act, reducing);
        } else {
            moving_check(run, act, moving);
        }
        return;
    }
    struct entry *entry = run_add_entry(run, act);

    entry->request = request;
    entry->moving = moving;
    entry->reducing = reducing;
}

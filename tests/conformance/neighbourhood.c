/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives, blocking and not, on all kinds of topologies: what comes
 * from which neighbour, in which order if a neighbour is there several times, and what
 * is left alone where there is none.
 */
#include "tests/conformance/check.h"

enum { MAX_NEIGHBOURS = 64, MAX_DIMENSIONS = 3 };

/** A communicator and the neighbours that its collectives have. */
struct place {
    MPI_Comm comm;
    int rank;
    int n_sources;
    int n_targets;
    int sources[MAX_NEIGHBOURS];
    int targets[MAX_NEIGHBOURS];
    /* Which of the source's blocks for its targets comes from each source. */
    int places[MAX_NEIGHBOURS];
    /* The MPI library below may mix up what two neighbours exchange in both directions
     * of a torus, if the call does not block. */
    int is_blocking_only;
};

/* What a rank sends in block `index` of n integers. */
static int value(int rank, int index, int at)
{
    return rank * 100003 + index * 1009 + at;
}

static void expect_block(const int *block, int rank, int index, int n)
{
    for (int at = 0; at < n; at++) {
        CHECK_EQUAL(block[at], rank == MPI_PROC_NULL ? -1 : value(rank, index, at));
    }
}

static int *fresh(int n)
{
    int *data = check_alloc((size_t)n * sizeof(int));

    for (int i = 0; i < n; i++) {
        data[i] = -1;
    }
    return data;
}

static void wait_for(MPI_Request *request)
{
    int is_done = 0;

    while (!is_done) {
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    }
}

static void allgather(const struct place *place, int n, int is_blocking)
{
    int *in = fresh((place->n_sources + 1) * n), *out = fresh(n);
    int *in_v = fresh((place->n_sources + 1) * (n + 1));
    int counts[MAX_NEIGHBOURS], displs[MAX_NEIGHBOURS];
    MPI_Request requests[2];

    for (int i = 0; i < n; i++) {
        out[i] = value(place->rank, 0, i);
    }
    for (int i = 0; i < place->n_sources; i++) {
        counts[i] = n;
        displs[i] = (place->n_sources - 1 - i) * (n + 1);
    }
    if (is_blocking) {
        MPI_Neighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, place->comm);
        MPI_Neighbor_allgatherv(out, n, MPI_INT, in_v, counts, displs, MPI_INT,
                                place->comm);
    } else {
        MPI_Ineighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, place->comm,
                                &requests[0]);
        MPI_Ineighbor_allgatherv(out, n, MPI_INT, in_v, counts, displs, MPI_INT,
                                 place->comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < place->n_sources; i++) {
        expect_block(in + i * n, place->sources[i], 0, n);
        expect_block(in_v + displs[i], place->sources[i], 0, n);
        CHECK_EQUAL(in_v[displs[i] + n], -1);
    }
    free(in);
    free(in_v);
    free(out);
}

static int *blocks_out(const struct place *place, int n)
{
    int *out = fresh((place->n_targets + 1) * n);

    for (int i = 0; i < place->n_targets * n; i++) {
        out[i] = value(place->rank, i / n, i % n);
    }
    return out;
}

static void alltoall(const struct place *place, int n, int is_blocking)
{
    int *in = fresh((place->n_sources + 1) * n), *out = blocks_out(place, n);
    MPI_Request request;

    if (is_blocking) {
        MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, place->comm);
    } else {
        MPI_Ineighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, place->comm, &request);
        wait_for(&request);
    }
    for (int i = 0; i < place->n_sources; i++) {
        expect_block(in + i * n, place->sources[i], place->places[i], n);
    }
    free(in);
    free(out);
}

/* Received backwards. */
static void alltoallv(const struct place *place, int n, int is_blocking)
{
    int *in = fresh((place->n_sources + 1) * n), *out = blocks_out(place, n);
    int counts[MAX_NEIGHBOURS], displs[2][MAX_NEIGHBOURS];
    MPI_Request request;

    for (int i = 0; i < MAX_NEIGHBOURS; i++) {
        counts[i] = n;
        displs[0][i] = i * n;
        displs[1][i] = (place->n_sources - 1 - i) * n;
    }
    if (is_blocking) {
        MPI_Neighbor_alltoallv(out, counts, displs[0], MPI_INT, in, counts, displs[1],
                               MPI_INT, place->comm);
    } else {
        MPI_Ineighbor_alltoallv(out, counts, displs[0], MPI_INT, in, counts, displs[1],
                                MPI_INT, place->comm, &request);
        wait_for(&request);
    }
    for (int i = 0; i < place->n_sources; i++) {
        expect_block(in + displs[1][i], place->sources[i], place->places[i], n);
    }
    free(in);
    free(out);
}

/* Received as every second integer. */
static void alltoallw(const struct place *place, int n, int is_blocking)
{
    int *in = fresh((place->n_sources + 1) * 2 * n), *out = blocks_out(place, n);
    int counts[MAX_NEIGHBOURS];
    MPI_Aint displs[2][MAX_NEIGHBOURS];
    MPI_Datatype types[2][MAX_NEIGHBOURS], sparse;
    MPI_Request request;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    for (int i = 0; i < MAX_NEIGHBOURS; i++) {
        counts[i] = n;
        types[0][i] = MPI_INT;
        types[1][i] = sparse;
        displs[0][i] = i * n * (MPI_Aint)sizeof(int);
        displs[1][i] = (place->n_sources - 1 - i) * 2 * n * (MPI_Aint)sizeof(int);
    }
    if (is_blocking) {
        MPI_Neighbor_alltoallw(out, counts, displs[0], types[0], in, counts, displs[1],
                               types[1], place->comm);
    } else {
        MPI_Ineighbor_alltoallw(out, counts, displs[0], types[0], in, counts, displs[1],
                                types[1], place->comm, &request);
        wait_for(&request);
    }
    for (int i = 0; i < place->n_sources; i++) {
        const int *block = in + (place->n_sources - 1 - i) * 2 * n;

        for (int at = 0; at < n; at++) {
            expect_block(block + 2 * at, place->sources[i], place->places[i], at == 0);
            CHECK_EQUAL(block[2 * at + 1], -1);
        }
    }
    MPI_Type_free(&sparse);
    free(in);
    free(out);
}

static void exchange_all(const struct place *place)
{
    static const int counts[] = {0, 1, 3, 1000, 30000};

    for (int i = 0; i < CHECK_N(counts); i++) {
        for (int is_blocking = place->is_blocking_only; is_blocking < 2;
             is_blocking++) {
            allgather(place, counts[i], is_blocking);
            alltoall(place, counts[i], is_blocking);
            alltoallv(place, counts[i], is_blocking);
            alltoallw(place, counts[i], is_blocking);
        }
    }
}

/* Down comes from the lower neighbour's way up, and so on. */
static void cartesian(int n_dimensions, const int *dims, const int *periods)
{
    struct place place = {.n_sources = 2 * n_dimensions, .n_targets = 2 * n_dimensions};

    MPI_Cart_create(MPI_COMM_WORLD, n_dimensions, dims, periods, 0, &place.comm);
    if (place.comm == MPI_COMM_NULL) {
        return;
    }
    MPI_Comm_rank(place.comm, &place.rank);
    for (int i = 0; i < n_dimensions; i++) {
        MPI_Cart_shift(place.comm, i, 1, &place.sources[2 * i],
                       &place.sources[2 * i + 1]);
        place.places[2 * i] = 2 * i + 1;
        place.places[2 * i + 1] = 2 * i;
        place.is_blocking_only |= periods[i] && dims[i] <= 2;
    }
    memcpy(place.targets, place.sources, sizeof(place.targets));
    exchange_all(&place);
    MPI_Comm_free(&place.comm);
}

static void cartesians(struct world world)
{
    for (int wrap = 0; wrap < 4; wrap++) {
        int periods[MAX_DIMENSIONS] = {wrap % 2, wrap / 2, 1};
        int dims[MAX_DIMENSIONS] = {world.size};

        cartesian(1, dims, periods);
        for (int n = 2; n <= MAX_DIMENSIONS; n++) {
            memset(dims, 0, sizeof(dims));
            MPI_Dims_create(world.size, n, dims);
            cartesian(n, dims, periods);
        }
        dims[0] = 1;
        dims[1] = world.size;
        cartesian(2, dims, periods);
    }
    check_say("cartesian\n");
}

/* The ring in both directions, and the first edge twice: pairs of ranks that exchange
 * several blocks keep the order of their lists. */
static void graph(struct world world)
{
    struct place place = {.n_sources = world.size == 1 ? 1 : 2};
    int *index = check_alloc(world.size * sizeof(int));
    int *edges = check_alloc((size_t)world.size * 2 * sizeof(int));

    for (int i = 0; i < world.size; i++) {
        index[i] = place.n_sources * (i + 1);
        edges[place.n_sources * i] = (i + 1) % world.size;
        if (world.size > 1) {
            edges[place.n_sources * i + 1] = (i + world.size - 1) % world.size;
        }
    }
    MPI_Graph_create(MPI_COMM_WORLD, world.size, index, edges, 0, &place.comm);
    place.rank = world.rank;
    place.n_targets = place.n_sources;
    place.sources[0] = world.right;
    place.sources[1] = world.left;
    place.places[0] = world.size == 1 ? 0 : 1;
    place.places[1] = 0;
    if (world.size == 2) { /* the same rank twice: first to first */
        place.places[0] = 0;
        place.places[1] = 1;
    }
    exchange_all(&place);
    MPI_Comm_free(&place.comm);
    free(index);
    free(edges);
    check_say("graph\n");
}

/* Everybody sends i + 1 blocks to rank i of the first three ranks. */
static void distributed_graph(struct world world)
{
    struct place place = {.rank = world.rank};
    int n_listeners = world.size < 3 ? world.size : 3;
    int weights[MAX_NEIGHBOURS] = {0};

    for (int i = 0; i < n_listeners; i++) {
        for (int k = 0; k <= i; k++) {
            place.targets[place.n_targets++] = i;
        }
    }
    for (int from = world.size - 1; world.rank < n_listeners && from >= 0; from--) {
        for (int k = 0; k <= world.rank; k++) {
            place.sources[place.n_sources] = from;
            place.places[place.n_sources++] = world.rank * (world.rank + 1) / 2 + k;
        }
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, place.n_sources, place.sources,
                                   weights, place.n_targets, place.targets, weights,
                                   MPI_INFO_NULL, 0, &place.comm);
    exchange_all(&place);
    MPI_Comm_free(&place.comm);
    check_say("distributed graph\n");
}

static void say_class(const char *name, int code)
{
    int class;

    MPI_Error_class(code, &class);
    check_say("%s: %d\n", name, class);
}

static void without_topology(void)
{
    int in[2], out[2] = {0, 0};

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say_class("alltoall without topology",
              MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    cartesians(world);
    graph(world);
    distributed_graph(world);
    without_topology();
    return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbours of a process on a communicator with a topology, as the MPI library
 * tells them, and how many bytes collectives with them, and others, have.
 */
#include <check.h>

#include "mpi_shim/collective/collective_bytes.h"
#include "mpi_shim/comm/comm_neighbors.h"
#include "mpi_shim/real/real.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

static int topology, n_asked;
static char handle;
static struct shim_comm comm;

static int topo_test(MPI_Comm asked, int *topology_out)
{
    ck_assert_ptr_eq(asked, &handle);
    *topology_out = topology;
    n_asked++;
    return MPI_SUCCESS;
}

/* Two dimensions; of the second this process is at the end. */
static int cartdim_get(MPI_Comm asked, int *n)
{
    (void)asked;
    *n = 2;
    return MPI_SUCCESS;
}

static int cart_shift(MPI_Comm asked, int direction, int displacement, int *below,
                      int *above)
{
    (void)asked;
    ck_assert_int_eq(displacement, 1);
    *below = 10 + direction;
    *above = direction == 1 ? MPI_PROC_NULL : 20;
    return MPI_SUCCESS;
}

static int graph_count(MPI_Comm asked, int rank, int *n)
{
    (void)asked;
    ck_assert_int_eq(rank, 3);
    *n = 2;
    return MPI_SUCCESS;
}

static int graph_neighbors(MPI_Comm asked, int rank, int n, int *ranks)
{
    (void)asked;
    ck_assert_int_eq(rank, 3);
    ck_assert_int_eq(n, 2);
    ranks[0] = 5;
    ranks[1] = 1;
    return MPI_SUCCESS;
}

static int dist_count(MPI_Comm asked, int *n_sources, int *n_targets, int *is_weighted)
{
    (void)asked;
    *n_sources = 1;
    *n_targets = 3;
    *is_weighted = 1;
    return MPI_SUCCESS;
}

static int fake_MPI_Dist_graph_neighbors(MPI_Comm asked, int n_sources, int *sources,
                                         int *in_weights, int n_targets, int *targets,
                                         int *out_weights)
{
    (void)asked;
    ck_assert_int_eq(n_sources, 1);
    ck_assert_int_eq(n_targets, 3);
    sources[0] = 7;
    in_weights[0] = 100;
    for (int i = 0; i < 3; i++) {
        targets[i] = i;
        out_weights[i] = 200;
    }
    return MPI_SUCCESS;
}

static void set_up(void)
{
    fake_library_set();
    shim_real.Topo_test = topo_test;
    shim_real.Cartdim_get = cartdim_get;
    shim_real.Cart_shift = cart_shift;
    shim_real.Graph_neighbors_count = graph_count;
    shim_real.Graph_neighbors = graph_neighbors;
    shim_real.Dist_graph_neighbors_count = dist_count;
    shim_real.Dist_graph_neighbors = fake_MPI_Dist_graph_neighbors;
    n_asked = 0;
    comm = (struct shim_comm){.handle = (MPI_Comm)(void *)&handle,
                              .group = {.rank = 3, .size = 4}};
    comm.whole = &comm.group;
}

static void tear_down(void)
{
    free(comm.neighbors);
}

static void are(const int32_t *found, int32_t n_found, int32_t n,
                const int32_t *expected)
{
    ck_assert_int_eq(n_found, n);
    for (int32_t i = 0; i < n; i++) {
        ck_assert_int_eq(found[i], expected[i]);
    }
}

START_TEST(a_grid_has_two_in_each_dimension)
{
    const struct bcs_neighbors *neighbors;

    topology = MPI_CART;
    neighbors = shim_neighbors_of(&comm);
    are(neighbors->sources, neighbors->n_sources, 4,
        (int32_t[]){10, 20, 11, BCS_NO_NEIGHBOR});
    are(neighbors->targets, neighbors->n_targets, 4,
        (int32_t[]){10, 20, 11, BCS_NO_NEIGHBOR});
    ck_assert(neighbors->is_cartesian);
}
END_TEST

START_TEST(a_graph_has_the_same_both_ways)
{
    const struct bcs_neighbors *neighbors;

    topology = MPI_GRAPH;
    neighbors = shim_neighbors_of(&comm);
    are(neighbors->sources, neighbors->n_sources, 2, (int32_t[]){5, 1});
    are(neighbors->targets, neighbors->n_targets, 2, (int32_t[]){5, 1});
    ck_assert(!neighbors->is_cartesian);
}
END_TEST

START_TEST(a_distributed_graph_has_two_lists)
{
    const struct bcs_neighbors *neighbors;

    topology = MPI_DIST_GRAPH;
    neighbors = shim_neighbors_of(&comm);
    are(neighbors->sources, neighbors->n_sources, 1, (int32_t[]){7});
    are(neighbors->targets, neighbors->n_targets, 3, (int32_t[]){0, 1, 2});
    ck_assert(!neighbors->is_cartesian);
}
END_TEST

START_TEST(they_are_asked_for_once)
{
    topology = MPI_DIST_GRAPH;
    ck_assert_ptr_eq(shim_neighbors_of(&comm), shim_neighbors_of(&comm));
    ck_assert_int_eq(n_asked, 1);
}
END_TEST

START_TEST(without_a_topology_there_are_none)
{
    topology = MPI_UNDEFINED;
    ck_assert_ptr_null(shim_neighbors_of(&comm));
}
END_TEST

/* The bytes of a call that sends 5 elements of 4 bytes, and gets 7 of 2. */
static uint64_t bytes_of(enum shim_collective_kind kind, int root)
{
    static const struct shim_datatype sent = {.size = 4}, received = {.size = 2};
    const struct shim_collective call = {
        .kind = kind,
        .root = root,
        .send = {.type = &sent, .count = 5},
        .receive = {.type = &received, .count = 7},
    };

    return shim_collective_bytes(&comm, &call);
}

START_TEST(bytes_are_those_of_this_rank)
{
    topology = MPI_DIST_GRAPH;
    ck_assert_uint_eq(bytes_of(SHIM_BCAST, 0), 14);
    ck_assert_uint_eq(bytes_of(SHIM_REDUCE, 0), 14);
    ck_assert_uint_eq(bytes_of(SHIM_EXSCAN, 0), 14);
    ck_assert_uint_eq(bytes_of(SHIM_REDUCE_SCATTER, 0), 4 * 14);
    ck_assert_uint_eq(bytes_of(SHIM_GATHER, 3), 20);
    ck_assert_uint_eq(bytes_of(SHIM_SCATTER, 3), 4 * 20);
    ck_assert_uint_eq(bytes_of(SHIM_SCATTER, 2), 14);
    ck_assert_uint_eq(bytes_of(SHIM_ALLGATHER, 0), 20);
    ck_assert_uint_eq(bytes_of(SHIM_ALLTOALL, 0), 4 * 20);
    ck_assert_uint_eq(bytes_of(SHIM_NEIGHBOR_ALLGATHER, 0), 20);
    ck_assert_uint_eq(bytes_of(SHIM_NEIGHBOR_ALLTOALL, 0), 3 * 20);
}
END_TEST

START_TEST(bytes_in_place_are_those_that_are_received)
{
    static const struct shim_datatype type = {.size = 2};
    struct shim_collective call = {
        .kind = SHIM_ALLTOALL,
        .send = {.buf = MPI_IN_PLACE},
        .receive = {.type = &type, .count = 7},
    };

    ck_assert_uint_eq(shim_collective_bytes(&comm, &call), 4 * 14);
    call.kind = SHIM_GATHER; /* of a rank that only the root has data for */
    call.receive.type = NULL;
    ck_assert_uint_eq(shim_collective_bytes(&comm, &call), 0);
}
END_TEST

START_TEST(bytes_of_blocks_add_up)
{
    static const struct shim_datatype first = {.size = 2}, second = {.size = 3};
    const struct shim_datatype *types[] = {&first, &second};
    const int counts[] = {1, 4};
    const struct shim_collective call = {
        .kind = SHIM_ALLTOALL,
        .send = {.is_vector = true,
                 .has_types = true,
                 .types = types,
                 .counts = counts,
                 .n_blocks = 2},
    };

    ck_assert_uint_eq(shim_collective_bytes(&comm, &call), 14);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("neighbors");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_grid_has_two_in_each_dimension);
    tcase_add_test(tcase, a_graph_has_the_same_both_ways);
    tcase_add_test(tcase, a_distributed_graph_has_two_lists);
    tcase_add_test(tcase, they_are_asked_for_once);
    tcase_add_test(tcase, without_a_topology_there_are_none);
    tcase_add_test(tcase, bytes_are_those_of_this_rank);
    tcase_add_test(tcase, bytes_in_place_are_those_that_are_received);
    tcase_add_test(tcase, bytes_of_blocks_add_up);
    return run_tcase("neighbors", tcase);
}

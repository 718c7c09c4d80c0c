/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbours of this process, asked of the real library at the first use and kept
 * with the communicator. Called under the lock in the application's threads.
 */
#include "mpi_shim/comm/comm_neighbors.h"

#include "mpi_shim/real/real.h"
#include <stdlib.h>

/** The lists with their memory: first the sources, then the targets. */
struct lists {
    struct bcs_neighbors neighbors;
    int32_t ranks[];
};

static struct lists *lists_new(int n_sources, int n_targets)
{
    struct lists *lists = calloc(
        1, sizeof(*lists) + ((size_t)n_sources + (size_t)n_targets) * sizeof(int32_t));

    if (lists != NULL) {
        lists->neighbors.sources = lists->ranks;
        lists->neighbors.n_sources = n_sources;
        lists->neighbors.targets = lists->ranks + n_sources;
        lists->neighbors.n_targets = n_targets;
    }
    return lists;
}

/** A lower and an upper neighbour in each dimension. */
static struct lists *find_cartesian(MPI_Comm comm)
{
    struct lists *lists;
    int n_dimensions;

    shim_real.Cartdim_get(comm, &n_dimensions);
    lists = lists_new(2 * n_dimensions, 2 * n_dimensions);
    for (int i = 0; lists != NULL && i < n_dimensions; i++) {
        int *sources = &lists->ranks[2 * i];
        int *targets = &lists->ranks[2 * (n_dimensions + i)];

        shim_real.Cart_shift(comm, i, 1, &sources[0], &sources[1]);
        targets[0] = sources[0];
        targets[1] = sources[1];
    }
    if (lists != NULL) {
        lists->neighbors.is_cartesian = true;
    }
    return lists;
}

static struct lists *find_graph(MPI_Comm comm, int rank)
{
    struct lists *lists;
    int n;

    shim_real.Graph_neighbors_count(comm, rank, &n);
    lists = lists_new(n, n);
    if (lists != NULL) {
        shim_real.Graph_neighbors(comm, rank, n, lists->ranks);
        shim_real.Graph_neighbors(comm, rank, n, lists->ranks + n);
    }
    return lists;
}

static struct lists *find_dist_graph(MPI_Comm comm)
{
    int n_sources, n_targets, is_weighted;
    struct lists *lists;
    int *weights;

    shim_real.Dist_graph_neighbors_count(comm, &n_sources, &n_targets, &is_weighted);
    weights = calloc((size_t)n_sources + (size_t)n_targets + 1, sizeof(*weights));
    lists = weights == NULL ? NULL : lists_new(n_sources, n_targets);
    if (lists != NULL) {
        shim_real.Dist_graph_neighbors(comm, n_sources, lists->ranks, weights,
                                       n_targets, lists->ranks + n_sources,
                                       weights + n_sources);
    }
    free(weights);
    return lists;
}

static struct lists *find(const struct shim_comm *comm)
{
    int topology = MPI_UNDEFINED;

    shim_real.Topo_test(comm->handle, &topology);
    switch (topology) {
    case MPI_CART:
        return find_cartesian(comm->handle);
    case MPI_GRAPH:
        return find_graph(comm->handle, comm->group.rank);
    case MPI_DIST_GRAPH:
        return find_dist_graph(comm->handle);
    default:
        return NULL;
    }
}

const struct bcs_neighbors *shim_neighbors_of(struct shim_comm *comm)
{
    struct lists *lists;

    if (comm->neighbors != NULL) {
        return comm->neighbors;
    }
    lists = find(comm);
    if (lists == NULL) {
        return NULL;
    }
    for (int32_t i = 0; i < lists->neighbors.n_sources + lists->neighbors.n_targets;
         i++) {
        if (lists->ranks[i] == MPI_PROC_NULL) {
            lists->ranks[i] = BCS_NO_NEIGHBOR;
        }
    }
    comm->neighbors = &lists->neighbors;
    return comm->neighbors;
}

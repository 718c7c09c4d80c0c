/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cartesian and graph communicators: shifts and sub-grids carry messages and
 * collectives, processes outside of the grid get none.
 */
#include "tests/conformance/check.h"

static void a_torus_is_shifted(struct world world)
{
    int sizes[2] = {0, 0};
    int periods[2] = {1, 1};
    int place[2];
    MPI_Comm grid;
    double cell;
    double sum;

    MPI_Dims_create(world.size, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 1, &grid);
    MPI_Comm_rank(grid, &world.rank);
    MPI_Cart_coords(grid, world.rank, 2, place);
    cell = 10 * place[0] + place[1];
    for (int axis = 0; axis < 2; axis++) {
        int from;
        int to;

        MPI_Cart_shift(grid, axis, 1, &from, &to);
        MPI_Sendrecv_replace(&cell, 1, MPI_DOUBLE, to, axis, from, axis, grid,
                             MPI_STATUS_IGNORE);
        place[axis] = (place[axis] + sizes[axis] - 1) % sizes[axis];
        CHECK(cell == 10 * place[0] + place[1]);
    }
    MPI_Allreduce(&cell, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    check_say("a torus of %d x %d, sum %g\n", sizes[0], sizes[1], sum);
    MPI_Comm_free(&grid);
}

static void rows_and_columns(struct world world)
{
    int sizes[2] = {0, 0};
    int periods[2] = {0, 0};
    int keep_rows[2] = {0, 1};
    int keep_columns[2] = {1, 0};
    int place[2];
    int sums[2];
    MPI_Comm grid;
    MPI_Comm row;
    MPI_Comm column;

    MPI_Dims_create(world.size, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    MPI_Cart_sub(grid, keep_rows, &row);
    MPI_Cart_sub(grid, keep_columns, &column);
    MPI_Cart_coords(grid, world.rank, 2, place);
    MPI_Allreduce(&world.rank, &sums[0], 1, MPI_INT, MPI_SUM, row);
    MPI_Allreduce(&world.rank, &sums[1], 1, MPI_INT, MPI_SUM, column);
    CHECK_EQUAL(sums[0],
                sizes[1] * sizes[1] * place[0] + sizes[1] * (sizes[1] - 1) / 2);
    CHECK_EQUAL(sums[1],
                sizes[0] * place[1] + sizes[1] * (sizes[0] * (sizes[0] - 1) / 2));
    MPI_Bcast(place, 1, MPI_INT, 0, row);
    MPI_Barrier(column);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
    check_say("rows and columns\n");
}

static void a_line_leaves_the_last_out(struct world world)
{
    int n = world.size > 1 ? world.size - 1 : 1;
    int period = 0;
    int from;
    int to;
    int in = -1;
    MPI_Comm line;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &period, 0, &line);
    CHECK((line == MPI_COMM_NULL) == (world.rank >= n));
    if (line != MPI_COMM_NULL) {
        MPI_Cart_shift(line, 0, 1, &from, &to);
        MPI_Sendrecv(&world.rank, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, line,
                     MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, world.rank - 1);
        MPI_Comm_free(&line);
    }
    check_say("a line leaves the last out\n");
}

/* A ring as a graph: each rank's neighbours are the one before and the one behind. */
static void a_graph(struct world world)
{
    int *index = check_alloc(world.size * sizeof(int));
    int *edges = check_alloc(2 * world.size * sizeof(int));
    int neighbours[2];
    int in[2];
    MPI_Request requests[4];
    MPI_Comm graph;

    for (int rank = 0; rank < world.size; rank++) {
        index[rank] = 2 * rank + 2;
        edges[2 * rank] = (rank + world.size - 1) % world.size;
        edges[2 * rank + 1] = (rank + 1) % world.size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, world.size, index, edges, 0, &graph);
    MPI_Graph_neighbors(graph, world.rank, 2, neighbours);
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, neighbours[i], 1 - i, graph, &requests[i]);
        MPI_Isend(&world.rank, 1, MPI_INT, neighbours[i], i, graph, &requests[2 + i]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(in[0], world.left);
    CHECK_EQUAL(in[1], world.right);
    MPI_Barrier(graph);
    MPI_Comm_free(&graph);
    free(index);
    free(edges);
    check_say("a graph\n");
}

/* The second graph has a parent of its own. Open MPI up to 5.0 (its issue 13918) gets
 * the edges together by messages on the parent whose tags its non-blocking collectives
 * come to, by which communicators are numbered: where some twenty of these were used,
 * ranks may wait for ever. */
static void a_distributed_graph(struct world world)
{
    int in[1] = {-1};
    int n_edges = 1;
    int weight = 1;
    MPI_Comm graph, parent;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &world.left, &weight, 1,
                                   &world.right, &weight, MPI_INFO_NULL, 0, &graph);
    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 0, in, 1, MPI_INT, world.left, 0,
                 graph, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in[0], world.left);
    MPI_Neighbor_allgather(&world.rank, 1, MPI_INT, in, 1, MPI_INT, graph);
    CHECK_EQUAL(in[0], world.left);
    MPI_Comm_free(&graph);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Dist_graph_create(parent, 1, &world.rank, &n_edges, &world.right, &weight,
                          MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&parent);
    MPI_Allreduce(&world.rank, in, 1, MPI_INT, MPI_MAX, graph);
    CHECK_EQUAL(in[0], world.size - 1);
    MPI_Comm_free(&graph);
    check_say("a distributed graph\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    a_torus_is_shifted(world);
    rows_and_columns(world);
    a_line_leaves_the_last_out(world);
    a_graph(world);
    a_distributed_graph(world);
    return check_end();
}

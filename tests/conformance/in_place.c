/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_IN_PLACE in every collective that allows it, at every root, for short and long
 * blocks and for a type with gaps.
 */
#include "tests/conformance/check.h"

struct blocks {
    struct world world;
    int n; /* ints of one block */
    int *data;
    int *other;
    int *counts;
    int *places;
};

static int value_of(int owner, int block, int i)
{
    return 10000 * owner + 100 * block + i % 100;
}

static void fill(struct blocks *blocks)
{
    for (int b = 0; b < blocks->world.size; b++) {
        for (int i = 0; i < blocks->n; i++) {
            blocks->data[b * blocks->n + i] = value_of(blocks->world.rank, b, i);
            blocks->other[b * blocks->n + i] = -1;
        }
    }
}

static void block_is(const int *block, int n, int owner, int index)
{
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(block[i], value_of(owner, index, i));
    }
}

static void reductions(struct blocks *blocks)
{
    int size = blocks->world.size;
    int n = blocks->n * size;

    fill(blocks);
    MPI_Allreduce(MPI_IN_PLACE, blocks->data, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(blocks->data[i],
                    10000 * (size * (size - 1) / 2) +
                        size * value_of(0, i / blocks->n, i % blocks->n));
    }
    for (int root = 0; root < size; root++) {
        fill(blocks);
        if (blocks->world.rank == root) {
            MPI_Reduce(MPI_IN_PLACE, blocks->data, n, MPI_INT, MPI_MAX, root,
                       MPI_COMM_WORLD);
            block_is(blocks->data, blocks->n, size - 1, 0);
        } else {
            MPI_Reduce(blocks->data, NULL, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
            block_is(blocks->data, blocks->n, blocks->world.rank, 0);
        }
    }
}

static void gathers(struct blocks *blocks)
{
    int rank = blocks->world.rank;
    int n = blocks->n;

    for (int root = 0; root < blocks->world.size; root++) {
        fill(blocks);
        if (rank == root) {
            MPI_Gather(MPI_IN_PLACE, 7, MPI_DATATYPE_NULL, blocks->data, n, MPI_INT,
                       root, MPI_COMM_WORLD);
            for (int b = 0; b < blocks->world.size; b++) {
                block_is(blocks->data + b * n, n, b, b);
            }
        } else {
            MPI_Gather(blocks->data + rank * n, n, MPI_INT, NULL, 0, MPI_INT, root,
                       MPI_COMM_WORLD);
        }
        fill(blocks);
        if (rank == root) {
            MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, blocks->data, blocks->counts,
                        blocks->places, MPI_INT, root, MPI_COMM_WORLD);
            for (int b = 0; b < blocks->world.size; b++) {
                block_is(blocks->data + b * n, n, b, b);
            }
        } else {
            MPI_Gatherv(blocks->data + rank * n, n, MPI_INT, NULL, NULL, NULL, MPI_INT,
                        root, MPI_COMM_WORLD);
        }
    }
}

static void scatters(struct blocks *blocks)
{
    int rank = blocks->world.rank;
    int n = blocks->n;

    for (int root = 0; root < blocks->world.size; root++) {
        fill(blocks);
        if (rank == root) {
            MPI_Scatter(blocks->data, n, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, root,
                        MPI_COMM_WORLD);
            block_is(blocks->data + rank * n, n, rank, rank);
            MPI_Scatterv(blocks->data, blocks->counts, blocks->places, MPI_INT,
                         MPI_IN_PLACE, 0, MPI_INT, root, MPI_COMM_WORLD);
            block_is(blocks->data + rank * n, n, rank, rank);
        } else {
            MPI_Scatter(NULL, 0, MPI_INT, blocks->other, n, MPI_INT, root,
                        MPI_COMM_WORLD);
            block_is(blocks->other, n, root, rank);
            MPI_Scatterv(NULL, NULL, NULL, MPI_INT, blocks->other, n, MPI_INT, root,
                         MPI_COMM_WORLD);
            block_is(blocks->other, n, root, rank);
        }
    }
}

static void allgathers(struct blocks *blocks)
{
    fill(blocks);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks->data, blocks->n, MPI_INT,
                  MPI_COMM_WORLD);
    for (int b = 0; b < blocks->world.size; b++) {
        block_is(blocks->data + b * blocks->n, blocks->n, b, b);
    }
    fill(blocks);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks->data, blocks->counts,
                   blocks->places, MPI_INT, MPI_COMM_WORLD);
    for (int b = 0; b < blocks->world.size; b++) {
        block_is(blocks->data + b * blocks->n, blocks->n, b, b);
    }
}

static void alltoalls(struct blocks *blocks)
{
    fill(blocks);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks->data, blocks->n, MPI_INT,
                 MPI_COMM_WORLD);
    for (int b = 0; b < blocks->world.size; b++) {
        block_is(blocks->data + b * blocks->n, blocks->n, b, blocks->world.rank);
    }
    fill(blocks);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, blocks->data,
                  blocks->counts, blocks->places, MPI_INT, MPI_COMM_WORLD);
    for (int b = 0; b < blocks->world.size; b++) {
        block_is(blocks->data + b * blocks->n, blocks->n, b, blocks->world.rank);
    }
}

/* Every second int of a row belongs to the type; the others must stay. */
static void a_type_with_gaps(struct world world)
{
    enum { N = 6 };
    int *data = check_alloc(world.size * 2 * N * sizeof(int));
    MPI_Datatype every_second;
    MPI_Datatype row;

    MPI_Type_vector(N, 1, 2, MPI_INT, &every_second);
    MPI_Type_create_resized(every_second, 0, 2 * N * sizeof(int), &row);
    MPI_Type_commit(&row);
    for (int i = 0; i < world.size * 2 * N; i++) {
        data[i] = 1000 * world.rank + i;
    }
    MPI_Allgather(MPI_IN_PLACE, 0, row, data, 1, row, MPI_COMM_WORLD);
    for (int i = 0; i < world.size * 2 * N; i++) {
        CHECK_EQUAL(data[i], 1000 * (i % 2 ? world.rank : i / (2 * N)) + i);
        data[i] = 1000 * world.rank + i;
    }
    MPI_Alltoall(MPI_IN_PLACE, 0, row, data, 1, row, MPI_COMM_WORLD);
    for (int i = 0; i < world.size * 2 * N; i++) {
        CHECK_EQUAL(data[i],
                    i % 2 ? 1000 * world.rank + i
                          : 1000 * (i / (2 * N)) + 2 * N * world.rank + i % (2 * N));
        data[i] = 1000 * world.rank + i;
    }
    for (int root = 0; root < world.size; root++) {
        int is_root = world.rank == root;

        MPI_Gather(is_root ? MPI_IN_PLACE : data + world.rank * 2 * N, 1, row, data, 1,
                   row, root, MPI_COMM_WORLD);
        for (int i = 0; i < world.size * 2 * N; i++) {
            int from = is_root && i % 2 == 0 ? i / (2 * N) : world.rank;

            CHECK_EQUAL(data[i], 1000 * from + i);
            data[i] = 1000 * world.rank + i;
        }
    }
    MPI_Type_free(&every_second);
    MPI_Type_free(&row);
    free(data);
    check_say("a type with gaps\n");
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 5, 100, 1025, 30000};
    struct blocks blocks = {.world = check_begin(&argc, &argv)};
    int size = blocks.world.size;

    blocks.counts = check_alloc(size * sizeof(int));
    blocks.places = check_alloc(size * sizeof(int));
    for (int l = 0; l < CHECK_N(lengths); l++) {
        blocks.n = lengths[l];
        blocks.data = check_alloc(blocks.n * size * sizeof(int));
        blocks.other = check_alloc(blocks.n * size * sizeof(int));
        for (int b = 0; b < size; b++) {
            blocks.counts[b] = blocks.n;
            blocks.places[b] = b * blocks.n;
        }
        reductions(&blocks);
        gathers(&blocks);
        scatters(&blocks);
        allgathers(&blocks);
        alltoalls(&blocks);
        free(blocks.data);
        free(blocks.other);
        check_say("blocks of %d\n", blocks.n);
    }
    free(blocks.counts);
    free(blocks.places);
    a_type_with_gaps(blocks.world);
    return check_end();
}

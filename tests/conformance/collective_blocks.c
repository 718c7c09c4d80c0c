/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The v-variants with gaps between blocks, blocks out of order, zero blocks and types
 * that differ between sender and receiver; arguments that matter only at the root may
 * be junk elsewhere.
 */
#include "tests/conformance/check.h"

enum { GAP = 3 };

struct layout {
    int *counts;
    int *places;
    int n_total; /* ints from the first to the end of the last block, gaps included */
};

/* Block of rank r: zero for every third rank, else growing; last rank's comes first. */
static int count_of(int rank, int scale)
{
    return rank % 3 == 1 ? 0 : scale * (rank + 1);
}

static struct layout layout_make(struct world world, int scale)
{
    struct layout layout = {
        .counts = check_alloc(world.size * sizeof(int)),
        .places = check_alloc(world.size * sizeof(int)),
    };

    for (int rank = world.size - 1; rank >= 0; rank--) {
        layout.counts[rank] = count_of(rank, scale);
        layout.places[rank] = layout.n_total + GAP;
        layout.n_total += layout.counts[rank] + GAP;
    }
    layout.n_total += GAP;
    return layout;
}

static void layout_free(struct layout *layout)
{
    free(layout->counts);
    free(layout->places);
}

static void fill(int *data, int n, int seed)
{
    for (int i = 0; i < n; i++) {
        data[i] = 1000 * seed + i;
    }
}

static void blocks_have_come(struct world world, const struct layout *layout,
                             const int *data)
{
    int n_filled = 0;
    int n_left = 0;

    for (int rank = 0; rank < world.size; rank++) {
        for (int i = 0; i < layout->counts[rank]; i++) {
            CHECK_EQUAL(data[layout->places[rank] + i], 1000 * rank + i);
            n_filled++;
        }
    }
    for (int i = 0; i < layout->n_total; i++) {
        n_left += data[i] == -7;
    }
    CHECK_EQUAL(n_filled + n_left, layout->n_total);
}

static void clear(int *data, int n)
{
    for (int i = 0; i < n; i++) {
        data[i] = -7;
    }
}

static void gatherv(struct world world, int scale)
{
    struct layout layout = layout_make(world, scale);
    int *all = check_alloc(layout.n_total * sizeof(int));
    int n = layout.counts[world.rank];
    int *mine = check_alloc(n * sizeof(int));

    fill(mine, n, world.rank);
    for (int root = 0; root < world.size; root++) {
        clear(all, layout.n_total);
        if (world.rank == root) {
            MPI_Gatherv(mine, n, MPI_INT, all, layout.counts, layout.places, MPI_INT,
                        root, MPI_COMM_WORLD);
            blocks_have_come(world, &layout, all);
        } else {
            MPI_Gatherv(mine, n, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root,
                        MPI_COMM_WORLD);
        }
    }
    clear(all, layout.n_total);
    MPI_Allgatherv(mine, n, MPI_INT, all, layout.counts, layout.places, MPI_INT,
                   MPI_COMM_WORLD);
    blocks_have_come(world, &layout, all);
    layout_free(&layout);
    free(all);
    free(mine);
}

static void scatterv(struct world world, int scale)
{
    struct layout layout = layout_make(world, scale);
    int *all = check_alloc(layout.n_total * sizeof(int));
    int n = layout.counts[world.rank];
    int *mine = check_alloc((n + 1) * sizeof(int));

    for (int root = 0; root < world.size; root++) {
        for (int rank = 0; rank < world.size; rank++) {
            fill(all + layout.places[rank], layout.counts[rank], rank + root);
        }
        mine[n] = 123;
        if (world.rank == root) {
            MPI_Scatterv(all, layout.counts, layout.places, MPI_INT, mine, n, MPI_INT,
                         root, MPI_COMM_WORLD);
        } else {
            MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, mine, n, MPI_INT, root,
                         MPI_COMM_WORLD);
        }
        for (int i = 0; i < n; i++) {
            CHECK_EQUAL(mine[i], 1000 * (world.rank + root) + i);
        }
        CHECK_EQUAL(mine[n], 123);
    }
    layout_free(&layout);
    free(all);
    free(mine);
}

/* Rank i sends (i + j) % 3 * scale ints to rank j: some blocks are empty. */
static void alltoallv(struct world world, int scale)
{
    int size = world.size;
    int *counts = check_alloc(size * sizeof(int));
    int *places = check_alloc(size * sizeof(int));
    int *back_places = check_alloc(size * sizeof(int));
    int n_block = 2 * scale + GAP;
    int *out = check_alloc(size * n_block * sizeof(int));
    int *in = check_alloc(size * n_block * sizeof(int));

    for (int rank = 0; rank < size; rank++) {
        counts[rank] = (world.rank + rank) % 3 * scale;
        places[rank] = rank * n_block;
        back_places[rank] = (size - 1 - rank) * n_block;
        fill(out + places[rank], counts[rank], 10 * world.rank + rank);
    }
    clear(in, size * n_block);
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, back_places, MPI_INT,
                  MPI_COMM_WORLD);
    for (int rank = 0; rank < size; rank++) {
        for (int i = 0; i < n_block; i++) {
            CHECK_EQUAL(in[back_places[rank] + i],
                        i < counts[rank] ? 1000 * (10 * rank + world.rank) + i : -7);
        }
    }
    free(counts);
    free(places);
    free(back_places);
    free(out);
    free(in);
}

/* All of a square matrix, column after column; its extent is that of the matrix. */
static MPI_Datatype make_transposed(int side)
{
    MPI_Datatype column;
    MPI_Datatype next_to_it;
    MPI_Datatype columns;
    MPI_Datatype transposed;

    MPI_Type_vector(side, 1, side, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &next_to_it);
    MPI_Type_contiguous(side, next_to_it, &columns);
    MPI_Type_create_resized(columns, 0, side * side * (MPI_Aint)sizeof(int),
                            &transposed);
    MPI_Type_commit(&transposed);
    MPI_Type_free(&column);
    MPI_Type_free(&next_to_it);
    MPI_Type_free(&columns);
    return transposed;
}

/* Columns on one side, rows on the other. */
static void types_differ(struct world world)
{
    enum { SIDE = 40 };
    int *matrix = check_alloc(SIDE * SIDE * sizeof(int));
    int *all = check_alloc(world.size * SIDE * SIDE * sizeof(int));
    MPI_Datatype transposed = make_transposed(SIDE);

    fill(matrix, SIDE * SIDE, world.rank);
    MPI_Gather(matrix, 1, transposed, all, SIDE * SIDE, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; world.rank == 0 && i < world.size * SIDE * SIDE; i++) {
        int in_block = i % (SIDE * SIDE);

        CHECK_EQUAL(all[i], 1000 * (i / (SIDE * SIDE)) + in_block % SIDE * SIDE +
                                in_block / SIDE);
    }
    MPI_Allgather(matrix, SIDE * SIDE, MPI_INT, all, SIDE * SIDE, MPI_INT,
                  MPI_COMM_WORLD);
    memset(matrix, 0, SIDE * SIDE * sizeof(int));
    MPI_Scatter(all, SIDE * SIDE, MPI_INT, matrix, 1, transposed, world.size - 1,
                MPI_COMM_WORLD);
    for (int i = 0; i < SIDE * SIDE; i++) {
        CHECK_EQUAL(matrix[i % SIDE * SIDE + i / SIDE], 1000 * world.rank + i);
    }
    MPI_Bcast(matrix, 1, transposed, 0, MPI_COMM_WORLD);
    CHECK_EQUAL(matrix[1], SIDE);
    MPI_Type_free(&transposed);
    free(matrix);
    free(all);
    check_say("types differ\n");
}

static void nothing_at_all(struct world world)
{
    int *zeros = check_alloc(world.size * sizeof(int));

    MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Gatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(NULL, zeros, zeros, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(NULL, zeros, zeros, MPI_INT, NULL, zeros, zeros, MPI_INT,
                  MPI_COMM_WORLD);
    free(zeros);
    check_say("nothing at all\n");
}

int main(int argc, char **argv)
{
    static const int scales[] = {1, 2, 19, 700, 20000};
    struct world world = check_begin(&argc, &argv);

    for (int i = 0; i < CHECK_N(scales); i++) {
        gatherv(world, scales[i]);
        scatterv(world, scales[i]);
        alltoallv(world, scales[i]);
        check_say("scale %d\n", scales[i]);
    }
    types_differ(world);
    nothing_at_all(world);
    return check_end();
}

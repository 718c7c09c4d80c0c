/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan, Exscan, Reduce_scatter, Reduce_scatter_block and Alltoallw: all lengths, in
 * place and not, with types that have gaps, and with operations of the program for
 * which the order of the operands matters.
 */
#include "tests/conformance/check.h"

static const int counts[] = {0, 1, 2, 10, 11, 300, 5000, 70000};

/* A 2x2 matrix; its product is associative, but not commutative. */
struct matrix {
    uint32_t a, b, c, d;
};

static struct matrix product(struct matrix x, struct matrix y)
{
    return (struct matrix){
        x.a * y.a + x.b * y.c,
        x.a * y.b + x.b * y.d,
        x.c * y.a + x.d * y.c,
        x.c * y.b + x.d * y.d,
    };
}

static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct matrix *left = in;
    struct matrix *right = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        right[i] = product(left[i], right[i]);
    }
}

static struct matrix matrix_of(int rank, int index)
{
    return (struct matrix){(uint32_t)rank + 2, (uint32_t)index * 3 + 1,
                           (uint32_t)rank * 7 + 1, (uint32_t)index + 5};
}

/* The product of the ranks first .. last. */
static struct matrix product_of(int first, int last, int index)
{
    struct matrix result = matrix_of(first, index);

    for (int rank = first + 1; rank <= last; rank++) {
        result = product(result, matrix_of(rank, index));
    }
    return result;
}

static int is_equal(struct matrix x, struct matrix y)
{
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
}

struct matrices {
    MPI_Datatype type;
    MPI_Op op;
};

static struct matrices matrices_make(void)
{
    struct matrices made;

    MPI_Type_contiguous(4, MPI_UINT32_T, &made.type);
    MPI_Type_commit(&made.type);
    MPI_Op_create(multiply, 0, &made.op);
    return made;
}

static void scan_matrices(struct world world, const struct matrices *matrices, int n,
                          int is_in_place)
{
    struct matrix *in = check_alloc(n * sizeof(*in)), *out = in;
    struct matrix nothing = {9, 9, 9, 9};

    if (!is_in_place) {
        out = check_alloc(n * sizeof(*out));
    }
    for (int i = 0; i < n; i++) {
        in[i] = matrix_of(world.rank, i);
    }
    MPI_Scan(is_in_place ? MPI_IN_PLACE : in, out, n, matrices->type, matrices->op,
             MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        CHECK(is_equal(out[i], product_of(0, world.rank, i)));
        in[i] = matrix_of(world.rank, i);
    }
    for (int i = 0; i < n && !is_in_place; i++) {
        out[i] = nothing;
    }
    MPI_Exscan(is_in_place ? MPI_IN_PLACE : in, out, n, matrices->type, matrices->op,
               MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        if (world.rank > 0) {
            CHECK(is_equal(out[i], product_of(0, world.rank - 1, i)));
        } else {
            CHECK(is_equal(out[i], is_in_place ? matrix_of(0, i) : nothing));
        }
    }
    if (!is_in_place) {
        free(out);
    }
    free(in);
}

static void scans(struct world world)
{
    struct matrices matrices = matrices_make();
    int sum = -1;

    for (int i = 0; i < CHECK_N(counts); i++) {
        scan_matrices(world, &matrices, counts[i], 0);
        scan_matrices(world, &matrices, counts[i], 1);
    }
    MPI_Scan(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    CHECK_EQUAL(sum, world.rank);
    sum = -1;
    MPI_Exscan(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    CHECK_EQUAL(sum, -1);
    MPI_Op_free(&matrices.op);
    MPI_Type_free(&matrices.type);
    check_say("scans\n");
}

/* Parts of n, 0, 2 n, n, 0, ... elements. */
static void scatter_matrices(struct world world, const struct matrices *matrices, int n,
                             int is_in_place)
{
    int *parts = check_alloc(world.size * sizeof(int)), all = 0, first = 0;
    struct matrix *in, *out;

    for (int i = 0; i < world.size; i++) {
        parts[i] = i % 3 == 0 ? n : i % 3 == 1 ? 0 : 2 * n;
        first = i == world.rank ? all : first;
        all += parts[i];
    }
    in = check_alloc(all * sizeof(*in));
    out = is_in_place ? in : check_alloc(parts[world.rank] * sizeof(*out));
    for (int i = 0; i < all; i++) {
        in[i] = matrix_of(world.rank, i);
    }
    MPI_Reduce_scatter(is_in_place ? MPI_IN_PLACE : in, out, parts, matrices->type,
                       matrices->op, MPI_COMM_WORLD);
    for (int i = 0; i < parts[world.rank]; i++) {
        CHECK(is_equal(out[i], product_of(0, world.size - 1, first + i)));
    }
    if (!is_in_place) {
        free(out);
    }
    free(in);
    free(parts);
}

static void scatter_blocks(struct world world, int n, int is_in_place)
{
    double *in = check_alloc((size_t)world.size * n * sizeof(*in)), *out = in;

    if (!is_in_place) {
        out = check_alloc(n * sizeof(*out));
    }
    for (int i = 0; i < world.size * n; i++) {
        in[i] = i + world.rank;
    }
    MPI_Reduce_scatter_block(is_in_place ? MPI_IN_PLACE : in, out, n, MPI_DOUBLE,
                             MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        CHECK(out[i] ==
              world.size * (world.rank * n + i) + world.size * (world.size - 1) / 2);
    }
    if (!is_in_place) {
        free(out);
    }
    free(in);
}

static void reduce_scatters(struct world world)
{
    struct matrices matrices = matrices_make();

    for (int i = 0; i < CHECK_N(counts); i++) {
        for (int is_in_place = 0; is_in_place < 2; is_in_place++) {
            scatter_matrices(world, &matrices, counts[i], is_in_place);
            scatter_blocks(world, counts[i], is_in_place);
        }
    }
    MPI_Op_free(&matrices.op);
    MPI_Type_free(&matrices.type);
    check_say("reduce-scatters\n");
}

/* A pair of integers with a gap between them and one behind. */
static void typed(struct world world)
{
    MPI_Datatype vector, pair;
    int in[40], out[40], n = 10;

    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < 40; i++) {
        in[i] = i % 2 == 0 ? world.rank + i : -5;
        out[i] = -7;
    }
    if (world.size > 1) {
        MPI_Alltoall(MPI_IN_PLACE, 0, pair, out, 0, pair, MPI_COMM_WORLD);
    }
    MPI_Bcast(in, n, pair, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 40; i++) {
        CHECK_EQUAL(in[i], i % 2 == 0 ? i : -5);
        CHECK_EQUAL(out[i], -7);
    }
    MPI_Type_free(&vector);
    MPI_Type_free(&pair);
    check_say("typed\n");
}

/* Adds integers of which the type has every second one. */
static void add_sparse(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        ((int *)inout)[2 * i] += ((int *)in)[2 * i];
    }
}

/* The results of rank i are n integers with gaps: those of all ranks before it, and its
 * part, of i + 1, of what all have. What is no result stays as it is. */
static void sparse_reductions(struct world world)
{
    int all = world.size * (world.size + 1) / 2, n = world.rank + 1, first = 0;
    int *in = check_alloc(2 * all * sizeof(int));
    int *out = check_alloc(2 * all * sizeof(int));
    int *parts = check_alloc(world.size * sizeof(int));
    MPI_Datatype sparse;
    MPI_Op op;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    MPI_Op_create(add_sparse, 1, &op);
    for (int i = 0; i < 2 * all; i++) {
        in[i] = i % 2 == 0 ? world.rank + i : -5;
        out[i] = -7;
    }
    for (int i = 0; i < world.size; i++) {
        parts[i] = i + 1;
        first += i < world.rank ? i + 1 : 0;
    }
    MPI_Exscan(in, out, all, sparse, op, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * all; i++) {
        int sum = world.rank * (world.rank - 1) / 2 + world.rank * i;

        CHECK_EQUAL(out[i], world.rank > 0 && i % 2 == 0 ? sum : -7);
        out[i] = -7;
    }
    MPI_Reduce_scatter(in, out, parts, sparse, op, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * all; i++) {
        int sum = world.size * (world.size - 1) / 2 + world.size * (2 * first + i);

        CHECK_EQUAL(out[i], i < 2 * n && i % 2 == 0 ? sum : -7);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&sparse);
    free(in);
    free(out);
    free(parts);
    check_say("reductions of types with gaps\n");
}

/* Rank i sends to rank j: i + j + 1 of j's type, which is an integer for even j, and
 * every second integer for odd ones; received as bytes or as every second integer. */
struct exchange {
    int *counts[2];
    int *displs[2];
    MPI_Datatype *types[2];
    int *data[2];
    int stride; /* integers from one block to the next */
};

static struct exchange exchange_make(struct world world, MPI_Datatype sparse)
{
    struct exchange made = {.stride = 4 * world.size + 4};

    for (int k = 0; k < 2; k++) {
        made.counts[k] = check_alloc(world.size * sizeof(int));
        made.displs[k] = check_alloc(world.size * sizeof(int));
        made.types[k] = check_alloc(world.size * sizeof(MPI_Datatype));
        made.data[k] = check_alloc((size_t)world.size * made.stride * sizeof(int));
        for (int i = 0; i < world.size; i++) {
            made.counts[k][i] = world.rank + i + 1;
            made.displs[k][i] = (int)sizeof(int) * made.stride * (world.size - 1 - i);
            made.types[k][i] = i % 2 == 0 ? MPI_INT : sparse;
        }
    }
    for (int i = 0; i < world.size * made.stride; i++) {
        made.data[0][i] = world.rank * 1000 + i;
        made.data[1][i] = -1;
    }
    return made;
}

static void exchange_free(struct exchange *exchange)
{
    for (int k = 0; k < 2; k++) {
        free(exchange->counts[k]);
        free(exchange->displs[k]);
        free(exchange->types[k]);
        free(exchange->data[k]);
    }
}

static void exchange_check(struct world world, const struct exchange *exchange)
{
    for (int i = 0; i < world.size; i++) {
        const int *block =
            exchange->data[1] + exchange->displs[1][i] / (int)sizeof(int);
        int first = i * 1000 + (world.size - 1 - world.rank) * exchange->stride;
        int in = i % 2 == 0 ? 1 : 2, out = world.rank % 2 == 0 ? 1 : 2;

        for (int at = 0; at < world.rank + i + 1; at++) {
            CHECK_EQUAL(block[at * in], first + at * out);
            CHECK(in == 1 || block[at * in + 1] == -1);
        }
    }
}

static void alltoallw(struct world world)
{
    MPI_Datatype sparse;
    MPI_Request request;
    struct exchange exchange;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    for (int is_blocking = 0; is_blocking < 2; is_blocking++) {
        exchange = exchange_make(world, sparse);
        if (is_blocking) {
            MPI_Alltoallw(exchange.data[0], exchange.counts[0], exchange.displs[0],
                          exchange.types[0], exchange.data[1], exchange.counts[1],
                          exchange.displs[1], exchange.types[1], MPI_COMM_WORLD);
        } else {
            MPI_Ialltoallw(exchange.data[0], exchange.counts[0], exchange.displs[0],
                           exchange.types[0], exchange.data[1], exchange.counts[1],
                           exchange.displs[1], exchange.types[1], MPI_COMM_WORLD,
                           &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        exchange_check(world, &exchange);
        exchange_free(&exchange);
    }
    MPI_Type_free(&sparse);
    check_say("alltoallw\n");
}

static void alltoallw_in_place(struct world world)
{
    int *blocks = check_alloc(world.size * sizeof(int));
    int *block_counts = check_alloc(world.size * sizeof(int));
    int *displs = check_alloc(world.size * sizeof(int));
    MPI_Datatype *types = check_alloc(world.size * sizeof(MPI_Datatype));

    for (int i = 0; i < world.size; i++) {
        blocks[i] = world.rank * 100 + i;
        block_counts[i] = 1;
        displs[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, blocks, block_counts, displs, types,
                  MPI_COMM_WORLD);
    for (int i = 0; i < world.size; i++) {
        CHECK_EQUAL(blocks[i], i * 100 + world.rank);
    }
    free(blocks);
    free(block_counts);
    free(displs);
    free(types);
    check_say("alltoallw in place\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    scans(world);
    reduce_scatters(world);
    typed(world);
    sparse_reductions(world);
    alltoallw(world);
    alltoallw_in_place(world);
    return check_end();
}

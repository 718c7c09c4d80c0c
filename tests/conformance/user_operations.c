/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User-defined operations: commutative and not, on predefined and derived types with
 * gaps, short and long vectors, to every root; a non-commutative one sees the ranks in
 * order.
 */
#include "tests/conformance/check.h"

enum { TEXT_BYTES = 64 };

/* Matrices of integers modulo a prime: exact, associative, not commutative. */
struct matrix {
    uint32_t cell[2][2];
};

static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
    struct matrix *left = in;
    struct matrix *right = inout;

    (void)type;
    for (int i = 0; i < *length; i++) {
        struct matrix product;

        for (int r = 0; r < 2; r++) {
            for (int c = 0; c < 2; c++) {
                uint64_t sum = (uint64_t)left[i].cell[r][0] * right[i].cell[0][c] +
                               (uint64_t)left[i].cell[r][1] * right[i].cell[1][c];

                product.cell[r][c] = (uint32_t)(sum % 65521);
            }
        }
        right[i] = product;
    }
}

static struct matrix matrix_of(int rank, int i)
{
    struct matrix matrix;

    for (int c = 0; c < 4; c++) {
        matrix.cell[c / 2][c % 2] = (uint32_t)(check_mix(rank, 4 * i + c) % 65521);
    }
    return matrix;
}

static void matrices_in_rank_order(struct world world, int n)
{
    struct matrix *mine = check_alloc(n * sizeof(*mine));
    struct matrix *all = check_alloc(n * sizeof(*mine));
    struct matrix *expected = check_alloc(n * sizeof(*mine));
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_contiguous(4, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 0, &op);
    for (int i = 0; i < n; i++) {
        mine[i] = matrix_of(world.rank, i);
        expected[i] = matrix_of(world.size - 1, i);
        for (int rank = world.size - 2; rank >= 0; rank--) {
            struct matrix left = matrix_of(rank, i);
            int one = 1;

            multiply(&left, &expected[i], &one, &type);
        }
    }
    MPI_Allreduce(mine, all, n, type, op, MPI_COMM_WORLD);
    CHECK(memcmp(all, expected, n * sizeof(*mine)) == 0);
    for (int root = 0; root < world.size; root++) {
        memset(all, 0, n * sizeof(*mine));
        MPI_Reduce(mine, all, n, type, op, root, MPI_COMM_WORLD);
        CHECK(world.rank != root || memcmp(all, expected, n * sizeof(*mine)) == 0);
    }
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Type_free(&type);
    free(mine);
    free(all);
    check_say("%d matrices in rank order %016llx\n", n,
              (unsigned long long)check_sum(expected, n * sizeof(*mine)));
    free(expected);
}

static void concatenate(void *in, void *inout, int *length, MPI_Datatype *type)
{
    char *left = in;
    char *right = inout;

    (void)type;
    for (int i = 0; i < *length; i++) {
        char text[2 * TEXT_BYTES];

        snprintf(text, sizeof(text), "%s%s", left + i * TEXT_BYTES,
                 right + i * TEXT_BYTES);
        memcpy(right + i * TEXT_BYTES, text, TEXT_BYTES);
    }
}

static void texts_in_rank_order(struct world world)
{
    char mine[2][TEXT_BYTES] = {{0}};
    char all[2][TEXT_BYTES] = {{0}};
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_contiguous(TEXT_BYTES, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(concatenate, 0, &op);
    mine[0][0] = (char)('a' + world.rank);
    snprintf(mine[1], TEXT_BYTES, "<%d>", world.rank);
    MPI_Allreduce(mine, all, 2, type, op, MPI_COMM_WORLD);
    check_say("%s %s\n", all[0], all[1]);
    for (int root = world.size - 1; root >= 0; root--) {
        memset(all, 0, sizeof(all));
        MPI_Reduce(mine, all, 2, type, op, root, MPI_COMM_WORLD);
        CHECK(world.rank != root || all[0][world.size - 1] == 'a' + world.size - 1);
    }
    memcpy(all, mine, sizeof(mine));
    MPI_Allreduce(MPI_IN_PLACE, all, 2, type, op, MPI_COMM_WORLD);
    check_say("%s %s in place\n", all[0], all[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

struct gappy {
    int value;
    int gap;
    double real;
};

static void add_gappy(void *in, void *inout, int *length, MPI_Datatype *type)
{
    struct gappy *left = in;
    struct gappy *right = inout;

    (void)type;
    for (int i = 0; i < *length; i++) {
        right[i].value += left[i].value;
        right[i].real += left[i].real;
    }
}

static MPI_Datatype make_gappy(void)
{
    static const int lengths[] = {1, 1};
    static const MPI_Aint places[] = {0, offsetof(struct gappy, real)};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;

    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    return type;
}

static void a_type_with_gaps(struct world world, int n)
{
    struct gappy *mine = check_alloc(n * sizeof(*mine));
    struct gappy *all = check_alloc(n * sizeof(*mine));
    MPI_Datatype type = make_gappy();
    MPI_Op op;

    MPI_Op_create(add_gappy, 1, &op);
    memset(all, 0x66, n * sizeof(*all));
    for (int i = 0; i < n; i++) {
        mine[i] = (struct gappy){world.rank + i, -1, i / 2.0};
    }
    MPI_Allreduce(mine, all, n, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(all[i].value, world.size * (world.size - 1) / 2 + world.size * i);
        CHECK(all[i].real == world.size * (i / 2.0));
        CHECK_EQUAL(mine[i].value, world.rank + i);
    }
    MPI_Reduce(world.rank == 0 ? MPI_IN_PLACE : mine, mine, n, type, op, 0,
               MPI_COMM_WORLD);
    for (int i = 0; world.rank == 0 && i < n; i++) {
        CHECK_EQUAL(mine[i].value, all[i].value);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(mine);
    free(all);
    check_say("a type with gaps, %d elements\n", n);
}

static void largest_by_size(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int *left = in;
    int *right = inout;

    CHECK(*type == MPI_INT);
    for (int i = 0; i < *length; i++) {
        if (abs(left[i]) > abs(right[i])) {
            right[i] = left[i];
        }
    }
}

static void a_predefined_type(struct world world, int n)
{
    int *mine = check_alloc(n * sizeof(int));
    int *all = check_alloc(n * sizeof(int));
    MPI_Op op;
    int is_commutative;

    MPI_Op_create(largest_by_size, 1, &op);
    MPI_Op_commutative(op, &is_commutative);
    CHECK(is_commutative);
    for (int i = 0; i < n; i++) {
        mine[i] = (i % 2 ? -1 : 1) * ((world.rank + i) % world.size + 1);
    }
    MPI_Allreduce(mine, all, n, MPI_INT, op, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(all[i], (i % 2 ? -1 : 1) * world.size);
    }
    MPI_Op_free(&op);
    free(mine);
    free(all);
    check_say("a predefined type, %d elements\n", n);
}

static int whole_length;

static void add_whole(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int *left = in;
    int *right = inout;

    (void)type;
    CHECK_EQUAL(*length, whole_length);
    for (int i = 0; i < *length; i++) {
        right[i] += left[i];
    }
}

/* Nothing says so, but all MPI libraries do it. */
static void a_scan_of_whole_vectors(struct world world)
{
    int *mine = check_alloc(65536 * sizeof(int));
    int *out = check_alloc(65536 * sizeof(int));
    MPI_Op op;

    MPI_Op_create(add_whole, 1, &op);
    for (whole_length = 1; whole_length <= 65536; whole_length *= 4) {
        for (int i = 0; i < whole_length; i++) {
            mine[i] = i;
        }
        MPI_Scan(mine, out, whole_length, MPI_INT, op, MPI_COMM_WORLD);
        for (int i = 0; i < whole_length; i++) {
            CHECK_EQUAL(out[i], i * (world.rank + 1));
        }
        MPI_Exscan(mine, out, whole_length, MPI_INT, op, MPI_COMM_WORLD);
        for (int i = 0; world.rank > 0 && i < whole_length; i++) {
            CHECK_EQUAL(out[i], i * world.rank);
        }
    }
    MPI_Op_free(&op);
    free(mine);
    free(out);
    check_say("a scan of whole vectors\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    matrices_in_rank_order(world, 1);
    matrices_in_rank_order(world, 7);
    matrices_in_rank_order(world, 5000);
    matrices_in_rank_order(world, 30001);
    texts_in_rank_order(world);
    a_type_with_gaps(world, 1);
    a_type_with_gaps(world, 20000);
    a_predefined_type(world, 1);
    a_predefined_type(world, 9);
    a_predefined_type(world, 100000);
    a_scan_of_whole_vectors(world);
    return check_end();
}

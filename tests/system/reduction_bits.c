/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of floating-point numbers whose rounding depends on the order: every
 * result must be, to the last bit, that of the fixed tree over the ranks in rank order,
 * which each rank computes for itself. For runs under BCS only; the MPI library alone
 * has other trees.
 *
 * Any length, root, communicator or way of combining must give those bits, blocking or
 * not: a predefined operation, and one of the program that tells left from right.
 */
#include "tests/conformance/check.h"

enum { MAX_COUNT = 70001 };

static const int counts[] = {1, 3, 10, 11, 128, 1000, 20000, MAX_COUNT};

/* A number of this rank, between 0.5 and 1.5 million, with all bits in use. */
static double number_of(int rank, int index)
{
    uint64_t mixed = check_mix((uint64_t)rank + 1, (uint64_t)index);
    double scale = index % 2 == 0 ? 1e6 : 1;

    return (0.5 + (double)(mixed >> 11) / (double)(UINT64_C(1) << 53)) * scale;
}

static double add(double left, double right)
{
    return left + right;
}

static double lean(double left, double right)
{
    return left / 3 - right / 7;
}

/* MPI's form of lean: inout = in OP inout, in is the left operand. */
static void lean_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const double *left = in;
    double *right = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        right[i] = lean(left[i], right[i]);
    }
}

/* The tree: 0 with 1, 2 with 3, ...; then 0 with 2, 4 with 6, ...; and so on. */
static double expected_of(double (*combine)(double, double), int n_ranks, int index)
{
    double numbers[64];

    for (int i = 0; i < n_ranks; i++) {
        numbers[i] = number_of(i, index);
    }
    for (int step = 1; step < n_ranks; step *= 2) {
        for (int i = 0; i + step < n_ranks; i += 2 * step) {
            numbers[i] = combine(numbers[i], numbers[i + step]);
        }
    }
    return numbers[0];
}

/* One operation on one communicator: the vectors that belong to it. */
struct reduction {
    MPI_Comm comm;
    int rank;
    int n_ranks;
    MPI_Op op;
    double *in;
    double *out;
    double *expected;
};

static void check_result(const struct reduction *reduction, int count)
{
    size_t n_bytes = (size_t)count * sizeof(double);

    CHECK(memcmp(reduction->out, reduction->expected, n_bytes) == 0);
    memset(reduction->out, 0, n_bytes);
}

/* What does not block gives the same bits, several at a time, too. */
static void check_nonblocking(const struct reduction *reduction, int count)
{
    MPI_Request requests[2];
    int root = reduction->n_ranks - 1;
    double *at_root = check_alloc((size_t)count * sizeof(double));

    MPI_Iallreduce(reduction->in, reduction->out, count, MPI_DOUBLE, reduction->op,
                   reduction->comm, &requests[0]);
    MPI_Ireduce(reduction->in, at_root, count, MPI_DOUBLE, reduction->op, root,
                reduction->comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(reduction->rank != root ||
          memcmp(at_root, reduction->out, (size_t)count * sizeof(double)) == 0);
    check_result(reduction, count);
    free(at_root);
}

/* Each rank gets a part of the same result. */
static void check_scattered(const struct reduction *reduction, int count)
{
    int n_each = count / reduction->n_ranks;

    MPI_Reduce_scatter_block(reduction->in, reduction->out, n_each, MPI_DOUBLE,
                             reduction->op, reduction->comm);
    CHECK(memcmp(reduction->out, &reduction->expected[reduction->rank * n_each],
                 (size_t)n_each * sizeof(double)) == 0);
}

static void check_count(const struct reduction *reduction, int count)
{
    check_nonblocking(reduction, count);
    check_scattered(reduction, count);
    MPI_Allreduce(reduction->in, reduction->out, count, MPI_DOUBLE, reduction->op,
                  reduction->comm);
    check_result(reduction, count);
    memcpy(reduction->out, reduction->in, (size_t)count * sizeof(double));
    MPI_Allreduce(MPI_IN_PLACE, reduction->out, count, MPI_DOUBLE, reduction->op,
                  reduction->comm);
    check_result(reduction, count);
    for (int root = 0; root < reduction->n_ranks; root++) {
        MPI_Reduce(reduction->in, reduction->out, count, MPI_DOUBLE, reduction->op,
                   root, reduction->comm);
        if (reduction->rank == root) {
            check_result(reduction, count);
        }
    }
}

static void check_op(struct reduction *reduction, double (*combine)(double, double))
{
    for (int i = 0; i < MAX_COUNT; i++) {
        reduction->in[i] = number_of(reduction->rank, i);
        reduction->expected[i] = expected_of(combine, reduction->n_ranks, i);
    }
    for (int i = 0; i < CHECK_N(counts); i++) {
        check_count(reduction, counts[i]);
    }
}

static void check_comm(struct reduction *reduction, MPI_Op user_op)
{
    MPI_Comm_rank(reduction->comm, &reduction->rank);
    MPI_Comm_size(reduction->comm, &reduction->n_ranks);
    CHECK(reduction->n_ranks <= 64);
    reduction->op = MPI_SUM;
    check_op(reduction, add);
    reduction->op = user_op;
    check_op(reduction, lean);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct reduction reduction = {
        .comm = MPI_COMM_WORLD,
        .in = check_alloc(MAX_COUNT * sizeof(double)),
        .out = check_alloc(MAX_COUNT * sizeof(double)),
        .expected = check_alloc(MAX_COUNT * sizeof(double)),
    };
    MPI_Comm reversed;
    MPI_Op user_op;

    MPI_Op_create(lean_all, 0, &user_op);
    check_comm(&reduction, user_op);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &reversed);
    reduction.comm = reversed;
    check_comm(&reduction, user_op);
    MPI_Comm_free(&reversed);
    MPI_Op_free(&user_op);
    free(reduction.in);
    free(reduction.out);
    free(reduction.expected);
    return check_end();
}

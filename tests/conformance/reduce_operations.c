/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every predefined operation on every type that it applies to, reduced to every root
 * and to all; values are chosen so that the result is exact in any order.
 */
#include "tests/conformance/check.h"

#include <complex.h>
#include <stdbool.h>

enum { N = 33, MAX_ELEMENT = 32 };

struct named_op {
    const char *name;
    MPI_Op op;
};

struct named_type {
    const char *name;
    MPI_Datatype type;
    void (*set)(void *element, int value);
};

#define SETTER(name, c_type)                                                           \
    static void set_##name(void *element, int value)                                   \
    {                                                                                  \
        *(c_type *)element = (c_type)value;                                            \
    }

SETTER(char, signed char)
SETTER(uchar, unsigned char)
SETTER(short, short)
SETTER(ushort, unsigned short)
SETTER(int, int)
SETTER(unsigned, unsigned)
SETTER(long, long)
SETTER(ulong, unsigned long)
SETTER(float, float)
SETTER(double, double)
SETTER(long_double, long double)
SETTER(float_complex, float _Complex)
SETTER(double_complex, double _Complex)
SETTER(long_double_complex, long double _Complex)

static void set_bool(void *element, int value)
{
    *(bool *)element = value & 1;
}

/* Small numbers with a few zeros: products of 8 ranks stay exact, logic sees both. */
static int value_of(int rank, int i)
{
    static const int values[] = {1, 2, 0, 3, 1, 2, 1, 1};

    return values[(rank + i) % CHECK_N(values)];
}

/* Some below zero: in types without signs, these are the largest. */
static int signed_value_of(int rank, int i)
{
    return (rank + i) % 3 == 0 ? -value_of(rank, i) : value_of(rank, i);
}

typedef int value_fn(int rank, int i);

static uint64_t sum_of(const struct named_type *type, const char *data, int size)
{
    uint64_t sum = 0;
    int used = type->type == MPI_LONG_DOUBLE ? 10 : size;

    for (int i = 0; i < N; i++) {
        if (type->type == MPI_C_LONG_DOUBLE_COMPLEX) {
            sum = check_mix(sum, check_sum(data + i * size, 10));
            sum = check_mix(sum, check_sum(data + i * size + 16, 10));
        } else {
            sum = check_mix(sum, check_sum(data + i * size, used));
        }
    }
    return sum;
}

static void one_case(struct world world, const struct named_op *op,
                     const struct named_type *type, value_fn *value)
{
    _Alignas(16) char mine[N * MAX_ELEMENT];
    _Alignas(16) char all[N * MAX_ELEMENT];
    _Alignas(16) char at_root[N * MAX_ELEMENT];
    uint64_t sum;
    int size;

    MPI_Type_size(type->type, &size);
    memset(mine, 0, sizeof(mine));
    memset(all, 0, sizeof(all));
    for (int i = 0; i < N; i++) {
        type->set(mine + i * size, value(world.rank, i));
    }
    MPI_Allreduce(mine, all, N, type->type, op->op, MPI_COMM_WORLD);
    sum = sum_of(type, all, size);
    for (int root = 0; root < world.size; root++) {
        memset(at_root, 0, sizeof(at_root));
        MPI_Reduce(mine, at_root, N, type->type, op->op, root, MPI_COMM_WORLD);
        if (world.rank == root) {
            CHECK(sum_of(type, at_root, size) == sum);
        }
    }
    if (value == signed_value_of && type->type == MPI_UNSIGNED_LONG) {
        return; /* Open MPI 4.1 compares these as if they had signs */
    }
    check_say("%s%s %s ", op->name, value == value_of ? "" : " of signs", type->name);
    check_say_sum("sum", sum);
}

static void operations_on(struct world world, const struct named_op *ops, int n_ops,
                          const struct named_type *types, int n_types, value_fn *value)
{
    for (int o = 0; o < n_ops; o++) {
        for (int t = 0; t < n_types; t++) {
            one_case(world, &ops[o], &types[t], value);
        }
    }
}

/* Every operation of whole numbers on all of their types. */
static void on_whole_numbers(struct world world)
{
    const struct named_type whole[] = {
        {"signed char", MPI_SIGNED_CHAR, set_char},
        {"unsigned char", MPI_UNSIGNED_CHAR, set_uchar},
        {"int8", MPI_INT8_T, set_char},
        {"uint8", MPI_UINT8_T, set_uchar},
        {"short", MPI_SHORT, set_short},
        {"unsigned short", MPI_UNSIGNED_SHORT, set_ushort},
        {"int16", MPI_INT16_T, set_short},
        {"uint16", MPI_UINT16_T, set_ushort},
        {"int", MPI_INT, set_int},
        {"unsigned", MPI_UNSIGNED, set_unsigned},
        {"int32", MPI_INT32_T, set_int},
        {"uint32", MPI_UINT32_T, set_unsigned},
        {"long", MPI_LONG, set_long},
        {"unsigned long", MPI_UNSIGNED_LONG, set_ulong},
        {"long long", MPI_LONG_LONG, set_long},
        {"unsigned long long", MPI_UNSIGNED_LONG_LONG, set_ulong},
        {"int64", MPI_INT64_T, set_long},
        {"uint64", MPI_UINT64_T, set_ulong},
        {"aint", MPI_AINT, set_long},
        {"offset", MPI_OFFSET, set_long},
        {"count", MPI_COUNT, set_long},
    };
    const struct named_op ops[] = {
        {"sum", MPI_SUM},   {"prod", MPI_PROD}, {"max", MPI_MAX},   {"min", MPI_MIN},
        {"band", MPI_BAND}, {"bor", MPI_BOR},   {"bxor", MPI_BXOR}, {"land", MPI_LAND},
        {"lor", MPI_LOR},   {"lxor", MPI_LXOR},
    };
    const struct named_op order[] = {{"max", MPI_MAX}, {"min", MPI_MIN}};

    operations_on(world, ops, CHECK_N(ops), whole, CHECK_N(whole), value_of);
    operations_on(world, order, CHECK_N(order), whole, CHECK_N(whole), signed_value_of);
}

/* MPI has no logical operations on these. */
static void on_integers_of_fortran(struct world world)
{
    const struct named_type fortran[] = {
        {"INTEGER", MPI_INTEGER, set_int},
        {"INTEGER8", MPI_INTEGER8, set_long},
    };
    const struct named_op ops[] = {
        {"sum", MPI_SUM},   {"prod", MPI_PROD}, {"max", MPI_MAX},   {"min", MPI_MIN},
        {"band", MPI_BAND}, {"bor", MPI_BOR},   {"bxor", MPI_BXOR},
    };

    operations_on(world, ops, CHECK_N(ops), fortran, CHECK_N(fortran), value_of);
}

static void on_floats(struct world world)
{
    const struct named_type real[] = {
        {"float", MPI_FLOAT, set_float},
        {"double", MPI_DOUBLE, set_double},
        {"long double", MPI_LONG_DOUBLE, set_long_double},
        {"REAL", MPI_REAL, set_float},
        {"DOUBLE PRECISION", MPI_DOUBLE_PRECISION, set_double},
        {"REAL4", MPI_REAL4, set_float},
        {"REAL8", MPI_REAL8, set_double},
    };
    const struct named_type complexes[] = {
        {"float complex", MPI_C_FLOAT_COMPLEX, set_float_complex},
        {"double complex", MPI_C_DOUBLE_COMPLEX, set_double_complex},
        {"long double complex", MPI_C_LONG_DOUBLE_COMPLEX, set_long_double_complex},
        {"COMPLEX", MPI_COMPLEX, set_float_complex},
        {"DOUBLE COMPLEX", MPI_DOUBLE_COMPLEX, set_double_complex},
    };
    const struct named_op ops[] = {
        {"sum", MPI_SUM},
        {"prod", MPI_PROD},
        {"max", MPI_MAX},
        {"min", MPI_MIN},
    };

    operations_on(world, ops, 4, real, CHECK_N(real), value_of);
    operations_on(world, ops, 2, complexes, CHECK_N(complexes), value_of);
}

static void on_truths_and_bytes(struct world world)
{
    const struct named_type truths[] = {
        {"bool", MPI_C_BOOL, set_bool},
        {"LOGICAL", MPI_LOGICAL, set_int},
    };
    const struct named_type bytes[] = {{"byte", MPI_BYTE, set_uchar}};
    const struct named_op logic[] = {
        {"land", MPI_LAND}, {"lor", MPI_LOR}, {"lxor", MPI_LXOR}};
    const struct named_op bits[] = {
        {"band", MPI_BAND}, {"bor", MPI_BOR}, {"bxor", MPI_BXOR}};

    operations_on(world, logic, CHECK_N(logic), truths, CHECK_N(truths), value_of);
    operations_on(world, bits, CHECK_N(bits), bytes, CHECK_N(bytes), value_of);
}

/* What the sums above must be, worked out here once for one type. */
static void results_are_right(struct world world)
{
    int mine[N];
    int all[N];
    double real[N];
    double real_all[N];

    for (int i = 0; i < N; i++) {
        mine[i] = value_of(world.rank, i);
        real[i] = mine[i] / 4.0 - 1;
    }
    MPI_Allreduce(mine, all, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(real, real_all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        int sum = 0;

        for (int rank = 0; rank < world.size; rank++) {
            sum += value_of(rank, i);
        }
        CHECK_EQUAL(all[i], sum);
        CHECK(real_all[i] == sum / 4.0 - world.size);
    }
    MPI_Allreduce(mine, all, N, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        int sum = 0;

        for (int rank = 0; rank < world.size; rank++) {
            sum ^= value_of(rank, i);
        }
        CHECK_EQUAL(all[i], sum);
    }
    check_say("results are right\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    on_whole_numbers(world);
    on_integers_of_fortran(world);
    on_floats(world);
    on_truths_and_bytes(world);
    results_are_right(world);
    return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction kernels. One table lists which operations exist on which types; the macros
 * make one small loop for each entry, which the compiler turns into vector code (hence
 * the O3 for this file). Called by the reduce helper and by the API, in any thread.
 *
 * A loop writes left OP right to a third vector, which is one of the two operands:
 * apply wants the result on the right, the tree on the left. Elements are independent,
 * so that is safe in any order (ivdep), and every type is read with alignment 1.
 */
#include "nic_threads/rules/reduce_ops.h"

#include <assert.h>
#include <complex.h>
#include <stdbool.h>

#pragma GCC optimize("O3")

typedef void (*combine_fn)(const void *left, const void *right, void *result,
                           size_t count);

#define UNALIGNED __attribute__((aligned(1), may_alias))

typedef int8_t element_I8 UNALIGNED;
typedef uint8_t element_U8 UNALIGNED;
typedef int16_t element_I16 UNALIGNED;
typedef uint16_t element_U16 UNALIGNED;
typedef int32_t element_I32 UNALIGNED;
typedef uint32_t element_U32 UNALIGNED;
typedef int64_t element_I64 UNALIGNED;
typedef uint64_t element_U64 UNALIGNED;
typedef float element_F32 UNALIGNED;
typedef double element_F64 UNALIGNED;
typedef long double element_LD UNALIGNED;
typedef float _Complex element_C32 UNALIGNED;
typedef double _Complex element_C64 UNALIGNED;

/* Integers wrap as unsigned numbers do; the low bits do not depend on the sign. */
#define INTEGER_SUM(a, b) ((uint64_t)(a) + (uint64_t)(b))
#define INTEGER_PROD(a, b) ((uint64_t)(a) * (uint64_t)(b))
#define VALUE_SUM(a, b) ((a) + (b))
#define VALUE_PROD(a, b) ((a) * (b))
/* On a tie or a NaN the right operand stays. */
#define VALUE_MIN(a, b) ((a) < (b) ? (a) : (b))
#define VALUE_MAX(a, b) ((a) > (b) ? (a) : (b))
#define VALUE_LAND(a, b) ((a) && (b))
#define VALUE_LOR(a, b) ((a) || (b))
#define VALUE_LXOR(a, b) (!(a) != !(b))
#define VALUE_BAND(a, b) ((a) & (b))
#define VALUE_BOR(a, b) ((a) | (b))
#define VALUE_BXOR(a, b) ((a) ^ (b))

#define FOR_INTEGER_OPS(X, type)                                                       \
    X(type, SUM, INTEGER_SUM)                                                          \
    X(type, PROD, INTEGER_PROD)                                                        \
    X(type, MIN, VALUE_MIN)                                                            \
    X(type, MAX, VALUE_MAX)                                                            \
    X(type, LAND, VALUE_LAND)                                                          \
    X(type, LOR, VALUE_LOR)                                                            \
    X(type, LXOR, VALUE_LXOR)                                                          \
    X(type, BAND, VALUE_BAND)                                                          \
    X(type, BOR, VALUE_BOR)                                                            \
    X(type, BXOR, VALUE_BXOR)

#define FOR_REAL_OPS(X, type)                                                          \
    X(type, SUM, VALUE_SUM)                                                            \
    X(type, PROD, VALUE_PROD)                                                          \
    X(type, MIN, VALUE_MIN)                                                            \
    X(type, MAX, VALUE_MAX)

#define FOR_COMPLEX_OPS(X, type)                                                       \
    X(type, SUM, VALUE_SUM)                                                            \
    X(type, PROD, VALUE_PROD)

#define FOR_ALL_KERNELS(X)                                                             \
    FOR_INTEGER_OPS(X, I8)                                                             \
    FOR_INTEGER_OPS(X, U8)                                                             \
    FOR_INTEGER_OPS(X, I16)                                                            \
    FOR_INTEGER_OPS(X, U16)                                                            \
    FOR_INTEGER_OPS(X, I32)                                                            \
    FOR_INTEGER_OPS(X, U32)                                                            \
    FOR_INTEGER_OPS(X, I64)                                                            \
    FOR_INTEGER_OPS(X, U64)                                                            \
    FOR_REAL_OPS(X, F32)                                                               \
    FOR_REAL_OPS(X, F64)                                                               \
    FOR_REAL_OPS(X, LD)                                                                \
    FOR_COMPLEX_OPS(X, C32)                                                            \
    FOR_COMPLEX_OPS(X, C64)

/* It would join the pragma with the loop. */
/* clang-format off */
#define DEFINE_KERNEL(type, op, formula)                                               \
    static void combine_##op##_##type(const void *left, const void *right,             \
                                      void *result, size_t count)                      \
    {                                                                                  \
        const element_##type *a = left;                                                \
        const element_##type *b = right;                                               \
        element_##type *c = result;                                                    \
        _Pragma("GCC ivdep")                                                           \
        for (size_t i = 0; i < count; i++) {                                           \
            c[i] = (element_##type)(formula(a[i], b[i]));                              \
        }                                                                              \
    }

FOR_ALL_KERNELS(DEFINE_KERNEL)

#define KERNEL_ENTRY(type, op, formula)                                                \
    [NIC_REDUCE_##op * NIC_REDUCE_N_TYPES + NIC_REDUCE_##type] = combine_##op##_##type,

static const combine_fn kernels[NIC_REDUCE_N_OPS * NIC_REDUCE_N_TYPES] = {
    FOR_ALL_KERNELS(KERNEL_ENTRY)
};
/* clang-format on */

static const uint8_t element_bytes[NIC_REDUCE_N_TYPES] = {
    [NIC_REDUCE_I8] = sizeof(element_I8),   [NIC_REDUCE_U8] = sizeof(element_U8),
    [NIC_REDUCE_I16] = sizeof(element_I16), [NIC_REDUCE_U16] = sizeof(element_U16),
    [NIC_REDUCE_I32] = sizeof(element_I32), [NIC_REDUCE_U32] = sizeof(element_U32),
    [NIC_REDUCE_I64] = sizeof(element_I64), [NIC_REDUCE_U64] = sizeof(element_U64),
    [NIC_REDUCE_F32] = sizeof(element_F32), [NIC_REDUCE_F64] = sizeof(element_F64),
    [NIC_REDUCE_LD] = sizeof(element_LD),   [NIC_REDUCE_C32] = sizeof(element_C32),
    [NIC_REDUCE_C64] = sizeof(element_C64),
};

static bool is_valid(int kernel)
{
    return kernel >= 0 && kernel < NIC_REDUCE_N_OPS * NIC_REDUCE_N_TYPES &&
           kernels[kernel] != NULL;
}

int nic_reduce_kernel(enum nic_reduce_op op, enum nic_reduce_type type)
{
    int kernel;

    if ((unsigned)op >= NIC_REDUCE_N_OPS || (unsigned)type >= NIC_REDUCE_N_TYPES) {
        return -1;
    }
    kernel = (int)op * NIC_REDUCE_N_TYPES + (int)type;
    return is_valid(kernel) ? kernel : -1;
}

size_t nic_reduce_element_bytes(int kernel)
{
    assert(is_valid(kernel));
    return element_bytes[kernel % NIC_REDUCE_N_TYPES];
}

void nic_reduce_apply(int kernel, const void *left, void *right, size_t count)
{
    assert(is_valid(kernel));
    kernels[kernel](left, right, right, count);
}

void nic_reduce_tree(int kernel, void *vectors, uint32_t n, size_t count,
                     size_t stride_bytes)
{
    char *base = vectors;

    assert(is_valid(kernel));
    for (uint64_t step = 1; step < n; step *= 2) {
        for (uint64_t i = 0; i + step < n; i += 2 * step) {
            char *left = base + i * stride_bytes;

            kernels[kernel](left, left + step * stride_bytes, left, count);
        }
    }
}

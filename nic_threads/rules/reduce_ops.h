/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction kernels: how two vectors of one predefined type are combined by one
 * predefined operation, and the fixed tree on which several vectors are combined. Pure
 * functions: the reduce helper calls them on NIC memory, the API on user memory, in any
 * thread or process.
 */
#ifndef NIC_THREADS_RULES_REDUCE_OPS_H
#define NIC_THREADS_RULES_REDUCE_OPS_H

#include <stddef.h>
#include <stdint.h>

enum nic_reduce_op {
    NIC_REDUCE_SUM,
    NIC_REDUCE_PROD,
    NIC_REDUCE_MIN,
    NIC_REDUCE_MAX,
    NIC_REDUCE_LAND,
    NIC_REDUCE_LOR,
    NIC_REDUCE_LXOR,
    NIC_REDUCE_BAND,
    NIC_REDUCE_BOR,
    NIC_REDUCE_BXOR,
    NIC_REDUCE_N_OPS
};

enum nic_reduce_type {
    NIC_REDUCE_I8,
    NIC_REDUCE_U8,
    NIC_REDUCE_I16,
    NIC_REDUCE_U16,
    NIC_REDUCE_I32,
    NIC_REDUCE_U32,
    NIC_REDUCE_I64,
    NIC_REDUCE_U64,
    NIC_REDUCE_F32,
    NIC_REDUCE_F64,
    NIC_REDUCE_LD,  /* long double */
    NIC_REDUCE_C32, /* float _Complex: sum and product only */
    NIC_REDUCE_C64, /* double _Complex: sum and product only */
    NIC_REDUCE_N_TYPES
};

/**
 * The number of a kernel, op * NIC_REDUCE_N_TYPES + type; the same in every process.
 *
 * @return -1 if the operation is not defined on that type
 */
int nic_reduce_kernel(enum nic_reduce_op op, enum nic_reduce_type type);

/** Bytes of one element of a kernel's type. The kernel must be valid. */
size_t nic_reduce_element_bytes(int kernel);

/**
 * right = left OP right over count elements. left is the operand of the lower ranks.
 *
 * The vectors need no alignment; they are the same or do not overlap. Integer sums and
 * products wrap; logical results are 0 or 1. The kernel must be valid.
 */
void nic_reduce_apply(int kernel, const void *left, void *right, size_t count);

/**
 * Combine n vectors, given in rank order, into the first one.
 *
 * This is the fixed tree of every reduction: for step = 1, 2, 4, ... each vector i
 * that is a multiple of 2 * step becomes vector i OP vector i + step, if that exists.
 * The other vectors hold partial results afterwards.
 *
 * @param vectors       first element of vector 0; vector i is i * stride_bytes later
 * @param count         elements of one vector
 * @param stride_bytes  at least count * nic_reduce_element_bytes(kernel)
 */
void nic_reduce_tree(int kernel, void *vectors, uint32_t n, size_t count,
                     size_t stride_bytes);

#endif

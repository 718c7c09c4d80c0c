/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a member says of its part in a collective that goes without point-to-point
 * messages.
 */
#ifndef LIBBCS_API_COLLECTIVE_COLLECTIVE_ARGS_H
#define LIBBCS_API_COLLECTIVE_COLLECTIVE_ARGS_H

#include <stddef.h>

#include "libbcs/fabric/ring/descriptor.h"

enum bcs_engine_collective_kind {
    BCS_ENGINE_BARRIER,
    BCS_ENGINE_BCAST,
    BCS_ENGINE_REDUCE,
    /* Carried out as reductions: */
    BCS_ENGINE_ALLGATHER,
    BCS_ENGINE_ALLTOALL,
};

/* The kernel of a barrier that is the end of a member's work; and the first of those
 * that are the beginning of a call of the caller's own, whose number is added. */
enum { BCS_KERNEL_END = 1, BCS_KERNEL_CALLS };

struct bcs_engine_collective_args {
    enum bcs_engine_collective_kind kind;
    int root;       /* rank, or -1 for all (barrier, reduction to all) */
    int kernel;     /* reductions: nic_reduce_kernel number */
    size_t count;   /* reductions: elements */
    const void *in; /* broadcast: at the root; reduction: everywhere */
    void *out;      /* where this member gets data; may be equal to in */
    size_t n_bytes;
    const char *words; /* what it is; NULL: its kind says so */
};

/** What it is, in words. */
static inline const char *
bcs_collective_words(const struct bcs_engine_collective_args *args)
{
    static const char *const words[] = {
        [BCS_ENGINE_BARRIER] = "barrier",   [BCS_ENGINE_BCAST] = "broadcast",
        [BCS_ENGINE_REDUCE] = "reduction",  [BCS_ENGINE_ALLGATHER] = "allgather",
        [BCS_ENGINE_ALLTOALL] = "alltoall",
    };

    return args->words != NULL ? args->words : words[args->kind];
}

/** The kernel that its members must agree on. @return -1: none */
static inline int bcs_collective_kernel(const struct bcs_engine_collective_args *args)
{
    return args->kind == BCS_ENGINE_REDUCE ? args->kernel : -1;
}

/** The operation of a member's descriptor, or of its signature. */
static inline uint16_t
bcs_collective_operation(const struct bcs_engine_collective_args *args)
{
    return bcs_operation((enum bcs_collective_kind)args->kind,
                         args->kernel < 0 ? 0 : (unsigned int)args->kernel);
}

#endif

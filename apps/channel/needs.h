/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process needs of others, and they of it: found at run time, once, before the
 * first solve, as the dependences are known then only. What a way to solve needs that
 * sends numbers to who needs them; a fetch needs none of it. [Low Latency Messages,
 * section 4.1]
 */
#ifndef CHANNEL_NEEDS_H
#define CHANNEL_NEEDS_H

#include <stdbool.h>
#include <string.h>

#include "apps/channel/share.h"

/**
 * Own values come first, n_rows of them in the order in which they are solved, then
 * those of process 0, 1 and so on, each one's in the order in which it solves them.
 */
struct needs {
    double *known;    /* the values; needs_unknown of what has not come */
    uint32_t *places; /* by entry of the share: where in known its value is */
    size_t *begins;   /* [size + 1] where the values of a process begin in known */
    uint32_t *levels; /* [begins[size]] of all values */
    size_t
        *send_begins; /* [n_rows + 1] where the processes that need row k begin ... */
    int *send_to;     /* ... in this */
    size_t *n_to;     /* [size] how many values each process needs of this one */
};

/**
 * Find all. Collective: two exchanges of all with all.
 *
 * @return 0, or -ENOMEM on all ranks; needs_fini in any case
 */
int needs_find(const struct share *share, struct needs *needs_out);

/** Free it. Accepts one that is all zero. */
void needs_fini(struct needs *needs);

/** Forget all values. */
void needs_clear(const struct needs *needs, const struct share *share);

/** Where the value is that comes from a place of known; its process. */
int needs_source(const struct needs *needs, const struct share *share, size_t place);

/** Whether a value has not come: a NaN that no computation gives. */
static inline bool needs_is_unknown(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits == UINT64_MAX;
}

#endif

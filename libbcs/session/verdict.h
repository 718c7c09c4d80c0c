/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a job on the primitives ends before its time: one process's error becomes that of
 * all. Ending it is one Compare-And-Write: if the verdict is 0 everywhere, make it the
 * error. So one process succeeds; the others find the verdict when they look, and all
 * bells are rung. Called by the thread that uses the core.
 */
#ifndef BCS_SESSION_VERDICT_H
#define BCS_SESSION_VERDICT_H

#include <bcs/primitives.h>

/** Where the verdict of a job is; made by who has laid out its heaps. */
struct bcs_verdict {
    struct bcs_core *core;
    const struct bcs_node_set *all; /* nodes of the job; must outlive this */
    const uint64_t *word;           /* in the own heap: 0, or the errno */
    uint64_t word_gva;
    uint64_t bell_gva; /* event that wakes a process */
};

/** What the job has ended with: -errno; 0: it has not. */
static inline int bcs_verdict_look(const struct bcs_verdict *verdict)
{
    /* Pairs with the Compare-And-Write of who has ended the job. */
    return -(int)__atomic_load_n(verdict->word, __ATOMIC_ACQUIRE);
}

/** End the job with an error, unless it has ended. @return what it has ended with;
 *  where the primitives fail there is no verdict, and each process has its own error */
int bcs_verdict_end(const struct bcs_verdict *verdict, int error);

/** Write a word that is 0 in all heaps. @return whether this process has been the
 *  first */
bool bcs_verdict_write_first(const struct bcs_verdict *verdict, uint64_t gva,
                             uint64_t value);

#endif

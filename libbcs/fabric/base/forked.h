/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forked children. A child has the memory of a process of the job, and must not act as
 * that process: both would write to the same places. What is open is told when the
 * process forks, in the child, and takes itself out of use there, so that no call has
 * to ask who calls.
 */
#ifndef LIBBCS_FABRIC_BASE_FORKED_H
#define LIBBCS_FABRIC_BASE_FORKED_H

#include <stdbool.h>
#include <stddef.h>

/** Something that a child must not use. Stays in place while it is watched. */
struct bcs_forked {
    /** Called in the child, in the thread that has forked, the only one. */
    void (*in_child)(void *arg);
    void *arg;
    struct bcs_forked *next; /* of those that are watched */
};

/** Call entry->in_child in children that are forked from now on. Any thread. */
void bcs_forked_watch(struct bcs_forked *entry);

/** No longer. Nothing is done if it is not watched. */
void bcs_forked_unwatch(struct bcs_forked *entry);

/** Whether this process was forked by one that had something watched. */
bool bcs_forked_is_child(void);

/** Replace shared memory by empty memory of this process alone, at the same place. */
void bcs_forked_take_away(void *base, size_t n_bytes);

/** Say that a child has called something it must not, once. */
void bcs_forked_tell(const char *function);

/** Say so, and end this process, the child, without what runs at exit. */
void bcs_forked_refuse(const char *function) __attribute__((noreturn));

#endif

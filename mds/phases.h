/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Phases of a program, as it names them by MPI_Pcontrol: a table of fixed size, by
 * level. A run begins in level 1, MPI's usual one. Under the collection's lock.
 */
#ifndef MDS_PHASES_H
#define MDS_PHASES_H

#include <stdint.h>

/** Entries of the table. Levels that find no room are together in the last one. */
enum { MDS_PHASES = 64 };

/** What was done in a phase, whenever the program was in it; times in ticks. */
struct mds_phase {
    int32_t level;    /* of the last entry: any other */
    uint32_t n;       /* how often it was entered from another one */
    uint64_t ticks;   /* all of it, */
    uint64_t blocked; /* in blocking primitives, */
    uint64_t instant; /* and in others */
};

/** All of a process. */
struct mds_phases {
    uint32_t n_used;
    uint32_t now; /* the one that the program is in */
    /* What there was when it was entered. */
    uint64_t since_ticks, blocked, instant;
    struct mds_phase table[MDS_PHASES];
};

/** The entry of a level, made if need be. */
static inline uint32_t mds_phases_find(struct mds_phases *phases, int32_t level)
{
    uint32_t i = 0;

    while (i < phases->n_used && phases->table[i].level != level) {
        i++;
    }
    if (i == phases->n_used && i < MDS_PHASES) {
        phases->table[phases->n_used++].level = level;
    }
    return i < MDS_PHASES ? i : MDS_PHASES - 1;
}

#endif

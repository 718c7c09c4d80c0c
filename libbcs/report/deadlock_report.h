/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling the user that ranks are deadlocked. Called once, by the referee's thread, in
 * the first process of the machine; the ranks that it names wait meanwhile.
 */
#ifndef LIBBCS_REPORT_DEADLOCK_REPORT_H
#define LIBBCS_REPORT_DEADLOCK_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/report/finding.h"

/** Exit status of a job that has ended for a deadlock. */
enum { BCS_EXIT_DEADLOCK = 86 };

/** What is told. */
struct bcs_deadlock {
    const uint64_t *stuck; /* bits by rank */
    uint32_t n_ranks;
    int status;       /* exit status of the job; 0: it goes on */
    const char *path; /* of a file for it, as JSON; NULL: none */
    /* That nobody has received, as bcs-top takes them,
     * "FROM,TO,TAG,BYTES,CONTEXT,TAKEN" (1: by a matched probe of TO), and, if it is a
     * part of a collective, ",WORDS" that say of which. */
    char *const *messages;
    uint32_t n_messages;
};

/**
 * Print on standard error that some ranks can never go on, and have bcs-top say where
 * they stand, which looks at this job from outside. If it is not there, or fails, that
 * is said instead.
 *
 * @return whether it has told of the messages, too
 */
bool bcs_deadlock_report(const struct bcs_deadlock *deadlock);

/** Ranks that wait for each other, perhaps not for ever. */
struct bcs_suspicion {
    const uint64_t *ranks; /* bits by rank */
    uint32_t n_ranks;      /* of the job */
    /** The call that a rank waits in; "": not known. */
    const char *(*call_of)(const void *arg, uint32_t rank);
    const void *arg;
    uint32_t rank;     /* the first one of which something could act: */
    const char *words; /* what that is, to be read behind "rank 3 could still act: " */
};

/** Print one line about them on standard error. */
void bcs_suspicion_report(const struct bcs_suspicion *suspicion);

/** Ranks that are to be looked at. */
struct bcs_places {
    const uint64_t *ranks; /* bits by rank */
    uint32_t n_ranks;      /* of the job */
    int64_t pid;           /* of the machine's first process */
    bool are_failing;      /* of these only those whose calls fail */
    const char *before;    /* whole lines, in front of them */
    const char *after;     /* and behind */
    const struct bcs_finding
        *finding; /* what is told, without ranks and places; NULL: it is none */
};

/** Have bcs-top print on standard error in which calls ranks stand that have published
 *  it, and from where, as far as they have after some time, with the lines before and
 *  after, all of it in one write. If it cannot, the lines are printed, and that it
 *  cannot. The program cannot see that. */
void bcs_places_report(const struct bcs_places *places);

/** End this process at once, with that status, as its threads wait; the launcher ends
 *  the others. */
_Noreturn void bcs_deadlock_exit(void);

#endif

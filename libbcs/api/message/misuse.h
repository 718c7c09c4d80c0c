/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling the user of calls that the MPI standard forbids, when they have come to an
 * error: first a line that says what and who, then a line for those who are in it, with
 * call and place, by bcs-top as in the report of a deadlock, then what the standard
 * demands; all in one write. Before the error is
 * raised, so that there is still somebody to look at. A process tells of ten errors,
 * the first ones. Called by the process that owns the context, in the call.
 */
#ifndef LIBBCS_API_MESSAGE_MISUSE_H
#define LIBBCS_API_MESSAGE_MISUSE_H

#include "libbcs/api/context/group.h"
#include "libbcs/fabric/base/waiter.h"
#include "libbcs/fabric/ring/stand.h"
#include "libbcs/report/finding.h"

struct bcs_result;

/** What the standard demands of the members of a group. */
#define BCS_MISUSE_ALIKE                                                               \
    "MPI-3.1, 5.1 and 5.13: all members must call the same collectives in the same "   \
    "order, with the same root, operation and amount of data"

/** Exit status of a job that has ended since members are not in the same collective. */
enum { BCS_EXIT_MISMATCH = 87 };

/** Whether this process tells of one more. Then it calls one of those below, which say
 *  if it was the last. */
bool bcs_misuse_is_told(struct bcs_context *context);

/** Publish in which call this process is, unless it waits and has, for
 *  bcs_misuse_tell in another thread. @param waiter zeroed; then for
 *  bcs_misuse_withdraw */
void bcs_misuse_stand(struct bcs_context *context, struct bcs_waiter *waiter);

/** Take it back, if it was published. */
void bcs_misuse_withdraw(struct bcs_context *context, struct bcs_waiter *waiter);

/** What the user is told of an error. */
struct bcs_misuse {
    const char *what;   /* is wrong */
    const char *demand; /* of the standard */
    enum bcs_finding_kind kind;
};

/**
 * Print what is wrong in the call that this process is in, and from where it was
 * called. The call itself may go on.
 *
 * @param group  that the call is about, or NULL
 * @param demand of the standard
 */
void bcs_misuse_tell(struct bcs_context *context, const struct bcs_group *group,
                     const char *demand, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * All members of a group are in a call that fails: one of them prints the calls of all,
 * and the others stay until it has, for a second at most.
 *
 * @param key     the same at all of them, and of no other call soon
 * @param misuse  what this one prints; NULL: another one does
 */
void bcs_misuse_tell_all(struct bcs_context *context, const struct bcs_group *group,
                         uint64_t key, const struct bcs_misuse *misuse);

/** The call that this process is in, "MPI_Bcast"; "": not known. */
void bcs_misuse_call(const struct bcs_context *context,
                     char call_out[BCS_STAND_CALL_BYTES]);

/** An error that ends the job. */
struct bcs_fatal_error {
    const char *what; /* is wrong; NULL: that has been told already */
    const char *comm; /* how the program calls the communicator; NULL: not known */
    const char *next; /* what becomes of the job */
    enum bcs_finding_kind kind;
    int status; /* that the job ends with */
};

/**
 * The call that this process is in has an error that ends the job: print it with the
 * calls of all ranks that fail now. Of several ranks of a machine the first one does;
 * the others stay, as the job ends, for some seconds.
 *
 * @param context  NULL: there is none yet, or none any more
 */
void bcs_misuse_tell_fatal(struct bcs_context *context,
                           const struct bcs_fatal_error *error);

/**
 * A receive of the program has got a longer message than it has room for: print what
 * was sent and where it should have gone.
 *
 * @param peers  of whom result->source is one; NULL: their communicator has been freed
 */
void bcs_misuse_truncation(struct bcs_context *context, const struct bcs_group *peers,
                           const struct bcs_result *result);

/**
 * All processes are at the end of their work: print what this one has not received of
 * others' collectives, which it has not called, or not alike; one rank of the machine
 * does. Nothing if this one has told of errors, or has collectives of its own under
 * way.
 *
 * @param group  one that has a name
 */
void bcs_misuse_left(struct bcs_context *context, const struct bcs_group *group);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out a plan on one rank: goes through its acts, keeps a table of what is
 * pending, completes parts of it in random ways between the acts, and compares all that
 * comes with the plan.
 */
#ifndef TESTS_RANDOM_RUN_H
#define TESTS_RANDOM_RUN_H

#include <mpi.h>

#include "tests/random/layout.h"
#include "tests/random/plan.h"

/** Where a rank is, for the driver, which finds it in a file when a program hangs. */
struct progress {
    int64_t seed;
    int64_t act; /* index, -1 before the first, -2 at the end */
};

struct moving;   /* a collective under way that moves data (move.c) */
struct reducing; /* one that reduces (reduce.c) */

/** One request of the program; is in use if act >= 0. */
struct entry {
    MPI_Request request;
    int act;
    bool is_active;
    bool is_persistent;
    bool is_held;
    bool is_used_again;
    enum outcome outcome;
    struct buffer buffer;
    struct moving *moving;
    struct reducing *reducing;
};

/** What a receive from any source got, put down until all of its group are there. */
struct taken {
    int act;
    int from; /* rank of the program */
    int tag;
    int n;
    struct buffer buffer;
};

struct run {
    const struct plan *plan;
    int me;
    struct draw draw;      /* of this rank alone */
    int slowness;          /* delays in a hundred acts */
    int eagerness;         /* completions in a hundred acts */
    const struct act *act; /* under way or last carried out */
    int64_t now;           /* its position */
    bool is_native;
    struct progress *progress;
    MPI_Comm comms[MAX_COMMS];
    MPI_Datatype stand_in;
    int n_entries;
    struct entry *entries;
    int *entry_of;      /* by act, or -1 */
    bool *serves_later; /* by act: its persistent request is used again */
    int n_taken;
    struct taken *taken;
    int n_together; /* entries that wait for MPI_Startall */
    int *together;
    int n_limbo; /* buffers of sends whose request was freed */
    struct buffer *limbo;
    char *attached;
};

/** Say what is wrong, with rank, seed, operation and act, and end the job. */
__attribute__((format(printf, 2, 3), noreturn)) void run_fail(const struct run *run,
                                                              const char *format, ...);

/** Fail unless a call has returned this error class. */
void run_expect(const struct run *run, int error, int class, const char *call);

/** Carry out a plan on a communicator of its ranks; everything is freed afterwards.
 *  Natively without what Open MPI 4.1 alone cannot do. */
void run_plan(const struct plan *plan, MPI_Comm all, bool is_native,
              struct progress *progress);

/** The communicator of a number; waits for MPI_Comm_idup if need be. */
MPI_Comm run_comm(struct run *run, int comm);

/** A new entry for an act. The pointer is good until the next one is made. */
struct entry *run_add_entry(struct run *run, const struct act *act);

/** Give up an entry, whose request is no longer there. */
void run_drop_entry(struct run *run, struct entry *entry);

/** Send in the mode and form that the act says. */
void run_send(struct run *run, const struct act *act);

/** Receive in its form, probes included. */
void run_receive(struct run *run, const struct act *act);

/** MPI_Sendrecv or MPI_Sendrecv_replace. */
void run_exchange(struct run *run, const struct act *act);

/** Cancel a receive of which it is known whether it has matched. */
void run_cancel(struct run *run, const struct act *act);

/** Cancel a receive while its message is on its way; get the message then. */
void run_cancel_race(struct run *run, const struct act *act);

/** Cancel a send while its message is on its way; send it again then. */
void run_cancel_send(struct run *run, const struct act *act);

/** Wait for a receive that ends with an error. */
void run_finish(struct run *run, const struct act *act);

/** A call with a wrong argument, which must give the right error. */
void run_bad_call(struct run *run, const struct act *act);

/** Start a collective, or carry it out. */
void run_collective(struct run *run, const struct act *act);

/** Make communicators. */
void run_make(struct run *run, const struct act *act);

/** Free a communicator. */
void run_free(struct run *run, const struct act *act);

/** MPI_Comm_idup is complete: look at the communicator. */
void run_made(struct run *run, const struct act *act);

/** The root that this rank names in a collective. */
int run_root_of(const struct run *run, const struct act *act);

/** Look at what a receive got. status may be NULL if it was not asked for. */
void run_check_received(struct run *run, const struct act *act, struct buffer *buffer,
                        const MPI_Status *status, enum outcome outcome);

/** Look at the data of receives from any source, when all have come. */
void run_check_taken(struct run *run);

/** A request is complete: look at what came of it, and free what it had. */
void run_completed(struct run *run, struct entry *entry, const MPI_Status *status);

/** Complete something, or just look, in a random way; never waits for what is not
 * ready. */
void run_complete_some(struct run *run);

/** Wait for one entry, whose act is ready. */
void run_wait(struct run *run, struct entry *entry);

/** Complete all that there is. */
void run_complete_all(struct run *run);

/** Start a collective that moves data; the request is NULL if it blocks. */
struct moving *moving_start(struct run *run, const struct act *act,
                            MPI_Request *request);

/** Look at all data of a complete one, and free what it had. */
void moving_check(struct run *run, const struct act *act, struct moving *moving);

/** The same for one that reduces. */
struct reducing *reducing_start(struct run *run, const struct act *act,
                                MPI_Request *request);

/** Look at the result of a complete one, and free what it had. */
void reducing_check(struct run *run, const struct act *act, struct reducing *reducing);

/** Make the types and operations of the table. */
void reducing_begin(void);

/** Free them. */
void reducing_end(void);

#endif

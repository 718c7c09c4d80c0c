/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that never come to an end, and programs that look like them for a while but
 * do. The argument names one; without one, all are listed, each with the ranks that it
 * wants, at least, and whether it is stuck. run_referee.py runs them. What the first
 * message is about is said in the names; all ranks that a case does not use go to
 * MPI_Finalize.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deadlocks.h"

enum { TAG = 7, LONG = 1 << 20, WHILE_MS = 300, MOST_RANKS = 64 };

static int rank, n_ranks, word;
static char bytes[2][LONG];

static int next(void)
{
    return (rank + 1) % n_ranks;
}

static int previous(void)
{
    return (rank + n_ranks - 1) % n_ranks;
}

static void receive(int from)
{
    MPI_Recv(&word, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to)
{
    MPI_Send(&word, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

void compute(int ms)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 +
                 (now.tv_nsec - begin.tv_nsec) / 1000000 <
             ms);
}

/* ----------------------------------------------------------------------- stuck */

static void both_receive_first(void)
{
    if (rank < 2) {
        receive(1 - rank);
        send(1 - rank);
    }
}

static void ring_of_synchronous_sends(void)
{
    MPI_Ssend(&word, 1, MPI_INT, next(), TAG, MPI_COMM_WORLD);
    receive(previous());
}

static void ring_of_long_sends(void)
{
    MPI_Send(bytes[0], LONG, MPI_CHAR, next(), TAG, MPI_COMM_WORLD);
    MPI_Recv(bytes[1], LONG, MPI_CHAR, previous(), TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void one_not_in_barrier(void)
{
    if (rank == n_ranks - 1) {
        receive(0);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void another_tag(void)
{
    if (rank == 0) {
        send(1);
        receive(1);
    } else if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send(0);
    }
}

/** Rank 0 has sent what rank 1 expects of itself. */
static void another_source(void)
{
    if (rank == 0) {
        send(1);
        receive(1);
    } else if (rank == 1) {
        MPI_Probe(0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* it is there */
        receive(1);                                           /* of the wrong one */
        send(0);
    }
}

/** Rank 0 waits for its send, so that the line of it is known. */
static void another_communicator(void)
{
    MPI_Comm grid;

    MPI_Comm_dup(MPI_COMM_WORLD, &grid);
    MPI_Comm_set_name(grid, "the grid");
    if (rank == 0) {
        MPI_Ssend(&word, 1, MPI_INT, 1, TAG, grid); /* on the grid */
    } else if (rank == 1) {
        receive(0);
    }
}

/** A message that has nothing to do with it. */
static void another_matter(void)
{
    if (rank == 0) {
        MPI_Send(&word, 1, MPI_INT, 1, TAG + 2, MPI_COMM_WORLD);
        receive(1);
    } else if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void another_collective(void)
{
    if (rank == n_ranks - 1) {
        MPI_Bcast(bytes[0], LONG, MPI_CHAR, 0, MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void partner_has_ended(void)
{
    if (rank == 0) {
        receive(1);
    }
}

static void message_to_oneself(void)
{
    if (rank == 0) {
        receive(0);
    }
}

static void all_receive_of_anybody(void)
{
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    send(next());
}

static void all_wait_for_any(void)
{
    MPI_Request requests[2];
    int index;

    MPI_Irecv(&word, 1, MPI_INT, next(), TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(bytes[0], LONG, MPI_CHAR, previous(), TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    send(next());
}

static void all_wait_for_all(void)
{
    MPI_Request requests[2];

    MPI_Irecv(bytes[1], 1, MPI_CHAR, previous(), TAG + 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(bytes[0], 1, MPI_CHAR, next(), TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void all_probe(void)
{
    MPI_Probe(previous(), TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(next());
}

static void root_of_long_bcast_receives(void)
{
    if (rank == 0) {
        receive(n_ranks - 1);
    }
    MPI_Bcast(bytes[0], LONG, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == n_ranks - 1) {
        send(0);
    }
}

static void barriers_in_two_orders(void)
{
    MPI_Comm comms[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Barrier(comms[rank % 2]);
    MPI_Barrier(comms[1 - rank % 2]);
}

static void barrier_that_goes_on_by_itself(void)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    receive(0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_but_one_who_computes(void)
{
    if (rank == n_ranks - 1) {
        for (;;) {
            compute(WHILE_MS);
        }
    }
    MPI_Recv(&word, 1, MPI_INT, (rank + 1) % (n_ranks - 1), TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void across_communicators(void)
{
    MPI_Comm half, across;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, TAG, &across);
    MPI_Recv(&word, 1, MPI_INT, 0, TAG, across, MPI_STATUS_IGNORE);
}

static void *receive_in_thread(void *arg)
{
    receive(*(int *)arg);
    return NULL;
}

static void all_threads(void)
{
    int from[2] = {next(), previous()};
    pthread_t thread;

    pthread_create(&thread, NULL, receive_in_thread, &from[0]);
    MPI_Recv(bytes[0], 1, MPI_CHAR, from[1], TAG + 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

/* --------------------------------------------------------------------- not stuck */

static void late_message(void)
{
    if (rank == 0) {
        compute(WHILE_MS);
        for (int i = 1; i < n_ranks; i++) {
            send(i);
        }
    } else {
        receive(0);
    }
}

static void late_message_of_anybody(void)
{
    if (rank == 0) {
        compute(WHILE_MS);
        send(1);
    } else if (rank == 1) {
        receive(MPI_ANY_SOURCE);
        send(n_ranks - 1);
        receive(n_ranks - 1);
    }
    if (rank == n_ranks - 1) {
        receive(1);
        send(1);
    }
}

/** The last rank waits for one that waits in a broadcast for the root, who computes. */
static void late_root(void)
{
    if (rank == n_ranks - 1) {
        receive(1);
    }
    if (rank == 0) {
        compute(WHILE_MS);
    }
    MPI_Bcast(bytes[0], LONG, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        send(n_ranks - 1);
    }
}

/** While a rank waits for a message it passes on a broadcast that its sender waits
 *  for. */
static void broadcast_behind_a_wait(void)
{
    MPI_Request request;

    if (rank == 0) {
        compute(WHILE_MS);
    }
    MPI_Ibcast(bytes[0], LONG, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    if (rank > 0 && rank < n_ranks - 1) {
        receive(n_ranks - 1);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 1; rank == n_ranks - 1 && i < n_ranks - 1; i++) {
        send(i);
    }
}

static void *send_in_thread(void *unused)
{
    (void)unused;
    compute(WHILE_MS);
    send(next());
    return NULL;
}

static void late_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, send_in_thread, NULL);
    receive(previous());
    pthread_join(thread, NULL);
}

/** All wait for any of several, of which one comes late. */
static void late_choice(void)
{
    MPI_Request requests[2];
    int index;

    if (rank == 0) {
        compute(WHILE_MS);
        send(next());
        receive(previous());
        MPI_Send(&word, 1, MPI_INT, next(), TAG + 1, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(bytes[0], 4, MPI_CHAR, previous(), TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    send(next());
    if (next() != 0) {
        MPI_Send(&word, 1, MPI_INT, next(), TAG + 1, MPI_COMM_WORLD);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/** Rank 0 comes late to a barrier in which the others are, who poll for it. */
static void late_to_barrier(void)
{
    MPI_Request request;
    int is_over = 0;

    if (rank == 0) {
        compute(WHILE_MS);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (rank == 1 && !is_over) {
        MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int send_at_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    compute(WHILE_MS);
    send(0);
    return MPI_SUCCESS;
}

/** Rank 1 sends within MPI_Finalize, which is legal while MPI_COMM_SELF is torn
 *  down. */
static void message_at_the_end(void)
{
    int keyval;

    if (rank == 1) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_at_end, &keyval, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    } else if (rank == 0) {
        receive(1);
    }
}

/* ------------------------------------------------------------------------- table */

static const struct one {
    const char *name;
    void (*run)(void);
    int n_ranks;
    bool is_stuck, is_threaded;
} cases[] = {
    {"both_receive_first", both_receive_first, 2, true, false},
    {"ring_of_synchronous_sends", ring_of_synchronous_sends, 2, true, false},
    {"ring_of_long_sends", ring_of_long_sends, 2, true, false},
    {"one_not_in_barrier", one_not_in_barrier, 2, true, false},
    {"another_tag", another_tag, 2, true, false},
    {"another_source", another_source, 2, true, false},
    {"another_communicator", another_communicator, 2, true, false},
    {"another_matter", another_matter, 2, true, false},
    {"another_collective", another_collective, 2, true, false},
    {"partner_has_ended", partner_has_ended, 2, true, false},
    {"message_to_oneself", message_to_oneself, 1, true, false},
    {"all_receive_of_anybody", all_receive_of_anybody, 1, true, false},
    {"all_wait_for_any", all_wait_for_any, 2, true, false},
    {"all_wait_for_all", all_wait_for_all, 2, true, false},
    {"all_probe", all_probe, 2, true, false},
    {"root_of_long_bcast_receives", root_of_long_bcast_receives, 2, true, false},
    {"barriers_in_two_orders", barriers_in_two_orders, 2, true, false},
    {"barrier_that_goes_on_by_itself", barrier_that_goes_on_by_itself, 2, true, false},
    {"all_but_one_who_computes", all_but_one_who_computes, 3, true, false},
    {"last_of_many_receives", last_of_many_receives, 3, true, false},
    {"any_of_many_receives", any_of_many_receives, 3, true, false},
    {"broadcasts_of_other_roots", broadcasts_of_other_roots, 2, true, false},
    {"send_without_request", send_without_request, 2, true, false},
    {"send_from_buffer", send_from_buffer, 2, true, false},
    {"receives_on_freed_communicator", receives_on_freed_communicator, 2, true, false},
    {"all_wait_for_some", all_wait_for_some, 2, true, false},
    {"both_groups_receive", both_groups_receive, 2, true, false},
    {"probed_and_not_received", probed_and_not_received, 2, true, false},
    {"probed_and_finalized", probed_and_finalized, 2, true, false},
    {"one_does_not_duplicate", one_does_not_duplicate, 2, true, false},
    {"one_makes_no_window", one_makes_no_window, 2, true, false},
    {"one_does_not_split_a_part", one_does_not_split_a_part, 3, true, false},
    {"last_one_comes_late", last_one_comes_late, 2, true, false},
    {"across_communicators", across_communicators, 2, true, false},
    {"any_of_very_many", any_of_very_many, 2, true, false},
    {"all_of_very_many", all_of_very_many, 2, true, false},
    {"one_is_not_in_many_collectives", one_is_not_in_many_collectives, 2, true, false},
    {"one_is_not_in_collectives_by_turns", one_is_not_in_collectives_by_turns, 2, true,
     false},
    {"receives_beside_many_collectives", receives_beside_many_collectives, 2, true,
     false},
    {"all_threads", all_threads, 2, true, true},
    {"late_message", late_message, 2, false, false},
    {"late_message_of_anybody", late_message_of_anybody, 3, false, false},
    {"late_root", late_root, 3, false, false},
    {"broadcast_behind_a_wait", broadcast_behind_a_wait, 3, false, false},
    {"late_to_what_is_made", late_to_what_is_made, 2, false, false},
    {"late_thread", late_thread, 2, false, true},
    {"late_thread_of_the_start", late_thread_of_the_start, 2, false, true},
    {"late_choice", late_choice, 2, false, false},
    {"late_one_of_some", late_one_of_some, 3, false, false},
    {"late_one_of_many", late_one_of_many, 3, false, false},
    {"late_one_of_very_many", late_one_of_very_many, 3, false, false},
    {"late_to_many_collectives", late_to_many_collectives, 2, false, false},
    {"late_end_of_long_messages", late_end_of_long_messages, 2, false, false},
    {"late_to_barrier", late_to_barrier, 2, false, false},
    {"message_at_the_end", message_at_the_end, 2, false, false},
    {"cancelled_sends", cancelled_sends, 2, false, false},
    {"cancelled_again_and_again", cancelled_again_and_again, 2, false, false},
    {"cancelled_too_late", cancelled_too_late, 2, false, false},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

static int list_cases(void)
{
    for (int i = 0; i < N_CASES; i++) {
        printf("%s %d %s\n", cases[i].name, cases[i].n_ranks,
               cases[i].is_stuck ? "stuck" : "good");
    }
    return 0;
}

int main(int argc, char **argv)
{
    int provided, number = 0;

    if (argc < 2) {
        return list_cases();
    }
    while (number < N_CASES && strcmp(cases[number].name, argv[1]) != 0) {
        number++;
    }
    if (number == N_CASES) {
        return EXIT_FAILURE;
    }
    if (cases[number].run == late_thread_of_the_start) {
        begin_late_thread();
    }
    MPI_Init_thread(&argc, &argv,
                    cases[number].is_threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    cases[number].run();
    MPI_Finalize();
    return 0;
}

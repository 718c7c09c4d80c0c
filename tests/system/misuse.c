/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that use MPI in ways that the standard forbids, and the right versions of
 * them. Without arguments it lists them, a line each: name, how many ranks it takes at
 * least, and how it ends: "right"; "stuck", in a deadlock; "error", which ends the job
 * by its error handler; "argument", the same with the class of the error as its status;
 * "either" of the first two; "returned", an error that is returned, or
 * that harms nobody; "left", to the end, with something left behind. With a name, and
 * "right" or "wrong", it runs one; right ones one after the other, if there are several
 * names.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "misuse.h"

static long in[4 * N_LONG], out[4 * N_LONG];

/* ------------------------------------------------------ collectives in another
 * order */

static void other_collective(const struct run *run, int is_wrong)
{
    if (is_wrong && run->is_last) {
        MPI_Allgather(in, run->n, MPI_LONG, out, run->n, MPI_LONG, MPI_COMM_SELF);
        MPI_Allreduce(in, out, run->n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(in, out, run->n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void other_collective_by_messages(const struct run *run, int is_wrong)
{
    if (is_wrong && run->is_last) {
        MPI_Scan(in, out, run->n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(in, out, N_LONG, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!is_wrong) {
        MPI_Scan(in, out, run->n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void other_nonblocking(const struct run *run, int is_wrong)
{
    MPI_Request request;

    if (is_wrong && run->is_last) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    } else {
        MPI_Iallreduce(in, out, run->n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/** A communicator is made by some, while the others are in a short collective of
 *  ours. */
static void duplicate_and_barrier(const struct run *run, int is_wrong)
{
    MPI_Comm copy;

    if (is_wrong && run->is_last) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&copy);
}

/** Some make a communicator by one function, the others by another one. */
static void duplicate_and_split(const struct run *run, int is_wrong)
{
    MPI_Comm made;

    if (is_wrong && run->is_last) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
    }
    MPI_Comm_free(&made);
}

/* -------------------------------------------------------- one collective, not alike */

static int root_of(const struct run *run, int is_wrong)
{
    return is_wrong && run->is_last ? 1 : 0;
}

static void root_of_gather(const struct run *run, int is_wrong)
{
    long *all = malloc(sizeof(long) * (size_t)run->n * (size_t)run->size);

    MPI_Gather(in, run->n, MPI_LONG, all, run->n, MPI_LONG, root_of(run, is_wrong),
               MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(all);
}

static void root_of_scatter(const struct run *run, int is_wrong)
{
    long *all = calloc((size_t)run->n * (size_t)run->size, sizeof(long));

    MPI_Scatter(all, run->n, MPI_LONG, out, run->n, MPI_LONG, root_of(run, is_wrong),
                MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(all);
}

static void root_of_bcast(const struct run *run, int is_wrong)
{
    MPI_Bcast(in, run->n, MPI_LONG, root_of(run, is_wrong), MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void root_of_reduce(const struct run *run, int is_wrong)
{
    MPI_Reduce(in, out, run->n, MPI_LONG, MPI_SUM, root_of(run, is_wrong),
               MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/** Each rank thinks that it is the root, and sends. */
static void all_are_roots(const struct run *run, int is_wrong)
{
    MPI_Bcast(in, run->n, MPI_LONG, is_wrong ? run->rank : 0, MPI_COMM_WORLD);
}

static MPI_Op op_of(const struct run *run, int is_wrong)
{
    return is_wrong && run->is_last ? MPI_MAX : MPI_SUM;
}

static void op_of_reduce(const struct run *run, int is_wrong)
{
    MPI_Reduce(in, out, run->n, MPI_LONG, op_of(run, is_wrong), 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void op_of_allreduce(const struct run *run, int is_wrong)
{
    MPI_Allreduce(in, out, run->n, MPI_LONG, op_of(run, is_wrong), MPI_COMM_WORLD);
}

static void op_of_scan(const struct run *run, int is_wrong)
{
    MPI_Scan(in, out, run->n, MPI_LONG, op_of(run, is_wrong), MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void op_of_iallreduce(const struct run *run, int is_wrong)
{
    MPI_Request request;

    MPI_Iallreduce(in, out, run->n, MPI_LONG, op_of(run, is_wrong), MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void type_of_allreduce(const struct run *run, int is_wrong)
{
    MPI_Allreduce(in, out, run->n, is_wrong && run->is_last ? MPI_DOUBLE : MPI_LONG,
                  MPI_SUM, MPI_COMM_WORLD);
}

static void count_of_allreduce(const struct run *run, int is_wrong)
{
    int is_more = is_wrong && run->is_last;

    MPI_Allreduce(in, out, run->n + is_more, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static void count_of_bcast(const struct run *run, int is_wrong)
{
    int is_less = is_wrong && run->is_last;

    MPI_Bcast(in, run->n - is_less, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void count_of_gather(const struct run *run, int is_wrong)
{
    long *all = malloc(sizeof(long) * (size_t)run->n * (size_t)run->size);
    int is_more = is_wrong && run->is_last;

    MPI_Gather(in, run->n + is_more, MPI_LONG, all, run->n, MPI_LONG, 0,
               MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(all);
}

static void count_of_allgather(const struct run *run, int is_wrong)
{
    int n = run->n + (is_wrong && run->is_last);

    MPI_Allgather(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD);
}

static void count_of_alltoall(const struct run *run, int is_wrong)
{
    int n = run->n + (is_wrong && run->is_last);

    MPI_Alltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD);
}

/** Short enough for lines at all but one, which goes by messages. */
static int count_over_border(const struct run *run, int is_wrong)
{
    return is_wrong && run->is_last ? N_BY_MESSAGES * run->n : run->n;
}

static void border_of_allgather(const struct run *run, int is_wrong)
{
    int n = count_over_border(run, is_wrong);

    MPI_Allgather(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD);
}

static void border_of_alltoall(const struct run *run, int is_wrong)
{
    int n = count_over_border(run, is_wrong);

    MPI_Alltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD);
}

/* ------------------------------------------------------------------- ends too early */

static void ended_before_barrier(const struct run *run, int is_wrong)
{
    if (!is_wrong || !run->is_last) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void ended_before_send(const struct run *run, int is_wrong)
{
    if (run->rank == 0) {
        MPI_Recv(out, 1, MPI_LONG, run->size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (run->is_last && !is_wrong) {
        MPI_Send(in, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD);
    }
}

static void ended_before_receive(const struct run *run, int is_wrong)
{
    if (run->rank == 0) {
        MPI_Ssend(in, 1, MPI_LONG, run->size - 1, 7, MPI_COMM_WORLD);
    } else if (run->is_last && !is_wrong) {
        MPI_Recv(out, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* --------------------------------------------------- right, though it looks
 * different */

/** Roots and operations change from one call to the next, and ranks come at other
 *  times. */
static void roots_change(const struct run *run, int is_wrong)
{
    (void)is_wrong;
    for (int i = 0; i < 400; i++) {
        MPI_Bcast(in, run->n % 100 + 1, MPI_LONG, i % run->size, MPI_COMM_WORLD);
        MPI_Reduce(in, out, run->n % 100 + 1, MPI_LONG, i % 2 == 0 ? MPI_MAX : MPI_BOR,
                   (i / 3) % run->size, MPI_COMM_WORLD);
    }
}

/** Types of one signature, and counts that only the root has. */
static void types_of_one_signature(const struct run *run, int is_wrong)
{
    MPI_Datatype pair;
    long *all = malloc(sizeof(long) * 2 * (size_t)run->n * (size_t)run->size);

    (void)is_wrong;
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(in, run->rank % 2 == 0 ? run->n * 2 : run->n,
              run->rank % 2 == 0 ? MPI_LONG : pair, 0, MPI_COMM_WORLD);
    MPI_Gather(in, run->n, pair, run->rank == 0 ? all : NULL,
               run->rank == 0 ? 2 * run->n : -5, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, run->n, run->is_last ? MPI_LONG : MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Type_free(&pair);
    free(all);
}

/** As many non-blocking ones as there are, each of another kind, ended in another
 *  order. */
static void many_under_way(const struct run *run, int is_wrong)
{
    enum { N = 300 };
    static long from[N], to[N];
    MPI_Request requests[N];

    (void)is_wrong;
    for (int i = 0; i < N; i++) {
        switch (i % 3) {
        case 0:
            MPI_Ibcast(&to[i], 1, MPI_LONG, i % run->size, MPI_COMM_WORLD,
                       &requests[i]);
            break;
        case 1:
            MPI_Iallreduce(&from[i], &to[i], 1, MPI_LONG,
                           i % 2 == 0 ? MPI_SUM : MPI_MIN, MPI_COMM_WORLD,
                           &requests[i]);
            break;
        default:
            MPI_Ireduce(&from[i], &to[i], 1, MPI_LONG, MPI_SUM, i % run->size,
                        MPI_COMM_WORLD, &requests[i]);
            break;
        }
    }
    for (int i = N - 1; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}

/* ------------------------------------------------------------------------------
 * list */

static const struct one {
    const char *name;
    case_fn *function;
    int n; /* elements */
    int n_ranks;
    const char *ending;
} cases[] = {
    {"other_collective", other_collective, N_SHORT, 2, "error"},
    {"other_collective_long", other_collective, N_LONG, 2, "stuck"},
    {"other_by_messages", other_collective_by_messages, N_LONG, 2, "stuck"},
    {"other_nonblocking", other_nonblocking, N_SHORT, 2, "stuck"},
    {"root_of_gather", root_of_gather, N_SHORT, 3, "stuck"},
    {"root_of_gather_long", root_of_gather, N_LONG, 3, "stuck"},
    {"root_of_scatter_long", root_of_scatter, N_LONG, 3, "stuck"},
    {"root_of_bcast", root_of_bcast, N_SHORT, 3, "either"},
    {"root_of_bcast_long", root_of_bcast, N_LONG, 3, "stuck"},
    {"all_are_roots", all_are_roots, N_BY_MESSAGES, 2, "left"},
    {"root_of_reduce_long", root_of_reduce, N_LONG, 3, "stuck"},
    {"op_of_reduce_long", op_of_reduce, N_LONG, 2, "stuck"},
    {"op_of_allreduce", op_of_allreduce, N_SHORT, 2, "error"},
    {"op_of_allreduce_long", op_of_allreduce, N_LONG, 2, "stuck"},
    {"op_of_scan", op_of_scan, N_SHORT, 2, "stuck"},
    {"op_of_iallreduce", op_of_iallreduce, N_SHORT, 2, "stuck"},
    {"type_of_allreduce", type_of_allreduce, N_SHORT, 2, "error"},
    {"type_of_allreduce_long", type_of_allreduce, N_LONG, 2, "stuck"},
    {"count_of_allreduce", count_of_allreduce, N_SHORT, 2, "error"},
    {"count_of_bcast", count_of_bcast, N_SHORT, 2, "error"},
    {"count_of_bcast_long", count_of_bcast, N_LONG, 2, "error"},
    {"count_of_gather", count_of_gather, N_SHORT, 2, "error"},
    {"count_of_allgather", count_of_allgather, 1, 2, "error"},
    {"count_of_alltoall", count_of_alltoall, N_SHORT, 2, "error"},
    {"border_of_allgather", border_of_allgather, N_SHORT, 2, "stuck"},
    {"border_of_alltoall", border_of_alltoall, N_SHORT, 2, "either"},
    {"truncated_recv", truncated_recv, N_SHORT, 2, "error"},
    {"truncated_recv_long", truncated_recv, N_LONG, 2, "error"},
    {"truncated_any", truncated_any, N_SHORT, 2, "error"},
    {"truncated_wait", truncated_wait, N_SHORT, 2, "error"},
    {"truncated_waitall", truncated_waitall, N_LONG, 2, "error"},
    {"truncated_test", truncated_test, N_SHORT, 2, "error"},
    {"truncated_persistent", truncated_persistent, N_SHORT, 2, "error"},
    {"truncated_sendrecv", truncated_sendrecv, N_SHORT, 2, "error"},
    {"truncated_mrecv", truncated_mrecv, N_SHORT, 2, "error"},
    {"truncated_with_gaps", truncated_with_gaps, N_SHORT, 2, "error"},
    {"truncated_with_gaps_long", truncated_with_gaps, N_LONG, 2, "error"},
    {"truncated_often", truncated_often, N_SHORT, 2, "returned"},
    {"duplicate_and_barrier", duplicate_and_barrier, 1, 2, "error"},
    {"duplicate_and_split", duplicate_and_split, 1, 2, "error"},
    {"ended_before_barrier", ended_before_barrier, 1, 2, "error"},
    {"ended_before_send", ended_before_send, 1, 2, "stuck"},
    {"ended_before_receive", ended_before_receive, 1, 2, "stuck"},
    {"crowd_in_barrier", crowd, 0, 2, "returned"},
    {"crowd", crowd, N_SHORT, 2, "returned"},
    {"crowd_long", crowd, N_LONG, 2, "returned"},
    {"argument_root", argument_root, N_SHORT, 2, "argument"},
    {"argument_count", argument_count, N_SHORT, 2, "argument"},
    {"argument_types", argument_types, N_SHORT, 2, "argument"},
    {"argument_op", argument_op, N_SHORT, 2, "argument"},
    {"argument_target", argument_target, N_SHORT, 2, "argument"},
    {"argument_tag", argument_tag, N_SHORT, 2, "argument"},
    {"argument_type", argument_type, N_SHORT, 2, "argument"},
    {"argument_probe", argument_probe, N_SHORT, 2, "argument"},
    {"argument_request", argument_request, N_SHORT, 2, "argument"},
    {"argument_of_one", argument_of_one, N_SHORT, 2, "argument"},
    {"roots_change", roots_change, N_SHORT, 2, "right"},
    {"roots_change_long", roots_change, 99, 2, "right"},
    {"types_of_one_signature", types_of_one_signature, N_SHORT, 2, "right"},
    {"types_of_one_signature_long", types_of_one_signature, N_LONG, 2, "right"},
    {"many_under_way", many_under_way, 1, 2, "right"},
};

static const struct one *find(const char *name)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return &cases[i];
        }
    }
    fprintf(stderr, "misuse: no case %s\n", name);
    exit(2);
}

/** misuse NAME... right, misuse NAME wrong */
int main(int argc, char **argv)
{
    int provided, level = MPI_THREAD_SINGLE;
    struct run run;

    if (argc < 3) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            printf("%s %d %s\n", cases[i].name, cases[i].n_ranks, cases[i].ending);
        }
        return 0;
    }
    for (int i = 1; i < argc - 1; i++) {
        level = find(argv[i])->function == crowd ? MPI_THREAD_MULTIPLE : level;
    }
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.size);
    run.is_last = run.rank == run.size - 1;
    for (int i = 1; i < argc - 1; i++) {
        const struct one *one = find(argv[i]);

        run.n = one->n;
        one->function(&run, strcmp(argv[argc - 1], "wrong") == 0);
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels in MPI programs, by case: beside MPI and cBSP while one channel is full and
 * nobody reads it; a pipeline through more processes than cores; a long wait; handlers
 * in the helper thread beside MPI; what is refused outside of a job; a wait that never
 * ends.
 */
#include <bcs/cbsp.h>
#include <bcs/channel.h>
#include <mpi.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    N_ROUNDS = 200,
    N_PIPELINED = 2000,
    STUCK = 9,
    WAIT_US = 500000,
    N_MESSAGES = 300,
    N_IN_MESSAGE = 5,
    HELPED_ROOM = 64,
};

static int n_wrong;

static void expect(int is_right, int line)
{
    if (!is_right) {
        n_wrong++;
        printf("line %d: wrong\n", line);
    }
}

#define EXPECT(condition) expect(condition, __LINE__)

static struct bcs_channel_out *open_out(int peer, uint32_t number, uint32_t capacity)
{
    struct bcs_channel_params params = {
        .peer = peer, .number = number, .record_bytes = 8, .capacity = capacity};
    struct bcs_channel_out *out = NULL;

    EXPECT(bcs_channel_open_out(&params, &out) == 0);
    return out;
}

static struct bcs_channel_in *open_in(int peer, uint32_t number, uint32_t capacity)
{
    struct bcs_channel_params params = {
        .peer = peer, .number = number, .record_bytes = 8, .capacity = capacity};
    struct bcs_channel_in *in = NULL;

    EXPECT(bcs_channel_open_in(&params, &in) == 0);
    return in;
}

static long sum;

static void add(int srcNode, void *destAddr, int nBytes)
{
    (void)srcNode;
    (void)nBytes;
    sum += *(long *)destAddr;
}

/** A word, an MPI message and a cBSP message round the ring, and a reduction. */
static void one_round(int me, int n, long round, struct bcs_channel_out *out,
                      struct bcs_channel_in *in)
{
    int next = (me + 1) % n, before = (me + n - 1) % n;
    long mine = me + 10 * round, theirs = -1, total = -1;
    uint64_t word = 0;

    sum = 0;
    EXPECT(bcs_channel_send_word(out, (uint64_t)mine) == 0);
    EXPECT(cBSP_send(next, NULL, &mine, sizeof(mine), add) == 0);
    MPI_Sendrecv(&mine, 1, MPI_LONG, next, 0, &theirs, 1, MPI_LONG, before, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(theirs == before + 10 * round);
    EXPECT(bcs_channel_receive_word(in, &word) == 0);
    EXPECT(word == (uint64_t)theirs);
    EXPECT(cBSP_nsync(1) == 0);
    EXPECT(sum == theirs);
    MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(total == n * (n - 1L) / 2 + 10 * round * n);
}

/** Rank 0 fills a channel that the last rank does not read until all is over. */
static void mix(int me, int n)
{
    struct bcs_channel_out *out = open_out((me + 1) % n, 0, 1), *full = NULL;
    struct bcs_channel_in *in = open_in((me + n - 1) % n, 0, 1), *unread = NULL;
    uint64_t n_stuck = 0, n_read = 0, word = 0;

    EXPECT(cBSP_initialize() == 0);
    if (me == n - 1) {
        unread = open_in(0, STUCK, 100);
    }
    if (me == 0) {
        full = open_out(n - 1, STUCK, 100);
        EXPECT(bcs_channel_wait_out(full) == 0);
        while (bcs_channel_try_send(full, &n_stuck, sizeof(n_stuck), false)) {
            n_stuck++;
        }
        EXPECT(n_stuck >= 100);
        EXPECT(bcs_channel_status_out(full) == BCS_CHANNEL_FULL);
    }
    for (long round = 0; round < N_ROUNDS; round++) {
        one_round(me, n, round, out, in);
        EXPECT(full == NULL || !bcs_channel_try_send(full, &word, sizeof(word), false));
    }
    MPI_Barrier(
        MPI_COMM_WORLD); /* nobody reads it while another looks whether it is full */
    EXPECT(full == NULL || bcs_channel_close_out(full) == 0);
    if (unread != NULL) {
        while (bcs_channel_receive_word(unread, &word) == 0) {
            EXPECT(word == n_read++);
        }
        EXPECT(n_read >= 100 && (full == NULL || n_read == n_stuck));
    }
    EXPECT(cBSP_finalize() == 0);
}

/** Words from the first rank through all to the last, and back. */
static void pipeline(int me, int n)
{
    struct bcs_channel_out *out = open_out((me + 1) % n, 0, 16);
    struct bcs_channel_in *in = open_in((me + n - 1) % n, 0, 16);
    uint64_t word = 0;

    for (uint64_t i = 0; i < N_PIPELINED; i++) {
        if (me == 0) {
            EXPECT(bcs_channel_send_word(out, i) == 0);
        } else {
            EXPECT(bcs_channel_receive_word(in, &word) == 0);
            EXPECT(word == i + (uint64_t)me - 1);
            EXPECT(bcs_channel_send_word(out, word + 1) == 0);
        }
        if (me == 0 && i >= 8) {
            EXPECT(bcs_channel_receive_word(in, &word) == 0);
            EXPECT(word == i - 8 + (uint64_t)n - 1);
        }
    }
    for (uint64_t i = N_PIPELINED - 8; me == 0 && i < N_PIPELINED; i++) {
        EXPECT(bcs_channel_receive_word(in, &word) == 0);
        EXPECT(word == i + (uint64_t)n - 1);
    }
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/** Who waits long does not use its core: the others wait for a word of a rank that
 *  sleeps. */
static void patience(int me, int n)
{
    uint64_t word = 0;

    if (me == 0) {
        usleep(WAIT_US);
        for (int i = 1; i < n; i++) {
            EXPECT(bcs_channel_send_word(open_out(i, 1, 1), 5) == 0);
        }
    } else {
        struct bcs_channel_in *in = open_in(0, 1, 1);
        double start = cpu_seconds();

        EXPECT(bcs_channel_receive_word(in, &word) == 0 && word == 5);
        EXPECT(cpu_seconds() - start < 1e-6 * WAIT_US / 4);
    }
}

/** What is refused before, after and in a child. @param is_before init has not been
 *  called */
static void outside(int is_before)
{
    struct bcs_channel_params params = {.record_bytes = 8, .capacity = 1};
    struct bcs_channel_out *out;

    EXPECT(bcs_channel_open_out(&params, &out) == -EPERM);
    EXPECT(bcs_channels_poll() == -EPERM);
    EXPECT(bcs_channels_finalize() == -EPERM);
    EXPECT(bcs_channels_rank() == -1 && bcs_channels_size() == 0);
    EXPECT(is_before || bcs_channels_init() == -EALREADY);
}

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE); /* pairs with the handlers */
}

/** What a handler in the helper thread has seen. */
struct helped {
    struct bcs_channel_out *back; /* NULL: none */
    enum bcs_channel_when when;
    uint64_t n; /* atomic: words, in order */
    int n_wrong;
};

/** Receive words in order, all that are there; tell of each that ends a message. */
static void count(struct bcs_channel_in *in, void *arg)
{
    struct helped *helped = arg;
    uint64_t word;

    while (bcs_channel_try_receive(in, &word, sizeof(word))) {
        uint64_t n = helped->n + 1;

        helped->n_wrong += word != n - 1;
        helped->n_wrong += bcs_channel_is_end(in) != (n % N_IN_MESSAGE == 0);
        if (helped->back != NULL && n % N_IN_MESSAGE == 0) {
            helped->n_wrong +=
                !bcs_channel_try_send(helped->back, &n, sizeof(n), false);
        }
        __atomic_store_n(&helped->n, n, __ATOMIC_RELEASE); /* pairs with load */
    }
    if (helped->when == BCS_CHANNEL_BEGIN) { /* the rest of a message is no beginning */
        bool is_end = bcs_channel_is_end(in);

        helped->n_wrong +=
            bcs_channel_set_handler(
                in, is_end ? BCS_CHANNEL_BEGIN : BCS_CHANNEL_ARRIVAL, count, arg) != 0;
    }
}

static void send_message(struct bcs_channel_out *out, uint64_t *n_sent)
{
    for (int i = 1; i <= N_IN_MESSAGE; i++) {
        EXPECT(bcs_channel_send(out, n_sent, sizeof(*n_sent), i == N_IN_MESSAGE) == 0);
        ++*n_sent;
    }
}

/** Messages round a ring to the helper threads, which answer, while the programs are in
 *  MPI. */
static void helper_on(int me, int n, enum bcs_channel_when when)
{
    struct bcs_channel_out *out = open_out((me + 1) % n, 20 + when, HELPED_ROOM);
    struct bcs_channel_in *in = open_in((me + n - 1) % n, 20 + when, HELPED_ROOM);
    struct bcs_channel_in *answers = open_in((me + 1) % n, 30 + when, HELPED_ROOM);
    struct helped helped = {
        .back = open_out((me + n - 1) % n, 30 + when, HELPED_ROOM),
        .when = when,
    };
    bool is_half = when == BCS_CHANNEL_IF_HALF;
    uint64_t n_sent = 0, word = 0;
    long total = 0;

    EXPECT(bcs_channel_wait_out(helped.back) == 0); /* so that a handler never has to */
    EXPECT(bcs_channel_set_helper(in, when, count, &helped) == 0);
    for (long i = 0; i < N_MESSAGES; i++) {
        send_message(out, &n_sent);
        MPI_Allreduce(&i, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        EXPECT(total == i * n);
        /* Half a channel does not say when all has come. */
        while (!is_half && word < n_sent) {
            EXPECT(bcs_channel_receive_word(answers, &word) == 0);
            EXPECT(word % N_IN_MESSAGE == 0);
        }
        while (is_half && bcs_channel_try_receive(answers, &word, sizeof(word))) {
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(bcs_channel_wait_in(in) == -EPERM);
    EXPECT(bcs_channel_set_handler(in, BCS_CHANNEL_NEVER, NULL, NULL) == 0);
    EXPECT(helped.n > 0 && helped.n_wrong == 0 && (is_half || helped.n == n_sent));
    for (uint64_t next = helped.n; next < n_sent; next++) {
        EXPECT(bcs_channel_receive_word(in, &word) == 0 && word == next);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void helper(int me, int n)
{
    for (enum bcs_channel_when when = BCS_CHANNEL_ARRIVAL; when <= BCS_CHANNEL_IF_HALF;
         when++) {
        helper_on(me, n, when);
    }
}

/** A helper thread for which nothing comes leaves the core to others. The end stays its
 *  own when the process leaves, or exits without leaving. */
static void helper_patience(int me, int n)
{
    static struct helped helped;
    struct bcs_channel_out *out = open_out((me + 1) % n, 1, 1);
    struct bcs_channel_in *in = open_in((me + n - 1) % n, 1, 1);
    uint64_t word = 0;
    double start;

    EXPECT(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, count, &helped) == 0);
    start = cpu_seconds();
    usleep(WAIT_US);
    EXPECT(cpu_seconds() - start < 1e-6 * WAIT_US / 4);
    EXPECT(bcs_channel_send_word(out, word) == 0);
    while (load(&helped.n) == 0) {
        usleep(1000);
    }
}

/** A child has no helper thread, and the parent's goes on. */
static void helper_child(int me, int n)
{
    struct helped helped = {0};
    struct bcs_channel_out *out = open_out((me + 1) % n, 1, 1);
    struct bcs_channel_in *in = open_in((me + n - 1) % n, 1, 1);
    struct bcs_channel_in *other = open_in((me + n - 1) % n, 2, 1);
    int status = -1;
    pid_t child;

    EXPECT(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, count, &helped) == 0);
    child = fork();
    if (child == 0) {
        n_wrong = 0;
        EXPECT(bcs_channel_set_helper(other, BCS_CHANNEL_ARRIVAL, count, NULL) ==
               -EPERM);
        EXPECT(bcs_channel_set_handler(in, BCS_CHANNEL_NEVER, NULL, NULL) == -EPERM);
        EXPECT(bcs_channel_close_in(in) == -EPERM);
        fflush(stdout);
        _exit(n_wrong);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(bcs_channel_send(out, &(uint64_t){0}, sizeof(uint64_t), false) == 0);
    while (load(&helped.n) == 0) {
        usleep(1000);
    }
    EXPECT(bcs_channel_close_in(in) == 0);
}

static void in_child(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        n_wrong = 0;
        outside(1);
        fflush(stdout);
        _exit(n_wrong);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

static void wait_for_ever(int me, int n)
{
    struct bcs_channel_in *in = open_in((me + 1) % n, 0, 1);
    uint64_t word;

    printf("rank %d waits\n", me);
    fflush(stdout);
    EXPECT(bcs_channel_receive_word(in, &word) == 0);
}

/** The same with a helper thread that runs handlers all the time. */
static void helper_for_ever(int me, int n)
{
    struct helped helped = {0};
    struct bcs_channel_out *out = open_out((me + n - 1) % n, 1, 1);
    struct bcs_channel_in *in = open_in((me + 1) % n, 1, 1);

    EXPECT(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, count, &helped) == 0);
    printf("rank %d goes on\n", me);
    fflush(stdout);
    for (uint64_t n_sent = 0; n_wrong == 0;) {
        send_message(out, &n_sent);
    }
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    int rank, size;

    if (strcmp(which, "outside") == 0) {
        outside(1);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (bcs_channels_init() < 0) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    EXPECT(bcs_channels_rank() == rank && bcs_channels_size() == size);
    if (strcmp(which, "mix") == 0) {
        mix(rank, size);
    } else if (strcmp(which, "pipeline") == 0) {
        pipeline(rank, size);
    } else if (strcmp(which, "patience") == 0) {
        patience(rank, size);
    } else if (strcmp(which, "helper") == 0) {
        helper(rank, size);
    } else if (strcmp(which, "helper_patience") == 0 ||
               strcmp(which, "helper_exit") == 0) {
        helper_patience(rank, size);
    } else if (strcmp(which, "helper_child") == 0) {
        helper_child(rank, size);
    } else if (strcmp(which, "helper_for_ever") == 0) {
        helper_for_ever(rank, size);
    } else if (strcmp(which, "outside") == 0) {
        in_child();
    } else if (strcmp(which, "wait_for_ever") == 0) {
        wait_for_ever(rank, size);
    } else {
        EXPECT(0);
    }
    EXPECT(strcmp(which, "helper_exit") == 0 || bcs_channels_finalize() == 0);
    if (strcmp(which, "outside") == 0) {
        outside(0);
    }
    MPI_Finalize();
    printf("rank %d of %d: %d wrong\n", rank, size, n_wrong);
    return n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

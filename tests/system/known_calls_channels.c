/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program on open channels and remote commands whose calls run_mds_calls.py knows.
 * Ranks are in a ring. In its other ways, by the first argument:
 *
 *   late     ranks 1 and 2 are late, by 1 s each time, for those before and behind them
 *   threads  two threads make the same calls at the same time
 *   apart    the last rank leaves when the files of all others are there
 *   killed   all others wait while rank 1 waits to be killed
 *   exit     rank 0 exits without leaving the job
 *   beside   with cBSP beside it
 */
#include <bcs/cbsp.h>

#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "known_calls_channels.h"

enum { HANDLER_NS = 50000000 };

static int rank, size, next, previous;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** Send a word, with one call that waits. */
static void send_word(struct bcs_channel_out *out)
{
    const uint64_t word = 1;

    must(bcs_channel_wait_out(out));
    must_be(bcs_channel_try_send(out, &word, sizeof(word), true));
}

/** In the helper thread, for a while. Its call is in the one of the handler. */
static void work(struct bcs_channel_in *in, void *arg)
{
    uint64_t until_ns = now_ns() + HANDLER_NS;

    take_word(in, NULL);
    must(bcs_channel_set_handler(in, BCS_CHANNEL_ARRIVAL, work, arg));
    while (now_ns() < until_ns) {
    }
    __atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
}

static void use_channels(void)
{
    struct bcs_channel_out *words_out = writer(next, WORDS);
    struct bcs_channel_in *words_in = reader(previous, WORDS);
    struct bcs_channel_out *handled_out = writer(next, HANDLED);
    struct bcs_channel_in *handled_in = reader(previous, HANDLED);
    bool is_handled = false;

    must(bcs_channel_set_helper(handled_in, BCS_CHANNEL_ARRIVAL, work, &is_handled));
    send_word(words_out);
    must(bcs_channel_wait_in(words_in));
    must(bcs_channel_set_handler(words_in, BCS_CHANNEL_ARRIVAL, take_word, NULL));
    must_be(bcs_channels_poll() == 1);
    send_word(handled_out);
    while (!__atomic_load_n(&is_handled, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    must(bcs_channel_set_helper(handled_in, BCS_CHANNEL_NEVER, NULL, NULL));
    must(bcs_channel_close_out(words_out));
    must(bcs_channel_close_in(words_in));
    must(bcs_channel_close_out(handled_out));
    must(bcs_channel_close_in(handled_in));
}

static void change(const struct bcs_remote *remote)
{
    const int64_t longs[4] = {1, 2, 3, 4};
    const int32_t shorts[4] = {1, 2, 3, 4};
    const struct bcs_remote_indirect place = {
        .index_offset = INDEX, .index_bytes = 8, .base = PLACES, .stride = 8};
    uint8_t data[100] = {0};

    must(bcs_remote_write(remote, DATA, data, sizeof(data)));
    must(bcs_remote_write(remote, DATA + 1, data, sizeof(data)));
    must(bcs_remote_write_indirect(remote, &place, data, 8));
    must(bcs_remote_read(remote, DATA, data, 40));
    must(bcs_remote_accumulate(
        remote, DATA,
        &(struct bcs_remote_accumulation){
            .op = BCS_SUM, .type = BCS_INT64, .operands = longs, .count = 4}));
    must(bcs_remote_accumulate(
        remote, DATA,
        &(struct bcs_remote_accumulation){
            .op = BCS_SUM, .type = BCS_INT32, .operands = shorts, .count = 4}));
}

/** Three records come into the own buffer, the last one of the own. */
static void use_buffers(const struct bcs_remote *own, const struct bcs_remote *remote)
{
    uint8_t record[2 * RECORD_BYTES] = {0};
    size_t n_bytes;

    must(bcs_remote_append(remote, BUFFER, record, RECORD_BYTES));
    must(bcs_remote_append_wait(remote, BUFFER, record, RECORD_BYTES));
    must(bcs_remote_take_wait(own, BUFFER, record, sizeof(record), &n_bytes));
    must(bcs_remote_take_wait(own, BUFFER, record, sizeof(record), &n_bytes));
    must(bcs_remote_append(own, BUFFER, record, RECORD_BYTES));
    must(bcs_remote_take(own, BUFFER, record, sizeof(record), &n_bytes));
}

/** A fetch whose condition its owner makes true. */
static void fetch(const struct bcs_remote *own, const struct bcs_remote *remote)
{
    uint8_t data[16];
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {
        .word = CONDITION,
        .at_least = 7,
        .offset = DATA,
        .n_bytes = sizeof(data),
        .data_out = data,
        .event = &event,
    };

    must(bcs_remote_fetch(remote, &fetch));
    must_be(bcs_remote_test(&event, 1) >= 0);
    must(bcs_remote_write_word(own, CONDITION, 7));
    must(bcs_remote_wait_event(&event, 1));
}

static void use_regions(void)
{
    struct bcs_remote own = {0}, remote = {0}, again = {0};

    must(bcs_region_export(REGION, REGION_BYTES, &own));
    must(bcs_remote_make_buffer(&own, BUFFER, ROOM_BYTES));
    must(bcs_remote_write_word(&own, READY, 1));
    must(bcs_region_import(next, REGION, &remote));
    must(bcs_region_import_now(next, REGION, &again));
    must(bcs_remote_wait_long(&remote, READY, 1));
    change(&remote);
    use_buffers(&own, &remote);
    fetch(&own, &remote);
    (void)bcs_remote_add_word(&remote, DONE, 1,
                              NULL); /* its owner may be quick to close it */
    must(bcs_remote_wait_long(&own, DONE, 1));
    must(bcs_region_release(&remote));
    must(bcs_region_release(&again));
    must(bcs_region_release(&own));
}

static void be_known(void)
{
    use_channels();
    use_regions();
}

/* ------------------------------------------------------------------ threads */

static pthread_barrier_t both;

static void *call_often(void *number)
{
    enum { N_CALLS = 100000 };
    uint32_t mine = *(const uint32_t *)number;
    struct bcs_channel_out *out = writer(rank, mine);
    struct bcs_channel_in *in = reader(rank, mine);

    pthread_barrier_wait(&both);
    for (int i = 0; i < N_CALLS; i++) {
        must(bcs_channel_wait_out(out));
    }
    must(bcs_channel_close_out(out));
    must(bcs_channel_close_in(in));
    return NULL;
}

/** A forked child, which has the memory that this process records in, records nothing
 *  there. */
static void call_in_child(void)
{
    int status = 0;
    pid_t child = fork();

    must_be(child >= 0);
    if (child == 0) {
        struct bcs_channel_params params = {.record_bytes = 8, .capacity = 1};
        struct bcs_channel_out *out;

        _exit(bcs_channel_open_out(&params, &out) == -EPERM ? 0 : 1);
    }
    must_be(waitpid(child, &status, 0) == child);
    must(status);
}

static void be_two_threads(void)
{
    uint32_t numbers[2] = {20, 21};
    pthread_t other;

    call_in_child();
    pthread_barrier_init(&both, NULL, 2);
    must(pthread_create(&other, NULL, call_often, &numbers[1]));
    call_often(&numbers[0]);
    must(pthread_join(other, NULL));
}

/* ------------------------------------------------------------------ ends */

/** How many of the files of ranks are there, or will be in a while. */
static size_t await_files(const char *pattern, size_t n_wanted)
{
    uint64_t until_ns = now_ns() + UINT64_C(60000000000);
    size_t n_found = 0;

    while (n_found < n_wanted && now_ns() < until_ns) {
        glob_t found;

        n_found = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
        globfree(&found);
        sched_yield();
    }
    return n_found;
}

/** The last rank leaves when all others have, and while it has not the run has not
 *  ended. */
static void leave_last(void)
{
    const char *folder = getenv("BCS_MDS_DIR");
    char pattern[512], command[512];

    must_be(folder != NULL);
    if (rank < size - 1) {
        return;
    }
    snprintf(pattern, sizeof(pattern), "%s/known_calls_channels.*/process.*.mds",
             folder);
    must_be(await_files(pattern, (size_t)size - 1) == (size_t)size - 1);
    snprintf(command, sizeof(command),
             "grep -q '^state: running$' %s/known_calls_channels.*/manifest.txt",
             folder);
    must(system(command));
}

static void be_gone(void)
{
    if (rank == 0) {
        (void)writer(1, WORDS);
        exit(EXIT_SUCCESS);
    }
}

static void use_cbsp(void)
{
    struct bcs_channel_out *out = writer(rank, WORDS);

    (void)reader(rank, WORDS);
    must(cBSP_initialize());
    must(cBSP_gsync());
    send_word(out);
    must(cBSP_gsync());
    must(bcs_channel_close_out(out));
    must(cBSP_finalize());
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"", be_known},        {"late", wait_or_be_late}, {"threads", be_two_threads},
        {"apart", leave_last}, {"killed", be_killed},     {"exit", be_gone},
        {"beside", use_cbsp},
    };
    const char *name = argc > 1 ? argv[1] : "";

    must(bcs_channels_init());
    rank = bcs_channels_rank();
    size = bcs_channels_size();
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(ways[i].name, name) == 0) {
            ways[i].run();
        }
    }
    must(bcs_channels_finalize());
    return EXIT_SUCCESS;
}

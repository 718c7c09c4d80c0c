/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known_calls_channels: ranks that wait for others, which are late, or are killed.
 */
#include <unistd.h>

#include "known_calls_channels.h"

/* ------------------------------------------------------------------ late */

/** The other one is about to wait: let it, for a while. */
static void be_late(struct bcs_channel_in *go)
{
    uint64_t word;

    must(bcs_channel_receive_word(go, &word));
    sleep(1); /* it may be slow to wait */
}

static void wait_for_one(void)
{
    struct bcs_channel_in *in = reader(1, WORDS);
    struct bcs_channel_out *go = writer(1, GO);
    static struct bcs_remote own, remote; /* open to the end */

    must(bcs_region_export(REGION, REGION_BYTES, &own));
    must(bcs_channel_send_word(go, 1));
    must(bcs_channel_wait_in(in)); /* for its word */
    must(bcs_channel_send_word(go, 1));
    must(bcs_region_import(1, REGION, &remote)); /* for its region */
    must(bcs_channel_send_word(go, 1));
    must(bcs_remote_wait_long(&remote, READY, 1)); /* for a word there, */
    must(bcs_channel_send_word(go, 1));
    must(bcs_remote_wait_long(&own, READY, 1)); /* and one here */
}

static void be_one(void)
{
    struct bcs_channel_in *go = reader(0, GO);
    struct bcs_channel_out *out = writer(0, WORDS);
    static struct bcs_remote own, remote; /* open to the end */

    must(bcs_region_import(0, REGION, &remote));
    be_late(go);
    must(bcs_channel_send_word(out, 1));
    be_late(go);
    must(bcs_region_export(REGION, REGION_BYTES, &own));
    be_late(go);
    must(bcs_remote_write_word(&own, READY, 1));
    be_late(go);
    (void)bcs_remote_write_word(&remote, READY, 1); /* as above */
}

static void wait_for_two(void)
{
    struct bcs_channel_out *go = writer(2, GO), *out = writer(2, WORDS);
    uint8_t record[RECORD_BYTES] = {0};
    static struct bcs_remote remote; /* open to the end */

    must(bcs_channel_send_word(go, 1));
    must(bcs_channel_wait_out(out)); /* until it opens its end */
    must(bcs_region_import(2, REGION, &remote));
    must(bcs_remote_wait(&remote, READY, 1));
    while (bcs_remote_append(&remote, BUFFER, record, sizeof(record)) == 0) {
    }
    must(bcs_channel_send_word(go, 1));
    must(bcs_remote_append_wait(&remote, BUFFER, record, sizeof(record)));
    must(bcs_channel_send_word(go, 1));
}

static void be_two(void)
{
    struct bcs_channel_in *go = reader(3, GO);
    uint8_t record[RECORD_BYTES];
    static struct bcs_remote own; /* open to the end */
    size_t n_bytes;
    uint64_t word;

    must(bcs_region_export(REGION, REGION_BYTES, &own));
    must(bcs_remote_make_buffer(&own, BUFFER, ROOM_BYTES));
    must(bcs_remote_write_word(&own, READY, 1));
    be_late(go);
    (void)reader(3, WORDS);
    be_late(go);
    must(bcs_remote_take(&own, BUFFER, record, sizeof(record), &n_bytes));
    must(bcs_remote_take(&own, BUFFER, record, sizeof(record), &n_bytes));
    must(bcs_channel_receive_word(go, &word));
}

void wait_or_be_late(void)
{
    void (*const roles[])(void) = {wait_for_one, be_one, be_two, wait_for_two};

    must_be(bcs_channels_size() == 4);
    roles[bcs_channels_rank()]();
}

/* ------------------------------------------------------------------ killed */

/** In the helper thread of rank 0. */
static void answer(struct bcs_channel_in *in, void *arg)
{
    const uint64_t word = 1;

    take_word(in, NULL);
    must_be(bcs_channel_try_send(arg, &word, sizeof(word), true));
}

/** For ever: who finds that another one has died waits again. */
static void wait_for_any(void)
{
    struct bcs_remote own = {0};

    must(bcs_region_export(REGION, REGION_BYTES, &own));
    for (;;) {
        bcs_remote_wait(&own, READY, 1);
    }
}

/** The same, for a fetch from the one that waits so. */
static void wait_for_fetch(void)
{
    struct bcs_remote remote = {0};
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {.word = READY, .at_least = 1, .event = &event};

    must(bcs_region_import(2, REGION, &remote));
    must(bcs_remote_fetch(&remote, &fetch));
    for (;;) {
        bcs_remote_wait_event(&event, 1);
    }
}

/** Rank 1 waits to be killed, for which all others wait, when rank 0 has run a handler
 *  meanwhile. */
void be_killed(void)
{
    int rank = bcs_channels_rank();

    if (rank == 0) {
        struct bcs_channel_out *go = writer(1, GO), *answers = writer(1, ANSWERS);
        struct bcs_channel_in *in = reader(1, WORDS);

        must(bcs_channel_wait_out(answers));
        must(bcs_channel_set_helper(reader(1, HANDLED), BCS_CHANNEL_ARRIVAL, answer,
                                    answers));
        must(bcs_channel_send_word(go, 1));
        for (;;) {
            bcs_channel_wait_in(in);
        }
    } else if (rank == 1) {
        struct bcs_channel_out *handled = writer(0, HANDLED);
        struct bcs_channel_in *answers = reader(0, ANSWERS);
        uint64_t word;

        (void)writer(0, WORDS);
        must(bcs_channel_receive_word(reader(0, GO), &word));
        sleep(1); /* so that rank 0 is in its wait, when the handler runs */
        must(bcs_channel_send_word(handled, 1));
        must(bcs_channel_receive_word(answers, &word));
        pause();
    } else if (rank == 2) {
        wait_for_any();
    } else {
        wait_for_fetch();
    }
}

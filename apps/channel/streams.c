/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The streams. The reader adds the words up, and knows what the sum must be.
 */
#include "apps/channel/streams.h"

#include "apps/bench/clock.h"

static void send_words(struct streams *streams, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        streams->is_wrong |= bcs_channel_send_word(streams->out, i) != 0;
    }
}

static void send_many(struct streams *streams, size_t n)
{
    uint64_t words[STREAM_AT_ONCE];
    size_t n_sent;

    for (size_t done = 0; done < n; done += STREAM_AT_ONCE) {
        for (size_t i = 0; i < STREAM_AT_ONCE; i++) {
            words[i] = done + i;
        }
        streams->is_wrong |= bcs_channel_send_many(streams->out, words, STREAM_AT_ONCE,
                                                   sizeof(words[0]), &n_sent) != 0;
    }
}

static uint64_t receive_words(struct streams *streams, size_t n)
{
    uint64_t sum = 0, word = 0;

    for (size_t i = 0; i < n; i++) {
        streams->is_wrong |= bcs_channel_receive_word(streams->in, &word) != 0;
        sum += word;
    }
    return sum;
}

static uint64_t receive_many(struct streams *streams, size_t n)
{
    uint64_t words[STREAM_AT_ONCE], sum = 0;
    size_t n_here;

    for (size_t done = 0; done < n; done += n_here) {
        n_here = bcs_channel_try_receive_many(streams->in, words, STREAM_AT_ONCE,
                                              sizeof(words[0]));
        if (n_here == 0 && bcs_channel_wait_in(streams->in) != 0) {
            streams->is_wrong = true;
            break;
        }
        for (size_t i = 0; i < n_here; i++) {
            sum += words[i];
        }
    }
    return sum;
}

static uint64_t receive_all(struct streams *streams, size_t n)
{
    uint64_t words[STREAM_AT_ONCE], sum = 0;
    size_t n_here;

    for (size_t done = 0; done < n && !streams->is_wrong; done += n_here) {
        streams->is_wrong |=
            bcs_channel_receive_many(streams->in, words, STREAM_AT_ONCE,
                                     sizeof(words[0]), &n_here) != 0;
        for (size_t i = 0; i < n_here; i++) {
            sum += words[i];
        }
    }
    return sum;
}

/** The reader's result. */
static double end(struct streams *streams, uint64_t sum, size_t n, double start)
{
    double seconds = bench_now_seconds() - start;

    streams->is_wrong |= sum != (uint64_t)n * (n - 1) / 2;
    return seconds / (double)n * 1e9;
}

double stream_channel(struct streams *streams, size_t n, enum stream_form form)
{
    double start = bench_now_seconds();

    if (streams->out != NULL) {
        if (form == STREAM_WORDS) {
            send_words(streams, n);
        } else {
            send_many(streams, n);
        }
        return 0;
    }
    return end(streams,
               form == STREAM_WORDS  ? receive_words(streams, n)
               : form == STREAM_MANY ? receive_many(streams, n)
                                     : receive_all(streams, n),
               n, start);
}

double stream_plain(struct streams *streams, size_t n, enum stream_form form)
{
    double start = bench_now_seconds();
    size_t n_at_once = form == STREAM_WORDS ? 1 : STREAM_AT_ONCE;

    if (streams->out != NULL) {
        plain_ring_write(&streams->ring, 0, n, n_at_once);
        return 0;
    }
    return end(streams, plain_ring_read(&streams->ring, n, n_at_once), n, start);
}

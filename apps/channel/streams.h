/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of words from rank 0 to rank 1, through a channel and through a plain ring;
 * word by word, or many at a time. Each is called by both ranks, and measured by rank
 * 1, the reader.
 */
#ifndef CHANNEL_STREAMS_H
#define CHANNEL_STREAMS_H

#include <bcs/channel.h>
#include <stdbool.h>

#include "apps/channel/plain_ring.h"

enum { STREAM_AT_ONCE = 56 };

/** The ends of a rank: one of out and in, and one of the ring. */
struct streams {
    struct bcs_channel_out *out; /* rank 0's; NULL: this is the reader */
    struct bcs_channel_in *in;
    struct plain_ring ring;
    uint64_t n_trips; /* of plain ping-pongs, so far */
    bool is_wrong;    /* a sum was not right, or a call has failed */
};

/** How words are sent and received: one by one; many with a call, as many as are there;
 *  or all of a call, which waits for them. */
enum stream_form { STREAM_WORDS, STREAM_MANY, STREAM_ALL };

/** Send n words through the channel. @return nanoseconds a word, of the reader; else
 *  0 */
double stream_channel(struct streams *streams, size_t n, enum stream_form form);

/** The same through the plain ring, for which STREAM_ALL is as STREAM_MANY. */
double stream_plain(struct streams *streams, size_t n, enum stream_form form);

#endif

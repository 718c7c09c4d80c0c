/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of a job with channels share: the layout of their heaps. Pure;
 * used by every file of this folder. What belongs to remote commands has names that
 * begin with it.
 *
 * A channel is made of two doors and a place. A process that opens an end puts a door
 * into the heap of the process at the other end; there one look tells whether that end
 * is open, and which opening it is. The place is in the heap of the reader: its ring,
 * and the words by which both ends tell each other what they have freed and that they
 * sleep. If the ends are on two machines, the writer has a place, too (far_end.c).
 */
#ifndef LIBBCS_CHANNEL_CHANNEL_WIRE_H
#define LIBBCS_CHANNEL_CHANNEL_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include <bcs/channel.h>
#include <bcs/primitives.h>
#include <bcs/remote.h>

enum { CHANNEL_PROCESSES_MOST = 4096 };
#define CHANNEL_POOL_BYTES                                                             \
    (UINT64_C(256) << 20) /* places of a process's channels, and its regions */

enum channel_side { CHANNEL_OUT, CHANNEL_IN, CHANNEL_N_SIDES };

/** What a process tells of its end of a channel. */
struct channel_door {
    _Alignas(64) uint64_t place_gva; /* in the heap of who tells it; 0: it has none */
    uint64_t n_blocks;               /* of a reader */
    uint32_t record_bytes;
    uint32_t capacity;
    uint64_t thread; /* that has opened it, as the kernel calls it */
    uint64_t unused[2];
    uint64_t closed; /* which opening was closed last; 0: none */
    uint64_t opened; /* last: which opening this is, from 1 on; 0: none yet */
};

/** A place but for its blocks, which follow. Each word has a line of its own: whoever
 *  looks at one often is not disturbed by writes of another. */
struct channel_place {
    _Alignas(64) uint64_t n_freed;       /* blocks; by the reader */
    _Alignas(64) uint32_t reader_sleeps; /* enum channel_sleeper */
    _Alignas(64) uint32_t writer_sleeps;
};

/** What lies before the memory of a region. */
struct remote_head {
    _Alignas(64) uint64_t state; /* BCS_REMOTE_CLOSED, and how many sleep at it */
    _Alignas(64) uint64_t sleepers[CHANNEL_PROCESSES_MOST / 64]; /* a bit for each */
    _Alignas(64) uint64_t n_far; /* of other machines; the owner's service wakes them */
};

/** Commands that a process of another machine asks for; see far_service.c. */
enum remote_far_op {
    REMOTE_FAR_IMPORT,     /* n: serial */
    REMOTE_FAR_RELEASE,    /* n: serial */
    REMOTE_FAR_WRITE,      /* n bytes of data */
    REMOTE_FAR_READ,       /* n bytes, answered in data */
    REMOTE_FAR_SWAP,       /* n: expected; extra: desired; answered in extra */
    REMOTE_FAR_ACCUMULATE, /* n operands in data; extra: operation << 32 | type */
    REMOTE_FAR_APPEND,     /* n bytes of data; extra answered: what must be freed */
    REMOTE_FAR_WAIT,       /* until the word is n; extra: what is told then */
};

enum { REMOTE_FAR_BYTES = 448 };

/** A command, in the heap of who carries it out. What is put of it ends at its end. */
struct remote_far_request {
    _Alignas(64) uint8_t data[REMOTE_FAR_BYTES];
    uint32_t op, number; /* of the region */
    uint64_t serial;     /* which export of that number */
    uint64_t offset, n, extra;
    uint64_t unused[2];
    uint64_t sequence; /* last */
};

/** What has come of it, in the heap of who has asked. */
struct remote_far_answer {
    _Alignas(64) uint8_t data[REMOTE_FAR_BYTES];
    int64_t result;
    uint64_t extra;
    uint64_t unused[5];
    uint64_t sequence; /* last: of the request */
};

/** What a thread of a process waits for, if it has for long; see circle.c. */
struct channel_stand {
    _Alignas(64) uint64_t sequence; /* odd: it waits */
    uint64_t thread;                /* as the kernel calls it */
    uint64_t seen;   /* the sequence of the peer's before it last looked in vain */
    uint64_t opened; /* of its end: which opening it is, */
    uint32_t peer, side, number;
};

/** Whether a process sleeps. */
enum { REMOTE_AWAKE, REMOTE_ASLEEP, REMOTE_RUNG };

/** What a process that sleeps in a remote command waits for. */
struct remote_sleeper {
    _Alignas(64) uint64_t gva; /* of the word; 0: for several things */
    uint64_t at_least;
    uint32_t owner; /* of the word */
    uint32_t state;
};

/* How often a region is imported: which export it is, whether it was taken back, the
 * count. */
#define REMOTE_SERIAL_SHIFT 32
#define REMOTE_TAKEN_BACK (UINT64_C(1) << 31)
#define REMOTE_USERS (REMOTE_TAKEN_BACK - 1)

_Static_assert(sizeof(struct remote_head) % 64 == 0, "whole lines");
_Static_assert(sizeof(struct remote_sleeper) == 64, "one line");
_Static_assert(sizeof(struct remote_far_request) == BCS_XFER_COPIED_BYTES,
               "is copied when it is put");
_Static_assert(offsetof(struct remote_far_request, sequence) == 504, "it is last");
_Static_assert(offsetof(struct remote_far_answer, sequence) == 504, "it is last");
_Static_assert(sizeof(struct remote_far_answer) == BCS_XFER_COPIED_BYTES,
               "is copied when it is put");
_Static_assert(sizeof(struct channel_door) == 64, "one line");
_Static_assert(offsetof(struct channel_door, opened) == 56, "the opening is last");
_Static_assert(sizeof(struct channel_place) == 192, "three lines");

/** Where everything is in every heap. */
struct channel_layout {
    uint64_t heap_bytes;
    uint64_t bell_gva; /* event: something has come that this process sleeps for */
    uint64_t helper_bell_gva; /* event: that its helper thread sleeps for */
    uint64_t pids_gva;        /* [n] uint64_t */
    uint64_t doors_gva;   /* [n][CHANNEL_N_SIDES][BCS_CHANNEL_NUMBERS], by who tells */
    uint64_t sleeper_gva; /* struct remote_sleeper */
    uint64_t left_gva;    /* [n] uint64_t; not 0: that process has left the job */
    uint64_t n_written_gva;    /* at rank 0: how many have left, their files written */
    uint64_t users_gva;        /* [BCS_REGION_NUMBERS] uint64_t, of own regions */
    uint64_t exports_gva;      /* of libbcs/session/exports.h */
    uint64_t stand_gva;        /* struct channel_stand */
    uint64_t service_bell_gva; /* event: a far process has asked for something */
    uint64_t requests_gva;     /* [n] struct remote_far_request, by who asks; of several
                            * machines */
    uint64_t answer_gva;       /* struct remote_far_answer, to what was asked last */
    uint64_t told_gva; /* a wait that is over << 1 | whether its word is there */
    uint64_t pool_gva;
};

/** The door that `who` puts for its end, in the heap of its peer. */
static inline uint64_t channel_door_gva(const struct channel_layout *layout,
                                        uint32_t who, enum channel_side side,
                                        uint32_t number)
{
    uint64_t index =
        ((uint64_t)who * CHANNEL_N_SIDES + side) * BCS_CHANNEL_NUMBERS + number;

    return layout->doors_gva + index * sizeof(struct channel_door);
}

#endif

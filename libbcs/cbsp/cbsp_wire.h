/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of a cBSP job share: the layout of their heaps and of a message.
 * Pure; used by every file of this folder and by the model in tests/unit.
 *
 * A message lies in the receiver's memory, in the buffer that belongs to its sender and
 * its superstep. Messages fill a buffer from higher to lower addresses:
 *
 *   low ... | 0 | data, padded to 8 | trailer | data | trailer |   high
 *                                         key ^          key ^
 *
 * so that the receiver knows, without knowing any length, where the next key will be:
 * right below the data of the last message. A message and the word below it are one
 * block whose last word is the key, so that it is written last (docs/primitives.md):
 * whoever reads the key finds the message, and a word that is no key where the next one
 * will be, whatever lay there before. At the top of a buffer there is always a key: of
 * an earlier superstep, or of an earlier lap (see cbsp_outbox.c), so that it is not
 * mistaken either. Nothing needs to be cleared. [cBSP 5.1]
 *
 * How many sets of buffers (n_sets). A buffer of superstep s is that of s - n_sets,
 * too, so a sender may write there once the receiver has ended s - n_sets
 * (cbsp_may_write). What it knows of that, without asking:
 *   - who has sent a message in superstep u is in u or later;
 *   - when a cBSP_gsync that ends u is over, all have begun to end u. Processes that
 * exchange messages in both directions in every superstep, or in turns, or that use
 * cBSP_gsync, know in superstep s that the other is in s - 1, so two sets would do;
 * what handlers send belongs to s + 1 while the receiver may still be in s - 1: three.
 * But counting alone bounds nothing: a process that only sends never hears of its
 * receivers. So a sender that does not know asks (Compare-And-Write, which the receiver
 * takes no part in), and keeps what must wait with what did not fit. A fourth set lets
 * one question do for three supersteps. tests/unit/cbsp/test_cbsp_sets.c tries all
 * interleavings of small programs: with the rule nothing is overwritten and nobody
 * waits for ever with any number of sets; without it two sets are enough only for the
 * patterns above.
 */
#ifndef LIBBCS_CBSP_CBSP_WIRE_H
#define LIBBCS_CBSP_CBSP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcs/cbsp.h>
#include <bcs/primitives.h>

#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/limits.h"

enum { CBSP_PROCESSES_MOST = 1 << 16 }; /* of a job */

/** What a message is; in the high bits of its size. */
enum cbsp_kind {
    CBSP_MESSAGE,  /* data */
    CBSP_OVERFLOW, /* the buffer is full; more when the receiver says go on */
    CBSP_END,      /* no more in this superstep; after an overflow only */
    CBSP_LARGE,    /* struct cbsp_large: data that are too long for a buffer */
    CBSP_PIECE,    /* of the last large message */
};

#define CBSP_KIND_SHIFT 28
#define CBSP_SIZE_MASK ((UINT32_C(1) << CBSP_KIND_SHIFT) - 1)

/** The end of a message. */
struct cbsp_trailer {
    uint64_t dest;     /* address in the receiver; 0: none */
    uint64_t handler;  /* name, see handler.c; 0: none */
    uint32_t size;     /* kind, and length of the data */
    uint32_t sequence; /* of this sender to this receiver; counts messages and larges */
    uint64_t key;      /* last: it is here */
};

/** Data of a large message's announcement. */
struct cbsp_large {
    uint64_t n_bytes;
    uint64_t address; /* where to read it in the sender; 0: pieces follow */
};

/** The key of a superstep (from 0) and a lap of its buffer (from 0); never 0. */
static inline uint64_t cbsp_key(uint64_t superstep, uint64_t lap)
{
    return (superstep + 1) << 16 | (lap & 0xffff);
}

/** Bytes that data take in a buffer. */
static inline uint64_t cbsp_padded(uint64_t n_bytes)
{
    return bcs_align_up(n_bytes, sizeof(uint64_t));
}

/** Whether a buffer of the superstep may be written to, if the receiver has ended at
 *  least so many supersteps. */
static inline bool cbsp_may_write(uint64_t superstep, uint64_t n_ended, uint64_t n_sets)
{
    return superstep < n_ended + n_sets;
}

/** What waits for what; in a struct cbsp_record. */
enum cbsp_wait { CBSP_IN_NSYNC, CBSP_IN_GSYNC, CBSP_IN_FINALIZE };

/** What a process that has slept in vain says of itself; see stuck.c. */
struct cbsp_record {
    uint64_t superstep;
    uint64_t n_rings; /* of others' bells, by this process */
    uint64_t n_heard; /* of its own bell, before it last looked for something to do */
    uint32_t wait;    /* enum cbsp_wait */
    int32_t wanted;   /* messages; of nsync */
    int64_t n_taken;  /* messages of this superstep */
    int64_t n_queued; /* messages of this superstep that nobody has taken from it */
    uint64_t unused;
    uint64_t state; /* last; odd: the rest is valid, and the process waits */
};

/** What one process tells this one. */
struct cbsp_from {
    _Alignas(64) uint64_t go_on; /* key of the lap that may be written now */
    uint64_t n_read;             /* large messages that it has read in our memory */
    uint64_t wanted; /* it waits until we have ended so many supersteps; rings wants */
    uint64_t n_sent; /* messages to us, in all; at the end only */
    uint64_t pid;
    uint64_t n_asked; /* parts of large messages that it may not read: wants so many, */
    uint64_t n_staged; /* and so many are or were in its stage buffer here */
    _Alignas(64) struct cbsp_record record;
};

_Static_assert(sizeof(struct cbsp_trailer) == 32, "a small message is one cache line");
_Static_assert(offsetof(struct cbsp_trailer, key) == 24, "the key is last");
_Static_assert(sizeof(struct cbsp_record) == 64, "one line");
_Static_assert(offsetof(struct cbsp_record, state) == 56, "the state is last");
_Static_assert(sizeof(struct cbsp_from) == 128, "two lines");

/** Where everything is in every heap. */
struct cbsp_layout {
    uint32_t n_sets;     /* of buffers; a power of two */
    uint32_t n_children; /* of a process, in the tree of cBSP_gsync */
    uint64_t heap_bytes;
    uint64_t bell_gva;        /* event: something has been put here */
    uint64_t wants_gva;       /* event: somebody wants to be told how far we are */
    uint64_t revocations_gva; /* event: regions have been taken back */
    uint64_t sent_gva;        /* event: the source of a long put may be used again */
    uint64_t progress_gva;    /* supersteps that the process has ended */
    uint64_t verdict_gva;     /* 0, or the errno that has ended the job */
    uint64_t reporter_gva;    /* 1: a process says that none can go on */
    uint64_t up_gva;      /* [n_children] words of cbsp_barrier.c, each of a child */
    uint64_t down_gva;    /* word of cbsp_barrier.c, of the parent */
    uint64_t from_gva;    /* [n] struct cbsp_from */
    uint64_t exports_gva; /* of libbcs/session/exports.h */
    uint64_t buffers_gva; /* [n][n_sets], of stride_bytes */
    uint64_t stage_gva;   /* [n] stage buffers of buffer_bytes, by sender */
    uint64_t buffer_bytes;
    uint64_t stride_bytes;
};

/** Compute the layout for so many processes. @return 0, or -E2BIG: too many */
int cbsp_layout_init(struct cbsp_layout *layout_out, uint32_t n_procs,
                     const struct bcs_limits *limits);

/** The end of the buffer of a sender and a superstep, above its first key. */
static inline uint64_t cbsp_buffer_top(const struct cbsp_layout *layout,
                                       uint32_t sender, uint64_t superstep)
{
    uint64_t index =
        (uint64_t)sender * layout->n_sets + (superstep & (layout->n_sets - 1));

    return layout->buffers_gva + index * layout->stride_bytes + layout->buffer_bytes;
}

/** The stage buffer of a sender. */
static inline uint64_t cbsp_stage_gva(const struct cbsp_layout *layout, uint32_t sender)
{
    return layout->stage_gva + sender * layout->buffer_bytes;
}

/** What a process tells, in the heap of whom it tells it. */
static inline uint64_t cbsp_from_gva(const struct cbsp_layout *layout, uint32_t who)
{
    return layout->from_gva + who * sizeof(struct cbsp_from);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two records that a process and its node's NIC engine exchange: the descriptor
 * (process to engine, in the port's ring) and the completion cell (engine to process,
 * in the port's cell table). Both live in NIC memory, mapped by all processes of a
 * machine, so that they hold numbers only, no pointers except user addresses, which
 * mean something in the process that posted them. [BCS-MPI sections 4.2 and 4.3]
 */
#ifndef LIBBCS_FABRIC_RING_DESCRIPTOR_H
#define LIBBCS_FABRIC_RING_DESCRIPTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/limits.h"

enum {
    BCS_INLINE_BYTES = 80,  /* payload that travels within a descriptor, */
    BCS_STAMPED_BYTES = 64, /* and before its stamp, if it has one */
};

#define BCS_CELL_NONE UINT32_MAX

/* A send without a cell has a mark in its place, which tells it from all others of its
 * sender that are under way to the same port: its position in its ring, with this bit
 * (bcs_ring_mark). */
#define BCS_CELL_MARK (UINT32_C(1) << 31)

/** Whether it is the number of a cell; not a mark, nor BCS_CELL_NONE. */
static inline bool bcs_is_cell(uint32_t cell)
{
    return cell < BCS_CELL_MARK;
}

/** What a descriptor asks for. */
enum bcs_descriptor_kind {
    BCS_SEND = 1,
    BCS_RECEIVE,
    BCS_PROBE,        /* waits for a message */
    BCS_CLAIM,        /* take the message .address, an item, out of the queue */
    BCS_CANCEL,       /* take back the receive posted before whose cell is .cell */
    BCS_CHUNK_MOVED,  /* the granted part of transfer .chunk.item has been copied */
    BCS_CHUNK_LOADED, /* .chunk of a send is in the sender's block .address */
    BCS_CHUNK_STORED, /* the receiver has emptied .chunk and freed its block */
    BCS_COPY_REFUSED, /* transfer in cell .cell of .port: direct copies are refused */
    BCS_GROUP_OPEN,   /* a local member enters collective slot .port */
    BCS_COLLECTIVE,   /* a local member of slot .port takes part in a collective */
    BCS_NOTHING,      /* a send that was taken back before anybody had read it */
};

/** Bits of bcs_descriptor.flags. */
enum {
    BCS_DATA_INLINE = 1, /* payload is in the descriptor */
    BCS_DATA_BLOCK = 2,  /* payload is in the eager block at .address; receive: a long
                            message had better come through blocks, if BCS_STAYING */
    BCS_SYNCHRONOUS = 4, /* complete the sender's cell at the match */
    BCS_TAKE = 8,        /* probe: take the message out of the queue (matched probe) */
    BCS_STAMPED =
        8, /* send: .stamp tells when it was posted (libbcs/fabric/base/stamp.h) */
    BCS_TO_ALL = 16,   /* reduction: every member gets the result */
    BCS_STAYING = 16,  /* send, receive: its call does not end before it is done */
    BCS_WAITING = 32,  /* send: and does nothing else, so that it copies one half */
    BCS_LAID_OUT = 64, /* the bytes at .address have gaps that only the poster knows */
    BCS_LANDED = 128,  /* the block at .address is on the receiver's node */
};

/** Which collective a BCS_COLLECTIVE descriptor takes part in; in .operation. */
enum bcs_collective_kind {
    BCS_COLLECTIVE_BARRIER,
    BCS_COLLECTIVE_BCAST,
    BCS_COLLECTIVE_REDUCE,
    /* Reductions, of vectors that are zero but for what their member brings. */
    BCS_COLLECTIVE_ALLGATHER,
    BCS_COLLECTIVE_ALLTOALL, /* never posted: near members only */
    BCS_COLLECTIVE_KINDS
};

/** .operation of a collective: its kind, and the kernel of a reduction
 *  (nic_threads/rules/reduce_ops.h); else 0. */
static inline uint16_t bcs_operation(enum bcs_collective_kind kind, unsigned int kernel)
{
    return (uint16_t)(kind + kernel * BCS_COLLECTIVE_KINDS);
}

static inline enum bcs_collective_kind bcs_operation_kind(uint16_t operation)
{
    return (enum bcs_collective_kind)(operation % BCS_COLLECTIVE_KINDS);
}

static inline unsigned int bcs_operation_kernel(uint16_t operation)
{
    return operation / BCS_COLLECTIVE_KINDS;
}

/** A part of a long message that goes through blocks (no direct copy possible). */
struct bcs_chunk {
    uint64_t offset; /* in the message */
    uint64_t n_bytes;
    uint64_t block; /* where it is to go, or is, on the receiver's node: a _gva */
    uint32_t item;  /* the transfer, on the receiver's node */
    uint32_t port;  /* of the receiver, number in the job */
    uint32_t is_last;
};

/**
 * One posted call. turn publishes it: the ring's consumer reads the entry at position p
 * once turn == p + 1 (acquire), which the producer stores last (release).
 */
struct bcs_descriptor {
    _Atomic uint32_t turn;
    uint8_t kind;
    uint8_t flags;
    uint16_t operation; /* collective: see bcs_operation */
    uint64_t context_id;
    uint32_t port;  /* send: destination; collective: slot */
    int32_t source; /* send, collective: poster's rank; receive: rank or -1 */
    int32_t tag;    /* receive: or -1; collective: root rank, or -1 */
    uint32_t cell;  /* completion cell of the poster, or none: see BCS_CELL_MARK */
    uint64_t n_bytes;
    uint64_t address; /* user address, or _gva of an eager block on the poster's node;
                      matched receive: item of the message; collective: its stamp */
    union {
        uint8_t payload[BCS_INLINE_BYTES];
        struct bcs_chunk chunk; /* control descriptors */
        /* Where the job has stamps: of sends, receives, and what engines tell of
         * them. */
        struct {
            uint8_t before_stamp[BCS_STAMPED_BYTES];
            uint64_t stamp;
        };
    };
};

_Static_assert(sizeof(struct bcs_descriptor) == 2 * BCS_CACHE_LINE, "two cache lines");
_Static_assert(offsetof(struct bcs_descriptor, payload) == 48,
               "16 B in the first line");

/** Low byte of a cell's state word; the rest is the cell's generation. */
enum bcs_cell_state {
    BCS_CELL_PENDING = 1,
    BCS_CELL_DONE,     /* nothing to fetch: n_bytes, source and tag are the result */
    BCS_CELL_INLINE,   /* fetch the payload of the cell */
    BCS_CELL_STAMPED,  /* the same, and see .stamp */
    BCS_CELL_BLOCK,    /* fetch from the eager block at .address, then free it */
    BCS_CELL_TRANSFER, /* receiver: pull from the sender's memory, see .transfer */
    BCS_CELL_HELD,     /* the same, while the background thread copies, too */
    BCS_CELL_AWAITED,  /* the same, and the owner waits for that thread to leave */
    BCS_CELL_CLOSING,  /* receiver: all is copied; the sender may still be in here */
    BCS_CELL_SOURCE,   /* sender: may push into the receiver's memory, or load pieces */
    BCS_CELL_JOINED,   /* sender: is pushing or loading */
    BCS_CELL_LOAD,     /* sender: copy .n_bytes at offset .address into a block */
    BCS_CELL_STORE,    /* receiver: copy a chunk out of a block */
    BCS_CELL_REFUSED,  /* collective: the members do not mean the same */
    BCS_CELL_CANCELLED,
};

enum { BCS_CELL_STATE_BITS = 8, BCS_CELL_STATE_MASK = 0xff };

/**
 * A long message between two processes of a node, which the endpoints copy: in one go
 * from user memory to user memory, or streamed, through blocks. It lives in the
 * receiver's cell; see nic_threads/roles/dma_helper.c and libbcs/api/message/transfer.c
 * for the protocol.
 */
struct bcs_transfer {
    _Atomic uint64_t granted;     /* bytes that slices have scheduled so far */
    _Atomic uint64_t claimed;     /* bytes that an endpoint has begun to copy */
    _Atomic uint64_t moved;       /* bytes copied */
    _Atomic uint32_t sender_left; /* the sender has seen the end and left */
    uint32_t item;                /* the engine's name for this transfer */
    uint64_t n_wanted;            /* bytes that fit the receive buffer */
    uint64_t target;              /* receive buffer, address in the receiver */
    _Atomic uint32_t is_refused; /* who claimed a piece may not copy; none is claimed */
    uint32_t began;              /* bcs_transfer_now, if both ends stay; else 0 */
    /* bytes before the granted chunk; relaxed: who claims of an older one than it read
     * finds that out by `claimed` */
    _Atomic uint64_t chunk_begin;
    uint64_t stamp;       /* as of the cell */
    uint32_t n_stored;    /* streamed: pieces that the receiver has taken */
    uint16_t is_shared;   /* the sender waits, so that both are going to copy */
    uint16_t is_streamed; /* see struct bcs_stream */
};

enum { BCS_TRANSFER_TICKS_SHIFT = 4 }; /* so that a word has some ten seconds */

/** The time for bcs_transfer.began: in units of 2^BCS_TRANSFER_TICKS_SHIFT ticks, never
 *  0. */
static inline uint32_t bcs_transfer_now(void)
{
    return (uint32_t)(bcs_clock_ticks() >> BCS_TRANSFER_TICKS_SHIFT) | 1;
}

/** The pieces of a streamed transfer that the sender has loaded into blocks of its own
 *  and the receiver has not stored yet. It lives in the sender's cell. */
struct bcs_stream {
    struct {
        _Atomic uint64_t block; /* 0: there is room for a piece */
        uint64_t n_bytes;
    } pieces[BCS_STREAM_PIECES_MOST]; /* piece i in entry i % limits.stream_pieces */
    uint64_t stamp;                   /* as of the cell */
    uint32_t n_loaded;                /* pieces so far */
};

/**
 * Completion of one pending operation. The engine fills the fields and then stores
 * state (release); the process that owns the cell reads state (acquire) and then the
 * fields. A process sets its own cell to BCS_CELL_PENDING before it posts the
 * descriptor.
 */
struct bcs_cell {
    _Atomic uint32_t state; /* bcs_cell_state | generation << BCS_CELL_STATE_BITS */
    int32_t source;
    int32_t tag;
    uint32_t peer_port;
    uint32_t peer_cell;
    uint32_t peer_generation; /* of the sender's cell, for a transfer */
    uint64_t n_bytes;         /* of the whole message, also when it does not fit */
    uint64_t address;         /* block, or the sender's user address; collective: the
                                 latest stamp of its members */
    union {
        uint8_t payload[BCS_INLINE_BYTES];
        struct bcs_transfer transfer;
        struct bcs_stream stream;
        struct bcs_chunk chunk;
        /* Where the job has stamps, of what was matched: a receive gets that of its
         * send, a send that of its receive, a probe that of what it has found. Written
         * before the state. */
        struct {
            uint8_t before_stamp[BCS_STAMPED_BYTES];
            uint64_t stamp;
        };
    };
    union {
        /* With timed strobes, from the completion to the next strobe; the engine's
         * own. */
        struct {
            uint32_t next_deferred;
            uint32_t deferred_state;
        };
        /* On demand: link of a list of opened transfers
         * (nic_threads/node/open_transfers.h). */
        _Atomic uint64_t next_opened;
    };
};

_Static_assert(sizeof(struct bcs_cell) == 2 * BCS_CACHE_LINE, "two cache lines");
_Static_assert(offsetof(struct bcs_cell, payload) == 40, "24 B in the first line");
_Static_assert(offsetof(struct bcs_cell, transfer.stamp) ==
                       offsetof(struct bcs_cell, stamp) &&
                   offsetof(struct bcs_cell, stream.stamp) ==
                       offsetof(struct bcs_cell, stamp),
               "whatever is in a cell, its stamp is in one place");
_Static_assert(offsetof(struct bcs_descriptor, stamp) + sizeof(uint64_t) <=
                   sizeof(struct bcs_descriptor) - sizeof(uint64_t),
               "an entry that is put has its flag behind the stamp");
_Static_assert(sizeof(struct bcs_stream) <= BCS_INLINE_BYTES &&
                   sizeof(struct bcs_transfer) <= BCS_INLINE_BYTES,
               "fit a cell");

#endif

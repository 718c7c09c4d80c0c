/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a process stands: what each of its threads that has waited for a while waits
 * for, in a table of the node's heap (nic_layout.stands), so that whoever maps the heap
 * can tell who waits for whom, in another process, too. The process writes its own
 * port's element only (libbcs/api/record/stand_tell.c, by the thread that waits, under
 * the lock of the context if there are several); anybody reads.
 *
 * A record is whole or it is not there. Each has a sequence, even while it is at rest:
 * the writer makes it odd, then writes, then makes it even and two more than before.
 * The record is words that are written and read one by one, relaxed: so there is no
 * race, and the sequence alone says whether they belong together.
 *
 * - Writer: store odd (relaxed); fence, release; the words, relaxed; store even,
 * release.
 * - Reader: load the sequence, acquire; the words, relaxed; fence, acquire; load the
 *   sequence again, relaxed. Equal and even: the words are those of that sequence.
 *
 * If the reader has got a word that a writer stored after its release fence, the
 * reader's acquire fence orders its second load behind the writer's odd sequence, and
 * it differs from the first. If its first load got an even sequence, it has all words
 * that were stored before. Whoever is killed while it writes leaves an odd sequence:
 * the reader finds nothing, after some tries.
 *
 * Two readings with the same sequence have the same wait: it has not ended in between,
 * as a sequence only grows, and what was withdrawn or changed has another one.
 *
 * Pages. A wait may be about any number of operations, a record has room for some. The
 * sets of ranks, and what the record says of the whole wait, always hold for all of its
 * operations. The operations themselves are numbered, in the order in which the wait
 * lists them, and the record has one page of them at a time: the first one, or that
 * which who asks has named. So no memory is needed for the others, and a rank that is
 * not asked writes what it always wrote. To turn a page is no change of the wait: it
 * adds to the high part of the sequence, and bcs_stand_wait_of leaves that out. Two
 * readings with the same number of the wait have pages of one list. For an operation
 * that is over is listed no more, which changes how many there are; and whoever posts
 * another one touches the record before.
 *
 * A wait that ends when all are over lists, beyond the first page, only the first
 * operation of each partner: to know of one of them is enough. A wait for one of them
 * lists all.
 *
 * Who wants to know whether what is told is still so asks: it raises `asked` (seq_cst),
 * which has the page in its lower bits, and wakes who sleeps. Each thread that waits
 * and has told finds out anew what it waits for, writes its record if that is not what
 * stands there, and then stores what it was asked in `answered` (release, partner of
 * the acquire of who has asked). So what stands in a record with that answer was found
 * out after the question. What a verdict makes of it is told in docs/referee.md.
 */
#ifndef LIBBCS_FABRIC_RING_STAND_H
#define LIBBCS_FABRIC_RING_STAND_H

#include <bcs/primitives.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbcs/fabric/base/agents.h"
#include "libbcs/fabric/ring/descriptor.h"

enum {
    BCS_STAND_THREADS = 4, /* of a process that are told apart */
    BCS_STAND_POLLS =
        BCS_STAND_THREADS, /* slot of a process that polls: since_ns is its last
                                 look */
    BCS_STAND_SLOTS,
    BCS_STAND_OPERATIONS = 128, /* of a wait that are told one by one, in a page */
    BCS_STAND_PLANS = 16, /* collectives of a process that go on by themselves, told as
                             well, in a page */
    BCS_STAND_PAGE_BITS = 24, /* of a question, the lowest */
    BCS_STAND_TURN_BITS = 40, /* of a sequence, below what counts pages that turn */
    BCS_STAND_CALL_BYTES = 40,
    BCS_STAND_METHOD_BYTES = 32,
    BCS_STAND_COLLECTIVE_BYTES = 24,
    BCS_STAND_REDUCTION_BYTES = 32,
    BCS_STAND_COMM_BYTES = 64,
    BCS_STAND_NUMBER_BITS =
        11, /* of the tag of a collective's message: its number, the lowest */
    BCS_STAND_FILE_BYTES = 240,
    BCS_STAND_FRAMES = 3, /* of the program that are told: a call's, and its callers' */
    BCS_STAND_LINES_BYTES = 256,
    BCS_STAND_PARTS = 2, /* of a slot that a record is written in */
    BCS_STAND_SETS = 3,  /* of ranks, behind a record */
};

/** What an operation is. */
enum bcs_stand_kind {
    BCS_STAND_SEND,
    BCS_STAND_RECEIVE,
    BCS_STAND_PROBE,
    BCS_STAND_COLLECTIVE,
    BCS_STAND_FOREIGN, /* the MPI library carries it: whoever waits for it may be
                          released by what nobody here knows of */
    BCS_STAND_OTHER,   /* something of the library's own; as foreign */
    BCS_STAND_KINDS
};

/** The sets of ranks of a record. */
enum bcs_stand_set {
    BCS_STAND_RELEASING, /* those that some pending operation could be released by */
    BCS_STAND_PARTNERS,  /* those that a pending send, receive or probe names */
    BCS_STAND_NEEDED,    /* those that `plans` need */
};

/** One operation that a wait is about. */
struct bcs_stand_operation {
    uint64_t context_id; /* as in its descriptor; that of a communicator is even */
    uint64_t n_bytes;
    int32_t peer;  /* rank in the job; -1: any of the communicator, or several */
    int32_t tag;   /* -1: any, or none */
    uint32_t cell; /* of this port, completed when it is over; or BCS_CELL_NONE */
    uint8_t kind;  /* enum bcs_stand_kind */
    uint8_t reserved[3];
};

/** A bit of the context ids of communicators that the program does not see: a library
 *  has made them for its own messages (mpi_shim/comm/comm_agree.h). */
#define BCS_CONTEXT_HIDDEN (UINT64_C(1) << 62)

/** A frame of the program. */
struct bcs_stand_frame {
    uint64_t address; /* where it goes on; 0: there is none */
    uint64_t base;    /* where the file of that address was loaded */
};

/** What a thread waits for. Texts end with a zero. */
struct bcs_stand {
    uint64_t since_ns; /* CLOCK_MONOTONIC; it has waited so long at least */
    /* Of the first operation: */
    uint64_t context_id; /* its communicator, */
    uint64_t number; /* of a collective, the how manyth of its way there; 0: unknown */
    int32_t comm_rank, comm_size;
    uint32_t slot;         /* collective slot of the communicator */
    uint32_t thread;       /* as the kernel calls it */
    uint32_t n_operations; /* that are pending */
    uint8_t is_waiting;    /* 0: the record is empty */
    uint8_t needs_all;     /* the wait ends when all are over; 0: when one is */
    /* Something of this process goes on by itself while it waits, and may send, that is
     * not among the n_plans. */
    uint8_t has_others;
    uint8_t agent; /* enum bcs_agent_kind: what else of this process could act, when it
                      was last asked; else BCS_AGENT_NONE */
    char call[BCS_STAND_CALL_BYTES]; /* "MPI_Waitall"; "": unknown */
    /* What the program has called, if call is one of several within it that it does not
     * see: "comm.allreduce"; else "" */
    char method[BCS_STAND_METHOD_BYTES];
    char collective[BCS_STAND_COLLECTIVE_BYTES];
    char reduction
        [BCS_STAND_REDUCTION_BYTES]; /* of one: "sum of int32"; "": none, or unknown */
    char comm[BCS_STAND_COMM_BYTES]; /* name of the communicator; "": none known */
    /* of the program in this process that may be in MPI at once, this one too, but for
     * those that sleep until others of them wake them; 0: unknown */
    uint32_t n_threads;
    uint32_t n_plans;     /* collectives that go on by themselves */
    int32_t root;         /* of a collective; -1: it has none, or it is not known */
    uint32_t is_threaded; /* several threads of this process may be in MPI at once */
    char agent_words[BCS_AGENT_BYTES]; /* see struct bcs_agent */
    /* Where in the program it is: the frame that has called first, then its callers.
     * Behind them `lines`, of frames of an interpreter, as "step, run.py:7", each on a
     * line; "": there are none. Both together BCS_STAND_FRAMES at most. */
    struct bcs_stand_frame frames[BCS_STAND_FRAMES];
    char lines[BCS_STAND_LINES_BYTES];
    uint32_t n_listed;   /* of the operations, on all pages */
    uint8_t has_any;     /* one of them is a receive or probe that names nobody */
    uint8_t has_unknown; /* one is neither a send nor a receive nor a probe */
    uint8_t reserved[2];
    /* The page: the numbers of the first ones below. What follows is another one on
     * another page. */
    uint32_t first, first_plan;
    /* Of each collective that does not block a message that it needs before it goes
     * on. */
    struct bcs_stand_operation plans[BCS_STAND_PLANS];
    struct bcs_stand_operation operations[BCS_STAND_OPERATIONS];
};

_Static_assert(sizeof(struct bcs_stand_operation) == 32, "no gaps");
_Static_assert(offsetof(struct bcs_stand, plans) == 672, "no gaps");
_Static_assert(sizeof(struct bcs_stand) % sizeof(uint64_t) == 0, "whole words");

/** A thread's record as it stands in memory: the words of a struct bcs_stand, and then
 *  its sets, each with a bit for each rank of the job. */
struct bcs_stand_slot {
    _Atomic uint64_t sequence;
    _Atomic uint64_t answered; /* the last question that it has answered */
    _Atomic uint64_t words[];
};

/** A port's element of the table: this, then BCS_STAND_SLOTS slots. */
struct bcs_stands {
    /* By who asks: the last question; its lowest bits are the page. */
    _Alignas(BCS_CACHE_LINE) _Atomic uint64_t asked;
};

/** The files that the frames of a record are in; "": not known. */
struct bcs_stand_files {
    char paths[BCS_STAND_FRAMES][BCS_STAND_FILE_BYTES];
};

/** What is known of a port of another machine: this, then a struct bcs_stands with its
 *  slots, which are a copy of those in its own heap. See docs/referee.md. */
struct bcs_far_stand {
    _Alignas(BCS_CACHE_LINE) uint64_t pid; /* 0: it has told nothing yet */
    struct bcs_stand_files files[BCS_STAND_THREADS];
};

/** What the program has called; "": unknown. */
static inline const char *bcs_stand_called(const struct bcs_stand *stand)
{
    return *stand->method != '\0' ? stand->method : stand->call;
}

/** How many of n stand on a page that begins with one of them and has some room. */
static inline uint32_t bcs_stand_n_on_page(uint32_t n, uint32_t first, uint32_t room)
{
    return first >= n ? 0 : n - first < room ? n - first : room;
}

/** How many of the operations of a record are below. */
static inline uint32_t bcs_stand_n_listed(const struct bcs_stand *stand)
{
    return bcs_stand_n_on_page(stand->n_listed, stand->first, BCS_STAND_OPERATIONS);
}

/** How many of its plans are below. */
static inline uint32_t bcs_stand_n_plans(const struct bcs_stand *stand)
{
    return bcs_stand_n_on_page(stand->n_plans, stand->first_plan, BCS_STAND_PLANS);
}

/** How many pages a record has. */
uint32_t bcs_stand_n_pages(const struct bcs_stand *stand);

/** The number of a wait, by the sequence of its record, whatever page that has. */
static inline uint64_t bcs_stand_wait_of(uint64_t sequence)
{
    return sequence & ((UINT64_C(1) << BCS_STAND_TURN_BITS) - 1);
}

/** Words of the bits of all ranks. */
static inline size_t bcs_stand_rank_words(uint32_t n_ranks)
{
    return (n_ranks + 63) / 64;
}

/** Words of a record, as it is kept outside of the table, too. */
static inline size_t bcs_stand_words(uint32_t n_ranks)
{
    return sizeof(struct bcs_stand) / sizeof(uint64_t) +
           BCS_STAND_SETS * bcs_stand_rank_words(n_ranks);
}

/** Where the record of one of a port's threads begins, from its struct bcs_stands
 *  on. */
static inline size_t bcs_stand_slot_offset(uint32_t thread, uint32_t n_ranks)
{
    size_t n_slot_bytes =
        sizeof(struct bcs_stand_slot) + bcs_stand_words(n_ranks) * sizeof(uint64_t);

    return sizeof(struct bcs_stands) + thread * n_slot_bytes;
}

/** Bytes of an element of the table. */
static inline size_t bcs_stands_bytes(uint32_t n_ranks)
{
    return (bcs_stand_slot_offset(BCS_STAND_SLOTS, n_ranks) + BCS_CACHE_LINE - 1) /
           BCS_CACHE_LINE * BCS_CACHE_LINE;
}

/** Bytes of what is known of a port of another machine. */
static inline size_t bcs_far_stand_bytes(uint32_t n_ranks)
{
    return sizeof(struct bcs_far_stand) + bcs_stands_bytes(n_ranks);
}

/** Where such a port stands. */
static inline struct bcs_stands *bcs_far_stands(struct bcs_far_stand *far_stand)
{
    return (struct bcs_stands *)(far_stand + 1);
}

/** The record of one of a port's threads. */
static inline struct bcs_stand_slot *
bcs_stand_slot_at(struct bcs_stands *stands, uint32_t thread, uint32_t n_ranks)
{
    return (void *)((char *)stands + bcs_stand_slot_offset(thread, n_ranks));
}

/** A set of a record that stands in bcs_stand_words words. */
static inline const uint64_t *bcs_stand_set(const struct bcs_stand *stand,
                                            enum bcs_stand_set set, uint32_t n_ranks)
{
    return (const uint64_t *)(const void *)(stand + 1) +
           set * bcs_stand_rank_words(n_ranks);
}

/** Whether a rank is among those that could release the wait. */
static inline bool bcs_stand_has(const struct bcs_stand *stand, uint32_t rank)
{
    return bcs_stand_set(stand, BCS_STAND_RELEASING, 0)[rank / 64] >> rank % 64 & 1;
}

/** Add a rank to a set of a record that is being made. */
void bcs_stand_mark(struct bcs_stand *stand, enum bcs_stand_set set, uint32_t rank,
                    uint32_t n_ranks);

/** Add an operation to those that are pending, with its partner to those that are
 *  named. It is listed if it is one of the first BCS_STAND_OPERATIONS, or the wait is
 *  for one of them, or nothing that is listed has its partner. A record that does not
 *  come to the page has the first one. */
void bcs_stand_list(struct bcs_stand *stand, uint32_t n_ranks, uint32_t page,
                    const struct bcs_stand_operation *operation);

/** Add what a collective needs that goes on by itself, a message of some rank. */
void bcs_stand_list_plan(struct bcs_stand *stand, uint32_t n_ranks, uint32_t page,
                         const struct bcs_stand_operation *operation);

/** Whether two records say the same, but have other pages. */
bool bcs_stand_is_turned(const struct bcs_stand *stand, const struct bcs_stand *other,
                         uint32_t n_ranks);

/** Words of a slot: from one to before another one. */
struct bcs_stand_part {
    size_t begin, end;
};

/** The words of a slot that a record takes. @param stand  NULL: the thread waits no
 *  more; then it is one word, 0
 *  @return how many parts there are */
uint32_t bcs_stand_parts(const struct bcs_stand *stand, uint32_t n_ranks,
                         struct bcs_stand_part parts_out[BCS_STAND_PARTS]);

/**
 * Write a record. One writer at a time for each slot. Of its operations those are
 * written that are on its page, and the first one in any case.
 *
 * @param stand  bcs_stand_words(n_ranks) words; NULL: the thread waits no more
 */
void bcs_stand_write(struct bcs_stand_slot *slot, const struct bcs_stand *stand,
                     uint32_t n_ranks);

/** Write a record of which bcs_stand_is_turned with that which stands there. */
void bcs_stand_turn(struct bcs_stand_slot *slot, const struct bcs_stand *stand,
                    uint32_t n_ranks);

/** The wait of a record goes on, but what it says may be no longer so: two readings
 *  around this have different sequences. By its writer, before it posts anything else.
 */
void bcs_stand_touch(struct bcs_stand_slot *slot);

/** What bcs_stand_read returns besides 0. */
enum {
    BCS_STAND_E_NONE = 1, /* the thread does not wait, or not for long */
    BCS_STAND_E_BUSY,     /* it was being written, or its writer has died there */
};

/**
 * Read a record. Any process that maps the heap. What comes of it may be anything if
 * the memory is somebody else's; but texts end. Operations behind those of its page
 * keep what they were, but for the first one.
 *
 * @param stand_out     [bcs_stand_words(n_ranks) words]
 * @param sequence_out equal at two readings: the same wait, which has not ended in
 * between
 * @return 0, BCS_STAND_E_NONE (then *sequence_out is set, too) or BCS_STAND_E_BUSY
 */
int bcs_stand_read(const struct bcs_stand_slot *slot, uint32_t n_ranks,
                   struct bcs_stand *stand_out, uint64_t *sequence_out);

#endif

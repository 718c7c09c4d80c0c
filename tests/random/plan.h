/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan of a random program: a list of operations, and for each rank the acts by
 * which it takes part in them. Every rank makes the same plan from the same seed and
 * reads from it what each of its calls must give. Nothing here calls MPI.
 *
 * Why no plan deadlocks: every act has a position, and a rank goes through its acts in
 * the order of their positions. An act may only wait for acts of others at its own
 * position or before, and between acts a rank only waits for requests whose partners
 * have earlier positions (act.ready). So of all ranks that wait, the one at the lowest
 * position can go on. Positions are jittered where an act waits for nobody.
 *
 * What a receive gets (plan_match.c): with a named source, the pairs of sends and
 * receives follow from the orders in which both sides post. What any source may send is
 * kept apart, by a tag or a communicator of its own, and the order for each sender is
 * checked.
 */
#ifndef TESTS_RANDOM_PLAN_H
#define TESTS_RANDOM_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/random/draw.h"

enum {
    MAX_RANKS = 16,
    MAX_OPS = 400,
    MAX_COMMS = 48,
    MAX_GROUPS = 100,
    COMM_ALL = 0,      /* all ranks of the program */
    COMM_STREAM = 1,   /* a duplicate; its messages are taken by any source, any tag */
    TAGS = 4,          /* messages with named sources use tags 0 to TAGS - 1 */
    TAG_SINGLE = 1000, /* + act number: a message that one certain receive takes */
    TAG_NEVER = 30000, /* nobody sends it */
    N_REDUCTIONS = 19,
};

enum base {
    BASE_BYTE,
    BASE_SHORT,
    BASE_INT,
    BASE_LONG,
    BASE_DOUBLE,
    BASE_RECORD,
    N_BASES
};

/** Elements of one kind; their bytes are those of check_fill with the key. */
struct message {
    int from; /* ranks of the program */
    int to;
    enum base base;
    int n;
    int tag; /* it is sent with */
    uint64_t key;
};

enum op_kind {
    OP_MESSAGES,
    OP_FLOOD,
    OP_READY,
    OP_EXCHANGE,
    OP_CANCEL_LATE,
    OP_CANCEL_UNMATCHED,
    OP_CANCEL_RACE,
    OP_CANCEL_SEND,
    OP_GROUP,
    OP_STREAM,
    OP_TRUNCATE,
    OP_NOBODY,
    OP_BAD_CALL,
    OP_COLLECTIVE,
    OP_MAKE,
    OP_FREE,
    N_OP_KINDS
};

enum collective_kind {
    C_BARRIER,
    C_BCAST,
    C_GATHER,
    C_GATHERV,
    C_SCATTER,
    C_SCATTERV,
    C_ALLGATHER,
    C_ALLGATHERV,
    C_ALLTOALL,
    C_ALLTOALLV,
    C_ALLTOALLW,
    C_REDUCE,
    C_ALLREDUCE,
    C_REDUCE_SCATTER,
    C_REDUCE_SCATTER_BLOCK,
    C_SCAN,
    C_EXSCAN,
    C_NEIGHBOR_ALLGATHER,
    C_NEIGHBOR_ALLGATHERV,
    C_NEIGHBOR_ALLTOALL,
    C_NEIGHBOR_ALLTOALLV,
    C_NEIGHBOR_ALLTOALLW,
    N_COLLECTIVES,
    C_FIRST_NEIGHBOR = C_NEIGHBOR_ALLGATHER,
};

/** What all members of a collective agree on. */
struct collective {
    enum collective_kind kind;
    bool is_blocking;
    bool is_in_place;
    int root;       /* rank in the communicator, or in side root_side of two */
    int root_side;  /* intercommunicators: 0 or 1 */
    enum base base; /* of data that are moved */
    int n;          /* elements of a block, at most; of operands */
    int unit;       /* blocks are multiples of this */
    int reduction;  /* index of the table of reductions */
    uint64_t key;
};

enum make_kind {
    MAKE_DUP,
    MAKE_IDUP,
    MAKE_SPLIT,
    MAKE_CREATE,
    MAKE_CREATE_GROUP,
    MAKE_CART,
    MAKE_GRAPH,
    MAKE_DIST_GRAPH,
    MAKE_INTER,
    MAKE_MERGE,
    N_MAKE_KINDS
};

struct op {
    enum op_kind kind;
    bool is_kept;
    int comm;
    struct collective collective;
    enum make_kind make;
    int first_made; /* communicators that OP_MAKE makes */
    int n_made;
};

/** Ranks of the program in the order of their ranks in a communicator. */
struct members {
    int n;
    int ranks[MAX_RANKS];
};

/** One communicator; side 1 is the remote group of an intercommunicator's side 0. */
struct comm {
    int op; /* that made it, -1: there from the beginning */
    int parent;
    enum make_kind made_by;
    int freed_by; /* op, or -1: at the end */
    bool is_inter;
    struct members side[2];
    int n_dims; /* MAKE_CART */
    int dims[3];
    int periods[3];
    uint32_t edges[MAX_RANKS]; /* graphs: bits of members that this one sends to */
    bool has_topology;
};

enum act_kind {
    ACT_SEND,
    ACT_RECEIVE,
    ACT_EXCHANGE,
    ACT_CANCEL,      /* a receive of which the plan knows what comes of it */
    ACT_CANCEL_RACE, /* a receive of which only its status tells */
    ACT_CANCEL_SEND, /* a send, likewise */
    ACT_FINISH,      /* wait for a receive that nothing else completes */
    ACT_BAD_CALL,
    ACT_COLLECTIVE,
    ACT_MAKE,
    ACT_FREE,
};

enum send_mode { MODE_STANDARD, MODE_SYNCHRONOUS, MODE_BUFFERED, MODE_READY };

/** How an act is called. The blocking ones wait for their partner. */
enum form {
    FORM_NONBLOCKING,
    FORM_PERSISTENT,
    FORM_FREED, /* a send whose request is freed at once */
    FORM_FIRST_BLOCKING,
    FORM_BLOCKING = FORM_FIRST_BLOCKING,
    FORM_PROBE,
    FORM_IPROBE,
    FORM_MPROBE,
    FORM_IMPROBE,
    FORM_MPROBE_IMRECV,
    FORM_IMPROBE_IMRECV,
    N_FORMS
};

/** What the receive of an act must come to. */
enum outcome { OUTCOME_DATA, OUTCOME_CANCELLED, OUTCOME_TRUNCATED, OUTCOME_NOTHING };

struct act {
    int64_t position;
    int64_t ready; /* from here on it completes, whatever its owner does */
    int rank;      /* of the program */
    enum act_kind kind;
    int op;
    int comm;
    int peer; /* in the communicator, MPI_ANY_SOURCE, or MPI_PROC_NULL */
    int tag;
    int message;  /* sent, or received; -1 if a group or nobody decides */
    int received; /* ACT_EXCHANGE: message that is received, or -1 */
    int source;   /* ACT_EXCHANGE: where from, and with which tag */
    int source_tag;
    int group;    /* of receives from any source, or -1 */
    int target;   /* act that is cancelled or finished */
    int previous; /* act whose persistent request is used again, or -1 */
    enum form form;
    enum send_mode mode;
    enum outcome outcome;
    int room; /* receives: elements that there is room for */
    enum base base;
    bool is_single; /* no matching needed: message is known */
    bool is_held;   /* completed by another act only */
    bool must_block;
    bool must_not_block;
    bool is_hurried;  /* the next act follows at once */
    bool is_together; /* started by one call with all others of operation and rank */
    bool is_last;     /* of these */
};

/** Messages to one rank that are received from any source. */
struct group {
    int op;
    int to;
    bool is_stream; /* by any tag, too */
    int room;
    enum base base;
};

struct plan {
    uint64_t seed;
    int n_ranks;
    int n_ops;
    struct op ops[MAX_OPS];
    int n_comms;
    struct comm comms[MAX_COMMS];
    int n_groups;
    struct group groups[MAX_GROUPS];
    int stream_of[MAX_RANKS]; /* the stream's group to a rank, or -1 */
    int n_messages;
    struct message *messages;
    int n_acts;
    struct act *acts;
    int n_order;
    int *order; /* acts that are kept, by position */
    int weights[N_OP_KINDS];
    int max_bytes;
    int storm; /* so many operations to come are short reductions of all ranks */
};

/** Which operations of a plan are kept: all, or those whose bit is set. */
struct keep {
    bool is_all;
    bool ops[MAX_OPS];
};

/** Make the plan of a seed for this many ranks. Free it with plan_free. */
struct plan *plan_make(uint64_t seed, int n_ranks, const struct keep *keep);
/** Free a plan. */
void plan_free(struct plan *plan);

/** Rank of the program's rank in one side of a communicator, or -1. */
int plan_rank_in(const struct members *members, int rank);

/** The side of a communicator that a rank belongs to; -1 if to none. */
int plan_side_of(const struct comm *comm, int rank);

/** The side that a member's messages go to: its own, or of two the other. */
const struct members *plan_others(const struct comm *comm, int rank);

/** Position number `place` (of the operation, times 1000, with jitter) for a new
 *  act. */
int64_t plan_position(const struct plan *plan, int64_t place);

/** The position that another one becomes when it moves to this place. */
int64_t plan_position_at(int64_t place, int64_t position);

/** Add an act with nothing set but what is named. The pointer is good until the
 *  next. */
struct act *plan_add_act(struct plan *plan, enum act_kind kind, int op, int rank);

/** Add a message of about this many bytes; its data depend on the plan and its
 *  number. */
int plan_add_message(struct plan *plan, int from, int to, enum base base, int n_bytes);

/** Bytes of one element. */
int plan_base_bytes(enum base base);

/** Add the acts of one operation on point-to-point; draw is the operation's. */
void plan_messages(struct plan *plan, int op, struct draw *draw);

/** Add a collective. */
void plan_collective(struct plan *plan, int op, struct draw *draw);

/** Add an operation that makes communicators. */
void plan_make_comm(struct plan *plan, int op, struct draw *draw);

/** Add one that frees a communicator, if there is one to be freed. */
void plan_free_comm(struct plan *plan, int op, struct draw *draw);

/** The two communicators that are there from the beginning. */
void plan_first_comms(struct plan *plan);

/** A communicator that is there when this operation begins. */
int plan_draw_comm(const struct plan *plan, int op, struct draw *draw);

/** Decide what each receive gets, in which form, and when it is ready. */
void plan_match(struct plan *plan);

/** The same for messages that any source may send; called by plan_match. */
void plan_match_groups(struct plan *plan);

/** Elements of the block from one member to another (ranks of the program). */
int plan_block(const struct collective *collective, int from, int to);

/** Key of the data from one member to another. */
uint64_t plan_block_key(const struct collective *collective, int from, int to);

/** One line of text for an act, without a line feed. */
void plan_print_act(const struct plan *plan, const struct act *act, char *text,
                    size_t n_text);

/** The whole plan, operation by operation or rank by rank, on standard output. */
void plan_print(const struct plan *plan);

#endif

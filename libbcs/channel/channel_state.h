/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of open channels: one process's state, and what the files of this folder do
 * for each other. The functions of <bcs/channel.h> that name no end take channels_self,
 * and all below them is told which one, so that several processes of a job can be in
 * one process of the system. Opening and closing take the state's lock; using an end
 * takes nothing, as it is its thread's.
 *
 *   self.c     the functions that name no end
 *   channel_job.c      joining and leaving
 *   channel_check.c    who may use an end
 *   open.c     opening and closing ends
 *   channel_door.c     what the two ends tell each other
 *   pool.c     memory of places
 *   channel_wait.c     waiting for room and for arrivals, waking who does
 *   far_end.c  ends whose other end is on another machine
 *   circle.c   finding threads that wait for each other
 *   handlers.c arrival handlers
 *   due.c      whether they are to be called
 *   helper.c   the helper thread, which runs those that are given to it
 *   channel_record.c   what the MDS records of calls, which channel_entry_points.c
 * brackets
 *
 * What belongs to remote commands is told in remote_state.h.
 */
#ifndef LIBBCS_CHANNEL_CHANNEL_STATE_H
#define LIBBCS_CHANNEL_CHANNEL_STATE_H

#include <pthread.h>

#include "libbcs/channel/channel_wire.h"
#include "libbcs/channel/remote_state.h"
#include "libbcs/fabric/base/forked.h"
#include "libbcs/session/bell.h"
#include "libbcs/session/entry.h"
#include "libbcs/session/meeting.h"

enum { CHANNEL_CLASSES = 160 };

/** What stands in a word of sleepers. */
enum channel_sleeper {
    CHANNEL_AWAKE,
    CHANNEL_OWNER_SLEEPS,  /* the thread that has opened the end */
    CHANNEL_HELPER_SLEEPS, /* the helper thread of its process */
    CHANNEL_IS_FAR,        /* for good: the other end is told all; see far_end.c */
};

/** The helper thread. */
struct channel_helper {
    struct bcs_bell bell; /* of its own */
    pthread_mutex_t
        life;        /* held by who starts it, ends it, gives to it or takes back */
    pthread_t id;    /* under `life`, while it runs */
    bool is_running; /* under `life` */
    pthread_mutex_t lock; /* of what follows; the thread holds it while it looks */
    pthread_cond_t turn;  /* is_asked has become 0 */
    struct channel_helped *helped;
    bool is_stopping; /* atomic */
    bool is_exiting;  /* atomic: the process is; for good */
    uint32_t runs; /* atomic: the thread has been made, and has not come to its end */
    uint32_t is_asked; /* atomic: somebody wants the lock, and goes first */
    bool is_thread;    /* atomic: the next member is set */
    pthread_t thread;  /* atomic; by the thread itself */
};

/** Memory for one place. */
struct channel_room {
    struct channel_room *next;
    uint64_t gva;
    uint32_t class; /* of its size; see pool.c */
    /* Of one that was given back: whose other end has to close which opening first. */
    const struct channel_door *other;
    uint64_t opened;
};

/** The memory for places. */
struct channel_pool {
    uint64_t next_gva, end_gva;                  /* what was never used */
    struct channel_room *rooms[CHANNEL_CLASSES]; /* free */
    struct channel_room *retired; /* free when their other ends have closed */
};

struct channels;

/** What both kinds of ends have. */
struct channel_end {
    struct channels *channels;
    struct channel_end *next; /* of the process's */
    struct bcs_channel_params params;
    enum channel_side side;
    uint64_t opened; /* which opening it is, from 1 on */
    pthread_t owner;
    const struct channel_door *peer_door; /* own heap */
    uint32_t *sleeper; /* where it says that it sleeps; NULL: its peer is not known */
    bool is_far;       /* the peer is on another machine; see far_end.c */
};

/** The end of a writer. */
struct channel_out {
    struct bcs_channel_out inlined; /* first: what the program has */
    struct channel_end end;
    /* Of one whose reader is far: */
    struct channel_room *room; /* of its own place */
    uint64_t there_gva;        /* the blocks of the reader's place */
    uint64_t block_told;       /* the block of which something was put last, */
    uint64_t n_told;           /* and its records that were put */
};

/* Blocks after which the reader of a stream may fall behind again; channel_wait.c. */
enum { CHANNEL_STREAM_BLOCKS = 8 };

/** The end of a reader. */
struct channel_in {
    struct bcs_channel_in inlined; /* first: what the program has */
    struct channel_end end;
    struct channel_room *room;
    uint64_t behind_at;       /* it falls behind when it has left so many blocks, */
    uint64_t behind_interval; /* and so many later again; channel_wait.c */
    bcs_channel_handler_fn handler;
    void *handler_arg;
    enum bcs_channel_when when;
    struct channel_helped
        *helped; /* what the helper thread has of it; NULL: it is here */
};

struct channels {
    struct bcs_core *core;
    struct channel_layout layout;
    uint32_t rank, size;
    struct bcs_bell bell;
    uint64_t behind_ticks; /* that the reader of a stream lets its writer get ahead */
    pthread_mutex_t lock;  /* of what follows, to is_polling */
    struct channel_end *ends;
    struct channel_pool pool;
    uint64_t **n_opened; /* [size][side * BCS_CHANNEL_NUMBERS + number]; NULL: none */
    bool is_polling;     /* atomic */
    bool is_told;     /* atomic: some thread has written what it waits for; circle.c */
    bool has_judged;  /* a deadlock was told */
    pthread_t poller; /* atomic */
    struct channel_helper helper;
    struct remotes remotes;
    struct bcs_entry entry;
    struct bcs_recorder *recorder; /* NULL: none */
    struct bcs_meeting meeting;
    struct bcs_forked forked; /* takes all this away in a forked child */
};

#pragma GCC visibility push(hidden)

/** The state that the functions take which name no end; NULL: this process is in no
 *  job. */
extern struct channels *channels_self;

#pragma GCC visibility pop

/* channel_job.c */

/** Join a job, all of whose processes do so. @param entry  is the state's on success
 *  @return 0 or -errno, logged */
int channels_join(const struct bcs_entry *entry, struct channels **channels_out);

/** Leave the job as bcs_channels_finalize does. Frees the state. */
int channels_leave(struct channels *channels);

/* channel_check.c */

/** Whether the thread runs a handler. */
bool channels_is_in_handler(struct channels *channels);

/** Check that the caller may use an end in this call.
 *  @return 0, -EPERM (another thread's) or -EDEADLK (in a handler); logged */
int channel_end_check(const struct channel_end *end, const char *caller);

/** Check that the caller may receive from it, too. @return the same, or -EPERM: its
 *  handler runs in the helper thread */
int channel_in_check(const struct channel_in *in, const char *caller);

/* open.c */

/** Open as bcs_channel_open_out does. */
int channels_open_out(struct channels *channels,
                      const struct bcs_channel_params *params,
                      struct bcs_channel_out **out_out);

/** Open as bcs_channel_open_in does. */
int channels_open_in(struct channels *channels, const struct bcs_channel_params *params,
                     struct bcs_channel_in **in_out);

/** Close all ends. @return 0, or the first -errno */
int channels_close_all(struct channels *channels);

/* channel_door.c */

/** Tell the peer that an end is open. @param place_gva, n_blocks  of a reader */
int channel_door_open(const struct channel_end *end, uint64_t place_gva,
                      uint64_t n_blocks);

/** Tell the peer that it is closed. */
int channel_door_close(const struct channel_end *end);

/** Transfer to the peer, ring its bell, and see to it that it arrives. Of the transfer
 *  only the block is given. */
int channel_door_transfer(const struct channel_end *end, struct bcs_xfer *xfer);

/** Ring a bell of the peer. */
void channel_door_ring(const struct channel_end *end, uint64_t bell_gva);

/** Where a reader's place is, and how many blocks it has, if the peer has opened its
 *  end with the same parameters, and not closed it. @return whether it has */
bool channel_door_read(const struct channel_end *end, uint64_t *place_gva_out,
                       uint64_t *n_blocks_out);

/**
 * Look whether the wait for the peer may go on.
 *
 * @param is_long  it has lasted: whether the process has left, and lives, too
 * @return 0, BCS_E_CLOSED, -EPROTO or -EOWNERDEAD, as bcs_channel_wait_out
 */
int channel_door_look(const struct channel_end *end, bool is_long);

/* circle.c */

/**
 * The caller has slept at an end in vain: tell what it waits for, and look whether that
 * is for ever. Then the job ends, or that is said, as BCS_REFEREE has it.
 *
 * @param is_told   what this has returned before in this wait
 * @param is_there  whether the wait is over
 * @return whether it is told: then channel_circle_leave, before the wait ends
 */
bool channel_circle_look(struct channel_end *end, bool is_told,
                         bool (*is_there)(struct channel_end *end));

/** The wait is over, which was told. */
void channel_circle_leave(struct channel_end *end);

/* pool.c */

/** Begin with memory that is all zero. */
void channel_pool_init(struct channel_pool *pool, uint64_t gva, uint64_t n_bytes);

/** Bytes of the pool that memory of so many bytes takes, up to an eighth more. */
uint64_t channel_pool_room_bytes(uint64_t n_bytes);

/** Take memory that is zero, or was used. @return NULL: none left, or -ENOMEM of the
 *  system */
struct channel_room *channel_pool_take(struct channel_pool *pool, uint64_t n_bytes,
                                       bool *was_used_out);

/** Give memory back, to be used again once the other end of its channel has closed that
 *  opening. Accepts NULL. */
void channel_pool_give(struct channel_pool *pool, struct channel_room *room,
                       const struct channel_door *other, uint64_t opened);

/** Give memory back that nobody writes to any more. */
void channel_pool_put_back(struct channel_pool *pool, struct channel_room *room);

/** Free what the pool knows. */
void channel_pool_fini(struct channel_pool *pool);

/* due.c */

/** Whether the condition of an end's handler is true. */
bool channel_in_is_due(struct channel_in *in);

/* helper.c */

/** Begin without a thread; the bell is the caller's to fill in. */
void channel_helper_init(struct channel_helper *helper);

/** Free it; there is no thread. */
void channel_helper_fini(struct channel_helper *helper);

/** Whether the calling thread is the helper thread, so that a handler runs. */
static inline bool channel_helper_is_self(const struct channel_helper *helper)
{
    /* Pairs with the stores of run in helper.c; only the thread itself needs to see its
     * own. */
    return __atomic_load_n(&helper->is_thread, __ATOMIC_ACQUIRE) &&
           pthread_equal(__atomic_load_n(&helper->thread, __ATOMIC_RELAXED),
                         pthread_self());
}

/**
 * Give an end to the thread, which is made if there is none. Called by the end's owner.
 *
 * @return 0, -ENOMEM, or -EAGAIN: the system makes no thread; logged
 */
int channel_helper_give(struct channel_in *in, enum bcs_channel_when when,
                        bcs_channel_handler_fn handler, void *arg);

/** Take an end back: its handler does not run any more. Nothing is done if it was not
 *  given away. @return 0, or -EPERM in a forked child, logged */
int channel_helper_take_back(struct channel_in *in);

/** As the process exits: end the thread, but wait for a handler no longer than a
 *  second. */
void channel_helper_end_at_exit(struct channel_helper *helper);

/* handlers.c */

/** Poll as bcs_channels_poll does. */
int channels_poll(struct channels *channels);

/** Whether a process is on this machine. */
static inline bool channels_is_near(const struct channels *channels, uint32_t rank)
{
    return bcs_memory_heap(channels->meeting.memory, rank) != NULL;
}

/** Whether the job has several machines. */
static inline bool channels_is_apart(const struct channels *channels)
{
    return channels->meeting.n_processes < channels->size;
}

/** Where an address of a near process's heap is here. */
static inline void *remote_place(const struct channels *channels, uint32_t rank,
                                 uint64_t gva)
{
    return (uint8_t *)bcs_memory_heap(channels->meeting.memory, rank) + gva;
}

/** The state of an end. */
static inline struct channel_out *channel_out_of(struct bcs_channel_out *out)
{
    return (struct channel_out *)(void *)out;
}

/** The same. */
static inline struct channel_in *channel_in_of(struct bcs_channel_in *in)
{
    return (struct channel_in *)(void *)in;
}

/** The ends of these. */
static inline struct channel_out *channel_out_of_end(struct channel_end *end)
{
    return (struct channel_out *)(void *)((char *)end -
                                          offsetof(struct channel_out, end));
}

/** The same. */
static inline struct channel_in *channel_in_of_end(struct channel_end *end)
{
    return (struct channel_in *)(void *)((char *)end -
                                         offsetof(struct channel_in, end));
}

#endif

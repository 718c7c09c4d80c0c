/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of remote commands: one process's state, a part of that of channels, and what
 * the files do for each other. All of it is used by the one thread whose regions are
 * open, but for what far_service.c calls.
 *
 *   self.c          the functions that name no region
 *   channel_region.c        exporting, importing, releasing
 *   region_users.c  how often a region is imported
 *   command.c       the commands
 *   buffer.c        buffers to which others append
 *   remote_event.c  waiting for fetches
 *   remote_wait.c   waiting
 *   fetch.c         the queue of fetches
 *   remote_wake.c   who sleeps, and waking those whose conditions are true
 *   remote_memory.c memory of regions
 *   remote_peer.c   other processes
 *   far_command.c   commands to regions of other machines
 *   far_service.c   the thread that carries out those of other machines
 */
#ifndef LIBBCS_CHANNEL_REMOTE_STATE_H
#define LIBBCS_CHANNEL_REMOTE_STATE_H

#include <bcs/remote.h>

#include "libbcs/channel/channel_wire.h"
#include "libbcs/session/exports.h"

struct channels;
struct channel_room;

/** The library's part of an open region. */
struct bcs_remote_state {
    struct bcs_remote_state *next;
    struct bcs_remote *remote; /* the program's */
    struct channels *channels;
    struct remote_head *head; /* of the region, in its owner's heap */
    uint64_t *users;          /* in its owner's heap; see channel_wire.h */
    uint64_t gva;             /* of the region's memory, in its owner's heap */
    bool is_own;
    bool is_watched; /* this process has said that it sleeps there */
    /* Of another machine, which has neither head nor users here: */
    bool is_far;
    const void *thread; /* whose it is */
    uint64_t serial;    /* which export of its number */
    uint64_t far_state; /* in the place of the state of the region */
};

struct remotes {
    struct bcs_node_set all;
    struct bcs_exports exports;
    struct bcs_remote_state *open;
    struct channel_room *rooms[BCS_REGION_NUMBERS]; /* of own regions, until all have
                                                     * released them; NULL: none */
    struct bcs_remote_fetch *fetches; /* that wait, in the order of their starts */
    uint32_t *unsettled;            /* [size] of each pair: see <bcs/remote_region.h> */
    struct remote_sleeper *sleeper; /* own */
    const void *thread;             /* whose regions are open; NULL: none is */
    uint32_t next_looked_at;        /* whether that process lives */
    uint64_t n_asked;               /* of processes of other machines */
    uint64_t n_far_waits;           /* that they were asked to tell the end of */
    struct remote_service *service; /* NULL: the job has one machine */
};

/** What a process waits for. */
struct remote_goal {
    struct channels *channels;
    const struct bcs_remote *remote; /* of a word; else NULL */
    uint64_t offset, at_least;
    const struct bcs_remote_event *event;
    uint64_t count;
    struct bcs_remote *import; /* to be imported */
    uint32_t rank, number;
    int result; /* of a wait at another machine */
};

/** Whether the goal is reached. */
typedef bool (*remote_is_there_fn)(struct remote_goal *goal);

/* channel_region.c */

/** Set up the state. @return 0 or -ENOMEM; logged */
int remotes_init(struct channels *channels);

/** Free it; all is released. */
void remotes_fini(struct channels *channels);

/** In a forked child: nothing is open. */
void remotes_take_away(struct channels *channels);

/** Release all regions, as the process leaves. @return 0, or the first -errno */
int remotes_release_all(struct channels *channels);

/** Export as bcs_region_export does. */
int remote_export(struct channels *channels, uint32_t number, size_t n_bytes,
                  struct bcs_remote *own_out);

/** Import as bcs_region_import does, or, if it may not wait, bcs_region_import_now. */
int remote_import(struct channels *channels, int rank, uint32_t number, bool may_wait,
                  struct bcs_remote *remote_out);

/* remote_peer.c */

/** Tell all that this process has left. @return 0 or -errno */
int remote_say_left(struct channels *channels);

/** Whether a process has left the job. */
bool remote_has_left(const struct channels *channels, uint32_t rank);

/** Transfer, and see to it that it arrives. */
int remote_transfer(struct channels *channels, const struct bcs_xfer *xfer);

/* remote_memory.c */

/** Store a block into a region, each part of it that is aligned whole. */
void remote_store(uint8_t *to, const void *data, size_t n_bytes);

/** Load a block from a region, in the same manner. */
void remote_load(void *data_out, const uint8_t *from, size_t n_bytes);

/* fetch.c */

/** Go through the queue. */
void remote_fetches_pass(struct remotes *remotes);

/** End those of a region that is released here. */
void remote_fetches_end(struct remotes *remotes, const struct bcs_remote *remote);

/** Check that this thread may go through the queue. @return 0 or -EPERM, logged */
int remote_check_thread(const struct channels *channels, const char *caller);

/** Look as bcs_remote_test does. */
int remote_test(struct channels *channels, const struct bcs_remote_event *event,
                uint64_t count);

/* remote_event.c */

/** Wait as bcs_remote_wait_event does. */
int remote_wait_event(struct channels *channels, const struct bcs_remote_event *event,
                      uint64_t count);

/* remote_wait.c */

/** Wait for something other than a word. @return as bcs_remote_wait; -ENOENT
 *  from a goal with an import whose process has left */
int remote_wait_for(struct remote_goal *goal, remote_is_there_fn is_there);

/* remote_wake.c */

/** Say that this process sleeps until the goal, or the condition of a fetch, may be
 *  reached. */
void remote_say_sleep(const struct remote_goal *goal);

/** Say that it does not. */
void remote_say_awake(struct channels *channels);

/** Wake those who sleep at a region. @param is_closed  all, whatever they wait for */
void remote_wake(const struct bcs_remote *remote, bool is_closed);

/* remote_memory.c */

/** What the thread of a region of another machine points to. */
extern const char remote_far_mark;

/** Whose an open region is. NULL: it is not open */
static inline const void *remote_thread_of(const struct bcs_remote *remote)
{
    return remote->thread == &remote_far_mark ? remote->inside->thread : remote->thread;
}

/** Whether a region of this machine was taken back. */
static inline bool remote_is_closed(const struct bcs_remote *remote)
{
    /* Pairs with the addition of close_own in channel_region.c. */
    return (__atomic_load_n(remote->state, __ATOMIC_ACQUIRE) & BCS_REMOTE_CLOSED) != 0;
}

#endif

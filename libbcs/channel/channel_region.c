/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exporting, importing and releasing regions: the checks that a command need not make.
 * [Low Latency Messages, section 5: "security mechanisms"]
 *
 * What a process exports stands in the table of the session in all heaps. Who imports
 * it counts itself at the owner (region_users.h), so that memory is not used again
 * while somebody may write to it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_record.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/channel/far_service.h"
#include "libbcs/channel/region_users.h"
#include "libbcs/fabric/base/log.h"

_Static_assert((int)BCS_REGION_NUMBERS == (int)BCS_EXPORTS, "the table of the session");

/** The time on the clock of exports, which stands still: a region taken back is
 *  gone. */
enum { NOW = 1 };

int remotes_init(struct channels *channels)
{
    struct remotes *remotes = &channels->remotes;
    const struct channel_layout *layout = &channels->layout;

    remotes->all = bcs_node_set_range(0, channels->size);
    remotes->exports.core = channels->core;
    remotes->exports.all = &remotes->all;
    remotes->exports.table_gva = layout->exports_gva;
    remotes->exports.rank = channels->rank;
    remotes->sleeper = bcs_core_address(channels->core, layout->sleeper_gva);
    remotes->unsettled = calloc(channels->size, sizeof(*remotes->unsettled));
    if (remotes->unsettled == NULL) {
        bcs_error("bcs_channels_init: out of memory");
        return -ENOMEM;
    }
    return 0;
}

void remotes_fini(struct channels *channels)
{
    for (uint32_t i = 0; i < BCS_REGION_NUMBERS; i++) {
        free(channels->remotes.rooms[i]);
    }
    free(channels->remotes.unsettled);
}

/** What exporting and importing begin with; takes the lock, and the remote commands for
 *  this thread. */
static int begin(struct channels *channels, const char *caller, int64_t number,
                 const struct bcs_remote *out)
{
    const void *thread;
    int rc = bcs_exports_check(caller, number);

    if (rc < 0) {
        return rc;
    }
    if (channels_is_in_handler(channels)) {
        bcs_error("%s: called in a handler", caller);
        return -EDEADLK;
    }
    pthread_mutex_lock(&channels->lock);
    thread = channels->remotes.thread;
    if (thread != NULL && thread != bcs_remote_thread()) {
        pthread_mutex_unlock(&channels->lock);
        bcs_error("%s: another thread has regions open; remote commands are of one "
                  "thread of a process",
                  caller);
        return -EPERM;
    }
    for (const struct bcs_remote_state *inside = channels->remotes.open; inside != NULL;
         inside = inside->next) {
        if (inside->remote == out) {
            pthread_mutex_unlock(&channels->lock);
            bcs_error("%s: what is to be region %" PRId64 " is region %" PRIu32
                      " of rank %" PRIu32 ", which is open",
                      caller, number, out->number, out->rank);
            return -EEXIST;
        }
    }
    channels->remotes.thread = bcs_remote_thread();
    return 0;
}

/** What they end with. */
static void end(struct channels *channels)
{
    if (channels->remotes.open == NULL) {
        channels->remotes.thread = NULL;
    }
    pthread_mutex_unlock(&channels->lock);
}

/** Open a region here. Under the lock. @param inside  of malloc */
static void open_here(struct bcs_remote_state *inside, struct bcs_remote *remote,
                      uint32_t rank, uint32_t number, uint64_t n_bytes)
{
    struct channels *channels = inside->channels;

    inside->remote = remote;
    inside->thread = bcs_remote_thread();
    inside->next = channels->remotes.open;
    channels->remotes.open = inside;
    *remote = (struct bcs_remote){
        .n_bytes = n_bytes,
        .thread = inside->thread,
        .is_unsettled = &channels->remotes.unsettled[rank],
        .inside = inside,
        .rank = rank,
        .number = number,
    };
    if (inside->is_far) {
        remote->thread = &remote_far_mark;
        remote->state = &inside->far_state;
        return;
    }
    inside->head = remote_place(channels, rank, inside->gva - sizeof(*inside->head));
    inside->users = region_users_of(channels, rank, number);
    remote->memory = (uint8_t *)(inside->head + 1);
    remote->state = &inside->head->state;
}

static struct bcs_remote_state *make_inside(struct channels *channels,
                                            const char *caller)
{
    struct bcs_remote_state *inside = calloc(1, sizeof(*inside));

    if (inside == NULL) {
        bcs_error("%s: out of memory", caller);
    } else {
        inside->channels = channels;
    }
    return inside;
}

/* ------------------------------------------------------------------ exporting */

/** Give back the memory of regions that were taken back and that nobody has
 *  imported. */
static void collect(struct channels *channels)
{
    for (uint32_t i = 0; i < BCS_REGION_NUMBERS; i++) {
        struct channel_room **room = &channels->remotes.rooms[i];

        /* Pairs with the subtraction of region_count_out: who has released it touches
         * it no more. */
        if (*room != NULL &&
            (__atomic_load_n(region_users_of(channels, channels->rank, i),
                             __ATOMIC_ACQUIRE) &
             (REMOTE_TAKEN_BACK | REMOTE_USERS)) == REMOTE_TAKEN_BACK) {
            channel_pool_put_back(&channels->pool, *room);
            *room = NULL;
        }
    }
}

/** Refuse a number that is in use. */
static int check_free(const struct channels *channels, uint32_t number)
{
    uint64_t users;

    if (channels->remotes.rooms[number] == NULL) {
        return 0;
    }
    /* As in collect. */
    users = __atomic_load_n(region_users_of(channels, channels->rank, number),
                            __ATOMIC_ACQUIRE);
    if ((users & REMOTE_TAKEN_BACK) == 0) {
        bcs_error("bcs_region_export: region %" PRIu32 " is exported", number);
    } else {
        bcs_error("bcs_region_export: region %" PRIu32
                  " was taken back, but is imported %" PRIu64 " times still",
                  number, users & REMOTE_USERS);
    }
    return -EEXIST;
}

/** Memory for a region, all zero. */
static struct channel_room *take_room(struct channels *channels, size_t n_bytes)
{
    struct channel_room *room = NULL;
    bool was_used = false;

    if (n_bytes <= CHANNEL_POOL_BYTES) {
        room = channel_pool_take(&channels->pool, sizeof(struct remote_head) + n_bytes,
                                 &was_used);
    }
    if (room == NULL) {
        bcs_error("bcs_region_export: %zu bytes, rounded up by an eighth at most; of "
                  "the %" PRIu64
                  " bytes of a process for channels and regions not so many are left",
                  n_bytes, CHANNEL_POOL_BYTES);
    } else if (was_used) {
        memset(bcs_core_address(channels->core, room->gva), 0,
               sizeof(struct remote_head) + n_bytes);
    }
    return room;
}

/** Tell all of an export. */
static int tell(struct channels *channels, uint32_t number, uint64_t gva,
                size_t n_bytes)
{
    struct bcs_exports *exports = &channels->remotes.exports;
    struct bcs_xfer xfers[2];
    int rc = bcs_exports_add(exports, "bcs_region_export", number,
                             (struct bcs_export){.address = gva, .n_bytes = n_bytes},
                             NOW, xfers);

    if (rc < 0) {
        return rc;
    }
    /* Pairs with the exchange of region_count_in; all who know this serial find it
     * there. */
    __atomic_store_n(region_users_of(channels, channels->rank, number),
                     exports->own[number].serial << REMOTE_SERIAL_SHIFT,
                     __ATOMIC_RELEASE);
    xfers[1].remote_event_gva = channels->layout.bell_gva; /* they may wait for it */
    rc = remote_transfer(channels, &xfers[0]);
    return rc < 0 ? rc : remote_transfer(channels, &xfers[1]);
}

static int export_locked(struct channels *channels, uint32_t number, size_t n_bytes,
                         struct bcs_remote *own_out)
{
    struct bcs_remote_state *inside;
    struct channel_room *room;
    int rc;

    collect(channels);
    rc = check_free(channels, number);
    if (rc < 0) {
        return rc;
    }
    inside = make_inside(channels, "bcs_region_export");
    room = inside == NULL ? NULL : take_room(channels, n_bytes);
    if (room == NULL) {
        free(inside);
        return -ENOMEM;
    }
    inside->gva = room->gva + sizeof(*inside->head);
    inside->is_own = true;
    channels->remotes.rooms[number] =
        room;                      /* whatever follows: it may be known to some */
    remote_service_hold(channels); /* whoever is told finds it open */
    rc = tell(channels, number, inside->gva, n_bytes);
    if (rc < 0) {
        free(inside);
    } else {
        open_here(inside, own_out, channels->rank, number, n_bytes);
        remote_service_open(channels, own_out,
                            channels->remotes.exports.own[number].serial);
    }
    remote_service_go_on(channels);
    return rc;
}

int remote_export(struct channels *channels, uint32_t number, size_t n_bytes,
                  struct bcs_remote *own_out)
{
    int rc = begin(channels, "bcs_region_export", number, own_out);

    if (rc == 0) {
        if (n_bytes == 0) {
            bcs_error("bcs_region_export: region %" PRIu32
                      " of 0 bytes; allowed are 1 or more",
                      number);
            rc = -EINVAL;
        } else {
            rc = export_locked(channels, number, n_bytes, own_out);
        }
        end(channels);
    }
    return rc;
}

/* ------------------------------------------------------------------ importing */

/** Import, if it is exported. Under the lock. @return 0, BCS_E_PENDING, or -ENOMEM;
 *  logged */
static int try_import(struct channels *channels, uint32_t rank, uint32_t number,
                      struct bcs_remote *remote_out)
{
    const struct bcs_export *export =
        bcs_exports_of(&channels->remotes.exports, rank, number);
    uint64_t serial = bcs_export_serial(export);
    struct bcs_remote_state *inside;
    int rc;

    if (serial == 0 || !bcs_export_is_valid(export, NOW)) {
        return BCS_E_PENDING;
    }
    rc = region_enter(channels, rank, number, serial);
    if (rc != 0) {
        return rc;
    }
    inside = make_inside(channels, "bcs_region_import");
    if (inside == NULL) {
        (void)region_leave(channels, rank, number, serial);
        return -ENOMEM;
    }
    inside->gva = export->address;
    inside->serial = serial;
    inside->is_far = !channels_is_near(channels, rank);
    open_here(inside, remote_out, rank, number, export->n_bytes);
    return 0;
}

static bool is_imported(struct remote_goal *goal)
{
    int rc;

    if (goal->import->thread != NULL || goal->count != 0) {
        return true;
    }
    pthread_mutex_lock(&goal->channels->lock);
    rc = try_import(goal->channels, goal->rank, goal->number, goal->import);
    pthread_mutex_unlock(&goal->channels->lock);
    goal->count = rc < 0; /* out of memory: the wait is over, too */
    return rc <= 0;
}

static int import_waiting(struct channels *channels, uint32_t rank, uint32_t number,
                          struct bcs_remote *remote_out)
{
    struct remote_goal goal = {
        .channels = channels, .import = remote_out, .rank = rank, .number = number};
    int rc = remote_wait_for(&goal, is_imported);

    channel_note_waited(rank, BCS_STAMP_CAUSE_SENDER);
    return rc == 0 && goal.count != 0 ? -ENOMEM : rc;
}

int remote_import(struct channels *channels, int rank, uint32_t number, bool may_wait,
                  struct bcs_remote *remote_out)
{
    const char *caller = may_wait ? "bcs_region_import" : "bcs_region_import_now";
    int rc;

    if (rank < 0 || (uint32_t)rank >= channels->size) {
        bcs_error("%s: no rank %d in a job of %" PRIu32, caller, rank, channels->size);
        return -EINVAL;
    }
    rc = begin(channels, caller, number, remote_out);
    if (rc < 0) {
        return rc;
    }
    remote_out->thread = NULL;
    rc = try_import(channels, (uint32_t)rank, number, remote_out);
    if (rc == BCS_E_PENDING && may_wait && (uint32_t)rank != channels->rank) {
        pthread_mutex_unlock(&channels->lock); /* it stays this thread's */
        rc = import_waiting(channels, (uint32_t)rank, number, remote_out);
        pthread_mutex_lock(&channels->lock);
    }
    end(channels);
    if (rc == BCS_E_PENDING || rc == -ENOENT) {
        bcs_error("%s: rank %d has not exported region %" PRIu32 "%s", caller, rank,
                  number, rc == -ENOENT ? ", and has left the job" : "");
        rc = -ENOENT;
    }
    return rc;
}

/* ------------------------------------------------------------------ releasing */

/** Take a region back. Under the lock. */
static int close_own(struct bcs_remote_state *inside)
{
    struct channels *channels = inside->channels;
    struct bcs_xfer xfer;
    int rc = bcs_exports_remove(&channels->remotes.exports, "bcs_region_release",
                                inside->remote->number, NOW, &xfer);

    /* Pairs with the exchange of region_count_in: nobody comes in any more. */
    __atomic_fetch_or(inside->users, REMOTE_TAKEN_BACK, __ATOMIC_ACQ_REL);
    /* Pairs with the loads of bcs_remote_after_change, bcs_remote_after_read and
     * remote_is_closed; and with those who count themselves there to sleep, who look
     * again behind it (seq_cst). */
    __atomic_fetch_or(&inside->head->state, BCS_REMOTE_CLOSED, __ATOMIC_SEQ_CST);
    remote_wake(inside->remote, true);
    return rc < 0 ? rc : remote_transfer(channels, &xfer);
}

/** Close a region here. Under the lock. */
static int close_here(struct bcs_remote_state *inside)
{
    struct remotes *remotes = &inside->channels->remotes;
    struct bcs_remote_state **at = &remotes->open;
    struct bcs_remote *remote = inside->remote;
    int rc = 0;

    remote_fetches_end(remotes, remote);
    if (inside->is_own) {
        rc = close_own(inside);
    } else {
        rc = region_leave(inside->channels, remote->rank, remote->number,
                          inside->serial);
    }
    while (*at != inside) {
        at = &(*at)->next;
    }
    *at = inside->next;
    if (remotes->open == NULL) {
        remotes->thread = NULL;
    }
    free(inside);
    *remote = (struct bcs_remote){.rank = remote->rank, .number = remote->number};
    return rc;
}

int channels_call_region_release(struct bcs_remote *remote)
{
    struct channels *channels;
    int rc;

    if (remote->thread == NULL) {
        return 0;
    }
    channels = remote->inside->channels;
    if (remote_thread_of(remote) != bcs_remote_thread()) {
        return bcs_remote_refuse(remote, 0, 0, 1);
    }
    if (channels_is_in_handler(channels)) {
        bcs_error("bcs_region_release: called in a handler");
        return -EDEADLK;
    }
    pthread_mutex_lock(&channels->lock);
    rc = close_here(remote->inside);
    pthread_mutex_unlock(&channels->lock);
    return rc;
}

void *bcs_region_memory(const struct bcs_remote *own)
{
    return own->thread != NULL && own->rank == own->inside->channels->rank ? own->memory
                                                                           : NULL;
}

int remotes_release_all(struct channels *channels)
{
    int rc = 0, said;

    pthread_mutex_lock(&channels->lock);
    while (channels->remotes.open != NULL) {
        int closed = close_here(channels->remotes.open);

        rc = rc < 0 ? rc : closed;
    }
    pthread_mutex_unlock(&channels->lock);
    remote_service_stop(channels); /* what is not answered now never is */
    /* Last: who sees that this process has left sees that its regions are closed, too.
     * Pairs with the load of remote_has_left. */
    said = remote_say_left(channels);
    return rc < 0 ? rc : said;
}

void remotes_take_away(struct channels *channels)
{
    for (struct bcs_remote_state *inside = channels->remotes.open; inside != NULL;
         inside = inside->next) {
        inside->remote->thread = NULL;
    }
}

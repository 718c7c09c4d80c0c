/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for words, fetches and exports, at the bell of the process, as channels wait;
 * meanwhile the queue of fetches is gone through. A wait that could only be ended by a
 * process that has died ends with an error: any process may be the one that was to
 * change a word.
 */
#include <errno.h>
#include <inttypes.h>

#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/channel/far_command.h"
#include "libbcs/fabric/base/barrier.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/process.h"
#include "libbcs/fabric/base/system.h"

/* As in channel_wait.c. A long wait looks whether so many processes live. */
enum { LOOKS_EARLY = 4096, SLEEPS_A_DOUBT = 64, PROCESSES_A_DOUBT = 64 };

/** A wait; zero it to start. */
struct remote_wait {
    struct bcs_bell_wait bell;
    uint32_t n_sleeps;
};

/** Whether a process of this machine has died; of another one the launcher knows. */
static bool is_dead(struct channels *channels, uint32_t rank)
{
    const uint64_t *pids = bcs_core_address(channels->core, channels->layout.pids_gva);

    if (rank == channels->rank || !channels_is_near(channels, rank) ||
        !bcs_process_has_ended(pids[rank]) || remote_has_left(channels, rank)) {
        return false;
    }
    bcs_error("rank %" PRIu32 ", process %" PRIu64 ", has ended while rank %" PRIu32
              " waits in a remote command",
              rank, pids[rank], channels->rank);
    return true;
}

/** Whether all others have left, so that nobody can end a wait. */
static bool is_alone(const struct channels *channels)
{
    for (uint32_t i = 0; i < channels->size; i++) {
        if (i != channels->rank && !remote_has_left(channels, i)) {
            return false;
        }
    }
    return true;
}

/** Look at some processes, others each time, and first at the one that matters most. */
static int look_at_processes(const struct remote_goal *goal)
{
    struct channels *channels = goal->channels;
    uint32_t first = goal->remote != NULL ? goal->remote->rank : goal->rank;

    if (is_dead(channels, first)) {
        return -EOWNERDEAD;
    }
    for (uint32_t i = 0; i < channels->size && i < PROCESSES_A_DOUBT; i++) {
        uint32_t rank = channels->remotes.next_looked_at++ % channels->size;

        if (is_dead(channels, rank)) {
            return -EOWNERDEAD;
        }
    }
    return goal->import != NULL && remote_has_left(channels, goal->rank) ? -ENOENT : 0;
}

/** Whether the region of a goal was taken back; of a far one its owner tells. */
static bool is_closed(const struct bcs_remote *remote)
{
    return remote->inside->is_far
               ? remote_has_left(remote->inside->channels, remote->rank)
               : remote_is_closed(remote);
}

/** Look whether the wait may go on. @param is_long it has lasted: whether processes
 *  live, too */
static int look(const struct remote_goal *goal, bool is_long)
{
    /* First: who leaves closes its regions before it says so. */
    bool has_nobody = is_long && is_alone(goal->channels);
    int rc;

    if (goal->remote != NULL && is_closed(goal->remote)) {
        return BCS_E_CLOSED;
    }
    rc = is_long ? look_at_processes(goal) : 0;
    return rc == 0 && has_nobody ? -EDEADLK : rc;
}

static int go_to_sleep(const struct remote_goal *goal, struct remote_wait *wait)
{
    int rc = bcs_bell_sleep(&goal->channels->bell, &wait->bell);
    /* In vain; or others ring so often that it never is. */
    bool is_long = rc == 0 || ++wait->n_sleeps % SLEEPS_A_DOUBT == 0;

    remote_say_awake(goal->channels);
    return rc < 0 ? rc : look(goal, is_long);
}

/** A look has found nothing. @return 0: look again; else as bcs_remote_wait */
static inline __attribute__((always_inline)) int
wait_step(const struct remote_goal *goal, struct remote_wait *wait)
{
    switch (bcs_bell_step_early(&goal->channels->bell, &wait->bell, LOOKS_EARLY)) {
    case BCS_WAIT_SLEEP:
        return go_to_sleep(goal, wait);
    case BCS_WAIT_ANNOUNCE:
        remote_say_sleep(goal);
        bcs_barrier_all();
        return look(goal, false);
    case BCS_WAIT_YIELD:
        bcs_yield();
        return look(goal, false);
    case BCS_WAIT_HALT:
        return look(goal, false);
    default:
        return 0;
    }
}

static inline __attribute__((always_inline)) int wait_for(struct remote_goal *goal,
                                                          remote_is_there_fn is_there)
{
    struct remotes *remotes = &goal->channels->remotes;
    struct remote_wait wait = {0};
    int rc = 0;

    if (channels_is_in_handler(goal->channels)) {
        bcs_error("a remote command that waits was called in a handler");
        return -EDEADLK;
    }
    while (rc == 0 && !is_there(goal)) {
        rc = wait_step(goal, &wait);
        if (remotes->fetches != NULL) {
            remote_fetches_pass(remotes);
        }
    }
    if (wait.bell.spell.is_announced) {
        remote_say_awake(goal->channels);
    }
    if (rc != 0 && is_there(goal)) {
        return 0;
    }
    if (rc == -EDEADLK) {
        bcs_error("rank %" PRIu32
                  " waits in a remote command for ever: all other processes "
                  "have left the job",
                  goal->channels->rank);
    }
    return rc;
}

int remote_wait_for(struct remote_goal *goal, remote_is_there_fn is_there)
{
    return wait_for(goal, is_there);
}

static inline bool has_word(struct remote_goal *goal)
{
    /* Pairs with all that changes words: what was written before is there. */
    return __atomic_load_n(bcs_remote_word(goal->remote, goal->offset),
                           __ATOMIC_ACQUIRE) >= goal->at_least;
}

/** The same at another machine, which is asked once, and tells when the word is there
 *  or the region closed. */
static bool has_far_word(struct remote_goal *goal)
{
    bool is_there;

    if (goal->count == 0) {
        goal->result =
            remote_far_wait(goal->remote, goal->offset, goal->at_least, &goal->count);
    } else if (goal->result == BCS_E_PENDING &&
               remote_far_is_told(goal->channels, goal->count, &is_there)) {
        goal->result = is_there ? 0 : BCS_E_CLOSED;
    }
    return goal->result != BCS_E_PENDING;
}

int channels_call_remote_wait_long(const struct bcs_remote *remote, uint64_t offset,
                                   uint64_t at_least)
{
    struct remote_goal goal = {
        .channels = remote->inside->channels,
        .remote = remote,
        .offset = offset,
        .at_least = at_least,
    };
    int rc;

    if (__builtin_expect(remote->inside->is_far, 0)) {
        rc = remote_wait_for(&goal, has_far_word);
        if (goal.count != 0 && goal.result == BCS_E_PENDING) {
            /* In the place of this wait, of which nobody is to be told any more. */
            (void)remote_far_wait(remote, offset, 0, &goal.count);
        }
        return rc != 0 ? rc : goal.result;
    }
    return wait_for(&goal, has_word);
}

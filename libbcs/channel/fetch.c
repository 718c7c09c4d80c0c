/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetches on condition: the queue in which they wait, each for its own word. A fetch is
 * carried out by the process that has started it, in whatever waits or tests there; no
 * other command is held up, nor another fetch. [Low Latency Messages, section 4.1]
 */
#include <errno.h>
#include <inttypes.h>

#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"

/** Count a fetch that has ended. */
static void end(struct bcs_remote_fetch *fetch, int result)
{
    struct bcs_remote_event *event = fetch->event;

    fetch->result = result;
    fetch->next = NULL;
    if (result != 0 && event->result == 0) {
        event->result = result;
    }
    event->count++;
}

/** Carry a fetch out, if its condition is true. @return whether it has ended */
static bool look(struct bcs_remote_fetch *fetch)
{
    const struct bcs_remote *remote = fetch->remote;
    /* Pairs with all that changes words: what was written before is there. */
    uint64_t word =
        __atomic_load_n(bcs_remote_word(remote, fetch->word), __ATOMIC_ACQUIRE);

    if (word >= fetch->at_least) {
        remote_load(fetch->data_out, remote->memory + fetch->offset, fetch->n_bytes);
        end(fetch, 0);
        return true;
    }
    if (remote_is_closed(remote)) {
        end(fetch, BCS_E_CLOSED);
        return true;
    }
    return false;
}

void remote_fetches_pass(struct remotes *remotes)
{
    struct bcs_remote_fetch **at = &remotes->fetches;

    while (*at != NULL) {
        struct bcs_remote_fetch *fetch = *at, *next = fetch->next;

        if (look(fetch)) {
            *at = next;
        } else {
            at = &fetch->next;
        }
    }
}

void remote_fetches_end(struct remotes *remotes, const struct bcs_remote *remote)
{
    struct bcs_remote_fetch **at = &remotes->fetches;

    while (*at != NULL) {
        struct bcs_remote_fetch *fetch = *at, *next = fetch->next;

        if (fetch->remote == remote) {
            *at = next;
            end(fetch, BCS_E_CLOSED);
        } else {
            at = &fetch->next;
        }
    }
}

/** Whether a fetch waits, so that its link is the queue's. @param end_out the end of
 *  the queue */
static bool is_waiting(struct remotes *remotes, const struct bcs_remote_fetch *fetch,
                       struct bcs_remote_fetch ***end_out)
{
    struct bcs_remote_fetch **at = &remotes->fetches;

    while (*at != NULL && *at != fetch) {
        at = &(*at)->next;
    }
    *end_out = at;
    return *at != NULL;
}

int channels_call_remote_fetch(const struct bcs_remote *remote,
                               struct bcs_remote_fetch *fetch)
{
    int rc = bcs_remote_check(remote, fetch->word, sizeof(uint64_t), sizeof(uint64_t));
    struct bcs_remote_fetch **last;

    if (rc == 0 || rc == BCS_REMOTE_IS_FAR) {
        rc = bcs_remote_check(remote, fetch->offset, fetch->n_bytes, 1);
    }
    if (rc == BCS_REMOTE_IS_FAR) {
        bcs_error("bcs_remote_fetch: rank %" PRIu32 " is on another machine; fetches "
                  "are allowed from ranks of the own machine",
                  remote->rank);
        return -ENOTSUP;
    }
    if (rc != 0) {
        return rc;
    }
    if (fetch->event == NULL || (fetch->data_out == NULL && fetch->n_bytes != 0)) {
        bcs_error("bcs_remote_fetch: of region %" PRIu32 " of rank %" PRIu32
                  ": no event, or no place for its bytes",
                  remote->number, remote->rank);
        return -EINVAL;
    }
    if (is_waiting(&remote->inside->channels->remotes, fetch, &last)) {
        bcs_error("bcs_remote_fetch: of region %" PRIu32 " of rank %" PRIu32
                  ": the fetch was started before, and waits for its word still",
                  remote->number, remote->rank);
        return -EALREADY;
    }
    fetch->remote = remote;
    fetch->next = NULL;
    bcs_remote_before_read(remote);
    if (!look(fetch)) {
        *last = fetch;
    }
    return 0;
}

int remote_check_thread(const struct channels *channels, const char *caller)
{
    const void *thread = channels->remotes.thread;

    if (thread != NULL && thread != bcs_remote_thread()) {
        bcs_error("%s: another thread has regions open; remote commands are of one "
                  "thread of a process",
                  caller);
        return -EPERM;
    }
    return 0;
}

int remote_test(struct channels *channels, const struct bcs_remote_event *event,
                uint64_t count)
{
    int rc = remote_check_thread(channels, "bcs_remote_test");

    if (rc < 0) {
        return rc;
    }
    if (event->count < count) {
        remote_fetches_pass(&channels->remotes);
    }
    return event->count >= count ? 0 : BCS_E_PENDING;
}

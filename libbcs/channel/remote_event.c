/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting until an event has counted so many fetches.
 */
#include <errno.h>
#include <inttypes.h>

#include "libbcs/channel/channel_record.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"

static bool has_counted(struct remote_goal *goal)
{
    return goal->event->count >= goal->count;
}

/** Fetches that wait, and that an event is to count. */
static uint64_t n_waiting(const struct remotes *remotes,
                          const struct bcs_remote_event *event)
{
    uint64_t n = 0;

    for (const struct bcs_remote_fetch *fetch = remotes->fetches; fetch != NULL;
         fetch = fetch->next) {
        n += fetch->event == event;
    }
    return n;
}

int remote_wait_event(struct channels *channels, const struct bcs_remote_event *event,
                      uint64_t count)
{
    struct remote_goal goal = {.channels = channels, .event = event, .count = count};
    int rc = remote_check_thread(channels, "bcs_remote_wait_event");
    uint64_t n;

    if (rc < 0 || event->count >= count) {
        return rc;
    }
    n = n_waiting(&channels->remotes, event);
    if (event->count + n < count) {
        bcs_error("bcs_remote_wait_event: for %" PRIu64 "; it has counted %" PRIu64
                  ", and no more than %" PRIu64 " fetches are under way",
                  count, event->count, n);
        return -EINVAL;
    }
    rc = remote_wait_for(&goal, has_counted);
    channel_note_waited_for_any();
    return rc;
}

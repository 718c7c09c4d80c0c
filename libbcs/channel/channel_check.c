/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the calling thread may use an end, and in what it is called. By any thread.
 */
#include <errno.h>
#include <inttypes.h>

#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"

bool channels_is_in_handler(struct channels *channels)
{
    /* Pairs with the stores of handlers.c; only the poller itself needs to see its
     * own. */
    return (__atomic_load_n(&channels->is_polling, __ATOMIC_ACQUIRE) &&
            pthread_equal(__atomic_load_n(&channels->poller, __ATOMIC_RELAXED),
                          pthread_self())) ||
           channel_helper_is_self(&channels->helper);
}

int channel_end_check(const struct channel_end *end, const char *caller)
{
    if (channels_is_in_handler(end->channels)) {
        bcs_error("%s: channel %" PRIu32 " %s rank %" PRId32
                  ": called in a handler, which must not wait, open or close",
                  caller, end->params.number, end->side == CHANNEL_OUT ? "to" : "from",
                  end->params.peer);
        return -EDEADLK;
    }
    if (!pthread_equal(end->owner, pthread_self())) {
        bcs_error("%s: channel %" PRIu32 " %s rank %" PRId32
                  " was opened by another thread",
                  caller, end->params.number, end->side == CHANNEL_OUT ? "to" : "from",
                  end->params.peer);
        return -EPERM;
    }
    return 0;
}

int channel_in_check(const struct channel_in *in, const char *caller)
{
    int rc = channel_end_check(&in->end, caller);

    if (rc == 0 && in->helped != NULL) {
        bcs_error("%s: channel %" PRIu32 " from rank %" PRId32
                  ": its handler runs in the helper thread, which alone may use it; "
                  "bcs_channel_set_handler takes it back",
                  caller, in->end.params.number, in->end.params.peer);
        rc = -EPERM;
    }
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other processes of the job, as remote commands see them: transfers to them, and
 * whether they are there.
 */
#include "libbcs/channel/channel_state.h"

bool remote_has_left(const struct channels *channels, uint32_t rank)
{
    const uint64_t *left = bcs_core_address(channels->core, channels->layout.left_gva);

    /* Pairs with the put of remotes_release_all. */
    return __atomic_load_n(&left[rank], __ATOMIC_ACQUIRE) != 0;
}

int remote_say_left(struct channels *channels)
{
    static const uint64_t yes = 1;
    const struct channel_layout *layout = &channels->layout;

    return remote_transfer(
        channels,
        &(struct bcs_xfer){
            .src = &yes,
            .n_bytes = sizeof(yes),
            .dest_gva = layout->left_gva + channels->rank * sizeof(yes),
            .dests = &channels->remotes.all,
            /* who waits for an answer of a far process sees that there is none */
            .remote_event_gva = channels_is_apart(channels) ? layout->bell_gva : 0,
        });
}

int remote_transfer(struct channels *channels, const struct bcs_xfer *xfer)
{
    int rc = bcs_xfer_and_signal_blocking(channels->core, xfer);

    return rc == 0 && bcs_core_is_late(channels->core) ? bcs_core_flush(channels->core)
                                                       : rc;
}

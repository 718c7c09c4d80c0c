/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of <bcs/channel.h> and <bcs/remote.h> that name neither an end nor a
 * region: they are of this process's one state.
 */
#include <errno.h>
#include <stdlib.h>

#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_record.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"

/** The state. @return NULL: there is none; logged */
static struct channels *self(const char *caller)
{
    if (channels_self == NULL) {
        if (bcs_forked_is_child()) {
            bcs_forked_tell(caller);
        } else {
            bcs_error(
                "%s: called before bcs_channels_init or after bcs_channels_finalize",
                caller);
        }
    }
    return channels_self;
}

static void end_helper_at_exit(void)
{
    if (channels_self != NULL) {
        channel_helper_end_at_exit(&channels_self->helper);
    }
}

int bcs_channels_init(void)
{
    struct bcs_entry entry;
    int rc = bcs_entry_init(&entry, BCS_ENTRY_CHANNELS);

    if (rc < 0) {
        return rc;
    }
    if (atexit(end_helper_at_exit) != 0) {
        bcs_error("bcs_channels_init: out of memory");
        bcs_entry_fini(&entry);
        return -ENOMEM;
    }
    rc = channels_join(&entry, &channels_self);
    if (rc < 0) {
        bcs_entry_fini(&entry);
    } else {
        channels_record(channels_self);
    }
    return rc;
}

int bcs_channels_finalize(void)
{
    struct channels *channels = self("bcs_channels_finalize");

    if (channels == NULL) {
        return -EPERM;
    }
    if (channels_is_in_handler(channels)) {
        bcs_error("bcs_channels_finalize: called in a handler");
        return -EPERM;
    }
    channels_self = NULL;
    return channels_leave(channels);
}

int bcs_channels_size(void)
{
    return channels_self == NULL ? 0 : (int)channels_self->size;
}

int bcs_channels_rank(void)
{
    return channels_self == NULL ? -1 : (int)channels_self->rank;
}

int channels_call_channel_open_out(const struct bcs_channel_params *params,
                                   struct bcs_channel_out **out_out)
{
    struct channels *channels = self("bcs_channel_open_out");

    return channels == NULL ? -EPERM : channels_open_out(channels, params, out_out);
}

int channels_call_channel_open_in(const struct bcs_channel_params *params,
                                  struct bcs_channel_in **in_out)
{
    struct channels *channels = self("bcs_channel_open_in");

    return channels == NULL ? -EPERM : channels_open_in(channels, params, in_out);
}

int channels_call_channels_poll(void)
{
    struct channels *channels = self("bcs_channels_poll");

    return channels == NULL ? -EPERM : channels_poll(channels);
}

int channels_call_region_export(uint32_t number, size_t n_bytes,
                                struct bcs_remote *own_out)
{
    struct channels *channels = self("bcs_region_export");

    return channels == NULL ? -EPERM
                            : remote_export(channels, number, n_bytes, own_out);
}

int channels_call_region_import(int rank, uint32_t number,
                                struct bcs_remote *remote_out)
{
    struct channels *channels = self("bcs_region_import");

    return channels == NULL ? -EPERM
                            : remote_import(channels, rank, number, true, remote_out);
}

int channels_call_region_import_now(int rank, uint32_t number,
                                    struct bcs_remote *remote_out)
{
    struct channels *channels = self("bcs_region_import_now");

    return channels == NULL ? -EPERM
                            : remote_import(channels, rank, number, false, remote_out);
}

int channels_call_remote_test(const struct bcs_remote_event *event, uint64_t count)
{
    struct channels *channels = self("bcs_remote_test");

    return channels == NULL ? -EPERM : remote_test(channels, event, count);
}

int channels_call_remote_wait_event(const struct bcs_remote_event *event,
                                    uint64_t count)
{
    struct channels *channels = self("bcs_remote_wait_event");

    return channels == NULL ? -EPERM : remote_wait_event(channels, event, count);
}

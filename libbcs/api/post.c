/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where posting has to wait for room in the ring, or finds no cell. Called by the process
 * that owns the context.
 */
#include "libbcs/api/post.h"

#include <errno.h>
#include <inttypes.h>

#include "libbcs/api/external.h"
#include "libbcs/base/notice.h"

struct bcs_descriptor *bcs_post_wait_for_entry(struct bcs_context *context)
{
    struct nic_waiter waiter = {0};
    struct bcs_descriptor *entry;

    while ((entry = bcs_poster_entry(&context->poster)) == NULL) {
        context->is_called = bcs_external_is_called(context);
        if (bcs_external_is_needed(context)) {
            context->hooks.move_external();
        }
        context->driver->wait_for_room(context->engine, &waiter);
    }
    context->driver->stop(context->engine, &waiter);
    return entry;
}

int bcs_post_no_cell(const struct bcs_context *context)
{
    bcs_notice(BCS_NOTICE_DESCRIPTORS_USED,
               "%" PRIu64 " operations of rank %u are pending, as many as may be",
               context->config.descriptors, context->rank);
    return -ENOMEM;
}

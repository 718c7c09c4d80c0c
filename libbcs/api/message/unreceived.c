/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that nobody has received; see unreceived.h. What a process has sent to
 * another one comes there in its order, whatever the driver: so once the last message
 * of each has been received, all before it stand in the queue of the port, or have been
 * received.
 */
#include "libbcs/api/message/unreceived.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "libbcs/api/context/context.h"
#include "libbcs/api/context/request_state.h"
#include "nic_threads/referee/proof.h"

/* Beyond the tags of the collectives' messages, as that of slots.c of the MPI shim. */
enum { LAST_TAG = INT_MAX - 1 };

/** The last message from or to a process. */
static struct bcs_message last_of(const struct bcs_group *world, int32_t peer)
{
    return (struct bcs_message){
        .group = world,
        .peer = peer,
        .tag = LAST_TAG,
        .reserved = {BCS_SPACE_COLLECTIVE},
    };
}

/** Have all come that will ever come. */
static int await_last(struct bcs_context *context, const struct bcs_group *world)
{
    int rc = 0;

    for (int32_t i = 1; rc >= 0 && i < world->size; i++) {
        struct bcs_message message = last_of(world, (world->rank + i) % world->size);

        rc = bcs_api_send(context, &message, BCS_SEND_BUFFERED, NULL);
    }
    for (int32_t i = 0; rc >= 0 && i < world->size; i++) {
        struct bcs_message message = last_of(world, i);

        rc = i == world->rank ? 0 : bcs_api_recv(context, &message, NULL, NULL);
    }
    return rc < 0 ? rc : 0;
}

int bcs_unreceived(struct bcs_context *context, const struct bcs_group *world,
                   struct bcs_unreceived *list_out, uint32_t n_most, uint32_t *n_out)
{
    struct nic_unreceived *found = calloc((size_t)n_most + 1, sizeof(*found));
    int rc =
        await_last(context, world); /* others expect it, also without memory here */
    uint32_t n = 0;

    rc = found == NULL ? -ENOMEM : rc;
    if (rc == 0) {
        n = nic_proof_left(context->engine, context->port,
                           NIC_UNMATCHED_OWN | NIC_UNMATCHED_TAKEN, found, n_most);
    }
    for (uint32_t i = 0; i < n; i++) {
        list_out[i] = (struct bcs_unreceived){found[i].from, found[i].tag,
                                              found[i].n_bytes, found[i].context_id};
    }
    free(found);
    *n_out = n;
    return rc;
}

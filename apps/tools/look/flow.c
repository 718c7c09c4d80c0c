/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up descriptors; see flow.h.
 */
#include "apps/tools/look/flow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_ROOM = 64 };

/** The rank of a port. */
static uint32_t rank_of(const struct bcs_flow_window *window, uint32_t port)
{
    return window->ranks == NULL ? port : window->ranks[port];
}

/** The flow of the window to a rank: those of one window stand behind the others. */
static struct bcs_flow *flow_to(struct bcs_flows *flows, uint32_t first,
                                const struct bcs_flow_window *window, uint32_t to)
{
    for (uint32_t i = first; i < flows->n; i++) {
        if (flows->flows[i].to == to) {
            return &flows->flows[i];
        }
    }
    if (flows->n == flows->n_room) {
        uint32_t n_room = flows->n_room == 0 ? FIRST_ROOM : flows->n_room * 2;
        struct bcs_flow *longer =
            realloc(flows->flows, n_room * sizeof(flows->flows[0]));

        if (longer == NULL) {
            return NULL;
        }
        flows->flows = longer;
        flows->n_room = n_room;
    }
    flows->flows[flows->n] =
        (struct bcs_flow){.from = rank_of(window, window->from), .to = to};
    return &flows->flows[flows->n++];
}

/** Whether an entry is a message of the job. */
static bool is_message(const struct bcs_flow_window *window,
                       const struct bcs_descriptor *entry)
{
    return entry->kind == BCS_SEND && entry->port < window->n_ports &&
           rank_of(window, entry->port) != BCS_PORT_HOLE;
}

/** The mean length of the messages in a window; as it was, if there are none. */
static double mean_of(const struct bcs_flow_window *window)
{
    double n_bytes = 0, n = 0;

    for (uint32_t i = 0; i < window->n; i++) {
        if (is_message(window, &window->entries[i])) {
            n_bytes += (double)window->entries[i].n_bytes;
            n++;
        }
    }
    return n == 0 ? window->mean_bytes : n_bytes / n;
}

int bcs_flow_add(struct bcs_flows *flows, const struct bcs_flow_window *window,
                 double *mean_bytes_out)
{
    double weight = window->n == 0 ? 0 : (double)window->n_moved / window->n;
    double mean = mean_of(window), before = window->mean_bytes;
    /* For each byte that was seen so many were not. */
    double unseen = (weight - 1) * (before >= 0 && before < mean ? before / mean : 1);
    uint32_t first = flows->n;

    for (uint32_t i = 0; i < window->n; i++) {
        const struct bcs_descriptor *entry = &window->entries[i];
        struct bcs_flow *flow;

        if (entry->kind == BCS_COLLECTIVE && entry->source == 0) {
            flows->n_collectives += weight;
        }
        if (!is_message(window, entry)) {
            continue;
        }
        flow = flow_to(flows, first, window, rank_of(window, entry->port));
        if (flow == NULL) {
            return -ENOMEM;
        }
        flow->n_messages += weight;
        flow->n_bytes += (1 + unseen) * (double)entry->n_bytes;
    }
    *mean_bytes_out = mean;
    return 0;
}

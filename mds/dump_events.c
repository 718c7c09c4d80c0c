/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the ring of events, the oldest first; see dump_events.h.
 */
#include "mds/dump_events.h"

#include "mds/sites.h"

/** Since the begin of recording. Cores' counters may differ by some ticks. */
static uint64_t ns_of(const struct mds_collect *collect, uint64_t ticks,
                      double ns_per_tick)
{
    uint64_t since = ticks > collect->start_ticks ? ticks - collect->start_ticks : 0;

    return (uint64_t)((double)since * ns_per_tick + 0.5);
}

void mds_dump_events(struct mds_dump *dump, struct mds_collect *collect,
                     const uint32_t *calls, const uint32_t *sites, double ns_per_tick)
{
    uint32_t n_most = collect->shape.n_events, n = 0;
    uint64_t first = collect->n_events > n_most ? collect->n_events - n_most : 0;
    struct mds_dump_event *record;

    if (n_most == 0) {
        return;
    }
    record = mds_dump_add(dump, "events", sizeof(*record),
                          (uint32_t)(collect->n_events - first));
    for (uint64_t i = first; record != NULL && i < collect->n_events; i++) {
        const struct mds_event *event = &mds_events(collect)[i % n_most];
        const struct mds_site *site = &collect->sites.table[event->site % MDS_SITES];
        uint32_t number = sites[event->site % MDS_SITES];

        if (number == MDS_DUMP_NONE || event->comm > collect->comms.n_used ||
            event->end_ticks < event->begin_ticks ||
            (event->n_messages > 0 &&
             (uint32_t)event->peer >= collect->shape.n_ranks)) {
            continue;
        }
        record[n++] = (struct mds_dump_event){
            .begin = ns_of(collect, event->begin_ticks, ns_per_tick),
            .end = ns_of(collect, event->end_ticks, ns_per_tick),
            .n_bytes = event->n_bytes,
            .call = calls[site->primitive],
            .site = number,
            .comm = event->comm > 0 ? event->comm - 1 : MDS_DUMP_NONE,
            .n_messages = event->n_messages,
            .peer = event->peer,
            .tag = event->tag,
        };
    }
    mds_dump_cut(dump, n);
}

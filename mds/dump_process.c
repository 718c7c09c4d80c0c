/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a process's file; see dump_process.h. Times become nanoseconds by the ratio of
 * the two clocks over the run (mmds.c); what is counted by buckets stays in ticks, with
 * that ratio in the file.
 */
#include "mds/dump_process.h"

#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "mds/dump_events.h"
#include "mds/dump_sites.h"
#include "mds/dump_write.h"
#include "mds/mmds.h"

static void add_process(struct mds_dump *dump, const struct mds_process *process,
                        const struct mmds_summary *summary)
{
    const struct mds_collect *collect = process->collect;
    struct mds_dump_process *record = mds_dump_add(dump, "process", sizeof(*record), 1);

    if (record == NULL) {
        return;
    }
    *record = (struct mds_dump_process){
        .rank = collect->origin.rank,
        .n_ranks = collect->shape.n_ranks,
        .pid = (uint64_t)collect->origin.pid,
        .began_unix = collect->start_unix_ns,
        .began_monotonic = collect->start_ns,
        .run = summary->run_ns,
        .run_ticks = collect->stop_ticks - collect->start_ticks,
        .instant = summary->instant_ns,
        .peak_bytes = collect->peak_bytes,
        .n_slices = process->n_slices,
        .end = process->end,
        .histogram_bits = collect->shape.bits,
    };
    memcpy(record->host, collect->origin.host, sizeof(record->host));
}

_Static_assert(MDS_DUMP_PARTS == (int)MDS_N_PARTS && MDS_DUMP_LATE == (int)MDS_N_LATE,
               "records have all parts");

static struct mds_dump_call call_of(uint32_t name, enum mds_timing timing,
                                    const struct mmds_interval *time)
{
    return (struct mds_dump_call){
        .name = name,
        .timing = timing,
        .count = time->count,
        .min = time->min_ns,
        .max = time->max_ns,
        .total = time->total_ns,
    };
}

static void add_periods(struct mds_dump *dump, const struct mmds_summary *summary)
{
    uint32_t computation = mds_dump_name(dump, "Comp Granularity");
    uint32_t communication = mds_dump_name(dump, "Comm Overhead");
    struct mds_dump_call *record = mds_dump_add(dump, "periods", sizeof(*record), 2);

    if (record != NULL) {
        record[0] = call_of(computation, MDS_INSTANT, &summary->computation);
        record[1] = call_of(communication, MDS_BLOCKING, &summary->communication);
    }
}

static uint64_t n_passed(const struct mds_process *process, uint32_t primitive)
{
    return process->n_passed == NULL ? 0 : process->n_passed[primitive];
}

/** Where a process that has not ended is in a call; NULL: it is in none. */
static const struct mds_site *place_of(const struct mds_process *process)
{
    const struct mds_collect *collect = process->collect;
    const struct mds_site *site = &collect->sites.table[collect->now.site % MDS_SITES];

    return process->end != MDS_DUMP_END_FINALIZE && collect->now.is_inside &&
                   site->is_used && site->primitive < collect->origin.n_kinds
               ? site
               : NULL;
}

/** Whether a primitive has a record: it may never have come back. */
static bool was_called(const struct mds_process *process, uint32_t primitive)
{
    const struct mds_site *place = place_of(process);

    return process->collect->primitives[primitive].time.count > 0 ||
           n_passed(process, primitive) > 0 ||
           (place != NULL && place->primitive == primitive);
}

/** @param numbers_out [n_primitives] number of each primitive's record; stays if it has
 *  none */
static void add_calls(struct mds_dump *dump, const struct mds_process *process,
                      const struct mmds_summary *summary, uint32_t *numbers_out)
{
    struct mds_dump_call *record =
        mds_dump_add(dump, "calls", sizeof(*record), process->collect->origin.n_kinds);
    uint32_t n = 0;

    for (uint32_t i = 0; record != NULL && i < process->collect->origin.n_kinds; i++) {
        const struct mds_primitive *primitive = &process->collect->primitives[i];

        if (was_called(process, i)) {
            record[n] = call_of(
                mds_dump_name(dump, process->collect->origin.kinds[i].name),
                process->collect->origin.kinds[i].timing, &summary->primitives[i]);
            record[n].n_sized = primitive->n_sized;
            record[n].n_bytes = primitive->n_bytes;
            record[n].n_passed = n_passed(process, i);
            memcpy(record[n].parts, summary->splits[i].ns, sizeof(record[n].parts));
            numbers_out[i] = n++;
        }
    }
    mds_dump_cut(dump, n);
}

/** The buckets of one distribution that are not empty, to record_out unless that is
 *  NULL.
 *  @return how many */
static uint32_t put_buckets(const struct mds_process *process, uint32_t distribution,
                            const struct mds_dump_bucket *form,
                            struct mds_dump_bucket *record_out)
{
    const uint64_t *counts = mds_distribution(process->collect, distribution);
    uint32_t n = 0;

    for (uint32_t i = 0; counts != NULL && i < process->collect->n_buckets; i++) {
        if (counts[i] == 0) {
            continue;
        }
        if (record_out != NULL) {
            record_out[n] = *form;
            record_out[n].bucket = i;
            record_out[n].count = counts[i];
        }
        n++;
    }
    return n;
}

/** The same of all distributions. */
static uint32_t put_all_buckets(const struct mds_process *process,
                                const uint32_t *numbers,
                                struct mds_dump_bucket *record_out)
{
    uint32_t n = 0;

    for (uint32_t of = MDS_DUMP_OF_COMPUTATION; of <= MDS_DUMP_OF_SIZE; of++) {
        bool is_of_call = of >= MDS_DUMP_OF_LATENCY;
        uint32_t first = of == MDS_DUMP_OF_SIZE ? MDS_DISTRIBUTION_SIZE : of;

        for (uint32_t i = 0; i < (is_of_call ? process->collect->origin.n_kinds : 1);
             i++) {
            const struct mds_dump_bucket form = {
                .of = of,
                .call = is_of_call ? numbers[i] : 0,
            };

            if (!is_of_call || was_called(process, i)) {
                n += put_buckets(process, first + i, &form,
                                 record_out == NULL ? NULL : record_out + n);
            }
        }
    }
    return n;
}

static void add_buckets(struct mds_dump *dump, const struct mds_process *process,
                        const uint32_t *numbers)
{
    struct mds_dump_bucket *record = mds_dump_add(
        dump, "buckets", sizeof(*record), put_all_buckets(process, numbers, NULL));

    if (record != NULL) {
        put_all_buckets(process, numbers, record);
    }
}

static bool is_peer(const struct mds_peer *peer)
{
    uint64_t n = peer->n_sent + peer->n_received;

    for (uint32_t i = 0; i < MDS_N_LATE; i++) {
        n += peer->late_ticks[i];
    }
    return n > 0;
}

static void add_peers(struct mds_dump *dump, const struct mds_process *process)
{
    double ns_per_tick = mmds_ns_per_tick(process->collect);
    const struct mds_peer *peers = mds_peers(process->collect);
    uint32_t n_ranks = process->collect->shape.n_ranks, n = 0;
    struct mds_dump_peer *record =
        mds_dump_add(dump, "peers", sizeof(*record), n_ranks);

    for (uint32_t i = 0; record != NULL && i < n_ranks; i++) {
        if (is_peer(&peers[i])) {
            record[n] = (struct mds_dump_peer){
                .rank = i,
                .n_sent = peers[i].n_sent,
                .sent_bytes = peers[i].sent_bytes,
                .n_received = peers[i].n_received,
                .received_bytes = peers[i].received_bytes,
            };
            for (uint32_t j = 0; j < MDS_N_LATE; j++) {
                record[n].late[j] =
                    bcs_clock_in_ns(peers[i].late_ticks[j], ns_per_tick);
            }
            n++;
        }
    }
    mds_dump_cut(dump, n);
}

static void add_comms(struct mds_dump *dump, const struct mds_comms *comms)
{
    struct mds_dump_comm *record =
        mds_dump_add(dump, "comms", sizeof(*record), comms->n_used);

    for (uint32_t i = 0; record != NULL && i < comms->n_used; i++) {
        const struct mds_comm *comm = &comms->table[i];

        record[i] = (struct mds_dump_comm){
            .id = comm->id,
            .name = mds_dump_name(dump, comm->name),
            .n_ranks = comm->n_ranks,
            .n_sent = comm->n_sent,
            .sent_bytes = comm->sent_bytes,
            .n_received = comm->n_received,
            .received_bytes = comm->received_bytes,
            .n_collectives = comm->n_collectives,
            .collective_bytes = comm->collective_bytes,
        };
    }
}

static void add_phases(struct mds_dump *dump, const struct mds_phases *phases,
                       double ns_per_tick)
{
    struct mds_dump_phase *record =
        mds_dump_add(dump, "phases", sizeof(*record), phases->n_used);

    for (uint32_t i = 0; record != NULL && i < phases->n_used; i++) {
        const struct mds_phase *phase = &phases->table[i];

        record[i] = (struct mds_dump_phase){
            .level = phase->level,
            .is_other = i == MDS_PHASES - 1,
            .count = phase->n,
            .total = bcs_clock_in_ns(phase->ticks, ns_per_tick),
            .blocked = bcs_clock_in_ns(phase->blocked, ns_per_tick),
            .instant = bcs_clock_in_ns(phase->instant, ns_per_tick),
        };
    }
}

/** Where the process stands, or stood last: of one that has not ended. */
static void add_now(struct mds_dump *dump, const struct mds_process *process,
                    const uint32_t *numbers, double ns_per_tick)
{
    const struct mds_collect *collect = process->collect;
    const struct mds_now *now = &collect->now;
    const struct mds_site *site = place_of(process);
    uint64_t since = now->since_ticks - collect->start_ticks;
    struct mds_dump_now *record;

    if (process->end == MDS_DUMP_END_FINALIZE) {
        return;
    }
    record = mds_dump_add(dump, "now", sizeof(*record), 1);
    if (record == NULL) {
        return;
    }
    *record = (struct mds_dump_now){
        .since = bcs_clock_in_ns(since, ns_per_tick),
        .call = MDS_DUMP_NONE,
        .module = MDS_DUMP_NONE,
        .comm = MDS_DUMP_NONE,
    };
    if (site != NULL) {
        struct mds_dump_place place = mds_dump_place(dump, &collect->sites, site);

        record->call = numbers[site->primitive];
        record->module = place.module;
        record->address = place.address;
        record->words = place.words;
        record->comm = now->comm > 0 && now->comm <= collect->comms.n_used
                           ? now->comm - 1
                           : MDS_DUMP_NONE;
        record->has_peer = now->has_peer;
        record->peer = now->peer;
        record->tag = now->tag;
    }
}

/** Add all sections. */
static void add_all(struct mds_dump *dump, const struct mds_process *process)
{
    double ns_per_tick = mmds_ns_per_tick(process->collect);
    uint32_t numbers[MDS_MAX_PRIMITIVES], sites[MDS_SITES];
    struct mmds_summary summary;

    for (uint32_t i = 0; i < MDS_MAX_PRIMITIVES; i++) {
        numbers[i] = MDS_DUMP_NONE;
    }
    mmds_summarize(process->collect, &summary);
    add_process(dump, process, &summary);
    add_periods(dump, &summary);
    add_calls(dump, process, &summary, numbers);
    add_buckets(dump, process, numbers);
    add_peers(dump, process);
    add_comms(dump, &process->collect->comms);
    add_phases(dump, &process->collect->phases, ns_per_tick);
    mds_dump_sites(dump, &process->collect->sites, numbers, ns_per_tick, sites);
    mds_dump_events(dump, process->collect, numbers, sites, ns_per_tick);
    add_now(dump, process, numbers, ns_per_tick);
}

int mds_dump_process_write(const struct mds_process *process, const char *path)
{
    struct mds_dump dump = {.kind = MDS_DUMP_PROCESS};
    int rc;

    add_all(&dump, process);
    rc = mds_dump_write(&dump, path);
    mds_dump_fini(&dump);
    return rc;
}

int mds_dump_process_bytes(const struct mds_process *process, char **bytes_out,
                           size_t *n_bytes_out)
{
    struct mds_dump dump = {.kind = MDS_DUMP_PROCESS};
    int rc;

    add_all(&dump, process);
    rc = mds_dump_bytes(&dump, bytes_out, n_bytes_out);
    mds_dump_fini(&dump);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes places where calls were made, by file and address in it; see dump_sites.h. An
 * address is that of the file, not of the process, so that it is the same in all
 * processes of a run.
 */
#include "mds/dump_sites.h"

#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "mds/mmds.h"

static void add_modules(struct mds_dump *dump, const struct mds_modules *modules)
{
    struct mds_dump_module *record =
        mds_dump_add(dump, "modules", sizeof(*record), modules->n_used);

    for (uint32_t i = 0; record != NULL && i < modules->n_used; i++) {
        record[i].name = mds_dump_name(dump, modules->table[i].path);
        record[i].id_bytes = modules->table[i].n_id_bytes;
        memcpy(record[i].id, modules->table[i].id, sizeof(record[i].id));
    }
}

struct mds_dump_place mds_dump_place(struct mds_dump *dump,
                                     const struct mds_sites *sites,
                                     const struct mds_site *site)
{
    const struct mds_modules *modules = &sites->modules;
    struct mds_dump_place place = {.module = MDS_DUMP_NONE, .address = site->address};

    if (site->words > 0 && site->words <= sites->n_words) {
        place.words = 1 + mds_dump_name(dump, sites->words[site->words - 1].text);
        place.address = 0;
    } else if (site->module < modules->n_used) {
        place.module = site->module;
        place.address -= modules->table[site->module].base;
    }
    return place;
}

void mds_dump_sites(struct mds_dump *dump, const struct mds_sites *sites,
                    const uint32_t *calls, double ns_per_tick,
                    uint32_t numbers_out[MDS_SITES])
{
    struct mds_dump_site *record;
    uint32_t n = 0;

    add_modules(dump, &sites->modules);
    record = mds_dump_add(dump, "sites", sizeof(*record), MDS_SITES);
    for (uint32_t i = 0; i < MDS_SITES; i++) {
        const struct mds_site *site = &sites->table[i];
        struct mmds_interval time = mmds_interval_of(&site->time, ns_per_tick);
        struct mmds_split split = mmds_split_of(&site->split, ns_per_tick);
        struct mds_dump_place place;

        numbers_out[i] = MDS_DUMP_NONE;
        /* Of a process that may be writing, a call may be counted here and not there
         * yet. */
        if (record == NULL || !site->is_used || site->time.count == 0 ||
            site->primitive >= MDS_MAX_PRIMITIVES ||
            calls[site->primitive] == MDS_DUMP_NONE) {
            continue;
        }
        place = mds_dump_place(dump, sites, site);
        record[n] = (struct mds_dump_site){
            .call = calls[site->primitive],
            .module = place.module,
            .address = place.address,
            .words = place.words,
            .count = time.count,
            .min = time.min_ns,
            .max = time.max_ns,
            .total = time.total_ns,
            .n_bytes = site->n_bytes,
            .fault_ns = bcs_clock_in_ns(site->fault.ticks, ns_per_tick),
            .fault_rank = site->fault.rank,
        };
        memcpy(record[n].parts, split.ns, sizeof(record[n].parts));
        numbers_out[i] = n++;
    }
    mds_dump_cut(dump, n);
}

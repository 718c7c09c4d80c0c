/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of a process's file that tell where in the program calls were made.
 */
#ifndef MDS_DUMP_SITES_H
#define MDS_DUMP_SITES_H

#include "mds/dump_write.h"
#include "mds/sites.h"

/** A place, as records have it. */
struct mds_dump_place {
    uint32_t module;  /* number of the record in "modules", or MDS_DUMP_NONE */
    uint32_t words;   /* as of "sites" */
    uint64_t address; /* as the module's file has it, or if that is not known as the
                         process had it; 0 if there are words */
};

/** Name the place of a site. */
struct mds_dump_place mds_dump_place(struct mds_dump *dump,
                                     const struct mds_sites *sites,
                                     const struct mds_site *site);

/**
 * Add the sections "sites" and "modules".
 *
 * @param calls [MDS_MAX_PRIMITIVES] number of each primitive's record in "calls";
 *                     MDS_DUMP_NONE: it has none, and its sites get none
 * @param ns_per_tick  of the times
 * @param numbers_out [MDS_SITES] number of each site's record; MDS_DUMP_NONE: it has
 * none
 */
void mds_dump_sites(struct mds_dump *dump, const struct mds_sites *sites,
                    const uint32_t *calls, double ns_per_tick,
                    uint32_t numbers_out[MDS_SITES]);

#endif

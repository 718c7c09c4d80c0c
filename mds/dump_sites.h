/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of a process's file that tell where in the program calls were made.
 */
#ifndef MDS_DUMP_SITES_H
#define MDS_DUMP_SITES_H

#include "mds/dump_write.h"
#include "mds/sites.h"

/** Name a place: its address as the module's file has it, or if that is not known as
 *  the process had it. @param module_out number of the record in "modules", or
 *  MDS_DUMP_NONE */
void mds_dump_place(const struct mds_modules *modules, uintptr_t address,
                    uint8_t module, uint32_t *module_out, uint64_t *address_out);

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

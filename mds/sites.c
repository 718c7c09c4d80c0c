/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New entries of the table of sites.h. Under the collection's lock. A call may be the
 * last one of its function's code: it is the byte before the address whose file is
 * looked for.
 */
#include "mds/sites.h"

/* Entries that are kept for the address 0, one a primitive, and one that stays free. */
enum { KEPT = MDS_MAX_PRIMITIVES + 1 };

struct mds_site *mds_sites_make(struct mds_sites *sites, uintptr_t address,
                                uint32_t primitive, uint32_t i)
{
    struct mds_site *site = &sites->table[i];

    if (address != 0 && sites->n_used >= MDS_SITES - KEPT) {
        return mds_sites_find(sites, 0, primitive);
    }
    *site = (struct mds_site){
        .address = address,
        .primitive = primitive,
        .is_used = 1,
        .module = address == 0 ? MDS_MODULE_NONE
                               : mds_modules_find(&sites->modules, address - 1),
    };
    sites->n_used++;
    return site;
}

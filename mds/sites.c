/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New entries of the table of sites.h. Under the collection's lock. A call may be the
 * last one of its function's code: it is the byte before the address whose file is
 * looked for.
 */
#include "mds/sites.h"

#include <stdbool.h>
#include <stdio.h>

/* Entries that are kept for the address 0, one a primitive, and one that stays free. */
enum { KEPT = MDS_MAX_PRIMITIVES + 1 };

/** Keep the words for a place. @return their number and 1; 0: there is no room */
static uint16_t keep_words(struct mds_sites *sites, uintptr_t address, const char *text)
{
    uint32_t i = 0;

    while (i < sites->n_words && sites->words[i].address != address) {
        i++;
    }
    if (i == MDS_WORDS) {
        return 0;
    }
    if (i == sites->n_words) {
        sites->words[i].address = address;
        snprintf(sites->words[i].text, sizeof(sites->words[i].text), "%s", text);
        sites->n_words++;
    }
    return (uint16_t)(i + 1);
}

struct mds_site *mds_sites_make(struct mds_sites *sites, uintptr_t address,
                                const char *text, uint32_t primitive, uint32_t i)
{
    struct mds_site *site = &sites->table[i];
    bool has_room = address == 0 || sites->n_used < MDS_SITES - KEPT;
    uint16_t words = has_room && text != NULL ? keep_words(sites, address, text) : 0;

    if (!has_room || (text != NULL && words == 0)) {
        return mds_sites_find(sites, 0, NULL, primitive);
    }
    *site = (struct mds_site){
        .address = address,
        .primitive = primitive,
        .is_used = 1,
        .words = words,
        .module = address == 0 || text != NULL
                      ? MDS_MODULE_NONE
                      : mds_modules_find(&sites->modules, address - 1),
    };
    sites->n_used++;
    return site;
}

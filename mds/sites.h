/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was recorded of calls by the place in the program where they are made: a table
 * with open addressing, of fixed size, keyed by where a call returns to and by the
 * primitive. Under the collection's lock; used by the thread that makes the call.
 *
 * Places beyond what the table holds are counted together, for each primitive, at the
 * address 0, for which there is always room: so the calls of all places are all calls.
 *
 * A place need not be one of code: of a call from Python whoever records has the words,
 * and the address is any that tells such places apart.
 */
#ifndef MDS_SITES_H
#define MDS_SITES_H

#include <stdint.h>

#include "mds/interval.h"
#include "mds/mds_module.h"
#include "mds/split.h"

/** Primitives are numbered by whoever records them, from 0 to this. */
#define MDS_MAX_PRIMITIVES 256

enum { MDS_SITE_BITS = 11, MDS_SITES = 1 << MDS_SITE_BITS };

/** Places that have words, and room for those of one. */
enum { MDS_WORDS = 512, MDS_WORDS_BYTES = 184 };

/** The words for a place, as "solve, run.py:12". */
struct mds_words {
    uintptr_t address;
    char text[MDS_WORDS_BYTES]; /* ended by a zero; of a longer one the begin */
};

/** Calls of one primitive from one place. */
struct mds_site {
    uintptr_t address; /* where they return to; 0: anywhere else */
    uint32_t primitive;
    uint8_t module;  /* where that is; MDS_MODULE_NONE: in none that is known */
    uint8_t is_used; /* 0 or not, as all in memory that others read */
    uint16_t words;  /* number of its words and 1; 0: the address is one of code */
    struct mds_interval time;
    uint64_t n_bytes;
    struct mds_split split;
    struct mds_fault fault; /* the rank that was waited for, most of the time */
};

/** All of a process. Zeroed at first. */
struct mds_sites {
    struct mds_modules modules;
    uint32_t n_used; /* entries; one is always free */
    uint32_t n_words;
    struct mds_words words[MDS_WORDS];
    struct mds_site table[MDS_SITES];
};

#pragma GCC visibility push(hidden)

/** The slow part of mds_sites_find: i is the free entry where the search has ended. */
struct mds_site *mds_sites_make(struct mds_sites *sites, uintptr_t address,
                                const char *text, uint32_t primitive, uint32_t i);

#pragma GCC visibility pop

/** The entry of a place, made if need be. @param text  its words, which are kept; NULL:
 *  the address is one of code */
static inline struct mds_site *mds_sites_find(struct mds_sites *sites,
                                              uintptr_t address, const char *text,
                                              uint32_t primitive)
{
    /* Fibonacci's hash. Calls have lengths of several bytes, primitives follow each
     * other. */
    uint64_t hash =
        (address + primitive * UINT64_C(0x10001)) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(hash >> (64 - MDS_SITE_BITS));

    while (sites->table[i].is_used) {
        struct mds_site *site = &sites->table[i];

        if (site->address == address && site->primitive == primitive) {
            return site;
        }
        i = (i + 1) % MDS_SITES;
    }
    return mds_sites_make(sites, address, text, primitive, i);
}

#endif

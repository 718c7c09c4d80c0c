/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in its program a thread of a running process waits: the line that calls, and
 * who has called that. One thread.
 */
#ifndef APPS_TOOLS_TOP_WHERE_H
#define APPS_TOOLS_TOP_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/ring/stand.h"
#include "mds/source/place.h"

/** What is known; words as place_describe has them. */
struct where {
    uint32_t n;                    /* places: of the call, and of its callers */
    char *words[BCS_STAND_FRAMES]; /* for free */
    /* Of the source; good until place_close. NULL: the words are all that is known. */
    const char *files[BCS_STAND_FRAMES];
    bool lacks_lines;  /* the first one's file has none */
    bool skips_crates; /* of Rust; see where.c */
};

/**
 * Find it.
 *
 * @param files   that the frames are in; NULL: as the process says
 * @param pid     the process; for that
 * @param n_most  places at most
 * @return end with where_fini; n is 0 if nothing is known
 */
struct where where_find(struct places *places, const struct bcs_stand_files *files,
                        int64_t pid, const struct bcs_stand *stand, uint32_t n_most);

/** Free the words. */
void where_fini(struct where *where);

#endif

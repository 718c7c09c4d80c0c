/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a recording is of: it stands at its begin, so that whoever has the recording's
 * memory, or the file that it is in while the process runs, can read it without the
 * process. Set when recording starts.
 *
 * The memory is that of this version of bcs; the file is read by the same one only
 * (live.h).
 */
#ifndef MDS_ORIGIN_H
#define MDS_ORIGIN_H

#include <stdint.h>

#include "mds/sites.h"

#define MDS_ORIGIN_MAGIC "BCS-LIVE"

enum { MDS_NAME_BYTES = 48, MDS_HOST_BYTES = 64 };

/** What the time inside a call is. */
enum mds_timing {
    MDS_UNTIMED,  /* not recorded */
    MDS_INSTANT,  /* recorded; part of the computation that surrounds it */
    MDS_BLOCKING, /* recorded; communication */
    MDS_BESIDE, /* recorded; by a thread of a library's, beside what the program does */
};

/** A primitive that may be recorded. */
struct mds_kind {
    char name[MDS_NAME_BYTES];
    uint32_t timing; /* enum mds_timing */
};

/** Whose recording it is, and of what. */
struct mds_origin {
    char magic[8];    /* set last, when all of it is there */
    uint64_t layout;  /* of the memory; see mds_live_layout */
    uint64_t n_bytes; /* of all of it */
    uint32_t rank;
    uint32_t n_kinds;
    int64_t pid;
    char host[MDS_HOST_BYTES]; /* ended by a zero */
    struct mds_kind kinds[MDS_MAX_PRIMITIVES];
};

#endif

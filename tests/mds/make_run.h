/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What make_run makes of a rank, and from what.
 */
#ifndef TESTS_MDS_MAKE_RUN_H
#define TESTS_MDS_MAKE_RUN_H

#include "make_file.h"

enum {
    MOST_PRIMITIVES = 24,
    MOST_BUCKETS = 5376, /* with seven bits */
    BLOCKS = 2,          /* column "timing" */
    TICKS_PER_NS = 2,
    MOST_PATH = 2048,
    FIRST = 12, /* octave that times begin in: some microseconds */
};

/** What was asked for. */
struct wish {
    uint64_t ranks, primitives, buckets, peers, bits, seed;
    uint64_t shift;    /* so many buckets longer is ... */
    uint64_t shifted;  /* ... the primitive of this number */
    uint64_t slow;     /* rank that computes longer; no rank's number: none */
    uint64_t resident; /* bytes */
    uint64_t placed; /* 1: calls have places and communicators; 0: as in older files */
    uint64_t stuck;  /* so many ranks have not ended */
    uint64_t nodes;  /* that have files about slices, */
    uint64_t spans;  /* each with so many */
    uint64_t parts; /* blocking calls have waited so many eighths of their time, at most
                       7, ... */
    uint64_t
        late; /* ... for this rank; parts 0: it is not recorded, as in older files */
    uint64_t events; /* that each rank has kept; 0: two of each primitive */
    uint64_t sites;  /* that each primitive is called from, at least 2 */
    uint64_t open;   /* messages of rank 0 to each peer that have not been received */
};

/** A distribution, its sum, and how it goes into a record of "calls" or "periods". */
struct series {
    uint64_t counts[MOST_BUCKETS];
    uint64_t n, total, least, most; /* of values; times in ticks */
};

struct process {
    struct series computation, communication, sizes[MOST_PRIMITIVES],
        times[MOST_PRIMITIVES];
    uint64_t instant;
};

enum { PARTS = 6, LATE_PARTS = 3 };

/** What calls of the p-th primitive of a rank, whose times come to so many nanoseconds,
 *  have waited for: of three kinds one part for the late rank, then a sixteenth for
 *  slices, and transfer. One primitive is not split. */
void split(const struct wish *wish, uint64_t rank, uint64_t p, uint64_t ns,
           uint64_t parts_out[PARTS]);

/** Put the parts, if they are recorded. */
void put_parts(struct file *file, const struct wish *wish, const uint64_t *parts,
               uint32_t n);

/** A number that depends on the seed and on these. */
uint64_t draw(const struct wish *wish, uint64_t a, uint64_t b, uint64_t c);

/** Messages to the d-th rank behind one. */
uint64_t messages(const struct wish *wish, uint64_t from, uint64_t d);

/** How many of them were received. */
uint64_t received(const struct wish *wish, uint64_t from, uint64_t d);

/** Make the files about slices. @return whether that has failed, which is told */
int make_nodes(const char *folder, const struct wish *wish);

/** The texts of the sections below, at the end of "names". */
void put_place_names(struct file *file);

/** Sections 6 to 12: modules, sites, comms, events, messages, now and phases. @param
 *  names where their texts are */
void put_place_sections(struct file *file, const struct wish *wish, uint64_t rank,
                        const struct process *process, uint32_t names);

#endif

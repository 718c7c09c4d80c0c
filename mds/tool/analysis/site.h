/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places in the program from which MPI was called, of all ranks of a run together.
 */
#ifndef MDS_TOOL_ANALYSIS_SITE_H
#define MDS_TOOL_ANALYSIS_SITE_H

#include "mds/source/place.h"
#include "mds/tool/read/run_read.h"

/** Calls of one primitive from one place. */
struct site {
    const char *primitive;
    bool is_blocking;
    const char *words;          /* for the place; NULL: it is that of an address */
    struct place_module module; /* path NULL: the address was in no file */
    uint64_t address;           /* 0: places that found no room; or it has words */
    uint64_t n_bytes;
    struct mmds_interval time;
    uint32_t n_ranks;           /* that have called from there */
    uint32_t most_rank;         /* which has spent most time, */
    uint64_t most_ns, least_ns; /* and how much; the least of any that has a file */
    struct mmds_split split;
    struct mds_fault fault; /* in nanoseconds */
    double variation;       /* of the ranks' totals: standard deviation by mean */
};

/** The i-th record of a rank's file, as a site of that rank alone. */
struct site site_of(const struct dump_file *file, uint32_t i);

/** The places of a run, by their total time. @return for free, [*n_out]; NULL: no
 *  memory
 *  @param rank  of this rank only; -1: of all */
struct site *sites_of(const struct run *run, int64_t rank, size_t *n_out);

/** Whether two are the same primitive at the same place, and if not, which comes
 *  first. */
int site_compare(const struct site *a, const struct site *b);

/** Times of sites together. */
double sites_total_ns(const struct site *sites, size_t n);

/** The words for a site: "MPI_Recv at main, a.c:7". @return for free; NULL: no
 *  memory */
char *site_words(const struct site *site, struct places *places);

/** The words for a site's place. @param place_out as for place_describe @return for
 *  free; NULL: no memory */
char *site_place(const struct site *site, struct places *places,
                 struct place *place_out);

#endif

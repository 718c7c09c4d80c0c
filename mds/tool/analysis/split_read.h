/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What blocking calls have waited for, by rank and by place: what each process has
 * recorded of it in calls (mds/split.h), which needs no events. By call it is in the
 * merged summaries (mmds.h).
 */
#ifndef MDS_TOOL_ANALYSIS_SPLIT_READ_H
#define MDS_TOOL_ANALYSIS_SPLIT_READ_H

#include "mds/tool/analysis/site.h"

/** Whether the calls of a file are split; those of earlier versions are not. */
bool split_is_in(const struct dump_file *file);

/** Whether any file of a run has calls that are split. */
bool split_is_in_any(const struct run *run);

/** Whether all files have. */
bool split_is_in_all(const struct run *run);

/** Words for the parts, by enum mds_part. */
extern const char *const split_names[MDS_N_PARTS];

/** What the calls of a rank have waited for, and others for it. */
struct split_rank {
    uint32_t rank;
    struct mmds_split own;
    uint64_t others_ns[MDS_DUMP_LATE]; /* by ranks that have a file */
};

/** Time for which a rank was at fault. */
static inline uint64_t split_late_ns(const uint64_t parts[MDS_DUMP_LATE])
{
    return parts[MDS_PART_SENDER] + parts[MDS_PART_RECEIVER] +
           parts[MDS_PART_COLLECTIVE];
}

/** By rank. @return for free, [run->n_files] in the order of the files; NULL: no
 *  memory */
struct split_rank *split_ranks(const struct run *run);

/** The places where late ranks were waited for, by how long. @return for free,
 *  [*n_out]; NULL: no memory @param rank of this rank only; -1: of all */
struct site *split_sites(const struct run *run, int64_t rank, size_t *n_out);

/** Print the parts of each rank's blocking calls, and how long others have waited for
 *  it; nothing if no file has any. @param rank -1: of all @return 0 or -ENOMEM */
int split_print_ranks(const struct run *run, int64_t rank);

/** Print the places where most was waited for late ranks; nothing if there are none.
 *  @return 0 or -ENOMEM */
int split_print_sites(const struct run *run, int64_t rank, size_t n_most);

/** Tell of what does not agree: parts that do not come to the time of their calls, or
 *  to that of the ranks that were waited for. @return number of findings */
int split_check(const struct dump_file *file);

#endif

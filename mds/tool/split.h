/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What blocking calls have waited for, by rank and by place: what each process has recorded of it
 * in calls (mds/split.h), which needs no events.
 */
#ifndef MDS_TOOL_SPLIT_H
#define MDS_TOOL_SPLIT_H

#include "mds/tool/site.h"

/** Whether the calls of a file are split; those of earlier versions are not. */
bool split_is_in(const struct dump_file *file);

/** For whom others have waited, by rank, of files that there are. @return for free, [n_ranks]; NULL:
 *  no memory */
struct mds_dump_peer *split_faults(const struct run *run);

/** Print the parts of each rank's blocking calls, and how long others have waited for it; nothing
 *  if no file has any. @param rank  -1: of all @return 0 or -ENOMEM */
int split_print_ranks(const struct run *run, int64_t rank);

/** Print the places where most was waited for late ranks; nothing if there are none. @return 0 or
 *  -ENOMEM */
int split_print_sites(const struct run *run, int64_t rank, size_t n_most);

/** Tell of what does not agree: parts that do not come to the time of their calls, or to that of
 *  the ranks that were waited for. @return number of findings */
int split_check(const struct dump_file *file);

#endif

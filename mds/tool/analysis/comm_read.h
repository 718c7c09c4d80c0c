/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicators of a run, of all ranks together.
 */
#ifndef MDS_TOOL_ANALYSIS_COMM_READ_H
#define MDS_TOOL_ANALYSIS_COMM_READ_H

#include "mds/tool/read/run_read.h"

/** What the ranks that have files have done on a communicator, all together. */
struct comm {
    struct mds_dump_comm sum; /* its name is that of the text below */
    const char *name;         /* as the program has it, any bytes; "": it has none */
    uint32_t n_files;         /* ranks that have used it */
};

/** The communicators of a run, by the bytes that were sent and put into collectives.
 *  @return for free, [*n_out]; NULL: no memory */
struct comm *comms_of(const struct run *run, size_t *n_out);

/** What to call one without a name. @return its name, or words for that it has none */
static inline const char *comm_title(const struct comm *comm)
{
    return comm->sum.id == 0       ? "(found no room)"
           : comm->name[0] != '\0' ? comm->name
                                   : "(no name)";
}

#endif

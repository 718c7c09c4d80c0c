/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that is in a run, as tables of rows, for whoever writes them in a format of
 * others (export_*.c). The tables are those of docs/mds.md. One thread.
 */
#ifndef MDS_TOOL_EXPORT_EXPORT_H
#define MDS_TOOL_EXPORT_EXPORT_H

#include "mds/tool/analysis/timeline.h"
#include "mds/tool/read/output.h"
#include "mds/tool/read/run_read.h"

enum { EXPORT_COLUMNS_MOST = 20 };

/** The tables, in the order in which they are handed out. */
enum export_number {
    EXPORT_MANIFEST,
    EXPORT_PROCESSES,
    EXPORT_PERIODS,
    EXPORT_CALLS,
    EXPORT_SITES,
    EXPORT_BUCKETS,
    EXPORT_PEERS,
    EXPORT_COMMS,
    EXPORT_NODES,
    EXPORT_SLICES,
    EXPORT_TABLES,
};

/** What a column has. */
enum export_kind {
    EXPORT_TEXT,   /* in UTF-8 */
    EXPORT_NUMBER, /* from 0 on, of 64 bits */
    EXPORT_REAL,
};

/** A column of a table; the same name is the same kind in all tables. */
struct export_column {
    const char *name; /* NULL behind the last */
    enum export_kind kind;
};

/** A table. */
struct export_table {
    const char *name;
    struct export_column columns[EXPORT_COLUMNS_MOST];
};

/** What stands in a row, in the order of its table's columns. */
union export_value {
    const char *text;
    uint64_t number;
    double real;
};

/** All tables, by enum export_number. */
extern const struct export_table export_tables[EXPORT_TABLES];

/** Who takes the rows. Each function returns 0, or <0: -errno, and nothing more is
 *  handed out. */
struct export_sink {
    void *state; /* what they are given */
    /** A table begins; it may have no rows. */
    int (*begin)(void *state, const struct export_table *table);
    /** The next row of a table. */
    int (*row)(void *state, const struct export_table *table,
               const union export_value *values);
    /** A table ends. */
    int (*end)(void *state, const struct export_table *table);
};

/** Hand out all that is in a run. @return 0; <0: what the sink has returned, or
 *  -ENOMEM */
int export_run(const struct run *run, const struct export_sink *sink);

/** Whether a run has events, for a format that has nothing else. @return 0; <0:
 *  error_out says that there are none */
int export_check_events(const struct run *run, char error_out[DUMP_ERROR_BYTES]);

/** The events of the i-th rank that has a file; there may be none. One rank's at a time
 *  are held.
 *  @return 0: end with export_timeline_end; <0: error_out says why not */
int export_timeline(const struct run *run, uint32_t i, const struct output *output,
                    struct timeline *timeline_out, char error_out[DUMP_ERROR_BYTES]);

/** Forget them. */
void export_timeline_end(const struct run *run, uint32_t i, struct timeline *timeline);

/** Write a run in a format. @return 0; <0: error_out says why not; the output is for
 *  the caller to end or to abandon */
typedef int (*export_fn)(const struct run *run, struct output *output,
                         char error_out[DUMP_ERROR_BYTES]);

/** Comma-separated values as of RFC 4180, but for lines that end as they do here. */
int export_csv(const struct run *run, struct output *output,
               char error_out[DUMP_ERROR_BYTES]);

/** JSON; there only where bcs-mds was built with Jansson. */
int export_json(const struct run *run, struct output *output,
                char error_out[DUMP_ERROR_BYTES]);

/** The events of a run, for Perfetto and Chrome's trace viewer; the same. */
int export_chrome(const struct run *run, struct output *output,
                  char error_out[DUMP_ERROR_BYTES]);

/** The same as an archive of the Open Trace Format 2, a folder; there only where
 *  bcs-mds was built with its library. */
int export_otf2(const struct run *run, struct output *output,
                char error_out[DUMP_ERROR_BYTES]);

/** A data base of SQLite 3; there only where bcs-mds was built with it. */
int export_sqlite(const struct run *run, struct output *output,
                  char error_out[DUMP_ERROR_BYTES]);

#endif

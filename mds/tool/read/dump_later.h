/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a process's file without its events and their messages, by far most of it,
 * which few need: who does has them read, a file after the other.
 */
#ifndef MDS_TOOL_READ_DUMP_LATER_H
#define MDS_TOOL_READ_DUMP_LATER_H

#include "mds/tool/read/dump_read.h"

/**
 * Read a file into memory; of a process's, leave out "events" and "messages": what is
 * read is such a file without records of these. A file that is not sound is read whole,
 * for who checks it.
 *
 * @param later_out  what was left out, for dump_postpone; zero: nothing
 * @return 0   *data_out is for free, and later_out->path, unless postponed
 * @return <0  error_out says why not
 */
int dump_read_early(const char *path, char **data_out, size_t *n_bytes_out,
                    struct dump_later *later_out, char error_out[DUMP_ERROR_BYTES]);

/** Give a file of a process what was left out of it: the number of its events is known
 *  from now on, and they can be held. @param later the file's from now on */
void dump_postpone(struct dump_file *file, const struct dump_later *later);

/**
 * Read the events of a file and their messages, and check them. Nothing if they are
 * held.
 *
 * @return 0   they can be had until dump_events_drop
 * @return <0  error_out says why not
 */
int dump_events_hold(struct dump_file *file, char error_out[DUMP_ERROR_BYTES]);

/** Free the events of a file, if they can be read again. */
void dump_events_drop(struct dump_file *file);

/** Whether all events that a file has can be had. */
static inline bool dump_events_are_held(const struct dump_file *file)
{
    return file->events.n == 0 || file->events.data != NULL;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that bcs-mds makes: it is written under another name beside its own, and gets
 * that when all of it is there. Where something else than a file stands, a pipe or a
 * device, or for "-", standard output, what is written goes there at once. A folder is
 * made in the same way, where nothing stands. One thread.
 */
#ifndef MDS_TOOL_READ_OUTPUT_H
#define MDS_TOOL_READ_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "mds/tool/read/dump_read.h"

enum { OUTPUT_PATH_BYTES = 4096 };

/** A file, or a folder, that is being made. */
struct output {
    FILE *file;                   /* for writing; NULL: a folder, at part */
    const char *name;             /* as the user has named it */
    bool is_direct;               /* written at once: no file */
    char path[OUTPUT_PATH_BYTES]; /* its own name, links followed, */
    char part[OUTPUT_PATH_BYTES]; /* and that until it is whole */
};

/**
 * Begin a file.
 *
 * @param name  what is there already stays until output_end
 * @return 0   end with output_end or output_abandon
 * @return <0  error_out says why it cannot be made
 */
int output_begin(const char *name, struct output *output_out,
                 char error_out[DUMP_ERROR_BYTES]);

/** Begin a folder. The same; there must be nothing of that name. */
int output_begin_folder(const char *name, struct output *output_out,
                        char error_out[DUMP_ERROR_BYTES]);

/** The file or folder is whole: give it its name. @return 0; <0: error_out says why
 *  not, and what was written is gone */
int output_end(struct output *output, char error_out[DUMP_ERROR_BYTES]);

/** Take away what was written. */
void output_abandon(struct output *output);

/** Write what is to be in a file, or folder, that has begun. @return 0; <0: error_out
 *  says why not */
typedef int (*output_fill_fn)(const void *what, struct output *output,
                              char error_out[DUMP_ERROR_BYTES]);

/** Make a file, or a folder, whole or not at all. @param what for fill @return the
 *  program's exit status: 0; 1: standard error has been told why it is not there */
int output_make(const char *name, bool is_folder, output_fill_fn fill,
                const void *what);

/** Say that it cannot be written. @param rc  -errno */
int output_refuse(const struct output *output, int rc,
                  char error_out[DUMP_ERROR_BYTES]);

#endif

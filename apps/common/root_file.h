/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that rank 0 writes and an option names. All ranks call these functions
 * together and agree on what has come of them.
 */
#ifndef COMMON_ROOT_FILE_H
#define COMMON_ROOT_FILE_H

#include <stdio.h>

struct root_file {
    const char *option; /* that names it, as the user writes it */
    const char *path;   /* NULL: no file is wanted */
    FILE *stream;       /* on rank 0 while it is open, else NULL */
};

/**
 * Open the file, if one is wanted. Done before the computation, so that a wrong name
 * costs no time. Collective.
 *
 * @param message  gets one line if the result is not 0, on rank 0; MESSAGE_BYTES long
 * @return 0 or -errno, the same on all ranks
 */
int root_file_open(struct root_file *file, char *message);

/**
 * Close the file, if one was opened. Collective.
 *
 * @param message  as of root_file_open
 * @return 0, or -EIO if not all could be written; the same on all ranks
 */
int root_file_close(struct root_file *file, char *message);

#endif

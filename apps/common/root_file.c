/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that rank 0 writes. Every rank runs it.
 */
#include "apps/common/root_file.h"

#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "apps/common/message.h"
#include "apps/common/program.h"

int root_file_open(struct root_file *file, char *message)
{
    int result = 0;

    if (file->path == NULL) {
        return 0;
    }
    if (program_is_root()) {
        file->stream = fopen(file->path, "w");
        if (file->stream == NULL) {
            result = -errno;
            message_set(message, "%s %s: %s", file->option, file->path,
                        strerror(-result));
        }
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return result;
}

int root_file_close(struct root_file *file, char *message)
{
    int result = 0;

    if (file->path == NULL) {
        return 0;
    }
    if (file->stream != NULL) {
        bool is_broken = ferror(file->stream) != 0;

        is_broken = fclose(file->stream) != 0 || is_broken;
        file->stream = NULL;
        if (is_broken) {
            result = -EIO;
            message_set(message, "%s %s: the file could not be written in full",
                        file->option, file->path);
        }
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return result;
}

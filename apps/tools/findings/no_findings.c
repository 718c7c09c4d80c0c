/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What there is of findings.h without Jansson: nothing.
 */
#include "apps/tools/findings/findings.h"

#include <errno.h>

bool findings_are_possible(void)
{
    return false;
}

int findings_check(const char *path, char path_out[PATH_MAX],
                   char error_out[FINDINGS_ERROR_BYTES])
{
    (void)path;
    (void)path_out;
    (void)error_out;
    return -ENOTSUP;
}

int findings_write(const struct findings_files *files, const char *folder,
                   const struct findings_run *run, char error_out[FINDINGS_ERROR_BYTES])
{
    (void)files;
    (void)folder;
    (void)run;
    (void)error_out;
    return -ENOTSUP;
}

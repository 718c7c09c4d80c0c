/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error line of bcsrun. Used by every file of the launcher, in its one thread.
 */
#include "apps/tools/launch/bcsrun_error.h"

#include <stdarg.h>
#include <stdio.h>

int bcsrun_error(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "bcsrun: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return -1;
}

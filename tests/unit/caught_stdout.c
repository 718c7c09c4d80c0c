/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output, caught; for one thread. */
#include "tests/unit/caught_stdout.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

static FILE *file;
static int stdout_kept;

void caught_stdout_begin(void)
{
    file = tmpfile();
    ck_assert_ptr_nonnull(file);
    fflush(stdout);
    stdout_kept = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
}

const char *caught_stdout_end(void)
{
    static char text[ROOM];
    size_t n;

    fflush(stdout);
    dup2(stdout_kept, STDOUT_FILENO);
    close(stdout_kept);
    rewind(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

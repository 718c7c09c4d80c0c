/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of screen.c where there is no ncurses.
 */
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>

int screen_run(void)
{
    fprintf(stderr,
            "bcs-top: built without ncurses, it has no view of the whole screen: use "
            "--once or --json\n");
    return EXIT_FAILURE;
}

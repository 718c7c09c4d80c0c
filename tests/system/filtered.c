/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a program that may not copy other processes' memory, as where the kernel forbids
 * it.
 *
 *     filtered PROGRAM [ARGUMENT...]
 */
#include "tests/system/lose_rights.h"

int main(int argc, char **argv)
{
    (void)argc;
    rights_filter();
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return EXIT_FAILURE;
}

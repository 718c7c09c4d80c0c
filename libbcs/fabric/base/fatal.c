/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ending a process; see the header.
 */
#include "libbcs/fabric/base/fatal.h"

#include <stdlib.h>
#include <unistd.h>

void bcs_end_process(void)
{
    _exit(EXIT_FAILURE);
}

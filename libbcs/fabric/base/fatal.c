/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ending a process; see the header.
 */
#include "libbcs/fabric/base/fatal.h"

#include <unistd.h>

void bcs_end_process(int status)
{
    _exit(status);
}

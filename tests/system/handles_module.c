/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A module that is linked with the MPI library. Opened with RTLD_DEEPBIND, its calls go
 * there, whatever has been preloaded.
 */
#include <mpi.h>
#include <stdio.h>

#include "handles.h"

int module_run(void (*await)(void))
{
    MPI_Init(NULL, NULL);
    puts("begun");
    fflush(stdout);
    await();
    MPI_Finalize();
    return 0;
}

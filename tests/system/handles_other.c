/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that is no MPI library and has a function of that name all the same.
 */
int MPI_Send(void);

int MPI_Send(void)
{
    return 0;
}

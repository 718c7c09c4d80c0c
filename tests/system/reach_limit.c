/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reaches one of the limits of BCS, which its runner has set low: what stops or fails
 * then must say so, with the name of the setting. Usage: reach_limit WHAT
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

/** So many receives until one fails. */
static int reach_requests(void)
{
    static MPI_Request requests[N];
    int byte, rc = MPI_SUCCESS, n = 0;

    while (rc == MPI_SUCCESS && n < N) {
        rc = MPI_Irecv(&byte, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[n]);
        n += rc == MPI_SUCCESS;
    }
    for (int i = 0; i < n; i++) { /* and now there is room again */
        MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    if (MPI_Irecv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests) ==
        MPI_SUCCESS) {
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
    return rc;
}

static int reach_communicators(void)
{
    static MPI_Comm comms[N];
    int rc = MPI_SUCCESS, n = 0;

    while (rc == MPI_SUCCESS && n < N) {
        rc = MPI_Comm_dup(MPI_COMM_WORLD, &comms[n]);
        if (rc == MPI_SUCCESS) {
            n++;
            fputs("made one\n", stderr);
        }
    }
    for (int i = 0; i < n; i++) {
        MPI_Comm_free(&comms[i]);
    }
    return rc;
}

/** Messages to itself of so many bytes that nobody receives; this never ends. */
static int reach_messages(int n_bytes)
{
    static char data[4096];

    for (int i = 0; i < N; i++) {
        MPI_Send(data, n_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    int rc = MPI_SUCCESS, class;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(what, "requests") == 0) {
        rc = reach_requests();
        rc = rc == MPI_SUCCESS ? rc : reach_requests();
    } else if (strcmp(what, "communicators") == 0) {
        rc = reach_communicators();
    } else if (strcmp(what, "messages") == 0) {
        rc = reach_messages(8);
    } else if (strcmp(what, "blocks") == 0) {
        rc = reach_messages(1000);
    }
    MPI_Error_class(rc, &class);
    puts(class == MPI_ERR_NO_MEM ? "no memory" : "other");
    MPI_Finalize();
    return EXIT_SUCCESS;
}

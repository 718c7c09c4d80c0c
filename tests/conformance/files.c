/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI files beside messages: every rank writes and reads its part, at its place and in
 * order, collectively and not, while messages are pending.
 */
#include "tests/conformance/check.h"

#include <unistd.h>

enum { N = 120000, N_INTS = 5000, N_PATH = 512 };

static void make_path(char *path)
{
    const char *folder = getenv("TMPDIR");

    snprintf(path, N_PATH, "%s/bcs-conformance-files.%ld", folder ? folder : "/tmp",
             (long)getpid());
    MPI_Bcast(path, N_PATH, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void parts_are_written_and_read(struct world world, char *path)
{
    int *data = check_alloc(N_INTS * sizeof(int));
    MPI_Offset at = (MPI_Offset)world.rank * N_INTS * sizeof(int);
    MPI_File file;
    MPI_Status status;
    int count;

    for (int i = 0; i < N_INTS; i++) {
        data[i] = N_INTS * world.rank + i;
    }
    CHECK_EQUAL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                              MPI_INFO_NULL, &file),
                MPI_SUCCESS);
    MPI_File_write_at_all(file, at, data, N_INTS, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, N_INTS);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    at = (MPI_Offset)world.left * N_INTS * sizeof(int);
    MPI_File_read_at(file, at, data, N_INTS, MPI_INT, &status);
    for (int i = 0; i < N_INTS; i++) {
        CHECK_EQUAL(data[i], N_INTS * world.left + i);
    }
    MPI_File_close(&file);
    free(data);
    check_say("parts are written and read\n");
}

static void a_view_with_gaps(struct world world, char *path)
{
    int data[50];
    MPI_Datatype every_nth;
    MPI_File file;
    MPI_Request request;

    for (int i = 0; i < 50; i++) {
        data[i] = i * world.size + world.rank;
    }
    MPI_Type_vector(50, 1, world.size, MPI_INT, &every_nth);
    MPI_Type_commit(&every_nth);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, world.rank * sizeof(int), MPI_INT, every_nth, "native",
                      MPI_INFO_NULL);
    MPI_File_write_all(file, data, 50, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_iread_at(file, 0, data, 50, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 50; i++) {
        CHECK_EQUAL(data[i], i);
    }
    MPI_File_close(&file);
    MPI_Type_free(&every_nth);
    check_say("a view with gaps\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    char path[N_PATH];
    char *out = check_alloc(N);
    char *in = check_alloc(N);
    MPI_Request requests[2];

    make_path(path);
    check_fill(out, N, world.rank);
    MPI_Isend(out, N, MPI_BYTE, world.right, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, N, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, &requests[1]);
    parts_are_written_and_read(world, path);
    a_view_with_gaps(world, path);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(in, N, world.left));
    if (world.rank == 0) {
        MPI_File_delete(path, MPI_INFO_NULL);
    }
    free(out);
    free(in);
    return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A user's error handler is called with the communicator of the failing call, once,
 * also for an error that shows only when a request completes; duplicates inherit it.
 */
#include "tests/conformance/check.h"

static struct {
    int n_calls;
    int class;
    MPI_Comm comm;
} seen;

static void remember(MPI_Comm *comm, int *code, ...)
{
    seen.n_calls++;
    seen.comm = *comm;
    MPI_Error_class(*code, &seen.class);
}

static void was_called(const char *name, MPI_Comm comm, int code)
{
    int class;

    MPI_Error_class(code, &class);
    CHECK_EQUAL(seen.n_calls, 1);
    CHECK(seen.comm == comm);
    check_say("%s: handler got class %d, call returned %d\n", name, seen.class, class);
    seen.n_calls = 0;
}

static void on(const char *name, MPI_Comm comm, struct world world)
{
    char in[16];
    char out[64] = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];

    check_say("%s\n", name);
    was_called("wrong rank", comm, MPI_Send(out, 1, MPI_INT, world.size + 3, 1, comm));
    was_called("wrong root", comm, MPI_Bcast(out, 1, MPI_INT, -4, comm));
    MPI_Sendrecv(out, 1, MPI_INT, world.right, 1, in, 1, MPI_INT, world.left, 1, comm,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(seen.n_calls, 0);
    MPI_Isend(out, 64, MPI_BYTE, world.right, 2, comm, &requests[0]);
    was_called("truncated", comm,
               MPI_Recv(in, 8, MPI_BYTE, world.left, 2, comm, MPI_STATUS_IGNORE));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(in, 8, MPI_BYTE, world.left, 3, comm, &requests[0]);
    MPI_Send(out, 64, MPI_BYTE, world.right, 3, comm);
    was_called("truncated in wait", comm, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Irecv(in, 8, MPI_BYTE, world.left, 4, comm, &requests[0]);
    MPI_Irecv(in + 8, 8, MPI_BYTE, world.left, 5, comm, &requests[1]);
    MPI_Send(out, 8, MPI_BYTE, world.right, 5, comm);
    MPI_Send(out, 64, MPI_BYTE, world.right, 4, comm);
    was_called("truncated in waitall", comm, MPI_Waitall(2, requests, statuses));
}

static void a_program_calls_it(void)
{
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    CHECK_EQUAL(seen.n_calls, 1);
    CHECK_EQUAL(seen.class, MPI_ERR_OTHER);
    seen.n_calls = 0;
    check_say("a program calls it\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    MPI_Errhandler handler;
    MPI_Comm comm;

    if (world.size < 2) {
        check_say("two ranks are needed\n");
        return check_end();
    }
    MPI_Comm_create_errhandler(remember, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    on("world", MPI_COMM_WORLD, world);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    on("a duplicate", comm, world);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    a_program_calls_it();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(NULL, 0, MPI_INT, world.size, 0, comm) != MPI_SUCCESS);
    CHECK_EQUAL(seen.n_calls, 0);
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With MPI_ERRORS_RETURN a bad argument gives the error class that it gives natively,
 * the call does nothing else, and the program goes on.
 */
#include "tests/conformance/check.h"

static void say_class(const char *name, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    int class;

    MPI_Error_class(code, &class);
    MPI_Error_string(class, text, &length);
    check_say("%-28s %2d %s\n", name, class, text);
}

static void sends(struct world world)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int one = 1;
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = MPI_Send;

    say_class("Send rank too high",
              send(&one, 1, MPI_INT, world.size, 1, MPI_COMM_WORLD));
    say_class("Send rank negative", send(&one, 1, MPI_INT, -7, 1, MPI_COMM_WORLD));
    say_class("Send any source",
              send(&one, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD));
    say_class("Send tag negative", send(&one, 1, MPI_INT, 0, -5, MPI_COMM_WORLD));
    say_class("Send any tag", send(&one, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD));
    say_class("Send count negative", send(&one, -1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    say_class("Send type null", send(&one, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD));
    say_class("Send comm null", send(&one, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    say_class("Isend rank too high",
              MPI_Isend(&one, 1, MPI_INT, world.size, 1, MPI_COMM_WORLD, &request));
    say_class("Isend tag negative",
              MPI_Isend(&one, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &request));
    say_class("Issend count negative",
              MPI_Issend(&one, -1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
    say_class("Ssend rank too high",
              MPI_Ssend(&one, 1, MPI_INT, world.size, 1, MPI_COMM_WORLD));
    say_class("Rsend comm null", MPI_Rsend(&one, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    say_class("Bsend rank too high",
              MPI_Bsend(&one, 1, MPI_INT, world.size, 1, MPI_COMM_WORLD));
    say_class("Send_init tag negative",
              MPI_Send_init(&one, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &request));
    say_class("Sendrecv rank too high",
              MPI_Sendrecv(&one, 1, MPI_INT, world.size, 1, &one, 1, MPI_INT, 0, 1,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void uncommitted(void)
{
    MPI_Datatype type;
    int one[2] = {1, 1};

    MPI_Type_contiguous(2, MPI_INT, &type);
    say_class("Send type not committed", MPI_Send(one, 1, type, 0, 1, MPI_COMM_WORLD));
    say_class("Bcast type not committed", MPI_Bcast(one, 1, type, 0, MPI_COMM_WORLD));
    MPI_Type_free(&type);
    say_class("Type_free null", MPI_Type_free(&type));
}

static void receives(struct world world)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int one = 1;
    int is_there;

    say_class("Recv rank too high",
              MPI_Recv(&one, 1, MPI_INT, world.size, 1, MPI_COMM_WORLD, &status));
    say_class("Recv tag negative",
              MPI_Recv(&one, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &status));
    say_class("Recv count negative",
              MPI_Recv(&one, -1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));
    say_class("Recv type null",
              MPI_Recv(&one, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD, &status));
    say_class("Recv comm null",
              MPI_Recv(&one, 1, MPI_INT, 0, 1, MPI_COMM_NULL, &status));
    say_class("Irecv rank too high",
              MPI_Irecv(&one, 1, MPI_INT, world.size, 1, MPI_COMM_WORLD, &request));
    say_class("Irecv tag negative",
              MPI_Irecv(&one, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &request));
    say_class("Probe rank too high", MPI_Probe(world.size, 1, MPI_COMM_WORLD, &status));
    say_class("Iprobe tag negative",
              MPI_Iprobe(0, -5, MPI_COMM_WORLD, &is_there, &status));
    say_class("Recv_init count negative",
              MPI_Recv_init(&one, -1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
}

static void requests(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int is_done;

    say_class("Wait request NULL", MPI_Wait(NULL, &status));
    say_class("Test flag NULL", MPI_Test(&request, NULL, &status));
    say_class("Request_free null", MPI_Request_free(&request));
    say_class("Cancel null", MPI_Cancel(&request));
    say_class("Start null", MPI_Start(&request));
    say_class("Waitall count negative", MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
    say_class("Testall count negative",
              MPI_Testall(-1, &request, &is_done, MPI_STATUSES_IGNORE));
}

static void collectives(struct world world)
{
    int one = 1;
    int two = 2;
    int *many = check_alloc(world.size * sizeof(int));

    say_class("Barrier comm null", MPI_Barrier(MPI_COMM_NULL));
    say_class("Bcast root too high",
              MPI_Bcast(&one, 1, MPI_INT, world.size, MPI_COMM_WORLD));
    say_class("Bcast root negative", MPI_Bcast(&one, 1, MPI_INT, -1, MPI_COMM_WORLD));
    say_class("Bcast count negative", MPI_Bcast(&one, -1, MPI_INT, 0, MPI_COMM_WORLD));
    say_class("Bcast type null",
              MPI_Bcast(&one, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    say_class("Reduce root too high",
              MPI_Reduce(&one, &two, 1, MPI_INT, MPI_SUM, world.size, MPI_COMM_WORLD));
    say_class("Reduce op null",
              MPI_Reduce(&one, &two, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD));
    say_class("Allreduce op null",
              MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
    say_class("Allreduce count negative",
              MPI_Allreduce(&one, &two, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    say_class("Allreduce type null",
              MPI_Allreduce(&one, &two, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD));
    say_class("Allreduce comm null",
              MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    say_class("Allreduce band of doubles",
              MPI_Allreduce(&one, &two, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD));
    say_class("Gather root too high", MPI_Gather(&one, 1, MPI_INT, many, 1, MPI_INT,
                                                 world.size, MPI_COMM_WORLD));
    say_class("Gather count negative",
              MPI_Gather(&one, -1, MPI_INT, many, -1, MPI_INT, 0, MPI_COMM_WORLD));
    say_class("Scatter root negative",
              MPI_Scatter(many, 1, MPI_INT, &one, 1, MPI_INT, -3, MPI_COMM_WORLD));
    say_class("Allgather type null", MPI_Allgather(&one, 1, MPI_DATATYPE_NULL, many, 1,
                                                   MPI_INT, MPI_COMM_WORLD));
    say_class("Alltoall count negative",
              MPI_Alltoall(many, -1, MPI_INT, many, -1, MPI_INT, MPI_COMM_WORLD));
    say_class("Comm_dup null", MPI_Comm_dup(MPI_COMM_NULL, &(MPI_Comm){0}));
    say_class("Comm_free null", MPI_Comm_free(&(MPI_Comm){MPI_COMM_NULL}));
    free(many);
}

/* The other forms of collectives, and those of MPI 3. */
static void other_collectives(struct world world)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm = MPI_COMM_WORLD;
    int one = 1, two = 2;
    int *many = check_alloc((size_t)world.size * sizeof(int));
    int *counts = check_alloc((size_t)world.size * sizeof(int));

    for (int i = 0; i < world.size; i++) {
        counts[i] = -1;
    }
    say_class("Ibarrier comm null", MPI_Ibarrier(MPI_COMM_NULL, &request));
    say_class("Ibcast root too high",
              MPI_Ibcast(&one, 1, MPI_INT, world.size, comm, &request));
    say_class("Ibcast count negative",
              MPI_Ibcast(&one, -1, MPI_INT, 0, comm, &request));
    say_class("Ireduce root negative",
              MPI_Ireduce(&one, &two, 1, MPI_INT, MPI_SUM, -1, comm, &request));
    say_class("Iallreduce op null",
              MPI_Iallreduce(&one, &two, 1, MPI_INT, MPI_OP_NULL, comm, &request));
    say_class("Igather root too high", MPI_Igather(&one, 1, MPI_INT, many, 1, MPI_INT,
                                                   world.size, comm, &request));
    say_class("Iscatter type null", MPI_Iscatter(many, 1, MPI_DATATYPE_NULL, &one, 1,
                                                 MPI_DATATYPE_NULL, 0, comm, &request));
    say_class("Iallgather count negative",
              MPI_Iallgather(&one, -1, MPI_INT, many, -1, MPI_INT, comm, &request));
    say_class("Ialltoall type null", MPI_Ialltoall(many, 1, MPI_DATATYPE_NULL, many, 1,
                                                   MPI_DATATYPE_NULL, comm, &request));
    say_class("Scan op null", MPI_Scan(&one, &two, 1, MPI_INT, MPI_OP_NULL, comm));
    say_class("Exscan count negative",
              MPI_Exscan(&one, &two, -1, MPI_INT, MPI_SUM, comm));
    say_class("Iscan type null",
              MPI_Iscan(&one, &two, 1, MPI_DATATYPE_NULL, MPI_SUM, comm, &request));
    say_class("Reduce_scatter counts",
              MPI_Reduce_scatter(many, &one, counts, MPI_INT, MPI_SUM, comm));
    say_class("Reduce_scatter_block count",
              MPI_Reduce_scatter_block(many, &one, -1, MPI_INT, MPI_SUM, comm));
    say_class("Gatherv root negative",
              MPI_Gatherv(&one, 1, MPI_INT, many, counts, counts, MPI_INT, -9, comm));
    free(counts);
    free(many);
}

/* Nothing of the bad calls may be left over: the world still works. */
static void all_goes_on(struct world world)
{
    int in = -1;

    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 1, &in, 1, MPI_INT,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Allreduce(&world.rank, &in, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQUAL(in, world.size - 1);
    check_say("all goes on\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    sends(world);
    uncommitted();
    receives(world);
    requests();
    collectives(world);
    other_collectives(world);
    all_goes_on(world);
    return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of MPI 4 that the MPI library at run time may or may not have, and the
 * mpi.h of the build need not declare: references are weak, and what is not there is
 * left out. Nothing is printed of which there are.
 */
#include "tests/conformance/check.h"

typedef struct ompi_instance_t *MPI_Session; /* the same again where mpi.h has it */

#define WEAK(type, name, parameters)                                                   \
    type name parameters;                                                              \
    _Pragma_weak(name)
#define _Pragma_weak(name) _Pragma(PRAGMA_TEXT(weak name))
#define PRAGMA_TEXT(text) #text

WEAK(int, MPI_Isendrecv,
     (const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
      MPI_Comm, MPI_Request *))
WEAK(int, MPI_Isendrecv_replace,
     (void *, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Request *))
WEAK(int, MPI_Comm_idup_with_info, (MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *))
WEAK(int, MPI_Session_init, (MPI_Info, MPI_Errhandler, MPI_Session *))
WEAK(int, MPI_Session_finalize, (MPI_Session *))
WEAK(int, MPI_Group_from_session_pset, (MPI_Session, const char *, MPI_Group *))
WEAK(int, MPI_Comm_create_from_group,
     (MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *))
WEAK(int, MPI_Psend_init,
     (const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
      MPI_Request *))
WEAK(int, MPI_Precv_init,
     (void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
      MPI_Request *))
WEAK(int, MPI_Pready, (int, MPI_Request))

enum { MAX_BYTES = 300000 };

static void exchange(struct world world, MPI_Comm comm)
{
    char *out = check_alloc(MAX_BYTES);
    char *in = check_alloc(MAX_BYTES);

    for (int i = 0; i < CHECK_N_LENGTHS && check_lengths[i] < MAX_BYTES; i++) {
        int n = check_lengths[i];
        MPI_Request request;
        MPI_Status status;
        int n_got = -1;

        check_fill(out, n, world.rank + i);
        MPI_Isendrecv(out, n, MPI_BYTE, world.right, i, in, MAX_BYTES, MPI_BYTE,
                      i % 2 ? world.left : MPI_ANY_SOURCE, i, comm, &request);
        MPI_Wait(&request, &status);
        CHECK(request == MPI_REQUEST_NULL);
        MPI_Get_count(&status, MPI_BYTE, &n_got);
        CHECK(n_got == n && status.MPI_SOURCE == world.left && status.MPI_TAG == i);
        CHECK(check_is_filled(in, n, world.left + i));
        /* What one side does in two calls fits the other's one. */
        MPI_Irecv(in, n, MPI_BYTE, world.left, i, comm, &request);
        MPI_Send(out, n, MPI_BYTE, world.right, i, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(check_is_filled(in, n, world.left + i));
    }
    free(out);
    free(in);
}

static void exchange_in_a_list(struct world world)
{
    int out[3] = {world.rank, world.rank + 1, world.rank + 2};
    int in[3] = {-1, -1, -1};
    MPI_Request requests[4];
    int is_done = 0;
    int number;

    for (int i = 0; i < 3; i++) {
        MPI_Isendrecv(&out[i], 1, MPI_INT, world.right, i, &in[i], 1, MPI_INT,
                      world.left, i, MPI_COMM_WORLD, &requests[i]);
    }
    requests[3] = MPI_REQUEST_NULL;
    MPI_Waitany(4, requests, &number, MPI_STATUS_IGNORE);
    CHECK(number >= 0 && number < 3);
    while (!is_done) {
        MPI_Testall(4, requests, &is_done, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(in[i], world.left + i);
    }
    MPI_Isendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1,
                  MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Isendrecv(out, 1, MPI_INT, world.right, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1,
                  MPI_COMM_WORLD, requests);
    MPI_Recv(in, 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in[0], world.left);
}

static void replace(struct world world)
{
    int *numbers = check_alloc(3 * MAX_BYTES);
    int n = MAX_BYTES / sizeof(int);
    MPI_Datatype every_other;
    MPI_Request request;
    int is_done = 0;

    for (int i = 0; i < 2 * n; i++) {
        numbers[i] = 10 * world.rank + i % 3;
    }
    MPI_Type_vector(n, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Isendrecv_replace(numbers, 1, every_other, world.right, 1, world.left, 1,
                          MPI_COMM_WORLD, &request);
    MPI_Type_free(&every_other);
    while (!is_done) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2 * n; i++) {
        CHECK_EQUAL(numbers[i],
                    10 * (i % 2 || i >= 2 * n ? world.rank : world.left) + i % 3);
    }
    MPI_Isendrecv_replace(numbers, 3, MPI_INT, world.left, 2, world.right, 2,
                          MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(numbers);
}

/* Only the library itself raises errors of arguments. */
static int has_native_isendrecv(void)
{
    return MPI_Session_init != NULL;
}

static void errors(struct world world)
{
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    int out = 0;
    int in = 0;
    int code;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (has_native_isendrecv()) {
        code = MPI_Isendrecv(&out, 1, MPI_INT, world.size, 1, &in, 1, MPI_INT,
                             world.left, 1, comm, &request);
        MPI_Error_class(code, &code);
        CHECK_EQUAL(code, MPI_ERR_RANK);
    }
    MPI_Comm_free(&comm);
}

static void partitioned(struct world world)
{
    int out[4];
    int in[4] = {-1, -1, -1, -1};
    MPI_Request requests[2];

    MPI_Precv_init(in, 4, 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Psend_init(out, 4, 1, MPI_INT, world.right, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    MPI_Startall(2, requests);
    for (int i = 3; i >= 0; i--) {
        out[i] = 10 * world.rank + i;
        MPI_Pready(i, requests[1]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(in[2], 10 * world.left + 2);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void session(struct world world)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int sum = 0;
    int in = -1;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "a tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                               &comm);
    MPI_Group_free(&group);
    MPI_Allreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, world.size * (world.size - 1) / 2);
    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 1, &in, 1, MPI_INT, world.left,
                 1, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

static void duplicate(struct world world)
{
    MPI_Comm comm;
    MPI_Request request;
    int in = -1;

    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 1, &in, 1, MPI_INT, world.left,
                 1, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    if (MPI_Isendrecv != NULL) {
        exchange(world, MPI_COMM_WORLD);
        exchange_in_a_list(world);
        errors(world);
    }
    if (MPI_Isendrecv_replace != NULL) {
        replace(world);
    }
    if (MPI_Comm_idup_with_info != NULL) {
        duplicate(world);
    }
    if (MPI_Psend_init != NULL) {
        partitioned(world);
    }
    if (MPI_Session_init != NULL) {
        session(world);
    }
    return check_end();
}

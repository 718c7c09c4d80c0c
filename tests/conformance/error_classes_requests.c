/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong calls of the functions that take handles, most of them requests: arguments that
 * are missing, handles of operations that are over or have been let go of, persistent
 * requests that are started twice. A call that is refused leaves all requests alone.
 */
#include "tests/conformance/error_classes.h"

/* A receive of the only message of its tag, which comes later. */
static MPI_Request post(MPI_Comm comm, int tag, int *in)
{
    MPI_Request request;

    *in = -1;
    MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, &request);
    return request;
}

static void fulfil(MPI_Comm comm, int tag, const int *in, MPI_Request *request)
{
    MPI_Send(&tag, 1, MPI_INT, 0, tag, comm);
    CHECK_EQUAL(MPI_Wait(request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(*request == MPI_REQUEST_NULL);
    CHECK_EQUAL(*in, tag);
}

static MPI_Request persistent(MPI_Comm comm, int tag, int *in)
{
    MPI_Request request;

    MPI_Recv_init(in, 1, MPI_INT, 0, tag, comm, &request);
    return request;
}

static int is_over(MPI_Request request)
{
    int flag = 0;

    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void missing_one(const struct place *place)
{
    MPI_Request none = MPI_REQUEST_NULL, request, *wanting = NULL;
    int flag = 7, in;

    request = post(place->self, 1, &in);
    errors_say("Wait", "request NULL", MPI_Wait(wanting, MPI_STATUS_IGNORE));
    errors_say("Test", "request NULL", MPI_Test(wanting, &flag, MPI_STATUS_IGNORE));
    errors_say("Test", "flag NULL", MPI_Test(&request, NULL, MPI_STATUS_IGNORE));
    errors_say("Test", "null, flag NULL", MPI_Test(&none, NULL, MPI_STATUS_IGNORE));
    errors_say("Request_get_status", "flag NULL",
               MPI_Request_get_status(request, NULL, MPI_STATUS_IGNORE));
    errors_say("Request_get_status", "request NULL",
               MPI_Request_get_status(NULL, &flag, MPI_STATUS_IGNORE));
    errors_say("Request_free", "request NULL", MPI_Request_free(wanting));
    errors_say("Request_free", "null", MPI_Request_free(&none));
    errors_say("Cancel", "request NULL", MPI_Cancel(wanting));
    errors_say("Cancel", "null", MPI_Cancel(&none));
    errors_say("Start", "request NULL", MPI_Start(wanting));
    errors_say("Start", "null", MPI_Start(&none));
    errors_say("Start", "not persistent", MPI_Start(&request));
    errors_say("Startall", "not persistent", MPI_Startall(1, &request));
    errors_say("Wait", "null", MPI_Wait(&none, MPI_STATUS_IGNORE));
    CHECK_EQUAL(flag, 7);
    none = NULL;
    errors_say("Request_free", "handle NULL", MPI_Request_free(&none));
    errors_say("Cancel", "handle NULL", MPI_Cancel(&none));
    REFUSED("Wait", "handle NULL", MPI_ERR_REQUEST, MPI_Wait(&none, MPI_STATUS_IGNORE));
    REFUSED("Test", "handle NULL", MPI_ERR_REQUEST,
            MPI_Test(&none, &flag, MPI_STATUS_IGNORE));
    REFUSED("Start", "handle NULL", MPI_ERR_REQUEST, MPI_Start(&none));
    CHECK_EQUAL(flag, 7);
    fulfil(place->self, 1, &in, &request);
}

/* The functions on lists, with n requests, an index and a flag. */
static int waitall(int n, MPI_Request *list, int *index, int *flag)
{
    (void)index, (void)flag;
    return MPI_Waitall(n, list, MPI_STATUSES_IGNORE);
}

static int testall(int n, MPI_Request *list, int *index, int *flag)
{
    (void)index;
    return MPI_Testall(n, list, flag, MPI_STATUSES_IGNORE);
}

static int waitany(int n, MPI_Request *list, int *index, int *flag)
{
    (void)flag;
    return MPI_Waitany(n, list, index, MPI_STATUS_IGNORE);
}

static int testany(int n, MPI_Request *list, int *index, int *flag)
{
    return MPI_Testany(n, list, index, flag, MPI_STATUS_IGNORE);
}

static int waitsome(int n, MPI_Request *list, int *index, int *flag)
{
    return MPI_Waitsome(n, list, flag, index, MPI_STATUSES_IGNORE);
}

static int testsome(int n, MPI_Request *list, int *index, int *flag)
{
    return MPI_Testsome(n, list, flag, index, MPI_STATUSES_IGNORE);
}

static const struct list_function {
    const char *name;
    int has_index;
    int has_flag;
    int (*call)(int n, MPI_Request *list, int *index, int *flag);
} list_functions[] = {
    {"Waitall", 0, 0, waitall},   {"Testall", 0, 1, testall},
    {"Waitany", 1, 0, waitany},   {"Testany", 1, 1, testany},
    {"Waitsome", 1, 1, waitsome}, {"Testsome", 1, 1, testsome},
};

/* A copy of a handle whose operation is over. */
static MPI_Request stale_handle(MPI_Comm comm)
{
    int in;
    MPI_Request request = post(comm, 1, &in), copy = request;

    fulfil(comm, 1, &in, &request);
    return copy;
}

/* Of three requests one is wrong, natively too if is_known; the others are pending and
 * over. */
static void wrong_among_others(const struct place *place,
                               const struct list_function *function, const char *what,
                               MPI_Request wrong, int is_known)
{
    int in[2], index[3] = {7, 7, 7}, flag = 7, one = 1;
    MPI_Request list[3] = {post(place->self, 1, &in[0]), post(place->self, 2, &in[1]),
                           wrong};

    MPI_Send(&one, 1, MPI_INT, 0, 1, place->self);
    while (!is_over(list[0])) {
    }
    if (is_known) {
        errors_say(function->name, what, function->call(3, list, index, &flag));
    } else {
        REFUSED(function->name, what, MPI_ERR_REQUEST,
                function->call(3, list, index, &flag));
    }
    CHECK(list[0] != MPI_REQUEST_NULL && list[1] != MPI_REQUEST_NULL);
    CHECK(list[2] == wrong);
    CHECK(index[0] == 7 && flag == 7);
    CHECK_EQUAL(MPI_Wait(&list[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQUAL(in[0], 1);
    fulfil(place->self, 2, &in[1], &list[1]);
}

static void lists(const struct place *place)
{
    for (int i = 0; i < CHECK_N(list_functions); i++) {
        const struct list_function *function = &list_functions[i];
        const char *name = function->name;
        int in, index[2] = {7, 7}, flag = 7;
        MPI_Request list[2] = {post(place->self, 1, &in), MPI_REQUEST_NULL};

        errors_say(name, "count negative", function->call(-1, list, index, &flag));
        errors_say(name, "list NULL", function->call(1, NULL, index, &flag));
        errors_say(name, "list NULL, negative", function->call(-1, NULL, index, &flag));
        if (function->has_flag) {
            errors_say(name, "flag NULL", function->call(2, list, index, NULL));
        }
        if (function->has_index) {
            errors_say(name, "index NULL", function->call(2, list, NULL, &flag));
        }
        CHECK(index[0] == 7 && flag == 7);
        errors_say(name, "list NULL, none", function->call(0, NULL, index, &flag));
        fulfil(place->self, 1, &in, &list[0]);
        wrong_among_others(place, function, "one handle NULL", NULL, 1);
        wrong_among_others(place, function, "one over", stale_handle(place->self), 0);
    }
}

/* Every function with one request refuses a handle that is not in use any more. */
static void refused_by_all(const char *what, MPI_Request stale)
{
    MPI_Request copy = stale;
    int flag = 7;

    REFUSED("Wait", what, MPI_ERR_REQUEST, MPI_Wait(&copy, MPI_STATUS_IGNORE));
    REFUSED("Test", what, MPI_ERR_REQUEST, MPI_Test(&copy, &flag, MPI_STATUS_IGNORE));
    REFUSED("Request_get_status", what, MPI_ERR_REQUEST,
            MPI_Request_get_status(copy, &flag, MPI_STATUS_IGNORE));
    REFUSED("Request_free", what, MPI_ERR_REQUEST, MPI_Request_free(&copy));
    REFUSED("Cancel", what, MPI_ERR_REQUEST, MPI_Cancel(&copy));
    REFUSED("Start", what, MPI_ERR_REQUEST, MPI_Start(&copy));
    REFUSED("Startall", what, MPI_ERR_REQUEST, MPI_Startall(1, &copy));
    CHECK(copy == stale && flag == 7);
}

/* A copy of a handle outlives the operation. */
static void stale_handles(const struct place *place)
{
    MPI_Request request, copy, next[2];
    int in[3];

    request = copy = post(place->self, 1, &in[0]);
    fulfil(place->self, 1, &in[0], &request);
    refused_by_all("over", copy);
    /* nor is it that of a request that is made soon after */
    next[0] = post(place->self, 2, &in[1]);
    next[1] = post(place->self, 3, &in[2]);
    refused_by_all("over, others pending", copy);
    fulfil(place->self, 3, &in[2], &next[1]);
    fulfil(place->self, 2, &in[1], &next[0]);
}

/* What was sent before is where it belongs. */
static void in_order(MPI_Comm comm)
{
    int out = 1, in;

    MPI_Sendrecv(&out, 1, MPI_INT, 0, 99, &in, 1, MPI_INT, 0, 99, comm,
                 MPI_STATUS_IGNORE);
}

/* Let go of twice, while pending and when over. */
static void freed_handles(const struct place *place)
{
    MPI_Request request, copy;
    int in, tag = 4;

    request = copy = post(place->self, tag, &in);
    errors_say("Request_free", "pending", MPI_Request_free(&request));
    refused_by_all("let go of, pending", copy);
    MPI_Send(&tag, 1, MPI_INT, 0, tag, place->self);
    in_order(place->self);
    CHECK_EQUAL(in, tag);
    refused_by_all("let go of, over", copy);
}

/* Persistent requests in the wrong state. */
static void persistent_requests(const struct place *place)
{
    MPI_Request list[2], copy, nobody;
    int in[2], tag = 6;

    list[0] = persistent(place->self, 6, &in[0]);
    list[1] = persistent(place->self, 7, &in[1]);
    MPI_Start(&list[1]);
    REFUSED("Start", "active", MPI_ERR_REQUEST, MPI_Start(&list[1]));
    errors_say("Startall", "one active", MPI_Startall(2, list));
    CHECK(is_over(list[0]) && !is_over(list[1]));
    copy = list[1];
    list[1] = NULL;
    errors_say("Startall", "one NULL", MPI_Startall(2, list));
    errors_say("Startall", "count negative", MPI_Startall(-1, list));
    errors_say("Startall", "list NULL", MPI_Startall(1, NULL));
    CHECK(is_over(list[0]) && !is_over(copy));
    MPI_Start(&list[0]);
    MPI_Send(&tag, 1, MPI_INT, 0, tag, place->self);
    MPI_Wait(&list[0], MPI_STATUS_IGNORE);
    CHECK_EQUAL(in[0], tag);
    errors_say("Cancel", "active", MPI_Cancel(&copy));
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
    MPI_Request_free(&copy);
    copy = list[0];
    errors_say("Request_free", "inactive", MPI_Request_free(&list[0]));
    refused_by_all("let go of, inactive", copy);
    MPI_Recv_init(in, 1, MPI_INT, MPI_PROC_NULL, 1, place->self, &nobody);
    MPI_Start(&nobody);
    errors_say("Start", "active, from nobody", MPI_Start(&nobody));
    errors_say("Startall", "active, from nobody", MPI_Startall(1, &nobody));
    MPI_Wait(&nobody, MPI_STATUS_IGNORE);
    MPI_Request_free(&nobody);
}

static MPI_Message send_and_take(MPI_Comm comm, int tag, MPI_Request *sending)
{
    static const int sent = 8;
    MPI_Message message;

    MPI_Isend(&sent, 1, MPI_INT, 0, tag, comm, sending);
    MPI_Mprobe(0, tag, comm, &message, MPI_STATUS_IGNORE);
    return message;
}

static void wrong_receptions(const struct place *place, MPI_Message *message)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int in[4] = {0};

    errors_say("Mrecv", "type null",
               MPI_Mrecv(in, 1, MPI_DATATYPE_NULL, message, MPI_STATUS_IGNORE));
    errors_say("Mrecv", "type not committed",
               MPI_Mrecv(in, 1, place->loose, message, MPI_STATUS_IGNORE));
    errors_say("Mrecv", "count negative",
               MPI_Mrecv(in, -1, MPI_INT, message, MPI_STATUS_IGNORE));
    errors_say("Mrecv", "buf NULL",
               MPI_Mrecv(NULL, 1, MPI_INT, message, MPI_STATUS_IGNORE));
    errors_say("Imrecv", "type null",
               MPI_Imrecv(in, 1, MPI_DATATYPE_NULL, message, &request));
    errors_say("Imrecv", "count negative",
               MPI_Imrecv(in, -1, MPI_INT, message, &request));
    errors_say("Imrecv", "buf NULL", MPI_Imrecv(NULL, 1, MPI_INT, message, &request));
    REFUSED("Imrecv", "request NULL", MPI_ERR_REQUEST,
            MPI_Imrecv(in, 1, MPI_INT, message, NULL));
    CHECK(request == MPI_REQUEST_NULL);
}

/* A message is received once, and by the right handle. */
static void messages(const struct place *place)
{
    MPI_Message message = MPI_MESSAGE_NULL, copy;
    MPI_Request request = MPI_REQUEST_NULL, sending;
    int in = 0;

    REFUSED("Mrecv", "message NULL", MPI_ERR_REQUEST,
            MPI_Mrecv(&in, 1, MPI_INT, NULL, MPI_STATUS_IGNORE));
    REFUSED("Mrecv", "null", MPI_ERR_REQUEST,
            MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    REFUSED("Imrecv", "message NULL", MPI_ERR_REQUEST,
            MPI_Imrecv(&in, 1, MPI_INT, NULL, &request));
    REFUSED("Imrecv", "null", MPI_ERR_REQUEST,
            MPI_Imrecv(&in, 1, MPI_INT, &message, &request));
    message = copy = send_and_take(place->self, 10, &sending);
    wrong_receptions(place, &message);
    CHECK(message == copy);
    MPI_Imrecv(&in, 1, MPI_INT, &message, &request);
    CHECK(message == MPI_MESSAGE_NULL);
    REFUSED("Mrecv", "under way", MPI_ERR_REQUEST,
            MPI_Mrecv(&in, 1, MPI_INT, &copy, MPI_STATUS_IGNORE));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, 8);
    REFUSED("Mrecv", "over", MPI_ERR_REQUEST,
            MPI_Mrecv(&in, 1, MPI_INT, &copy, MPI_STATUS_IGNORE));
    REFUSED("Imrecv", "over", MPI_ERR_REQUEST,
            MPI_Imrecv(&in, 1, MPI_INT, &copy, &request));
}

/* A type that has been let go of while a receive is under way. */
static void freed_types(const struct place *place)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0};
    MPI_Datatype column, copy;
    MPI_Request request;

    MPI_Type_vector(2, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    copy = column;
    MPI_Irecv(in, 1, column, 0, 1, place->self, &request);
    errors_say("Type_free", "in use", MPI_Type_free(&column));
    REFUSED("Send", "type let go of", MPI_ERR_TYPE,
            MPI_Send(out, 1, copy, 0, 1, place->self));
    REFUSED("Bcast", "type let go of", MPI_ERR_TYPE,
            MPI_Bcast(out, 1, copy, 0, place->self));
    REFUSED("Type_free", "let go of", MPI_ERR_TYPE, MPI_Type_free(&copy));
    MPI_Send(out, 2, MPI_INT, 0, 1, place->self);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == 1 && in[1] == 0 && in[2] == 2 && in[3] == 0);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

/* An operation that has been let go of while a reduction is under way, and one that is
 * not to be let go of. */
static void freed_operations(const struct place *place)
{
    MPI_Op own, copy, sum = MPI_SUM;
    int size = place->world.size, in[2] = {-1, -1};
    MPI_Request requests[2];

    MPI_Op_create(add, 1, &own);
    copy = own;
    MPI_Iallreduce(&size, &in[0], 1, MPI_INT, own, place->many, &requests[0]);
    MPI_Iallreduce(&size, &in[1], 1, MPI_INT, sum, place->many, &requests[1]);
    errors_say("Op_free", "in use", MPI_Op_free(&own));
    errors_say("Op_free", "predefined, in use", MPI_Op_free(&sum));
    REFUSED("Op_free", "let go of", MPI_ERR_OP, MPI_Op_free(&copy));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == size * size && in[1] == size * size);
}

/* Fortran's handles. */
static void converted(const struct place *place)
{
    MPI_Request request, copy;
    MPI_Fint number;
    int in;

    request = post(place->self, 9, &in);
    number = MPI_Request_c2f(request);
    CHECK(MPI_Request_f2c(number) == request);
    fulfil(place->self, 9, &in, &request);
    if (errors_is_carried()) {
        refused_by_all("Fortran's, over", MPI_Request_f2c(number));
        copy = MPI_Request_f2c(number + (1 << 20));
        refused_by_all("Fortran's, unheard of", copy);
    }
}

int main(int argc, char **argv)
{
    struct place place = errors_begin(&argc, &argv);

    missing_one(&place);
    stale_handles(&place);
    lists(&place);
    freed_handles(&place);
    persistent_requests(&place);
    messages(&place);
    freed_types(&place);
    freed_operations(&place);
    converted(&place);
    return errors_end(&place);
}

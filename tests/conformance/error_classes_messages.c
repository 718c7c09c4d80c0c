/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong calls of the functions that send, receive and probe: each function with each of
 * its arguments wrong in each way.
 */
#include "tests/conformance/error_classes.h"

/* The arguments of a call. */
struct call {
    const char *what;
    const void *buf;
    int count;
    MPI_Datatype type;
    int peer;
    int tag;
    MPI_Comm comm;
    MPI_Request *request;
};

/* What is to be known about a function. */
enum {
    SENDS = 1,    /* MPI_ANY_SOURCE and MPI_ANY_TAG are wrong */
    RECEIVES = 2, /* they are not; so the call would wait, or leave a request */
    HAS_DATA = 4, /* buffer, count and type */
    STARTS = 8,   /* gives a request */
    LAX = 16, /* Open MPI does not look at the buffer, nor whether the type is committed
               */
};

struct function {
    const char *name;
    int traits;
    int (*call)(const struct call *call);
};

#define ANY(pointer) ((void *)(uintptr_t)(pointer))

#define SEND_NOW(name)                                                                 \
    static int do_##name(const struct call *c)                                         \
    {                                                                                  \
        return MPI_##name(c->buf, c->count, c->type, c->peer, c->tag, c->comm);        \
    }
#define START(name)                                                                    \
    static int do_##name(const struct call *c)                                         \
    {                                                                                  \
        return MPI_##name(ANY(c->buf), c->count, c->type, c->peer, c->tag, c->comm,    \
                          c->request);                                                 \
    }

SEND_NOW(Send)
SEND_NOW(Ssend)
SEND_NOW(Bsend)
SEND_NOW(Rsend)
START(Isend)
START(Issend)
START(Ibsend)
START(Irsend)
START(Send_init)
START(Ssend_init)
START(Bsend_init)
START(Rsend_init)
START(Irecv)
START(Recv_init)

static int do_Recv(const struct call *c)
{
    return MPI_Recv(ANY(c->buf), c->count, c->type, c->peer, c->tag, c->comm,
                    MPI_STATUS_IGNORE);
}

static int do_Sendrecv_send(const struct call *c)
{
    return MPI_Sendrecv(c->buf, c->count, c->type, c->peer, c->tag, NULL, 0, MPI_INT,
                        MPI_PROC_NULL, 1, c->comm, MPI_STATUS_IGNORE);
}

static int do_Sendrecv_receive(const struct call *c)
{
    return MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, ANY(c->buf), c->count,
                        c->type, c->peer, c->tag, c->comm, MPI_STATUS_IGNORE);
}

static int do_Sendrecv_replace_send(const struct call *c)
{
    return MPI_Sendrecv_replace(ANY(c->buf), c->count, c->type, c->peer, c->tag,
                                MPI_PROC_NULL, 1, c->comm, MPI_STATUS_IGNORE);
}

static int do_Sendrecv_replace_receive(const struct call *c)
{
    return MPI_Sendrecv_replace(ANY(c->buf), c->count, c->type, MPI_PROC_NULL, 1,
                                c->peer, c->tag, c->comm, MPI_STATUS_IGNORE);
}

static int do_Probe(const struct call *c)
{
    return MPI_Probe(c->peer, c->tag, c->comm, MPI_STATUS_IGNORE);
}

static int do_Iprobe(const struct call *c)
{
    int flag = 7;
    int code = MPI_Iprobe(c->peer, c->tag, c->comm, &flag, MPI_STATUS_IGNORE);

    CHECK(code == MPI_SUCCESS || flag == 7);
    return code;
}

static int do_Mprobe(const struct call *c)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    int code = MPI_Mprobe(c->peer, c->tag, c->comm,
                          c->request == NULL ? NULL : &message, MPI_STATUS_IGNORE);

    CHECK(message == (code == MPI_SUCCESS ? MPI_MESSAGE_NO_PROC : MPI_MESSAGE_NULL));
    return code;
}

static int do_Improbe(const struct call *c)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 7;
    int code = MPI_Improbe(c->peer, c->tag, c->comm, &flag,
                           c->request == NULL ? NULL : &message, MPI_STATUS_IGNORE);

    CHECK(code == MPI_SUCCESS || flag == 7);
    return code;
}

static const struct function functions[] = {
    {"Send", SENDS | HAS_DATA, do_Send},
    {"Ssend", SENDS | HAS_DATA, do_Ssend},
    {"Bsend", SENDS | HAS_DATA, do_Bsend},
    {"Rsend", SENDS | HAS_DATA, do_Rsend},
    {"Isend", SENDS | HAS_DATA | STARTS, do_Isend},
    {"Issend", SENDS | HAS_DATA | STARTS, do_Issend},
    {"Ibsend", SENDS | HAS_DATA | STARTS, do_Ibsend},
    {"Irsend", SENDS | HAS_DATA | STARTS, do_Irsend},
    {"Send_init", SENDS | HAS_DATA | STARTS, do_Send_init},
    {"Ssend_init", SENDS | HAS_DATA | STARTS | LAX, do_Ssend_init},
    {"Bsend_init", SENDS | HAS_DATA | STARTS | LAX, do_Bsend_init},
    {"Rsend_init", SENDS | HAS_DATA | STARTS | LAX, do_Rsend_init},
    {"Recv", RECEIVES | HAS_DATA, do_Recv},
    {"Irecv", RECEIVES | HAS_DATA | STARTS, do_Irecv},
    {"Recv_init", RECEIVES | HAS_DATA | STARTS, do_Recv_init},
    {"Sendrecv to", SENDS | HAS_DATA, do_Sendrecv_send},
    {"Sendrecv from", RECEIVES | HAS_DATA, do_Sendrecv_receive},
    {"Sendrecv_replace to", SENDS | HAS_DATA, do_Sendrecv_replace_send},
    {"Sendrecv_replace from", RECEIVES | HAS_DATA, do_Sendrecv_replace_receive},
    {"Probe", RECEIVES, do_Probe},
    {"Iprobe", RECEIVES, do_Iprobe},
    {"Mprobe", RECEIVES | STARTS, do_Mprobe},
    {"Improbe", RECEIVES | STARTS, do_Improbe},
};

static void say(const struct function *function, const struct call *call)
{
    MPI_Request request = MPI_REQUEST_NULL;
    struct call own = *call;
    int code;

    own.request = call->request == NULL ? NULL : &request;
    code = function->call(&own);
    errors_say(function->name, call->what, code);
    CHECK(code == MPI_SUCCESS || request == MPI_REQUEST_NULL);
    if (request != MPI_REQUEST_NULL) {
        MPI_Request_free(&request);
    }
}

/* Peer and tag. */
static void wrong_envelopes(const struct function *function, const struct call *good,
                            int size)
{
    struct call wrong[7] = {*good, *good, *good, *good, *good, *good, *good};

    wrong[0].what = "rank too high", wrong[0].peer = size;
    wrong[1].what = "rank negative", wrong[1].peer = -7;
    wrong[2].what = "rank MPI_ROOT", wrong[2].peer = MPI_ROOT;
    wrong[3].what = "tag negative", wrong[3].tag = -5;
    wrong[4].what = "tag negative to nobody", wrong[4].tag = -5;
    wrong[4].peer = MPI_PROC_NULL;
    wrong[5].what = "any source", wrong[5].peer = MPI_ANY_SOURCE;
    wrong[6].what = "any tag", wrong[6].tag = MPI_ANY_TAG;
    for (int i = 0; i < (function->traits & SENDS ? 7 : 5); i++) {
        say(function, &wrong[i]);
    }
}

/* Communicator and request. */
static void wrong_handles(const struct function *function, const struct call *good)
{
    struct call wrong[3] = {*good, *good, *good};

    wrong[0].what = "comm null", wrong[0].comm = MPI_COMM_NULL;
    wrong[1].what = "comm NULL", wrong[1].comm = NULL;
    wrong[2].what = "request NULL", wrong[2].request = NULL;
    if (function->traits & HAS_DATA) { /* a probe's error is raised on that very one */
        say(function, &wrong[0]);
        say(function, &wrong[1]);
    }
    if (function->traits & STARTS) {
        say(function, &wrong[2]);
    }
}

/* Those that some functions accept natively: only when started do they do harm. */
static void lax(const struct function *function, const struct call *call, int class)
{
    MPI_Request request = MPI_REQUEST_NULL;
    struct call own = *call;

    if (!(function->traits & LAX)) {
        say(function, call);
        return;
    }
    own.request = &request;
    REFUSED(function->name, call->what, class, function->call(&own));
    CHECK(request == MPI_REQUEST_NULL);
}

/* Buffer, count and type. */
static void wrong_data(const struct function *function, const struct call *good,
                       const struct place *place)
{
    struct call wrong[8] = {*good, *good, *good, *good, *good, *good, *good, *good};

    if (!(function->traits & HAS_DATA)) {
        return;
    }
    wrong[0].what = "count negative", wrong[0].count = -1;
    wrong[1].what = "count negative, buf NULL", wrong[1].count = -1,
    wrong[1].buf = NULL;
    wrong[2].what = "type null", wrong[2].type = MPI_DATATYPE_NULL;
    wrong[3].what = "type null, none", wrong[3].type = MPI_DATATYPE_NULL;
    wrong[3].count = 0;
    wrong[4].what = "type not committed", wrong[4].type = place->loose;
    wrong[5].what = "buf NULL", wrong[5].buf = NULL;
    wrong[6].what = "buf NULL of pairs", wrong[6].buf = NULL,
    wrong[6].type = place->pair;
    wrong[7].what = "buf NULL to nobody", wrong[7].buf = NULL;
    wrong[7].peer = MPI_PROC_NULL;
    for (int i = 0; i < 4; i++) {
        say(function, &wrong[i]);
    }
    lax(function, &wrong[4], MPI_ERR_TYPE);
    lax(function, &wrong[5], MPI_ERR_BUFFER);
    lax(function, &wrong[6], MPI_ERR_BUFFER);
    lax(function, &wrong[7], MPI_ERR_BUFFER);
}

/* What looks wrong but is not. */
static void right_calls(const struct function *function, const struct call *good,
                        const struct place *place)
{
    struct call right[4] = {*good, *good, *good, *good};
    MPI_Datatype absolute;
    MPI_Aint address;
    int length = 1;
    int number = 0;

    MPI_Get_address(&number, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    right[0].what = "to nobody";
    right[1].what = "none, buf NULL", right[1].buf = NULL, right[1].count = 0;
    right[2].what = "empty, buf NULL", right[2].buf = NULL,
    right[2].type = place->empty;
    right[3].what = "buf MPI_BOTTOM", right[3].buf = MPI_BOTTOM;
    right[3].type = absolute, right[3].count = 1;
    for (int i = 0; i < 4; i++) {
        right[i].peer = MPI_PROC_NULL;
        say(function, &right[i]);
    }
    MPI_Type_free(&absolute);
}

/* What Open MPI does not look at. */
static void pointers(const struct place *place)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    int numbers[4] = {0};
    int flag = 7;

    REFUSED("Iprobe", "flag NULL", MPI_ERR_ARG,
            MPI_Iprobe(0, 1, place->self, NULL, MPI_STATUS_IGNORE));
    REFUSED("Improbe", "flag NULL", MPI_ERR_ARG,
            MPI_Improbe(0, 1, place->self, NULL, &message, MPI_STATUS_IGNORE));
    REFUSED("Sendrecv_replace", "buf NULL", MPI_ERR_BUFFER,
            MPI_Sendrecv_replace(NULL, 4, MPI_INT, 0, 1, 0, 1, place->self,
                                 MPI_STATUS_IGNORE));
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, place->self, &flag, &message,
                MPI_STATUS_IGNORE);
    CHECK_EQUAL(flag, 0);
    REFUSED("Bsend", "no room", MPI_ERR_BUFFER,
            MPI_Bsend(numbers, 4, MPI_INT, 0, 1, place->self));
    errors_say("Buffer_attach", "buffer NULL", MPI_Buffer_attach(NULL, 1));
    errors_say("Buffer_attach", "size negative", MPI_Buffer_attach(numbers, -1));
    errors_say("Buffer_detach", "buffer NULL", MPI_Buffer_detach(NULL, &flag));
    errors_say("Buffer_detach", "size NULL", MPI_Buffer_detach(numbers, NULL));
}

int main(int argc, char **argv)
{
    struct place place = errors_begin(&argc, &argv);
    MPI_Request request;
    int numbers[8] = {0};

    for (int i = 0; i < CHECK_N(functions); i++) {
        const struct call good = {NULL, numbers, 4,          MPI_INT,
                                  0,    1,       place.self, &request};

        wrong_envelopes(&functions[i], &good, 1);
        wrong_handles(&functions[i], &good);
        wrong_data(&functions[i], &good, &place);
        right_calls(&functions[i], &good, &place);
    }
    pointers(&place);
    return errors_end(&place);
}

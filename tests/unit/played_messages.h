/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The API's messages, played for tests of the shim's requests: each notes what it gets,
 * and is over when a test says so. With requests as entry points make them.
 */
#ifndef BCS_UNIT_PLAYED_MESSAGES_H
#define BCS_UNIT_PLAYED_MESSAGES_H

#include <check.h>
#include <string.h>

#include "libbcs/api/context/context.h"
#include "libbcs/api/message/misuse.h"
#include "libbcs/api/message/wait.h"
#include "mpi_shim/comm/comm.h"
#include "mpi_shim/request/request.h"
#include "tests/unit/fake_library.h"

enum { N_REQUESTS = 100 };

static struct bcs_context context;
static struct fake_type gapped_type, byte_type;
static const struct shim_datatype *gapped, *byte;
static struct shim_comm *comm;
static char handle;
static char spaced[16], space[4096];

/* The API as it is played. */
static struct bcs_message message; /* the last one */
static struct bcs_request *posted; /* its request */
static enum bcs_send_mode mode;
static uint32_t item;
static int n_posted, api_rc;
static bool is_done_at_once, wants_copy, is_over; /* of all */
static int n_truncations, n_turns;
static const struct bcs_group *truncated_of;
static char asked[8]; /* c: bcs_cancel, w: bcs_cancel_wait, s: bcs_cancel_send */
static uint32_t taken_back_from;
static const struct bcs_request *taken_back;
static bool can_take_back;

static inline int post(const struct bcs_message *its_message,
                       struct bcs_request *request)
{
    message = *its_message;
    posted = request;
    n_posted++;
    if (api_rc < 0) {
        return api_rc;
    }
    bcs_request_state(request)->is_pending = !is_done_at_once;
    bcs_request_state(request)->n_bytes = its_message->n_bytes;
    return 0;
}

/** Note a send. */
int play_send(struct bcs_context *of, const struct bcs_message *its,
              enum bcs_send_mode its_mode, struct bcs_request *request)
    PLAYS(bcs_api_send);
/** Note a receive. */
int play_receive(struct bcs_context *of, const struct bcs_message *its,
                 struct bcs_result *result, struct bcs_request *request)
    PLAYS(bcs_api_recv);
/** Note the receive of a matched message. */
int play_imrecv(struct bcs_context *of, const struct bcs_message *its,
                uint32_t its_item, struct bcs_request *request) PLAYS(bcs_imrecv);
/** @return is_over; then the request is done */
bool play_look(struct bcs_context *of, struct bcs_request *request) PLAYS(bcs_look);
/** @return wants_copy */
bool play_wants_copy(const struct bcs_context *of, size_t n_bytes)
    PLAYS(bcs_wants_copy);
/** Count a message that was too long. */
void play_truncation(struct bcs_context *of, const struct bcs_group *peers,
                     const struct bcs_result *result) PLAYS(bcs_misuse_truncation);
/** A turn of a wait; the third brings the end of all. */
bool play_turn(struct bcs_context *of, struct bcs_waiter *waiter) PLAYS(bcs_wait_turn);
/** The end of a wait. */
void play_stop(struct bcs_context *of, struct bcs_waiter *waiter) PLAYS(bcs_wait_stop);
/** Note that a receive is to be taken back. */
void play_cancel(struct bcs_context *of, const struct bcs_request *request)
    PLAYS(bcs_cancel);
/** Note that this is waited for. */
void play_cancel_wait(struct bcs_context *of, struct bcs_request *request)
    PLAYS(bcs_cancel_wait);
/** Note which send is to be taken back, from which port. @return can_take_back */
bool play_cancel_send(struct bcs_context *of, struct bcs_request *request,
                      uint32_t port) PLAYS(bcs_cancel_send);

int play_send(struct bcs_context *of, const struct bcs_message *its,
              enum bcs_send_mode its_mode, struct bcs_request *request)
{
    (void)of;
    mode = its_mode;
    return post(its, request);
}

int play_receive(struct bcs_context *of, const struct bcs_message *its,
                 struct bcs_result *result, struct bcs_request *request)
{
    (void)of;
    ck_assert_ptr_null(result);
    return post(its, request);
}

int play_imrecv(struct bcs_context *of, const struct bcs_message *its,
                uint32_t its_item, struct bcs_request *request)
{
    (void)of;
    item = its_item;
    return post(its, request);
}

bool play_look(struct bcs_context *of, struct bcs_request *request)
{
    (void)of;
    if (is_over) {
        bcs_request_state(request)->is_pending = false;
    }
    return is_over;
}

bool play_wants_copy(const struct bcs_context *of, size_t n_bytes)
{
    (void)of;
    (void)n_bytes;
    return wants_copy;
}

void play_truncation(struct bcs_context *of, const struct bcs_group *peers,
                     const struct bcs_result *result)
{
    (void)of;
    (void)result;
    truncated_of = peers;
    n_truncations++;
}

bool play_turn(struct bcs_context *of, struct bcs_waiter *waiter)
{
    (void)of;
    (void)waiter;
    is_over = ++n_turns == 3;
    return false;
}

void play_stop(struct bcs_context *of, struct bcs_waiter *waiter)
{
    (void)of;
    (void)waiter;
}

void play_cancel(struct bcs_context *of, const struct bcs_request *request)
{
    (void)of;
    (void)request;
    strcat(asked, "c");
}

void play_cancel_wait(struct bcs_context *of, struct bcs_request *request)
{
    (void)of;
    (void)request;
    strcat(asked, "w");
}

bool play_cancel_send(struct bcs_context *of, struct bcs_request *request,
                      uint32_t port)
{
    (void)of;
    strcat(asked, "s");
    taken_back = request;
    taken_back_from = port;
    if (can_take_back) {
        request->result.error = BCS_E_CANCELLED;
        bcs_request_state(request)->is_pending = false;
    }
    return can_take_back;
}

static inline void set_up(void)
{
    static const uint32_t ports[] = {4, 9, 6};

    gapped_type = (struct fake_type){.size = 2, .extent = 4, .places = {0, 2}};
    byte_type = (struct fake_type){.size = 1, .extent = 1, .places = {0}};
    fake_library_set();
    context = (struct bcs_context){.config.limits.requests = N_REQUESTS};
    shim_state.context = &context;
    ck_assert_int_eq(shim_request_setup(), 0);
    ck_assert_int_eq(shim_datatype_setup(), 0);
    gapped = shim_datatype_find(fake_type_handle(&gapped_type));
    byte = shim_datatype_find(fake_type_handle(&byte_type));
    comm = calloc(1, sizeof(*comm));
    *comm = (struct shim_comm){.handle = (MPI_Comm)(void *)&handle,
                               .n_users = 1,
                               .group = {.size = 3, .ports = ports, .ranks = ports}};
    comm->whole = &comm->group;
    shim_state.last_comm = comm;
    strcpy(spaced, "a.b.c.d.");
    memset(asked, 0, sizeof(asked));
    n_posted = api_rc = n_truncations = n_turns = 0;
    is_done_at_once = is_over = can_take_back = false;
    wants_copy = true;
    truncated_of = NULL;
}

static inline void tear_down(void)
{
    is_over = true; /* what was let go gives back what it has */
    shim_request_reap();
    free(comm);
    shim_datatype_teardown();
    shim_request_teardown();
}

/* A request of count elements at spaced, to or from rank 1 with tag 7, as MPI_Isend
 * makes it. */
static inline struct shim_request *make(enum shim_kind kind,
                                        const struct shim_datatype *type, int count)
{
    struct shim_request *request = shim_request_new();

    request->kind = kind;
    request->buffer = spaced;
    request->count = count;
    request->type = type;
    request->comm = comm;
    request->error_comm = comm->handle;
    request->peer = 1;
    request->tag = 7;
    return request;
}

static inline struct shim_request *start(enum shim_kind kind,
                                         const struct shim_datatype *type, int count)
{
    struct shim_request *request = make(kind, type, count);

    ck_assert_int_eq(shim_request_start(request), MPI_SUCCESS);
    ck_assert(request->is_active);
    return request;
}

/* A message has come for a request, or has gone. */
static inline void come(struct shim_request *request, size_t n_bytes, int error)
{
    request->base.result = (struct bcs_result){2, 8, n_bytes, error, 0};
    bcs_request_state(&request->base)->is_pending = false;
}

/* It is finished with this class, and its status is in status. */
static MPI_Status status;
static inline void finish(struct shim_request *request, int class, bool is_deleted)
{
    MPI_Request its = shim_request_handle(request);

    status = (MPI_Status){.MPI_ERROR = 99};
    ck_assert_int_eq(shim_request_finish(&its, &status), class);
    ck_assert_int_eq(its == shim_handles.request_null, is_deleted);
    ck_assert_int_eq(status.MPI_ERROR, 99); /* it is the caller's */
}

static inline void status_is(int source, int tag, size_t n_bytes, bool is_cancelled)
{
    ck_assert_int_eq(status.MPI_SOURCE, source);
    ck_assert_int_eq(status.MPI_TAG, tag);
    ck_assert_uint_eq(status._ucount, n_bytes);
    ck_assert_int_eq(status._cancelled, is_cancelled);
}

/* Free the gapped type, for the program. @return whether somebody holds it */
static inline bool free_is_put_off(void)
{
    MPI_Datatype type = fake_type_handle(&gapped_type);

    ck_assert_int_eq(shim_datatype_free(&type), MPI_SUCCESS);
    return gapped_type.n_frees == 0;
}

/* Attach a buffer with room for n messages of a byte. */
static inline void attach(size_t n)
{
    ck_assert(shim_bsend_attach(&shim_state.arena->space, space,
                                n * (1 + MPI_BSEND_OVERHEAD)));
}

#endif

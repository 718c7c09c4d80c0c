/* SPDX-License-Identifier: BSD-3-Clause */
/* Acts that send: in all modes and forms, and Sendrecv in both kinds. */
#include "tests/random/run.h"

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int start_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                     MPI_Request *);

static send_fn *const blocking[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static start_fn *const nonblocking[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
static start_fn *const persistent[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
                                       MPI_Rsend_init};

static void make_message(struct buffer *buffer, const struct message *message,
                         struct draw *draw)
{
    struct layout layout;

    layout_draw(&layout, message->base, message->n, draw);
    buffer_make(buffer, &layout, message->n / layout.n);
    buffer_put(buffer, 0, message->n, message->key);
}

static void keep_until_end(struct run *run, struct entry *entry)
{
    run->limbo = realloc(run->limbo, ((size_t)run->n_limbo + 1) * sizeof(*run->limbo));
    CHECK(run->limbo != NULL);
    run->limbo[run->n_limbo++] = entry->buffer;
    entry->buffer.memory = NULL;
    run_drop_entry(run, entry);
}

/* The request of an act before, with new data. */
static void start_again(struct run *run, const struct act *act)
{
    struct entry *entry = &run->entries[run->entry_of[act->previous]];

    if (entry->is_active) {
        run_wait(run, entry);
    }
    run->entry_of[act->previous] = -1;
    entry->act = (int)(act - run->plan->acts);
    run->entry_of[entry->act] = (int)(entry - run->entries);
    entry->is_active = true;
    buffer_clear(&entry->buffer);
    if (act->kind == ACT_SEND) {
        const struct message *message = &run->plan->messages[act->message];

        buffer_put(&entry->buffer, 0, message->n, message->key);
    }
    run_expect(run, MPI_Start(&entry->request), MPI_SUCCESS, "MPI_Start");
}

/* By one call, so that nothing moves between them. */
static void start_together(struct run *run)
{
    MPI_Request *requests = check_alloc((size_t)run->n_together * sizeof(*requests));

    for (int i = 0; i < run->n_together; i++) {
        requests[i] = run->entries[run->together[i]].request;
    }
    run_expect(run, MPI_Startall(run->n_together, requests), MPI_SUCCESS,
               "MPI_Startall");
    for (int i = 0; i < run->n_together; i++) {
        run->entries[run->together[i]].request = requests[i];
    }
    run->n_together = 0;
    free(requests);
}

static void start_persistent(struct run *run, const struct act *act,
                             struct entry *entry)
{
    entry->is_persistent = true;
    if (act->is_together) {
        run->together[run->n_together++] = (int)(entry - run->entries);
        if (act->is_last) {
            start_together(run);
        }
        return;
    }
    if (draw_chance(&run->draw, 50)) {
        run_expect(run, MPI_Start(&entry->request), MPI_SUCCESS, "MPI_Start");
    } else {
        run_expect(run, MPI_Startall(1, &entry->request), MPI_SUCCESS, "MPI_Startall");
    }
}

/* @return a new entry for an act, or NULL: the request of an act before has been
 * started */
static struct entry *begin(struct run *run, const struct act *act)
{
    if (act->previous >= 0) {
        start_again(run, act);
        return NULL;
    }
    return run_add_entry(run, act);
}

void run_send(struct run *run, const struct act *act)
{
    MPI_Comm comm = run_comm(run, act->comm);
    struct entry *entry = begin(run, act);
    struct buffer *buffer;
    int error;

    if (entry == NULL) {
        return;
    }
    buffer = &entry->buffer;
    make_message(buffer, &run->plan->messages[act->message], &run->draw);
    if (act->form == FORM_BLOCKING) {
        error = blocking[act->mode](buffer->origin, buffer->count, buffer->layout.type,
                                    act->peer, act->tag, comm);
        run_expect(run, error, MPI_SUCCESS, "send");
        run_drop_entry(run, entry);
        return;
    }
    error = (act->form == FORM_PERSISTENT ? persistent : nonblocking)[act->mode](
        buffer->origin, buffer->count, buffer->layout.type, act->peer, act->tag, comm,
        &entry->request);
    run_expect(run, error, MPI_SUCCESS, "send that does not block");
    if (act->form == FORM_PERSISTENT) {
        start_persistent(run, act, entry);
    }
    if (!act->is_held &&
        draw_chance(&run->draw, 30)) { /* else it may be needed again */
        layout_free(&buffer->layout);
    }
    if (act->form == FORM_FREED) {
        run_expect(run, MPI_Request_free(&entry->request), MPI_SUCCESS,
                   "MPI_Request_free");
        keep_until_end(run, entry);
    }
}

/* Where a message is too long, there is memory for all of it: Open MPI 4.1 writes
 * beyond the end of a receive if both ends are on one machine and the message is
 * long. */
static void make_room(const struct plan *plan, struct buffer *buffer,
                      const struct act *act, struct draw *draw)
{
    struct layout layout;
    bool is_short = act->outcome == OUTCOME_TRUNCATED;
    int room = is_short ? plan->messages[act->message].n : act->room;

    layout_draw(&layout, act->base, is_short ? act->room : 0, draw);
    buffer_make(buffer, &layout, (room + layout.n - 1) / layout.n);
    if (is_short) {
        buffer->count = act->room / layout.n;
    }
}

/* What has been found is found again, whatever else is posted, until it is received. */
static void probe_again(struct run *run, MPI_Comm comm, const MPI_Status *probed)
{
    MPI_Request request;
    int none;

    for (int i = 0; i < 2; i++) {
        MPI_Status status;
        int is_there;

        if (i == 0) {
            MPI_Irecv(&none, 1, MPI_INT, MPI_ANY_SOURCE, TAG_NEVER, comm, &request);
        } else {
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Iprobe(probed->MPI_SOURCE, probed->MPI_TAG, comm, &is_there, &status);
        if (!is_there || status.MPI_SOURCE != probed->MPI_SOURCE ||
            status.MPI_TAG != probed->MPI_TAG) {
            run_fail(run, "source %d, tag %d is not found again %s a receive",
                     probed->MPI_SOURCE, probed->MPI_TAG, i == 0 ? "behind" : "after");
        }
    }
}

/* Find the message first; then it must come as it was announced. */
static int receive_probed(struct run *run, const struct act *act, struct buffer *buffer,
                          MPI_Status *status)
{
    MPI_Comm comm = run_comm(run, act->comm);
    MPI_Status probed;
    int is_there = 0;
    int n[2];
    int error = act->form == FORM_PROBE
                    ? MPI_Probe(act->peer, act->tag, comm, &probed)
                    : MPI_Iprobe(act->peer, act->tag, comm, &is_there, &probed);

    while (error == MPI_SUCCESS && act->form == FORM_IPROBE && !is_there) {
        error = MPI_Iprobe(act->peer, act->tag, comm, &is_there, &probed);
    }
    run_expect(run, error, MPI_SUCCESS, "probe");
    probe_again(run, comm, &probed);
    error = MPI_Recv(buffer->origin, buffer->count, buffer->layout.type,
                     probed.MPI_SOURCE, probed.MPI_TAG, comm, status);
    MPI_Get_elements(&probed, buffer->layout.type, &n[0]);
    MPI_Get_elements(status, buffer->layout.type, &n[1]);
    if (status->MPI_SOURCE != probed.MPI_SOURCE || status->MPI_TAG != probed.MPI_TAG ||
        n[0] != n[1]) {
        run_fail(run, "probed source %d, tag %d, %d elements; received %d, %d, %d",
                 probed.MPI_SOURCE, probed.MPI_TAG, n[0], status->MPI_SOURCE,
                 status->MPI_TAG, n[1]);
    }
    return error;
}

/* @return true if the request of the entry is now to be completed */
static bool receive_matched(struct run *run, const struct act *act, struct entry *entry,
                            MPI_Status *status)
{
    MPI_Comm comm = run_comm(run, act->comm);
    struct buffer *buffer = &entry->buffer;
    MPI_Message message = MPI_MESSAGE_NULL;
    int is_there = 0;
    bool is_improbe = act->form == FORM_IMPROBE || act->form == FORM_IMPROBE_IMRECV;
    bool is_imrecv =
        act->form == FORM_MPROBE_IMRECV || act->form == FORM_IMPROBE_IMRECV;
    int error = MPI_SUCCESS;

    if (!is_improbe) {
        error = MPI_Mprobe(act->peer, act->tag, comm, &message, status);
    }
    while (error == MPI_SUCCESS && is_improbe && !is_there) {
        error = MPI_Improbe(act->peer, act->tag, comm, &is_there, &message, status);
    }
    run_expect(run, error, MPI_SUCCESS, "matched probe");
    error = is_imrecv ? MPI_Imrecv(buffer->origin, buffer->count, buffer->layout.type,
                                   &message, &entry->request)
                      : MPI_Mrecv(buffer->origin, buffer->count, buffer->layout.type,
                                  &message, status);
    run_expect(run, error, MPI_SUCCESS, "receive of a matched message");
    return is_imrecv;
}

static void receive_blocking(struct run *run, const struct act *act,
                             struct entry *entry)
{
    struct buffer *buffer = &entry->buffer;
    MPI_Status status;
    int error;

    if (act->form == FORM_BLOCKING) {
        error = MPI_Recv(buffer->origin, buffer->count, buffer->layout.type, act->peer,
                         act->tag, run_comm(run, act->comm), &status);
        run_expect(run, error,
                   act->outcome == OUTCOME_TRUNCATED ? MPI_ERR_TRUNCATE : MPI_SUCCESS,
                   "MPI_Recv");
    } else if (act->form == FORM_PROBE || act->form == FORM_IPROBE) {
        error = receive_probed(run, act, buffer, &status);
        run_expect(run, error, MPI_SUCCESS, "receive after a probe");
    } else if (receive_matched(run, act, entry, &status)) {
        return;
    }
    run_check_received(run, act, buffer, &status, act->outcome);
    run_drop_entry(run, entry);
}

void run_receive(struct run *run, const struct act *act)
{
    MPI_Comm comm = run_comm(run, act->comm);
    struct entry *entry = begin(run, act);
    struct buffer *buffer;
    int error;

    if (entry == NULL) {
        return;
    }
    buffer = &entry->buffer;
    make_room(run->plan, buffer, act, &run->draw);
    if (act->form >= FORM_FIRST_BLOCKING) {
        receive_blocking(run, act, entry);
        return;
    }
    error = (act->form == FORM_PERSISTENT ? MPI_Recv_init : MPI_Irecv)(
        buffer->origin, buffer->count, buffer->layout.type, act->peer, act->tag, comm,
        &entry->request);
    run_expect(run, error, MPI_SUCCESS, "receive that does not block");
    if (act->form == FORM_PERSISTENT) {
        start_persistent(run, act, entry);
    }
}

void run_exchange(struct run *run, const struct act *act)
{
    const struct plan *plan = run->plan;
    struct act receive = {
        .kind = ACT_RECEIVE,
        .op = act->op,
        .comm = act->comm,
        .peer = act->source,
        .tag = act->source_tag,
        .message = act->received,
        .group = -1,
        .outcome = act->received < 0 ? OUTCOME_NOTHING : OUTCOME_DATA,
    };
    const struct message *sent = &plan->messages[act->message];
    const struct message *received =
        &plan->messages[act->received < 0 ? act->message : act->received];
    MPI_Comm comm = run_comm(run, act->comm);
    struct buffer out;
    struct buffer in;
    MPI_Status status;
    int error;

    make_message(&out, sent, &run->draw);
    receive.base = received->base;
    receive.room = received->n;
    if (act->form == FORM_BLOCKING) {
        make_room(plan, &in, &receive, &run->draw);
        error = MPI_Sendrecv(out.origin, out.count, out.layout.type, act->peer,
                             act->tag, in.origin, in.count, in.layout.type, act->source,
                             act->source_tag, comm, &status);
        run_expect(run, error, MPI_SUCCESS, "MPI_Sendrecv");
        run_check_received(run, &receive, &in, &status, receive.outcome);
        buffer_free(&in);
    } else {
        error =
            MPI_Sendrecv_replace(out.origin, out.count, out.layout.type, act->peer,
                                 act->tag, act->source, act->source_tag, comm, &status);
        run_expect(run, error, MPI_SUCCESS, "MPI_Sendrecv_replace");
        if (act->received < 0) {
            buffer_take(&out, 0, sent->n, sent->key);
        }
        run_check_received(run, &receive, &out, &status, receive.outcome);
    }
    buffer_free(&out);
}

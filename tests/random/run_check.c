/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares what receives have got with the plan; cancellations, errors, and bad
 * calls. */
#include "tests/random/run.h"

/* What Open MPI cuts off properly when it is too long. */
enum { SHORT_BYTES = 3000 };

static int n_elements(const struct buffer *buffer, const MPI_Status *status)
{
    int n;

    MPI_Get_elements(status, buffer->layout.type, &n);
    return n == MPI_UNDEFINED ? n : n / layout_base_parts(buffer->layout.base);
}

static void check_clean(const struct run *run, const struct buffer *buffer)
{
    bool is_stray;
    ptrdiff_t at = buffer_stray(buffer, &is_stray);

    if (is_stray) {
        run_fail(run, "byte %td of a buffer, where nothing was to come, is %02x", at,
                 (unsigned char)buffer->origin[at]);
    }
}

static void check_status(const struct run *run, const MPI_Status *status, int source,
                         int tag)
{
    int is_cancelled;

    MPI_Test_cancelled(status, &is_cancelled);
    if (is_cancelled) {
        run_fail(run, "cancelled though its message had come (source %d, tag %d)",
                 source, tag);
    }
    if (status->MPI_SOURCE != source || status->MPI_TAG != tag) {
        run_fail(run, "status: source %d, tag %d expected, but %d, %d", source, tag,
                 status->MPI_SOURCE, status->MPI_TAG);
    }
}

static void check_count(const struct run *run, const struct buffer *buffer,
                        const MPI_Status *status, int n)
{
    int per = buffer->layout.n;
    int expected = n % per ? MPI_UNDEFINED : n / per;
    int count;

    MPI_Get_count(status, buffer->layout.type, &count);
    if (count != expected || n_elements(buffer, status) != n) {
        run_fail(run, "status: count %d, %d elements expected, but %d, %d", expected, n,
                 count, n_elements(buffer, status));
    }
}

static void check_data(const struct run *run, struct buffer *buffer,
                       const struct message *message)
{
    int different = buffer_take(buffer, 0, message->n, message->key);

    if (different >= 0) {
        run_fail(run, "element %d of %d from rank %d, tag %d, is wrong", different,
                 message->n, message->from, message->tag);
    }
    check_clean(run, buffer);
}

static void put_down(struct run *run, const struct act *act, struct buffer *buffer,
                     const MPI_Status *status)
{
    const struct members *others = plan_others(&run->plan->comms[act->comm], act->rank);

    if (status->MPI_SOURCE < 0 || status->MPI_SOURCE >= others->n) {
        run_fail(run, "status: source %d", status->MPI_SOURCE);
    }
    run->taken = realloc(run->taken, ((size_t)run->n_taken + 1) * sizeof(*run->taken));
    CHECK(run->taken != NULL);
    run->taken[run->n_taken++] = (struct taken){
        .act = (int)(act - run->plan->acts),
        .from = others->ranks[status->MPI_SOURCE],
        .tag = status->MPI_TAG,
        .n = n_elements(buffer, status),
        .buffer = *buffer,
    };
    buffer->memory = NULL;
    buffer->layout.is_derived = false;
}

void run_check_received(struct run *run, const struct act *act, struct buffer *buffer,
                        const MPI_Status *status, enum outcome outcome)
{
    const struct message *message = &run->plan->messages[act->message];
    int is_cancelled;

    switch (outcome) {
    case OUTCOME_NOTHING:
        check_status(run, status, MPI_PROC_NULL, MPI_ANY_TAG);
        check_count(run, buffer, status, 0);
        check_clean(run, buffer);
        break;
    case OUTCOME_CANCELLED:
        MPI_Test_cancelled(status, &is_cancelled);
        if (!is_cancelled) {
            run_fail(run, "a cancelled receive has got something");
        }
        check_clean(run, buffer);
        break;
    case OUTCOME_TRUNCATED:
        check_status(run, status, act->peer, message->tag);
        if (message->n * plan_base_bytes(message->base) < SHORT_BYTES) {
            buffer_take(buffer, 0, buffer->count * buffer->layout.n, 0);
            check_clean(run, buffer);
        }
        break;
    default:
        if (act->group >= 0) {
            put_down(run, act, buffer, status);
            break;
        }
        if (status) {
            check_status(run, status, act->peer, message->tag);
            check_count(run, buffer, status, message->n);
        }
        check_data(run, buffer, message);
        break;
    }
}

static int compare_taken(const void *left, const void *right, void *plan)
{
    const struct act *acts = ((const struct plan *)plan)->acts;
    const struct act *a = &acts[((const struct taken *)left)->act];
    const struct act *b = &acts[((const struct taken *)right)->act];

    if (a->group != b->group) {
        return a->group - b->group;
    }
    return a->position < b->position ? -1 : 1;
}

/* The next message that a rank has sent to a group, from act *next of the order on. */
static const struct message *next_of(const struct plan *plan, int group, int from,
                                     int *next)
{
    while (*next < plan->n_order) {
        const struct act *act = &plan->acts[plan->order[(*next)++]];

        if (act->kind == ACT_SEND && act->group == group && act->rank == from) {
            return &plan->messages[act->message];
        }
    }
    return NULL;
}

/* Of each sender the messages must have come in the order in which it has sent them. */
void run_check_taken(struct run *run)
{
    const struct plan *plan = run->plan;
    int next[MAX_RANKS];
    int group = -1;

    if (run->n_taken > 0) {
        qsort_r(run->taken, (size_t)run->n_taken, sizeof(*run->taken), compare_taken,
                (void *)plan);
    }
    for (int i = 0; i < run->n_taken; i++) {
        struct taken *taken = &run->taken[i];
        const struct message *message;

        run->act = &plan->acts[taken->act];
        if (run->act->group != group) {
            memset(next, 0, sizeof(next));
            group = run->act->group;
        }
        message = next_of(plan, group, taken->from, &next[taken->from]);
        if (!message || message->tag != taken->tag || message->n != taken->n) {
            run_fail(run,
                     "%d elements with tag %d from rank %d, in its order %d with %d",
                     taken->n, taken->tag, taken->from, message ? message->n : -1,
                     message ? message->tag : -1);
        }
        check_data(run, &taken->buffer, message);
        buffer_free(&taken->buffer);
    }
    run->n_taken = 0;
}

static struct entry *target_of(struct run *run, const struct act *act)
{
    CHECK(run->entry_of[act->target] >= 0);
    return &run->entries[run->entry_of[act->target]];
}

void run_cancel(struct run *run, const struct act *act)
{
    struct entry *entry = target_of(run, act);

    run_expect(run, MPI_Cancel(&entry->request), MPI_SUCCESS, "MPI_Cancel");
    entry->is_held = false;
    if (draw_chance(&run->draw, 60)) {
        run_wait(run, entry);
    }
}

void run_cancel_race(struct run *run, const struct act *act)
{
    struct entry *entry = target_of(run, act);
    struct buffer *buffer = &entry->buffer;
    const struct act *receive = &run->plan->acts[entry->act];
    MPI_Status status;
    int is_cancelled;

    run_expect(run, MPI_Cancel(&entry->request), MPI_SUCCESS, "MPI_Cancel");
    run_expect(run, MPI_Wait(&entry->request, &status), MPI_SUCCESS, "MPI_Wait");
    MPI_Test_cancelled(&status, &is_cancelled);
    if (is_cancelled) {
        check_clean(run, buffer);
        run_expect(run,
                   MPI_Recv(buffer->origin, buffer->count, buffer->layout.type,
                            receive->peer, receive->tag, run_comm(run, receive->comm),
                            &status),
                   MPI_SUCCESS, "MPI_Recv");
    }
    run_check_received(run, receive, buffer, &status, OUTCOME_DATA);
    if (entry->is_persistent) {
        MPI_Request_free(&entry->request);
    }
    run_drop_entry(run, entry);
}

void run_cancel_send(struct run *run, const struct act *act)
{
    struct entry *entry = target_of(run, act);
    struct buffer *buffer = &entry->buffer;
    const struct act *send = &run->plan->acts[entry->act];
    MPI_Status status;
    int is_cancelled;

    run_expect(run, MPI_Cancel(&entry->request), MPI_SUCCESS, "MPI_Cancel");
    run_expect(run, MPI_Wait(&entry->request, &status), MPI_SUCCESS, "MPI_Wait");
    MPI_Test_cancelled(&status, &is_cancelled);
    if (is_cancelled) {
        run_expect(run,
                   MPI_Send(buffer->origin, buffer->count, buffer->layout.type,
                            send->peer, send->tag, run_comm(run, send->comm)),
                   MPI_SUCCESS, "MPI_Send");
    }
    if (entry->is_persistent) {
        MPI_Request_free(&entry->request);
    }
    run_drop_entry(run, entry);
}

void run_finish(struct run *run, const struct act *act)
{
    struct entry *entry = target_of(run, act);
    MPI_Status status;
    int is_done = 0;
    int error = MPI_SUCCESS;

    switch (draw_below(&run->draw, 3)) {
    case 0:
        error = MPI_Wait(&entry->request, &status);
        run_expect(run, error, MPI_ERR_TRUNCATE, "MPI_Wait");
        break;
    case 1:
        while (!is_done && error == MPI_SUCCESS) {
            error = MPI_Test(&entry->request, &is_done, &status);
        }
        run_expect(run, error, MPI_ERR_TRUNCATE, "MPI_Test");
        break;
    default:
        error = MPI_Waitall(1, &entry->request, &status);
        run_expect(run, error, MPI_ERR_IN_STATUS, "MPI_Waitall");
        run_expect(run, status.MPI_ERROR, MPI_ERR_TRUNCATE, "MPI_Waitall's status");
        break;
    }
    run_check_received(run, &run->plan->acts[entry->act], &entry->buffer, &status,
                       OUTCOME_TRUNCATED);
    run_drop_entry(run, entry);
}

void run_bad_call(struct run *run, const struct act *act)
{
    MPI_Comm comm = run_comm(run, act->comm);
    int n = plan_others(&run->plan->comms[act->comm], run->me)->n;
    int x = 0;
    int y = 0;
    MPI_Request request = MPI_REQUEST_NULL;

    switch (act->tag % 8) {
    case 0:
        run_expect(run, MPI_Send(&x, 1, MPI_INT, n, 0, comm), MPI_ERR_RANK, "bad rank");
        break;
    case 1:
        run_expect(run, MPI_Isend(&x, -1, MPI_INT, 0, 0, comm, &request), MPI_ERR_COUNT,
                   "bad count");
        break;
    case 2:
        run_expect(run, MPI_Irecv(&x, 1, MPI_INT, 0, -7, comm, &request), MPI_ERR_TAG,
                   "bad tag");
        break;
    case 3:
        run_expect(run, MPI_Recv(&x, 1, MPI_DATATYPE_NULL, 0, 0, comm, NULL),
                   MPI_ERR_TYPE, "bad type");
        break;
    case 4:
        run_expect(run, MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM,
                   "bad communicator");
        break;
    case 5:
        run_expect(
            run, MPI_Bcast(&x, 1, MPI_INT, run->plan->n_ranks, run_comm(run, COMM_ALL)),
            MPI_ERR_ROOT, "bad root");
        break;
    case 6:
        run_expect(
            run,
            MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, run_comm(run, COMM_ALL)),
            MPI_ERR_OP, "bad operation");
        break;
    default:
        run_expect(run, MPI_Probe(n + 3, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK,
                   "bad rank");
        break;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through a rank's acts of a plan, with delays and completions between them. */
#include "tests/random/run.h"

#include <stdarg.h>
#include <unistd.h>

void run_fail(const struct run *run, const char *format, ...)
{
    char act[400];
    char text[1000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    plan_print_act(run->plan, run->act, act, sizeof(act));
    fprintf(stderr,
            "WRONG seed %llu, rank %d of %d, operation %d: %s\n  at or after %s\n",
            (unsigned long long)run->plan->seed, run->me, run->plan->n_ranks,
            run->act->op, text, act);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 99);
    abort();
}

void run_expect(const struct run *run, int error, int class, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "success";
    int length;
    int got = MPI_SUCCESS;

    if (error != MPI_SUCCESS) {
        MPI_Error_class(error, &got);
        MPI_Error_string(error, text, &length);
    }
    if (got != class) {
        run_fail(run, "%s: error class %d expected, but %d: %s", call, class, got,
                 text);
    }
}

struct entry *run_add_entry(struct run *run, const struct act *act)
{
    int i = 0;

    while (i < run->n_entries && run->entries[i].act >= 0) {
        i++;
    }
    if (i == run->n_entries) {
        run->n_entries++;
        run->entries =
            realloc(run->entries, (size_t)run->n_entries * sizeof(*run->entries));
        CHECK(run->entries != NULL);
    }
    run->entries[i] = (struct entry){
        .request = MPI_REQUEST_NULL,
        .act = (int)(act - run->plan->acts),
        .is_active = true,
        .is_held = act->is_held,
        .outcome = act->outcome,
    };
    run->entry_of[run->entries[i].act] = i;
    return &run->entries[i];
}

void run_drop_entry(struct run *run, struct entry *entry)
{
    run->entry_of[entry->act] = -1;
    if (entry->buffer.memory) {
        buffer_free(&entry->buffer);
    }
    entry->act = -1;
}

static void spin(double seconds)
{
    double until = MPI_Wtime() + seconds;

    while (MPI_Wtime() < until) {
    }
}

/* Compute or sleep for a while, so that ranks meet in other orders. */
static void delay(struct run *run)
{
    int us = 10 << draw_below(&run->draw, 6);

    if (draw_chance(&run->draw, 50)) {
        usleep((unsigned)us);
    } else {
        spin(us * 1e-6);
    }
}

static void carry_out(struct run *run, const struct act *act)
{
    static void (*const calls[])(struct run *, const struct act *) = {
        [ACT_SEND] = run_send,
        [ACT_RECEIVE] = run_receive,
        [ACT_EXCHANGE] = run_exchange,
        [ACT_CANCEL] = run_cancel,
        [ACT_CANCEL_RACE] = run_cancel_race,
        [ACT_CANCEL_SEND] = run_cancel_send,
        [ACT_FINISH] = run_finish,
        [ACT_BAD_CALL] = run_bad_call,
        [ACT_COLLECTIVE] = run_collective,
        [ACT_MAKE] = run_make,
        [ACT_FREE] = run_free,
    };

    calls[act->kind](run, act);
}

static void go_through(struct run *run)
{
    const struct plan *plan = run->plan;

    for (int i = 0; i < plan->n_order; i++) {
        const struct act *act = &plan->acts[plan->order[i]];

        if (act->rank != run->me) {
            continue;
        }
        run->act = act;
        run->now = act->position;
        run->progress->act = plan->order[i];
        carry_out(run, act);
        if (act->is_hurried) {
            continue;
        }
        while (draw_chance(&run->draw, run->eagerness)) {
            run_complete_some(run);
        }
        if (draw_chance(&run->draw, run->slowness)) {
            delay(run);
        }
    }
}

/* Room for all buffered sends of this rank at once. */
static void attach(struct run *run)
{
    const struct plan *plan = run->plan;
    size_t n_bytes = 1024;

    for (int i = 0; i < plan->n_order; i++) {
        const struct act *act = &plan->acts[plan->order[i]];

        if (act->kind == ACT_SEND && act->rank == run->me &&
            act->mode == MODE_BUFFERED) {
            const struct message *message = &plan->messages[act->message];

            n_bytes += (size_t)message->n * (size_t)plan_base_bytes(message->base) +
                       MPI_BSEND_OVERHEAD + 64;
        }
    }
    run->attached = check_alloc(n_bytes);
    MPI_Buffer_attach(run->attached, (int)n_bytes);
}

static void begin(struct run *run, MPI_Comm all)
{
    const struct plan *plan = run->plan;
    static const int slownesses[] = {0, 2, 5, 30};
    static const int eagernesses[] = {0, 10, 40, 70};

    MPI_Comm_rank(all, &run->me);
    run->draw = draw_from(plan->seed, 6, (uint64_t)run->me);
    run->slowness = slownesses[draw_below(&run->draw, CHECK_N(slownesses))];
    run->eagerness = eagernesses[draw_below(&run->draw, CHECK_N(eagernesses))];
    run->entry_of = check_alloc((size_t)plan->n_acts * sizeof(int));
    run->together = check_alloc((size_t)plan->n_acts * sizeof(int));
    run->serves_later = check_alloc((size_t)plan->n_acts * sizeof(bool));
    for (int i = 0; i < plan->n_acts; i++) {
        run->entry_of[i] = -1;
    }
    for (int i = 0; i < plan->n_order; i++) {
        if (plan->acts[plan->order[i]].previous >= 0) {
            run->serves_later[plan->acts[plan->order[i]].previous] = true;
        }
    }
    for (int i = 0; i < MAX_COMMS; i++) {
        run->comms[i] = MPI_COMM_NULL;
    }
    run->comms[COMM_ALL] = all;
    MPI_Comm_dup(all, &run->comms[COMM_STREAM]);
    attach(run);
}

/* Everything has been sent and received by now; buffers of freed sends can go when all
 * have come here. */
static void end(struct run *run)
{
    void *buffer;
    int n_bytes;

    run->now = INT64_MAX;
    run->progress->act = -2;
    run_complete_all(run);
    run_check_taken(run);
    MPI_Buffer_detach(&buffer, &n_bytes);
    MPI_Barrier(run->comms[COMM_ALL]);
    for (int i = 0; i < run->n_limbo; i++) {
        buffer_free(&run->limbo[i]);
    }
    for (int i = COMM_STREAM; i < MAX_COMMS; i++) {
        if (run->comms[i] != MPI_COMM_NULL) {
            MPI_Comm_free(&run->comms[i]);
        }
    }
    free(run->limbo);
    free(run->taken);
    free(run->entries);
    free(run->entry_of);
    free(run->serves_later);
    free(run->together);
    free(run->attached);
}

void run_plan(const struct plan *plan, MPI_Comm all, bool is_native,
              struct progress *progress)
{
    struct run run = {
        .plan = plan, .act = plan->acts, .is_native = is_native, .progress = progress};

    begin(&run, all);
    go_through(&run);
    end(&run);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completes pending requests by all calls of the Wait and Test families, on random
 * parts of what is pending: active and inactive, persistent, of messages, collectives
 * and communicators, with null requests between them.
 */
#include "tests/random/run.h"

enum family {
    F_WAIT,
    F_TEST,
    F_WAITANY,
    F_TESTANY,
    F_WAITSOME,
    F_TESTSOME,
    F_WAITALL,
    F_TESTALL,
    F_POLL_ALL,
    F_POLL_SOME,
    F_GET_STATUS,
    F_IPROBE,
    N_FAMILIES
};

/* Requests that one call gets. */
struct list {
    int n;
    int n_active;
    int n_ready;
    bool needs_status;
    MPI_Request *requests;
    MPI_Status *statuses;
    int *indices;
    int *entries; /* -1: a null request */
};

void run_completed(struct run *run, struct entry *entry, const MPI_Status *status)
{
    const struct act *act = &run->plan->acts[entry->act];
    const struct act *kept = run->act;

    run->act = act;
    switch (act->kind) {
    case ACT_RECEIVE:
        run_check_received(run, act, &entry->buffer, status, entry->outcome);
        break;
    case ACT_COLLECTIVE:
        if (entry->moving) {
            moving_check(run, act, entry->moving);
        } else if (entry->reducing) {
            reducing_check(run, act, entry->reducing);
        }
        break;
    case ACT_MAKE:
        run_made(run, act);
        break;
    default:
        break;
    }
    if (!entry->is_persistent && entry->request != MPI_REQUEST_NULL) {
        run_fail(run, "a completed request is not MPI_REQUEST_NULL");
    }
    if (entry->is_persistent && entry->request == MPI_REQUEST_NULL) {
        run_fail(run, "a persistent request has become MPI_REQUEST_NULL");
    }
    run->act = kept;
    entry->is_active = false;
    if (entry->is_persistent && !run->serves_later[entry->act] &&
        draw_chance(&run->draw, 50)) {
        run_expect(run, MPI_Request_free(&entry->request), MPI_SUCCESS,
                   "MPI_Request_free");
        entry->is_persistent = false;
    }
    if (!entry->is_persistent) {
        run_drop_entry(run, entry);
    }
}

static bool is_ready(const struct run *run, const struct entry *entry)
{
    return entry->is_active && run->plan->acts[entry->act].ready <= run->now;
}

/* A null or inactive request has an empty status. */
static void check_empty(const struct run *run, const MPI_Status *status)
{
    int count;
    int is_cancelled;

    MPI_Get_count(status, MPI_BYTE, &count);
    MPI_Test_cancelled(status, &is_cancelled);
    if (status->MPI_SOURCE != MPI_ANY_SOURCE || status->MPI_TAG != MPI_ANY_TAG ||
        count != 0 || is_cancelled) {
        run_fail(run, "empty status expected, but source %d, tag %d, %d bytes",
                 status->MPI_SOURCE, status->MPI_TAG, count);
    }
}

void run_wait(struct run *run, struct entry *entry)
{
    MPI_Status status;
    int is_done = 0;
    int way = draw_below(&run->draw, 3);

    if (way == 0) {
        run_expect(run, MPI_Wait(&entry->request, &status), MPI_SUCCESS, "MPI_Wait");
    }
    while (way == 1 && !is_done) {
        run_expect(run, MPI_Test(&entry->request, &is_done, &status), MPI_SUCCESS,
                   "MPI_Test");
    }
    if (way == 2) {
        run_expect(run, MPI_Waitall(1, &entry->request, &status), MPI_SUCCESS,
                   "MPI_Waitall");
    }
    run_completed(run, entry, &status);
}

static void add_to_list(struct run *run, struct list *list, int i)
{
    const struct entry *entry = i < 0 ? NULL : &run->entries[i];

    list->requests[list->n] = entry ? entry->request : MPI_REQUEST_NULL;
    list->entries[list->n++] = i;
    if (entry && entry->is_active) {
        const struct act *act = &run->plan->acts[entry->act];

        list->n_active++;
        list->n_ready += is_ready(run, entry);
        list->needs_status |= act->group >= 0 || entry->outcome != OUTCOME_DATA;
    }
}

/* A random part of the entries, in a random order. */
static void make_list(struct run *run, struct list *list, bool is_ready_only)
{
    static const int sizes[] = {2, 5, 12, 64, 100000};
    int most = sizes[draw_below(&run->draw, CHECK_N(sizes))];
    size_t room = (size_t)run->n_entries + 4;
    int *order = check_alloc(room * sizeof(int));

    *list = (struct list){
        .requests = check_alloc(room * sizeof(MPI_Request)),
        .statuses = check_alloc(room * sizeof(MPI_Status)),
        .indices = check_alloc(room * sizeof(int)),
        .entries = check_alloc(room * sizeof(int)),
    };
    for (int i = 0; i < run->n_entries; i++) {
        order[i] = i;
    }
    if (draw_chance(&run->draw, 60)) {
        draw_shuffle(&run->draw, order, run->n_entries);
    }
    for (int i = 0; i < run->n_entries && list->n < most; i++) {
        const struct entry *entry = &run->entries[order[i]];

        if (entry->act < 0 || entry->is_held ||
            (is_ready_only && entry->is_active && !is_ready(run, entry))) {
            continue;
        }
        add_to_list(run, list, order[i]);
        if (list->n < most && draw_chance(&run->draw, 10)) {
            add_to_list(run, list, -1);
        }
        if ((size_t)list->n + 2 > room) {
            break;
        }
    }
    free(order);
}

static void free_list(struct list *list)
{
    free(list->requests);
    free(list->statuses);
    free(list->indices);
    free(list->entries);
}

/* What the call has made of the requests goes back to the entries. */
static void put_back(struct run *run, const struct list *list)
{
    for (int i = 0; i < list->n; i++) {
        if (list->entries[i] >= 0) {
            run->entries[list->entries[i]].request = list->requests[i];
        } else if (list->requests[i] != MPI_REQUEST_NULL) {
            run_fail(run, "a null request has become another one");
        }
    }
}

/* Request i of the list is complete. */
static void one_completed(struct run *run, struct list *list, int i,
                          const MPI_Status *status)
{
    struct entry *entry;

    if (i < 0 || i >= list->n || list->entries[i] < 0 ||
        !run->entries[list->entries[i]].is_active) {
        run_fail(run, "index %d of %d names no active request", i, list->n);
    }
    entry = &run->entries[list->entries[i]];
    run_completed(run, entry, status);
}

static void all_completed(struct run *run, struct list *list, bool has_statuses)
{
    put_back(run, list);
    for (int i = 0; i < list->n; i++) {
        if (list->entries[i] >= 0 && run->entries[list->entries[i]].is_active) {
            one_completed(run, list, i, has_statuses ? &list->statuses[i] : NULL);
        } else if (has_statuses) {
            check_empty(run, &list->statuses[i]);
        }
    }
}

static void call_any(struct run *run, struct list *list, bool waits)
{
    MPI_Status status;
    int index = -5;
    int is_done = 1;
    int error = waits ? MPI_Waitany(list->n, list->requests, &index, &status)
                      : MPI_Testany(list->n, list->requests, &index, &is_done, &status);

    run_expect(run, error, MPI_SUCCESS, waits ? "MPI_Waitany" : "MPI_Testany");
    put_back(run, list);
    if (!is_done) {
        if (index != MPI_UNDEFINED || list->n_active == 0) {
            run_fail(run, "MPI_Testany: flag 0, index %d, %d active", index,
                     list->n_active);
        }
    } else if (list->n_active == 0) {
        if (index != MPI_UNDEFINED) {
            run_fail(run, "index %d, though no request is active", index);
        }
        check_empty(run, &status);
    } else {
        one_completed(run, list, index, &status);
    }
}

/* @return number completed, 0 also if none was active */
static int call_some(struct run *run, struct list *list, bool waits)
{
    int n = -5;
    MPI_Status *statuses = list->needs_status || draw_chance(&run->draw, 85)
                               ? list->statuses
                               : MPI_STATUSES_IGNORE;
    int error =
        waits ? MPI_Waitsome(list->n, list->requests, &n, list->indices, statuses)
              : MPI_Testsome(list->n, list->requests, &n, list->indices, statuses);

    run_expect(run, error, MPI_SUCCESS, waits ? "MPI_Waitsome" : "MPI_Testsome");
    put_back(run, list);
    if ((n == MPI_UNDEFINED) != (list->n_active == 0) || n > list->n_active ||
        (waits && n == 0)) {
        run_fail(run, "outcount %d, %d active", n, list->n_active);
    }
    for (int i = 0; i < n; i++) {
        one_completed(run, list, list->indices[i],
                      statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i]);
    }
    return n == MPI_UNDEFINED ? 0 : n;
}

static void call_all(struct run *run, struct list *list, enum family family)
{
    bool has_statuses = list->needs_status || draw_chance(&run->draw, 85);
    MPI_Status *statuses = has_statuses ? list->statuses : MPI_STATUSES_IGNORE;
    int is_done = 0;

    if (family == F_WAITALL) {
        run_expect(run, MPI_Waitall(list->n, list->requests, statuses), MPI_SUCCESS,
                   "MPI_Waitall");
        all_completed(run, list, has_statuses);
        return;
    }
    do {
        run_expect(run, MPI_Testall(list->n, list->requests, &is_done, statuses),
                   MPI_SUCCESS, "MPI_Testall");
    } while (!is_done && family == F_POLL_ALL);
    if (is_done) {
        all_completed(run, list, has_statuses);
    } else {
        put_back(run, list);
    }
}

/* One request alone, or a look at its status that completes nothing. */
static void call_one(struct run *run, struct list *list, enum family family)
{
    struct entry *entry = &run->entries[list->entries[0]];
    MPI_Status status;
    int is_done = 0;

    if (family == F_WAIT) {
        run_wait(run, entry);
        return;
    }
    if (family == F_TEST) {
        run_expect(run, MPI_Test(&entry->request, &is_done, &status), MPI_SUCCESS,
                   "MPI_Test");
        if (is_done && entry->is_active) {
            run_completed(run, entry, &status);
        } else if (is_done) {
            check_empty(run, &status);
        }
        return;
    }
    run_expect(run, MPI_Request_get_status(entry->request, &is_done, &status),
               MPI_SUCCESS, "MPI_Request_get_status");
    if (!entry->is_active && !is_done) {
        run_fail(run, "MPI_Request_get_status: flag 0 for an inactive request");
    }
    if (!entry->is_active) {
        check_empty(run, &status);
    } else if (is_done && draw_chance(&run->draw, 50)) {
        run_wait(run, entry);
    }
}

/* Nobody sends with this tag. */
static void call_iprobe(struct run *run)
{
    MPI_Comm comm = run->comms[COMM_ALL];
    int is_there = 1;
    int n = 1 + draw_below(&run->draw, 5);

    for (int i = 0; i < n; i++) {
        MPI_Iprobe(draw_chance(&run->draw, 50)
                       ? MPI_ANY_SOURCE
                       : draw_below(&run->draw, run->plan->n_ranks),
                   TAG_NEVER, comm, &is_there, MPI_STATUS_IGNORE);
        if (is_there) {
            run_fail(run, "a probe finds a message that nobody has sent");
        }
    }
}

static void complete_by(struct run *run, enum family family)
{
    bool is_all = family == F_WAITALL || family == F_POLL_ALL || family == F_WAIT;
    struct list list;

    make_list(run, &list, is_all);
    switch (family) {
    case F_WAIT:
    case F_TEST:
    case F_GET_STATUS:
        if (list.n > 0 && (family != F_WAIT || list.n_active > 0) &&
            list.entries[0] >= 0 &&
            (family != F_WAIT || run->entries[list.entries[0]].is_active)) {
            call_one(run, &list, family);
        }
        break;
    case F_WAITANY:
    case F_TESTANY:
        if (family == F_TESTANY || list.n_ready > 0 || list.n_active == 0) {
            call_any(run, &list, family == F_WAITANY);
        }
        break;
    case F_WAITSOME:
    case F_TESTSOME:
        if (family == F_TESTSOME || list.n_ready > 0 || list.n_active == 0) {
            call_some(run, &list, family == F_WAITSOME);
        }
        break;
    case F_POLL_SOME:
        while (list.n_ready > 0 && call_some(run, &list, false) == 0) {
        }
        break;
    case F_IPROBE:
        call_iprobe(run);
        break;
    default:
        call_all(run, &list, family);
        break;
    }
    free_list(&list);
}

void run_complete_some(struct run *run)
{
    complete_by(run, (enum family)draw_below(&run->draw, N_FAMILIES));
}

void run_complete_all(struct run *run)
{
    bool is_left = true;

    while (is_left) {
        run_complete_some(run);
        is_left = false;
        for (int i = 0; i < run->n_entries; i++) {
            struct entry *entry = &run->entries[i];

            is_left |= entry->act >= 0 && entry->is_active;
            if (entry->act >= 0 && !entry->is_active) {
                MPI_Request_free(&entry->request);
                run_drop_entry(run, entry);
            }
        }
    }
}

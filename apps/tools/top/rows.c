/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes rows of two looks; see rows.h. A rank that waits with several threads has a row
 * for each of its waits, and is in several groups, with all that it does in each.
 */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** A rank and one of its waits. */
struct item {
    uint32_t rank, wait;
};

/** Both looks, and what ranks have sent between them. */
struct making {
    const struct job_look *before, *now;
    double seconds; /* between them; 0: not known */
    double *messages, *bytes;
    enum rows_order order;
};

static double seconds_between(const struct job_look *before, const struct job_look *now)
{
    return before == NULL || now->now_ns <= before->now_ns ||
                   before->n_ranks != now->n_ranks
               ? 0
               : (double)(now->now_ns - before->now_ns) / 1e9;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/** Order places by the line that calls, whoever has called that. */
static int compare_places(const struct bcs_stand *a, const struct bcs_stand *b)
{
    int order = compare_numbers(a->frames[0].address - a->frames[0].base,
                                b->frames[0].address - b->frames[0].base);
    size_t n = strcspn(a->lines, "\n"), n_other = strcspn(b->lines, "\n");

    if (order != 0 || a->frames[0].address != 0) {
        return order;
    }
    return n != n_other ? compare_numbers(n, n_other) : memcmp(a->lines, b->lines, n);
}

/** Order waits by what they have in common with others: not by whom they wait for, as
 *  in many programs each rank waits for another one. */
static int compare_waits(const struct bcs_stand *a, const struct bcs_stand *b)
{
    int order = strcmp(a->call, b->call);

    order = order != 0 ? order : strcmp(a->method, b->method);
    order = order != 0 ? order : compare_places(a, b);
    order = order != 0 ? order : strcmp(a->comm, b->comm);
    order = order != 0 ? order : strcmp(a->collective, b->collective);
    order = order != 0 || *a->collective == '\0'
                ? order
                : compare_numbers(a->number, b->number);
    return order != 0 ? order
                      : compare_numbers(a->operations[0].kind, b->operations[0].kind);
}

static int compare_items(const void *left, const void *right, void *arg)
{
    const struct job_look *now = arg;
    const struct item *a = left, *b = right;
    int order = compare_numbers(a->wait == ROWS_NO_WAIT, b->wait == ROWS_NO_WAIT);

    if (order == 0 && a->wait != ROWS_NO_WAIT) {
        order = compare_waits(&now->waits[a->wait].stand, &now->waits[b->wait].stand);
    }
    order = order != 0 ? order : compare_numbers(a->rank, b->rank);
    return order != 0 ? order : compare_numbers(a->wait, b->wait);
}

static bool are_together(const struct job_look *now, const struct item *a,
                         const struct item *b)
{
    if (a->wait == ROWS_NO_WAIT || b->wait == ROWS_NO_WAIT) {
        return a->wait == b->wait;
    }
    return compare_waits(&now->waits[a->wait].stand, &now->waits[b->wait].stand) == 0;
}

/** All ranks with their waits. @return how many */
static uint32_t list_items(const struct job_look *now, struct item *items_out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < now->n_ranks; i++) {
        const struct job_rank *rank = &now->ranks[i];

        for (uint32_t j = 0; j < rank->n_waits; j++) {
            items_out[n++] = (struct item){i, rank->first_wait + j};
        }
        if (rank->n_waits == 0) {
            items_out[n++] = (struct item){i, ROWS_NO_WAIT};
        }
    }
    return n;
}

static double cpu_of(const struct making *making, uint32_t rank)
{
    uint64_t now_ns = making->now->ranks[rank].cpu_ns, before_ns;

    if (making->seconds == 0) {
        return -1;
    }
    before_ns = making->before->ranks[rank].cpu_ns;
    return now_ns == 0 || now_ns < before_ns
               ? -1
               : (double)(now_ns - before_ns) / 1e9 / making->seconds;
}

static double communication_of(const struct making *making, uint32_t rank)
{
    const struct job_rank *one =
        making->before == NULL ? NULL : &making->before->ranks[rank];

    return making->seconds == 0 || one->n_glances == 0
               ? -1
               : (double)one->n_waiting / one->n_glances;
}

static double since_of(const struct job_look *now, uint32_t wait)
{
    uint64_t since_ns =
        wait == ROWS_NO_WAIT ? now->now_ns : now->waits[wait].stand.since_ns;

    return now->now_ns > since_ns ? (double)(now->now_ns - since_ns) / 1e9 : 0;
}

/** Whether two waits are for the same rank, with the same tag. */
static bool are_alike(const struct job_look *now, uint32_t a, uint32_t b)
{
    const struct bcs_stand_operation *one, *other;

    if (a == ROWS_NO_WAIT || b == ROWS_NO_WAIT) {
        return a == b;
    }
    one = &now->waits[a].stand.operations[0];
    other = &now->waits[b].stand.operations[0];
    return one->peer == other->peer && one->tag == other->tag;
}

/** A mean of what is known of some, -1 if it is not known of all. */
static void add_mean(double *sum, double value)
{
    *sum = *sum < 0 || value < 0 ? -1 : *sum + value;
}

static double mean_of(double sum, uint32_t n)
{
    return sum < 0 ? -1 : sum / n;
}

/** A row of items that stand together. */
static struct row row_of(const struct making *making, const struct item *items,
                         uint32_t n, uint32_t *ranks)
{
    const struct job_look *now = making->now;
    struct row row = {
        .ranks = ranks,
        .wait = items[0].wait,
        .is_alike = true,
        .core = n == 1 ? now->ranks[items[0].rank].core : -1,
        .since_s = since_of(now, items[0].wait),
    };

    for (uint32_t i = 0; i < n; i++) {
        double since_s = since_of(now, items[i].wait);

        row.since_s = since_s < row.since_s ? since_s : row.since_s;
        row.is_alike &= are_alike(now, items[0].wait, items[i].wait);
        if (i > 0 && items[i].rank == items[i - 1].rank) {
            continue; /* another thread of the same rank */
        }
        ranks[row.n_ranks++] = items[i].rank;
        add_mean(&row.cpu, cpu_of(making, items[i].rank));
        add_mean(&row.communication, communication_of(making, items[i].rank));
        row.messages_s += making->messages[items[i].rank];
        row.bytes_s += making->bytes[items[i].rank];
    }
    row.cpu = mean_of(row.cpu, row.n_ranks);
    row.communication = mean_of(row.communication, row.n_ranks);
    return row;
}

static double key_of(const struct row *row, enum rows_order order)
{
    const double keys[ROWS_ORDERS] = {0, row->since_s, row->cpu, row->communication,
                                      row->messages_s};

    return keys[order];
}

static int compare_rows(const void *left, const void *right, void *arg)
{
    const enum rows_order *order = arg;
    const struct row *a = left, *b = right;
    double key_a = key_of(a, *order), key_b = key_of(b, *order);

    if (key_a != key_b) {
        return key_a > key_b ? -1 : 1;
    }
    return a->ranks[0] != b->ranks[0] ? compare_numbers(a->ranks[0], b->ranks[0])
                                      : compare_numbers(a->wait, b->wait);
}

/** What each rank has sent, a second. */
static void add_flows(struct making *making)
{
    for (uint32_t i = 0; i < making->now->n_flows && making->seconds > 0; i++) {
        const struct bcs_flow *flow = &making->now->flows[i];

        making->messages[flow->from] += flow->n_messages / making->seconds;
        making->bytes[flow->from] += flow->n_bytes / making->seconds;
    }
}

/** What a rank does of the time in which it is not seen to wait. */
static void add_rest(const struct making *making, uint32_t rank, struct rows *rows)
{
    double cpu = cpu_of(making, rank), waiting = communication_of(making, rank);
    double computing = cpu < 1 - waiting ? cpu : 1 - waiting;
    bool is_known = cpu >= 0 && waiting >= 0;

    add_mean(&rows->computing, is_known ? computing : -1);
    add_mean(&rows->without_core, is_known ? 1 - waiting - computing : -1);
}

/** What is to be said of the whole job. */
static void add_up(const struct making *making, struct rows *rows)
{
    const struct job_look *now = making->now;

    for (uint32_t i = 0; i < now->n_ranks; i++) {
        add_mean(&rows->cpu, cpu_of(making, i));
        add_mean(&rows->communication, communication_of(making, i));
        add_rest(making, i, rows);
        rows->messages_s += making->messages[i];
        rows->bytes_s += making->bytes[i];
        rows->n_waiting += now->ranks[i].n_waits > 0;
    }
    rows->cpu = mean_of(rows->cpu, now->n_ranks);
    rows->communication = mean_of(rows->communication, now->n_ranks);
    rows->computing = mean_of(rows->computing, now->n_ranks);
    rows->without_core = mean_of(rows->without_core, now->n_ranks);
    if (making->seconds > 0) {
        rows->collectives_s = now->n_collectives / making->seconds;
        rows->slices_s = (double)now->n_slices / making->seconds;
    }
}

/** Put items into rows. */
static void fill(const struct making *making, struct item *items, uint32_t n_items,
                 bool is_grouped, struct rows *rows)
{
    enum rows_order order = making->order;
    uint32_t n_ranks = 0, end;

    if (is_grouped) {
        qsort_r(items, n_items, sizeof(*items), compare_items,
                (void *)(uintptr_t)making->now);
    }
    for (uint32_t i = 0; i < n_items; i = end) {
        end = i + 1;
        while (is_grouped && end < n_items &&
               are_together(making->now, &items[i], &items[end])) {
            end++;
        }
        rows->rows[rows->n] = row_of(making, &items[i], end - i, rows->ranks + n_ranks);
        n_ranks += rows->rows[rows->n++].n_ranks;
    }
    qsort_r(rows->rows, rows->n, sizeof(rows->rows[0]), compare_rows, &order);
}

int rows_make(const struct job_look *before, const struct job_look *now,
              bool is_grouped, enum rows_order order, struct rows *rows_out)
{
    struct making making = {
        .before = before,
        .now = now,
        .seconds = seconds_between(before, now),
        .messages = calloc(now->n_ranks, sizeof(double)),
        .bytes = calloc(now->n_ranks, sizeof(double)),
        .order = order,
    };
    uint32_t n_most = now->n_ranks + now->n_waits;
    struct item *items = calloc(n_most, sizeof(*items));
    struct rows rows = {.rows = calloc(n_most, sizeof(rows.rows[0])),
                        .ranks = calloc(n_most, sizeof(rows.ranks[0]))};
    bool is_good = making.messages != NULL && making.bytes != NULL && items != NULL &&
                   rows.rows != NULL && rows.ranks != NULL;

    if (is_good) {
        add_flows(&making);
        add_up(&making, &rows);
        fill(&making, items, list_items(now, items), is_grouped, &rows);
        *rows_out = rows;
    } else {
        rows_fini(&rows);
    }
    free(items);
    free(making.messages);
    free(making.bytes);
    return is_good ? 0 : -ENOMEM;
}

void rows_fini(struct rows *rows)
{
    free(rows->rows);
    free(rows->ranks);
    *rows = (struct rows){0};
}

static bool is_heavier(const struct rows_pair *a, const struct rows_pair *b)
{
    return a->bytes_s > b->bytes_s ||
           (a->bytes_s == b->bytes_s && a->messages_s > b->messages_s);
}

uint32_t rows_pairs(const struct job_look *before, const struct job_look *now,
                    struct rows_pair pairs_out[], uint32_t n_most)
{
    double seconds = seconds_between(before, now);
    uint32_t n = 0;

    for (uint32_t i = 0; i < now->n_flows && seconds > 0; i++) {
        const struct bcs_flow *flow = &now->flows[i];
        struct rows_pair pair = {flow->from, flow->to, flow->n_messages / seconds,
                                 flow->n_bytes / seconds};
        uint32_t at = n;

        while (at > 0 && is_heavier(&pair, &pairs_out[at - 1])) {
            at--;
        }
        if (at < n_most) {
            n += n < n_most;
            memmove(&pairs_out[at + 1], &pairs_out[at],
                    (n - 1 - at) * sizeof(pairs_out[0]));
            pairs_out[at] = pair;
        }
    }
    return n;
}

/** Whether a rank stands in the same collective as a wait. */
static bool stands_in(const struct job_look *now, uint32_t rank,
                      const struct bcs_stand *collective)
{
    const struct job_rank *one = &now->ranks[rank];

    for (uint32_t i = 0; i < one->n_waits; i++) {
        const struct bcs_stand *stand = &now->waits[one->first_wait + i].stand;

        if (stand->context_id == collective->context_id &&
            stand->number == collective->number &&
            strcmp(stand->collective, collective->collective) == 0) {
            return true;
        }
    }
    return false;
}

uint32_t rows_missing(const struct job_look *now, uint32_t wait, uint32_t ranks_out[],
                      uint32_t n_most)
{
    const struct bcs_stand *stand = &now->waits[wait].stand;
    uint32_t n = 0;

    for (uint32_t i = 0; i < now->n_ranks && *stand->collective != '\0'; i++) {
        if (job_look_has(now, wait, i) && !stands_in(now, i, stand)) {
            if (n < n_most) {
                ranks_out[n] = i;
            }
            n++;
        }
    }
    return n;
}

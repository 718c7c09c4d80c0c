/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sparse solve by fetches on condition: each process has its values in a region,
 * and who needs one fetches it when it is there. Nobody has to know who needs what. The
 * fetches of some rows are under way ahead of the row that is solved.
 */
#include <bcs/remote.h>
#include <errno.h>

#include "apps/channel/agree.h"
#include "apps/channel/fetch_word.h"
#include "apps/channel/triangle.h"
#include "apps/common/message.h"

enum { REGION, ROWS_AHEAD = 8 };

/** The fetches of a row. */
struct ahead {
    struct bcs_remote_event event;
    uint64_t n;
    struct bcs_remote_fetch *fetches; /* [most entries of a row] */
    uint64_t *words;
};

struct state {
    struct bcs_remote own, *from; /* [size] from all */
    uint32_t *owners;             /* by entry of the share */
    struct ahead ahead[ROWS_AHEAD];
};

/** Most entries of a row. */
static size_t most_entries(const struct share *share)
{
    size_t most = 0;

    for (size_t k = 0; k < share->n_rows; k++) {
        size_t n = share->starts[k + 1] - share->starts[k];

        most = n > most ? n : most;
    }
    return most;
}

static int make_state(struct triangle *triangle)
{
    const struct share *share = triangle->share;
    size_t n_entries = share->starts[share->n_rows], most = most_entries(share);
    struct state *state = calloc(1, sizeof(*state));
    bool has_all;

    triangle->state = state;
    if (state == NULL) {
        return -ENOMEM;
    }
    state->from = agree_array((size_t)share->size, sizeof(*state->from));
    state->owners = agree_array(n_entries, sizeof(*state->owners));
    has_all = state->from != NULL && state->owners != NULL;
    for (int i = 0; i < ROWS_AHEAD; i++) {
        state->ahead[i].fetches = agree_array(most, sizeof(struct bcs_remote_fetch));
        state->ahead[i].words = agree_array(most, sizeof(uint64_t));
        has_all =
            has_all && state->ahead[i].fetches != NULL && state->ahead[i].words != NULL;
    }
    for (size_t e = 0; has_all && e < n_entries; e++) {
        state->owners[e] = (uint32_t)share_owner(share, share->columns[e]);
    }
    return has_all ? 0 : -ENOMEM;
}

/** Export the own values, and import those of all. */
static int open_all(struct triangle *triangle)
{
    const struct share *share = triangle->share;
    struct state *state = triangle->state;
    /* A process may have no row. */
    int rc =
        bcs_region_export(REGION, (share->n_rows + 1) * sizeof(uint64_t), &state->own);

    /* Before anybody waits for one that is not coming. */
    rc = agree_least(rc);
    for (int process = 0; rc == 0 && process < share->size; process++) {
        rc = bcs_region_import(process, REGION, &state->from[process]);
    }
    if (rc == 0) {
        triangle->words = bcs_region_memory(&state->own);
        triangle->n_words = share->n_rows;
    }
    return agree_least(rc);
}

int triangle_begin_fetches(struct triangle *triangle)
{
    int rc = agree_least(make_state(triangle));

    if (rc == 0 && open_all(triangle) != 0) {
        message_set(triangle->message, "the values cannot be exported to all");
        rc = -EINVAL;
    }
    return rc;
}

/** Start the fetches of a row. */
static int start(const struct triangle *triangle, size_t k)
{
    const struct share *share = triangle->share;
    struct state *state = triangle->state;
    struct ahead *ahead = &state->ahead[k % ROWS_AHEAD];
    int rc = 0;

    ahead->n = 0;
    ahead->event = (struct bcs_remote_event){0};
    for (size_t e = share->starts[k]; rc == 0 && e < share->starts[k + 1]; e++) {
        uint64_t place = share->turns[e] * sizeof(uint64_t);

        if (state->owners[e] == (uint32_t)share->rank) {
            continue;
        }
        ahead->fetches[ahead->n] = (struct bcs_remote_fetch){
            .word = place,
            .at_least = 1,
            .offset = place,
            .n_bytes = sizeof(uint64_t),
            .data_out = &ahead->words[ahead->n],
            .event = &ahead->event,
        };
        rc = bcs_remote_fetch(&state->from[state->owners[e]],
                              &ahead->fetches[ahead->n++]);
    }
    return rc;
}

/** Solve a row whose fetches are under way. */
static int finish(const struct triangle *triangle, size_t k)
{
    const struct share *share = triangle->share;
    const struct state *state = triangle->state;
    const struct ahead *ahead = &state->ahead[k % ROWS_AHEAD];
    double y = share->rhs[k];
    size_t n = 0;

    if (ahead->event.count < ahead->n) {
        int rc = bcs_remote_wait_event(&ahead->event, ahead->n);

        if (rc != 0) {
            return rc;
        }
    }
    for (size_t e = share->starts[k]; e < share->starts[k + 1]; e++) {
        uint64_t word = state->owners[e] == (uint32_t)share->rank
                            ? triangle->words[share->turns[e]]
                            : ahead->words[n++];

        y -= share->values[e] * fetch_word_number(word);
    }
    share->y[k] = y;
    return ahead->event.result != 0
               ? ahead->event.result
               : bcs_remote_write_word(&state->own, k * sizeof(uint64_t),
                                       fetch_word_of(y));
}

int triangle_solve_fetches(struct triangle *triangle)
{
    size_t n_rows = triangle->share->n_rows, n_started = 0;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < n_rows; k++) {
        while (rc == 0 && n_started < n_rows && n_started < k + ROWS_AHEAD) {
            rc = start(triangle, n_started++);
        }
        rc = rc == 0 ? finish(triangle, k) : rc;
    }
    return rc;
}

int triangle_end_fetches(struct triangle *triangle)
{
    struct state *state = triangle->state;
    int rc = 0;

    if (state == NULL) {
        return 0;
    }
    for (int process = 0; state->from != NULL && process < triangle->share->size;
         process++) {
        int released = bcs_region_release(&state->from[process]);

        rc = rc != 0 ? rc : released;
    }
    rc = rc != 0 ? rc : bcs_region_release(&state->own);
    for (int i = 0; i < ROWS_AHEAD; i++) {
        free(state->ahead[i].fetches);
        free(state->ahead[i].words);
    }
    free(state->from);
    free(state->owners);
    free(state);
    return rc;
}

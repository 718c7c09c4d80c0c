/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pipelined solve by fetches on condition. Each process has its products in a
 * region of its own, where the next one fetches them, and learns by a word of the same
 * region that it has them all.
 */
#include <bcs/remote.h>

#include "apps/channel/fetch_word.h"
#include "apps/channel/pipeline.h"

enum { REGION, DONE_AT = 0, PRODUCTS_AT = 64 };

static uint64_t place_of(size_t step)
{
    return PRODUCTS_AT + step * sizeof(uint64_t);
}

/** Fetch the product of a step of the process before. */
static int fetch(const struct bcs_remote *left, size_t step, double *product_out)
{
    uint64_t word = 0;
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {
        .word = place_of(step),
        .at_least = 1,
        .offset = place_of(step),
        .n_bytes = sizeof(word),
        .data_out = &word,
        .event = &event,
    };
    int rc = bcs_remote_fetch(left, &fetch);

    if (rc == 0 && event.count == 0) {
        rc = bcs_remote_wait_event(&event, 1);
    }
    *product_out = fetch_word_number(word);
    return rc != 0 ? rc : event.result;
}

static int solve(const struct banded *banded, const struct bcs_remote *own,
                 const struct bcs_remote *left)
{
    struct banded_place place = {0};
    int rc = 0;

    for (size_t step = 0; rc == 0 && step < banded->n_steps; step++) {
        double product = 0;

        if (banded_has_left(banded, step)) {
            rc = fetch(left, banded_source_step(banded, step), &product);
        }
        product = banded_step(banded, &place, step, product);
        if (rc == 0 && banded_has_right(banded, step)) {
            rc = bcs_remote_write_word(own, place_of(step), fetch_word_of(product));
        }
    }
    return rc;
}

int pipeline_by_fetches(const struct banded *banded)
{
    struct bcs_remote own = {0}, left = {0};
    int rc = bcs_region_export(REGION, place_of(banded->n_steps), &own);

    rc = rc == 0 ? bcs_region_import(banded->left, REGION, &left) : rc;
    rc = rc == 0 ? solve(banded, &own, &left) : rc;
    rc = rc == 0 ? bcs_remote_write_word(&left, DONE_AT, 1) : rc;
    rc = rc == 0 ? bcs_region_release(&left) : rc;
    rc = rc == 0 ? bcs_remote_wait(&own, DONE_AT, 1) : rc;
    return rc == 0 ? bcs_region_release(&own) : rc;
}

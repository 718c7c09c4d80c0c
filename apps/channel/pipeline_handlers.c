/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pipelined solve by fetching: a request to the process before, and its answer. A
 * request that comes before its product is kept, and answered when the product has been
 * made. Each process has at most one request on its way, so that a channel always has
 * room for it, and for its answer.
 */
#include <bcs/channel.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps/channel/pipeline.h"

enum { REQUESTS, ANSWERS };
enum { CAPACITY = 2, LOOKS_A_YIELD = 4096 };

#define NO_STEP UINT64_MAX

/** What a process has for the next one, and asks of the one before. */
struct fetching {
    const struct banded *banded;
    struct bcs_channel_out *requests_out, *answers_out;
    struct bcs_channel_in *requests_in, *answers_in;
    double *products;   /* made so far, by step */
    uint64_t n_made;    /* of them */
    uint64_t wanted;    /* step whose product the next one waits for, or NO_STEP */
    uint64_t n_to_send; /* answers that are still to be given */
    uint32_t n_looks;   /* in vain */
    bool is_crowded;    /* more processes than cores */
    bool has_failed;
};

static void answer(struct fetching *fetching, uint64_t step)
{
    fetching->has_failed |= !bcs_channel_try_send(
        fetching->answers_out, &fetching->products[step], sizeof(double), false);
    fetching->n_to_send--;
}

/** The handler of requests. [section 4: "an interrupt routine that is called whenever a
 *  message has arrived"] */
static void serve(struct bcs_channel_in *in, void *arg)
{
    struct fetching *fetching = arg;
    uint64_t step;

    while (bcs_channel_try_receive(in, &step, sizeof(step))) {
        if (step < fetching->n_made) {
            answer(fetching, step);
        } else {
            fetching->wanted = step;
        }
    }
}

/** A product is there; somebody may have asked for it. */
static void keep(struct fetching *fetching, uint64_t step, double product)
{
    fetching->products[step] = product;
    fetching->n_made = step + 1;
    if (fetching->wanted == step) {
        fetching->wanted = NO_STEP;
        answer(fetching, step);
    }
}

/** Serve others, and let them run. @return 0, or not if something has failed */
static int look(struct fetching *fetching)
{
    int n = bcs_channels_poll();

    if (n < 0 || fetching->has_failed) {
        return n < 0 ? n : -EPROTO;
    }
    if (n > 0) {
        fetching->n_looks = 0;
    } else if (fetching->is_crowded || ++fetching->n_looks % LOOKS_A_YIELD == 0) {
        sched_yield();
    }
    return 0;
}

/** Get the product of the process before. */
static int fetch(struct fetching *fetching, uint64_t step, double *product_out)
{
    int rc = bcs_channel_send_word(fetching->requests_out, step);

    fetching->n_looks = 0;
    while (rc == 0 && !bcs_channel_try_receive(fetching->answers_in, product_out,
                                               sizeof(*product_out))) {
        rc = look(fetching);
    }
    return rc;
}

static int solve(struct fetching *fetching)
{
    const struct banded *banded = fetching->banded;
    struct banded_place place = {0};
    int rc = 0;

    for (size_t step = 0; rc == 0 && step < banded->n_steps; step++) {
        double product = 0;

        if (banded_has_left(banded, step)) {
            rc = fetch(fetching, banded_source_step(banded, step), &product);
        }
        keep(fetching, step, banded_step(banded, &place, step, product));
    }
    while (rc == 0 && fetching->n_to_send > 0) {
        rc = look(fetching);
    }
    return rc;
}

static int open_all(struct fetching *fetching)
{
    struct bcs_channel_params left = {
        .peer = fetching->banded->left,
        .number = REQUESTS,
        .record_bytes = sizeof(uint64_t),
        .capacity = CAPACITY,
    };
    struct bcs_channel_params right = left;
    int rc;

    right.peer = fetching->banded->right;
    rc = bcs_channel_open_out(&left, &fetching->requests_out);
    rc = rc == 0 ? bcs_channel_open_in(&right, &fetching->requests_in) : rc;
    left.number = right.number = ANSWERS;
    rc = rc == 0 ? bcs_channel_open_in(&left, &fetching->answers_in) : rc;
    rc = rc == 0 ? bcs_channel_open_out(&right, &fetching->answers_out) : rc;
    rc = rc == 0 ? bcs_channel_set_handler(fetching->requests_in, BCS_CHANNEL_ARRIVAL,
                                           serve, fetching)
                 : rc;
    /* The handler cannot wait until the neighbour has opened its end. */
    return rc == 0 ? bcs_channel_wait_out(fetching->answers_out) : rc;
}

static int close_all(struct fetching *fetching)
{
    int rc = bcs_channel_close_out(fetching->requests_out);

    rc = rc == 0 ? bcs_channel_close_out(fetching->answers_out) : rc;
    rc = rc == 0 ? bcs_channel_close_in(fetching->requests_in) : rc;
    return rc == 0 ? bcs_channel_close_in(fetching->answers_in) : rc;
}

int pipeline_by_handlers(const struct banded *banded)
{
    struct fetching fetching = {
        .banded = banded,
        .products = malloc(banded->n_steps * sizeof(double)),
        .wanted = NO_STEP,
        .n_to_send = banded_n_sent(banded),
        .is_crowded = banded->size > sysconf(_SC_NPROCESSORS_ONLN),
    };
    int rc = fetching.products == NULL ? -ENOMEM : open_all(&fetching);

    rc = rc == 0 ? solve(&fetching) : rc;
    rc = rc == 0 ? close_all(&fetching) : rc;
    free(fetching.products);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pipelined solve by channels, which are open for one product each, or for all.
 */
#include <bcs/channel.h>
#include <unistd.h>

#include "apps/channel/pipeline.h"

/* With a core for each process a product comes within some of these. */
enum { LOOKS_OWN = 1024 };

/* A process is ahead of the next one by as many products as there are processes, at
 * most: then it waits for one that depends on what the next one has not made. */
static struct bcs_channel_params params(int peer, int capacity)
{
    return (struct bcs_channel_params){
        .peer = peer,
        .record_bytes = sizeof(double),
        .capacity = (uint32_t)capacity,
    };
}

/** Send one product by a channel of its own. */
static int send_alone(const struct banded *banded, double product)
{
    const struct bcs_channel_params to = params(banded->right, 1);
    struct bcs_channel_out *out;
    int rc = bcs_channel_open_out(&to, &out);

    if (rc != 0) {
        return rc;
    }
    rc = bcs_channel_send(out, &product, sizeof(product), true);
    return rc != 0 ? rc : bcs_channel_close_out(out);
}

/** Open the channel of the next product, if there is one. It is open before this
 *  process sends: if nobody opened his until he receives, all could wait in a circle
 *  for the next one to do so. */
static int open_next(const struct banded *banded, size_t step,
                     struct bcs_channel_in **in_out)
{
    const struct bcs_channel_params from = params(banded->left, 1);

    return step == banded->n_steps ? 0 : bcs_channel_open_in(&from, in_out);
}

static int receive_alone(const struct banded *banded, size_t step,
                         struct bcs_channel_in **in, double *product_out)
{
    int rc = bcs_channel_receive(*in, product_out, sizeof(*product_out));

    rc = rc == 0 ? bcs_channel_close_in(*in) : rc;
    return rc == 0 ? open_next(banded, step + 1, in) : rc;
}

int pipeline_by_reopening(const struct banded *banded)
{
    struct banded_place place = {0};
    struct bcs_channel_in *in = NULL;
    int rc = open_next(banded, banded_first_received(banded), &in);

    for (size_t step = 0; rc == 0 && step < banded->n_steps; step++) {
        double product = 0;

        if (banded_has_left(banded, step)) {
            rc = receive_alone(banded, step, &in, &product);
        }
        product = banded_step(banded, &place, step, product);
        if (rc == 0 && banded_has_right(banded, step)) {
            rc = send_alone(banded, product);
        }
    }
    return rc;
}

/** Receive, by looking n_looks times first. Between looks this pauses: two processes
 *  that compute by turns may have the same core, by its threads, and whoever looks all
 *  the time slows down the one that it looks for. */
static inline int receive(struct bcs_channel_in *in, int n_looks, double *product_out)
{
    for (int i = 0; i < n_looks; i++) {
        if (bcs_channel_try_receive(in, product_out, sizeof(*product_out))) {
            return 0;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return bcs_channel_receive(in, product_out, sizeof(*product_out));
}

/** All steps, with both ends open. */
static int solve_open(const struct banded *banded, struct bcs_channel_in *in,
                      struct bcs_channel_out *out)
{
    int n_looks = banded->size > sysconf(_SC_NPROCESSORS_ONLN) ? 0 : LOOKS_OWN;
    struct banded_place place = {0};
    int rc = 0;

    for (size_t step = 0; rc == 0 && step < banded->n_steps; step++) {
        double product = 0;

        if (banded_has_left(banded, step)) {
            rc = receive(in, n_looks, &product);
        }
        product = banded_step(banded, &place, step, product);
        if (rc == 0 && banded_has_right(banded, step)) {
            rc = bcs_channel_send(out, &product, sizeof(product), false);
        }
    }
    return rc;
}

int pipeline_by_open_channels(const struct banded *banded)
{
    const struct bcs_channel_params from = params(banded->left, banded->size);
    const struct bcs_channel_params to = params(banded->right, banded->size);
    struct bcs_channel_in *in;
    struct bcs_channel_out *out;
    int rc = bcs_channel_open_in(&from, &in);

    rc = rc == 0 ? bcs_channel_open_out(&to, &out) : rc;
    rc = rc == 0 ? solve_open(banded, in, out) : rc;
    rc = rc == 0 ? bcs_channel_close_out(out) : rc;
    return rc == 0 ? bcs_channel_close_in(in) : rc;
}

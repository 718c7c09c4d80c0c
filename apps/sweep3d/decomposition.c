/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the process grid and computes blocks and neighbours. Rank = position on the j
 * axis * NPE_I + position on the i axis. Every rank runs it once, during set-up.
 */
#include "apps/sweep3d/decomposition.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>

#include "apps/common/message.h"

/* Where a process grid comes from, for messages. */
struct wanted_grid {
    int npe[2];
    char origin[MESSAGE_BYTES / 2];
};

static void find_wanted_grid(struct wanted_grid *wanted, const struct input *input,
                             const struct options *options)
{
    if (options->npe_i != 0) {
        wanted->npe[0] = options->npe_i;
        wanted->npe[1] = options->npe_j;
        snprintf(wanted->origin, sizeof(wanted->origin), "--grid");
    } else {
        wanted->npe[0] = input->npe_i;
        wanted->npe[1] = input->npe_j;
        snprintf(wanted->origin, sizeof(wanted->origin), "%s:%d", options->input_path,
                 input->line_at[1]);
    }
}

/* Replace zeros by what MPI proposes; what cannot be completed stays as it is. */
static void complete_grid(int npe[2], int n_ranks, const struct input *input)
{
    int given = npe[0] != 0 ? npe[0] : npe[1] != 0 ? npe[1] : 1;
    bool all_free = npe[0] == 0 && npe[1] == 0;

    if ((npe[0] != 0 && npe[1] != 0) || n_ranks % given != 0) {
        return;
    }
    MPI_Dims_create(n_ranks, 2, npe);
    if (all_free && (npe[0] > input->it || npe[1] > input->jt)) {
        int first = npe[0];
        npe[0] = npe[1];
        npe[1] = first;
    }
}

static int check_grid(const struct wanted_grid *wanted, int n_ranks,
                      const struct input *input, char *message)
{
    const int *npe = wanted->npe;

    if ((long)npe[0] * npe[1] != n_ranks) {
        message_set(message,
                    "%s: NPE_I x NPE_J is %d x %d, but there are %d ranks; "
                    "allowed: a product of %d, or 0 0 in the file (chosen)",
                    wanted->origin, npe[0], npe[1], n_ranks, n_ranks);
        return -EINVAL;
    }
    if (npe[0] > input->it || npe[1] > input->jt) {
        message_set(message,
                    "%s: NPE_I x NPE_J is %d x %d, more than IT x JT = %d x %d "
                    "cells; allowed: NPE_I 1 to IT, NPE_J 1 to JT",
                    wanted->origin, npe[0], npe[1], input->it, input->jt);
        return -EINVAL;
    }
    return 0;
}

void axis_block(const struct axis *axis, int position, int *first_out, int *n_out)
{
    int small = axis->n_cells / axis->n_processes;
    int n_larger = axis->n_cells % axis->n_processes;

    *first_out = position * small + (position < n_larger ? position : n_larger);
    *n_out = small + (position < n_larger ? 1 : 0);
}

/* rank_step is the distance in ranks between neighbours on this axis. */
static void axis_init(struct axis *axis, int n_cells, int n_processes, int rank,
                      int rank_step)
{
    axis->n_cells = n_cells;
    axis->n_processes = n_processes;
    axis->position = rank / rank_step % n_processes;
    axis->lower = axis->position > 0 ? rank - rank_step : MPI_PROC_NULL;
    axis->higher = axis->position < n_processes - 1 ? rank + rank_step : MPI_PROC_NULL;
    axis_block(axis, axis->position, &axis->first, &axis->n_mine);
}

int decomposition_init(struct decomposition *decomposition, const struct input *input,
                       const struct options *options, char *message)
{
    struct wanted_grid wanted;
    int result;

    MPI_Comm_rank(MPI_COMM_WORLD, &decomposition->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &decomposition->n_ranks);
    find_wanted_grid(&wanted, input, options);
    complete_grid(wanted.npe, decomposition->n_ranks, input);
    result = check_grid(&wanted, decomposition->n_ranks, input, message);
    if (result != 0) {
        return result;
    }
    axis_init(&decomposition->i, input->it, wanted.npe[0], decomposition->rank, 1);
    axis_init(&decomposition->j, input->jt, wanted.npe[1], decomposition->rank,
              wanted.npe[0]);
    decomposition->n_k = input->kt;
    return 0;
}

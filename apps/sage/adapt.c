/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out the target levels. Contents stay whole numbers: eight children share
 * their parent's units, the first ones get the remainder; a parent gets the sum of its
 * children. So adaptation conserves all quantities exactly. Every rank runs it.
 */
#include "apps/sage/adapt.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "apps/sage/memory.h"
#include "apps/sage/rebalance.h"
#include "apps/sage/targets.h"

/* The cells that take the place of the old ones. */
struct new_cells {
    int n;
    uint64_t *id;
    int64_t (*state)[N_CONSERVED];
};

static void share_among_children(const int64_t state[N_CONSERVED], int child,
                                 int64_t state_out[N_CONSERVED])
{
    for (int n = 0; n < N_CONSERVED; n++) {
        int64_t rest = state[n] % N_CHILDREN;
        int64_t extra = child < llabs(rest) ? 1 : 0;
        state_out[n] = state[n] / N_CHILDREN + (rest < 0 ? -extra : extra);
    }
}

static void add_children(struct new_cells *cells, const struct mesh *mesh, int cell)
{
    for (int child = 0; child < N_CHILDREN; child++) {
        cells->id[cells->n] = forest_child(&mesh->forest, mesh->id[cell], child);
        share_among_children(mesh->state[cell], child, cells->state[cells->n]);
        cells->n++;
    }
}

static void add_parent(struct new_cells *cells, const struct mesh *mesh,
                       int first_child)
{
    int64_t *state = cells->state[cells->n];

    cells->id[cells->n] = forest_parent(&mesh->forest, mesh->id[first_child]);
    for (int child = 0; child < N_CHILDREN; child++) {
        for (int n = 0; n < N_CONSERVED; n++) {
            state[n] += mesh->state[first_child + child][n];
        }
    }
    cells->n++;
}

static void add_same(struct new_cells *cells, const struct mesh *mesh, int cell)
{
    cells->id[cells->n] = mesh->id[cell];
    memcpy(cells->state[cells->n], mesh->state[cell], sizeof(mesh->state[cell]));
    cells->n++;
}

/* targets[] is that of the own cells. */
static void apply_targets(struct mesh *mesh, const int64_t *targets, int n_new)
{
    struct new_cells cells = {
        .id = memory_array((size_t)n_new, sizeof(*cells.id)),
        .state = memory_array((size_t)n_new, sizeof(*cells.state)),
    };
    int cell = 0;

    while (cell < mesh->n_cells) {
        int level = forest_level(mesh->id[cell]);
        if (targets[cell] > level) {
            add_children(&cells, mesh, cell);
        } else if (targets[cell] < level) {
            add_parent(&cells, mesh, cell);
            cell += N_CHILDREN - 1;
        } else {
            add_same(&cells, mesh, cell);
        }
        cell++;
    }
    mesh_replace(mesh, cells.n, cells.id, cells.state);
}

static int64_t reduced(int64_t value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

void adapt_mesh(struct simulation *simulation, struct adapt_counts *counts)
{
    struct mesh *mesh = &simulation->mesh;
    int64_t n_refined = 0;
    int64_t n_merged = 0;
    int64_t *targets;
    int n_new;

    halo_gather_end(&simulation->halo);
    targets = targets_choose(simulation);
    for (int cell = 0; cell < mesh->n_cells; cell++) {
        int64_t target = targets[simulation->halo.first_owned + cell];
        n_refined += target > forest_level(mesh->id[cell]);
        n_merged += target < forest_level(mesh->id[cell]);
    }
    n_new = mesh->n_cells + (int)n_refined * (N_CHILDREN - 1) -
            (int)n_merged / N_CHILDREN * (N_CHILDREN - 1);
    apply_targets(mesh, targets + simulation->halo.first_owned, n_new);
    free(targets);
    n_refined = reduced(n_refined);
    n_merged = reduced(n_merged);
    counts->n_adaptations++;
    counts->n_refined += n_refined;
    counts->n_coarsened += n_merged / N_CHILDREN;
    if (n_refined + n_merged > 0) {
        counts->n_rebalances += rebalance(mesh, simulation->input->imbalance);
        simulation_rebuild(simulation);
    }
}

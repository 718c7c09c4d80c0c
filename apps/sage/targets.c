/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Target levels in three steps. A cell wants to be finer if density or pressure jump to
 * any neighbour, coarser if both are smooth. The wish to be finer spreads over a buffer
 * of cells, so that waves stay in the fine region until the next adaptation. Then
 * levels rise until neighbours fit together and no family of children is broken up.
 *
 * The last step only ever raises levels and ends at the lowest solution, which is the
 * same in whatever order cells are raised. Every rank runs it at each adaptation.
 */
#include "apps/sage/targets.h"

#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "apps/sage/memory.h"

static double relative_jump(double a, double b)
{
    return fabs(a - b) / (fabs(a) + fabs(b));
}

/* Largest jump of density or pressure between a cell and any neighbour. */
static double *find_jumps(const struct simulation *simulation)
{
    double(*primitive)[N_PRIMITIVE] = simulation->work.primitive;
    double *jumps = memory_array((size_t)simulation->halo.n_local, sizeof(*jumps));

    for (int axis = 0; axis < N_AXES; axis++) {
        for (int f = 0; f < simulation->faces.n[axis]; f++) {
            const struct face *face = &simulation->faces.list[axis][f];
            const double *low = primitive[face->low];
            const double *high = primitive[face->high];
            double jump = fmax(relative_jump(low[DENSITY], high[DENSITY]),
                               relative_jump(low[PRESSURE], high[PRESSURE]));
            jumps[face->low] = fmax(jumps[face->low], jump);
            jumps[face->high] = fmax(jumps[face->high], jump);
        }
    }
    return jumps;
}

static void set_wishes(const struct simulation *simulation, int64_t *targets)
{
    const struct halo *halo = &simulation->halo;
    const struct input *input = simulation->input;
    double *jumps = find_jumps(simulation);

    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        int level = forest_level(halo->id[cell]);
        targets[cell] = level;
        if (jumps[cell] > input->refine_above && level < input->max_level) {
            targets[cell] = level + 1;
        } else if (jumps[cell] < input->coarsen_below && level > 0) {
            targets[cell] = level - 1;
        }
    }
    free(jumps);
}

/* One layer: a neighbour of a cell that shall be finer shall be as fine as that. */
static void spread(struct simulation *simulation, int64_t *targets, int64_t *old)
{
    struct halo *halo = &simulation->halo;

    halo_gather(halo, targets, 1, MPI_INT64_T);
    memcpy(old, targets, (size_t)halo->n_local * sizeof(*old));
    for (int axis = 0; axis < N_AXES; axis++) {
        for (int f = 0; f < simulation->faces.n[axis]; f++) {
            const struct face *face = &simulation->faces.list[axis][f];
            int64_t low = old[face->low];
            int64_t high = old[face->high];
            if (low > face->level_low) {
                int64_t most = face->level_high + 1;
                int64_t wanted = low < most ? low : most;
                targets[face->high] =
                    wanted > targets[face->high] ? wanted : targets[face->high];
            }
            if (high > face->level_high) {
                int64_t most = face->level_low + 1;
                int64_t wanted = high < most ? high : most;
                targets[face->low] =
                    wanted > targets[face->low] ? wanted : targets[face->low];
            }
        }
    }
}

/* Whether own cell and the seven behind it are all children of one parent. */
static bool is_family(const struct halo *halo, const struct forest *forest, int cell)
{
    uint64_t parent;

    if (cell + N_CHILDREN > halo->first_owned + halo->n_owned ||
        forest_level(halo->id[cell]) == 0) {
        return false;
    }
    parent = forest_parent(forest, halo->id[cell]);
    for (int child = 0; child < N_CHILDREN; child++) {
        if (halo->id[cell + child] != forest_child(forest, parent, child)) {
            return false;
        }
    }
    return true;
}

/* Let only whole families vanish. Root cells are never divided between ranks. */
static void keep_families(const struct halo *halo, const struct forest *forest,
                          int64_t *targets)
{
    int cell = halo->first_owned;

    while (cell < halo->first_owned + halo->n_owned) {
        int level = forest_level(halo->id[cell]);
        int n_members = is_family(halo, forest, cell) ? N_CHILDREN : 1;
        int64_t most = n_members == 1 ? level : targets[cell];
        for (int member = 1; member < n_members; member++) {
            most = targets[cell + member] > most ? targets[cell + member] : most;
        }
        for (int member = 0; member < n_members; member++) {
            int64_t *target = &targets[cell + member];
            *target = most >= level && *target < level ? level : *target;
        }
        cell += n_members;
    }
}

/* Raise what is two levels below a neighbour. Returns the number of raised cells. */
static int64_t raise_low_neighbours(const struct simulation *simulation,
                                    int64_t *targets)
{
    const struct halo *halo = &simulation->halo;
    int64_t n_raised = 0;

    for (int axis = 0; axis < N_AXES; axis++) {
        for (int f = 0; f < simulation->faces.n[axis]; f++) {
            const struct face *face = &simulation->faces.list[axis][f];
            int64_t *low = &targets[face->low];
            int64_t *high = &targets[face->high];
            int64_t *lower = *low < *high ? low : *high < *low ? high : NULL;
            int64_t wanted = (*low > *high ? *low : *high) - 1;
            if (lower != NULL && *lower < wanted) {
                int64_t cell = lower - targets;
                *lower = wanted;
                n_raised += cell >= halo->first_owned &&
                            cell < halo->first_owned + halo->n_owned;
            }
        }
    }
    return n_raised;
}

int64_t *targets_choose(struct simulation *simulation)
{
    struct halo *halo = &simulation->halo;
    const struct forest *forest = &simulation->mesh.forest;
    int64_t *targets = memory_array((size_t)halo->n_local, sizeof(*targets));
    int64_t *old = memory_array((size_t)halo->n_local, sizeof(*old));
    int64_t n_raised;

    set_wishes(simulation, targets);
    for (int layer = 0; layer < simulation->input->buffer; layer++) {
        spread(simulation, targets, old);
    }
    free(old);
    do {
        keep_families(halo, forest, targets);
        halo_gather(halo, targets, 1, MPI_INT64_T);
        n_raised = raise_low_neighbours(simulation, targets);
        MPI_Allreduce(MPI_IN_PLACE, &n_raised, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    } while (n_raised > 0);
    return targets;
}

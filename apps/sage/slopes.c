/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Difference quotients across faces, averaged where a side has four, limited by minmod.
 * A wall is a mirror: the cell beyond has the opposite velocity. Every rank runs it
 * twice a cycle.
 */
#include "apps/sage/slopes.h"

#include <string.h>

static double minmod(double a, double b)
{
    if (a * b <= 0) {
        return 0;
    }
    if (a > 0) {
        return a < b ? a : b;
    }
    return a > b ? a : b;
}

static void add_quotients(struct work *work, const struct units *units,
                          const struct face *face)
{
    const double *low = work->primitive[face->low];
    const double *high = work->primitive[face->high];
    double distance =
        0.5 * (units->edge[face->level_low] + units->edge[face->level_high]);
    double weight_low = face->level_high > face->level_low ? 0.25 : 1;
    double weight_high = face->level_low > face->level_high ? 0.25 : 1;

    for (int v = 0; v < N_PRIMITIVE; v++) {
        double quotient = (high[v] - low[v]) / distance;
        work->forward[face->low][v] += weight_low * quotient;
        work->backward[face->high][v] += weight_high * quotient;
    }
}

static void set_walls(struct simulation *simulation, int axis)
{
    struct work *work = &simulation->work;

    for (int w = 0; w < simulation->faces.n_walls; w++) {
        const struct wall *wall = &simulation->faces.walls[w];
        double velocity = work->primitive[wall->cell][VELOCITY + axis];
        double quotient = 2 * velocity / simulation->units.edge[wall->level];
        if (wall->axis != axis) {
            continue;
        }
        if (wall->side == 0) {
            work->backward[wall->cell][VELOCITY + axis] = quotient;
        } else {
            work->forward[wall->cell][VELOCITY + axis] = -quotient;
        }
    }
}

void slopes_compute(struct simulation *simulation)
{
    const struct halo *halo = &simulation->halo;
    struct work *work = &simulation->work;
    size_t n_local = (size_t)halo->n_local;

    for (int axis = 0; axis < N_AXES; axis++) {
        memset(work->backward, 0, n_local * sizeof(*work->backward));
        memset(work->forward, 0, n_local * sizeof(*work->forward));
        for (int f = 0; f < simulation->faces.n[axis]; f++) {
            add_quotients(work, &simulation->units, &simulation->faces.list[axis][f]);
        }
        set_walls(simulation, axis);
        for (int own = 0; own < halo->n_owned; own++) {
            int cell = halo->first_owned + own;
            for (int v = 0; v < N_PRIMITIVE; v++) {
                work->slope[cell][axis * N_PRIMITIVE + v] =
                    minmod(work->backward[cell][v], work->forward[cell][v]);
            }
        }
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps in time. In units in which the ocean is 1 wide and the wind's circulation is 1,
 * layer k has
 *
 *   dq/dt + INERTIA J(p, q) + dp/dx = wind - DRAG z + FRICTION laplacian(z)
 *
 * with stream function p, relative vorticity z = laplacian(p), and potential vorticity
 * q = z -+ S_k (p_1 - p_2). Wind acts on the upper layer, drag on the lower one. On the
 * edge p = q = z = 0. J is Arakawa's, the step in time that of Adams and Bashforth.
 *
 * From q follow p_1 - p_2 and the mean of both by an elliptic equation each.
 */
#include "apps/cbsp/ocean_model.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define INERTIA 9e-4
#define DRAG 0.02
#define FRICTION 6.4e-5

/* Shares of the layers in the depth, and how strongly a difference stretches them. */
static const double share[OCEAN_LAYERS] = {0.2, 0.8};
static const double stretch[OCEAN_LAYERS] = {320.0, -80.0};

static size_t points_before(const struct ocean_level *level, size_t row)
{
    return (row + 1 - level->first) * (level->n + 1);
}

/* Stream functions and relative vorticity at all stored points. */
static void split_modes(struct ocean *ocean)
{
    const struct ocean_level *level = &ocean->grid.levels[0];
    size_t n_points = ocean_level_points(level);
    const double *together = (const double *)ocean->modes[OCEAN_TOGETHER].area.mine;
    const double *apart = (const double *)ocean->modes[OCEAN_APART].area.mine;

    for (int k = 0; k < OCEAN_LAYERS; k++) {
        const double *vorticity = (const double *)ocean->vorticity[k].area.mine;
        double of_other = k == 0 ? share[1] : -share[0];

        for (size_t i = 0; i < n_points; i++) {
            ocean->stream[k][i] = together[i] + of_other * apart[i];
            ocean->relative[k][i] = vorticity[i] + stretch[k] * apart[i];
        }
    }
}

/* Arakawa's Jacobian at p[0], times 12 h^2; rows are n_row numbers apart. */
static double jacobian(const double *p, const double *q, ptrdiff_t n_row)
{
    const double *pn = p + n_row;
    const double *ps = p - n_row;
    const double *qn = q + n_row;
    const double *qs = q - n_row;
    double plain = (p[1] - p[-1]) * (qn[0] - qs[0]) - (pn[0] - ps[0]) * (q[1] - q[-1]);
    double first = p[1] * (qn[1] - qs[1]) - p[-1] * (qn[-1] - qs[-1]) -
                   pn[0] * (qn[1] - qn[-1]) + ps[0] * (qs[1] - qs[-1]);
    double second = qn[0] * (pn[1] - pn[-1]) - qs[0] * (ps[1] - ps[-1]) -
                    q[1] * (pn[1] - ps[1]) + q[-1] * (pn[-1] - ps[-1]);

    return plain + first + second;
}

static void find_change(struct ocean *ocean, int k, double *change)
{
    const struct ocean_level *level = &ocean->grid.levels[0];
    double n = (double)level->n;
    ptrdiff_t n_row = (ptrdiff_t)level->n + 1;

    for (size_t i = level->first; i < level->end; i++) {
        size_t start = points_before(level, i);
        const double *p = ocean->stream[k] + start;
        const double *z = ocean->relative[k] + start;
        const double *q = ocean_row(&ocean->vorticity[k], level, i);
        double wind = k == 0 ? -sin(2.0 * PI * (double)i / n) / share[0] : 0.0;
        double drag = k == 0 ? 0.0 : DRAG;

        for (ptrdiff_t j = 1; j < n_row - 1; j++) {
            double around = (z[j - n_row] + z[j + n_row]) + (z[j - 1] + z[j + 1]);
            double friction = FRICTION * n * n * (around - 4.0 * z[j]);
            double turning = 0.5 * n * (p[j + 1] - p[j - 1]);
            double carried = n * n / 12.0 * jacobian(p + j, q + j, n_row);

            change[start + (size_t)j] =
                wind + friction - drag * z[j] - turning - INERTIA * carried;
        }
    }
}

static void step_vorticity(struct ocean *ocean, int k)
{
    const struct ocean_level *level = &ocean->grid.levels[0];
    double *now = ocean->change[ocean->n_steps % 2][k];
    const double *before = ocean->change[(ocean->n_steps + 1) % 2][k];
    bool is_first = ocean->n_steps == 0;
    double weight = ocean->step * (is_first ? 1.0 : 1.5);
    double weight_before = ocean->step * (is_first ? 0.0 : -0.5);

    find_change(ocean, k, now);
    for (size_t i = level->first; i < level->end; i++) {
        size_t start = points_before(level, i);
        double *q = ocean_row(&ocean->vorticity[k], level, i);

        for (size_t j = 1; j < level->n; j++) {
            q[j] += weight * now[start + j] + weight_before * before[start + j];
        }
    }
}

/* The right-hand side of a mode is a sum of the layers' vorticities. */
static void solve_mode(struct ocean *ocean, enum ocean_mode mode)
{
    const struct ocean_level *level = &ocean->grid.levels[0];
    bool is_together = mode == OCEAN_TOGETHER;
    double upper = is_together ? share[0] : 1.0;
    double lower = is_together ? share[1] : -1.0;

    for (size_t i = level->first; i < level->end; i++) {
        const double *q_upper = ocean_row(&ocean->vorticity[0], level, i);
        const double *q_lower = ocean_row(&ocean->vorticity[1], level, i);
        double *side = ocean_multigrid_side(&ocean->grid, i);

        for (size_t j = 1; j < level->n; j++) {
            side[j] = upper * q_upper[j] + lower * q_lower[j];
        }
    }
    ocean_multigrid_solve(&ocean->grid, &ocean->modes[mode],
                          is_together ? 0.0 : stretch[0] - stretch[1]);
}

void ocean_step(struct ocean *ocean)
{
    struct ocean_field *both[OCEAN_LAYERS] = {&ocean->vorticity[0],
                                              &ocean->vorticity[1]};

    ocean_exchange(&ocean->grid.levels[0], both, OCEAN_LAYERS);
    split_modes(ocean);
    for (int k = 0; k < OCEAN_LAYERS; k++) {
        step_vorticity(ocean, k);
    }
    for (int mode = 0; mode < OCEAN_MODES; mode++) {
        solve_mode(ocean, mode);
    }
    ocean->n_steps++;
}

double ocean_courant(struct ocean *ocean)
{
    const struct ocean_level *level = &ocean->grid.levels[0];
    double n = (double)level->n;
    size_t n_row = level->n + 1;
    double fastest = 0;

    split_modes(ocean);
    for (int k = 0; k < OCEAN_LAYERS; k++) {
        for (size_t i = level->first; i < level->end; i++) {
            const double *p = ocean->stream[k] + points_before(level, i);

            for (size_t j = 1; j < level->n; j++) {
                double along = fabs(p[j + 1] - p[j - 1]);
                double across = fabs(p[j + n_row] - (p - n_row)[j]);
                double speed = INERTIA * 0.5 * n * (along + across);
                /* In this form a value that is not a number is kept. */
                fastest = speed <= fastest ? fastest : speed;
            }
        }
    }
    return fastest * ocean->step * n;
}

void ocean_init(struct ocean *ocean, struct world *world, size_t n, double tolerance)
{
    /* Friction allows a quarter of the square of the mesh; keep clear of it. */
    double longest = 0.1 / (FRICTION * (double)n * (double)n);
    size_t n_points;

    *ocean = (struct ocean){.world = world, .step = fmin(0.05, longest)};
    ocean_multigrid_init(&ocean->grid, world, n, tolerance);
    n_points = ocean_level_points(&ocean->grid.levels[0]);
    for (int mode = 0; mode < OCEAN_MODES; mode++) {
        ocean_field_init(&ocean->modes[mode], &ocean->grid.levels[0]);
    }
    for (int k = 0; k < OCEAN_LAYERS; k++) {
        ocean_field_init(&ocean->vorticity[k], &ocean->grid.levels[0]);
        ocean->stream[k] = world_array(world, n_points, sizeof(double));
        ocean->relative[k] = world_array(world, n_points, sizeof(double));
        ocean->change[0][k] = world_array(world, n_points, sizeof(double));
        ocean->change[1][k] = world_array(world, n_points, sizeof(double));
    }
}

void ocean_fini(struct ocean *ocean)
{
    for (int mode = 0; mode < OCEAN_MODES; mode++) {
        ocean_field_fini(&ocean->modes[mode]);
    }
    for (int k = 0; k < OCEAN_LAYERS; k++) {
        ocean_field_fini(&ocean->vorticity[k]);
        free(ocean->stream[k]);
        free(ocean->relative[k]);
        free(ocean->change[0][k]);
        free(ocean->change[1][k]);
    }
    ocean_multigrid_fini(&ocean->grid);
}

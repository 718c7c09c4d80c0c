/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills cells with a mixture of two gases, in the proportion of the finest cells within
 * whose centres have the one or the other. So a coarse mesh knows of a sphere that is
 * smaller than its cells. Every rank runs it during set-up.
 */
#include "apps/sage/initial.h"

#include <math.h>

/* The inner gas: lengths in finest cells. */
struct region {
    int n_axes;
    double center[N_AXES];
    double radius_squared;
};

static void region_init(struct region *region, const struct forest *forest,
                        const struct input *input)
{
    double radius = ldexp(input->interface / input->cell_width, forest->max_level);

    /* The gas before a plane is a ball about the low end of one axis. */
    region->n_axes = input->problem == PROBLEM_SHOCK_TUBE ? 1 : N_AXES;
    region->radius_squared = radius * radius;
    for (int axis = 0; axis < N_AXES; axis++) {
        double length = forest->n_roots[axis] * forest_edge(forest, 0);
        region->center[axis] =
            input->problem == PROBLEM_SHOCK_TUBE ? 0 : input->center[axis] * length;
    }
}

/* Squares of the distances from the region's centre to the nearest and the farthest
 * centre of a finest cell in a cube. */
static void find_distances(const struct region *region, const int corner[N_AXES],
                           int edge, double *nearest_out, double *farthest_out)
{
    *nearest_out = 0;
    *farthest_out = 0;
    for (int axis = 0; axis < region->n_axes; axis++) {
        double low = corner[axis] + 0.5 - region->center[axis];
        double high = low + edge - 1;
        double near = low > 0 ? low : high < 0 ? -high : 0;
        double far = fmax(fabs(low), fabs(high));
        *nearest_out += near * near;
        *farthest_out += far * far;
    }
}

/* Number of finest cells of a cube that are in the region. */
static int64_t count_inside(const struct region *region, const int corner[N_AXES],
                            int edge)
{
    double nearest, farthest;
    int64_t n_inside = 0;

    find_distances(region, corner, edge, &nearest, &farthest);
    if (nearest >= region->radius_squared) {
        return 0;
    }
    if (farthest < region->radius_squared) {
        return (int64_t)edge * edge * edge;
    }
    for (int child = 0; child < N_CHILDREN; child++) {
        int half = edge / 2;
        const int child_corner[N_AXES] = {corner[0] + (child & 1) * half,
                                          corner[1] + (child >> 1 & 1) * half,
                                          corner[2] + (child >> 2 & 1) * half};
        n_inside += count_inside(region, child_corner, half);
    }
    return n_inside;
}

void initial_fill(struct mesh *mesh, const struct units *units,
                  const struct input *input)
{
    struct region region;

    region_init(&region, &mesh->forest, input);
    for (int cell = 0; cell < mesh->n_cells; cell++) {
        int level = forest_level(mesh->id[cell]);
        double n_all = (double)forest_n_keys(&mesh->forest, level);
        double state[N_PRIMITIVE] = {0};
        double part;
        int corner[N_AXES];
        forest_position(&mesh->forest, mesh->id[cell], corner);
        part =
            (double)count_inside(&region, corner, forest_edge(&mesh->forest, level)) /
            n_all;
        state[DENSITY] =
            part * input->inner_density + (1 - part) * input->outer_density;
        state[PRESSURE] =
            part * input->inner_pressure + (1 - part) * input->outer_pressure;
        units_from_primitive(units, level, state, mesh->state[cell]);
    }
}

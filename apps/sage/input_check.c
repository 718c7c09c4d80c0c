/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relations between the values of a deck. Rank 0 runs the first, once; every rank
 * runs the second, with the same outcome.
 */
#include "apps/sage/input_check.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "apps/common/message.h"
#include "apps/sage/forest.h"

/* Positions in finest cells are counted in an int. */
#define MAX_FINEST (1 << 20)

static int64_t n_root_cells(const struct input *input)
{
    return (int64_t)input->cells[0] * input->cells[1] * input->cells[2];
}

/* How far from its origin the interface may be: up to the walls. */
static double largest_interface(const struct input *input)
{
    int n_cells = input->cells[0];

    if (input->problem == PROBLEM_SHOCK_TUBE) {
        return n_cells * input->cell_width;
    }
    for (int axis = 1; axis < N_AXES; axis++) {
        n_cells = input->cells[axis] < n_cells ? input->cells[axis] : n_cells;
    }
    return 0.5 * n_cells * input->cell_width;
}

/* A sphere of that radius has the centre of a finest cell in it, wherever it is. */
static double smallest_interface(const struct input *input)
{
    return ldexp(input->cell_width, -input->max_level);
}

int input_check(const char *path, const struct input *input, char *message)
{
    if (n_root_cells(input) > FOREST_MAX_ROOTS) {
        message_set(message,
                    "%s: cells_x * cells_y * cells_z is %lld; allowed: 1 to %d", path,
                    (long long)n_root_cells(input), FOREST_MAX_ROOTS);
        return -EINVAL;
    }
    for (int axis = 0; axis < N_AXES; axis++) {
        if (input->cells[axis] > MAX_FINEST >> input->max_level) {
            message_set(message,
                        "%s: cells_%c is %d; allowed with max_level %d: 1 to %d", path,
                        'x' + axis, input->cells[axis], input->max_level,
                        MAX_FINEST >> input->max_level);
            return -EINVAL;
        }
    }
    if (input->interface < smallest_interface(input) ||
        input->interface > largest_interface(input)) {
        message_set(
            message,
            "%s: interface is %g; allowed: %g (a finest cell) to %g (the walls)", path,
            input->interface, smallest_interface(input), largest_interface(input));
        return -EINVAL;
    }
    if (input->coarsen_below > input->refine_above) {
        message_set(message, "%s: coarsen_below is %g; allowed: 0 to refine_above = %g",
                    path, input->coarsen_below, input->refine_above);
        return -EINVAL;
    }
    return 0;
}

int input_check_ranks(const char *path, const struct input *input, int n_ranks,
                      char *message)
{
    if (n_root_cells(input) < n_ranks) {
        message_set(message,
                    "%s: cells_x * cells_y * cells_z is %lld, but there are %d ranks; "
                    "allowed: at least as many cells as ranks",
                    path, (long long)n_root_cells(input), n_ranks);
        return -EINVAL;
    }
    return 0;
}

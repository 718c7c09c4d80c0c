/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Diamond differences in one cell: the mean of inflow and outflow is the cell's flux on
 * each axis, and with q the source,
 *     sum over axes of |cosine| / width * (outflow - inflow) + sigt * flux = q.
 * A negative outflow is set to 0 and the flux computed again from this balance without
 * the diamond relation on that axis, so that the particle balance holds in any case.
 *
 * The order of all additions depends on the angle and the cell only. That is why
 * results do not change with the process grid or the block sizes.
 *
 * Called by sweep.c on every rank; this is where the time goes.
 */
#include "apps/sweep3d/kernel.h"

struct cell {
    double source;
    double inflow[3];
    double outflow[3];
    double flux;
};

/* Repeat until no outflow is negative: at most three rounds, as each fixes one more. */
static long fix_up(const struct kernel_angles *angles, int angle, struct cell *cell)
{
    bool is_fixed[3] = {false, false, false};
    bool is_done = false;
    long n_fixed = 0;

    while (!is_done) {
        double numerator = cell->source;
        double denominator = angles->sigt;
        for (int axis = 0; axis < 3; axis++) {
            double slope = angles->slope[axis][angle];
            numerator += (is_fixed[axis] ? 0.5 * slope : slope) * cell->inflow[axis];
            denominator += is_fixed[axis] ? 0.0 : slope;
        }
        cell->flux = numerator / denominator;
        is_done = true;
        for (int axis = 0; axis < 3; axis++) {
            if (is_fixed[axis]) {
                continue;
            }
            cell->outflow[axis] = 2 * cell->flux - cell->inflow[axis];
            if (cell->outflow[axis] < 0) {
                cell->outflow[axis] = 0;
                is_fixed[axis] = true;
                is_done = false;
                n_fixed++;
            }
        }
    }
    return n_fixed;
}

/* is_p1 is a constant in both callers, so that each gets a loop without that branch. */
static inline __attribute__((always_inline)) long
sweep_line(const struct kernel_angles *angles, const struct kernel_line *line,
           bool is_p1)
{
    const int n_angles = angles->n_angles;
    double *restrict face_i = line->face_i;
    long n_fixed = 0;

    for (int n = 0, i = line->start; n < line->n_i; n++, i += line->step) {
        double *restrict face_j = line->face_j + (size_t)i * n_angles;
        double *restrict face_k = line->face_k + (size_t)i * n_angles;
        double flux = line->flux[0][i];

        for (int a = 0; a < n_angles; a++) {
            double source = line->source[0][i];
            if (is_p1) {
                source += line->source[1][i] * angles->cosine[0][a] +
                          line->source[2][i] * angles->cosine[1][a] +
                          line->source[3][i] * angles->cosine[2][a];
            }
            double sum = source + angles->slope[2][a] * face_k[a];
            sum = sum + angles->slope[1][a] * face_j[a];
            sum = sum + angles->slope[0][a] * face_i[a];
            double mean = sum * angles->inverse[a];
            double out_i = mean + mean - face_i[a];
            double out_j = mean + mean - face_j[a];
            double out_k = mean + mean - face_k[a];
            if (angles->is_fixed_up && (out_i < 0 || out_j < 0 || out_k < 0)) {
                struct cell cell = {.source = source,
                                    .inflow = {face_i[a], face_j[a], face_k[a]}};
                n_fixed += fix_up(angles, a, &cell);
                mean = cell.flux;
                out_i = cell.outflow[0];
                out_j = cell.outflow[1];
                out_k = cell.outflow[2];
            }
            face_i[a] = out_i;
            face_j[a] = out_j;
            face_k[a] = out_k;
            flux += angles->weight[a] * mean;
            if (is_p1) {
                double part = angles->weight[a] * mean;
                line->flux[1][i] += angles->cosine[0][a] * part;
                line->flux[2][i] += angles->cosine[1][a] * part;
                line->flux[3][i] += angles->cosine[2][a] * part;
            }
        }
        line->flux[0][i] = flux;
    }
    return n_fixed;
}

long kernel_sweep_line_p0(const struct kernel_angles *angles,
                          const struct kernel_line *line)
{
    return sweep_line(angles, line, false);
}

long kernel_sweep_line_p1(const struct kernel_angles *angles,
                          const struct kernel_line *line)
{
    return sweep_line(angles, line, true);
}

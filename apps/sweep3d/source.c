/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the source before each sweep, on every rank, for its own cells.
 *
 * With weights that add up to 1 over all directions, the source into direction W is
 *     Q + SIGS * flux + 3 * SIGS1 * (W . current);
 * source[0] holds the first two terms, source[1..3] the factors of W's cosines.
 */
#include "apps/sweep3d/source.h"

#include <string.h>

double source_fixed(const struct input *input, int i, int j, int k)
{
    bool is_inside = i >= input->i1 - 1 && i < input->i2 && j >= input->j1 - 1 &&
                     j < input->j2 && k >= input->k1 - 1 && k < input->k2;

    return is_inside ? input->src : 0.0;
}

static void update_isotropic(struct fields *fields,
                             const struct decomposition *decomposition,
                             const struct input *input)
{
    size_t cell = 0;

    for (int k = 0; k < fields->n_k; k++) {
        for (int j = 0; j < fields->n_j; j++) {
            for (int i = 0; i < fields->n_i; i++, cell++) {
                fields->source[0][cell] =
                    source_fixed(input, decomposition->i.first + i,
                                 decomposition->j.first + j, k) +
                    input->sigs * fields->flux[0][cell];
            }
        }
    }
}

static void update_linear(struct fields *fields, const struct input *input)
{
    for (int n = 1; n < fields->n_moments; n++) {
        for (size_t cell = 0; cell < fields->n_cells; cell++) {
            fields->source[n][cell] = 3 * input->sigs1 * fields->flux[n][cell];
        }
    }
}

void source_update(struct fields *fields, const struct decomposition *decomposition,
                   const struct input *input)
{
    size_t n_bytes = fields->n_cells * sizeof(double);

    memcpy(fields->old_flux, fields->flux[0], n_bytes);
    update_isotropic(fields, decomposition, input);
    update_linear(fields, input);
    for (int n = 0; n < fields->n_moments; n++) {
        memset(fields->flux[n], 0, n_bytes);
    }
    for (int face = 0; face < N_FACES; face++) {
        memset(fields->leakage[face], 0,
               fields_face_cells(fields, face) * sizeof(double));
    }
}

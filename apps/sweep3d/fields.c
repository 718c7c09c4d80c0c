/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocation of the cell arrays. Every rank runs it, during set-up and at the end.
 */
#include "apps/sweep3d/fields.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t fields_face_cells(const struct fields *fields, enum face face)
{
    switch (face) {
    case FACE_WEST:
    case FACE_EAST:
        return (size_t)fields->n_k * fields->n_j;
    case FACE_SOUTH:
    case FACE_NORTH:
        return (size_t)fields->n_k * fields->n_i;
    default:
        return (size_t)fields->n_j * fields->n_i;
    }
}

static bool allocate(double **array, size_t n)
{
    *array = calloc(n, sizeof(**array));
    return *array != NULL;
}

int fields_init(struct fields *fields, const struct decomposition *decomposition,
                const struct input *input)
{
    bool is_complete;

    memset(fields, 0, sizeof(*fields));
    fields->n_i = decomposition->i.n_mine;
    fields->n_j = decomposition->j.n_mine;
    fields->n_k = decomposition->n_k;
    fields->n_cells = (size_t)fields->n_i * fields->n_j * fields->n_k;
    fields->n_moments = input->isct == 1 ? 4 : 1;
    is_complete = allocate(&fields->old_flux, fields->n_cells);
    for (int n = 0; n < fields->n_moments; n++) {
        is_complete = is_complete && allocate(&fields->flux[n], fields->n_cells) &&
                      allocate(&fields->source[n], fields->n_cells);
    }
    for (int face = 0; face < N_FACES; face++) {
        is_complete = is_complete &&
                      allocate(&fields->leakage[face], fields_face_cells(fields, face));
    }
    if (!is_complete) {
        fields_fini(fields);
        return -ENOMEM;
    }
    return 0;
}

void fields_fini(struct fields *fields)
{
    free(fields->old_flux);
    for (int n = 0; n < FIELDS_MAX_MOMENTS; n++) {
        free(fields->flux[n]);
        free(fields->source[n]);
    }
    for (int face = 0; face < N_FACES; face++) {
        free(fields->leakage[face]);
    }
    memset(fields, 0, sizeof(*fields));
}

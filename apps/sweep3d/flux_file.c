/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the flux plane by plane. main.c calls it on every rank and looks at the
 * stream's error state when it closes the file.
 */
#include "apps/sweep3d/flux_file.h"

void flux_file_write(FILE *file, const struct input *input, const struct fields *fields,
                     struct flux_plane *plane)
{
    size_t n_cells = (size_t)input->it * input->jt;

    if (file != NULL) {
        fprintf(file, "# %d %d %d\n", input->it, input->jt, input->kt);
    }
    for (int k = 0; k < fields->n_k; k++) {
        const double *flux = flux_plane_gather(plane, fields, k);
        for (size_t cell = 0; flux != NULL && cell < n_cells; cell++) {
            fprintf(file, "%.17g\n", flux[cell]);
        }
    }
}

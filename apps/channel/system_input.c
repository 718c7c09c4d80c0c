/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes or reads the system. Run by rank 0; the command line is parsed by all.
 */
#include "apps/channel/system_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/channel/matrix_market.h"
#include "apps/common/message.h"

enum { POINTS_MOST = 1 << 20 };

int system_input_take_grid(const char *text, long points_out[3], char *message)
{
    long points[3] = {0, 0, 1}, n_rows = 1;
    const char *c = text;
    int n = 0;

    while (n < 3 && *c >= '0' && *c <= '9') {
        char *end;

        points[n] = strtol(c, &end, 10);
        if (points[n] < 2 || points[n] > POINTS_MOST) {
            break;
        }
        n_rows *= points[n++];
        c = *end == 'x' && n < 3 && end[1] != '\0' ? end + 1 : end;
        if (*end != 'x') {
            break;
        }
    }
    if (n < 2 || *c != '\0' || n_rows > SPARSE_ROWS_MOST) {
        message_set(message,
                    "--grid is '%s'; allowed: NXxNY or NXxNYxNZ, each 2 or "
                    "more, with %d points at most",
                    text, SPARSE_ROWS_MOST);
        return -EINVAL;
    }
    memcpy(points_out, points, sizeof(points));
    return 0;
}

static int read_file(const char *path, struct sparse *matrix_out, char *message)
{
    FILE *file = fopen(path, "r");
    int rc;

    if (file == NULL) {
        rc = -errno;
        message_set(message, "%s: %s", path, strerror(errno));
        return rc;
    }
    rc = matrix_market_read(file, path, matrix_out, message);
    fclose(file);
    return rc;
}

/** A right-hand side: numbers from 1 to 2, in no order. @return NULL: out of memory */
static double *make_rhs(size_t n_rows)
{
    double *rhs = malloc(n_rows * sizeof(*rhs));

    for (size_t i = 0; rhs != NULL && i < n_rows; i++) {
        rhs[i] = 1 + (double)(i * 2654435761U % 65536) / 65536;
    }
    return rhs;
}

int system_input_make(const struct system_input *input, struct sparse *lower_out,
                      double **rhs_out, char *message)
{
    struct sparse matrix = {0};
    int rc = input->path != NULL ? read_file(input->path, &matrix, message)
                                 : sparse_make_poisson(input->points, &matrix);

    if (rc != 0) {
        if (rc == -ENOMEM) {
            message_set(message, "out of memory for the matrix");
        }
        return rc;
    }
    rc = input->is_triangle ? sparse_scale(&matrix, message)
                            : sparse_factorize(&matrix, message);
    *rhs_out = rc == 0 ? make_rhs(matrix.n_rows) : NULL;
    if (rc == 0 && *rhs_out == NULL) {
        message_set(message, "out of memory for the right-hand side");
        rc = -ENOMEM;
    }
    if (rc != 0) {
        sparse_fini(&matrix);
        return rc;
    }
    sparse_keep_lower(&matrix);
    *lower_out = matrix;
    return 0;
}

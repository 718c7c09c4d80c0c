/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 writes its own cells and then those of each rank in turn, which it receives in
 * one message. Runs once, at the end.
 */
#include "apps/sage/cell_file.h"

#include <mpi.h>
#include <stdlib.h>

#include "apps/sage/memory.h"

#define TAG_ROWS 5
/* Centre, edge, primitive variables. */
#define N_COLUMNS (N_AXES + 1 + N_PRIMITIVE)

static void fill_row(double row_out[N_COLUMNS], const struct simulation *simulation,
                     int own)
{
    const struct forest *forest = &simulation->mesh.forest;
    const double *primitive =
        simulation->work.primitive[simulation->halo.first_owned + own];
    double finest = simulation->units.edge[forest->max_level];
    int level = forest_level(simulation->mesh.id[own]);
    int position[N_AXES];

    forest_position(forest, simulation->mesh.id[own], position);
    for (int axis = 0; axis < N_AXES; axis++) {
        row_out[axis] = (position[axis] + 0.5 * forest_edge(forest, level)) * finest;
    }
    row_out[N_AXES] = simulation->units.edge[level];
    for (int v = 0; v < N_PRIMITIVE; v++) {
        row_out[N_AXES + 1 + v] = primitive[v];
    }
}

static void write_rows(FILE *file, double (*rows)[N_COLUMNS], int n_rows)
{
    for (int row = 0; row < n_rows; row++) {
        for (int column = 0; column < N_COLUMNS; column++) {
            fprintf(file, "%s%.17g", column > 0 ? " " : "", rows[row][column]);
        }
        fputc('\n', file);
    }
}

static void write_rows_of(FILE *file, int rank)
{
    double(*rows)[N_COLUMNS];
    MPI_Status status;
    int n_values;

    MPI_Probe(rank, TAG_ROWS, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &n_values);
    rows = memory_array((size_t)n_values, sizeof(double));
    MPI_Recv(rows, n_values, MPI_DOUBLE, rank, TAG_ROWS, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    write_rows(file, rows, n_values / N_COLUMNS);
    free(rows);
}

void cell_file_write(FILE *file, const struct simulation *simulation)
{
    int n_cells = simulation->mesh.n_cells;
    double(*rows)[N_COLUMNS] = memory_array((size_t)n_cells, sizeof(*rows));

    for (int own = 0; own < n_cells; own++) {
        fill_row(rows[own], simulation, own);
    }
    if (simulation->mesh.rank > 0) {
        MPI_Send(rows, n_cells * N_COLUMNS, MPI_DOUBLE, 0, TAG_ROWS, MPI_COMM_WORLD);
    } else {
        fputs("# x y z edge density velocity_x velocity_y velocity_z pressure\n", file);
        write_rows(file, rows, n_cells);
        for (int rank = 1; rank < simulation->mesh.n_ranks; rank++) {
            write_rows_of(file, rank);
        }
    }
    free(rows);
}

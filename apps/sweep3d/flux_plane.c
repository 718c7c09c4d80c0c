/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers planes of the flux with MPI_Gatherv: blocks arrive one after the other and
 * are then put in place. symmetry.c and flux_file.c use it, on every rank.
 */
#include "apps/sweep3d/flux_plane.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct flux_plane {
    const struct decomposition *decomposition;
    /* All NULL except on rank 0. */
    int *counts, *offsets;
    double *blocks;
    double *plane;
};

struct block {
    int first_i, n_i;
    int first_j, n_j;
};

static struct block block_of_rank(const struct decomposition *decomposition, int rank)
{
    int n = decomposition->i.n_processes;
    struct block block;

    axis_block(&decomposition->i, rank % n, &block.first_i, &block.n_i);
    axis_block(&decomposition->j, rank / n, &block.first_j, &block.n_j);
    return block;
}

static int allocate_root(struct flux_plane *plane)
{
    const struct decomposition *decomposition = plane->decomposition;
    size_t n_cells = (size_t)decomposition->i.n_cells * decomposition->j.n_cells;
    int offset = 0;

    plane->counts = malloc(decomposition->n_ranks * sizeof(*plane->counts));
    plane->offsets = malloc(decomposition->n_ranks * sizeof(*plane->offsets));
    plane->blocks = malloc(n_cells * sizeof(double));
    plane->plane = malloc(n_cells * sizeof(double));
    if (plane->counts == NULL || plane->offsets == NULL || plane->blocks == NULL ||
        plane->plane == NULL) {
        return -1;
    }
    for (int rank = 0; rank < decomposition->n_ranks; rank++) {
        struct block block = block_of_rank(decomposition, rank);
        plane->counts[rank] = block.n_i * block.n_j;
        plane->offsets[rank] = offset;
        offset += plane->counts[rank];
    }
    return 0;
}

struct flux_plane *flux_plane_create(const struct decomposition *decomposition)
{
    struct flux_plane *plane = calloc(1, sizeof(*plane));

    if (plane == NULL) {
        return NULL;
    }
    plane->decomposition = decomposition;
    if (decomposition->rank == 0 && allocate_root(plane) != 0) {
        flux_plane_destroy(plane);
        return NULL;
    }
    return plane;
}

void flux_plane_destroy(struct flux_plane *plane)
{
    if (plane == NULL) {
        return;
    }
    free(plane->counts);
    free(plane->offsets);
    free(plane->blocks);
    free(plane->plane);
    free(plane);
}

static void place_block(struct flux_plane *plane, int rank)
{
    const struct decomposition *decomposition = plane->decomposition;
    struct block block = block_of_rank(decomposition, rank);
    const double *from = plane->blocks + plane->offsets[rank];

    for (int j = 0; j < block.n_j; j++) {
        size_t to =
            (size_t)(block.first_j + j) * decomposition->i.n_cells + block.first_i;
        memcpy(plane->plane + to, from + (size_t)j * block.n_i,
               block.n_i * sizeof(double));
    }
}

const double *flux_plane_gather(struct flux_plane *plane, const struct fields *fields,
                                int k)
{
    int n_mine = fields->n_i * fields->n_j;

    MPI_Gatherv(fields->flux[0] + (size_t)k * n_mine, n_mine, MPI_DOUBLE, plane->blocks,
                plane->counts, plane->offsets, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (plane->decomposition->rank != 0) {
        return NULL;
    }
    for (int rank = 0; rank < plane->decomposition->n_ranks; rank++) {
        place_block(plane, rank);
    }
    return plane->plane;
}

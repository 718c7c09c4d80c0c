/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank knows of its neighbours' cells. The cells of other ranks that touch its
 * own, the ghosts, stand around them in one local array in the global order: ghosts of
 * lower ranks, own cells, ghosts of higher ranks. Values travel by gather (owner to
 * ghosts) and scatter (ghosts to owner, added there). The lists of cells that travel,
 * the tokens, are made whenever the mesh has changed.
 *
 * An exchange is begun and ended, with work between that needs no ghosts. At most one
 * is under way at a time.
 */
#ifndef SAGE_HALO_H
#define SAGE_HALO_H

#include <mpi.h>
#include <stdint.h>

#include "apps/sage/mesh.h"

struct halo_neighbour {
    int rank;
    /* Local indices of the own cells that this rank has as ghosts, ascending. */
    int n_sent;
    int *sent;
    /* The ghosts that this rank owns stand together. */
    int first_ghost, n_ghosts;
};

struct halo {
    int n_local, first_owned, n_owned;
    uint64_t *id;
    /* In ascending order of ranks. */
    int n_neighbours;
    struct halo_neighbour *neighbours;
    MPI_Request *requests;
    /* Of the exchange that is under way. */
    int n_requests;
    /* Room for the values of all sent cells. */
    int n_sent;
    int64_t *buffer;
};

/* Most 8-byte words of a cell that a gather or scatter can carry. */
#define HALO_MAX_WORDS 15

/** Make the tokens of a mesh: a message to and from each neighbour. Every rank. */
void halo_init(struct halo *halo, const struct mesh *mesh);

/** Wait for what is under way, free what a halo holds; a zeroed one is allowed. */
void halo_fini(struct halo *halo);

/**
 * Begin to bring the ghosts' values from their owners. Until the end nobody may touch
 * the ghosts' values; those of the own cells may change and are sent as they are now.
 * Every rank begins and ends the same exchanges in the same order.
 *
 * @param values   n_words 8-byte words for each local cell
 * @param n_words  1 to HALO_MAX_WORDS
 * @param type     MPI's type of one word
 */
void halo_gather_begin(struct halo *halo, void *values, int n_words, MPI_Datatype type);

/** Wait until the gather that is under way has come; does nothing if there is none. */
void halo_gather_end(struct halo *halo);

/** Both in one, for values with no work to be done meanwhile. */
void halo_gather(struct halo *halo, void *values, int n_words, MPI_Datatype type);

/** Begin to bring the ghosts' values to their owners; they may not change any more. */
void halo_scatter_begin(struct halo *halo, int64_t *values, int n_words);

/** Wait for the others' ghosts and add them to the own cells; same arguments. */
void halo_scatter_end(struct halo *halo, int64_t *values, int n_words);

/** Local index of the cell that contains a finest cell, or -1 if none is known. */
int halo_find(const struct halo *halo, const struct forest *forest,
              const int position[N_AXES]);

/** Number of ranks between this rank and its most distant neighbour, plus one. */
int halo_distance(const struct halo *halo, int rank);

#endif

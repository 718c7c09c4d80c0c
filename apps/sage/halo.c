/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather, scatter and search. Messages go directly from and to the ghosts, which stand
 * together for each neighbour; own cells pass through a buffer. Every rank runs it.
 */
#include "apps/sage/halo.h"

#include <stdlib.h>
#include <string.h>

#define TAG_GATHER 2
#define TAG_SCATTER 3

static void wait_all(struct halo *halo)
{
    if (halo->n_requests > 0) {
        MPI_Waitall(halo->n_requests, halo->requests, MPI_STATUSES_IGNORE);
        halo->n_requests = 0;
    }
}

void halo_fini(struct halo *halo)
{
    wait_all(halo);
    for (int n = 0; n < halo->n_neighbours; n++) {
        free(halo->neighbours[n].sent);
    }
    free(halo->id);
    free(halo->neighbours);
    free(halo->requests);
    free(halo->buffer);
}

/* Copy the values of the cells that a neighbour gets; returns the end of the copy. */
static int64_t *pack(const struct halo_neighbour *neighbour, const int64_t *values,
                     int n_words, int64_t *target)
{
    for (int s = 0; s < neighbour->n_sent; s++) {
        memcpy(target, values + (size_t)neighbour->sent[s] * (size_t)n_words,
               (size_t)n_words * sizeof(*target));
        target += n_words;
    }
    return target;
}

void halo_gather_begin(struct halo *halo, void *values, int n_words, MPI_Datatype type)
{
    int64_t *words = values;
    int64_t *packed = halo->buffer;
    MPI_Request *request = halo->requests;

    for (int n = 0; n < halo->n_neighbours; n++) {
        const struct halo_neighbour *neighbour = &halo->neighbours[n];
        MPI_Irecv(words + (size_t)neighbour->first_ghost * (size_t)n_words,
                  neighbour->n_ghosts * n_words, type, neighbour->rank, TAG_GATHER,
                  MPI_COMM_WORLD, request++);
    }
    for (int n = 0; n < halo->n_neighbours; n++) {
        const struct halo_neighbour *neighbour = &halo->neighbours[n];
        int64_t *start = packed;
        packed = pack(neighbour, words, n_words, start);
        MPI_Isend(start, neighbour->n_sent * n_words, type, neighbour->rank, TAG_GATHER,
                  MPI_COMM_WORLD, request++);
    }
    halo->n_requests = 2 * halo->n_neighbours;
}

void halo_gather_end(struct halo *halo)
{
    wait_all(halo);
}

void halo_gather(struct halo *halo, void *values, int n_words, MPI_Datatype type)
{
    halo_gather_begin(halo, values, n_words, type);
    halo_gather_end(halo);
}

/* Add what came for the sent cells; returns the end of what was taken. */
static const int64_t *unpack(const struct halo_neighbour *neighbour, int64_t *values,
                             int n_words, const int64_t *source)
{
    for (int s = 0; s < neighbour->n_sent; s++) {
        int64_t *target = values + (size_t)neighbour->sent[s] * (size_t)n_words;
        for (int word = 0; word < n_words; word++) {
            target[word] += *source++;
        }
    }
    return source;
}

void halo_scatter_begin(struct halo *halo, int64_t *values, int n_words)
{
    int64_t *place = halo->buffer;
    MPI_Request *request = halo->requests;

    for (int n = 0; n < halo->n_neighbours; n++) {
        const struct halo_neighbour *neighbour = &halo->neighbours[n];
        MPI_Irecv(place, neighbour->n_sent * n_words, MPI_INT64_T, neighbour->rank,
                  TAG_SCATTER, MPI_COMM_WORLD, request++);
        place += (size_t)neighbour->n_sent * (size_t)n_words;
    }
    for (int n = 0; n < halo->n_neighbours; n++) {
        const struct halo_neighbour *neighbour = &halo->neighbours[n];
        MPI_Isend(values + (size_t)neighbour->first_ghost * (size_t)n_words,
                  neighbour->n_ghosts * n_words, MPI_INT64_T, neighbour->rank,
                  TAG_SCATTER, MPI_COMM_WORLD, request++);
    }
    halo->n_requests = 2 * halo->n_neighbours;
}

void halo_scatter_end(struct halo *halo, int64_t *values, int n_words)
{
    const int64_t *source = halo->buffer;

    wait_all(halo);
    for (int n = 0; n < halo->n_neighbours; n++) {
        source = unpack(&halo->neighbours[n], values, n_words, source);
    }
}

int halo_find(const struct halo *halo, const struct forest *forest,
              const int position[N_AXES])
{
    uint64_t key = forest_key_at(forest, position);
    int low = 0;
    int high = halo->n_local;
    uint64_t id;

    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (forest_key(halo->id[middle]) <= key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (high == 0) {
        return -1;
    }
    id = halo->id[low];
    if (key < forest_key(id) ||
        key - forest_key(id) >= forest_n_keys(forest, forest_level(id))) {
        return -1;
    }
    return low;
}

int halo_distance(const struct halo *halo, int rank)
{
    int distance = 0;

    for (int n = 0; n < halo->n_neighbours; n++) {
        int to = abs(halo->neighbours[n].rank - rank);
        distance = to > distance ? to : distance;
    }
    return distance;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the tokens of a halo. A rank finds without asking which of its cells lie on the
 * surface of its slab and whose cells are beyond: the owner of the root cell across. It
 * sends the ids of those cells to that rank, which takes them as ghosts. Touching is
 * mutual, so whom a rank sends to is also whom it hears from; how much is found by
 * MPI_Probe. Every rank runs it after each change of the mesh.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/sage/halo.h"
#include "apps/sage/memory.h"

#define TAG_TOKENS 1
#define N_SIDES 6

/* The other ranks whose root cells touch a cell, each once. */
static int ranks_around(const struct mesh *mesh, uint64_t id, int ranks_out[N_SIDES])
{
    int n_ranks = 0;

    for (int side = 0; side < N_SIDES; side++) {
        int root = forest_root_beyond(&mesh->forest, id, side / 2, side % 2);
        int owner = root < 0 ? mesh->rank : mesh_owner(mesh, root);
        int n = 0;
        while (n < n_ranks && ranks_out[n] != owner) {
            n++;
        }
        if (owner != mesh->rank && n == n_ranks) {
            ranks_out[n_ranks++] = owner;
        }
    }
    return n_ranks;
}

/* Count the cells for each rank and make the list of neighbours from those above 0. */
static void find_neighbours(struct halo *halo, const struct mesh *mesh, int *place_of)
{
    int ranks[N_SIDES];

    for (int cell = 0; cell < mesh->n_cells; cell++) {
        int n_ranks = ranks_around(mesh, mesh->id[cell], ranks);
        for (int n = 0; n < n_ranks; n++) {
            halo->n_neighbours += place_of[ranks[n]] == 0;
            place_of[ranks[n]]++;
        }
        halo->n_sent += n_ranks;
    }
    halo->neighbours =
        memory_array((size_t)halo->n_neighbours, sizeof(*halo->neighbours));
    for (int rank = 0, place = 0; rank < mesh->n_ranks; rank++) {
        if (place_of[rank] > 0) {
            halo->neighbours[place].rank = rank;
            halo->neighbours[place].sent =
                memory_array((size_t)place_of[rank], sizeof(int));
            place_of[rank] = place++;
        }
    }
}

/* List the sent cells of each neighbour, as indices of the mesh. */
static void list_sent_cells(struct halo *halo, const struct mesh *mesh)
{
    int *place_of = memory_array((size_t)mesh->n_ranks, sizeof(int));
    int ranks[N_SIDES];

    find_neighbours(halo, mesh, place_of);
    for (int cell = 0; cell < mesh->n_cells; cell++) {
        int n_ranks = ranks_around(mesh, mesh->id[cell], ranks);
        for (int n = 0; n < n_ranks; n++) {
            struct halo_neighbour *to = &halo->neighbours[place_of[ranks[n]]];
            to->sent[to->n_sent++] = cell;
        }
    }
    free(place_of);
}

static void send_ids(struct halo *halo, const struct mesh *mesh)
{
    int64_t *packed = halo->buffer;

    for (int n = 0; n < halo->n_neighbours; n++) {
        const struct halo_neighbour *to = &halo->neighbours[n];
        int64_t *start = packed;
        for (int s = 0; s < to->n_sent; s++) {
            *packed++ = (int64_t)mesh->id[to->sent[s]];
        }
        MPI_Isend(start, to->n_sent, MPI_INT64_T, to->rank, TAG_TOKENS, MPI_COMM_WORLD,
                  &halo->requests[n]);
    }
}

/* Ask how many ids each neighbour has sent and lay out the local array. */
static void lay_out(struct halo *halo, const struct mesh *mesh)
{
    MPI_Status status;

    halo->n_owned = mesh->n_cells;
    halo->n_local = mesh->n_cells;
    for (int n = 0; n < halo->n_neighbours; n++) {
        struct halo_neighbour *from = &halo->neighbours[n];
        MPI_Probe(from->rank, TAG_TOKENS, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT64_T, &from->n_ghosts);
        from->first_ghost = halo->n_local;
        halo->n_local += from->n_ghosts;
        if (from->rank < mesh->rank) {
            from->first_ghost -= mesh->n_cells;
            halo->first_owned += from->n_ghosts;
        }
    }
}

void halo_init(struct halo *halo, const struct mesh *mesh)
{
    int n_requests;

    memset(halo, 0, sizeof(*halo));
    list_sent_cells(halo, mesh);
    n_requests = 2 * halo->n_neighbours;
    halo->requests = memory_array((size_t)n_requests, sizeof(*halo->requests));
    halo->buffer =
        memory_array((size_t)halo->n_sent * HALO_MAX_WORDS, sizeof(*halo->buffer));
    send_ids(halo, mesh);
    lay_out(halo, mesh);
    halo->id = memory_array((size_t)halo->n_local, sizeof(*halo->id));
    for (int n = 0; n < halo->n_neighbours; n++) {
        struct halo_neighbour *from = &halo->neighbours[n];
        MPI_Irecv(&halo->id[from->first_ghost], from->n_ghosts, MPI_INT64_T, from->rank,
                  TAG_TOKENS, MPI_COMM_WORLD, &halo->requests[halo->n_neighbours + n]);
        for (int s = 0; s < from->n_sent; s++) {
            from->sent[s] += halo->first_owned;
        }
    }
    MPI_Waitall(n_requests, halo->requests, MPI_STATUSES_IGNORE);
    memcpy(&halo->id[halo->first_owned], mesh->id,
           (size_t)mesh->n_cells * sizeof(*mesh->id));
}

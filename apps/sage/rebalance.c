/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allgather of the shares, from which each rank computes where its root cells go;
 * MPI_Alltoall of how many cells go where; messages with the cells; MPI_Allgather of
 * where the new slabs begin. The order of cells stays, only the cuts move. Every rank
 * runs it after an adaptation.
 */
#include "apps/sage/rebalance.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "apps/sage/memory.h"

#define TAG_CELLS 4
/* A cell in a message: its id and its contents. */
#define CELL_WORDS (1 + N_CONSERVED)

struct shares {
    /* Cells on the ranks before this one, and on all. */
    int64_t n_before, n_all;
    bool is_uneven;
};

struct transfer {
    /* Cells for and from each rank. */
    int *n_to, *n_from;
    int64_t (*sent)[CELL_WORDS];
    int64_t (*received)[CELL_WORDS];
    int n_received;
};

static struct shares find_shares(const struct mesh *mesh, double limit)
{
    int64_t *n_cells = memory_array((size_t)mesh->n_ranks, sizeof(*n_cells));
    int64_t mine = mesh->n_cells;
    struct shares shares = {0};
    int64_t largest = 0;

    MPI_Allgather(&mine, 1, MPI_INT64_T, n_cells, 1, MPI_INT64_T, MPI_COMM_WORLD);
    for (int rank = 0; rank < mesh->n_ranks; rank++) {
        shares.n_before += rank < mesh->rank ? n_cells[rank] : 0;
        shares.n_all += n_cells[rank];
        largest = n_cells[rank] > largest ? n_cells[rank] : largest;
    }
    shares.is_uneven = (double)largest * mesh->n_ranks > limit * (double)shares.n_all;
    free(n_cells);
    return shares;
}

/* Number of cells, from first on, in the root cell of that cell. */
static int cells_in_root(const struct mesh *mesh, int first)
{
    int root = forest_root(&mesh->forest, mesh->id[first]);
    int end = first + 1;

    while (end < mesh->n_cells && forest_root(&mesh->forest, mesh->id[end]) == root) {
        end++;
    }
    return end - first;
}

/* A root cell goes to the rank in whose even share its middle cell is. */
static void count_destinations(const struct mesh *mesh, const struct shares *shares,
                               int *n_to)
{
    int cell = 0;

    while (cell < mesh->n_cells) {
        int n = cells_in_root(mesh, cell);
        int64_t twice_middle = 2 * (shares->n_before + cell) + n;
        n_to[twice_middle * mesh->n_ranks / (2 * shares->n_all)] += n;
        cell += n;
    }
}

static void pack(const struct mesh *mesh, int64_t (*sent)[CELL_WORDS])
{
    for (int cell = 0; cell < mesh->n_cells; cell++) {
        sent[cell][0] = (int64_t)mesh->id[cell];
        memcpy(&sent[cell][1], mesh->state[cell], sizeof(mesh->state[cell]));
    }
}

/* Ranks keep their order, so what comes from a lower rank stands before the rest. */
static void exchange(struct transfer *transfer, const struct mesh *mesh)
{
    MPI_Request *requests = memory_array(2 * (size_t)mesh->n_ranks, sizeof(*requests));
    int n_requests = 0;
    int place = 0;

    for (int rank = 0; rank < mesh->n_ranks; rank++) {
        if (transfer->n_from[rank] > 0) {
            MPI_Irecv(transfer->received[place], transfer->n_from[rank] * CELL_WORDS,
                      MPI_INT64_T, rank, TAG_CELLS, MPI_COMM_WORLD,
                      &requests[n_requests++]);
        }
        place += transfer->n_from[rank];
    }
    place = 0;
    for (int rank = 0; rank < mesh->n_ranks; rank++) {
        if (transfer->n_to[rank] > 0) {
            MPI_Isend(transfer->sent[place], transfer->n_to[rank] * CELL_WORDS,
                      MPI_INT64_T, rank, TAG_CELLS, MPI_COMM_WORLD,
                      &requests[n_requests++]);
        }
        place += transfer->n_to[rank];
    }
    MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void take_cells(struct mesh *mesh, const struct transfer *transfer)
{
    size_t n = (size_t)transfer->n_received;
    uint64_t *id = memory_array(n, sizeof(*id));
    int64_t(*state)[N_CONSERVED] = memory_array(n, sizeof(*state));

    for (size_t cell = 0; cell < n; cell++) {
        id[cell] = (uint64_t)transfer->received[cell][0];
        memcpy(state[cell], &transfer->received[cell][1], sizeof(state[cell]));
    }
    mesh_replace(mesh, transfer->n_received, id, state);
}

/* A rank without cells begins where the next one with cells does. */
static void share_first_roots(struct mesh *mesh)
{
    int mine = mesh->n_cells > 0 ? forest_root(&mesh->forest, mesh->id[0]) : -1;

    MPI_Allgather(&mine, 1, MPI_INT, mesh->first_root, 1, MPI_INT, MPI_COMM_WORLD);
    mesh->first_root[mesh->n_ranks] = mesh->forest.n_roots_all;
    for (int rank = mesh->n_ranks - 1; rank >= 0; rank--) {
        if (mesh->first_root[rank] < 0) {
            mesh->first_root[rank] = mesh->first_root[rank + 1];
        }
    }
}

int rebalance(struct mesh *mesh, double limit)
{
    struct shares shares = find_shares(mesh, limit);
    size_t n_ranks = (size_t)mesh->n_ranks;
    struct transfer transfer = {0};

    if (!shares.is_uneven) {
        return 0;
    }
    transfer.n_to = memory_array(n_ranks, sizeof(int));
    transfer.n_from = memory_array(n_ranks, sizeof(int));
    transfer.sent = memory_array((size_t)mesh->n_cells, sizeof(*transfer.sent));
    count_destinations(mesh, &shares, transfer.n_to);
    MPI_Alltoall(transfer.n_to, 1, MPI_INT, transfer.n_from, 1, MPI_INT,
                 MPI_COMM_WORLD);
    for (size_t rank = 0; rank < n_ranks; rank++) {
        transfer.n_received += transfer.n_from[rank];
    }
    transfer.received =
        memory_array((size_t)transfer.n_received, sizeof(*transfer.received));
    pack(mesh, transfer.sent);
    exchange(&transfer, mesh);
    take_cells(mesh, &transfer);
    share_first_roots(mesh);
    free(transfer.n_to);
    free(transfer.n_from);
    free(transfer.sent);
    free(transfer.received);
    return 1;
}

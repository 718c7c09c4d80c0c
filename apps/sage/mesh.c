/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creation of the mesh and the owner of a root cell. Every rank runs it.
 */
#include "apps/sage/mesh.h"

#include <mpi.h>
#include <stdlib.h>

#include "apps/sage/memory.h"

static void forest_init(struct forest *forest, const struct input *input)
{
    forest->max_level = input->max_level;
    forest->n_roots_all = 1;
    for (int axis = 0; axis < N_AXES; axis++) {
        forest->n_roots[axis] = input->cells[axis];
        forest->n_roots_all *= input->cells[axis];
    }
}

void mesh_init(struct mesh *mesh, const struct input *input)
{
    int first;

    forest_init(&mesh->forest, input);
    MPI_Comm_rank(MPI_COMM_WORLD, &mesh->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mesh->n_ranks);
    mesh->first_root = memory_array((size_t)mesh->n_ranks + 1, sizeof(int));
    for (int rank = 0; rank <= mesh->n_ranks; rank++) {
        mesh->first_root[rank] =
            (int)((int64_t)mesh->forest.n_roots_all * rank / mesh->n_ranks);
    }
    first = mesh->first_root[mesh->rank];
    mesh->n_cells = mesh->first_root[mesh->rank + 1] - first;
    mesh->id = memory_array((size_t)mesh->n_cells, sizeof(*mesh->id));
    mesh->state = memory_array((size_t)mesh->n_cells, sizeof(*mesh->state));
    for (int cell = 0; cell < mesh->n_cells; cell++) {
        mesh->id[cell] = forest_root_id(&mesh->forest, first + cell);
    }
}

void mesh_fini(struct mesh *mesh)
{
    free(mesh->first_root);
    free(mesh->id);
    free(mesh->state);
}

/* The last rank that does not begin behind the root; ranks may own nothing. */
int mesh_owner(const struct mesh *mesh, int root)
{
    int low = 0;
    int high = mesh->n_ranks;

    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (mesh->first_root[middle] <= root) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void mesh_replace(struct mesh *mesh, int n_cells, uint64_t *id,
                  int64_t (*state)[N_CONSERVED])
{
    free(mesh->id);
    free(mesh->state);
    mesh->n_cells = n_cells;
    mesh->id = id;
    mesh->state = state;
}

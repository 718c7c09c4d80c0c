/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is derived from the mesh and its contents, made again when these have changed.
 * Every rank runs it.
 */
#include "apps/sage/simulation.h"

#include <stdlib.h>

#include "apps/sage/memory.h"

static void work_init(struct work *work, const struct halo *halo)
{
    size_t n = (size_t)halo->n_local;

    work->primitive = memory_array(n, sizeof(*work->primitive));
    work->slope = memory_array(n, sizeof(*work->slope));
    work->backward = memory_array(n, sizeof(*work->backward));
    work->forward = memory_array(n, sizeof(*work->forward));
    work->change = memory_array(n, sizeof(*work->change));
    work->earlier_change = memory_array(n, sizeof(*work->earlier_change));
}

static void work_fini(struct work *work)
{
    free(work->primitive);
    free(work->slope);
    free(work->backward);
    free(work->forward);
    free(work->change);
    free(work->earlier_change);
}

static void drop_derived(struct simulation *simulation)
{
    /* An exchange that is under way uses the work space. */
    halo_fini(&simulation->halo);
    faces_fini(&simulation->faces);
    work_fini(&simulation->work);
}

void simulation_rebuild(struct simulation *simulation)
{
    drop_derived(simulation);
    halo_init(&simulation->halo, &simulation->mesh);
    faces_init(&simulation->faces, &simulation->halo, &simulation->mesh.forest);
    work_init(&simulation->work, &simulation->halo);
    simulation_share_primitive(simulation);
}

static void update_cell(struct simulation *simulation, int own)
{
    const struct mesh *mesh = &simulation->mesh;

    units_to_primitive(&simulation->units, forest_level(mesh->id[own]),
                       mesh->state[own],
                       simulation->work.primitive[simulation->halo.first_owned + own]);
}

void simulation_update_primitive(struct simulation *simulation)
{
    for (int own = 0; own < simulation->mesh.n_cells; own++) {
        update_cell(simulation, own);
    }
}

void simulation_share_primitive(struct simulation *simulation)
{
    struct halo *halo = &simulation->halo;

    /* Of a state that nobody has used, if one is under way. */
    halo_gather_end(halo);
    for (int n = 0; n < halo->n_neighbours; n++) {
        for (int s = 0; s < halo->neighbours[n].n_sent; s++) {
            update_cell(simulation, halo->neighbours[n].sent[s] - halo->first_owned);
        }
    }
    halo_gather_begin(halo, simulation->work.primitive, N_PRIMITIVE, MPI_DOUBLE);
    simulation_update_primitive(simulation);
}

void simulation_fini(struct simulation *simulation)
{
    drop_derived(simulation);
    mesh_fini(&simulation->mesh);
}

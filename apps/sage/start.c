/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The initial mesh grows level by level: each round sets the initial state and adapts
 * to it. Every rank runs it.
 */
#include "apps/sage/start.h"

#include <string.h>

#include "apps/sage/adapt.h"
#include "apps/sage/initial.h"
#include "apps/sage/memory.h"

void simulation_start(struct simulation *simulation, const struct input *input)
{
    struct adapt_counts counts = {0};

    memory_init();
    memset(simulation, 0, sizeof(*simulation));
    simulation->input = input;
    units_init(&simulation->units, input);
    mesh_init(&simulation->mesh, input);
    initial_fill(&simulation->mesh, &simulation->units, input);
    simulation_rebuild(simulation);
    for (int round = 0; round < input->max_level; round++) {
        adapt_mesh(simulation, &counts);
        initial_fill(&simulation->mesh, &simulation->units, input);
        simulation_share_primitive(simulation);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of steps. Called by the process that owns the context.
 */
#include "libbcs/api/collective/plan_step.h"

#include <stdlib.h>

enum { SLAB_STEPS = 64 };

/** Steps are allocated in slabs, which live as long as the context. */
struct bcs_step_slab {
    struct bcs_step_slab *next;
    struct bcs_step steps[SLAB_STEPS];
};

bool bcs_steps_add(struct bcs_plans *plans)
{
    struct bcs_step_slab *slab = malloc(sizeof(*slab));

    if (slab == NULL) {
        return false;
    }
    slab->next = plans->slabs;
    plans->slabs = slab;
    for (int i = 0; i < SLAB_STEPS; i++) {
        slab->steps[i].next = plans->free_steps;
        plans->free_steps = &slab->steps[i];
    }
    return true;
}

void bcs_steps_fini(struct bcs_plans *plans)
{
    while (plans->slabs != NULL) {
        struct bcs_step_slab *slab = plans->slabs;

        plans->slabs = slab->next;
        free(slab);
    }
}

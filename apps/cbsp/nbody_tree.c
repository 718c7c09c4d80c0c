/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds, prunes and joins octrees. Nothing here communicates. A cell's mass and centre
 * are sums over its children in the order of their keys, wherever it is built.
 */
#include "apps/cbsp/nbody_tree.h"

#include <math.h>
#include <string.h>

/* Something that cells are built of: bodies, or branches. */
struct build {
    const struct world *world;
    struct nbody_cells *cells;
    const struct nbody_bodies *bodies;
    /* Keys of others next to ours; there may be none. */
    bool has_previous;
    bool has_next;
    uint64_t previous_key;
    uint64_t next_key;
    const struct nbody_cells *branches;
};

static uint64_t n_keys_of(int level)
{
    return UINT64_C(1) << NBODY_AXES * (NBODY_LEVELS - level);
}

void nbody_opening_init(struct nbody_opening *opening, double width, double theta)
{
    for (int level = 0; level <= NBODY_LEVELS + 1; level++) {
        double far = ldexp(width, -level) / theta;
        opening->far2[level] = far * far;
    }
}

/* Returns its place, as the array may move. */
static size_t add_cell(struct build *build, uint64_t key, int level)
{
    struct nbody_cells *cells = build->cells;

    cells->items = nbody_grow(build->world, cells->items, cells->n, &cells->room,
                              sizeof(*cells->items));
    cells->items[cells->n] =
        (struct nbody_cell){.key = key, .body = -1, .level = level, .n_below = 1};
    return cells->n++;
}

void nbody_cells_add(struct nbody_cells *cells, const struct world *world,
                     const struct nbody_cell *items, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        cells->items = nbody_grow(world, cells->items, cells->n, &cells->room,
                                  sizeof(*cells->items));
        cells->items[cells->n++] = items[c];
    }
}

/* Mass and centre of a cell whose children have been added after it. */
static void sum_up(struct build *build, size_t place)
{
    struct nbody_cell *cells = build->cells->items;
    struct nbody_cell *cell = &cells[place];

    cell->n_below = (int32_t)(build->cells->n - place);
    for (size_t c = place + 1; c < build->cells->n; c += (size_t)cells[c].n_below) {
        cell->mass += cells[c].mass;
        for (int a = 0; a < NBODY_AXES; a++) {
            cell->center[a] += cells[c].mass * cells[c].center[a];
        }
    }
    for (int a = 0; a < NBODY_AXES; a++) {
        cell->center[a] /= cell->mass;
    }
}

/* --- branches of one process
 * ------------------------------------------------------------ */

static void add_body(struct build *build, size_t b, int level)
{
    const struct nbody_body *body = &build->bodies->items[b];
    size_t place = add_cell(build, body->key, level);
    struct nbody_cell *cell = &build->cells->items[place];

    cell->body = body->id;
    cell->mass = body->mass;
    memcpy(cell->center, body->position, sizeof(cell->center));
}

/* The first of the bodies from first to end - 1 whose key is not below this one. */
static size_t find_body(const struct nbody_bodies *bodies, size_t first, size_t end,
                        uint64_t key)
{
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (bodies->items[middle].key < key) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

/* The subtree of the bodies first to end - 1, which are all in a cell at key. */
static void add_subtree(struct build *build, size_t first, size_t end, uint64_t key,
                        int level)
{
    size_t place;

    if (end - first == 1) {
        add_body(build, first, level);
        return;
    }
    place = add_cell(build, key, level);
    if (level == NBODY_LEVELS) {
        for (size_t b = first; b < end; b++) {
            add_body(build, b, level + 1);
        }
    } else {
        for (int octant = 0; octant < 8; octant++) {
            uint64_t next_key = key + n_keys_of(level + 1);
            size_t next =
                octant < 7 ? find_body(build->bodies, first, end, next_key) : end;
            if (next > first) {
                add_subtree(build, first, next, key, level + 1);
            }
            first = next;
            key = next_key;
        }
    }
    sum_up(build, place);
}

/* The branches in a cell at key. */
static void add_branches(struct build *build, size_t first, size_t end, uint64_t key,
                         int level)
{
    uint64_t last_key = key + (n_keys_of(level) - 1);
    bool is_shared = (build->has_previous && build->previous_key >= key) ||
                     (build->has_next && build->next_key <= last_key);

    if (!is_shared) {
        add_subtree(build, first, end, key, level);
        return;
    }
    for (int octant = 0; octant < 8; octant++) {
        uint64_t next_key = key + n_keys_of(level + 1);
        size_t next = octant < 7 ? find_body(build->bodies, first, end, next_key) : end;

        if (next > first) {
            add_branches(build, first, next, key, level + 1);
        }
        first = next;
        key = next_key;
    }
}

static bool is_empty(const struct nbody_border *border)
{
    return border->first_key > border->last_key;
}

void nbody_branches(struct nbody_cells *cells, const struct world *world,
                    const struct nbody_bodies *bodies,
                    const struct nbody_border borders[])
{
    struct build build = {.world = world, .cells = cells, .bodies = bodies};

    for (int process = 0; process < world->pid; process++) {
        if (!is_empty(&borders[process])) {
            build.has_previous = true;
            build.previous_key = borders[process].last_key;
        }
    }
    for (int process = world->n_processes - 1; process > world->pid; process--) {
        if (!is_empty(&borders[process])) {
            build.has_next = true;
            build.next_key = borders[process].first_key;
        }
    }
    cells->n = 0;
    if (bodies->n > 0) {
        add_branches(&build, 0, bodies->n, 0, 0);
    }
}

/* --- what another process needs
 * --------------------------------------------------------- */

static double distance2(const struct nbody_box *box, const struct nbody_cell *cell)
{
    double sum = 0;

    for (int a = 0; a < NBODY_AXES; a++) {
        double below = box->low[a] - cell->center[a];
        double above = cell->center[a] - box->high[a];
        double outside = fmax(fmax(below, above), 0.0);

        sum += outside * outside;
    }
    return sum;
}

/* Adds what is needed of the subtree at c. */
static void add_essential(struct nbody_cells *essential, const struct world *world,
                          const struct nbody_cell *cell, const struct nbody_box *box,
                          const struct nbody_opening *opening)
{
    const struct nbody_cell *end = cell + cell->n_below;
    size_t place = essential->n;

    nbody_cells_add(essential, world, cell, 1);
    if (!nbody_is_taken(opening, cell, distance2(box, cell))) {
        for (const struct nbody_cell *child = cell + 1; child < end;
             child += child->n_below) {
            add_essential(essential, world, child, box, opening);
        }
    }
    essential->items[place].n_below = (int32_t)(essential->n - place);
}

void nbody_essential(struct nbody_cells *essential, const struct world *world,
                     const struct nbody_cells *branches, const struct nbody_box *box,
                     const struct nbody_opening *opening)
{
    essential->n = 0;
    for (size_t c = 0; c < branches->n; c += (size_t)branches->items[c].n_below) {
        add_essential(essential, world, &branches->items[c], box, opening);
    }
}

/* --- the tree above
 * ---------------------------------------------------------------------- */

/* Adds the cell at key with the branches from first to end - 1, which are all in it. */
static void add_joined(struct build *build, size_t first, size_t end, uint64_t key,
                       int level)
{
    const struct nbody_cell *branches = build->branches->items;
    size_t place;

    if (branches[first].level == level) {
        nbody_cells_add(build->cells, build->world, &branches[first], end - first);
        return;
    }
    place = add_cell(build, key, level);
    for (int octant = 0; octant < 8; octant++) {
        uint64_t next_key = key + n_keys_of(level + 1);
        size_t next = first;

        while (next < end && branches[next].key < next_key) {
            next += (size_t)branches[next].n_below;
        }
        if (next > first) {
            add_joined(build, first, next, key, level + 1);
        }
        first = next;
        key = next_key;
    }
    sum_up(build, place);
}

void nbody_join(struct nbody_cells *tree, const struct world *world,
                const struct nbody_cells *branches)
{
    struct build build = {.world = world, .cells = tree, .branches = branches};

    tree->n = 0;
    if (branches->n > 0) {
        add_joined(&build, 0, branches->n, 0, 0);
    }
}

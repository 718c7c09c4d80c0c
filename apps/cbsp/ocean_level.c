/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who owns which rows of a level, and who needs them. Every process finds out alone,
 * for itself and for the others, when the program starts.
 */
#include "apps/cbsp/ocean_level.h"

#include <stdlib.h>

struct range {
    size_t first;
    size_t end;
};

/* Rows of a process, depth levels below the finest. */
static struct range rows_of(const struct world *world, int process, size_t n_finest,
                            int depth)
{
    size_t n_rows = n_finest - 1;
    size_t parts = (size_t)world->n_processes;
    size_t part = (size_t)process;
    struct range rows = {.first = 1 + n_rows * part / parts,
                         .end = 1 + n_rows * (part + 1) / parts};

    for (int level = 0; level < depth; level++) {
        rows.first = (rows.first + 1) / 2;
        rows.end = (rows.end + 1) / 2;
    }
    return rows;
}

/* Whether a process relaxes here, or interpolates from here to the level above. */
static bool takes_part(const struct world *world, int process, size_t n_finest,
                       int depth)
{
    struct range rows =
        rows_of(world, process, n_finest, depth > 0 ? depth - 1 : depth);

    return rows.end > rows.first;
}

static bool is_dealt_out(const struct ocean_level *level, size_t row)
{
    return row >= 1 && row < level->n;
}

static void add_link(struct ocean_level *level, int process, size_t row, size_t place)
{
    if (is_dealt_out(level, row) && row >= level->first && row < level->end) {
        level->links[level->n_links++] =
            (struct ocean_link){.process = process, .row = row, .place = place};
    }
}

void ocean_level_init(struct ocean_level *level, struct world *world, size_t n_finest,
                      int depth)
{
    struct range own = rows_of(world, world->pid, n_finest, depth);

    *level = (struct ocean_level){
        .world = world, .n = n_finest >> depth, .first = own.first, .end = own.end};
    level->links =
        world_array(world, 2 * (size_t)world->n_processes, sizeof(*level->links));
    for (int process = 0; process < world->n_processes; process++) {
        struct range rows = rows_of(world, process, n_finest, depth);

        if (process != world->pid && takes_part(world, process, n_finest, depth)) {
            add_link(level, process, rows.first - 1, 0);
            add_link(level, process, rows.end, rows.end - rows.first + 1);
        }
    }
    if (takes_part(world, world->pid, n_finest, depth)) {
        level->n_in = is_dealt_out(level, own.first - 1) + is_dealt_out(level, own.end);
    }
}

void ocean_level_fini(struct ocean_level *level)
{
    free(level->links);
    *level = (struct ocean_level){0};
}

size_t ocean_level_points(const struct ocean_level *level)
{
    return (level->end - level->first + 2) * (level->n + 1);
}

void ocean_field_init(struct ocean_field *field, const struct ocean_level *level)
{
    area_init(&field->area, level->world, ocean_level_points(level) * sizeof(double));
}

void ocean_field_fini(struct ocean_field *field)
{
    area_fini(&field->area);
}

void ocean_exchange(const struct ocean_level *level, struct ocean_field *const fields[],
                    int n_fields)
{
    size_t row_bytes = (level->n + 1) * sizeof(double);

    for (int l = 0; l < level->n_links; l++) {
        const struct ocean_link *link = &level->links[l];
        for (int f = 0; f < n_fields; f++) {
            world_put(link->process, &fields[f]->area, link->place * row_bytes,
                      ocean_row(fields[f], level, link->row), row_bytes);
        }
    }
    world_sync(level->world, (int64_t)n_fields * level->n_in);
}

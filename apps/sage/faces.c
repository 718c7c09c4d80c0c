/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds faces: each known cell looks for the cells beyond its high side, by position. A
 * cell's id is always lower than its high neighbours' ids, so ghosts on the high side
 * of the slab never are low cells of a face of ours. Every rank runs it after each
 * change of the mesh.
 */
#include "apps/sage/faces.h"

#include <stdlib.h>
#include <string.h>

#include "apps/sage/memory.h"

struct finder {
    const struct halo *halo;
    const struct forest *forest;
    struct faces *faces;
    int axis;
};

static int is_owned(const struct halo *halo, int cell)
{
    return cell >= halo->first_owned && cell < halo->first_owned + halo->n_owned;
}

/* The two axes beside one, ascending. */
static int other_axis(int axis, int which)
{
    return which == 0 ? (axis == 0 ? 1 : 0) : (axis == 2 ? 1 : 2);
}

/* On which side of the coarser cell's centre the finer cell lies, on the other axes. */
static void set_quarters(const struct finder *finder, struct face *face)
{
    int coarse = face->level_low < face->level_high ? face->low : face->high;
    int fine = coarse == face->low ? face->high : face->low;
    int coarse_position[N_AXES], fine_position[N_AXES];

    if (face->level_low == face->level_high) {
        return;
    }
    forest_position(finder->forest, finder->halo->id[coarse], coarse_position);
    forest_position(finder->forest, finder->halo->id[fine], fine_position);
    for (int which = 0; which < 2; which++) {
        int axis = other_axis(finder->axis, which);
        face->quarter[which] = fine_position[axis] == coarse_position[axis] ? -1 : 1;
    }
}

static void add_face(const struct finder *finder, int low, int high)
{
    struct faces *faces = finder->faces;
    struct face face = {
        .low = low,
        .high = high,
        .level_low = (int8_t)forest_level(finder->halo->id[low]),
        .level_high = (int8_t)forest_level(finder->halo->id[high]),
    };

    set_quarters(finder, &face);
    faces->list[finder->axis][faces->n[finder->axis]++] = face;
}

/* Of the four fine places beside a cell, take those that one of our cells touches. */
static void add_fine_faces(const struct finder *finder, int low,
                           const int beyond[N_AXES])
{
    int half = forest_edge(finder->forest, forest_level(finder->halo->id[low])) / 2;

    for (int quarter = 0; quarter < 4; quarter++) {
        int position[N_AXES] = {beyond[0], beyond[1], beyond[2]};
        int high;
        position[other_axis(finder->axis, 0)] += (quarter & 1) != 0 ? half : 0;
        position[other_axis(finder->axis, 1)] += (quarter & 2) != 0 ? half : 0;
        high = halo_find(finder->halo, finder->forest, position);
        if (high >= 0 &&
            (is_owned(finder->halo, low) || is_owned(finder->halo, high))) {
            add_face(finder, low, high);
        }
    }
}

static void add_faces_of(const struct finder *finder, int low)
{
    const struct forest *forest = finder->forest;
    int level = forest_level(finder->halo->id[low]);
    int beyond[N_AXES];
    int high;

    forest_position(forest, finder->halo->id[low], beyond);
    beyond[finder->axis] += forest_edge(forest, level);
    if (beyond[finder->axis] >=
        forest->n_roots[finder->axis] * forest_edge(forest, 0)) {
        return;
    }
    high = halo_find(finder->halo, forest, beyond);
    if (high >= 0 && forest_level(finder->halo->id[high]) <= level) {
        if (is_owned(finder->halo, low) || is_owned(finder->halo, high)) {
            add_face(finder, low, high);
        }
    } else if (level < forest->max_level) {
        add_fine_faces(finder, low, beyond);
    }
}

static int find_border(const struct faces *faces, const struct halo *halo, int axis)
{
    int f = faces->first_owned[axis];

    while (f < faces->n[axis] && is_owned(halo, faces->list[axis][f].high)) {
        f++;
    }
    return f;
}

static void add_walls(struct faces *faces, const struct halo *halo,
                      const struct forest *forest)
{
    for (int cell = halo->first_owned; cell < halo->first_owned + halo->n_owned;
         cell++) {
        int level = forest_level(halo->id[cell]);
        int position[N_AXES];
        forest_position(forest, halo->id[cell], position);
        for (int side = 0; side < 2 * N_AXES; side++) {
            int axis = side / 2;
            int end = forest->n_roots[axis] * forest_edge(forest, 0);
            int place = position[axis] + side % 2 * forest_edge(forest, level);
            if (place == (side % 2) * end) {
                faces->walls[faces->n_walls++] = (struct wall){
                    cell, (int8_t)level, (int8_t)axis, (int8_t)(side % 2)};
            }
        }
    }
}

void faces_init(struct faces *faces, const struct halo *halo,
                const struct forest *forest)
{
    int end_owned = halo->first_owned + halo->n_owned;

    memset(faces, 0, sizeof(*faces));
    for (int axis = 0; axis < N_AXES; axis++) {
        struct finder finder = {halo, forest, faces, axis};
        /* A face belongs to its finer cell, which has two on an axis. */
        faces->list[axis] =
            memory_array(2 * (size_t)halo->n_local, sizeof(*faces->list[axis]));
        for (int cell = 0; cell < end_owned; cell++) {
            if (cell == halo->first_owned) {
                faces->first_owned[axis] = faces->n[axis];
            }
            add_faces_of(&finder, cell);
        }
        faces->first_border[axis] = find_border(faces, halo, axis);
    }
    faces->walls =
        memory_array(2 * N_AXES * (size_t)halo->n_owned, sizeof(struct wall));
    add_walls(faces, halo, forest);
}

void faces_fini(struct faces *faces)
{
    for (int axis = 0; axis < N_AXES; axis++) {
        free(faces->list[axis]);
    }
    free(faces->walls);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Level-symmetric quadrature. The cosines of SN take N/2 values (levels), the same on
 * each axis; a direction is a triple of levels whose numbers add up to N/2 + 2. Squares
 * of the levels are in arithmetic progression, so the first fixes all. The first level
 * and the weights below solve the even moment conditions
 *
 *     sum over the octant of weight * cosine^(2n) = 1 / (2n + 1),  n = 0, 1, 2, ...
 *
 * for as many n as there are unknowns. Called while a problem is set up.
 */
#include "apps/sweep3d/quadrature.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#define MAX_CLASSES 3

/* Directions that are permutations of each other form a class and share a weight. */
struct level_set {
    int n_angles;
    int n_levels;
    double first_cosine;
    double class_weight[MAX_CLASSES];
};

static const struct level_set level_sets[] = {
    {1, 1, 0.57735026918962576451, {1.0}},
    {3, 2, 0.35002117458154067778, {1.0 / 3.0}},
    {6, 3, 0.26663540151670472033, {0.17612613086338343378, 0.15720720246994989955}},
    {10,
     4,
     0.21821789023599238127,
     {0.12098765432098765432, 0.090740740740740740741, 0.092592592592592592593}},
};

static const struct level_set *find_set(int n_angles)
{
    for (size_t s = 0; s < sizeof(level_sets) / sizeof(level_sets[0]); s++) {
        if (level_sets[s].n_angles == n_angles) {
            return &level_sets[s];
        }
    }
    return NULL;
}

bool quadrature_is_known(int n_angles)
{
    return find_set(n_angles) != NULL;
}

int quadrature_order(int n_angles)
{
    const struct level_set *set = find_set(n_angles);

    return set != NULL ? 2 * set->n_levels : 0;
}

static double level_cosine(const struct level_set *set, int level)
{
    double first = set->first_cosine * set->first_cosine;

    if (level == 0) {
        return set->first_cosine;
    }
    return sqrt(first + level * (1 - 3 * first) / (set->n_levels - 1));
}

static int largest(int a, int b, int c)
{
    int of_two = a > b ? a : b;

    return of_two > c ? of_two : c;
}

void quadrature_init(struct quadrature *quadrature, int n_angles)
{
    const struct level_set *set = find_set(n_angles);
    int angle = 0;

    assert(set != NULL);
    quadrature->n_angles = n_angles;
    for (int a = 0; a < set->n_levels; a++) {
        for (int b = 0; a + b < set->n_levels; b++) {
            int c = set->n_levels - 1 - a - b;
            int class = set->n_levels - 1 - largest(a, b, c);
            quadrature->cosine[0][angle] = level_cosine(set, a);
            quadrature->cosine[1][angle] = level_cosine(set, b);
            quadrature->cosine[2][angle] = level_cosine(set, c);
            quadrature->weight[angle] = set->class_weight[class] / 8;
            angle++;
        }
    }
    assert(angle == n_angles);
}

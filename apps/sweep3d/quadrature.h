/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directions and weights of the discrete-ordinates method: the level-symmetric sets S2,
 * S4, S6 and S8 (1, 3, 6 and 10 directions an octant). Pure.
 */
#ifndef SWEEP3D_QUADRATURE_H
#define SWEEP3D_QUADRATURE_H

#include <stdbool.h>

#define QUADRATURE_MAX_ANGLES 10

/* The directions of the octant in which all three cosines are positive. */
struct quadrature {
    int n_angles;
    /* Cosines to the i, j and k axis; their squares add up to 1 for each direction. */
    double cosine[3][QUADRATURE_MAX_ANGLES];
    /* The weights of all eight octants together add up to 1. */
    double weight[QUADRATURE_MAX_ANGLES];
};

/** True if there is a set with so many directions an octant. */
bool quadrature_is_known(int n_angles);

/** The N of SN for a set with so many directions an octant; 0 if there is none. */
int quadrature_order(int n_angles);

/** Fill in the set with n_angles directions an octant, which must be known. */
void quadrature_init(struct quadrature *quadrature, int n_angles);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input file of sweep3d: what it holds and how it is read. Rank 0 reads it in
 * main.c and broadcasts the result; all other files only look at struct input.
 */
#ifndef SWEEP3D_INPUT_H
#define SWEEP3D_INPUT_H

#include <stdbool.h>

/* Lines of values in a complete file; comments and empty lines are not counted. */
#define INPUT_N_LINES 7

/* What is allowed where the range of one value does not say it all; see
 * input_check.c. */
#define INPUT_ALLOWED_EPSI                                                             \
    "1e-14 to 1 (relative change), or -1 to -1000000 (whole, that many iterations)"
#define INPUT_ALLOWED_SIGS1 "-SIGS/3 to SIGS/3 (else the source could be negative)"

/* The names are those of the file; README.md explains each. Cells count from 1. */
struct input {
    int npe_i, npe_j, mk, mmi;
    int it, jt, kt, mm, isct;
    double dx, dy, dz, epsi;
    int itmx;
    int ibc, jbc, kbc;
    int iprint, idsa, ifixups;
    double sigt, sigs, sigs1;
    double src;
    int i1, i2, j1, j2, k1, k2;
    /* Where line n of values stands in the file (0: absent); index 0 is not used. */
    int line_at[INPUT_N_LINES + 1];
};

/**
 * Read an input file and check each value. One process (rank 0) calls it, and then
 * input_check, which checks that the values fit together.
 *
 * @param message  gets one line without newline that names file, line and what is
 *                 allowed, if the result is not 0; MESSAGE_BYTES long
 * @return 0 with *input_out complete, or -errno (-EINVAL: the contents are wrong)
 */
int input_read(const char *path, struct input *input_out, char *message);

/** True if the file asks for a fixed number of iterations (EPSI < 0). */
bool input_is_fixed_count(const struct input *input);

/** The largest number of iterations: -EPSI if that is fixed, else ITMX. */
int input_max_iterations(const struct input *input);

#endif

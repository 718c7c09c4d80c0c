/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input deck of sage: what it holds and how it is read. Rank 0 reads it in main.c
 * and broadcasts the result; all other files only look at struct input.
 */
#ifndef SAGE_INPUT_H
#define SAGE_INPUT_H

enum problem { PROBLEM_BLAST, PROBLEM_SHOCK_TUBE };

/* Whether a reduction carries all the numbers that are known, or one as SAGE's do. */
enum reductions { REDUCTIONS_COMBINED, REDUCTIONS_SINGLE };

/* The names are those of the deck; README.md explains each. */
struct input {
    int problem;
    int cells[3];
    double cell_width;
    int max_level;
    double gamma;
    double inner_density, inner_pressure;
    double outer_density, outer_pressure;
    double interface;
    double center[3];
    double cfl;
    int cycles;
    double end_time;
    double conductivity;
    double cg_tolerance;
    int cg_iterations;
    int adapt_every, buffer;
    double refine_above, coarsen_below;
    double imbalance;
    int reductions;
    int print_every;
};

/**
 * Read an input deck and check each value. One process (rank 0) calls it, and then
 * input_check, which checks that the values fit together.
 *
 * @param path      the deck
 * @param settings  n_settings texts KEY=VALUE that count instead of the deck's
 * @param message   gets one line without newline that names the place, the key and what
 *                  is allowed, if the result is not 0; MESSAGE_BYTES long
 * @return 0 with *input_out complete, or -errno (-EINVAL: the contents are wrong)
 */
int input_read(const char *path, const char *const *settings, int n_settings,
               struct input *input_out, char *message);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame of the cBSP applications: what each of them does besides its computation.
 * It attaches the process, reads the command line, calls the application, reports what
 * has come out, and leaves with the same exit status on every process.
 */
#ifndef CBSP_FRAME_H
#define CBSP_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "apps/cbsp/world.h"
#include "apps/common/check.h"

/* A whole number that an option of the command line sets. */
struct frame_option {
    const char *name;
    long *value;
    long least;
    long most;
    const char *help;
};

#define FRAME_MAX_CHECKS 4

/* What an application gives back. Only process 0 needs to fill it. */
struct frame_result {
    struct check checks[FRAME_MAX_CHECKS];
    int n_checks;
    /* Of the bits of the solution; depends neither on processes nor synchronisation. */
    uint64_t checksum;
    /* Other numbers worth a line, or NULL. */
    const char *number_name;
    double number;
};

/* One application. */
struct frame_program {
    const char *name;
    const char *summary;
    const struct frame_option *options;
    int n_options;
    /* One line about the problem, for the report. */
    const char *problem;
    /* What the options have been set to, for the two functions below. */
    void *input;
    /* NULL, or says in a MESSAGE_BYTES long message why the options cannot be used. */
    int (*check_input)(const void *input, char *message);
    /* Compute and verify, between world_start and world_stop what is timed. */
    void (*run)(struct world *world, const void *input, struct frame_result *result);
};

/**
 * Run an application; its main() returns what this returns.
 *
 * @return 0 all checks passed, 1 one failed, 2 wrong command line
 */
int frame_main(int argc, char **argv, const struct frame_program *program);

/** Add the bits of n numbers to a checksum, which starts as 0. */
uint64_t frame_checksum(uint64_t checksum, const double *numbers, size_t n);

/** A number from 0 up to 1 that depends on seed and index alone. */
double frame_random(uint64_t seed, uint64_t index);

#endif

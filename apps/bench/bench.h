/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmark programs of this folder share: options, buffers, checked data,
 * timed batches and the line format. A program is one `struct bench_spec` and the
 * functions that it names; bench_main() does the rest. Every rank runs the same code.
 */
#ifndef APPS_BENCH_BENCH_H
#define APPS_BENCH_BENCH_H

#include <mpi.h>
#include <stddef.h>

#include "apps/bench/clock.h"
#include "apps/bench/line_trip.h"

/* Groups of options that a program may take besides the common ones. */
#define BENCH_OPTION_COMMON 0u
#define BENCH_OPTION_LENGTHS 1u
#define BENCH_OPTION_WINDOW 2u
#define BENCH_OPTION_COMPUTE 4u

struct bench;

/** The timed part: carry out n_iterations exchanges of n_bytes. */
typedef void (*bench_body_fn)(struct bench *bench, size_t n_bytes, long n_iterations);

struct bench_spec {
    const char *name;    /* first word of every output line and error */
    const char *summary; /* one sentence for --help */
    unsigned options;    /* BENCH_OPTION_... */
    int n_ranks_timed;   /* this many ranks communicate, the rest wait in a barrier */
    long unit_bytes;     /* lengths are multiples of this */
    long n_bytes_min;    /* default of --min */
    long n_bytes_max;    /* default of --max */
    double compute_ms;   /* default of --compute */

    /* Slots of n_bytes in each of the two buffers. */
    long (*n_slots)(const struct bench *bench, size_t n_bytes);
    /* Once, before the first length; may be NULL. */
    void (*setup)(struct bench *bench);
    /* Carry out each exchange once on patterned data; number of errors on this rank. */
    long (*verify)(struct bench *bench, size_t n_bytes);
    /* Measure one length and print its lines. */
    void (*report)(struct bench *bench, size_t n_bytes);
};

struct bench {
    const struct bench_spec *spec;
    int rank;
    int n_ranks;

    long n_bytes_min;
    long n_bytes_max;
    long n_bytes_factor; /* from one length to the next */
    long n_iterations;   /* in a batch; 0: as many as take batch_ms */
    long n_batches;
    double batch_ms;
    long n_window;
    double compute_ms;
    long n_computing;

    /* n_slots() slots of the current length each; as many requests, at least 2. */
    unsigned char *send;
    unsigned char *receive;
    MPI_Request *requests;

    struct line_trip trip; /* between the batches */

    long n_compute_steps; /* work that takes compute_ms, see compute.h; 0: none */
    double compute_value; /* its result, so that it is not left out */
};

/** spec->n_ranks_timed of a program in which all ranks communicate. */
#define BENCH_ALL_RANKS 0

/** Whether this rank takes part in the timed communication. */
int bench_is_timed(const struct bench *bench);

/** The other rank of this rank's pair of neighbours; the last one of an odd number has
 * MPI_PROC_NULL. */
int bench_partner(const struct bench *bench);

/** The n_slots function of programs with one message in each buffer. */
long bench_one_slot(const struct bench *bench, size_t n_bytes);

/** Fill n_bytes with a pattern that depends on key and has no zero byte. */
void bench_fill(unsigned char *data, size_t n_bytes, long key);

/**
 * Compare n_bytes with the pattern of key; the first wrong byte is described on
 * standard error.
 *
 * @return 0 equal, 1 not
 */
long bench_check(const struct bench *bench, const unsigned char *data, size_t n_bytes,
                 long key);

/**
 * Time a body in batches, after a warm-up. Collective.
 *
 * @return the median over the batches of the time of one iteration; the time of a batch
 *         is that of its slowest timed rank. Equal on all ranks.
 */
double bench_seconds(struct bench *bench, bench_body_fn body, size_t n_bytes);

/**
 * Time two bodies in turn, batch by batch. Collective.
 *
 * @return the median over the batches of what an iteration of body takes longer than
 *         one of base in the batch before
 */
double bench_extra_seconds(struct bench *bench, bench_body_fn base, bench_body_fn body,
                           size_t n_bytes);

/** Print `name n_bytes value unit` on rank 0. */
void bench_print(const struct bench *bench, const char *name, size_t n_bytes,
                 double value, const char *unit);

/**
 * The whole program: MPI_Init, options, verify and report each length, MPI_Finalize.
 *
 * @return the exit status: 0 done, 1 wrong data, 2 wrong options or too few ranks
 */
int bench_main(int argc, char **argv, const struct bench_spec *spec);

#endif

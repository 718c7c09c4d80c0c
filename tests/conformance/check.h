/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the C conformance programs share: checks that name the line and the rank and end
 * the job, known data to send, checksums, and printing by rank 0 only. A program's
 * output depends on nothing but the number of ranks, so that a run under BCS can be
 * compared literally with a native one.
 */
#ifndef TESTS_CONFORMANCE_CHECK_H
#define TESTS_CONFORMANCE_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/pattern.h"

/** This process's place among all, and its neighbours on the ring of all ranks. */
struct world {
    int rank;
    int size;
    int left;
    int right;
};

/** Message lengths in bytes around the places where an implementation may change its
 * way. */
static const int check_lengths[] = {
    0,     1,     7,     8,     9,     63,    64,    65,    79,     80,      81,
    127,   1000,  2047,  4000,  4095,  4096,  4097,  8191,  8192,   8193,    16383,
    16384, 16385, 32768, 32769, 65535, 65536, 65537, 99999, 262144, 1048576, 4194307,
};

#define CHECK_N_LENGTHS ((int)(sizeof(check_lengths) / sizeof(check_lengths[0])))
#define CHECK_MAX_LENGTH 4194307
#define CHECK_N(array) ((int)(sizeof(array) / sizeof((array)[0])))

/** Say on standard error what is not as it must be, and end the job with status 99. */
static inline void check_failed(const char *file, int line, const char *text)
{
    int rank = -1;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: rank %d: not true: %s\n", file, line, rank, text);
    MPI_Abort(MPI_COMM_WORLD, 99);
}

/** End the job with both values on standard error unless they are equal. */
static inline void check_equal(long long left, long long right, const char *text,
                               const char *file, int line)
{
    char message[256];

    if (left != right) {
        snprintf(message, sizeof(message), "%s (%lld and %lld)", text, left, right);
        check_failed(file, line, message);
    }
}

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            check_failed(__FILE__, __LINE__, #condition);                              \
        }                                                                              \
    } while (0)

#define CHECK_EQUAL(left, right)                                                       \
    check_equal((long long)(left), (long long)(right), #left " == " #right, __FILE__,  \
                __LINE__)

/** The ring around MPI_COMM_WORLD; MPI must be running. */
static inline struct world check_world(void)
{
    struct world world;

    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    world.left = (world.rank + world.size - 1) % world.size;
    world.right = (world.rank + 1) % world.size;
    return world;
}

/** MPI_Init, then the ring. */
static inline struct world check_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    return check_world();
}

/** Print on rank 0 of MPI_COMM_WORLD; nothing on the others. */
__attribute__((format(printf, 1, 2))) static inline void check_say(const char *format,
                                                                   ...)
{
    va_list arguments;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
        return;
    }
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}

/** Last line of every program. @return the exit status */
static inline int check_end(void)
{
    check_say("passed\n");
    MPI_Finalize();
    return 0;
}

/** A well-mixed number that depends on both arguments. */
static inline uint64_t check_mix(uint64_t seed, uint64_t index)
{
    uint64_t x = seed * UINT64_C(0x9E3779B97F4A7C15) + index + 1;

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/** Fill n bytes with data that only this seed gives. */
static inline void check_fill(void *data, size_t n, uint64_t seed)
{
    pattern_fill(data, n, check_mix(seed, 0));
}

/** @return 1 if the n bytes are those of check_fill with this seed, else 0 */
static inline int check_is_filled(const void *data, size_t n, uint64_t seed)
{
    return pattern_is_filled(data, n, check_mix(seed, 0));
}

/** @return 1 if all n bytes have this value, else 0 */
static inline int check_is_all(const void *data, size_t n, unsigned char value)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != value) {
            return 0;
        }
    }
    return 1;
}

/** A checksum of n bytes that depends on their order. */
static inline uint64_t check_sum(const void *data, size_t n)
{
    const unsigned char *bytes = data;
    uint64_t sum = UINT64_C(0xCBF29CE484222325);

    for (size_t i = 0; i < n; i++) {
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001B3);
    }
    return sum;
}

/** Print on rank 0 one checksum over all ranks' checksums, in rank order. Collective;
 * no message of the caller on MPI_COMM_WORLD may be pending with a wildcard. */
static inline void check_say_sum(const char *name, uint64_t mine)
{
    struct world world = check_world();
    uint64_t sum = mine;
    uint64_t other;

    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank != 0) {
        MPI_Send(&mine, 1, MPI_UINT64_T, 0, 32000, MPI_COMM_WORLD);
    }
    for (int rank = 1; world.rank == 0 && rank < world.size; rank++) {
        MPI_Recv(&other, 1, MPI_UINT64_T, rank, 32000, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        sum = check_mix(sum, other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("%s %016llx\n", name, (unsigned long long)sum);
}

/** calloc that ends the job when there is no memory; 0 bytes give a valid pointer. */
static inline void *check_alloc(size_t n)
{
    void *memory = calloc(1, n + 16);

    CHECK(memory != NULL);
    return memory;
}

#endif

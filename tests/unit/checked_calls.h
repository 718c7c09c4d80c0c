/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls for tests of their check: a communicator of one group or of two
 * sides, buffers, and macros that describe a call.
 */
#ifndef BCS_UNIT_CHECKED_CALLS_H
#define BCS_UNIT_CHECKED_CALLS_H

#include <check.h>

#include "libbcs/api/collective/neighbors.h"
#include "mpi_shim/collective/collective.h"
#include "mpi_shim/collective/collective_check.h"
#include "mpi_shim/real/handles.h"
#include "tests/unit/fake_library.h"

enum { N = 3, RANK = 1 };

/* The library's operation for sums, which is looked up by this name. */
extern char fake_sum[];
char fake_sum[8] __asm__("ompi_mpi_op_sum");

static struct fake_type word_type, byte_type;
static MPI_Datatype word, byte;
static struct bcs_neighbors neighbors;
static struct shim_comm comm;
static char buffer[64], other[64];
static const int counts[N] = {1, 2, 3}, displs[N] = {0, 1, 3};
static const int none[N] = {0, 0, 0}, negative[N] = {1, 1, -1};
static size_t n_refused_sent, n_refused_expected;

/** Note what a rank is told to have sent and expected of itself. */
void refuse(struct bcs_context *context, const struct bcs_group *group, int32_t rank,
            size_t n_sent, size_t n_expected) PLAYS(bcs_wrong_own_length);

void refuse(struct bcs_context *context, const struct bcs_group *group, int32_t rank,
            size_t n_sent, size_t n_expected)
{
    (void)context;
    ck_assert_ptr_eq(group, comm.whole);
    ck_assert_int_eq(rank, RANK);
    n_refused_sent = n_sent;
    n_refused_expected = n_expected;
}

static inline void set_up(void)
{
    word_type = (struct fake_type){.size = 2, .extent = 2, .places = {0, 1}};
    byte_type = (struct fake_type){.size = 1, .extent = 1, .places = {0}};
    fake_library_set();
    ck_assert_int_eq(shim_datatype_setup(), 0);
    ck_assert_int_eq(shim_op_setup(), 0);
    word = fake_type_handle(&word_type);
    byte = fake_type_handle(&byte_type);
    neighbors = (struct bcs_neighbors){.n_sources = 1, .n_targets = N};
    comm =
        (struct shim_comm){.group = {.rank = RANK, .size = N}, .neighbors = &neighbors};
    comm.whole = &comm.group;
    n_refused_sent = n_refused_expected = 0;
}

static inline void tear_down(void)
{
    shim_op_teardown();
    shim_datatype_teardown();
}

/* Two sides: this one has two members, the other one N. */
static inline void make_inter(void)
{
    comm.whole = &comm.sides.both;
    comm.sides.mine.size = 2;
}

/* What is found wrong with a call. */
static inline int class_of(struct shim_collective call)
{
    int class = shim_collective_check(&comm, &call);

    shim_collective_forget(&call);
    return class;
}

/* Calls by their members, and buffers for these. */
#define CLASS_OF(...) class_of((struct shim_collective){__VA_ARGS__})
#define WORDS(n)                                                                       \
    {                                                                                  \
        .buf = buffer, .count = (n), .datatype = word                                  \
    }
#define OTHERS(n)                                                                      \
    {                                                                                  \
        .buf = other, .count = (n), .datatype = word                                   \
    }
#define OF(its_buf, n, type)                                                           \
    {                                                                                  \
        .buf = (its_buf), .count = (n), .datatype = (type)                             \
    }
#define HERE                                                                           \
    {                                                                                  \
        .buf = MPI_IN_PLACE                                                            \
    }
#define VECTOR(its_buf, its_counts, its_displs)                                        \
    {                                                                                  \
        .is_vector = true, .buf = (its_buf), .counts = (its_counts),                   \
        .displs = (its_displs), .datatype = word                                       \
    }
#define NOTHING                                                                        \
    {                                                                                  \
        .count = -1                                                                    \
    }

/* What this rank has. */
#define MY_WORDS WORDS(1)
#define MY_HERE HERE

#endif

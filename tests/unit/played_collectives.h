/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The API's collectives, played for tests of the shim's: each notes what it gets. With
 * a communicator of one group or of two sides, buffers, and macros that describe a
 * call.
 */
#ifndef BCS_UNIT_PLAYED_COLLECTIVES_H
#define BCS_UNIT_PLAYED_COLLECTIVES_H

#include <check.h>
#include <string.h>

#include "libbcs/api/collective/collective_across.h"
#include "libbcs/api/collective/neighbors.h"
#include "libbcs/api/context/api_calls.h"
#include "mpi_shim/collective/collective.h"
#include "mpi_shim/collective/collective_check.h"
#include "mpi_shim/collective/exchange_forms.h"
#include "mpi_shim/real/handles.h"
#include "tests/unit/fake_library.h"

enum { N = 3, RANK = 1, N_MINE = 2 };

/* A number and an operation of the library, which are looked up by these names. */
extern struct fake_type fake_int;
struct fake_type fake_int __asm__("ompi_mpi_int") = {
    .size = 4, .extent = 4, .places = {0, 1, 2, 3}};
extern char fake_sum[];
char fake_sum[8] __asm__("ompi_mpi_op_sum");

/* What the API has got. */
static struct seen {
    const char *name;
    const void *group; /* or sides */
    const void *data;
    size_t n_bytes;
    int32_t root;
    struct bcs_part mine;
    struct bcs_blocks send, receive;
    struct bcs_reduction reduction;
    size_t counts[N];
    bool has_mine, has_counts, is_exclusive;
} seen;

static struct fake_type gapped_type, byte_type;
static MPI_Datatype gapped, byte, number;
static struct fake_op add;
static struct shim_comm comm;
static struct shim_exchange x;
static const int32_t ranks[] = {0, BCS_NO_NEIGHBOR};
static struct bcs_neighbors neighbors;
static char spaced[32], other[32];
static int api_rc;

/* A function of the API that notes what it gets. */
#define PLAY(function, parameters, ...)                                                \
    int play_##function parameters PLAYS(bcs_##function);                              \
    int play_##function parameters                                                     \
    {                                                                                  \
        (void)context;                                                                 \
        ck_assert_ptr_null(request);                                                   \
        seen = (struct seen){.name = #function, __VA_ARGS__};                          \
        return api_rc;                                                                 \
    }

#define GROUP struct bcs_context *context, struct bcs_group *group
#define SIDES struct bcs_context *context, struct bcs_sides *group
#define PART const struct bcs_part *mine, const struct bcs_blocks *blocks
#define REQUEST struct bcs_request *request
#define MINE                                                                           \
    .mine = mine == NULL ? (struct bcs_part){0} : *mine, .has_mine = mine != NULL

PLAY(api_barrier, (GROUP, REQUEST), .group = group)
PLAY(api_bcast, (GROUP, void *data, size_t n_bytes, int32_t root, REQUEST),
     .group = group, .data = data, .n_bytes = n_bytes, .root = root)
PLAY(across_bcast, (SIDES, void *data, size_t n_bytes, int32_t root, REQUEST),
     .group = group, .data = data, .n_bytes = n_bytes, .root = root)
PLAY(api_gather, (GROUP, PART, int32_t root, REQUEST), .group = group, MINE,
     .receive = *blocks, .root = root)
PLAY(across_gather, (SIDES, PART, int32_t root, REQUEST), .group = group, MINE,
     .receive = *blocks, .root = root)
PLAY(api_scatter, (GROUP, PART, int32_t root, REQUEST), .group = group, MINE,
     .send = *blocks, .root = root)
PLAY(across_scatter, (SIDES, PART, int32_t root, REQUEST), .group = group, MINE,
     .send = *blocks, .root = root)
PLAY(api_allgather, (GROUP, const void *mine, const struct bcs_blocks *blocks, REQUEST),
     .group = group, .data = mine, .receive = *blocks)
PLAY(across_allgather, (SIDES, PART, REQUEST), .group = group, MINE, .receive = *blocks)
PLAY(api_alltoall,
     (GROUP, const struct bcs_blocks *send, const struct bcs_blocks *receive, REQUEST),
     .group = group, .send = *send, .receive = *receive)
PLAY(across_alltoall,
     (SIDES, const struct bcs_blocks *send, const struct bcs_blocks *receive, REQUEST),
     .group = group, .send = *send, .receive = *receive)
PLAY(neighbor_exchange,
     (GROUP, const struct bcs_neighbors *of, const struct bcs_blocks *send,
      const struct bcs_blocks *receive, REQUEST),
     .group = group, .data = of, .send = *send, .receive = *receive)
PLAY(api_reduce, (GROUP, const struct bcs_reduction *reduction, int32_t root, REQUEST),
     .group = group, .reduction = *reduction, .root = root)
PLAY(across_reduce,
     (SIDES, const struct bcs_reduction *reduction, int32_t root, REQUEST),
     .group = group, .reduction = *reduction, .root = root)
PLAY(api_scan,
     (GROUP, const struct bcs_reduction *reduction, bool is_exclusive, REQUEST),
     .group = group, .reduction = *reduction, .is_exclusive = is_exclusive)
PLAY(api_reduce_scatter,
     (GROUP, const struct bcs_reduction *reduction, const size_t counts[], REQUEST),
     .group = group, .reduction = *reduction, .has_counts = counts != NULL,
     .counts = {counts == NULL ? 0 : counts[0], counts == NULL ? 0 : counts[1],
                counts == NULL ? 0 : counts[2]})
PLAY(across_reduce_scatter,
     (SIDES, const struct bcs_reduction *reduction, const size_t counts[], REQUEST),
     .group = group, .reduction = *reduction, .has_counts = counts != NULL)

static inline void set_up(void)
{
    gapped_type = (struct fake_type){.size = 2, .extent = 4, .places = {0, 2}};
    byte_type = (struct fake_type){.size = 1, .extent = 1, .places = {0}};
    add = (struct fake_op){.rc = MPI_SUCCESS};
    fake_library_set();
    ck_assert_int_eq(shim_datatype_setup(), 0);
    ck_assert_int_eq(shim_op_setup(), 0);
    gapped = fake_type_handle(&gapped_type);
    byte = fake_type_handle(&byte_type);
    number = fake_type_handle(&fake_int);
    neighbors = (struct bcs_neighbors){
        .sources = ranks, .targets = ranks, .n_sources = 1, .n_targets = 2};
    comm =
        (struct shim_comm){.group = {.rank = RANK, .size = N}, .neighbors = &neighbors};
    comm.whole = &comm.group;
    strcpy(spaced, "a.b.c.d.e.f.");
    strcpy(other, "u-v-w-x-y-z-");
    seen = (struct seen){0};
    api_rc = 0;
}

static inline void tear_down(void)
{
    shim_op_teardown();
    shim_datatype_teardown();
}

static inline void make_inter(void)
{
    comm.whole = &comm.sides.both;
    comm.sides.mine.size = N_MINE;
}

/* Start a call that is right, with what the check finds. @return what comes of the
 * start */
static inline int start(struct shim_collective call)
{
    x.call = call;
    shim_exchange_init(&x);
    ck_assert_int_eq(shim_collective_check(&comm, &x.call), MPI_SUCCESS);
    return shim_exchange_start(&x, &comm, NULL);
}

#define START(...) ck_assert_int_eq(start((struct shim_collective){__VA_ARGS__}), 0)
#define GAPPED(its_buf, n)                                                             \
    {                                                                                  \
        .buf = (its_buf), .count = (n), .datatype = gapped                             \
    }
#define BYTES(its_buf, n)                                                              \
    {                                                                                  \
        .buf = (its_buf), .count = (n), .datatype = byte                               \
    }
#define NUMBERS(its_buf, n)                                                            \
    {                                                                                  \
        .buf = (its_buf), .count = (n), .datatype = number                             \
    }
#define HERE                                                                           \
    {                                                                                  \
        .buf = MPI_IN_PLACE                                                            \
    }

static inline void end(void)
{
    ck_assert_int_eq(shim_exchange_close(&x, 0), 0);
    ck_assert(!shim_exchange_is_open(&x));
    shim_collective_forget(&x.call);
}

/* The API's function that was called, on the group or on both sides. */
static inline void is_called(const char *name)
{
    ck_assert_str_eq(seen.name, name);
    ck_assert_ptr_eq(seen.group, shim_comm_is_inter(&comm) ? (void *)&comm.sides
                                                           : (void *)&comm.group);
}

#define SUM .op_handle = (MPI_Op)(void *)fake_sum
#define USER .op_handle = fake_op_handle(&add)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicators of a played MPI library: their groups, names and broadcasts, by
 * which the shim agrees on numbers. Their handles are their addresses.
 */
#ifndef BCS_UNIT_FAKE_COMMS_H
#define BCS_UNIT_FAKE_COMMS_H

#include <check.h>
#include <string.h>

#include "libbcs/api/context/context.h"
#include "mpi_shim/comm/comm.h"
#include "mpi_shim/comm/comm_agree.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/handles.h"
#include "tests/unit/fake_library.h"

enum { MOST = 8, JOB = 8, N_SLOTS = 3, MY_PORT = 5 };

/* A group of the library, whose handle is its address. */
struct fake_group {
    int n;
    int ranks[MOST]; /* in the job; MPI_UNDEFINED: of another job */
};

/* A communicator of the library, whose handle is its address. */
struct fake_comm {
    int rank;
    bool is_inter;
    bool is_invalid;
    struct fake_group mine, others;
    const char *name;
};

static struct bcs_context context;
static struct fake_comm world, self;
static int n_groups;                      /* that have not been freed */
static MPI_Comm told_on[2];               /* where an agreement was told, */
static int told_root[2], n_told;          /* and by whom */
static struct shim_agreement told;        /* by somebody else */
static const struct bcs_group *opened[4]; /* slots that were opened, */
static uint64_t opened_base[4];           /* and with what */
static int n_opened;

static inline MPI_Comm handle_of(struct fake_comm *comm)
{
    return (MPI_Comm)(void *)comm;
}

static inline struct fake_comm *comm_of(MPI_Comm handle)
{
    return (struct fake_comm *)(void *)handle;
}

static inline int test_inter(MPI_Comm handle, int *is_inter)
{
    *is_inter = comm_of(handle)->is_inter;
    return comm_of(handle)->is_invalid ? MPI_ERR_COMM : MPI_SUCCESS;
}

static inline int comm_size(MPI_Comm handle, int *size)
{
    *size = comm_of(handle)->mine.n;
    return MPI_SUCCESS;
}

static inline int remote_size(MPI_Comm handle, int *size)
{
    *size = comm_of(handle)->others.n;
    return MPI_SUCCESS;
}

static inline int comm_rank(MPI_Comm handle, int *rank)
{
    *rank = comm_of(handle)->rank;
    return MPI_SUCCESS;
}

static inline int comm_group(MPI_Comm handle, MPI_Group *group)
{
    n_groups++;
    *group = (MPI_Group)(void *)&comm_of(handle)->mine;
    return MPI_SUCCESS;
}

static inline int remote_group(MPI_Comm handle, MPI_Group *group)
{
    n_groups++;
    *group = (MPI_Group)(void *)&comm_of(handle)->others;
    return MPI_SUCCESS;
}

static inline int group_free(MPI_Group *group)
{
    n_groups--;
    *group = NULL;
    return MPI_SUCCESS;
}

static inline int translate(MPI_Group from, int n, const int *ranks, MPI_Group to,
                            int *out)
{
    const struct fake_group *group = (struct fake_group *)(void *)from;

    ck_assert_ptr_eq((void *)to, &world.mine);
    for (int i = 0; i < n; i++) {
        out[i] = group->ranks[ranks[i]];
    }
    return MPI_SUCCESS;
}

static inline int get_name(MPI_Comm handle, char *name, int *length)
{
    const char *its = comm_of(handle)->name;

    strcpy(name, its != NULL ? its : "");
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

static inline int bcast(void *data, int count, MPI_Datatype type, int root,
                        MPI_Comm handle)
{
    (void)type;
    ck_assert_int_eq(count, sizeof(told));
    told_on[n_told] = handle;
    told_root[n_told++] = root;
    if (root != MPI_ROOT && root != MPI_PROC_NULL &&
        (comm_of(handle)->is_inter || root != comm_of(handle)->rank)) {
        memcpy(data, &told, sizeof(told));
    }
    return MPI_SUCCESS;
}

/** Note a slot that is opened. */
int open_group(struct bcs_context *of, struct bcs_group *group, uint64_t base)
    PLAYS(bcs_group_open);
int open_group(struct bcs_context *of, struct bcs_group *group, uint64_t base)
{
    (void)of;
    opened[n_opened] = group;
    opened_base[n_opened++] = base;
    return 0;
}

static inline void set_up(void)
{
    fake_library_set();
    shim_real.Comm_test_inter = test_inter;
    shim_real.Comm_size = comm_size;
    shim_real.Comm_remote_size = remote_size;
    shim_real.Comm_rank = comm_rank;
    shim_real.Comm_group = comm_group;
    shim_real.Comm_remote_group = remote_group;
    shim_real.Group_free = group_free;
    shim_real.Group_translate_ranks = translate;
    shim_real.Comm_get_name = get_name;
    shim_real.Bcast = bcast;
    world = (struct fake_comm){.rank = MY_PORT, .mine.n = JOB, .name = "world"};
    for (int i = 0; i < JOB; i++) {
        world.mine.ranks[i] = i;
    }
    self = (struct fake_comm){.mine = {1, {MY_PORT}}, .name = "self"};
    shim_handles.comm_world = handle_of(&world);
    shim_handles.comm_self = handle_of(&self);
    context = (struct bcs_context){
        .rank = MY_PORT, .size = JOB, .config.communicators = N_SLOTS};
    shim_state.context = &context;
    told = (struct shim_agreement){.number = 77, .slot = 6, .is_valid = 1};
    n_groups = n_told = n_opened = 0;
    ck_assert_int_eq(shim_comm_setup(), 0);
}

static inline void tear_down(void)
{
    shim_comm_teardown();
    ck_assert_int_eq(n_groups, 0); /* all have been freed */
}

/* Carry a communicator, with nothing noted of before. */
static inline struct shim_comm *add(struct fake_comm *fake)
{
    n_told = n_opened = 0;
    ck_assert_int_eq(shim_comm_add(handle_of(fake)), MPI_SUCCESS);
    return shim_comm_find(handle_of(fake));
}

#endif

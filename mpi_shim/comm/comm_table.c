/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of communicators that the shim carries, from the moment at which all
 * members have agreed on one until it is freed. Called in the application's threads.
 */
#include "mpi_shim/comm/comm_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi_shim/comm/comm_agree.h"
#include "mpi_shim/comm/comm_record.h"
#include "mpi_shim/comm/comms.h"
#include "mpi_shim/comm/slots.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"

static struct shim_comm **head_of(MPI_Comm handle)
{
    return &shim_state.comms->buckets[((uintptr_t)handle >> 4) % SHIM_COMM_BUCKETS];
}

struct shim_comm *shim_comm_search(MPI_Comm handle)
{
    struct shim_comm *comm = *head_of(handle);

    while (comm != NULL && comm->handle != handle) {
        comm = comm->next;
    }
    if (comm != NULL) {
        shim_state.last_comm = comm;
    }
    return comm;
}

/** Look for a communicator. @return NULL: there is none of that context id */
static const struct shim_comm *find_context(uint64_t context_id)
{
    for (int i = 0; i < SHIM_COMM_BUCKETS; i++) {
        const struct shim_comm *comm = shim_state.comms->buckets[i];

        for (; comm != NULL; comm = comm->next) {
            if (comm->group.context_id == context_id) {
                return comm;
            }
        }
    }
    return NULL;
}

uint64_t shim_comm_shown(uint64_t context_id)
{
    const struct shim_comm *comm = find_context(context_id);

    return comm == NULL || comm->hidden_of == 0 ? context_id : comm->hidden_of;
}

/** The name of a communicator, or of the one that the program sees in its place. */
static void read_name(const struct shim_comm *comm, char name_out[MPI_MAX_OBJECT_NAME])
{
    const struct shim_comm *shown =
        comm->hidden_of == 0 ? comm : find_context(comm->hidden_of);
    int length;

    shim_real.Comm_get_name(shown == NULL ? comm->handle : shown->handle, name_out,
                            &length);
}

void shim_comm_name_group(const struct bcs_group *group, char *name_out,
                          size_t n_name_bytes)
{
    char name[MPI_MAX_OBJECT_NAME] = "";

    for (int i = 0; i < SHIM_COMM_BUCKETS; i++) {
        const struct shim_comm *comm = shim_state.comms->buckets[i];

        for (; comm != NULL; comm = comm->next) {
            if (comm->whole == group || &comm->group == group) {
                read_name(comm, name);
            }
        }
    }
    snprintf(name_out, n_name_bytes, "%s",
             name[0] != '\0' ? name : "a communicator without a name");
}

void shim_comm_name_context(uint64_t context_id, char *name_out, size_t n_name_bytes)
{
    const struct shim_comm *comm = find_context(context_id);

    name_out[0] = '\0';
    if (comm != NULL) {
        shim_comm_name_group(&comm->group, name_out, n_name_bytes);
    }
}

enum { TRANSLATE_E_FOREIGN = 1 };

/**
 * The ranks in the job of a group's members, in rank order. Frees the group.
 *
 * @return 0, -ENOMEM, or TRANSLATE_E_FOREIGN: some member is a process of another job,
 *         by MPI_Comm_spawn or the like
 */
static int translate(MPI_Group group, int size, uint32_t *ranks_out)
{
    MPI_Group world;
    int *ranks = malloc(2 * (size_t)size * sizeof(*ranks));
    int rc = ranks == NULL ? -ENOMEM : 0;

    for (int i = 0; rc == 0 && i < size; i++) {
        ranks[i] = i;
    }
    if (rc == 0) {
        shim_real.Comm_group(shim_handles.comm_world, &world);
        shim_real.Group_translate_ranks(group, size, ranks, world, ranks + size);
        shim_real.Group_free(&world);
    }
    for (int i = 0; rc == 0 && i < size; i++) {
        ranks_out[i] = (uint32_t)ranks[size + i];
        rc = ranks[size + i] == MPI_UNDEFINED ? TRANSLATE_E_FOREIGN : 0;
    }
    free(ranks);
    shim_real.Group_free(&group);
    return rc;
}

static void reverse(uint32_t *ranks, int n)
{
    for (int i = 0; i < n / 2; i++) {
        uint32_t rank = ranks[i];
        ranks[i] = ranks[n - 1 - i];
        ranks[n - 1 - i] = rank;
    }
}

/** Let a group have the members from a place on. @param ports  of all members */
static void set_members(struct bcs_group *group, const struct shim_comm *comm,
                        const uint32_t *ports, int first, int size)
{
    group->ranks = comm->members + first;
    group->ports = ports + first;
    group->size = size;
}

/** Find the ports of the n members, whose ranks are known. */
static const uint32_t *find_ports(struct shim_comm *comm, int n)
{
    const uint32_t *of_ranks = bcs_context_ports(shim_context());

    if (of_ranks == NULL) {
        return comm->members; /* each rank is its own port */
    }
    for (int i = 0; i < n; i++) {
        comm->members[n + i] = of_ranks[comm->members[i]];
    }
    return comm->members + n;
}

/**
 * Order the members of an intercommunicator, whose ranks are this side's and then the
 * other's: on both sides first those of the side whose rank 0 is the earlier process of
 * the job.
 */
static void order_sides(struct shim_comm *comm, int n_mine, int n_others)
{
    bool is_first = comm->members[0] < comm->members[n_mine];
    struct bcs_sides *sides = &comm->sides;
    const uint32_t *ports;

    if (!is_first) {
        reverse(comm->members, n_mine);
        reverse(comm->members + n_mine, n_others);
        reverse(comm->members, n_mine + n_others);
    }
    ports = find_ports(comm, n_mine + n_others);
    set_members(&comm->group, comm, ports, is_first ? n_mine : 0, n_others);
    sides->others = comm->group;
    sides->mine = comm->group;
    set_members(&sides->mine, comm, ports, is_first ? 0 : n_others, n_mine);
    set_members(&sides->both, comm, ports, 0, n_mine + n_others);
    sides->both.rank = comm->group.rank + (is_first ? 0 : n_others);
    comm->whole = &sides->both;
}

/** Fill the groups of a communicator with n_others members on the other side, 0 if it
 *  is an intracommunicator. @return as translate does; the same on all members */
static int read_groups(struct shim_comm *comm, int n_mine, int n_others)
{
    MPI_Group group;
    int rc;

    shim_real.Comm_rank(comm->handle, &comm->group.rank);
    shim_real.Comm_group(comm->handle, &group);
    rc = translate(group, n_mine, comm->members);
    if (rc == 0 && n_others > 0) {
        shim_real.Comm_remote_group(comm->handle, &group);
        rc = translate(group, n_others, comm->members + n_mine);
    }
    if (rc == 0 && n_others > 0) {
        order_sides(comm, n_mine, n_others);
    } else if (rc == 0) {
        set_members(&comm->group, comm, find_ports(comm, n_mine), 0, n_mine);
        comm->whole = &comm->group;
    }
    return rc;
}

/** Describe a communicator, which has no numbers yet. *comm_out is NULL if it is not
 *  one to be carried. @return 0 or -ENOMEM */
static int describe(MPI_Comm handle, struct shim_comm **comm_out)
{
    int is_inter, n_mine, n_others = 0;
    struct shim_comm *comm;
    int rc;

    *comm_out = NULL;
    if (handle == shim_handles.comm_null ||
        shim_real.Comm_test_inter(handle, &is_inter) != MPI_SUCCESS) {
        return 0;
    }
    shim_real.Comm_size(handle, &n_mine);
    if (is_inter) {
        shim_real.Comm_remote_size(handle, &n_others);
        if (n_others == 0) {
            return 0; /* nobody to talk to */
        }
    }
    comm = calloc(1, sizeof(*comm) +
                         2 * (size_t)(n_mine + n_others) * sizeof(comm->members[0]));
    if (comm == NULL) {
        return -ENOMEM;
    }
    comm->handle = handle;
    comm->n_users = 1;
    rc = read_groups(comm, n_mine, n_others);
    if (rc == 0) {
        *comm_out = comm;
    } else {
        free(comm);
    }
    return rc < 0 ? rc : 0;
}

static void insert(struct shim_comm *comm, const struct shim_agreement *agreement)
{
    struct shim_comm **head = head_of(comm->handle);

    shim_agreement_apply(comm, agreement);
    comm->next = *head;
    *head = comm;
}

int shim_comm_carry(MPI_Comm handle, const struct shim_agreement *agreement)
{
    struct shim_comm *comm;
    int rc = describe(handle, &comm);

    if (comm != NULL) {
        insert(comm, agreement);
    }
    return rc;
}

/** @param hidden_of  as of struct shim_comm */
static int add(MPI_Comm handle, uint64_t hidden_of)
{
    struct shim_agreement agreement;
    struct shim_comm *comm;

    if (describe(handle, &comm) < 0) {
        return shim_error(handle, MPI_ERR_NO_MEM);
    }
    if (comm == NULL) {
        return MPI_SUCCESS;
    }
    comm->hidden_of = hidden_of;
    if (!shim_agree(comm, hidden_of != 0, &agreement)) {
        free(comm);
        return shim_error(handle, MPI_ERR_NO_MEM);
    }
    shim_enter();
    insert(comm, &agreement);
    shim_leave();
    return MPI_SUCCESS;
}

int shim_comm_add(MPI_Comm handle)
{
    return add(handle, 0);
}

int shim_comm_add_hidden(MPI_Comm handle, MPI_Comm of)
{
    const struct shim_comm *shown;
    uint64_t context_id = 0;

    shim_enter();
    shown = shim_comm_find(of);
    if (shown != NULL) {
        context_id = shown->group.context_id;
    }
    shim_leave();
    return add(handle, context_id);
}

void shim_comm_record_names(void)
{
    for (int i = 0; i < SHIM_COMM_BUCKETS; i++) {
        const struct shim_comm *comm = shim_state.comms->buckets[i];

        for (; comm != NULL; comm = comm->next) {
            shim_record_name(comm);
        }
    }
}

/** Take a communicator out of the table. Its use by the handle remains. */
static void remove_comm(struct shim_comm *comm)
{
    struct shim_comm **link = head_of(comm->handle);

    while (*link != comm) {
        link = &(*link)->next;
    }
    *link = comm->next;
    shim_state.last_comm = NULL;
    comm->handle = shim_handles.comm_null;
}

void shim_comm_retire(MPI_Comm handle)
{
    struct shim_comm *comm = shim_comm_find(handle);

    if (comm != NULL) {
        shim_record_name(comm);
        remove_comm(comm);
        shim_slot_leave(comm);
    }
}

int shim_comm_setup(void)
{
    uint32_t n_slots = bcs_context_communicators(shim_context());
    struct shim_comms *comms =
        calloc(1, sizeof(*comms) + n_slots * sizeof(comms->is_slot_used[0]));
    int rc;

    if (comms == NULL) {
        return -ENOMEM;
    }
    comms->slots.n = n_slots;
    shim_state.comms = comms;
    rc = shim_comm_add(shim_handles.comm_self);
    return rc == MPI_SUCCESS && shim_comm_add(shim_handles.comm_world) == MPI_SUCCESS
               ? 0
               : -ENOMEM;
}

void shim_comm_teardown(void)
{
    for (int i = 0; i < SHIM_COMM_BUCKETS; i++) {
        while (shim_state.comms->buckets[i] != NULL) {
            struct shim_comm *comm = shim_state.comms->buckets[i];
            remove_comm(comm);
            shim_comm_release(comm);
        }
    }
    shim_slots_teardown();
    free(shim_state.comms);
    shim_state.comms = NULL;
}

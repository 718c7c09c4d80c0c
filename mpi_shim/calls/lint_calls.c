/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds collectives that the members of a communicator have called in another order,
 * blocking and non-blocking ones among each other, too, or with other types, of those
 * that each rank has noted; they may have gone well, as bcs numbers some of them apart
 * and moves bytes only. The first rank compares the calls of all, communicator by
 * communicator, and tells the others which is the first that differs. Runs in
 * MPI_Finalize, without any lock.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/record/collective_words.h"
#include "libbcs/fabric/base/log.h"
#include "mpi_shim/calls/lint.h"
#include "mpi_shim/calls/lint_entries.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

enum { DIFFERENCES_MOST = 4, N_TYPES_BITS = 32 };

/** A collective as it goes to the first rank. */
struct called {
    uint64_t context_id;
    uint32_t position; /* among those of this communicator */
    uint32_t name;     /* a hash of the function's */
    uint32_t index;    /* among all of the rank */
    uint8_t sent, received;
};

/** Which collectives differ. */
struct differences {
    uint32_t n;
    struct {
        uint64_t context_id;
        uint32_t position;
    } first[DIFFERENCES_MOST]; /* [n], one of a communicator at most */
};

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    return hash;
}

/** Order by communicator, position, and number in the rank. */
static int compare(const void *one, const void *other)
{
    const struct called *a = one, *b = other;

    if (a->context_id != b->context_id) {
        return a->context_id < b->context_id ? -1 : 1;
    }
    if (a->position != b->position) {
        return a->position < b->position ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

/** What this rank has called, by communicator. @return for free; NULL: nothing, or no
 *  memory */
static struct called *own_calls(uint32_t *n_out)
{
    const struct shim_lint_call *calls = shim_lint_calls(n_out);
    struct called *own = calloc((size_t)*n_out + 1, sizeof(*own));

    if (own == NULL) {
        *n_out = 0;
        return NULL;
    }
    for (uint32_t i = 0; i < *n_out; i++) {
        own[i] = (struct called){
            .context_id = calls[i].context_id,
            .name = hash_of(calls[i].origin.call),
            .index = i,
            .sent = calls[i].sent,
            .received = calls[i].received,
        };
    }
    qsort(own, *n_out, sizeof(*own), compare);
    for (uint32_t i = 1; i < *n_out; i++) {
        if (own[i].context_id == own[i - 1].context_id) {
            own[i].position = own[i - 1].position + 1;
        }
    }
    return own;
}

/** Whether some member sends one type and some member receives another. Types are
 *  bits. */
static bool do_types_differ(uint32_t sent, uint32_t received)
{
    uint32_t both = sent | received;

    return sent != 0 && received != 0 && (both & (both - 1)) != 0;
}

static uint32_t bit_of(uint8_t type)
{
    return type == 0 ? 0 : 1u << (type - 1) % N_TYPES_BITS;
}

/** Find the first difference of each communicator. @param calls of all ranks; become
 *  sorted */
static void find(struct called *calls, size_t n, struct differences *differences)
{
    size_t end;

    qsort(calls, n, sizeof(*calls), compare);
    for (size_t first = 0; first < n; first = end) {
        const struct called *call = &calls[first];
        uint32_t sent = 0, received = 0;
        bool is_other = false;

        for (end = first; end < n && calls[end].context_id == call->context_id &&
                          calls[end].position == call->position;
             end++) {
            sent |= bit_of(calls[end].sent);
            received |= bit_of(calls[end].received);
            is_other |= calls[end].name != call->name;
        }
        if (!is_other && !do_types_differ(sent, received)) {
            continue;
        }
        if (differences->n == DIFFERENCES_MOST) {
            return;
        }
        differences->first[differences->n].context_id = call->context_id;
        differences->first[differences->n].position = call->position;
        differences->n++;
        while (end < n && calls[end].context_id == call->context_id) {
            end++; /* behind the first one all may differ */
        }
    }
}

/** Get the calls of all ranks to the first one, which finds what differs. */
static void gather(const struct called *own, int n_own_bytes, int rank, int size,
                   struct differences *differences)
{
    int *bytes = NULL, *starts = NULL, is_good = 1;
    struct called *all = NULL;
    uint64_t total = 0;

    if (rank == 0) {
        bytes = calloc((size_t)size, sizeof(*bytes));
        starts = calloc((size_t)size, sizeof(*starts));
        is_good = bytes != NULL && starts != NULL;
    }
    shim_real.Bcast(&is_good, sizeof(is_good), shim_handles.byte, 0,
                    shim_handles.comm_world);
    if (is_good) {
        shim_real.Gather(&n_own_bytes, sizeof(n_own_bytes), shim_handles.byte, bytes,
                         sizeof(n_own_bytes), shim_handles.byte, 0,
                         shim_handles.comm_world);
        for (int i = 0; rank == 0 && i < size; i++) {
            starts[i] = (int)total;
            total += (uint64_t)bytes[i];
        }
        all = rank != 0 || total > INT_MAX ? NULL : malloc(total + 1);
        is_good = rank != 0 || all != NULL;
        shim_real.Bcast(&is_good, sizeof(is_good), shim_handles.byte, 0,
                        shim_handles.comm_world);
    }
    if (is_good) {
        shim_real.Gatherv(own, n_own_bytes, shim_handles.byte, all, bytes, starts,
                          shim_handles.byte, 0, shim_handles.comm_world);
    }
    if (all != NULL) {
        find(all, total / sizeof(*all), differences);
    } else if (rank == 0) {
        bcs_warn("BCS_REFEREE_LINT: no memory to compare collectives");
    }
    free(bytes);
    free(starts);
    free(all);
}

/** Add a collective of this rank. */
static void add(struct shim_left_list *list, const struct shim_lint_call *call,
                uint32_t position)
{
    struct shim_left_entry entry = {.kind = SHIM_LEFT_CALL, .n = 1};
    char comm[MPI_MAX_OBJECT_NAME], sent[32] = "", received[32] = "";

    if (!shim_left_set_origin(&entry, call->origin)) {
        return;
    }
    shim_comm_name_context(call->context_id, comm, sizeof(comm));
    if (call->sent != 0) {
        snprintf(sent, sizeof(sent), ", sends %s", bcs_type_words(call->sent - 1));
    }
    if (call->received != 0) {
        snprintf(received, sizeof(received), ", receives %s",
                 bcs_type_words(call->received - 1));
    }
    snprintf(entry.about, sizeof(entry.about), "number %u on %.80s%s%s", position + 1,
             comm[0] == '\0' ? "a communicator that has been freed" : comm, sent,
             received);
    shim_left_add(list, &entry);
}

void shim_left_add_calls(struct shim_left_list *list)
{
    int rank = (int)bcs_context_rank(shim_context());
    int size = (int)bcs_context_size(shim_context());
    struct differences differences = {0};
    uint32_t n;
    struct called *own = own_calls(&n);

    gather(own, (int)(n * sizeof(*own)), rank, size, &differences);
    shim_real.Bcast(&differences, sizeof(differences), shim_handles.byte, 0,
                    shim_handles.comm_world);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < differences.n; j++) {
            if (own[i].context_id == differences.first[j].context_id &&
                own[i].position == differences.first[j].position) {
                add(list, &shim_lint_calls(&n)[own[i].index], own[i].position);
            }
        }
    }
    free(own);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective slots that this process leads. Called by comm_table.c, under the lock.
 *
 * A slot may serve another communicator once all members have left the one that it
 * served, for then all collectives on it are over. MPI_Comm_free must not wait for
 * them: programs free communicators in any order, and one that is needed by a pending
 * receive. So every other member sends the leader a message when it leaves, and the
 * leader, who leaves too at some time, counts them when it looks for a free slot.
 */
#include "mpi_shim/comm/slots.h"

#include <limits.h>
#include <stddef.h>

#include "libbcs/api/message/p2p.h"
#include "libbcs/api/message/wait.h"
#include "mpi_shim/comm/comms.h"

/* Beyond the tags of the collectives' messages: non-blocking ones may still be under
 * way. */
enum { LEAVE_TAG = INT_MAX };

static struct shim_slots *own_slots(void)
{
    return &shim_state.comms->slots;
}

/** Take the free slot that has been free longest. @return whether there is one */
static bool take_free(uint32_t *slot_out)
{
    struct shim_slots *slots = own_slots();

    for (uint32_t i = 0; i < slots->n; i++) {
        uint32_t index = (slots->cursor + i) % slots->n;
        if (!shim_state.comms->is_slot_used[index]) {
            shim_state.comms->is_slot_used[index] = true;
            slots->cursor = index + 1;
            *slot_out = index * bcs_context_size(shim_context()) +
                        bcs_context_rank(shim_context());
            return true;
        }
    }
    return false;
}

/** Count the members who have left. @return whether all have */
static bool have_all_left(struct shim_comm *comm, bool is_waiting)
{
    const struct bcs_message message = {
        .group = comm->whole,
        .reserved = {BCS_SPACE_COLLECTIVE},
        .peer = BCS_ANY_SOURCE,
        .tag = LEAVE_TAG,
    };
    struct bcs_result result;

    while (comm->n_staying > 0) {
        if (bcs_api_probe(shim_context(), &message, is_waiting, &result) != 0 ||
            bcs_api_recv(shim_context(), &message, &result, NULL) < 0) {
            return false;
        }
        comm->n_staying--;
    }
    return true;
}

/** Take the oldest out of the list, so that no other thread counts its members while
 *  this one waits. */
static struct shim_comm *take_oldest(void)
{
    struct shim_slots *slots = own_slots();
    struct shim_comm *comm = slots->oldest_left;

    if (comm != NULL) {
        slots->oldest_left = comm->next;
        slots->n_counted++;
    }
    return comm;
}

static void put_back(struct shim_comm *comm)
{
    struct shim_slots *slots = own_slots();

    comm->next = slots->oldest_left;
    if (slots->oldest_left == NULL) {
        slots->newest_left = comm;
    }
    slots->oldest_left = comm;
}

/** Make free the slots that all have left, in the order of leaving. @return whether
 *  there was one */
static bool make_free(bool is_waiting)
{
    struct shim_slots *slots = own_slots();
    struct shim_comm *comm;
    bool is_made = false;

    while ((comm = take_oldest()) != NULL) {
        bool is_free = have_all_left(comm, is_waiting && !is_made);

        slots->n_counted--;
        if (!is_free) {
            put_back(comm);
            break;
        }
        shim_state.comms
            ->is_slot_used[comm->whole->slot / bcs_context_size(shim_context())] =
            false;
        shim_comm_release(comm);
        is_made = true;
    }
    return is_made;
}

bool shim_slot_take(uint32_t *slot_out)
{
    make_free(false);
    while (!take_free(slot_out)) {
        if (make_free(true)) {
            continue;
        }
        if (own_slots()->n_counted == 0) {
            return false;
        }
        bcs_progress(shim_context()); /* another thread waits for what we want */
        bcs_wait_in_vain(shim_context());
        shim_leave();
        shim_enter();
    }
    return true;
}

void shim_slot_leave(struct shim_comm *comm)
{
    struct shim_slots *slots = own_slots();
    const struct bcs_message message = {
        .group = comm->whole,
        .reserved = {BCS_SPACE_COLLECTIVE},
        .peer = 0,
        .tag = LEAVE_TAG,
    };

    if (comm->whole->rank != 0) {
        bcs_api_send(shim_context(), &message, BCS_SEND_BUFFERED, NULL);
        shim_comm_release(comm);
        return;
    }
    comm->n_staying = (uint32_t)comm->whole->size - 1;
    comm->next = NULL;
    if (slots->oldest_left == NULL) {
        slots->oldest_left = comm;
    } else {
        slots->newest_left->next = comm;
    }
    slots->newest_left = comm;
}

void shim_slots_teardown(void)
{
    struct shim_slots *slots = own_slots();

    while (slots->oldest_left != NULL) {
        struct shim_comm *comm = slots->oldest_left;
        slots->oldest_left = comm->next;
        shim_comm_release(comm);
    }
}

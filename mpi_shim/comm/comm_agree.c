/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement on the context id and the collective slot of a communicator. Called by
 * comm_table.c in the application's threads.
 *
 * The leader takes a slot of its own range (no two leaders share one) and a number that
 * it has never used, and tells both to the other members. So ids are unique in the job
 * for all time, and members alone take part, which holds for MPI_Comm_create_group and
 * for intercommunicators, too. Both sides of an intercommunicator know without a
 * message which one leads (comm_table.c): that whose rank 0 is the earlier process of
 * the job.
 */
#include "mpi_shim/comm/comm_agree.h"

#include <inttypes.h>

#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/ring/stand.h"
#include "mpi_shim/comm/comms.h"
#include "mpi_shim/comm/slots.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"

/* An id is a number and a slot. Its groups have ids of their own above it; each needs
 * two (BCS_SPACE_COLLECTIVE). */
enum { CONTEXT_GROUP_BITS = 2, CONTEXT_OF_SIDE = 2 };

struct shim_agreement shim_agreement_propose(void)
{
    struct shim_agreement agreement = {.number = ++shim_state.comms->n_agreed};

    agreement.is_valid = shim_slot_take(&agreement.slot);
    if (!agreement.is_valid) {
        bcs_notice(BCS_NOTICE_COMMUNICATORS_USED,
                   "rank %u leads %u communicators, as many as it may",
                   bcs_context_rank(shim_context()),
                   bcs_context_communicators(shim_context()));
    }
    return agreement;
}

/** Rank 0 of one side of an intercommunicator tells the other side. */
static void tell_across(const struct shim_comm *comm, bool is_my_side,
                        struct shim_agreement *agreement)
{
    int root = !is_my_side ? 0 : comm->group.rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

    shim_real.Bcast(agreement, sizeof(*agreement), shim_handles.byte, root,
                    comm->handle);
}

/** The leader tells its agreement; the others learn it. */
static void tell(const struct shim_comm *comm, struct shim_agreement *agreement)
{
    bool is_leading_side = comm->whole->rank == comm->group.rank;

    shim_outside_begin();
    if (shim_comm_is_inter(comm)) {
        tell_across(comm, is_leading_side, agreement);
        tell_across(comm, !is_leading_side, agreement);
    } else if (comm->group.size > 1) {
        shim_real.Bcast(agreement, sizeof(*agreement), shim_handles.byte, 0,
                        comm->handle);
    }
    shim_outside_end();
}

bool shim_agree(const struct shim_comm *comm, bool is_hidden,
                struct shim_agreement *agreement_out)
{
    struct shim_agreement agreement = {0};

    if (comm->whole->rank == 0) {
        shim_enter();
        agreement = shim_agreement_propose();
        agreement.is_hidden = is_hidden;
        shim_leave();
    }
    tell(comm, &agreement);
    *agreement_out = agreement;
    return agreement.is_valid;
}

void shim_agreement_apply(struct shim_comm *comm,
                          const struct shim_agreement *agreement)
{
    struct bcs_group *whole = comm->whole;

    whole->context_id = bcs_group_id(agreement->number, agreement->slot)
                            << CONTEXT_GROUP_BITS |
                        (agreement->is_hidden ? BCS_CONTEXT_HIDDEN : 0);
    whole->slot = agreement->slot;
    comm->group.context_id = whole->context_id;
    comm->sides.others.context_id = whole->context_id;
    comm->sides.mine.context_id = whole->context_id + CONTEXT_OF_SIDE;
    if (whole->size > 1) {
        bcs_group_open(shim_context(), whole, agreement->number << 32);
    }
}

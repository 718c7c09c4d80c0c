/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a plan as text that looks like MPI calls, for who looks for an error. */
#include <mpi.h>

#include "tests/random/plan.h"

static const char *const op_names[N_OP_KINDS] = {
    "messages",          "flood",      "ready send",     "exchange",
    "late cancellation", "cancel",     "cancel in time", "cancel send",
    "any source",        "stream",     "truncation",     "nobody",
    "bad call",          "collective", "make",           "free",
};
static const char *const collective_names[N_COLLECTIVES] = {
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
};
static const char *const make_names[N_MAKE_KINDS] = {
    "Comm_dup",          "Comm_idup",
    "Comm_split",        "Comm_create",
    "Comm_create_group", "Cart_create",
    "Graph_create",      "Dist_graph_create_adjacent",
    "Intercomm_create",  "Intercomm_merge",
};
static const char *const base_names[N_BASES] = {"MPI_BYTE", "MPI_SHORT",  "MPI_INT",
                                                "MPI_LONG", "MPI_DOUBLE", "record"};
static const char *const mode_names[] = {"", "s", "b", "r"};
static const char *const form_names[N_FORMS] = {
    "",
    "(persistent)",
    "(freed)",
    "",
    "(Probe)",
    "(Iprobe)",
    "(Mprobe, Mrecv)",
    "(Improbe, Mrecv)",
    "(Mprobe, Imrecv)",
    "(Improbe, Imrecv)",
};

static const char *number(int value, char *text, size_t n_text)
{
    if (value == MPI_ANY_SOURCE) {
        return "any";
    }
    if (value == MPI_PROC_NULL) {
        return "nobody";
    }
    snprintf(text, n_text, "%d", value);
    return text;
}

static void print_send(const struct plan *plan, const struct act *act, char *text,
                       size_t n_text)
{
    const struct message *message = &plan->messages[act->message];
    char to[16];

    snprintf(text, n_text,
             "MPI_%s%ssend%s(%d x %s, to %s, tag %d, comm %d), message %d",
             act->form == FORM_BLOCKING ? "" : "I", mode_names[act->mode],
             form_names[act->form], message->n, base_names[message->base],
             number(act->peer, to, sizeof(to)), act->tag, act->comm, act->message);
}

static void print_receive(const struct plan *plan, const struct act *act, char *text,
                          size_t n_text)
{
    char from[16];
    char tag[16];
    char what[80];

    if (act->group >= 0) {
        snprintf(what, sizeof(what), "one of group %d", act->group);
    } else if (act->outcome == OUTCOME_CANCELLED || act->message < 0) {
        snprintf(what, sizeof(what), "nothing comes");
    } else {
        snprintf(what, sizeof(what), "gets message %d, %d elements%s", act->message,
                 plan->messages[act->message].n,
                 act->outcome == OUTCOME_TRUNCATED ? ", truncated" : "");
    }
    snprintf(text, n_text, "MPI_%srecv%s(%d x %s, from %s, tag %s, comm %d), %s",
             act->form >= FORM_FIRST_BLOCKING ? "" : "I", form_names[act->form],
             act->room, base_names[act->base], number(act->peer, from, sizeof(from)),
             number(act->tag, tag, sizeof(tag)), act->comm, what);
}

static void print_collective(const struct plan *plan, const struct act *act, char *text,
                             size_t n_text)
{
    const struct collective *collective = &plan->ops[act->op].collective;

    snprintf(text, n_text,
             "MPI_%s%s(n %d, unit %d, %s, reduction %d, root %d of side %d, comm %d)%s",
             collective->is_blocking ? "" : "I", collective_names[collective->kind],
             collective->n, collective->unit, base_names[collective->base],
             collective->reduction, collective->root, collective->root_side, act->comm,
             collective->is_in_place ? " in place" : "");
}

void plan_print_act(const struct plan *plan, const struct act *act, char *text,
                    size_t n_text)
{
    char rest[300] = "";
    char from[16];
    char to[16];

    switch (act->kind) {
    case ACT_SEND:
        print_send(plan, act, rest, sizeof(rest));
        break;
    case ACT_RECEIVE:
        print_receive(plan, act, rest, sizeof(rest));
        break;
    case ACT_EXCHANGE:
        snprintf(rest, sizeof(rest),
                 "MPI_Sendrecv%s(%d elements to %s, tag %d; from %s, tag %d; comm %d)",
                 act->form == FORM_BLOCKING ? "" : "_replace",
                 plan->messages[act->message].n, number(act->peer, to, sizeof(to)),
                 act->tag, number(act->source, from, sizeof(from)), act->source_tag,
                 act->comm);
        break;
    case ACT_CANCEL:
    case ACT_CANCEL_RACE:
        snprintf(rest, sizeof(rest), "MPI_Cancel(receive of act %d)%s", act->target,
                 act->kind == ACT_CANCEL ? "" : ", MPI_Wait, if cancelled MPI_Recv");
        break;
    case ACT_CANCEL_SEND:
        snprintf(rest, sizeof(rest),
                 "MPI_Cancel(send of act %d), MPI_Wait, if cancelled MPI_Send",
                 act->target);
        break;
    case ACT_FINISH:
        snprintf(rest, sizeof(rest), "MPI_Wait(receive of act %d)", act->target);
        break;
    case ACT_BAD_CALL:
        snprintf(rest, sizeof(rest), "bad call %d on comm %d", act->tag % 8, act->comm);
        break;
    case ACT_COLLECTIVE:
        print_collective(plan, act, rest, sizeof(rest));
        break;
    case ACT_MAKE:
        snprintf(rest, sizeof(rest), "MPI_%s(comm %d), comms %d to %d",
                 make_names[plan->ops[act->op].make], act->comm,
                 plan->ops[act->op].first_made,
                 plan->ops[act->op].first_made + plan->ops[act->op].n_made - 1);
        break;
    case ACT_FREE:
        snprintf(rest, sizeof(rest), "MPI_Comm_free(comm %d)", act->comm);
        break;
    }
    snprintf(text, n_text, "rank %d, operation %d (%s), act %d: %s", act->rank, act->op,
             op_names[plan->ops[act->op].kind], (int)(act - plan->acts), rest);
}

static void print_members(const struct members *members)
{
    for (int i = 0; i < members->n; i++) {
        printf(" %d", members->ranks[i]);
    }
}

void plan_print(const struct plan *plan)
{
    char text[400];

    printf("seed %llu, %d ranks\n", (unsigned long long)plan->seed, plan->n_ranks);
    for (int i = 0; i < plan->n_comms; i++) {
        const struct comm *comm = &plan->comms[i];

        if (comm->op < 0 || plan->ops[comm->op].is_kept) {
            printf("comm %d: ranks", i);
            print_members(&comm->side[0]);
            printf(comm->is_inter ? " and" : "");
            print_members(&comm->side[1]);
            printf("\n");
        }
    }
    for (int i = 0; i < plan->n_order; i++) {
        plan_print_act(plan, &plan->acts[plan->order[i]], text, sizeof(text));
        printf("%s\n", text);
    }
}

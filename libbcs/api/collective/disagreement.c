/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines that name the members which disagree. Runs in the process that owns the
 * context.
 */
#include "libbcs/api/collective/disagreement.h"

#include <bcs/status.h>
#include <stdio.h>

#include "libbcs/api/collective/collective_args.h"
#include "libbcs/api/context/context.h"
#include "libbcs/api/message/misuse.h"
#include "libbcs/api/record/collective_words.h"
#include "nic_threads/node/signature.h"

enum { N_NAME_BYTES = 96, N_TEXT_BYTES = 96 };

/** What a barrier is that a member has come to. */
static const char *words_of_barrier(const struct bcs_context *context,
                                    unsigned int kernel)
{
    if (kernel >= BCS_KERNEL_CALLS) {
        return context->hooks.name_call == NULL
                   ? "a call of its own"
                   : context->hooks.name_call(kernel - BCS_KERNEL_CALLS);
    }
    return kernel == BCS_KERNEL_END ? "MPI_Finalize" : "barrier";
}

/** What a member has called, as a text. */
static void describe(const struct bcs_context *context, uint64_t signature,
                     char text_out[N_TEXT_BYTES])
{
    uint16_t operation = nic_signature_operation(signature);
    char reduction[BCS_KERNEL_WORDS_BYTES];
    unsigned int n_bytes = nic_signature_bytes(signature);
    int root = nic_signature_root(signature);

    bcs_kernel_words((int)bcs_operation_kernel(operation), reduction);

    switch (bcs_operation_kind(operation)) {
    case BCS_COLLECTIVE_BARRIER:
        snprintf(text_out, N_TEXT_BYTES, "%s",
                 words_of_barrier(context, bcs_operation_kernel(operation)));
        break;
    case BCS_COLLECTIVE_BCAST:
        snprintf(text_out, N_TEXT_BYTES, "broadcast of %u bytes from rank %d", n_bytes,
                 root);
        break;
    case BCS_COLLECTIVE_ALLGATHER:
        snprintf(text_out, N_TEXT_BYTES, "allgather of %u bytes in all", n_bytes);
        break;
    case BCS_COLLECTIVE_ALLTOALL:
        snprintf(text_out, N_TEXT_BYTES, "alltoall of %u bytes in all", n_bytes);
        break;
    default:
        if (root < 0) {
            snprintf(text_out, N_TEXT_BYTES, "allreduce of %u bytes (%s)", n_bytes,
                     reduction);
        } else {
            snprintf(text_out, N_TEXT_BYTES, "reduce of %u bytes (%s) to rank %d",
                     n_bytes, reduction, root);
        }
    }
}

static void name_of(const struct bcs_context *context, const struct bcs_group *group,
                    char name_out[N_NAME_BYTES])
{
    if (context->hooks.name_group != NULL) {
        context->hooks.name_group(group, name_out, N_NAME_BYTES);
    } else {
        snprintf(name_out, N_NAME_BYTES, "a group of %d", group->size);
    }
}

/** Tell of a refusal, or stay until another member has. */
static void tell_refusal(struct bcs_context *context, const struct bcs_group *group,
                         const struct nic_refusal *refusal, bool is_first)
{
    char name[N_NAME_BYTES], text[N_TEXT_BYTES], other_text[N_TEXT_BYTES];
    char what[2 * N_TEXT_BYTES + N_NAME_BYTES + 96];
    const struct bcs_misuse misuse = {what, BCS_MISUSE_ALIKE, BCS_FINDING_MISUSE};

    if (is_first) {
        name_of(context, group, name);
        describe(context, refusal->signature, text);
        describe(context, refusal->other_signature, other_text);
        snprintf(what, sizeof(what),
                 "collectives differ on %s: rank %d: %s, rank %d: %s", name,
                 refusal->rank, text, refusal->other_rank, other_text);
    }
    bcs_misuse_tell_all(context, group, (uint64_t)group->slot << 48 ^ refusal->sequence,
                        is_first ? &misuse : NULL);
}

int bcs_disagreement(struct bcs_context *context, const struct bcs_group *group,
                     const struct nic_refusal *refusal)
{
    const struct nic_engine *engine = context->engine;
    struct nic_slot *slot = nic_view_slot(nic_engine_own(engine), group->slot);

    bool is_first =
        refusal->node == engine->home && nic_refusal_is_first(slot, refusal);
    bool is_told = bcs_misuse_is_told(context);

    if (is_told) {
        tell_refusal(context, group, refusal, is_first);
    }
    return refusal->is_length_only ? BCS_E_TRUNCATED : BCS_E_DISAGREED;
}

/** Members differ in lengths: in which. */
static void tell_lengths(struct bcs_context *context, const struct bcs_group *group,
                         const char *which)
{
    char name[N_NAME_BYTES];

    if (bcs_misuse_is_told(context)) {
        name_of(context, group, name);
        bcs_misuse_tell(
            context, group,
            "MPI-3.1, 5.1: what is sent must be as long as what is expected",
            "lengths differ in a collective on %s: %s", name, which);
    }
}

int bcs_wrong_length(struct bcs_context *context, const struct bcs_group *group,
                     const struct bcs_group *peers, const struct bcs_result *result,
                     size_t n_expected_bytes)
{
    char which[N_TEXT_BYTES];

    snprintf(which, sizeof(which), "rank %d sends %zu bytes, rank %d expects %zu",
             result->source, bcs_result_sent(result), peers->rank, n_expected_bytes);
    tell_lengths(context, group, which);
    return BCS_E_TRUNCATED;
}

void bcs_wrong_own_length(struct bcs_context *context, const struct bcs_group *group,
                          int32_t rank, size_t n_sent_bytes, size_t n_expected_bytes)
{
    char which[N_TEXT_BYTES];

    snprintf(which, sizeof(which),
             "rank %d sends %zu bytes where it expects %zu itself", rank, n_sent_bytes,
             n_expected_bytes);
    tell_lengths(context, group, which);
}

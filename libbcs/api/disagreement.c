/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines that name the members which disagree. Runs in the process that owns the context.
 */
#include "libbcs/api/disagreement.h"

#include <bcs/status.h>
#include <stdio.h>

#include "libbcs/api/context.h"
#include "libbcs/base/log.h"
#include "nic_threads/node/terms.h"
#include "nic_threads/rules/reduce_ops.h"

enum { N_NAME_BYTES = 96, N_TEXT_BYTES = 96 };

static const char *const op_names[NIC_REDUCE_N_OPS] = {
    [NIC_REDUCE_SUM] = "sum",          [NIC_REDUCE_PROD] = "product",
    [NIC_REDUCE_MIN] = "minimum",      [NIC_REDUCE_MAX] = "maximum",
    [NIC_REDUCE_LAND] = "logical and", [NIC_REDUCE_LOR] = "logical or",
    [NIC_REDUCE_LXOR] = "logical xor", [NIC_REDUCE_BAND] = "bitwise and",
    [NIC_REDUCE_BOR] = "bitwise or",   [NIC_REDUCE_BXOR] = "bitwise xor",
};

static const char *const type_names[NIC_REDUCE_N_TYPES] = {
    [NIC_REDUCE_I8] = "int8",
    [NIC_REDUCE_U8] = "uint8",
    [NIC_REDUCE_I16] = "int16",
    [NIC_REDUCE_U16] = "uint16",
    [NIC_REDUCE_I32] = "int32",
    [NIC_REDUCE_U32] = "uint32",
    [NIC_REDUCE_I64] = "int64",
    [NIC_REDUCE_U64] = "uint64",
    [NIC_REDUCE_F32] = "float",
    [NIC_REDUCE_F64] = "double",
    [NIC_REDUCE_LD] = "long double",
    [NIC_REDUCE_C32] = "float complex",
    [NIC_REDUCE_C64] = "double complex",
};

/** What a member has called, as a text. */
static void describe(uint64_t terms, char text_out[N_TEXT_BYTES])
{
    uint16_t operation = nic_terms_operation(terms);
    unsigned int kernel = bcs_operation_kernel(operation);
    const char *op = op_names[kernel / NIC_REDUCE_N_TYPES];
    const char *type = type_names[kernel % NIC_REDUCE_N_TYPES];
    unsigned int n_bytes = nic_terms_bytes(terms);
    int root = nic_terms_root(terms);

    switch (bcs_operation_kind(operation)) {
    case BCS_COLLECTIVE_BARRIER:
        snprintf(text_out, N_TEXT_BYTES, "a barrier");
        break;
    case BCS_COLLECTIVE_BCAST:
        snprintf(text_out, N_TEXT_BYTES, "a broadcast of %u bytes from rank %d",
                 n_bytes, root);
        break;
    case BCS_COLLECTIVE_ALLGATHER:
        snprintf(text_out, N_TEXT_BYTES, "an allgather of %u bytes in all", n_bytes);
        break;
    default:
        if (root < 0) {
            snprintf(text_out, N_TEXT_BYTES, "an allreduce of %u bytes (%s, %s)",
                     n_bytes, op, type);
        } else {
            snprintf(text_out, N_TEXT_BYTES, "a reduce of %u bytes (%s, %s) to rank %d",
                     n_bytes, op, type, root);
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

int bcs_disagreement(struct bcs_context *context, const struct bcs_group *group,
                     const struct nic_refusal *refusal)
{
    const struct nic_engine *engine = context->engine;
    struct nic_slot *slot = nic_view_slot(nic_engine_own(engine), group->slot);

    if (refusal->node == engine->home && nic_refusal_is_first(slot, refusal)) {
        char name[N_NAME_BYTES], text[N_TEXT_BYTES], other_text[N_TEXT_BYTES];

        name_of(context, group, name);
        describe(refusal->terms, text);
        describe(refusal->other_terms, other_text);
        bcs_error("the members of %s are not in the same collective: rank %d is in %s, "
                  "rank %d in %s",
                  name, refusal->rank, text, refusal->other_rank, other_text);
    }
    return refusal->is_length_only ? BCS_E_TRUNCATED : BCS_E_DISAGREED;
}

/** Members differ in lengths: in which. */
static void tell_lengths(const struct bcs_context *context,
                         const struct bcs_group *group, const char *which)
{
    char name[N_NAME_BYTES];

    name_of(context, group, name);
    bcs_error("the members of %s do not agree on the lengths of a collective: %s", name,
              which);
}

int bcs_wrong_length(const struct bcs_context *context, const struct bcs_group *group,
                     const struct bcs_group *peers, const struct bcs_result *result,
                     size_t n_expected_bytes)
{
    bool is_longer = result->error == BCS_E_TRUNCATED;
    char which[N_TEXT_BYTES];

    snprintf(which, sizeof(which), "rank %d sends %s%zu bytes, rank %d expects %zu",
             result->source, is_longer ? "more than " : "", result->n_bytes,
             peers->rank, n_expected_bytes);
    tell_lengths(context, group, which);
    return BCS_E_TRUNCATED;
}

void bcs_wrong_own_length(const struct bcs_context *context,
                          const struct bcs_group *group, int32_t rank,
                          size_t n_sent_bytes, size_t n_expected_bytes)
{
    char which[N_TEXT_BYTES];

    snprintf(which, sizeof(which),
             "rank %d sends %zu bytes where it expects %zu itself", rank, n_sent_bytes,
             n_expected_bytes);
    tell_lengths(context, group, which);
}

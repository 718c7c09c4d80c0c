/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in words; see collective_words.h.
 */
#include "libbcs/api/record/collective_words.h"

#include <stdio.h>

#include "libbcs/api/context/plan_tag.h"

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

static const char *const kind_words[BCS_PLAN_KINDS] = {
    [BCS_PLAN_BARRIER] = "barrier",
    [BCS_PLAN_BCAST] = "broadcast",
    [BCS_PLAN_GATHER] = "gather",
    [BCS_PLAN_SCATTER] = "scatter",
    [BCS_PLAN_ALLGATHER] = "allgather",
    [BCS_PLAN_ALLTOALL] = "alltoall",
    [BCS_PLAN_REDUCE] = "reduction",
    [BCS_PLAN_ALLREDUCE] = "allreduce",
    [BCS_PLAN_SCAN] = "scan",
    [BCS_PLAN_EXSCAN] = "exscan",
    [BCS_PLAN_REDUCE_SCATTER] = "reduce-scatter",
    [BCS_PLAN_NEIGHBORS] = "with neighbours",
};

void bcs_kernel_words(int kernel, char words_out[BCS_KERNEL_WORDS_BYTES])
{
    words_out[0] = '\0';
    if (kernel >= 0 && kernel < NIC_REDUCE_N_OPS * NIC_REDUCE_N_TYPES) {
        snprintf(words_out, BCS_KERNEL_WORDS_BYTES, "%s of %s",
                 op_names[kernel / NIC_REDUCE_N_TYPES],
                 type_names[kernel % NIC_REDUCE_N_TYPES]);
    }
}

const char *bcs_plan_words(int32_t tag)
{
    enum bcs_plan_kind kind = bcs_plan_tag_kind(tag);

    return kind < BCS_PLAN_KINDS ? kind_words[kind] : "collective";
}

const char *bcs_type_words(int type)
{
    return type_names[type];
}

void bcs_part_words(int32_t tag, char words_out[BCS_PART_WORDS_BYTES])
{
    char reduction[BCS_KERNEL_WORDS_BYTES], root[24] = "";

    bcs_kernel_words(bcs_plan_tag_kernel(tag), reduction);
    if (bcs_plan_tag_root(tag) >= 0) {
        snprintf(root, sizeof(root), ", root %d", (int)bcs_plan_tag_root(tag));
    }
    snprintf(words_out, BCS_PART_WORDS_BYTES, "%s%s%s%s", bcs_plan_words(tag), root,
             *reduction == '\0' ? "" : ", ", reduction);
}

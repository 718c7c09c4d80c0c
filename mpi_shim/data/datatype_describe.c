/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a datatype is described: the table of the predefined types, and the questions to
 * the real library about all others. Called by datatype_table.c, in the thread that
 * uses a type for the first time.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "mpi_shim/data/datatype_internal.h"
#include "mpi_shim/data/op.h"
#include "mpi_shim/real/real.h"

#define OP(name) (1u << NIC_REDUCE_##name)
#define OPS_NONE 0
#define OPS_COMPLEX (OP(SUM) | OP(PROD))
#define OPS_REAL (OPS_COMPLEX | OP(MIN) | OP(MAX))
#define OPS_LOGICAL (OP(LAND) | OP(LOR) | OP(LXOR))
#define OPS_BITS (OP(BAND) | OP(BOR) | OP(BXOR))
#define OPS_FORTRAN_INTEGER (OPS_REAL | OPS_BITS)
#define OPS_INTEGER (OPS_REAL | OPS_LOGICAL | OPS_BITS)
#define OPS_PAIR (1u << SHIM_OP_MAXLOC | 1u << SHIM_OP_MINLOC)

#if CHAR_MIN < 0
#define SHIM_NUMBER_CHAR SHIM_NUMBER_SIGNED
#else
#define SHIM_NUMBER_CHAR SHIM_NUMBER_UNSIGNED
#endif

/* As Open MPI 4.1 accepts them, which is more than the standard asks for. An operation
 * that is missing here is not lost: such a call goes to the real library. */
const struct shim_predefined_type shim_predefined_types[] = {
    {"ompi_mpi_char", OPS_INTEGER, SHIM_NUMBER_CHAR},
    {"ompi_mpi_signed_char", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_unsigned_char", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_byte", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_packed", OPS_NONE, SHIM_NUMBER_OTHER},
    {"ompi_mpi_wchar", OPS_NONE, SHIM_NUMBER_OTHER},
    {"ompi_mpi_short", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_unsigned_short", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_int", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_unsigned", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_long", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_unsigned_long", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_long_long_int", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_unsigned_long_long", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_float", OPS_REAL, SHIM_NUMBER_REAL},
    {"ompi_mpi_double", OPS_REAL, SHIM_NUMBER_REAL},
    {"ompi_mpi_long_double", OPS_REAL, SHIM_NUMBER_REAL},
    {"ompi_mpi_int8_t", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_uint8_t", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_int16_t", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_uint16_t", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_int32_t", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_uint32_t", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_int64_t", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_uint64_t", OPS_INTEGER, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_aint", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_offset", OPS_INTEGER, SHIM_NUMBER_OTHER},
    {"ompi_mpi_count", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_c_bool", OPS_LOGICAL, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_cxx_bool", OPS_LOGICAL, SHIM_NUMBER_UNSIGNED},
    {"ompi_mpi_c_complex", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_c_float_complex", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_c_double_complex", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_c_long_double_complex", OPS_COMPLEX, SHIM_NUMBER_OTHER},
    {"ompi_mpi_cxx_cplex", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_cxx_dblcplex", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_cxx_ldblcplex", OPS_COMPLEX, SHIM_NUMBER_OTHER},
    {"ompi_mpi_float_int", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_double_int", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_longdbl_int", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_long_int", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_short_int", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_2int", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_character", OPS_INTEGER, SHIM_NUMBER_OTHER},
    {"ompi_mpi_logical", OPS_LOGICAL, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_logical1", OPS_INTEGER, SHIM_NUMBER_OTHER},
    {"ompi_mpi_logical2", OPS_INTEGER, SHIM_NUMBER_OTHER},
    {"ompi_mpi_logical4", OPS_LOGICAL, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_logical8", OPS_INTEGER, SHIM_NUMBER_OTHER},
    {"ompi_mpi_integer", OPS_FORTRAN_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_integer1", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_integer2", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_integer4", OPS_FORTRAN_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_integer8", OPS_INTEGER, SHIM_NUMBER_SIGNED},
    {"ompi_mpi_integer16", OPS_NONE, SHIM_NUMBER_OTHER},
    {"ompi_mpi_real", OPS_REAL, SHIM_NUMBER_REAL},
    {"ompi_mpi_real2", OPS_NONE, SHIM_NUMBER_OTHER},
    {"ompi_mpi_real4", OPS_REAL, SHIM_NUMBER_REAL},
    {"ompi_mpi_real8", OPS_REAL, SHIM_NUMBER_REAL},
    {"ompi_mpi_real16", OPS_REAL, SHIM_NUMBER_OTHER},
    {"ompi_mpi_dblprec", OPS_REAL, SHIM_NUMBER_REAL},
    {"ompi_mpi_cplex", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_complex8", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_complex16", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_complex32", OPS_COMPLEX, SHIM_NUMBER_OTHER},
    {"ompi_mpi_dblcplex", OPS_COMPLEX, SHIM_NUMBER_COMPLEX},
    {"ompi_mpi_2real", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_2dblprec", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_2integer", OPS_PAIR, SHIM_NUMBER_OTHER},
    {"ompi_mpi_2cplex", OPS_NONE, SHIM_NUMBER_OTHER},
    {"ompi_mpi_2dblcplex", OPS_NONE, SHIM_NUMBER_OTHER},
    {NULL, 0, 0},
};

static int8_t integer_type(enum shim_number_kind kind, size_t size)
{
    bool is_signed = kind == SHIM_NUMBER_SIGNED;

    switch (size) {
    case sizeof(int8_t):
        return is_signed ? NIC_REDUCE_I8 : NIC_REDUCE_U8;
    case sizeof(int16_t):
        return is_signed ? NIC_REDUCE_I16 : NIC_REDUCE_U16;
    case sizeof(int32_t):
        return is_signed ? NIC_REDUCE_I32 : NIC_REDUCE_U32;
    case sizeof(int64_t):
        return is_signed ? NIC_REDUCE_I64 : NIC_REDUCE_U64;
    default:
        return -1;
    }
}

int8_t shim_number_reduce_type(enum shim_number_kind kind, size_t size)
{
    switch (kind) {
    case SHIM_NUMBER_SIGNED:
    case SHIM_NUMBER_UNSIGNED:
        return integer_type(kind, size);
    case SHIM_NUMBER_REAL:
        return size == sizeof(float)         ? NIC_REDUCE_F32
               : size == sizeof(double)      ? NIC_REDUCE_F64
               : size == sizeof(long double) ? NIC_REDUCE_LD
                                             : -1;
    case SHIM_NUMBER_COMPLEX:
        return size == 2 * sizeof(float)    ? NIC_REDUCE_C32
               : size == 2 * sizeof(double) ? NIC_REDUCE_C64
                                            : -1;
    default:
        return -1;
    }
}

int shim_datatype_look_inside(struct shim_datatype *type)
{
    struct bcs_layout *layout;
    int status = shim_datatype_layout(type, &layout);

    if (status != 0) {
        return status;
    }
    type->is_dense = type->size == 0 ||
                     (bcs_layout_is_block(layout) && layout->elements.offset == 0);
    if (type->is_dense) {
        free(layout);
        layout = NULL;
    }
    type->layout = layout;
    return 0;
}

int shim_datatype_describe(MPI_Datatype handle, struct shim_datatype *type_out)
{
    struct shim_datatype type;
    int status;

    if (!shim_pack_accepts(handle)) {
        return -EINVAL;
    }
    shim_datatype_measure(handle, &type);
    status = shim_datatype_look_inside(&type);
    if (status == 0) {
        *type_out = type;
    }
    return status;
}

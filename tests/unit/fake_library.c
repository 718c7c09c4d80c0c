/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library of fake_library.h.
 */
#include "tests/unit/fake_library.h"

#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"

int fake_error_class;
MPI_Comm fake_error_comm;

/* Handles are addresses; these are of nothing else. */
static char datatype_null, op_null, comm_world, comm_null, request_null;

MPI_Datatype fake_type_handle(struct fake_type *type)
{
    return (MPI_Datatype)(void *)type;
}

MPI_Op fake_op_handle(struct fake_op *op)
{
    return (MPI_Op)(void *)op;
}

static struct fake_type *type_of(MPI_Datatype handle)
{
    return (struct fake_type *)(void *)handle;
}

ptrdiff_t fake_type_place(const struct fake_type *type, size_t element, size_t i)
{
    return (ptrdiff_t)element * type->extent + type->places[i];
}

static int type_size(MPI_Datatype handle, MPI_Count *size)
{
    *size = (MPI_Count)type_of(handle)->size;
    return MPI_SUCCESS;
}

static int type_extent(MPI_Datatype handle, MPI_Count *lb, MPI_Count *extent)
{
    *lb = 0;
    *extent = type_of(handle)->extent;
    return MPI_SUCCESS;
}

static int type_true_extent(MPI_Datatype handle, MPI_Count *lb, MPI_Count *extent)
{
    const struct fake_type *type = type_of(handle);

    *lb = 0;
    *extent = type->contents != NULL ? type->extent : 0;
    for (size_t i = 0; type->contents == NULL && i < type->size; i++) {
        *extent = type->places[i] >= *extent ? type->places[i] + 1 : *extent;
    }
    return MPI_SUCCESS;
}

static int type_envelope(MPI_Datatype handle, int *n_integers, int *n_addresses,
                         int *n_types, int *combiner)
{
    static const struct fake_contents named = {.combiner = MPI_COMBINER_NAMED};
    const struct fake_contents *contents = type_of(handle)->contents;

    contents = contents != NULL ? contents : &named;
    *n_integers = contents->n_integers;
    *n_addresses = contents->n_addresses;
    *n_types = contents->n_types;
    *combiner = contents->combiner;
    return MPI_SUCCESS;
}

static int fake_MPI_Type_get_contents(MPI_Datatype handle, int n_integers,
                                      int n_addresses, int n_types, int *integers,
                                      MPI_Aint *addresses, MPI_Datatype *types)
{
    const struct fake_contents *contents = type_of(handle)->contents;

    for (int i = 0; i < n_integers; i++) {
        integers[i] = contents->integers[i];
    }
    for (int i = 0; i < n_addresses; i++) {
        addresses[i] = contents->addresses[i];
    }
    for (int i = 0; i < n_types; i++) {
        types[i] = contents->types[i];
    }
    return MPI_SUCCESS;
}

static int type_free(MPI_Datatype *handle)
{
    type_of(*handle)->n_frees++;
    *handle = shim_handles.datatype_null;
    return MPI_SUCCESS;
}

static int fake_MPI_Pack(const void *in, int count, MPI_Datatype handle, void *out,
                         int size, int *position, MPI_Comm comm)
{
    const struct fake_type *type = type_of(handle);

    (void)comm;
    if (type->is_uncommitted) {
        return MPI_ERR_TYPE;
    }
    if (*position + count * (int)type->size > size) {
        return MPI_ERR_TRUNCATE;
    }
    for (size_t element = 0; element < (size_t)count; element++) {
        for (size_t i = 0; i < type->size; i++) {
            ((char *)out)[(*position)++] =
                ((const char *)in)[fake_type_place(type, element, i)];
        }
    }
    return MPI_SUCCESS;
}

static int reduce_local(const void *in, void *inout, int count, MPI_Datatype handle,
                        MPI_Op op_handle)
{
    const struct fake_type *type = type_of(handle);
    struct fake_op *op = (struct fake_op *)(void *)op_handle;

    for (size_t element = 0; element < (size_t)count; element++) {
        for (size_t i = 0; i < type->size; i++) {
            ptrdiff_t place = fake_type_place(type, element, i);

            ((signed char *)inout)[place] =
                (signed char)(((signed char *)inout)[place] +
                              ((const signed char *)in)[place]);
        }
    }
    op->n_calls++;
    op->n_most = count > op->n_most ? count : op->n_most;
    return op->rc;
}

static int op_free(MPI_Op *handle)
{
    ((struct fake_op *)(void *)*handle)->n_frees++;
    *handle = shim_handles.op_null;
    return MPI_SUCCESS;
}

static int comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    *newcomm = comm;
    return MPI_SUCCESS;
}

static int set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm;
    (void)handler;
    return MPI_SUCCESS;
}

/* Not a fatal one. */
static int get_errhandler(MPI_Comm comm, MPI_Errhandler *handler)
{
    (void)comm;
    (void)handler;
    return MPI_ERR_COMM;
}

static int call_errhandler(MPI_Comm comm, int error_class)
{
    fake_error_comm = comm;
    fake_error_class = error_class;
    return MPI_SUCCESS;
}

void fake_library_set(void)
{
    shim_handles.datatype_null = (MPI_Datatype)(void *)&datatype_null;
    shim_handles.op_null = (MPI_Op)(void *)&op_null;
    shim_handles.comm_world = (MPI_Comm)(void *)&comm_world;
    shim_handles.comm_null = (MPI_Comm)(void *)&comm_null;
    shim_handles.request_null = (MPI_Request)(void *)&request_null;
    shim_real.Type_size_x = type_size;
    shim_real.Type_get_extent_x = type_extent;
    shim_real.Type_get_true_extent_x = type_true_extent;
    shim_real.Type_get_envelope = type_envelope;
    shim_real.Type_get_contents = fake_MPI_Type_get_contents;
    shim_real.Type_free = type_free;
    shim_real.Pack = fake_MPI_Pack;
    shim_real.Reduce_local = reduce_local;
    shim_real.Op_free = op_free;
    shim_real.Comm_dup = comm_dup;
    shim_real.Comm_set_errhandler = set_errhandler;
    shim_real.Comm_get_errhandler = get_errhandler;
    shim_real.Comm_call_errhandler = call_errhandler;
    fake_error_class = MPI_SUCCESS;
    fake_error_comm = NULL;
}

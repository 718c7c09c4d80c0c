/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combining vectors by MPI operations. Called by the shim's collectives, through the
 * API's reductions, in the application's threads.
 *
 * Vectors travel and are cut as contiguous bytes. The real library's MPI_Reduce_local
 * combines what no kernel does; where a type's own layout is another one (gaps,
 * offsets, interleaved elements), both vectors are unpacked into scratch memory for it,
 * a few elements at a time, and the result is packed again. That never touches memory
 * of the program that is not part of the data.
 */
#include "mpi_shim/data/op.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "libbcs/fabric/base/align.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

/* Of one scratch vector, unless one element takes more. */
#define SCRATCH_BYTES ((size_t)64 << 10)

static const char *const op_symbols[SHIM_OP_N_REDUCTIONS] = {
    [NIC_REDUCE_SUM] = "ompi_mpi_op_sum",    [NIC_REDUCE_PROD] = "ompi_mpi_op_prod",
    [NIC_REDUCE_MIN] = "ompi_mpi_op_min",    [NIC_REDUCE_MAX] = "ompi_mpi_op_max",
    [NIC_REDUCE_LAND] = "ompi_mpi_op_land",  [NIC_REDUCE_LOR] = "ompi_mpi_op_lor",
    [NIC_REDUCE_LXOR] = "ompi_mpi_op_lxor",  [NIC_REDUCE_BAND] = "ompi_mpi_op_band",
    [NIC_REDUCE_BOR] = "ompi_mpi_op_bor",    [NIC_REDUCE_BXOR] = "ompi_mpi_op_bxor",
    [SHIM_OP_MAXLOC] = "ompi_mpi_op_maxloc", [SHIM_OP_MINLOC] = "ompi_mpi_op_minloc",
};

/* An operation that calls under way need. */
struct held {
    MPI_Op op;
    uint32_t n_holds;
    bool is_freed; /* by the program */
    struct held *next;
};

/** What is known of operations. */
struct shim_ops {
    MPI_Op reductions[SHIM_OP_N_REDUCTIONS];
    MPI_Op null, replace, no_op;
    struct held *held; /* guarded by the lock of state.h */
};

int shim_op_setup(void)
{
    struct shim_ops *ops = calloc(1, sizeof(*ops));

    if (ops == NULL) {
        return -ENOMEM;
    }
    for (int i = 0; i < SHIM_OP_N_REDUCTIONS; i++) {
        ops->reductions[i] = shim_handle_find(op_symbols[i]);
    }
    ops->null = shim_handles.op_null;
    ops->replace = shim_handle_find("ompi_mpi_op_replace");
    ops->no_op = shim_handle_find("ompi_mpi_op_no_op");
    shim_state.ops = ops;
    return 0;
}

void shim_op_teardown(void)
{
    struct shim_ops *ops = shim_state.ops;

    while (ops->held != NULL) {
        struct held *held = ops->held;

        ops->held = held->next;
        free(held);
    }
    free(ops);
    shim_state.ops = NULL;
}

enum shim_op shim_op_find(MPI_Op op)
{
    const struct shim_ops *ops = shim_state.ops;

    for (int i = 0; i < SHIM_OP_N_REDUCTIONS; i++) {
        if (op == ops->reductions[i]) {
            return (enum shim_op)i;
        }
    }
    if (op == NULL || op == ops->null || op == ops->replace || op == ops->no_op) {
        return SHIM_OP_NONE;
    }
    return SHIM_OP_USER;
}

bool shim_op_is_valid(enum shim_op op, const struct shim_datatype *type)
{
    if (op < SHIM_OP_N_REDUCTIONS) {
        return (type->reduce_ops >> op & 1) != 0;
    }
    return op == SHIM_OP_USER;
}

static struct held **find_held(MPI_Op op)
{
    struct held **link = &shim_state.ops->held;

    while (*link != NULL && (*link)->op != op) {
        link = &(*link)->next;
    }
    return link;
}

void shim_op_hold(MPI_Op op)
{
    struct held *held = *find_held(op);

    if (held == NULL) {
        held = calloc(1, sizeof(*held));
        if (held == NULL) {
            return;
        }
        held->op = op;
        held->next = shim_state.ops->held;
        shim_state.ops->held = held;
    }
    held->n_holds++;
}

void shim_op_release(MPI_Op op)
{
    struct held **link = find_held(op), *held = *link;

    if (held == NULL || --held->n_holds > 0) {
        return;
    }
    *link = held->next;
    if (held->is_freed) {
        shim_real.Op_free(&held->op);
    }
    free(held);
}

int shim_op_free(MPI_Op *op)
{
    struct held *held;
    bool was_freed;

    if (op == NULL || shim_op_find(*op) != SHIM_OP_USER) {
        return shim_real.Op_free(op);
    }
    shim_enter();
    held = *find_held(*op);
    was_freed = held != NULL && held->is_freed;
    if (held != NULL && !was_freed) {
        held->is_freed = true;
        *op = shim_handles.op_null;
    }
    shim_leave();
    if (was_freed) {
        return shim_error(NULL, MPI_ERR_OP);
    }
    return held != NULL ? MPI_SUCCESS : shim_real.Op_free(op);
}

/* n elements of a type in its own layout span these bytes, of which the first may lie
 * before the address that stands for the buffer (start < 0) or behind it. */
struct span {
    ptrdiff_t start;
    size_t n_bytes;
};

static struct span span_of(const struct shim_datatype *type, size_t n)
{
    ptrdiff_t last = (ptrdiff_t)(n - 1) * type->extent;

    return (struct span){
        .start = type->true_lb + (last < 0 ? last : 0),
        .n_bytes = (size_t)(type->true_extent + (last < 0 ? -last : last)),
    };
}

static size_t chunk_of(const struct shim_datatype *type, size_t count)
{
    size_t extent = (size_t)(type->extent < 0 ? -type->extent : type->extent);
    size_t n = extent > 0 ? SCRATCH_BYTES / extent : count;

    n = n < count ? n : count;
    n = n < INT_MAX ? n : INT_MAX;
    return n > 0 ? n : 1;
}

static int allocate_scratch(struct shim_combine *combine, size_t count)
{
    struct span span;
    size_t stride;

    combine->n_chunk = chunk_of(combine->type, count);
    span = span_of(combine->type, combine->n_chunk);
    stride = bcs_align_up(span.n_bytes, 64);
    combine->scratch = calloc(2, stride);
    if (combine->scratch == NULL) {
        return -ENOMEM;
    }
    combine->left = combine->scratch - span.start;
    combine->right = combine->scratch + stride - span.start;
    return 0;
}

int shim_op_prepare(struct shim_combine *combine_out, MPI_Op handle, enum shim_op op,
                    const struct shim_datatype *type, size_t count)
{
    *combine_out = (struct shim_combine){.op = handle, .type = type, .kernel = -1};
    if (op < SHIM_OP_MAXLOC && type->reduce_type >= 0) {
        combine_out->kernel = nic_reduce_kernel(
            (enum nic_reduce_op)op, (enum nic_reduce_type)type->reduce_type);
    }
    if (type->is_dense || count == 0) {
        return 0;
    }
    return allocate_scratch(combine_out, count);
}

static void reduce_local(struct shim_combine *combine, const void *left, void *right,
                         size_t count)
{
    int error = shim_real.Reduce_local(left, right, (int)count, combine->type->handle,
                                       combine->op);

    if (error != MPI_SUCCESS) {
        combine->status = -EIO;
    }
}

static void combine_dense(struct shim_combine *combine, const char *left, char *right,
                          size_t count)
{
    for (size_t done = 0; done < count; done += INT_MAX) {
        size_t n = count - done < INT_MAX ? count - done : INT_MAX;
        size_t offset = done * combine->type->size;

        reduce_local(combine, left + offset, right + offset, n);
    }
}

static void combine_in_layout(struct shim_combine *combine, const char *left,
                              char *right, size_t count)
{
    const struct shim_datatype *type = combine->type;

    for (size_t done = 0; done < count; done += combine->n_chunk) {
        size_t left_over = count - done;
        size_t n = left_over < combine->n_chunk ? left_over : combine->n_chunk;
        size_t offset = done * type->size;

        shim_unpack(left + offset, n * type->size, combine->left, type);
        shim_unpack(right + offset, n * type->size, combine->right, type);
        reduce_local(combine, combine->left, combine->right, n);
        shim_pack(combine->right, n, type, right + offset);
    }
}

void shim_op_combine(void *arg, const void *left, void *right, size_t count)
{
    struct shim_combine *combine = arg;

    if (combine->kernel >= 0) {
        nic_reduce_apply(combine->kernel, left, right, count);
    } else if (combine->type->is_dense) {
        combine_dense(combine, left, right, count);
    } else {
        combine_in_layout(combine, left, right, count);
    }
}

int shim_op_finish(struct shim_combine *combine)
{
    free(combine->scratch);
    combine->scratch = NULL;
    return combine->status;
}

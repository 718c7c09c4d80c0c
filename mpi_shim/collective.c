/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's blocking collectives without blocks: Barrier, Bcast, Reduce, Allreduce. Entry
 * points, called through symbols.c in the application's threads; the others are in
 * collective_blocks.c.
 *
 * Arguments are checked here and errors raised here, with the classes of Open MPI: it
 * does not check all arguments on all ranks, so that a wrong call that is given to it
 * could wait for the other ranks, which are with us. A reduction that is not known here
 * (of a parametrized Fortran type, say) is unknown on all ranks and is passed to it.
 */
#include "mpi_shim/collective.h"

#include <bcs/status.h>
#include <errno.h>

#include "mpi_shim/error.h"
#include "mpi_shim/op.h"
#include "mpi_shim/side.h"
#include "mpi_shim/symbols.h"

struct shim_comm *shim_collective_comm(MPI_Comm handle)
{
    struct shim_comm *comm;

    shim_enter();
    comm = shim_comm_find(handle);
    shim_leave();
    return comm;
}

int shim_collective_result(MPI_Comm comm, int status)
{
    if (__builtin_expect(status == 0, 1)) {
        return MPI_SUCCESS;
    }
    if (status == BCS_E_TRUNCATED) {
        return shim_error(comm, MPI_ERR_TRUNCATE);
    }
    return shim_error(comm, status == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN);
}

int shim_collective_class(int count, const struct shim_datatype *type)
{
    return count < 0 ? MPI_ERR_COUNT : type == NULL ? MPI_ERR_TYPE : MPI_SUCCESS;
}

int shim_Barrier(MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    int status;

    if (c == NULL) {
        return shim_pass_Barrier(comm);
    }
    shim_enter();
    status = bcs_barrier(shim_context(), &c->group, NULL);
    shim_leave();
    return shim_collective_result(comm, status);
}

static int bcast_class(const struct shim_comm *c, const void *buffer, int count,
                       const struct shim_datatype *type, int root)
{
    int class = shim_collective_class(count, type);

    if (class != MPI_SUCCESS) {
        return class;
    }
    if (buffer == MPI_IN_PLACE) {
        return MPI_ERR_ARG;
    }
    return shim_collective_has_rank(c, root) ? MPI_SUCCESS : MPI_ERR_ROOT;
}

int shim_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    const struct shim_datatype *type;
    struct shim_side side;
    int class, status, closed;
    bool is_root;

    if (c == NULL) {
        return shim_pass_Bcast(buffer, count, datatype, root, comm);
    }
    type = shim_datatype_find(datatype);
    class = bcast_class(c, buffer, count, type, root);
    if (class != MPI_SUCCESS) {
        return shim_error(comm, class);
    }
    is_root = c->group.rank == root;
    status = shim_side_open(&side, buffer, count, type, is_root);
    if (status == 0) {
        shim_enter();
        status =
            bcs_bcast(shim_context(), &c->group, side.data, side.n_bytes, root, NULL);
        shim_leave();
    }
    closed = shim_side_close(&side, !is_root && status >= 0);
    return shim_collective_result(comm, status != 0 ? status : closed);
}

/** The vectors of a reduction, as the program gave them; valid arguments only. */
struct reduction {
    const void *sendbuf;
    void *recvbuf;
    int count;
    const struct shim_datatype *type;
    MPI_Op handle;
    enum shim_op op;
};

/* In and out may be the same memory: that is how the API does it in place. */
static int reduce(struct shim_comm *c, const struct reduction *call, int root)
{
    bool is_target = root == BCS_ROOT_ALL || root == c->group.rank;
    bool is_in_place = call->sendbuf == MPI_IN_PLACE;
    struct shim_side in = {0}, out = {0};
    struct shim_combine combine;
    int status, closed;

    status = shim_op_prepare(&combine, call->handle, call->op, call->type,
                             (size_t)call->count);
    if (status != 0) {
        return status;
    }
    status = shim_side_open(&in, is_in_place ? call->recvbuf : call->sendbuf,
                            call->count, call->type, true);
    if (status == 0 && is_target) {
        status = shim_side_open(&out, call->recvbuf, call->count, call->type, false);
    }
    if (status == 0) {
        struct bcs_reduction reduction = {
            .in = in.data,
            .out = out.data,
            .count = (size_t)call->count,
            .element_bytes = call->type->size,
            .op = combine.kernel < 0 ? BCS_OP_COMBINE : (enum bcs_op)(call->op + 1),
            .type = (enum bcs_type)call->type->reduce_type,
            .combine = shim_op_combine,
            .arg = &combine,
        };

        shim_enter();
        status = bcs_reduce(shim_context(), &c->group, &reduction, root, NULL);
        shim_leave();
    }
    closed = shim_op_finish(&combine);
    status = status != 0 ? status : closed;
    closed = shim_side_close(&out, status == 0);
    shim_side_close(&in, false);
    return status != 0 ? status : closed;
}

static int reduction_class(const struct reduction *call)
{
    if (call->op == SHIM_OP_NONE || (call->op != SHIM_OP_USER && call->type == NULL)) {
        return MPI_ERR_OP;
    }
    return shim_collective_class(call->count, call->type);
}

int shim_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct reduction call = {sendbuf, recvbuf, count, NULL, op, SHIM_OP_NONE};
    int class;

    if (c == NULL) {
        return shim_pass_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    }
    call.type = shim_datatype_find(datatype);
    call.op = shim_op_find(op);
    class = recvbuf == MPI_IN_PLACE ? MPI_ERR_BUFFER : reduction_class(&call);
    if (class != MPI_SUCCESS) {
        return shim_error(comm, class);
    }
    if (!shim_op_is_valid(call.op, call.type)) {
        return shim_pass_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    }
    return shim_collective_result(comm, reduce(c, &call, BCS_ROOT_ALL));
}

/* Whether the buffers are named as MPI_Reduce allows it on this rank. */
static bool are_reduce_buffers_valid(const struct reduction *call, bool is_root)
{
    if (!is_root) {
        return call->sendbuf != MPI_IN_PLACE;
    }
    return call->recvbuf != MPI_IN_PLACE &&
           (call->sendbuf != call->recvbuf || call->count == 0);
}

static int rooted_class(const struct shim_comm *c, const struct reduction *call,
                        int root)
{
    int class = reduction_class(call);

    if (class != MPI_SUCCESS) {
        return class;
    }
    if (!are_reduce_buffers_valid(call, c->group.rank == root)) {
        return MPI_ERR_ARG;
    }
    return shim_collective_has_rank(c, root) ? MPI_SUCCESS : MPI_ERR_ROOT;
}

int shim_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                MPI_Op op, int root, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct reduction call = {sendbuf, recvbuf, count, NULL, op, SHIM_OP_NONE};
    int class;

    if (c == NULL) {
        return shim_pass_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
    }
    call.type = shim_datatype_find(datatype);
    call.op = shim_op_find(op);
    class = rooted_class(c, &call, root);
    if (class != MPI_SUCCESS) {
        return shim_error(comm, class);
    }
    if (!shim_op_is_valid(call.op, call.type)) {
        return shim_pass_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
    }
    return shim_collective_result(comm, reduce(c, &call, root));
}

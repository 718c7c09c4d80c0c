/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's blocking collectives with a block for each rank: Gather, Scatter, Allgather,
 * Alltoall and their v-variants. Entry points, called through symbols.c in the
 * application's threads.
 *
 * The regular and the v-variant differ in their layout only and share one function
 * each. Arguments are checked as in collective.c.
 */
#include "mpi_shim/collective.h"
#include "mpi_shim/error.h"
#include "mpi_shim/side.h"
#include "mpi_shim/symbols.h"

/** A member's own buffer of a gather, scatter or allgather. */
struct own {
    const void *buf;
    int count;
    const struct shim_datatype *type; /* NULL: not usable */
    bool is_in_place;
};

static struct own own_of(const void *buf, int count, MPI_Datatype datatype)
{
    bool is_in_place = buf == MPI_IN_PLACE;

    return (struct own){
        .buf = buf,
        .count = count,
        .type = is_in_place ? NULL : shim_datatype_find(datatype),
        .is_in_place = is_in_place,
    };
}

static int own_class(const struct own *own)
{
    return own->is_in_place ? MPI_SUCCESS
                            : shim_collective_class(own->count, own->type);
}

static struct shim_layout regular(const void *buf, int count, MPI_Datatype datatype)
{
    return (struct shim_layout){
        .buf = buf,
        .count = count,
        .type = shim_datatype_find(datatype),
    };
}

static struct shim_layout vector(const void *buf, const int *counts, const int *displs,
                                 MPI_Datatype datatype)
{
    return (struct shim_layout){
        .buf = buf,
        .is_vector = true,
        .counts = counts,
        .displs = displs,
        .type = shim_datatype_find(datatype),
    };
}

/* The error class of a layout; no_displs is the one for missing displacements. */
static int layout_class(const struct shim_comm *c, const struct shim_layout *layout,
                        int no_displs)
{
    if (layout->is_vector && layout->displs == NULL) {
        return no_displs;
    }
    if (layout->is_vector && layout->counts == NULL) {
        return MPI_ERR_COUNT;
    }
    for (int32_t i = 0; layout->is_vector && i < c->group.size; i++) {
        if (layout->counts[i] < 0) {
            return MPI_ERR_COUNT;
        }
    }
    return shim_collective_class(layout->count, layout->type);
}

/* The error class of a gather or scatter. The layout matters on the root only. */
static int rooted_class(const struct shim_comm *c, const struct own *own,
                        const struct shim_layout *layout, int root)
{
    bool is_root = c->group.rank == root;
    int class;

    if (!shim_collective_has_rank(c, root)) {
        return MPI_ERR_ROOT;
    }
    if (is_root ? layout->buf == MPI_IN_PLACE : own->is_in_place) {
        return MPI_ERR_ARG;
    }
    class = own_class(own);
    if (class == MPI_SUCCESS && is_root) {
        class = layout_class(c, layout, MPI_ERR_ARG);
    }
    return class;
}

static int first_of(int status, int other)
{
    return status != 0 ? status : other;
}

static int own_open(struct shim_side *side, const struct own *own, bool is_input)
{
    if (own->is_in_place) {
        return 0;
    }
    return shim_side_open(side, own->buf, own->count, own->type, is_input);
}

static int do_gather(struct shim_comm *c, const struct own *own,
                     const struct shim_layout *layout, int root)
{
    int input = own->is_in_place ? root : SHIM_INPUT_NONE;
    bool is_root = c->group.rank == root;
    struct shim_side side = {0};
    struct shim_blocks blocks;
    int status;

    status = own_open(&side, own, true);
    if (is_root) {
        status =
            first_of(status, shim_blocks_open(&blocks, layout, c->group.size, input));
    }
    if (status == 0) {
        shim_enter();
        status = bcs_gather(
            shim_context(), &c->group,
            own->is_in_place ? NULL : &(struct bcs_part){side.data, side.n_bytes},
            &blocks.blocks, root, NULL);
        shim_leave();
    }
    if (is_root) {
        status = first_of(status, shim_blocks_close(&blocks, status == 0));
    }
    shim_side_close(&side, false);
    return status;
}

static int gather(MPI_Comm comm, struct shim_comm *c, const struct own *own,
                  const struct shim_layout *layout, int root)
{
    int class = rooted_class(c, own, layout, root);

    if (class != MPI_SUCCESS) {
        return shim_error(comm, class);
    }
    return shim_collective_result(comm, do_gather(c, own, layout, root));
}

int shim_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct shim_layout layout = {0};
    struct own own;

    if (c == NULL) {
        return shim_pass_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                recvtype, root, comm);
    }
    own = own_of(sendbuf, sendcount, sendtype);
    if (c->group.rank == root) {
        layout = regular(recvbuf, recvcount, recvtype);
    }
    return gather(comm, c, &own, &layout, root);
}

int shim_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                 void *recvbuf, const int recvcounts[], const int displs[],
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct shim_layout layout = {0};
    struct own own;

    if (c == NULL) {
        return shim_pass_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                 displs, recvtype, root, comm);
    }
    own = own_of(sendbuf, sendcount, sendtype);
    if (c->group.rank == root) {
        layout = vector(recvbuf, recvcounts, displs, recvtype);
    }
    return gather(comm, c, &own, &layout, root);
}

static int do_scatter(struct shim_comm *c, const struct own *own,
                      const struct shim_layout *layout, int root)
{
    bool is_root = c->group.rank == root;
    struct shim_side side = {0};
    struct shim_blocks blocks;
    int status;

    status = own_open(&side, own, false);
    if (is_root) {
        status = first_of(
            status, shim_blocks_open(&blocks, layout, c->group.size, SHIM_INPUT_ALL));
    }
    if (status == 0) {
        shim_enter();
        status = bcs_scatter(
            shim_context(), &c->group,
            own->is_in_place ? NULL : &(struct bcs_part){side.data, side.n_bytes},
            &blocks.blocks, root, NULL);
        shim_leave();
    }
    if (is_root) {
        shim_blocks_close(&blocks, false);
    }
    return first_of(status, shim_side_close(&side, status == 0));
}

static int scatter(MPI_Comm comm, struct shim_comm *c, const struct own *own,
                   const struct shim_layout *layout, int root)
{
    int class = rooted_class(c, own, layout, root);

    if (class != MPI_SUCCESS) {
        return shim_error(comm, class);
    }
    return shim_collective_result(comm, do_scatter(c, own, layout, root));
}

int shim_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct shim_layout layout = {0};
    struct own own;

    if (c == NULL) {
        return shim_pass_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                 recvtype, root, comm);
    }
    own = own_of(recvbuf, recvcount, recvtype);
    if (c->group.rank == root) {
        layout = regular(sendbuf, sendcount, sendtype);
    }
    return scatter(comm, c, &own, &layout, root);
}

int shim_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct shim_layout layout = {0};
    struct own own;

    if (c == NULL) {
        return shim_pass_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf,
                                  recvcount, recvtype, root, comm);
    }
    own = own_of(recvbuf, recvcount, recvtype);
    if (c->group.rank == root) {
        layout = vector(sendbuf, sendcounts, displs, sendtype);
    }
    return scatter(comm, c, &own, &layout, root);
}

static int do_allgather(struct shim_comm *c, const struct own *own,
                        const struct shim_layout *layout)
{
    int input = own->is_in_place ? c->group.rank : SHIM_INPUT_NONE;
    struct shim_side side = {0};
    struct shim_blocks blocks;
    int status;

    status = first_of(shim_blocks_open(&blocks, layout, c->group.size, input),
                      own_open(&side, own, true));
    if (status == 0) {
        shim_enter();
        status =
            bcs_allgather(shim_context(), &c->group, side.data, &blocks.blocks, NULL);
        shim_leave();
    }
    status = first_of(status, shim_blocks_close(&blocks, status == 0));
    shim_side_close(&side, false);
    return status;
}

static int allgather(MPI_Comm comm, struct shim_comm *c, const struct own *own,
                     const struct shim_layout *layout)
{
    int class = layout->buf == MPI_IN_PLACE ? MPI_ERR_ARG : own_class(own);

    if (class == MPI_SUCCESS) {
        class = layout_class(c, layout, MPI_ERR_BUFFER);
    }
    if (class != MPI_SUCCESS) {
        return shim_error(comm, class);
    }
    return shim_collective_result(comm, do_allgather(c, own, layout));
}

int shim_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct shim_layout layout;
    struct own own;

    if (c == NULL) {
        return shim_pass_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                   recvtype, comm);
    }
    own = own_of(sendbuf, sendcount, sendtype);
    layout = regular(recvbuf, recvcount, recvtype);
    return allgather(comm, c, &own, &layout);
}

int shim_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                    void *recvbuf, const int recvcounts[], const int displs[],
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct shim_layout layout;
    struct own own;

    if (c == NULL) {
        return shim_pass_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                    displs, recvtype, comm);
    }
    own = own_of(sendbuf, sendcount, sendtype);
    layout = vector(recvbuf, recvcounts, displs, recvtype);
    return allgather(comm, c, &own, &layout);
}

/* send is NULL: in place. */
static int do_alltoall(struct shim_comm *c, const struct shim_layout *send,
                       const struct shim_layout *receive)
{
    int input = send == NULL ? SHIM_INPUT_ALL : SHIM_INPUT_NONE;
    struct shim_blocks from, to;
    int status;

    status = shim_blocks_open(&to, receive, c->group.size, input);
    from.blocks.data = NULL;
    if (send != NULL) {
        status = first_of(status,
                          shim_blocks_open(&from, send, c->group.size, SHIM_INPUT_ALL));
    }
    if (status == 0) {
        shim_enter();
        status =
            bcs_alltoall(shim_context(), &c->group, &from.blocks, &to.blocks, NULL);
        shim_leave();
    }
    if (send != NULL) {
        shim_blocks_close(&from, false);
    }
    return first_of(status, shim_blocks_close(&to, status == 0));
}

static int alltoall(MPI_Comm comm, struct shim_comm *c, const struct shim_layout *send,
                    const struct shim_layout *receive)
{
    int class = receive->buf == MPI_IN_PLACE ? MPI_ERR_ARG : MPI_SUCCESS;

    if (class == MPI_SUCCESS && send != NULL) {
        class = layout_class(c, send, MPI_ERR_ARG);
    }
    if (class == MPI_SUCCESS) {
        class = layout_class(c, receive, MPI_ERR_ARG);
    }
    if (class != MPI_SUCCESS) {
        return shim_error(comm, class);
    }
    return shim_collective_result(comm, do_alltoall(c, send, receive));
}

int shim_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct shim_layout send, receive;

    if (c == NULL) {
        return shim_pass_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                  recvtype, comm);
    }
    receive = regular(recvbuf, recvcount, recvtype);
    if (sendbuf == MPI_IN_PLACE) {
        return alltoall(comm, c, NULL, &receive);
    }
    send = regular(sendbuf, sendcount, sendtype);
    return alltoall(comm, c, &send, &receive);
}

int shim_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct shim_comm *c = shim_collective_comm(comm);
    struct shim_layout send, receive;

    if (c == NULL) {
        return shim_pass_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                   recvcounts, rdispls, recvtype, comm);
    }
    receive = vector(recvbuf, recvcounts, rdispls, recvtype);
    if (sendbuf == MPI_IN_PLACE) {
        return alltoall(comm, c, NULL, &receive);
    }
    send = vector(sendbuf, sendcounts, sdispls, sendtype);
    return alltoall(comm, c, &send, &receive);
}

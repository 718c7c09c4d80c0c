/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong calls of collectives, blocking and not: each with each of its arguments wrong
 * in each way, where a rank is alone, and on rank 0 of all, as root and as another. A
 * wrong call is refused without the others, who do not call.
 */
#include "tests/conformance/error_classes.h"

enum { N_MAX = 16 };

/* The arguments of all functions. */
struct call {
    const void *sendbuf;
    void *recvbuf;
    int sendcount, recvcount;
    const int *sendcounts, *recvcounts;
    const int *sdispls, *rdispls;
    const MPI_Aint *soffsets, *roffsets;
    MPI_Datatype sendtype, recvtype;
    const MPI_Datatype *sendtypes, *recvtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_Request *request;
};

/* Arguments that a function has. */
enum {
    SENDBUF = 1 << 0,
    SENDCOUNT = 1 << 1,
    SENDTYPE = 1 << 2,
    SENDCOUNTS = 1 << 3, /* with displacements */
    SENDTYPES = 1 << 4,
    RECVBUF = 1 << 5,
    RECVCOUNT = 1 << 6,
    RECVTYPE = 1 << 7,
    RECVCOUNTS = 1 << 8, /* with displacements, but not of a reduction */
    RECVTYPES = 1 << 9,
    OP = 1 << 10,
    ROOT = 1 << 11,
    REQUEST = 1 << 12, /* the non-blocking form */
};
enum {
    SEND = SENDBUF | SENDCOUNT | SENDTYPE,
    SENDV = SENDBUF | SENDCOUNTS | SENDTYPE,
    SENDW = SENDBUF | SENDCOUNTS | SENDTYPES,
    RECV = RECVBUF | RECVCOUNT | RECVTYPE,
    RECVV = RECVBUF | RECVCOUNTS | RECVTYPE,
    RECVW = RECVBUF | RECVCOUNTS | RECVTYPES,
    REDUCED = SENDBUF | RECV | OP,
};

#define SEND_ARGS c->sendbuf, c->sendcount, c->sendtype
#define SENDV_ARGS c->sendbuf, c->sendcounts, c->sdispls, c->sendtype
#define SENDW_ARGS c->sendbuf, c->sendcounts, c->sdispls, c->sendtypes
#define SENDWA_ARGS c->sendbuf, c->sendcounts, c->soffsets, c->sendtypes
#define RECV_ARGS c->recvbuf, c->recvcount, c->recvtype
#define RECVV_ARGS c->recvbuf, c->recvcounts, c->rdispls, c->recvtype
#define RECVW_ARGS c->recvbuf, c->recvcounts, c->rdispls, c->recvtypes
#define RECVWA_ARGS c->recvbuf, c->recvcounts, c->roffsets, c->recvtypes
#define REDUCED_ARGS c->sendbuf, c->recvbuf, c->recvcount, c->recvtype, c->op

/* name, lower, what it has, arguments */
#define COLLECTIVES(X)                                                                 \
    X(Bcast, bcast, RECV | ROOT, RECV_ARGS, c->root)                                   \
    X(Gather, gather, SEND | RECV | ROOT, SEND_ARGS, RECV_ARGS, c->root)               \
    X(Gatherv, gatherv, SEND | RECVV | ROOT, SEND_ARGS, RECVV_ARGS, c->root)           \
    X(Scatter, scatter, SEND | RECV | ROOT, SEND_ARGS, RECV_ARGS, c->root)             \
    X(Scatterv, scatterv, SENDV | RECV | ROOT, SENDV_ARGS, RECV_ARGS, c->root)         \
    X(Allgather, allgather, SEND | RECV, SEND_ARGS, RECV_ARGS)                         \
    X(Allgatherv, allgatherv, SEND | RECVV, SEND_ARGS, RECVV_ARGS)                     \
    X(Alltoall, alltoall, SEND | RECV, SEND_ARGS, RECV_ARGS)                           \
    X(Alltoallv, alltoallv, SENDV | RECVV, SENDV_ARGS, RECVV_ARGS)                     \
    X(Alltoallw, alltoallw, SENDW | RECVW, SENDW_ARGS, RECVW_ARGS)                     \
    X(Reduce, reduce, REDUCED | ROOT, REDUCED_ARGS, c->root)                           \
    X(Allreduce, allreduce, REDUCED, REDUCED_ARGS)                                     \
    X(Reduce_scatter, reduce_scatter, SENDBUF | RECVBUF | RECVCOUNTS | RECVTYPE | OP,  \
      c->sendbuf, c->recvbuf, c->recvcounts, c->recvtype, c->op)                       \
    X(Reduce_scatter_block, reduce_scatter_block, REDUCED, REDUCED_ARGS)               \
    X(Scan, scan, REDUCED, REDUCED_ARGS)                                               \
    X(Exscan, exscan, REDUCED, REDUCED_ARGS)
#define NEIGHBOURS(X)                                                                  \
    X(Neighbor_allgather, neighbor_allgather, SEND | RECV, SEND_ARGS, RECV_ARGS)       \
    X(Neighbor_allgatherv, neighbor_allgatherv, SEND | RECVV, SEND_ARGS, RECVV_ARGS)   \
    X(Neighbor_alltoall, neighbor_alltoall, SEND | RECV, SEND_ARGS, RECV_ARGS)         \
    X(Neighbor_alltoallv, neighbor_alltoallv, SENDV | RECVV, SENDV_ARGS, RECVV_ARGS)   \
    X(Neighbor_alltoallw, neighbor_alltoallw, SENDW | RECVW, SENDWA_ARGS, RECVWA_ARGS)

#define DEFINE(name, lower, has, ...)                                                  \
    static int do_##name(const struct call *c)                                         \
    {                                                                                  \
        return MPI_##name(__VA_ARGS__, c->comm);                                       \
    }                                                                                  \
    static int do_I##lower(const struct call *c)                                       \
    {                                                                                  \
        return MPI_I##lower(__VA_ARGS__, c->comm, c->request);                         \
    }
COLLECTIVES(DEFINE)
NEIGHBOURS(DEFINE)

struct function {
    const char *name;
    int which;
    int has;
    int (*call)(const struct call *c);
};

#define NUMBER(name, lower, has, ...) IS_##name,
#define ROW(name, lower, has, ...)                                                     \
    {#name, IS_##name, has, do_##name},                                                \
        {"I" #lower, IS_##name, (has) | REQUEST, do_I##lower},
enum { COLLECTIVES(NUMBER) NEIGHBOURS(NUMBER) };
static const struct function collectives[] = {COLLECTIVES(ROW)};
static const struct function neighbours[] = {NEIGHBOURS(ROW)};

static int numbers[2][N_MAX];
static int ones[N_MAX], zeros[N_MAX], last_negative[N_MAX];
static MPI_Aint no_offsets[N_MAX];
static MPI_Datatype integers[N_MAX], last_null[N_MAX], last_loose[N_MAX];

static void fill(const struct place *place, int size)
{
    for (int i = 0; i < N_MAX; i++) {
        ones[i] = 1;
        last_negative[i] = i == size - 1 ? -1 : 1;
        integers[i] = last_null[i] = last_loose[i] = MPI_INT;
    }
    last_null[size - 1] = MPI_DATATYPE_NULL;
    last_loose[size - 1] = place->loose;
}

static struct call good_call(MPI_Comm comm, int root)
{
    return (struct call){
        .sendbuf = numbers[0],
        .recvbuf = numbers[1],
        .sendcount = 1,
        .recvcount = 1,
        .sendcounts = ones,
        .recvcounts = ones,
        .sdispls = zeros,
        .rdispls = zeros,
        .soffsets = no_offsets,
        .roffsets = no_offsets,
        .sendtype = MPI_INT,
        .recvtype = MPI_INT,
        .sendtypes = integers,
        .recvtypes = integers,
        .op = MPI_SUM,
        .root = root,
        .comm = comm,
    };
}

/* Ways to be wrong: the class if Open MPI does not find it, which arguments the
 * function must have, and what is put in. */
#define WAYS(X)                                                                        \
    X(SENDBUF_IN_PLACE, ARG, SENDBUF, c->sendbuf = MPI_IN_PLACE)                       \
    X(SENDBUF_IS_RECVBUF, BUFFER, SENDBUF | OP,                                        \
      (c->sendbuf = c->recvbuf, c->recvcount = 2))                                     \
    X(SENDCOUNT_NEGATIVE, COUNT, SENDCOUNT, c->sendcount = -1)                         \
    X(SENDCOUNTS_NULL, ARG, SENDCOUNTS, c->sendcounts = NULL)                          \
    X(SENDCOUNTS_ONE_NEGATIVE, COUNT, SENDCOUNTS, c->sendcounts = last_negative)       \
    X(SDISPLS_NULL, ARG, SENDCOUNTS, (c->sdispls = NULL, c->soffsets = NULL))          \
    X(SENDTYPE_NULL, TYPE, SENDTYPE, c->sendtype = MPI_DATATYPE_NULL)                  \
    X(SENDTYPE_LOOSE, TYPE, SENDTYPE, c->sendtype = place->loose)                      \
    X(SENDTYPES_NULL, ARG, SENDTYPES, c->sendtypes = NULL)                             \
    X(SENDTYPES_ONE_NULL, TYPE, SENDTYPES, c->sendtypes = last_null)                   \
    X(SENDTYPES_ONE_LOOSE, TYPE, SENDTYPES, c->sendtypes = last_loose)                 \
    X(RECVBUF_IN_PLACE, ARG, RECVBUF, c->recvbuf = MPI_IN_PLACE)                       \
    X(RECVCOUNT_NEGATIVE, COUNT, RECVCOUNT, c->recvcount = -1)                         \
    X(RECVCOUNTS_NULL, COUNT, RECVCOUNTS, c->recvcounts = NULL)                        \
    X(RECVCOUNTS_ONE_NEGATIVE, COUNT, RECVCOUNTS, c->recvcounts = last_negative)       \
    X(RDISPLS_NULL, ARG, RECVCOUNTS, (c->rdispls = NULL, c->roffsets = NULL))          \
    X(RECVTYPE_NULL, TYPE, RECVTYPE, c->recvtype = MPI_DATATYPE_NULL)                  \
    X(RECVTYPE_LOOSE, TYPE, RECVTYPE, c->recvtype = place->loose)                      \
    X(RECVTYPES_NULL, ARG, RECVTYPES, c->recvtypes = NULL)                             \
    X(RECVTYPES_ONE_NULL, TYPE, RECVTYPES, c->recvtypes = last_null)                   \
    X(RECVTYPES_ONE_LOOSE, TYPE, RECVTYPES, c->recvtypes = last_loose)                 \
    X(OP_NULL, OP, OP, c->op = MPI_OP_NULL)                                            \
    X(OP_FOR_BITS, OP, OP, (c->op = MPI_BAND, c->recvtype = MPI_DOUBLE))               \
    X(OP_FOR_PAIRS, OP, OP, c->op = MPI_MAXLOC)                                        \
    X(OP_FOR_SUMS, OP, OP, c->recvtype = MPI_C_BOOL)                                   \
    X(OP_FOR_TRUTHS, OP, OP, (c->op = MPI_LAND, c->recvtype = MPI_INTEGER))            \
    X(OP_FOR_NUMBERS, OP, OP, c->recvtype = place->pair)                               \
    X(ROOT_TOO_HIGH, ROOT, ROOT, c->root = N_MAX)                                      \
    X(ROOT_NEGATIVE, ROOT, ROOT, c->root = -7)                                         \
    X(ROOT_ACROSS, ROOT, ROOT, c->root = MPI_ROOT)                                     \
    X(ROOT_NOBODY, ROOT, ROOT, c->root = MPI_PROC_NULL)                                \
    X(COMM_NULL, COMM, 0, c->comm = MPI_COMM_NULL)                                     \
    X(COMM_MISSING, COMM, 0, c->comm = NULL)                                           \
    X(REQUEST_MISSING, REQUEST, REQUEST, c->request = NULL)                            \
    X(SENDBUF_NULL, BUFFER, SENDBUF, c->sendbuf = NULL)                                \
    X(RECVBUF_NULL, BUFFER, RECVBUF, c->recvbuf = NULL)                                \
    X(MORE_SENT, TRUNCATE, SENDCOUNT | RECVCOUNT, c->sendcount = 2)                    \
    X(MORE_RECEIVED, TRUNCATE, SENDCOUNT | RECVCOUNT, c->recvcount = 2)                \
    X(BLOCK_TOO_SHORT, TRUNCATE, SENDCOUNT | RECVCOUNTS, c->sendcount = 0)             \
    X(BLOCK_TOO_LONG, TRUNCATE, SENDCOUNTS | RECVCOUNT, c->recvcount = 0)

#define WAY(id, class, needs, change) id,
#define DESCRIPTION(id, class, needs, change) {#id, needs, MPI_ERR_##class},
#define CHANGE(id, class, needs, change)                                               \
    case id:                                                                           \
        (void)(change);                                                                \
        break;

enum way { WAYS(WAY) N_WAYS };

static const struct {
    const char *name;
    int needs;
    int class;
} ways[] = {WAYS(DESCRIPTION)};

static void spoil(struct call *c, enum way way, const struct place *place)
{
    switch (way) {
        WAYS(CHANGE)
    default:
        break;
    }
}

/* Whether Open MPI crashes, or goes on as if nothing were wrong. */
static int is_lax(int which, enum way way)
{
    switch (way) {
    case RECVBUF_NULL: /* nothing is moved */
    case SENDBUF_NULL:
        return which != IS_Bcast && which != IS_Exscan;
    case REQUEST_MISSING:
        return 1;
    case RECVTYPE_LOOSE:
        return (which >= IS_Gather && which <= IS_Allgatherv) ||
               which == IS_Neighbor_allgather || which == IS_Neighbor_allgatherv;
    case SENDCOUNT_NEGATIVE:
    case SENDTYPE_NULL:
    case SENDTYPE_LOOSE:
        return which == IS_Scatter;
    case COMM_NULL:
    case COMM_MISSING:
        return which == IS_Allgather || which == IS_Neighbor_allgather;
    case MORE_RECEIVED:
    case BLOCK_TOO_SHORT:
        return which != IS_Alltoall;
    case RECVCOUNTS_NULL:
    case RECVCOUNTS_ONE_NEGATIVE:
        return which == IS_Allgatherv || which == IS_Neighbor_allgatherv;
    default:
        return 0;
    }
}

/* Call, and end what has been started. */
static int carry_out(const struct function *function, struct call *call)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code;

    if (call->request != NULL) {
        call->request = &request;
    }
    code = function->call(call);
    if (code == MPI_SUCCESS && request != MPI_REQUEST_NULL) {
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(request == MPI_REQUEST_NULL);
    return code;
}

static void be_wrong(const struct function *function, enum way way,
                     const struct call *good, const struct place *place)
{
    MPI_Request request;
    struct call call = *good;

    call.request = &request;
    spoil(&call, way, place);
    if (is_lax(function->which, way)) {
        REFUSED(function->name, ways[way].name, ways[way].class,
                carry_out(function, &call));
    } else {
        errors_say(function->name, ways[way].name, carry_out(function, &call));
    }
}

static int has_what_it_takes(const struct function *function, enum way way)
{
    return (ways[way].needs & function->has) == ways[way].needs;
}

static void alone(const struct place *place)
{
    struct call good = good_call(place->self, 0);

    fill(place, 1);
    for (int i = 0; i < CHECK_N(collectives); i++) {
        for (int way = 0; way < N_WAYS; way++) {
            if (has_what_it_takes(&collectives[i], way)) {
                be_wrong(&collectives[i], way, &good, place);
            }
        }
    }
}

/* Whether a rank that is not the root finds it; those without a root: only what takes
 * several ranks. */
static int is_found_by_others(int which, enum way way)
{
    int gathers = which == IS_Gather || which == IS_Gatherv;
    int scatters = which == IS_Scatter || which == IS_Scatterv;

    switch (way) {
    case SENDBUF_IN_PLACE:
        return gathers || which == IS_Reduce;
    case SENDCOUNT_NEGATIVE:
    case SENDTYPE_NULL:
    case SENDTYPE_LOOSE:
        return gathers;
    case RECVBUF_IN_PLACE:
        return scatters || which == IS_Bcast;
    case RECVCOUNT_NEGATIVE:
    case RECVTYPE_NULL:
        return scatters || which == IS_Bcast || which == IS_Reduce;
    case SENDCOUNTS_ONE_NEGATIVE:
    case RECVCOUNTS_ONE_NEGATIVE:
    case SENDTYPES_ONE_NULL:
    case RECVTYPES_ONE_NULL:
        return !gathers && !scatters;
    case OP_NULL:
    case OP_FOR_BITS:
    case OP_FOR_SUMS:
    case OP_FOR_TRUTHS:
    case OP_FOR_NUMBERS:
    case ROOT_TOO_HIGH:
    case ROOT_NEGATIVE:
    case ROOT_ACROSS:
    case ROOT_NOBODY:
        return 1;
    default:
        return 0;
    }
}

/* Rank 0 is wrong; the others do not call. */
static void among_others(const struct place *place)
{
    struct call good = good_call(place->many, place->world.size - 1);

    fill(place, place->world.size);
    for (int i = 0; place->world.rank == 0 && i < CHECK_N(collectives); i++) {
        for (int way = 0; way < N_WAYS; way++) {
            if (has_what_it_takes(&collectives[i], way) &&
                is_found_by_others(collectives[i].which, way)) {
                be_wrong(&collectives[i], way, &good, place);
            }
        }
    }
}

/* Open MPI says something else of two functions without neighbours, and of data of the
 * wrong size. */
static void with_neighbours(const struct place *place)
{
    struct call none = good_call(place->self, 0), good;
    int dims = 1, periods = 1;
    MPI_Request request;
    MPI_Comm ring;

    fill(place, 2);
    MPI_Cart_create(place->self, 1, &dims, &periods, 0, &ring);
    good = good_call(ring, 0);
    for (int i = 0; i < CHECK_N(neighbours); i++) {
        int which = neighbours[i].which;

        for (int way = 0; way < MORE_SENT; way++) {
            if (has_what_it_takes(&neighbours[i], way)) {
                be_wrong(&neighbours[i], way, &good, place);
            }
        }
        none.request = &request;
        if (which == IS_Neighbor_allgather || which == IS_Neighbor_alltoallv) {
            REFUSED(neighbours[i].name, "no neighbours", MPI_ERR_TOPOLOGY,
                    carry_out(&neighbours[i], &none));
        } else {
            errors_say(neighbours[i].name, "no neighbours",
                       carry_out(&neighbours[i], &none));
        }
    }
    MPI_Comm_free(&ring);
}

/* Rank 0 is wrong, on an intercommunicator. */
static void across(const struct place *place)
{
    static const enum way found[] = {RECVBUF_IN_PLACE, OP_NULL, SENDCOUNTS_NULL,
                                     RECVCOUNT_NEGATIVE};
    struct world world = place->world;
    MPI_Comm half, both;
    struct call good;

    MPI_Comm_split(place->many, world.rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, place->many, 1 - world.rank % 2, 1, &both);
    good = good_call(both, 0);
    fill(place, 1);
    for (int i = 0; world.rank == 0 && i < CHECK_N(collectives); i++) {
        for (int n = 0; n < CHECK_N(found); n++) {
            if (has_what_it_takes(&collectives[i], found[n]) &&
                !(collectives[i].has & ROOT) && collectives[i].which < IS_Reduce) {
                be_wrong(&collectives[i], found[n], &good, place);
            }
        }
        if (!(collectives[i].has & ROOT)) {
            struct call call = good;
            MPI_Request request;

            call.request = &request;
            call.sendbuf = MPI_IN_PLACE;
            if (collectives[i].which < IS_Reduce || collectives[i].which == IS_Scan) {
                errors_say(collectives[i].name, "in place, across",
                           carry_out(&collectives[i], &call));
            }
        }
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    struct place place = errors_begin(&argc, &argv);

    alone(&place);
    with_neighbours(&place);
    if (place.world.size > 1) {
        among_others(&place);
        across(&place);
    }
    return errors_end(&place);
}

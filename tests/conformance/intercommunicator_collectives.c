/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All collectives across intercommunicators, blocking and started: what one side gives
 * the other gets, whichever the root, however long, with types that have gaps,
 * operations of the program that do not commute, and sides of different size.
 */
#include "tests/conformance/sides.h"

/* Carry a call out in one of its two forms. */
#define RUN(is_started, name, started_name, ...)                                       \
    do {                                                                               \
        if (is_started) {                                                              \
            MPI_Request request;                                                       \
            MPI_##started_name(__VA_ARGS__, &request);                                 \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                     \
        } else {                                                                       \
            MPI_##name(__VA_ARGS__);                                                   \
        }                                                                              \
    } while (0)

/** What element k of the block from one of world's ranks to another is. */
static int element(int from, int to, int k)
{
    return 10000 * from + 100 * to + k % 97;
}

/** The root as each rank has to name it. */
static int root_for(const struct sides *sides, int root_side, int root)
{
    if (sides->which != root_side) {
        return root;
    }
    return sides->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static int root_side_size(const struct sides *sides, int root_side)
{
    return sides->which == root_side ? sides->size : sides->n_remote;
}

/** World's rank of a rank of a side. */
static int world_rank(const struct sides *sides, int side, int rank)
{
    return side == 0 ? rank : sides->n_first + rank;
}

static void broadcasts(const struct sides *sides, int n, int is_started)
{
    int *data = check_alloc(n * sizeof(int));

    for (int side = 0; side < 2; side++) {
        for (int root = 0; root < root_side_size(sides, side); root++) {
            int named = root_for(sides, side, root);
            int from = world_rank(sides, side, root);

            for (int k = 0; k < n; k++) {
                data[k] = named == MPI_ROOT ? element(from, 0, k) : -1;
            }
            RUN(is_started, Bcast, Ibcast, data, n, MPI_INT, named, sides->both);
            for (int k = 0; k < n; k++) {
                CHECK_EQUAL(data[k], named == MPI_PROC_NULL ? -1 : element(from, 0, k));
            }
        }
    }
    free(data);
}

/** Gather and scatter, of blocks of one length and of lengths that grow with the
 *  rank. */
static void rooted_blocks(struct world world, const struct sides *sides, int n,
                          int is_started)
{
    int max = n + world.size;
    int *all = check_alloc(world.size * (max + 1) * sizeof(int));
    int *own = check_alloc(max * sizeof(int));
    int *counts = check_alloc(world.size * sizeof(int));
    int *displs = check_alloc(world.size * sizeof(int));

    for (int i = 0; i < world.size; i++) {
        counts[i] = n + i;
        displs[i] = i * (max + 1);
    }
    for (int turn = 0; turn < 2 * world.size; turn++) {
        int is_vector = turn % 2;
        int side = turn / 2 >= sides->n_first;
        int root = turn / 2 - (side ? sides->n_first : 0);
        int named = root_for(sides, side, root);
        int to = turn / 2;
        int n_own = is_vector ? n + sides->rank : n;

        for (int k = 0; k < n_own; k++) {
            own[k] = element(world.rank, to, k);
        }
        memset(all, 0xff, world.size * (max + 1) * sizeof(int));
        if (is_vector) {
            RUN(is_started, Gatherv, Igatherv, own, n_own, MPI_INT, all, counts, displs,
                MPI_INT, named, sides->both);
        } else {
            RUN(is_started, Gather, Igather, own, n_own, MPI_INT, all, n, MPI_INT,
                named, sides->both);
        }
        for (int i = 0; named == MPI_ROOT && i < sides->n_remote; i++) {
            for (int k = 0; k < (is_vector ? counts[i] : n); k++) {
                int *at = all + (is_vector ? displs[i] : i * n) + k;

                CHECK_EQUAL(*at, element(sides->remote_origin + i, to, k));
                *at += 1;
            }
        }
        if (is_vector) {
            RUN(is_started, Scatterv, Iscatterv, all, counts, displs, MPI_INT, own,
                n_own, MPI_INT, named, sides->both);
        } else {
            RUN(is_started, Scatter, Iscatter, all, n, MPI_INT, own, n_own, MPI_INT,
                named, sides->both);
        }
        for (int k = 0; k < n_own; k++) {
            CHECK_EQUAL(own[k], element(world.rank, to, k) + (named >= 0));
        }
    }
    free(all);
    free(own);
    free(counts);
    free(displs);
}

/** Allgather: side 0 gives n elements each, side 1 twice as many. */
static void blocks_for_all(struct world world, const struct sides *sides, int n,
                           int is_started)
{
    int n_own = sides->which ? 2 * n : n;
    int n_theirs = sides->which ? n : 2 * n;
    int *own = check_alloc(n_own * sizeof(int));
    int *all = check_alloc(sides->n_remote * (n_theirs + 1) * sizeof(int));
    int *counts = check_alloc(sides->n_remote * sizeof(int));
    int *displs = check_alloc(sides->n_remote * sizeof(int));

    for (int k = 0; k < n_own; k++) {
        own[k] = element(world.rank, 0, k);
    }
    for (int is_vector = 0; is_vector < 2; is_vector++) {
        for (int i = 0; i < sides->n_remote; i++) {
            counts[i] = n_theirs;
            displs[i] = (sides->n_remote - 1 - i) * (n_theirs + 1);
        }
        if (is_vector) {
            RUN(is_started, Allgatherv, Iallgatherv, own, n_own, MPI_INT, all, counts,
                displs, MPI_INT, sides->both);
        } else {
            RUN(is_started, Allgather, Iallgather, own, n_own, MPI_INT, all, n_theirs,
                MPI_INT, sides->both);
        }
        for (int i = 0; i < sides->n_remote; i++) {
            for (int k = 0; k < n_theirs; k++) {
                CHECK_EQUAL(all[(is_vector ? displs[i] : i * n_theirs) + k],
                            element(sides->remote_origin + i, 0, k));
            }
        }
    }
    free(own);
    free(all);
    free(counts);
    free(displs);
}

enum exchange { ALLTOALL, ALLTOALLV, ALLTOALLW };

/** Alltoall in three forms; in that with types, what is received has gaps. */
static void exchanges(struct world world, const struct sides *sides, int n,
                      int is_started)
{
    int n_remote = sides->n_remote;
    int *out = check_alloc(n_remote * n * sizeof(int));
    int *in = check_alloc(2 * n_remote * n * sizeof(int));
    int *counts = check_alloc(n_remote * sizeof(int));
    int *places = check_alloc(4 * n_remote * sizeof(int));
    MPI_Datatype *types = check_alloc(2 * n_remote * sizeof(MPI_Datatype));
    MPI_Datatype spread;

    MPI_Type_vector(n, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    for (int i = 0; i < n_remote; i++) {
        counts[i] = n;
        places[i] = i * n;
        places[n_remote + i] = i * n * (int)sizeof(int);
        places[2 * n_remote + i] = 2 * i * n * (int)sizeof(int);
        places[3 * n_remote + i] = 1;
        types[i] = MPI_INT;
        types[n_remote + i] = spread;
        for (int k = 0; k < n; k++) {
            out[i * n + k] = element(world.rank, sides->remote_origin + i, k);
        }
    }
    /* Open MPI alone waits for ever for one element of no bytes. */
    for (enum exchange form = ALLTOALL; form <= (n > 0 ? ALLTOALLW : ALLTOALLV);
         form++) {
        int stride = form == ALLTOALLW ? 2 : 1;

        memset(in, 0xff, 2 * n_remote * n * sizeof(int));
        if (form == ALLTOALL) {
            RUN(is_started, Alltoall, Ialltoall, out, n, MPI_INT, in, n, MPI_INT,
                sides->both);
        } else if (form == ALLTOALLV) {
            RUN(is_started, Alltoallv, Ialltoallv, out, counts, places, MPI_INT, in,
                counts, places, MPI_INT, sides->both);
        } else {
            RUN(is_started, Alltoallw, Ialltoallw, out, counts, places + n_remote,
                types, in, places + 3 * n_remote, places + 2 * n_remote,
                types + n_remote, sides->both);
        }
        for (int i = 0; i < n_remote * n; i++) {
            CHECK_EQUAL(in[stride * i],
                        element(sides->remote_origin + i / n, world.rank, i % n));
            CHECK(stride == 1 || in[2 * i + 1] == -1);
        }
    }
    MPI_Type_free(&spread);
    free(out);
    free(in);
    free(counts);
    free(places);
    free(types);
}

/** Maps x -> a x + b, applied one after the other: does not commute. */
struct map {
    int a, b;
};

static void apply(void *left, void *right, int *n, MPI_Datatype *type)
{
    const struct map *first = left;
    struct map *second = right;

    (void)type;
    for (int i = 0; i < *n; i++) {
        second[i].b += second[i].a * first[i].b;
        second[i].a *= first[i].a;
    }
}

static struct map map_of(int rank, int k)
{
    return (struct map){1 + (rank + k) % 3, rank + 1};
}

/** All maps of the other side, in rank order. */
static struct map maps_of_others(const struct sides *sides, int k)
{
    struct map result = map_of(sides->remote_origin, k);
    int one = 1;

    for (int i = 1; i < sides->n_remote; i++) {
        struct map next = map_of(sides->remote_origin + i, k);

        apply(&result, &next, &one, NULL);
        result = next;
    }
    return result;
}

static void check_maps(const struct sides *sides, const struct map *maps, int first,
                       int n)
{
    for (int k = 0; k < n; k++) {
        struct map expected = maps_of_others(sides, first + k);

        CHECK_EQUAL(maps[k].a, expected.a);
        CHECK_EQUAL(maps[k].b, expected.b);
    }
}

static void reductions(struct world world, const struct sides *sides, int n,
                       int is_started)
{
    /* so that both sides can cut it evenly */
    int n_all = n * sides->size * sides->n_remote;
    int n_part = n * sides->n_remote;
    struct map *in = check_alloc(n_all * sizeof(*in));
    struct map *out = check_alloc(n_all * sizeof(*out));
    int *counts = check_alloc(sides->size * sizeof(int));
    MPI_Datatype pair;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(apply, 0, &op);
    for (int k = 0; k < n_all; k++) {
        in[k] = map_of(world.rank, k);
    }
    RUN(is_started, Allreduce, Iallreduce, in, out, n_all, pair, op, sides->both);
    check_maps(sides, out, 0, n_all);
    for (int side = 0; side < 2; side++) {
        for (int root = 0; root < root_side_size(sides, side); root++) {
            int named = root_for(sides, side, root);

            memset(out, 0, n_all * sizeof(*out));
            RUN(is_started, Reduce, Ireduce, in, out, n_all, pair, op, named,
                sides->both);
            check_maps(sides, out, 0, named == MPI_ROOT ? n_all : 0);
        }
    }
    RUN(is_started, Reduce_scatter_block, Ireduce_scatter_block, in, out, n_part, pair,
        op, sides->both);
    check_maps(sides, out, sides->rank * n_part, n_part);
    for (int i = 0; i < sides->size; i++) {
        counts[i] = i == 0 ? n_all - (sides->size - 1) * n : n;
    }
    RUN(is_started, Reduce_scatter, Ireduce_scatter, in, out, counts, pair, op,
        sides->both);
    check_maps(sides, out, sides->rank == 0 ? 0 : counts[0] + (sides->rank - 1) * n,
               counts[sides->rank]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(in);
    free(out);
    free(counts);
}

/** The sums that the engine could do alone, and barriers. */
static void sums_and_barriers(struct world world, const struct sides *sides,
                              int is_started)
{
    long expected = 0;
    double sum = -1, mine = world.rank + 0.5;

    for (int i = 0; i < sides->n_remote; i++) {
        expected += sides->remote_origin + i;
    }
    for (int i = 0; i < 20; i++) {
        RUN(is_started, Allreduce, Iallreduce, &mine, &sum, 1, MPI_DOUBLE, MPI_SUM,
            sides->both);
        CHECK(sum == expected + 0.5 * sides->n_remote);
        RUN(is_started, Barrier, Ibarrier, sides->both);
    }
}

/** Many at a time, in the order in which both sides start them, with messages
 *  between. */
static void many_at_a_time(struct world world, const struct sides *sides)
{
    enum { N = 10 };
    MPI_Request requests[4 * N + 2];
    int sums[N], values[N], maxima[N];
    int is_paired = sides->rank < sides->n_remote;
    int peer = is_paired ? sides->rank : MPI_PROC_NULL, in = -1;

    MPI_Irecv(&in, 1, MPI_INT, peer, 5, sides->both, &requests[0]);
    for (int i = 0; i < N; i++) {
        int side = i % 2;
        int root = i % root_side_size(sides, side);
        int named = root_for(sides, side, root);

        values[i] = named == MPI_ROOT ? 100 + i : -1;
        MPI_Iallreduce(&world.rank, &sums[i], 1, MPI_INT, MPI_SUM, sides->both,
                       &requests[4 * i + 1]);
        MPI_Ibcast(&values[i], 1, MPI_INT, named, sides->both, &requests[4 * i + 2]);
        MPI_Ibarrier(sides->both, &requests[4 * i + 3]);
        MPI_Iallreduce(&world.rank, &maxima[i], 1, MPI_INT, MPI_MAX, sides->mine,
                       &requests[4 * i + 4]);
    }
    MPI_Isend(&world.rank, 1, MPI_INT, peer, 5, sides->both, &requests[4 * N + 1]);
    MPI_Waitall(4 * N + 2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(in, is_paired ? sides->remote_origin + peer : -1);
    for (int i = 0; i < N; i++) {
        int side = i % 2;
        int named = root_for(sides, side, i % root_side_size(sides, side));
        int n = sides->n_remote;

        CHECK_EQUAL(sums[i], n * sides->remote_origin + n * (n - 1) / 2);
        CHECK_EQUAL(values[i], named == MPI_PROC_NULL ? -1 : 100 + i);
        CHECK_EQUAL(maxima[i], sides->which ? world.size - 1 : sides->n_first - 1);
    }
    check_say("many at a time\n");
}

static void wrong_arguments(const struct sides *sides)
{
    int value = 0, class;

    MPI_Comm_set_errhandler(sides->both, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, sides->n_remote, sides->both),
                    &class);
    check_say("root beyond: class %d\n", class);
    MPI_Error_class(MPI_Gather(&value, 1, MPI_INT, &value, 1, MPI_INT, -7, sides->both),
                    &class);
    check_say("negative root: class %d\n", class);
    MPI_Error_class(MPI_Allreduce(&value, &class, -1, MPI_INT, MPI_SUM, sides->both),
                    &class);
    check_say("negative count: class %d\n", class);
    MPI_Error_class(MPI_Scan(&value, &class, 1, MPI_INT, MPI_SUM, sides->both), &class);
    check_say("scan: class %d\n", class);
    MPI_Barrier(sides->both);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 13, 700, 30000};
    struct world world = check_begin(&argc, &argv);

    for (int n_first = 1; n_first < world.size; n_first++) {
        struct sides sides = sides_make(world, n_first);

        for (int is_started = 0; is_started < 2; is_started++) {
            for (int i = 0; i < CHECK_N(lengths); i++) {
                broadcasts(&sides, lengths[i], is_started);
                rooted_blocks(world, &sides, lengths[i], is_started);
                blocks_for_all(world, &sides, lengths[i], is_started);
                exchanges(world, &sides, lengths[i], is_started);
                reductions(world, &sides, lengths[i] / 10, is_started);
            }
            sums_and_barriers(world, &sides, is_started);
            check_say("%d and %d, %s\n", n_first, world.size - n_first,
                      is_started ? "started" : "blocking");
        }
        many_at_a_time(world, &sides);
        wrong_arguments(&sides);
        sides_free(&sides);
    }
    return check_end();
}

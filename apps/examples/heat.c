/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Example of the BCS API: heat in a square plate whose upper edge is kept warm, by
 * Jacobi's method. Every process has some rows. A step sends the outermost rows to the
 * neighbours and receives theirs, without blocking; computes the inner rows meanwhile;
 * then the outermost. Every few steps all agree by a reduction whether the plate is
 * still changing. At the end rank 0 gathers the plate and computes it again alone: the
 * two must be the same to the last bit.
 *
 * Usage: heat [points on an edge]
 */
#include <bcs/bcs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG_UP,
    TAG_DOWN,
    DEFAULT_EDGE = 200,
    MAX_EDGE = 20000,
    MAX_STEPS = 20000,
    STEPS_A_LOOK = 20,
};

static const double TOLERANCE = 1e-2;
static const double WARM = 100.0;

/** The rows of one process, with one more above and below; now and next in turn. */
struct slab {
    size_t n_columns;
    size_t n_rows; /* own ones: 1 to n_rows */
    double *now;
    double *next;
};

/** One process. */
struct place {
    struct bcs_context *context;
    struct bcs_group *world;
    int32_t rank, size;
};

/** End this process after an error; the launcher then ends the others. */
static void check(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "heat: %s: status %d\n", what, status);
        exit(EXIT_FAILURE);
    }
}

/* These two spare the program the mathematical library. */
static double larger(double one, double other)
{
    return one > other ? one : other;
}

static double size_of(double number)
{
    return number < 0 ? -number : number;
}

static double *row_of(const struct slab *slab, double *plate, size_t row)
{
    return plate + row * slab->n_columns;
}

/** Make the slab of rows [first, first + n_rows) of a plate of edge x edge points. */
static struct slab slab_make(size_t edge, size_t first, size_t n_rows)
{
    struct slab slab = {.n_columns = edge, .n_rows = n_rows};
    size_t n_points = (n_rows + 2) * edge;

    slab.now = calloc(n_points, sizeof(*slab.now));
    slab.next = calloc(n_points, sizeof(*slab.next));
    check(slab.now == NULL || slab.next == NULL, "no memory");
    for (size_t i = 0; i < edge && first == 0; i++) {
        slab.now[i] = slab.next[i] = WARM;
    }
    return slab;
}

static void slab_free(struct slab *slab)
{
    free(slab->now);
    free(slab->next);
}

/** Compute rows [begin, end). @return the largest change of a point */
static double compute(struct slab *slab, size_t begin, size_t end)
{
    double change = 0;

    for (size_t row = begin; row < end; row++) {
        const double *above = row_of(slab, slab->now, row - 1);
        const double *here = row_of(slab, slab->now, row);
        const double *below = row_of(slab, slab->now, row + 1);
        double *next = row_of(slab, slab->next, row);

        for (size_t i = 1; i + 1 < slab->n_columns; i++) {
            next[i] = 0.25 * (above[i] + below[i] + here[i - 1] + here[i + 1]);
            change = larger(change, size_of(next[i] - here[i]));
        }
    }
    return change;
}

static void swap(struct slab *slab)
{
    double *now = slab->now;

    slab->now = slab->next;
    slab->next = now;
}

/** Start to send one row to a neighbour and to receive one from it. */
static void exchange_row(const struct place *me, const struct slab *slab, bool is_up,
                         struct bcs_request requests[2])
{
    size_t own = is_up ? 1 : slab->n_rows;
    struct bcs_message message = {
        .group = me->world,
        .peer = me->rank + (is_up ? -1 : 1),
        .n_bytes = slab->n_columns * sizeof(double),
    };

    message.data = row_of(slab, slab->now, is_up ? own - 1 : own + 1);
    message.tag = is_up ? TAG_DOWN : TAG_UP;
    check(bcs_recv(me->context, &message, NULL, &requests[0]), "start a receive");
    message.data = row_of(slab, slab->now, own);
    message.tag = is_up ? TAG_UP : TAG_DOWN;
    check(bcs_send(me->context, &message, BCS_SEND_STANDARD, &requests[1]),
          "start a send");
}

/** One step of all processes. @return the largest change here */
static double step(const struct place *me, struct slab *slab)
{
    struct bcs_request requests[4] = {BCS_REQUEST_DONE, BCS_REQUEST_DONE,
                                      BCS_REQUEST_DONE, BCS_REQUEST_DONE};
    size_t last = slab->n_rows;
    double change;

    if (me->rank > 0) {
        exchange_row(me, slab, true, &requests[0]);
    }
    if (me->rank + 1 < me->size) {
        exchange_row(me, slab, false, &requests[2]);
    }
    change = compute(slab, 2, last);
    check(bcs_testall(me->context, requests, 4, true), "wait");
    change = larger(change, compute(slab, 1, 2));
    if (last > 1) {
        change = larger(change, compute(slab, last, last + 1));
    }
    swap(slab);
    return change;
}

/** The largest change of all processes. */
static double largest(const struct place *me, double change)
{
    const struct bcs_reduction reduction = {
        .in = &change,
        .out = &change,
        .count = 1,
        .op = BCS_MAX,
        .type = BCS_DOUBLE,
    };

    check(bcs_reduce(me->context, me->world, &reduction, BCS_ROOT_ALL, NULL), "reduce");
    return change;
}

/** Until nothing changes any more. @return steps */
static int solve(const struct place *me, struct slab *slab)
{
    for (int i = 1; i < MAX_STEPS; i++) {
        double change = step(me, slab);

        if (i % STEPS_A_LOOK == 0 && largest(me, change) < TOLERANCE) {
            return i;
        }
    }
    return MAX_STEPS - 1;
}

static size_t first_row(const struct place *me, size_t n_rows, int32_t rank)
{
    return n_rows * (size_t)rank / (size_t)me->size;
}

/** Rank 0: the plate computed alone must be the same. */
static void verify(const double *gathered, size_t edge, int n_steps)
{
    struct slab whole = slab_make(edge, 0, edge - 2);

    for (int i = 0; i < n_steps; i++) {
        compute(&whole, 1, edge - 1);
        swap(&whole);
    }
    check(memcmp(gathered, row_of(&whole, whole.now, 1),
                 (edge - 2) * edge * sizeof(double)) != 0,
          "the plate differs from the serial solution");
    printf("plate of %zu x %zu after %d steps: %.6f in the middle, as computed by one "
           "process\n",
           edge, edge, n_steps, gathered[(edge / 2) * edge + edge / 2]);
    slab_free(&whole);
}

/** Bring all rows to rank 0 and check them. */
static void collect(const struct place *me, const struct slab *slab, int n_steps)
{
    size_t edge = slab->n_columns, n_rows = edge - 2, row_bytes = edge * sizeof(double);
    size_t *lengths = malloc((size_t)me->size * sizeof(*lengths));
    struct bcs_blocks blocks = {.n_bytes = lengths};
    const struct bcs_part mine = {row_of(slab, slab->now, 1), slab->n_rows * row_bytes};

    check(lengths == NULL, "no memory");
    for (int32_t i = 0; i < me->size; i++) {
        lengths[i] =
            (first_row(me, n_rows, i + 1) - first_row(me, n_rows, i)) * row_bytes;
    }
    blocks.data = me->rank == 0 ? malloc(n_rows * row_bytes) : NULL;
    check(me->rank == 0 && blocks.data == NULL, "no memory");
    check(bcs_gather(me->context, me->world, &mine, &blocks, 0, NULL), "gather");
    if (me->rank == 0) {
        verify(blocks.data, edge, n_steps);
    }
    free(blocks.data);
    free(lengths);
}

int main(int argc, char **argv)
{
    size_t edge = argc > 1 ? strtoul(argv[1], NULL, 10) : DEFAULT_EDGE;
    struct place me;
    struct slab slab;
    size_t first, end;
    int n_steps;

    check(bcs_init(&me.context), "cannot start");
    me.world = bcs_world(me.context);
    me.rank = bcs_group_rank(me.world);
    me.size = bcs_group_size(me.world);
    if (edge < (size_t)me.size + 2 || edge > MAX_EDGE) {
        fprintf(stderr, "usage: heat [points on an edge, %d to %d for %d processes]\n",
                me.size + 2, MAX_EDGE, me.size);
        return EXIT_FAILURE;
    }
    first = first_row(&me, edge - 2, me.rank);
    end = first_row(&me, edge - 2, me.rank + 1);
    slab = slab_make(edge, first, end - first);
    n_steps = solve(&me, &slab);
    collect(&me, &slab, n_steps);
    slab_free(&slab);
    check(bcs_finalize(me.context), "end");
    return EXIT_SUCCESS;
}

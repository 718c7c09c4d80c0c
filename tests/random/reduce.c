/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that reduce, with operations and types from one table: predefined ones,
 * and user's, of which some do not commute. The expected result is combined here, rank
 * by rank.
 */
#include "tests/random/run.h"

struct int_pair {
    int value;
    int index;
};

struct double_pair {
    double value;
    int index;
};

/* The function x -> a x + b; one after the other is associative, not commutative. */
struct affine {
    uint32_t a;
    uint32_t b;
};

/* The same with a gap behind it. */
struct affine_gap {
    struct affine f;
    uint32_t gap;
};

enum { MAX_ELEMENT = 16 };

/* One operation on one type. */
struct reduction {
    MPI_Op op;
    MPI_Datatype type;
    size_t n_bytes; /* from element to element */
    size_t n_used;  /* that are compared */
    void (*draw)(uint64_t word, void *element);
    void (*combine)(const void *left, void *inout); /* inout = left OP inout */
};

struct reducing {
    const struct collective *collective;
    const struct reduction *reduction;
    char *out;
    char *in;
    int n_out; /* elements that a member contributes */
    int first; /* part of the result that this member gets */
    int n_in;
    int n_ranks; /* number of contributions that are combined */
    const struct members *from;
    int counts[MAX_RANKS];
};

static MPI_Datatype affine_type;
static MPI_Datatype affine_gap_type;
static MPI_Op affine_op;
static MPI_Op affine_gap_op;
static MPI_Op mixed_op;
static struct reduction table[N_REDUCTIONS];

#define DRAW(name, type, expression)                                                   \
    static void draw_##name(uint64_t word, void *element)                              \
    {                                                                                  \
        type x = (type)(expression);                                                   \
        memcpy(element, &x, sizeof(x));                                                \
    }

DRAW(u8, uint8_t, word)
DRAW(u16, uint16_t, word)
DRAW(u32, uint32_t, word)
DRAW(i32, int32_t, word)
DRAW(u64, uint64_t, word)
DRAW(i64, int64_t, word)
DRAW(small, double, (int)(word % 2001) - 1000)
DRAW(flag, int32_t, word % 4 ? word % 1000 : 0)
DRAW(odd, uint32_t, word | 1)

static void draw_int_pair(uint64_t word, void *element)
{
    struct int_pair x = {(int)(word % 7), (int)(word >> 40 & 0xFFFF)};

    memcpy(element, &x, sizeof(x));
}

static void draw_double_pair(uint64_t word, void *element)
{
    struct double_pair x;

    memset(&x, 0, sizeof(x));
    x.value = (double)(word % 7);
    x.index = (int)(word >> 40 & 0xFFFF);
    memcpy(element, &x, sizeof(x));
}

static void draw_affine(uint64_t word, void *element)
{
    struct affine x = {(uint32_t)word | 1, (uint32_t)(word >> 32)};

    memcpy(element, &x, sizeof(x));
}

#define COMBINE(name, type, expression)                                                \
    static void combine_##name(const void *left, void *inout)                          \
    {                                                                                  \
        type a;                                                                        \
        type b;                                                                        \
        memcpy(&a, left, sizeof(a));                                                   \
        memcpy(&b, inout, sizeof(b));                                                  \
        b = (type)(expression);                                                        \
        memcpy(inout, &b, sizeof(b));                                                  \
    }

COMBINE(sum_u32, uint32_t, a + b)
COMBINE(sum_u64, uint64_t, a + b)
COMBINE(sum_double, double, a + b)
COMBINE(product_u32, uint32_t, a *b)
COMBINE(max_i32, int32_t, a > b ? a : b)
COMBINE(min_i64, int64_t, a < b ? a : b)
COMBINE(max_double, double, a > b ? a : b)
COMBINE(min_u16, uint16_t, a < b ? a : b)
COMBINE(and_u32, uint32_t, a &b)
COMBINE(or_u64, uint64_t, a | b)
COMBINE(xor_u8, uint8_t, a ^ b)
COMBINE(land, int32_t, a &&b)
COMBINE(lor, int32_t, a || b)
COMBINE(lxor, int32_t, !a != !b)
COMBINE(mixed, uint64_t, (a ^ b) + 0)

static void combine_maxloc(const void *left, void *inout)
{
    struct int_pair a;
    struct int_pair b;

    memcpy(&a, left, sizeof(a));
    memcpy(&b, inout, sizeof(b));
    if (a.value > b.value || (a.value == b.value && a.index < b.index)) {
        memcpy(inout, &a, sizeof(a));
    }
}

static void combine_minloc(const void *left, void *inout)
{
    struct double_pair a;
    struct double_pair b;

    memcpy(&a, left, sizeof(a));
    memcpy(&b, inout, sizeof(b));
    if (a.value < b.value || (a.value == b.value && a.index < b.index)) {
        memcpy(inout, &a, sizeof(a));
    }
}

static void combine_affine(const void *left, void *inout)
{
    struct affine f;
    struct affine g;

    memcpy(&f, left, sizeof(f));
    memcpy(&g, inout, sizeof(g));
    g.b += f.b * g.a;
    g.a *= f.a;
    memcpy(inout, &g, sizeof(g));
}

static void apply_affine(void *left, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) {
        combine_affine((struct affine *)left + i, (struct affine *)inout + i);
    }
}

static void apply_affine_gap(void *left, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) {
        combine_affine((struct affine_gap *)left + i, (struct affine_gap *)inout + i);
    }
}

static void apply_mixed(void *left, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) {
        combine_mixed((uint64_t *)left + i, (uint64_t *)inout + i);
    }
}

void reducing_begin(void)
{
    MPI_Type_contiguous(2, MPI_UINT32_T, &affine_type);
    MPI_Type_commit(&affine_type);
    MPI_Type_create_resized(affine_type, 0, sizeof(struct affine_gap),
                            &affine_gap_type);
    MPI_Type_commit(&affine_gap_type);
    MPI_Op_create(apply_affine, 0, &affine_op);
    MPI_Op_create(apply_affine_gap, 0, &affine_gap_op);
    MPI_Op_create(apply_mixed, 1, &mixed_op);
    const struct reduction made[N_REDUCTIONS] = {
        {MPI_SUM, MPI_UINT32_T, 4, 4, draw_u32, combine_sum_u32},
        {MPI_SUM, MPI_UINT64_T, 8, 8, draw_u64, combine_sum_u64},
        {MPI_SUM, MPI_DOUBLE, 8, 8, draw_small, combine_sum_double},
        {MPI_PROD, MPI_UINT32_T, 4, 4, draw_odd, combine_product_u32},
        {MPI_MAX, MPI_INT32_T, 4, 4, draw_i32, combine_max_i32},
        {MPI_MIN, MPI_INT64_T, 8, 8, draw_i64, combine_min_i64},
        {MPI_MAX, MPI_DOUBLE, 8, 8, draw_small, combine_max_double},
        {MPI_MIN, MPI_UINT16_T, 2, 2, draw_u16, combine_min_u16},
        {MPI_BAND, MPI_UINT32_T, 4, 4, draw_u32, combine_and_u32},
        {MPI_BOR, MPI_UINT64_T, 8, 8, draw_u64, combine_or_u64},
        {MPI_BXOR, MPI_UINT8_T, 1, 1, draw_u8, combine_xor_u8},
        {MPI_LAND, MPI_INT, 4, 4, draw_flag, combine_land},
        {MPI_LOR, MPI_INT, 4, 4, draw_flag, combine_lor},
        {MPI_LXOR, MPI_INT, 4, 4, draw_flag, combine_lxor},
        {MPI_MAXLOC, MPI_2INT, 8, 8, draw_int_pair, combine_maxloc},
        {MPI_MINLOC, MPI_DOUBLE_INT, 16, 12, draw_double_pair, combine_minloc},
        {affine_op, affine_type, 8, 8, draw_affine, combine_affine},
        {affine_gap_op, affine_gap_type, 12, 8, draw_affine, combine_affine},
        {mixed_op, MPI_UINT64_T, 8, 8, draw_u64, combine_mixed},
    };

    memcpy(table, made, sizeof(table));
}

void reducing_end(void)
{
    MPI_Op_free(&affine_op);
    MPI_Op_free(&affine_gap_op);
    MPI_Op_free(&mixed_op);
    MPI_Type_free(&affine_gap_type);
    MPI_Type_free(&affine_type);
}

static void contribution(const struct reducing *reducing, int rank, int i,
                         void *element)
{
    uint64_t key = check_mix(reducing->collective->key, 900 + (uint64_t)rank);

    reducing->reduction->draw(check_mix(key, (uint64_t)i), element);
}

static void expected(const struct reducing *reducing, int i, char *result)
{
    char element[MAX_ELEMENT];

    contribution(reducing, reducing->from->ranks[reducing->n_ranks - 1], i, result);
    for (int k = reducing->n_ranks - 2; k >= 0; k--) {
        contribution(reducing, reducing->from->ranks[k], i, element);
        reducing->reduction->combine(element, result);
    }
}

/* Lengths of the members' parts of a reduce-scatter; both sides of an intercommunicator
 * have the same sum. */
static void share(struct reducing *reducing, const struct comm *comm, int rank)
{
    const struct collective *collective = reducing->collective;
    const struct members *mine = &comm->side[plan_side_of(comm, rank)];
    int me = plan_rank_in(mine, rank);
    int part = collective->n * (comm->is_inter ? plan_others(comm, rank)->n : 1);

    reducing->n_out = 0;
    for (int i = 0; i < mine->n; i++) {
        int moved =
            (int)(check_mix(collective->key, (uint64_t)i / 2) % (uint64_t)(part + 1));

        reducing->counts[i] = part;
        if (collective->kind == C_REDUCE_SCATTER && (i % 2 || i + 1 < mine->n)) {
            reducing->counts[i] += i % 2 ? moved : -moved;
        }
        if (i < me) {
            reducing->first += reducing->counts[i];
        }
        reducing->n_out += reducing->counts[i];
    }
    reducing->n_in = reducing->counts[me];
}

static struct reducing *reducing_make(const struct run *run, const struct act *act)
{
    const struct comm *comm = &run->plan->comms[act->comm];
    struct reducing *reducing = check_alloc(sizeof(*reducing));
    const struct collective *collective = &run->plan->ops[act->op].collective;
    int me = plan_rank_in(&comm->side[0], run->me);
    size_t size;

    reducing->collective = collective;
    reducing->reduction = &table[collective->reduction];
    reducing->from = plan_others(comm, run->me);
    reducing->n_ranks = reducing->from->n;
    reducing->n_out = collective->n;
    reducing->n_in = collective->n;
    if (collective->kind == C_REDUCE_SCATTER ||
        collective->kind == C_REDUCE_SCATTER_BLOCK) {
        share(reducing, comm, run->me);
    } else if (collective->kind == C_SCAN || collective->kind == C_EXSCAN) {
        reducing->n_ranks = me + (collective->kind == C_SCAN);
    } else if (collective->kind == C_REDUCE) {
        int root = run_root_of(run, act);

        reducing->n_in =
            root == MPI_ROOT || (!comm->is_inter && root == me) ? reducing->n_in : 0;
        reducing->n_out =
            root == MPI_ROOT || root == MPI_PROC_NULL ? 0 : reducing->n_out;
    }
    size = reducing->reduction->n_bytes;
    reducing->out = check_alloc((size_t)reducing->n_out * size);
    reducing->in = check_alloc((size_t)(reducing->n_out + reducing->n_in) * size);
    for (int i = 0; i < reducing->n_out; i++) {
        contribution(reducing, run->me, i, reducing->out + (size_t)i * size);
    }
    return reducing;
}

#define CALL(name, iname, ...)                                                         \
    (request ? MPI_I##iname(__VA_ARGS__, request) : MPI_##name(__VA_ARGS__))

struct reducing *reducing_start(struct run *run, const struct act *act,
                                MPI_Request *request)
{
    struct reducing *reducing = reducing_make(run, act);
    const struct collective *collective = reducing->collective;
    const struct reduction *with = reducing->reduction;
    int root = run_root_of(run, act);
    MPI_Comm comm = run->comms[act->comm];
    const void *out = reducing->out;
    int n = collective->n;
    int error;

    if (collective->is_in_place &&
        (collective->kind != C_REDUCE || reducing->n_in > 0)) {
        memcpy(reducing->in, reducing->out, (size_t)reducing->n_out * with->n_bytes);
        out = MPI_IN_PLACE;
    }
    switch (collective->kind) {
    case C_REDUCE:
        error = CALL(Reduce, reduce, out, reducing->in, n, with->type, with->op, root,
                     comm);
        break;
    case C_ALLREDUCE:
        error = CALL(Allreduce, allreduce, out, reducing->in, n, with->type, with->op,
                     comm);
        break;
    case C_REDUCE_SCATTER:
        error = CALL(Reduce_scatter, reduce_scatter, out, reducing->in,
                     reducing->counts, with->type, with->op, comm);
        break;
    case C_REDUCE_SCATTER_BLOCK:
        error = CALL(Reduce_scatter_block, reduce_scatter_block, out, reducing->in,
                     reducing->n_in, with->type, with->op, comm);
        break;
    case C_SCAN:
        error = CALL(Scan, scan, out, reducing->in, n, with->type, with->op, comm);
        break;
    default:
        error = CALL(Exscan, exscan, out, reducing->in, n, with->type, with->op, comm);
        break;
    }
    run_expect(run, error, MPI_SUCCESS, "reduction");
    return reducing;
}

void reducing_check(struct run *run, const struct act *act, struct reducing *reducing)
{
    const struct reduction *with = reducing->reduction;

    (void)act;
    for (int i = 0; reducing->n_ranks > 0 && i < reducing->n_in; i++) {
        char result[MAX_ELEMENT];
        const char *got = reducing->in + (size_t)i * with->n_bytes;

        expected(reducing, reducing->first + i, result);
        if (memcmp(result, got, with->n_used) != 0) {
            uint64_t words[2] = {0, 0};

            memcpy(&words[0], result, with->n_used < 8 ? with->n_used : 8);
            memcpy(&words[1], got, with->n_used < 8 ? with->n_used : 8);
            run_fail(run,
                     "element %d of %d of a reduction (number %d): %016llx expected, "
                     "but %016llx",
                     i, reducing->n_in, reducing->collective->reduction,
                     (unsigned long long)words[0], (unsigned long long)words[1]);
        }
    }
    free(reducing->out);
    free(reducing->in);
    free(reducing);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws datatypes: up to two constructors one around the other, and perhaps other
 * bounds. Each constructor places instances of the inner type, which is all that there
 * is to know about it.
 */
#include "tests/random/layout.h"

static MPI_Datatype record_type;

void layout_begin(void)
{
    int lengths[3] = {1, 4, 1};
    MPI_Aint at[3] = {0, 4, 8};
    MPI_Datatype types[3] = {MPI_INT, MPI_CHAR, MPI_DOUBLE};

    MPI_Type_create_struct(3, lengths, at, types, &record_type);
    MPI_Type_commit(&record_type);
}

void layout_end(void)
{
    MPI_Type_free(&record_type);
}

int layout_base_parts(enum base base)
{
    return base == BASE_RECORD ? 6 : 1;
}

static MPI_Datatype base_type(enum base base)
{
    MPI_Datatype types[N_BASES] = {MPI_BYTE, MPI_SHORT,  MPI_INT,
                                   MPI_LONG, MPI_DOUBLE, record_type};

    return types[base];
}

/* The layout of n instances of another at these displacements. */
static struct layout place(const struct layout *inner, const ptrdiff_t *at, int n)
{
    struct layout outer = {.is_derived = true, .base = inner->base};
    ptrdiff_t high = PTRDIFF_MIN;

    outer.low = PTRDIFF_MAX;
    for (int i = 0; i < n; i++) {
        ptrdiff_t low = at[i] + inner->low;

        outer.low = low < outer.low ? low : outer.low;
        high = low + inner->extent > high ? low + inner->extent : high;
        for (int k = 0; k < inner->n; k++) {
            outer.at[outer.n++] = at[i] + inner->at[k];
        }
    }
    outer.extent = high - outer.low;
    return outer;
}

/* What the constructors of blocks share: lengths and displacements in instances, in any
 * order and without overlap. */
struct blocks {
    int n;
    int lengths[MAX_PER_INSTANCE];
    int at[MAX_PER_INSTANCE];
    MPI_Aint bytes[MAX_PER_INSTANCE];
};

static void draw_blocks(struct blocks *blocks, int n, int length, ptrdiff_t extent,
                        struct draw *draw)
{
    int order[MAX_PER_INSTANCE];
    int starts[MAX_PER_INSTANCE];
    int lengths[MAX_PER_INSTANCE];
    int next = -draw_below(draw, 6);

    blocks->n = 0;
    while (n > 0) {
        int mine = length > 0 ? length : 1 + draw_below(draw, n);

        order[blocks->n] = blocks->n;
        starts[blocks->n] = next;
        lengths[blocks->n++] = mine;
        next += mine + draw_below(draw, 3);
        n -= mine;
    }
    if (draw_chance(draw, 40)) {
        draw_shuffle(draw, order, blocks->n);
    }
    for (int i = 0; i < blocks->n; i++) {
        blocks->lengths[i] = lengths[order[i]];
        blocks->at[i] = starts[order[i]];
        blocks->bytes[i] = starts[order[i]] * extent;
    }
}

static struct layout place_blocks(const struct layout *inner,
                                  const struct blocks *blocks)
{
    ptrdiff_t at[MAX_PER_INSTANCE];
    int n = 0;

    for (int i = 0; i < blocks->n; i++) {
        for (int k = 0; k < blocks->lengths[i]; k++) {
            at[n++] = (blocks->at[i] + k) * inner->extent;
        }
    }
    return place(inner, at, n);
}

static int draw_divisor(int n, struct draw *draw)
{
    int divisor = 1 + draw_below(draw, n);

    while (n % divisor) {
        divisor--;
    }
    return divisor;
}

static struct layout draw_vector(const struct layout *inner, int n, struct draw *draw)
{
    int length = draw_divisor(n, draw);
    int stride = length + draw_below(draw, 4);
    struct blocks blocks = {.n = n / length};
    struct layout outer;

    /* Open MPI 4.1 takes a stride of one byte downwards for one upwards. */
    stride = draw_chance(draw, 30) && stride * inner->extent > 1 ? -stride : stride;
    for (int i = 0; i < blocks.n; i++) {
        blocks.lengths[i] = length;
        blocks.at[i] = i * stride;
    }
    outer = place_blocks(inner, &blocks);
    if (draw_chance(draw, 50)) {
        MPI_Type_vector(blocks.n, length, stride, inner->type, &outer.type);
    } else {
        MPI_Type_create_hvector(blocks.n, length, stride * inner->extent, inner->type,
                                &outer.type);
    }
    return outer;
}

static struct layout draw_uniform_blocks(const struct layout *inner, int n,
                                         struct draw *draw)
{
    int length = draw_divisor(n, draw);
    struct blocks blocks;
    struct layout outer;

    draw_blocks(&blocks, n, length, inner->extent, draw);
    outer = place_blocks(inner, &blocks);
    if (draw_chance(draw, 50)) {
        MPI_Type_create_indexed_block(blocks.n, length, blocks.at, inner->type,
                                      &outer.type);
    } else {
        MPI_Type_create_hindexed_block(blocks.n, length, blocks.bytes, inner->type,
                                       &outer.type);
    }
    return outer;
}

static struct layout draw_indexed(const struct layout *inner, int n, struct draw *draw)
{
    MPI_Datatype types[MAX_PER_INSTANCE];
    struct blocks blocks;
    struct layout outer;

    draw_blocks(&blocks, n, 0, inner->extent, draw);
    outer = place_blocks(inner, &blocks);
    switch (draw_below(draw, 3)) {
    case 0:
        MPI_Type_indexed(blocks.n, blocks.lengths, blocks.at, inner->type, &outer.type);
        break;
    case 1:
        MPI_Type_create_hindexed(blocks.n, blocks.lengths, blocks.bytes, inner->type,
                                 &outer.type);
        break;
    default:
        for (int i = 0; i < blocks.n; i++) {
            types[i] = inner->type;
        }
        MPI_Type_create_struct(blocks.n, blocks.lengths, blocks.bytes, types,
                               &outer.type);
        break;
    }
    return outer;
}

static struct layout draw_subarray(const struct layout *inner, int n, struct draw *draw)
{
    int columns = draw_divisor(n, draw);
    int part[2] = {n / columns, columns};
    int whole[2];
    int start[2];
    bool is_c = draw_chance(draw, 50);
    ptrdiff_t at[MAX_PER_INSTANCE];
    struct layout outer;
    int slow = is_c ? 0 : 1;

    for (int i = 0; i < 2; i++) {
        start[i] = draw_below(draw, 3);
        whole[i] = start[i] + part[i] + draw_below(draw, 3);
    }
    for (int i = 0; i < n; i++) {
        int s = start[slow] + i / part[1 - slow];
        int f = start[1 - slow] + i % part[1 - slow];

        at[i] = (s * whole[1 - slow] + f) * inner->extent;
    }
    outer = place(inner, at, n);
    outer.low = 0;
    outer.extent = (ptrdiff_t)whole[0] * whole[1] * inner->extent;
    MPI_Type_create_subarray(2, whole, part, start,
                             is_c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner->type,
                             &outer.type);
    return outer;
}

static struct layout draw_contiguous(const struct layout *inner, int n,
                                     struct draw *draw)
{
    struct blocks blocks = {.n = 1, .lengths = {n}};
    struct layout outer = place_blocks(inner, &blocks);

    if (n == 1 && draw_chance(draw, 50)) {
        MPI_Type_dup(inner->type, &outer.type);
    } else {
        MPI_Type_contiguous(n, inner->type, &outer.type);
    }
    return outer;
}

/* Wider bounds, on either side. */
static struct layout draw_resized(const struct layout *inner, struct draw *draw)
{
    struct layout outer = *inner;
    int unit = plan_base_bytes(inner->base);
    int more = draw_below(draw, 4) * unit;

    outer.is_derived = true;
    outer.low -= more;
    outer.extent += more + draw_below(draw, 4) * unit;
    MPI_Type_create_resized(inner->type, outer.low, outer.extent, &outer.type);
    return outer;
}

/* Wrap a constructor around a layout, which is given up. */
static void wrap(struct layout *layout, int n, struct draw *draw)
{
    static struct layout (*const constructors[])(const struct layout *, int,
                                                 struct draw *) = {
        draw_contiguous, draw_vector, draw_uniform_blocks, draw_indexed, draw_subarray,
    };
    int i = draw_below(draw, CHECK_N(constructors) + 1);
    struct layout inner = *layout;

    if (i == CHECK_N(constructors)) {
        if (n > 1) {
            wrap(layout, n, draw);
            return;
        }
        *layout = draw_resized(&inner, draw);
    } else {
        *layout = constructors[i](&inner, n, draw);
    }
    if (inner.is_derived) {
        MPI_Type_free(&inner.type);
    }
}

void layout_draw(struct layout *layout, enum base base, int n, struct draw *draw)
{
    static const int sizes[] = {1, 1, 2, 3, 4, 6, 12};
    int per = sizes[draw_below(draw, CHECK_N(sizes))];
    int levels = draw_below(draw, 4);

    *layout = (struct layout){
        .type = base_type(base),
        .base = base,
        .n = 1,
        .extent = plan_base_bytes(base),
    };
    if (draw_chance(draw, 40)) {
        return;
    }
    while (per > 1 && n % per) {
        per--;
    }
    for (int i = 0; i < levels; i++) {
        int part =
            i == levels - 1 ? per / layout->n : draw_divisor(per / layout->n, draw);

        wrap(layout, part, draw);
    }
    if (layout->is_derived) {
        MPI_Type_commit(&layout->type);
    }
}

void layout_free(struct layout *layout)
{
    if (layout->is_derived) {
        MPI_Type_free(&layout->type);
        layout->is_derived = false;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in all their forms, in jobs whose processes are threads: what each member
 * gets, with blocks of different lengths, in groups of one, and between neighbours.
 */
#include <bcs/bcs.h>
#include <errno.h>
#include <string.h>

#include "libbcs/api/collective/collective_internal.h"
#include "libbcs/api/collective/neighbors.h"
#include "libbcs/api/context/group.h"
#include "tests/unit/collective_job.h"
#include "tests/unit/run_suite.h"

enum { N_MANY = 3000 };

/* ------------------------------------------------------------------ reductions */

static void reduce(struct bcs_context *context, struct bcs_group *group, size_t n)
{
    int32_t rank = bcs_group_rank(group), size = bcs_group_size(group);
    static _Thread_local int64_t in[N_MANY], out[N_MANY];
    struct bcs_reduction reduction = sum(in, out, n);

    fill(in, rank, n);
    memset(out, 0, sizeof(out));
    ck_assert_int_eq(bcs_reduce(context, group, &reduction, size - 1, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(out[i], rank == size - 1 ? sum_of(0, size, i) : 0);
    }
    ck_assert_int_eq(bcs_reduce(context, group, &reduction, BCS_ROOT_ALL, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(out[i], sum_of(0, size, i));
    }
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        memset(out, 0, sizeof(out));
        ck_assert_int_eq(bcs_scan(context, group, &reduction, exclusive, NULL), 0);
        for (size_t i = 0; i < n; i++) {
            ck_assert_int_eq(out[i], sum_of(0, rank + 1 - exclusive, i));
        }
    }
}

/** Parts of different lengths, that of member 1 without any element. */
static void reduce_scatter(struct bcs_context *context, struct bcs_group *group,
                           bool is_in_place)
{
    static const size_t counts[N_RANKS] = {2, 0, 1, 3, 1};
    int32_t rank = bcs_group_rank(group), size = bcs_group_size(group);
    int64_t in[7], out[8] = {0};
    struct bcs_reduction reduction = sum(in, is_in_place ? in : out, 0);
    const int64_t *part = reduction.out;
    size_t first = 0;

    fill(in, rank, 7);
    for (int32_t i = 0; i < rank; i++) {
        first += counts[i];
    }
    ck_assert_int_eq(bcs_reduce_scatter(context, group, &reduction, counts, NULL), 0);
    for (size_t i = 0; i < counts[rank]; i++) {
        ck_assert_int_eq(part[i], sum_of(0, size, first + i));
    }
    ck_assert_int_eq(part[counts[rank]], is_in_place ? element(rank, counts[rank]) : 0);
    reduction.count = 1; /* equal ones */
    fill(in, rank, 7);
    ck_assert_int_eq(bcs_reduce_scatter(context, group, &reduction, NULL, NULL), 0);
    ck_assert_int_eq(part[0], sum_of(0, size, (size_t)rank));
}

static void reductions(struct ranks_rank *rank)
{
    struct bcs_context *context = join(rank);
    int32_t self = bcs_group_rank(bcs_world(context));
    struct bcs_group *alone = NULL;

    for (int32_t i = 0; i < N_RANKS;
         i++) { /* of all groups every process makes count */
        struct bcs_group *made;

        ck_assert_int_eq(bcs_group_create(context, &i, 1, &made), 0);
        ck_assert((made != NULL) == (i == self));
        alone = made != NULL ? made : alone;
    }
    ck_assert_int_eq(bcs_group_rank(alone), 0);
    reduce(context, alone, 3);
    reduce(context, bcs_world(context), 3);
    reduce(context, bcs_world(context), N_MANY);
    reduce_scatter(context, bcs_world(context), false);
    reduce_scatter(context, bcs_world(context), true);
    reduce_scatter(context, alone, false);
    ck_assert_int_eq(bcs_finalize(context), 0);
}

START_TEST(each_member_gets_its_part_of_a_reduction)
{
    run(_i, reductions);
}
END_TEST

/* ------------------------------------------------------------------ groups */

/** Two members have the same name for a group, though one of them was in others
 *  before. */
static void expect_one_name(struct bcs_context *context, int32_t self)
{
    struct bcs_group *group;
    uint64_t name[2] = {0};
    struct bcs_message message = {
        .group = bcs_world(context), .data = name, .n_bytes = sizeof(name)};

    ck_assert_int_eq(bcs_group_create(context, (int32_t[]){0, 1}, 2, &group), 0);
    if (self == 0) {
        name[0] = group->context_id;
        name[1] = group->slot;
        message.peer = 1;
        ck_assert_int_eq(bcs_send(context, &message, BCS_SEND_STANDARD, NULL), 0);
    } else if (self == 1) {
        ck_assert_int_eq(bcs_recv(context, &message, NULL, NULL), 0);
        ck_assert_uint_eq(name[0], group->context_id);
        ck_assert_uint_eq(name[1], group->slot);
    }
}

static void groups(struct ranks_rank *rank)
{
    struct bcs_context *context = join(rank);
    int32_t self = bcs_group_rank(bcs_world(context)), source = -1, got = -1;
    struct bcs_group *group = NULL, *second = NULL;
    struct bcs_message message;

    ck_assert_int_eq(bcs_group_create(context, &self, 0, &group), -EINVAL);
    ck_assert_int_eq(bcs_group_create(context, (int32_t[]){0, N_RANKS}, 2, &group),
                     -EINVAL);
    ck_assert_int_eq(bcs_group_create(context, (int32_t[]){0, -1}, 2, &group), -EINVAL);
    ck_assert_int_eq(bcs_group_create(context, (int32_t[]){0, 1, 0}, 3, &group),
                     -EINVAL);
    /* Another order; and what one has sent is not of the other. */
    ck_assert_int_eq(bcs_group_create(context, (int32_t[]){4, 1}, 2, &group), 0);
    ck_assert_int_eq(bcs_group_create(context, (int32_t[]){4, 1}, 2, &second), 0);
    ck_assert((group != NULL) == (self == 4 || self == 1));
    if (self == 4) {
        ck_assert_int_eq(bcs_group_rank(group), 0);
        for (int32_t i = 0; i < 2; i++) {
            message = (struct bcs_message){.group = i == 0 ? group : second,
                                           .data = &i,
                                           .n_bytes = sizeof(i),
                                           .peer = 1};
            ck_assert_int_eq(bcs_send(context, &message, BCS_SEND_STANDARD, NULL), 0);
        }
    } else if (self == 1) {
        struct bcs_result result;

        for (int32_t i = 1; i >= 0; i--) {
            message = (struct bcs_message){.group = i == 0 ? group : second,
                                           .data = &got,
                                           .n_bytes = sizeof(got),
                                           .peer = BCS_ANY_SOURCE};
            ck_assert_int_eq(bcs_recv(context, &message, &result, NULL), 0);
            source = result.source;
            ck_assert_int_eq(got, i);
            ck_assert_int_eq(source, 0);
        }
    }
    expect_one_name(context, self);
    ck_assert_int_eq(bcs_finalize(context), 0);
}

START_TEST(groups_are_of_whom_they_name)
{
    run(_i, groups);
}
END_TEST

/* ------------------------------------------------------------------ neighbours */

/** In a ring of two each has the other one on either side. */
static void ring_of_two(struct bcs_context *context, struct bcs_group *group,
                        bool is_cartesian)
{
    int32_t other = 1 - bcs_group_rank(group);
    const int32_t others[2] = {other, other};
    const struct bcs_neighbors neighbors = {.sources = others,
                                            .targets = others,
                                            .n_sources = 2,
                                            .n_targets = 2,
                                            .is_cartesian = is_cartesian};
    int64_t out[2] = {element(1 - other, 0), element(1 - other, 1)}, in[2] = {0};
    const struct bcs_blocks send = {.data = out, .block_bytes = 8};
    const struct bcs_blocks receive = {.data = in, .block_bytes = 8};

    ck_assert_int_eq(
        bcs_neighbor_exchange(context, group, &neighbors, &send, &receive, NULL), 0);
    /* What the other one has sent up comes from below. */
    ck_assert_int_eq(in[0], element(other, is_cartesian ? 1 : 0));
    ck_assert_int_eq(in[1], element(other, is_cartesian ? 0 : 1));
}

/** In a line the ends have one neighbour only; blocks have different lengths. */
static void line(struct bcs_context *context, struct bcs_group *group,
                 bool is_cartesian)
{
    int32_t rank = bcs_group_rank(group), size = bcs_group_size(group);
    const int32_t others[2] = {rank > 0 ? rank - 1 : BCS_NO_NEIGHBOR,
                               rank + 1 < size ? rank + 1 : BCS_NO_NEIGHBOR};
    const struct bcs_neighbors neighbors = {.sources = others,
                                            .targets = others,
                                            .n_sources = 2,
                                            .n_targets = 2,
                                            .is_cartesian = is_cartesian};
    const size_t sent[2] = {8, 16}, received[2] = {16, 8};
    int64_t out[3], in[3] = {-1, -1, -1};
    const struct bcs_blocks send = {.data = out, .n_bytes = sent};
    const struct bcs_blocks receive = {.data = in, .n_bytes = received};

    fill(out, rank, 3);
    ck_assert_int_eq(
        bcs_neighbor_exchange(context, group, &neighbors, &send, &receive, NULL), 0);
    ck_assert_int_eq(in[0], rank > 0 ? element(rank - 1, 1) : -1);
    ck_assert_int_eq(in[1], rank > 0 ? element(rank - 1, 2) : -1);
    ck_assert_int_eq(in[2], rank + 1 < size ? element(rank + 1, 0) : -1);
}

/** All send to member 0, which sends to nobody. */
static void star(struct bcs_context *context, struct bcs_group *group)
{
    static const int32_t center[1] = {0}, leaves[N_RANKS - 1] = {4, 3, 2, 1};
    int32_t rank = bcs_group_rank(group);
    const struct bcs_neighbors neighbors = {.sources = leaves,
                                            .targets = center,
                                            .n_sources = rank == 0 ? N_RANKS - 1 : 0,
                                            .n_targets = rank == 0 ? 0 : 1};
    int64_t out = element(rank, 0), in[N_RANKS - 1] = {0};
    const struct bcs_blocks send = {.data = &out, .block_bytes = 8};
    const struct bcs_blocks receive = {.data = in, .block_bytes = 8};

    ck_assert_int_eq(
        bcs_neighbor_exchange(context, group, &neighbors, &send, &receive, NULL), 0);
    for (int32_t i = 0; i < N_RANKS - 1; i++) {
        ck_assert_int_eq(in[i], rank == 0 ? element(leaves[i], 0) : 0);
    }
}

static void neighbors(struct ranks_rank *rank)
{
    struct bcs_context *context = join(rank);
    struct bcs_group *two = NULL;

    ck_assert_int_eq(bcs_group_create(context, (int32_t[]){0, 1}, 2, &two), 0);
    for (int is_cartesian = 0; is_cartesian < 2; is_cartesian++) {
        if (two != NULL) {
            ring_of_two(context, two, is_cartesian);
        }
        line(context, bcs_world(context), is_cartesian);
    }
    star(context, bcs_world(context));
    ck_assert_int_eq(bcs_finalize(context), 0);
}

START_TEST(neighbours_get_what_is_for_them)
{
    run(_i, neighbors);
}
END_TEST

/* ------------------------------------------------------------------ blocks */

/** Go round from a block on, forwards and backwards. */
static void go_round(const struct bcs_blocks *blocks, int32_t begin,
                     const size_t offsets[], const size_t n_bytes[])
{
    struct bcs_block_cursor at = bcs_block_cursor_at(blocks, 3, begin);

    for (int32_t i = 0; i < 6; i++) {
        ck_assert_int_eq(at.index, (begin + i) % 3);
        ck_assert_ptr_eq(bcs_block_cursor_data(&at),
                         (char *)blocks->data + offsets[at.index]);
        ck_assert_uint_eq(bcs_block_cursor_bytes(&at), n_bytes[at.index]);
        bcs_block_cursor_next(&at);
    }
    for (int32_t i = 0; i < 6; i++) {
        bcs_block_cursor_previous(&at);
        ck_assert_int_eq(at.index, (begin + 5 - i) % 3);
        ck_assert_ptr_eq(bcs_block_cursor_data(&at),
                         (char *)blocks->data + offsets[at.index]);
    }
}

START_TEST(a_cursor_goes_round_blocks_both_ways)
{
    static const size_t n_bytes[] = {5, 0, 7}, equal[] = {4, 4, 4};
    static const size_t packed[] = {0, 5, 5}, apart[] = {40, 20, 0}, even[] = {0, 4, 8};
    char data[64];

    for (int32_t begin = 0; begin < 3; begin++) {
        struct bcs_blocks blocks = {.data = data, .n_bytes = n_bytes};

        go_round(&blocks, begin, packed, n_bytes);
        blocks.displacements = apart;
        go_round(&blocks, begin, apart, n_bytes);
        blocks = (struct bcs_blocks){.data = data, .block_bytes = 4};
        go_round(&blocks, begin, even, equal);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("collective_forms");

    /* Processes of a node: all, one, two. */
    tcase_add_loop_test(tests, each_member_gets_its_part_of_a_reduction, 0, 3);
    tcase_add_loop_test(tests, groups_are_of_whom_they_name, 0, 3);
    tcase_add_loop_test(tests, neighbours_get_what_is_for_them, 0, 3);
    tcase_add_test(tests, a_cursor_goes_round_blocks_both_ways);
    return run_tcase("collective_forms", tests);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Main part of the test program of the BCS API. Prints "rank R of N: C checks, W wrong"
 * for each rank.
 */
#include "tests/api/calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/pattern.h"

void expect(struct place *me, bool is_right, const char *what, int line)
{
    me->n_checked++;
    if (!is_right) {
        me->n_wrong++;
        fprintf(stderr, "rank %d of %d, line %d: not so: %s\n", me->rank, me->size,
                line, what);
    }
}

struct bcs_message message_of(const struct place *me, int32_t peer, int32_t tag,
                              void *data, size_t n_bytes)
{
    return (struct bcs_message){
        .group = me->group, .peer = peer, .tag = tag, .data = data, .n_bytes = n_bytes};
}

struct bcs_request *request_of(struct place *me)
{
    return me->is_blocking ? NULL : &me->request;
}

int result_of(struct place *me, int rc)
{
    return me->is_blocking || rc != 0 ? rc : bcs_test(me->context, &me->request, true);
}

void fill(void *data, size_t n_bytes, int32_t key)
{
    pattern_fill(data, n_bytes, pattern_seed((uint32_t)key));
}

bool is_filled(const void *data, size_t n_bytes, int32_t key)
{
    return pattern_is_filled(data, n_bytes, pattern_seed((uint32_t)key));
}

static void test_group(struct place *me, struct bcs_group *group)
{
    me->group = group;
    me->rank = bcs_group_rank(group);
    me->size = bcs_group_size(group);
    test_messages(me);
    for (int i = 0; i < 2; i++) {
        me->is_blocking = i == 0;
        test_collectives(me);
        test_errors(me);
    }
    test_outstanding(me);
}

/** All ranks backwards, the even ones, and each alone. */
static void test_groups(struct place *me)
{
    struct bcs_group *world = bcs_world(me->context), *group;
    int32_t size = bcs_group_size(world), rank = bcs_group_rank(world), n = 0;
    int32_t *ranks = calloc((size_t)size, sizeof(*ranks));

    for (int32_t i = 0; i < size; i++) {
        ranks[i] = size - 1 - i;
    }
    EXPECT(me, bcs_group_create(me->context, ranks, size, &group) == 0);
    EXPECT(me, bcs_group_size(group) == size);
    EXPECT(me, bcs_group_rank(group) == size - 1 - rank);
    test_group(me, group);
    for (int32_t i = 0; i < size; i += 2) {
        ranks[n++] = i;
    }
    EXPECT(me, bcs_group_create(me->context, ranks, n, &group) == 0);
    EXPECT(me, (group != NULL) == (rank % 2 == 0));
    if (group != NULL) {
        test_group(me, group);
    }
    for (int32_t i = 0; i < size; i++) {
        EXPECT(me, bcs_group_create(me->context, &i, 1, &group) == 0);
        EXPECT(me, (group != NULL) == (rank == i));
        if (group != NULL) {
            test_group(me, group);
        }
    }
    free(ranks);
}

static void test_group_errors(struct place *me)
{
    int32_t beyond = bcs_group_size(bcs_world(me->context)), twice[2] = {0, 0};
    struct bcs_group *group = NULL;

    EXPECT(me, bcs_group_create(me->context, &beyond, 1, &group) == -EINVAL);
    EXPECT(me, bcs_group_create(me->context, twice, 2, &group) == -EINVAL);
    EXPECT(me, bcs_group_create(me->context, twice, 0, &group) == -EINVAL);
    EXPECT(me, group == NULL);
}

int main(void)
{
    struct place me = {.n_wrong = 0};
    struct bcs_context *second = NULL;
    int rc = bcs_init(&me.context);

    if (rc != 0) {
        fprintf(stderr, "bcs_init: %s\n", strerror(-rc));
        return 2;
    }
    EXPECT(&me, bcs_init(&second) == -EALREADY && second == NULL);
    test_group(&me, bcs_world(me.context));
    test_group_errors(&me);
    test_groups(&me);
    test_group(&me, bcs_world(me.context));
    printf("rank %d of %d: %d checks, %d wrong\n", me.rank, me.size, me.n_checked,
           me.n_wrong);
    EXPECT(&me, bcs_finalize(me.context) == 0);
    EXPECT(&me, bcs_finalize(NULL) == 0);
    return me.n_wrong > 0;
}

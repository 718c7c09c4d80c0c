/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are refused: they return the right error, change nothing, and the job goes
 * on. Errors that end the job are in fatal.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "tests/cbsp/calls.h"

static long region[16];

static void bad_sends(void **to)
{
    int n = cBSP_nprocs();
    long word = 1;
    char *end = (char *)to[0] + sizeof(region);

    EXPECT(cBSP_send(-1, to[0], &word, 8, NULL) == -EINVAL);
    EXPECT(cBSP_send(n, to[0], &word, 8, NULL) == -EINVAL);
    EXPECT(cBSP_send(0, to[0], NULL, 8, NULL) == -EINVAL);
    EXPECT(cBSP_send(0, NULL, &word, 8, NULL) == -EINVAL);
    EXPECT(cBSP_send(0, end - 7, &word, 8, NULL) == -EACCES);
    EXPECT(cBSP_send(0, (char *)to[0] - 1, &word, 8, NULL) == -EACCES);
    EXPECT(cBSP_send(0, end, &word, 1, NULL) == -EACCES);
    EXPECT(cBSP_send(0, (void *)8, &word, 8, NULL) == -EACCES);
    EXPECT(cBSP_send(0, to[0], &word, SIZE_MAX, NULL) == -EACCES);
    EXPECT(cBSP_send(0, to[0], &word, (size_t)INT_MAX + 1, count_message) == -EMSGSIZE);
    EXPECT(cBSP_send(0, to[0], &word, 8, (cBSP_handler_fn)&region) == -EINVAL);
    /* None of these was sent. */
    EXPECT(cBSP_send(0, end - 8, &word, 8, NULL) == 0);
    EXPECT(cBSP_nsync(cBSP_pid() == 0 ? n : 0) == 0);
}

static void bad_regions(void)
{
    void *address;
    int n = cBSP_nprocs();

    EXPECT(cBSP_export(-1, region, 8) == -EINVAL);
    EXPECT(cBSP_export(CBSP_MAX_REGIONS, region, 8) == -EINVAL);
    EXPECT(cBSP_export(7, NULL, 8) == -EINVAL);
    EXPECT(cBSP_export(9, region, 8) == -EEXIST);
    EXPECT(cBSP_unexport(7) == -EINVAL);
    EXPECT(cBSP_import(0, 7, &address, NULL) == -ENOENT);
    EXPECT(cBSP_import(n, 9, &address, NULL) == -EINVAL);
    EXPECT(cBSP_import(0, -1, &address, NULL) == -EINVAL);
}

/** Sends are allowed until the next global synchronization, and not after it. */
static void revoked_regions(void **to)
{
    int next = (cBSP_pid() + 1) % cBSP_nprocs();
    long word = 2;

    EXPECT(cBSP_unexport(9) == 0);
    EXPECT(cBSP_export(9, region, 8) == -EEXIST);
    EXPECT(cBSP_send(next, to[next], &word, 8, NULL) == 0);
    EXPECT(cBSP_gsync() == 0);
    EXPECT(region[0] == 2);
    EXPECT(cBSP_send(next, to[next], &word, 8, NULL) == -EACCES);
    EXPECT(cBSP_export(9, region + 1, 8) == 0);
    EXPECT(cBSP_gsync() == 0);
    EXPECT(cBSP_send(next, to[next], &word, 8, NULL) == -EACCES);
    EXPECT(cBSP_import(next, 9, &to[next], NULL) == 0);
    EXPECT(cBSP_send(next, to[next], &word, 8, NULL) == 0);
    EXPECT(cBSP_nsync(1) == 0);
    EXPECT(region[1] == 2);
    unshare(9);
}

static void bad_collectives(void)
{
    double number = 0;

    EXPECT(cBSP_broadcast(-1, &number, 8) == -EINVAL);
    EXPECT(cBSP_broadcast(cBSP_nprocs(), &number, 8) == -EINVAL);
    EXPECT(cBSP_broadcast(0, NULL, 8) == -EINVAL);
    EXPECT(cBSP_broadcast(0, &number, (size_t)INT_MAX + 1) == -EMSGSIZE);
    EXPECT(cBSP_reduce(&number, 1, 0, cBSP_add_double) == -EINVAL);
    EXPECT(cBSP_reduce(&number, 1, 8, NULL) == -EINVAL);
    EXPECT(cBSP_reduce(&number, SIZE_MAX / 2, 8, cBSP_add_double) == -EMSGSIZE);
    EXPECT(cBSP_send(cBSP_pid(), NULL, &number, 8, count_message) == 0);
    EXPECT(cBSP_broadcast(0, &number, 8) == -EBUSY);
    EXPECT(cBSP_reduce(&number, 1, 8, cBSP_add_double) == -EBUSY);
    EXPECT(cBSP_nsync(1) == 0);
}

void test_errors(void)
{
    void **to = calloc((size_t)cBSP_nprocs(), sizeof(*to));

    EXPECT(cBSP_initialize() == -EALREADY);
    EXPECT(cBSP_nsync(-1) == -EINVAL);
    share(9, region, sizeof(region), to);
    bad_sends(to);
    bad_regions();
    revoked_regions(to);
    bad_collectives();
    free(to);
}

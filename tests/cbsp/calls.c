/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test program of cBSP: runs all groups of checks as one process of a job, or with
 * the argument "large" that of large messages alone, or with "rights" that of lost
 * rights, and prints how many were wrong. Started by run_cbsp.py.
 */
#include "tests/cbsp/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system/lose_rights.h"

int n_handled;
long n_handled_bytes;

static int n_checked, n_wrong;

void expect(bool is_right, const char *what, const char *file, int line)
{
    n_checked++;
    if (!is_right) {
        n_wrong++;
        printf("process %d: %s:%d: wrong: %s\n", cBSP_pid(), file, line, what);
    }
}

void count_message(int srcNode, void *destAddr, int nBytes)
{
    (void)srcNode;
    (void)destAddr;
    n_handled++;
    n_handled_bytes += nBytes;
}

long pattern(int from, int to, int round, long i)
{
    return ((from * 1009L + to) * 1013L + round) * 1000003L + i;
}

void share(int region, void *array, size_t n_bytes, void *to[])
{
    EXPECT(cBSP_export(region, array, n_bytes) == 0);
    EXPECT(cBSP_gsync() == 0);
    for (int i = 0; i < cBSP_nprocs(); i++) {
        size_t n_imported = 0;

        EXPECT(cBSP_import(i, region, &to[i], &n_imported) == 0);
        EXPECT(n_imported == n_bytes);
    }
}

void unshare(int region)
{
    EXPECT(cBSP_unexport(region) == 0);
    EXPECT(cBSP_gsync() == 0);
}

static void test_all(void)
{
    test_messages();
    test_flow();
    test_pace();
    test_reductions();
    test_errors();
}

int main(int argc, char *argv[])
{
    const char *what = argc > 1 ? argv[1] : "all";
    int pid, n_procs;

    if (strcmp(what, "rights") == 0) {
        rights_begin();
    }
    EXPECT(cBSP_nprocs() == 0 && cBSP_pid() == -1);
    EXPECT(cBSP_gsync() == -1); /* -EPERM, with a line */
    if (cBSP_initialize() < 0) {
        return EXIT_FAILURE;
    }
    pid = cBSP_pid();
    n_procs = cBSP_nprocs();
    if (strcmp(what, "large") == 0) {
        test_large();
    } else if (strcmp(what, "rights") == 0) {
        test_rights();
    } else {
        test_all();
    }
    EXPECT(cBSP_finalize() == 0);
    EXPECT(cBSP_nprocs() == 0 && cBSP_pid() == -1);
    printf("process %d of %d: %d checks, %d wrong\n", pid, n_procs, n_checked, n_wrong);
    return n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

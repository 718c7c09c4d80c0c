/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program on cBSP whose calls run_mds_calls.py knows. Handlers send, too: these
 * messages count, and are in no call of their own.
 */
#include <bcs/cbsp.h>

#include <stdlib.h>

enum { N_MESSAGES = 3, N_WORDS = 3, REGION = 5 };

static int64_t words[N_WORDS], answers;

static void must(int rc)
{
    if (rc != 0) {
        abort();
    }
}

static void take_answer(int srcNode, void *destAddr, int nBytes)
{
    (void)srcNode;
    (void)nBytes;
    answers += *(int64_t *)destAddr;
}

static void answer(int srcNode, void *destAddr, int nBytes)
{
    (void)nBytes;
    must(cBSP_send(srcNode, NULL, destAddr, sizeof(int64_t), take_answer));
}

int main(void)
{
    const int64_t data[N_WORDS] = {1, 2, 3};
    double vector[4] = {0};
    void *address;
    int next;

    must(cBSP_initialize());
    next = (cBSP_pid() + 1) % cBSP_nprocs();
    must(cBSP_export(REGION, words, sizeof(words)));
    must(cBSP_gsync());
    must(cBSP_import(next, REGION, &address, NULL));
    for (int i = 0; i < N_MESSAGES; i++) {
        must(cBSP_send(next, address, data, sizeof(data), answer));
    }
    must(cBSP_nsync(N_MESSAGES));
    must(cBSP_nsync(N_MESSAGES));
    must(cBSP_broadcast(0, words, sizeof(words)));
    must(cBSP_reduce(vector, 4, sizeof(vector[0]), cBSP_add_double));
    must(cBSP_unexport(REGION));
    must(cBSP_gsync());
    must(cBSP_finalize());
    return answers == N_MESSAGES ? EXIT_SUCCESS : EXIT_FAILURE;
}

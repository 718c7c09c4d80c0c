/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes without MPI that fork. Each child does one thing and ends; whatever it
 * does, the processes go on as if there had been none.
 *
 * Usage: forked_library bcs|cbsp|bsp. Process 0 prints how the children have ended, as
 * exit statuses: the sum over all processes, for each kind of child.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcs/bcs.h>
#include <bcs/cbsp.h>
#include <bsp.h>

static struct bcs_context *context;

static int run_child(int (*act)(void))
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        exit(act());
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static int nothing(void)
{
    return 0;
}

/* ---- the BCS API */

static int bcs_next(void)
{
    return (bcs_group_rank(bcs_world(context)) + 1) %
           bcs_group_size(bcs_world(context));
}

static int bcs_child_sends(void)
{
    int number = 1;
    struct bcs_message message = {.group = bcs_world(context),
                                  .data = &number,
                                  .n_bytes = sizeof(number),
                                  .peer = bcs_next()};

    return bcs_send(context, &message, BCS_SEND_STANDARD, NULL) == 0 ? 8 : 9;
}

static int bcs_child_looks(void)
{
    struct bcs_message message = {
        .group = bcs_world(context), .peer = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG};
    struct bcs_result result;

    return bcs_probe(context, &message, false, &result) == 0 ? 8 : 9;
}

static int bcs_child_finalizes(void)
{
    return bcs_finalize(context) == 0 ? 8 : 9;
}

static int64_t bcs_add(int64_t mine)
{
    int64_t sum = -1;
    struct bcs_reduction reduction = {
        .in = &mine, .out = &sum, .count = 1, .op = BCS_SUM, .type = BCS_INT64};

    bcs_reduce(context, bcs_world(context), &reduction, BCS_ROOT_ALL, NULL);
    return sum;
}

static void run_bcs(void)
{
    static int (*const acts[])(void) = {bcs_child_sends, bcs_child_looks,
                                        bcs_child_finalizes, nothing};

    if (bcs_init(&context) < 0) {
        exit(1);
    }
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        int64_t sum = bcs_add(run_child(acts[i]));

        if (bcs_group_rank(bcs_world(context)) == 0) {
            printf("%d ", (int)sum);
        }
    }
    bcs_finalize(context);
}

/* ---- cBSP */

static int cbsp_child_sends(void)
{
    return cBSP_send(0, NULL, NULL, 0, NULL) < 0 ? 1 : 8;
}

static int cbsp_child_syncs(void)
{
    return cBSP_gsync() < 0 ? 1 : 8;
}

static int cbsp_child_finalizes(void)
{
    return cBSP_finalize() < 0 ? 1 : 8;
}

static void run_cbsp(void)
{
    static int (*const acts[])(void) = {cbsp_child_sends, cbsp_child_syncs,
                                        cbsp_child_finalizes, nothing};

    if (cBSP_initialize() < 0) {
        exit(1);
    }
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        int64_t sum = run_child(acts[i]);

        cBSP_reduce(&sum, 1, sizeof(sum), cBSP_add_int64);
        if (cBSP_pid() == 0) {
            printf("%d ", (int)sum);
        }
    }
    cBSP_finalize();
}

/* ---- BSPlib */

static int bsp_child_syncs(void)
{
    bsp_sync();
    return 8;
}

static int bsp_child_ends(void)
{
    bsp_end();
    return 8;
}

static void run_bsp(void)
{
    static int (*const acts[])(void) = {bsp_child_syncs, bsp_child_ends, nothing};

    bsp_begin(bsp_nprocs());
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        int ended = run_child(acts[i]), sum = 0;
        int n_messages;
        int n_bytes;

        bsp_send(0, NULL, &ended, sizeof(ended));
        bsp_sync();
        bsp_qsize(&n_messages, &n_bytes);
        for (int k = 0; k < n_messages; k++) {
            bsp_move(&ended, sizeof(ended));
            sum += ended;
        }
        if (bsp_pid() == 0) {
            printf("%d ", sum);
        }
    }
    bsp_end();
}

int main(int n_words, char **words)
{
    const char *library = n_words == 2 ? words[1] : "";

    if (strcmp(library, "bcs") == 0) {
        run_bcs();
    } else if (strcmp(library, "cbsp") == 0) {
        run_cbsp();
    } else {
        run_bsp();
    }
    return 0;
}

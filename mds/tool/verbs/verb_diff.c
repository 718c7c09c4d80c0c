/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds diff: what has changed most between two runs, or between several runs of two
 * kinds, and whether by more than noise (noise.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/diff/diff.h"
#include "mds/tool/read/manifest.h"
#include "mds/tool/verbs/verbs.h"

enum { LINES = 20 }; /* of a table, if not told */

/** The side in a line. @return for free, what was run; NULL: no memory */
static char *print_side(const struct runs_compared *side, char letter)
{
    char *command = manifest_command(side->runs[0].manifest);

    printf("%c: %s, %u run%s of %u ranks: %s\n", letter, side->path, side->n_runs,
           side->n_runs == 1 ? "" : "s", side->runs[0].n_ranks,
           command == NULL ? "" : command);
    if (side->n_left_out > 0) {
        printf("   %u more left out: they have no files of processes\n",
               side->n_left_out);
    }
    for (uint32_t i = 1; i < side->n_runs; i++) {
        char *other = manifest_command(side->runs[i].manifest);

        if (command != NULL && other != NULL && strcmp(command, other) != 0) {
            printf("   %s ran something else: %s\n", side->folders[i], other);
        }
        free(other);
    }
    return command;
}

/** Tell of a setting that the other side does not have, or has otherwise; of the place
 *  of the runs nobody wants to be told. */
static void print_setting(const struct manifest_line *line, const char *other)
{
    static const char setting[] = "setting ";
    size_t n = sizeof(setting) - 1;
    char key[256], value[1024];

    if (line->n_key_bytes >= sizeof(key) || line->n_key_bytes < n ||
        memcmp(line->key, setting, n) != 0) {
        return;
    }
    snprintf(key, sizeof(key), "%.*s", (int)line->n_key_bytes, line->key);
    manifest_value(other, key, 0, value, sizeof(value));
    if (strcmp(key + n, "BCS_MDS_DIR") != 0 &&
        (strlen(value) != line->n_value_bytes ||
         memcmp(value, line->value, line->n_value_bytes) != 0)) {
        printf("%s was ", key + n);
        manifest_print(stdout, line->value, line->n_value_bytes);
        printf(" in A, and ");
        manifest_print(stdout, value, strlen(value));
        printf(" in B\n");
    }
}

/** Settings of the first run of each side that differ. */
static void print_settings(const struct diff *diff)
{
    const char *at = diff->sides[0].runs[0].manifest;
    struct manifest_line line;

    while (manifest_line(&at, &line)) {
        print_setting(&line, diff->sides[1].runs[0].manifest);
    }
}

/** What is compared, and in which way the sides are not alike. */
static void print_head(const struct diff *diff)
{
    char *commands[2];

    for (uint32_t which = 0; which < 2; which++) {
        commands[which] = print_side(&diff->sides[which], "AB"[which]);
    }
    if (commands[0] != NULL && commands[1] != NULL &&
        strcmp(commands[0], commands[1]) != 0) {
        printf("The commands differ.\n");
    }
    if (diff->is_per_rank) {
        printf("The numbers of ranks differ: counts and totals are by rank, and ranks "
               "are not compared.\n");
    }
    print_settings(diff);
    free(commands[0]);
    free(commands[1]);
}

static void print_legend(const struct diff *diff)
{
    printf("\nShift: how much more often a value of B is above one of A than below it, "
           "-1 to 1.\n");
    if (diff->is_single) {
        printf("Noise: one run a side does not tell how runs differ among each other; "
               "beyond is a\ndistribution that has moved (shift 0.147 or more, and 3 "
               "standard errors of the rank\ntest) by more than single calls differ. "
               "Compare folders of several runs to be sure.\n");
    } else {
        printf("Noise: beyond is what runs of one kind would show once in a hundred, "
               "by the spread\nbetween the runs of a side (Student's test).\n");
    }
}

/** Find what holds for all runs. */
static int prepare(struct diff *diff)
{
    uint32_t bits = diff->sides[0].runs[0].files[0].process.histogram_bits, n_most = 0;
    const struct run *first = &diff->sides[0].runs[0];

    diff->is_single = diff->sides[0].n_runs + diff->sides[1].n_runs == 2;
    for (uint32_t i = 0; i < diff->sides[0].n_runs + diff->sides[1].n_runs; i++) {
        uint32_t which = i >= diff->sides[0].n_runs;
        const struct run *run =
            &diff->sides[which].runs[i - which * diff->sides[0].n_runs];

        n_most += run->n_names;
        diff->is_per_rank |=
            run->n_ranks != first->n_ranks || run->n_files != first->n_files;
        if (run->files[0].process.histogram_bits < bits) {
            bits = run->files[0].process.histogram_bits;
        }
    }
    diff->names = calloc((size_t)n_most + 1, sizeof(*diff->names));
    if (diff->names == NULL || runs_compared_spread(&diff->sides[0], bits) < 0 ||
        runs_compared_spread(&diff->sides[1], bits) < 0) {
        return -ENOMEM;
    }
    return 0;
}

/** Collect the names of all primitives. */
static void collect_names(struct diff *diff, const struct runs_compared *side)
{
    for (uint32_t i = 0; i < side->n_runs; i++) {
        for (uint32_t j = 0; j < side->runs[i].n_names; j++) {
            const char *name = side->runs[i].names[j];
            uint32_t k = 0;

            while (k < diff->n_names && strcmp(diff->names[k], name) != 0) {
                k++;
            }
            if (k == diff->n_names) {
                diff->names[diff->n_names++] = name;
            }
        }
    }
}

int diff_print(struct diff *diff)
{
    int rc = prepare(diff);

    if (rc == 0) {
        collect_names(diff, &diff->sides[0]);
        collect_names(diff, &diff->sides[1]);
        print_head(diff);
        diff_print_whole(diff);
        rc = diff_print_calls(diff);
    }
    if (rc == 0) {
        rc = diff_print_split(diff);
    }
    if (rc == 0) {
        rc = diff_print_sites(diff);
    }
    if (rc == 0) {
        rc = diff_print_spreads(diff);
    }
    if (rc == 0 && !diff->is_per_rank) {
        rc = diff_print_ranks(diff);
    }
    if (rc == 0 && !diff->is_per_rank) {
        rc = diff_print_peers(diff);
    }
    if (rc == 0) {
        print_legend(diff);
    }
    return rc;
}

int verb_diff(const char *a, const char *b, const struct verb_options *options)
{
    struct diff diff = {
        .n_most = options->n_most < 0 ? LINES : (size_t)options->n_most,
    };
    char error[DUMP_ERROR_BYTES];
    int rc = runs_compared_read(a, &diff.sides[0], error);

    if (rc == 0) {
        rc = runs_compared_read(b, &diff.sides[1], error);
    }
    if (rc == 0 && diff_print(&diff) < 0) {
        rc = dump_refuse(error, "no memory to compare %s with %s", a, b);
    }
    if (rc < 0) {
        fprintf(stderr, "bcs-mds: %s\n", error);
    }
    free(diff.names);
    runs_compared_fini(&diff.sides[0]);
    runs_compared_fini(&diff.sides[1]);
    return rc < 0;
}

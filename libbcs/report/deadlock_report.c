/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a deadlock; see deadlock_report.h. What bcs-top knows of it, it is
 * asked for.
 */
#include "libbcs/report/deadlock_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/report/run_unseen.h"
#include "libbcs/report/top_tool.h"

enum { MOST_RANGES = 6, MOST_CALLS = 3, HEADLINE_BYTES = 256 };

static bool has(const uint64_t *set, uint32_t rank, uint32_t n_ranks)
{
    return rank < n_ranks && (set[rank / 64] >> rank % 64 & 1) != 0;
}

/** Write a set as "0-3,7", the first ranges of it. @return text, for free, or NULL */
static char *words_of(const uint64_t *set, uint32_t n_ranks, uint32_t n_most)
{
    uint32_t n_ranges = 0;
    size_t n_bytes = 0;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &n_bytes);

    if (stream == NULL) {
        return NULL;
    }
    for (uint32_t first = 0, i; first < n_ranks; first = i + 1) {
        for (i = first; has(set, i, n_ranks); i++) {
        }
        if (i > first && n_ranges == n_most) {
            fputs(",...", stream);
            break;
        }
        if (i > first) {
            fprintf(stream, "%s%u", n_ranges++ > 0 ? "," : "", first);
        }
        if (i > first + 1) {
            fprintf(stream, "-%u", i - 1);
        }
    }
    fclose(stream);
    return text;
}

/** What bcs-top is to do. */
struct task {
    const char *const *words; /* it and its arguments, ended by NULL */
    char *const *more;        /* behind them */
    size_t n_more;
    const struct bcs_finding *finding; /* that it prints; NULL: none */
};

/** The command line. @param finding  a line of JSON for bcs-top to complete; or NULL
 *  @return for free; NULL: no memory */
static char **arguments_of(const struct task *task, char *finding)
{
    size_t n_words = 0, n = 0;
    char **list;

    while (task->words[n_words] != NULL) {
        n_words++;
    }
    list = calloc(n_words + task->n_more + 3, sizeof(*list));
    if (list == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n_words; i++) {
        list[n++] = (char *)(uintptr_t)task->words[i];
        if (i == 0 && finding != NULL) {
            list[n++] = (char *)(uintptr_t) "--finding";
            list[n++] = finding;
        }
    }
    for (size_t i = 0; i < task->n_more; i++) {
        list[n++] = task->more[i];
    }
    return list;
}

/** Run bcs-top. If it cannot say where ranks stand, the finding is without.
 *  @return 0, an errno, or -1: it has failed */
static int run_tool(const struct task *task, const uint64_t *ranks, uint32_t n_ranks)
{
    bool is_wanted = task->finding != NULL && bcs_findings_are_wanted();
    char *line = is_wanted ? bcs_finding_line(task->finding) : NULL;
    char **environment = bcs_top_tool_environment();
    char **arguments = arguments_of(task, line);
    int status = 0;
    int rc = environment == NULL || arguments == NULL
                 ? ENOMEM
                 : bcs_run_unseen(arguments, environment, &status);

    free(environment);
    free(arguments);
    free(line);
    rc = rc == 0 && status != 0 ? -1 : rc;
    if (rc != 0 && is_wanted) {
        struct bcs_finding finding = *task->finding;

        finding.ranks = ranks;
        finding.n_ranks = n_ranks;
        bcs_finding_tell(&finding);
    }
    return rc;
}

/** bcs-top is not there, or has failed. */
static void complain(const char *tool, int rc)
{
    bcs_error("%s, which says where they stand, %s", tool,
              rc < 0 ? "has failed" : strerror(rc));
}

/** Print whole lines, if anybody listens. */
static void write_text(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0) {
        return;
    }
}

/** The first line of a report. */
static void write_headline(const struct bcs_deadlock *deadlock,
                           char text_out[HEADLINE_BYTES])
{
    char *some = words_of(deadlock->stuck, deadlock->n_ranks, MOST_RANGES);
    bool is_one = some != NULL && some[strspn(some, "0123456789")] == '\0';

    snprintf(text_out, HEADLINE_BYTES,
             "deadlock: rank%s %s wait%s and can never continue", is_one ? "" : "s",
             some == NULL ? "?" : some, is_one ? "s for itself" : " for each other");
    free(some);
}

bool bcs_deadlock_report(const struct bcs_deadlock *deadlock)
{
    char path[BCS_TOP_TOOL_BYTES], pid[32], headline[HEADLINE_BYTES];
    const char *tool = bcs_top_tool_find(path);
    char *all = words_of(deadlock->stuck, deadlock->n_ranks, UINT32_MAX);
    const struct bcs_finding finding = {
        .kind = BCS_FINDING_DEADLOCK, .status = deadlock->status, .message = headline};
    int rc;

    write_headline(deadlock, headline);
    bcs_error("%s:", headline);
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    rc = all == NULL
             ? ENOMEM
             : run_tool(&(struct task){(const char *const[]){
                                           tool, "--stuck", all, pid,
                                           deadlock->path == NULL ? "" : deadlock->path,
                                           NULL},
                                       deadlock->messages, deadlock->n_messages,
                                       &finding},
                        deadlock->stuck, deadlock->n_ranks);
    if (rc != 0) {
        complain(tool, rc);
    }
    free(all);
    return rc == 0;
}

/** Write which ranks of a suspicion are in which call: "0-1 in MPI_Recv, 2 in
 *  MPI_Barrier". Takes the ranks out that it has written. */
static void write_calls(FILE *stream, const struct bcs_suspicion *suspicion,
                        uint64_t *ranks, uint64_t *alike)
{
    size_t n_bytes = (suspicion->n_ranks + 63) / 64 * sizeof(uint64_t);
    uint32_t n_groups = 0;

    for (uint32_t first = 0; first < suspicion->n_ranks; first++) {
        const char *call = suspicion->call_of(suspicion->arg, first);
        char *words;

        if (!has(ranks, first, suspicion->n_ranks)) {
            continue;
        }
        if (n_groups++ == MOST_CALLS) {
            fputs(", and others", stream);
            return;
        }
        memset(alike, 0, n_bytes);
        for (uint32_t i = first; i < suspicion->n_ranks; i++) {
            if (has(ranks, i, suspicion->n_ranks) &&
                strcmp(suspicion->call_of(suspicion->arg, i), call) == 0) {
                alike[i / 64] |= UINT64_C(1) << i % 64;
                ranks[i / 64] &= ~(UINT64_C(1) << i % 64);
            }
        }
        words = words_of(alike, suspicion->n_ranks, MOST_RANGES);
        fprintf(stream, "%s%s in %s", n_groups > 1 ? ", " : "",
                words == NULL ? "?" : words, *call == '\0' ? "a call" : call);
        free(words);
    }
}

/** All calls of a suspicion. @return text, for free, or NULL */
static char *calls_of(const struct bcs_suspicion *suspicion)
{
    size_t n_words = (suspicion->n_ranks + 63) / 64, n_bytes = 0;
    uint64_t *sets = calloc(2 * n_words, sizeof(uint64_t));
    char *text = NULL;
    FILE *stream = sets == NULL ? NULL : open_memstream(&text, &n_bytes);

    if (stream != NULL) {
        memcpy(sets, suspicion->ranks, n_words * sizeof(uint64_t));
        write_calls(stream, suspicion, sets, sets + n_words);
        fclose(stream);
    }
    free(sets);
    return text;
}

void bcs_suspicion_report(const struct bcs_suspicion *suspicion)
{
    char *calls = calls_of(suspicion), *text;

    if (asprintf(&text,
                 "suspicion: these ranks wait for each other: %s. It is no proof of a "
                 "deadlock, as rank %" PRIu32 " could still act: %s. The job goes on",
                 calls == NULL ? "?" : calls, suspicion->rank, suspicion->words) >= 0) {
        bcs_error("%s", text);
        bcs_finding_tell(&(struct bcs_finding){.kind = BCS_FINDING_SUSPICION,
                                               .message = text,
                                               .ranks = suspicion->ranks,
                                               .n_ranks = suspicion->n_ranks});
        free(text);
    }
    free(calls);
}

void bcs_places_report(const struct bcs_places *places)
{
    char path[BCS_TOP_TOOL_BYTES], pid[32];
    const char *tool = bcs_top_tool_find(path);
    char *all = words_of(places->ranks, places->n_ranks, UINT32_MAX);
    int rc;

    snprintf(pid, sizeof(pid), "%" PRId64, places->pid);
    rc = all == NULL
             ? ENOMEM
             : run_tool(
                   &(struct task){(const char *const[]){
                                      tool, places->are_failing ? "--failing" : "--at",
                                      all, pid, places->before, places->after, NULL},
                                  .finding = places->finding},
                   places->ranks, places->n_ranks);
    if (rc != 0) {
        write_text(places->before);
        complain(tool, rc);
        write_text(places->after);
    }
    free(all);
}

void bcs_deadlock_exit(void)
{
    _exit(BCS_EXIT_DEADLOCK);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of what is left; see lint_report.h. The first rank gets the entries of
 * all, puts those together that are of one kind and place, asks for their lines, prints
 * the first ones, and writes all into the run's folder, if there is one. Runs in
 * MPI_Finalize.
 */
#include "mpi_shim/calls/lint_report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/json_text.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/report/finding.h"
#include "libbcs/report/lines.h"
#include "mds/dump_write.h"
#include "mds/run_folder.h"
#include "mpi_shim/calls/call_recording.h"
#include "mpi_shim/calls/lint.h"
#include "mpi_shim/calls/lint_entries.h"
#include "mpi_shim/calls/lint_finding.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"
#include <bcs/version.h>

enum { LINES_MOST = 18, RANGES_MOST = 6 }; /* a screen */

/* How each kind is told: in lint.json; "NOUN that FAULT". */
static const struct {
    const char *key, *noun, *fault;
} kinds[SHIM_N_LEFT] = {
    [SHIM_LEFT_MESSAGE] = {"message", "messages", "nobody has received"},
    [SHIM_LEFT_REQUEST] = {"request", "requests", "were neither completed nor freed"},
    [SHIM_LEFT_PERSISTENT] = {"persistent", "persistent requests", "were not freed"},
    [SHIM_LEFT_COMM] = {"communicator", "communicators", "were not freed"},
    [SHIM_LEFT_GROUP] = {"group", "groups", "were not freed"},
    [SHIM_LEFT_TYPE] = {"datatype", "datatypes", "were not freed"},
    [SHIM_LEFT_OP] = {"operation", "operations", "were not freed"},
    [SHIM_LEFT_KEYVAL] = {"keyval", "attribute keys", "were not freed"},
    [SHIM_LEFT_ERRHANDLER] = {"errhandler", "error handlers", "were not freed"},
    [SHIM_LEFT_CALL] = {"collective", "collectives", "members have not called alike"},
};

/** Things of one kind and place, of some ranks. */
struct group {
    const struct shim_left_entry *entry; /* the first one's */
    uint64_t n;
    bool *has; /* [size] a rank */
    int n_ranks;
    struct bcs_line place; /* where it was made; its text is NULL if not known */
};

/** All of them, on the first rank. */
struct report {
    struct shim_left_entry *entries;
    int *bytes; /* of each rank's entries, and where they begin */
    int *starts;
    uint64_t n_more[SHIM_N_LEFT]; /* things that no list has room for */
    struct group *groups;         /* by kind */
    uint32_t n_groups;
    int size;
};

/* -------------------------------------------------------------------------
 * gathering */

/** Get the entries of all ranks. Without memory there are none. */
static void gather(struct report *report, const struct shim_left_list *own, int rank)
{
    int n_bytes = (int)(own->n * sizeof(*own->entries));
    uint64_t total = 0;
    int is_good = 1;

    if (rank == 0) {
        report->bytes = calloc((size_t)report->size, sizeof(*report->bytes));
        report->starts = calloc((size_t)report->size, sizeof(*report->starts));
        is_good = report->bytes != NULL && report->starts != NULL;
    }
    shim_real.Bcast(&is_good, sizeof(is_good), shim_handles.byte, 0,
                    shim_handles.comm_world);
    if (!is_good) {
        return;
    }
    shim_real.Gather(&n_bytes, sizeof(n_bytes), shim_handles.byte, report->bytes,
                     sizeof(n_bytes), shim_handles.byte, 0, shim_handles.comm_world);
    for (int i = 0; rank == 0 && i < report->size; i++) {
        report->starts[i] = (int)total;
        total += (uint64_t)report->bytes[i];
    }
    if (rank == 0) {
        report->entries = total > INT_MAX ? NULL : malloc(total + 1);
        is_good = report->entries != NULL;
    }
    shim_real.Bcast(&is_good, sizeof(is_good), shim_handles.byte, 0,
                    shim_handles.comm_world);
    if (is_good) {
        shim_real.Gatherv(own->entries, n_bytes, shim_handles.byte, report->entries,
                          report->bytes, report->starts, shim_handles.byte, 0,
                          shim_handles.comm_world);
    }
}

/** How many things the lists of all ranks have left out. */
static void count_more(struct report *report, const struct shim_left_list *own,
                       int rank)
{
    enum { N_BYTES = sizeof(own->n_more) };
    uint64_t *all = rank == 0 ? calloc((size_t)report->size, N_BYTES) : NULL;
    int is_good = rank != 0 || all != NULL;

    shim_real.Bcast(&is_good, sizeof(is_good), shim_handles.byte, 0,
                    shim_handles.comm_world);
    if (is_good) {
        shim_real.Gather(own->n_more, N_BYTES, shim_handles.byte, all, N_BYTES,
                         shim_handles.byte, 0, shim_handles.comm_world);
    }
    for (int i = 0; all != NULL && i < report->size * SHIM_N_LEFT; i++) {
        report->n_more[i % SHIM_N_LEFT] += all[i];
    }
    free(all);
}

static uint64_t sum(const uint64_t counts[SHIM_N_LEFT])
{
    uint64_t n = 0;

    for (int kind = 0; kind < SHIM_N_LEFT; kind++) {
        n += counts[kind];
    }
    return n;
}

/* --------------------------------------------------------------------------
 * grouping */

/** Add an entry of a rank to its group, or as a new one. @return whether there is
 *  memory */
static bool add(struct report *report, const struct shim_left_entry *entry, int rank)
{
    struct group *group = report->groups;
    struct group *end = group + report->n_groups;

    while (group < end && !shim_left_is_same(group->entry, entry)) {
        group++;
    }
    if (group == end) {
        *group = (struct group){
            .entry = entry,
            .has = calloc((size_t)report->size, sizeof(*group->has)),
        };
        if (group->has == NULL) {
            return false;
        }
        report->n_groups++;
    }
    group->n += entry->n;
    group->n_ranks += !group->has[rank];
    group->has[rank] = true;
    return true;
}

/** Make the groups, those of one kind together. @return whether there is memory */
static bool make_groups(struct report *report)
{
    size_t n_all = 0;
    bool is_good;

    for (int i = 0; i < report->size; i++) {
        n_all += (size_t)report->bytes[i] / sizeof(struct shim_left_entry);
    }
    report->groups = calloc(n_all + 1, sizeof(*report->groups));
    is_good = report->groups != NULL;
    for (uint32_t kind = 0; is_good && kind < SHIM_N_LEFT; kind++) {
        for (int rank = 0; is_good && rank < report->size; rank++) {
            const struct shim_left_entry *first =
                report->entries + (size_t)report->starts[rank] / sizeof(*first);
            size_t n = (size_t)report->bytes[rank] / sizeof(*first);

            for (size_t i = 0; is_good && i < n; i++) {
                is_good = first[i].kind != kind || add(report, &first[i], rank);
            }
        }
    }
    return is_good;
}

/** Whether the line of an entry is to be found. */
static bool is_code(const struct shim_left_entry *entry)
{
    return entry->path[0] != '\0' && !entry->is_place;
}

static void find_places(struct report *report)
{
    struct bcs_line *lines = calloc(report->n_groups + 1, sizeof(*lines));
    uint32_t n = 0;

    for (uint32_t i = 0; lines != NULL && i < report->n_groups; i++) {
        const struct shim_left_entry *entry = report->groups[i].entry;

        if (is_code(entry)) {
            lines[n++] =
                (struct bcs_line){.path = entry->path, .offset = entry->offset};
        } else if (entry->is_place) {
            report->groups[i].place.text = strdup(entry->path);
        }
    }
    if (lines != NULL) {
        bcs_lines_find(lines, n);
    }
    for (uint32_t i = report->n_groups; n > 0 && i-- > 0;) {
        if (is_code(report->groups[i].entry)) {
            report->groups[i].place = lines[--n];
        }
    }
    free(lines);
}

/** Whether two groups are of one line, which may have several calls. */
static bool is_of_same_line(const struct group *a, const struct group *b)
{
    return a->place.text != NULL && b->place.text != NULL &&
           strcmp(a->place.text, b->place.text) == 0 &&
           a->entry->kind == b->entry->kind &&
           strcmp(a->entry->call, b->entry->call) == 0 &&
           (a->entry->kind != SHIM_LEFT_CALL ||
            strcmp(a->entry->about, b->entry->about) == 0);
}

static void group_fini(struct group *group)
{
    free(group->has);
    free(group->place.text);
    free(group->place.file);
}

/** Put a group into the one before it that is of the same line. @return whether there
 *  is one */
static bool join_line(const struct report *report, uint32_t n, struct group *group)
{
    for (uint32_t i = 0; i < n; i++) {
        struct group *before = &report->groups[i];

        if (is_of_same_line(before, group)) {
            before->n += group->n;
            for (int rank = 0; rank < report->size; rank++) {
                before->n_ranks += group->has[rank] && !before->has[rank];
                before->has[rank] |= group->has[rank];
            }
            return true;
        }
    }
    return false;
}

/** Put together what is of one line. */
static void join_lines(struct report *report)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < report->n_groups; i++) {
        struct group group = report->groups[i];

        if (join_line(report, n, &group)) {
            group_fini(&group);
        } else {
            report->groups[n++] = group;
        }
    }
    report->n_groups = n;
}

/* --------------------------------------------------------------------------
 * printing */

/** Print ranks as "0-3,7", the first ranges of them. */
static void print_ranks(FILE *out, const struct report *report,
                        const struct group *group)
{
    int n_ranges = 0;

    fprintf(out, "rank%s ", group->n_ranks > 1 ? "s" : "");
    for (int first = 0, i; first < report->size; first = i + 1) {
        for (i = first; i < report->size && group->has[i]; i++) {
        }
        if (i > first && n_ranges == RANGES_MOST) {
            fputs(",...", out);
            break;
        }
        if (i > first) {
            fprintf(out, "%s%d", n_ranges++ > 0 ? "," : "", first);
        }
        if (i > first + 1) {
            fprintf(out, "-%d", i - 1);
        }
    }
}

static void print_group(FILE *out, const struct report *report,
                        const struct group *group)
{
    const struct shim_left_entry *entry = group->entry;
    const char *what =
        group->n > 1 && entry->kind != SHIM_LEFT_CALL ? "the first " : "";

    fputs("    ", out);
    print_ranks(out, report, group);
    fprintf(out, ": %llu", (unsigned long long)group->n);
    if (entry->kind == SHIM_LEFT_MESSAGE) {
        fprintf(out, " with %s, %s%s\n", entry->about, what, entry->first);
        return;
    }
    fprintf(out, " of %s", entry->call);
    if (group->place.text != NULL) {
        fprintf(out, " at %s", group->place.text);
    }
    if (entry->about[0] != '\0') {
        fprintf(out, ", %s%s", what, entry->about);
    }
    fputc('\n', out);
}

/** Print how many things of each kind were not printed, and where they are. @param rest
 *  how many */
static void print_rest(FILE *out, const struct report *report,
                       const uint64_t rest[SHIM_N_LEFT], const char *path)
{
    uint64_t all[SHIM_N_LEFT], n_more = sum(report->n_more);
    const char *before = "";

    memcpy(all, report->n_more, sizeof(all));
    for (uint32_t i = 0; i < report->n_groups; i++) {
        all[report->groups[i].entry->kind] += report->groups[i].n;
    }
    fprintf(out, "  and %llu more: ", (unsigned long long)sum(rest));
    for (int kind = 0; kind < SHIM_N_LEFT; kind++) {
        if (rest[kind] > 0) {
            fprintf(out, "%s%llu of %llu %s", before, (unsigned long long)rest[kind],
                    (unsigned long long)all[kind], kinds[kind].noun);
            before = ", ";
        }
    }
    fputs(path == NULL ? "\n  a run with --mds has all of it" : "\n  all of it", out);
    if (n_more > 0) {
        fprintf(out, ", but %llu that are just counted,", (unsigned long long)n_more);
    }
    fprintf(out, "%s%s\n", path == NULL ? " in " : " is in ",
            path == NULL ? MDS_LINT_NAME : path);
}

/** Print the first of the groups. @param path  where all are; NULL: nowhere */
static void print(FILE *out, const struct report *report, const char *path)
{
    uint32_t kind = SHIM_N_LEFT, n = 0;
    uint64_t rest[SHIM_N_LEFT];

    memcpy(rest, report->n_more, sizeof(rest));
    if (report->n_groups == 0 && sum(rest) == 0) {
        fputs("bcs: lint: nothing is left at MPI_Finalize\n", out);
        return;
    }
    fputs("bcs: lint: the program has left at MPI_Finalize:\n", out);
    for (uint32_t i = 0; i < report->n_groups; i++) {
        const struct group *group = &report->groups[i];

        if (n >= LINES_MOST) {
            rest[group->entry->kind] += group->n;
            continue;
        }
        if (group->entry->kind != kind) {
            kind = group->entry->kind;
            fprintf(out, "  %s that %s:\n", kinds[kind].noun, kinds[kind].fault);
            n++;
        }
        print_group(out, report, group);
        n++;
    }
    if (sum(rest) > 0) {
        print_rest(out, report, rest, path);
    }
}

static void print_json_group(FILE *out, const struct report *report,
                             const struct group *group)
{
    const struct shim_left_entry *entry = group->entry;

    fprintf(out, "  {\"kind\": \"%s\", \"n\": %llu, \"ranks\": [",
            kinds[entry->kind].key, (unsigned long long)group->n);
    for (int i = 0, n = 0; i < report->size; i++) {
        if (group->has[i]) {
            fprintf(out, "%s%d", n++ > 0 ? ", " : "", i);
        }
    }
    fputs("], \"call\": ", out);
    bcs_json_text(out, entry->call);
    if (group->place.text != NULL) {
        fputs(", \"place\": ", out);
        bcs_json_text(out, group->place.text);
    }
    fputs(", \"about\": ", out);
    bcs_json_text(out, entry->about);
    fputs(", \"first\": ", out);
    bcs_json_text(out, entry->first);
    fputc('}', out);
}

/** Write all groups. @return 0 or -errno */
static int write_json(const struct report *report, const char *path)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    int rc;

    if (out == NULL) {
        return -ENOMEM;
    }
    fprintf(out,
            "{\"format\": \"bcs-lint 1\", \"version\": \"%s\", \"n_ranks\": %d, "
            "\"more\": %llu, \"more_of\": {",
            bcs_version(), report->size, (unsigned long long)sum(report->n_more));
    for (int kind = 0; kind < SHIM_N_LEFT; kind++) {
        fprintf(out, "%s\"%s\": %llu", kind > 0 ? ", " : "", kinds[kind].key,
                (unsigned long long)report->n_more[kind]);
    }
    fputs("}, \"left\": [\n", out);
    for (uint32_t i = 0; i < report->n_groups; i++) {
        print_json_group(out, report, &report->groups[i]);
        fputs(i + 1 < report->n_groups ? ",\n" : "\n", out);
    }
    fputs("]}\n", out);
    rc = fclose(out) == 0 ? mds_dump_write_text(path, text) : -ENOMEM;
    free(text);
    return rc;
}

/** Append the findings, for who collects them. */
static void tell_findings(const struct report *report)
{
    for (uint32_t i = 0; bcs_findings_are_wanted() && i < report->n_groups; i++) {
        const struct group *group = &report->groups[i];
        uint32_t kind = group->entry->kind;

        shim_lint_finding_tell(&(struct shim_lint_found){
            .entry = group->entry,
            .n = group->n,
            .has = group->has,
            .size = report->size,
            .place = &group->place,
            .noun = kinds[kind].noun,
            .fault = kinds[kind].fault,
        });
    }
}

/** Tell it all. By the first rank. */
static void tell(const struct report *report)
{
    const char *folder = shim_monitor_folder();
    char path[MDS_PATH_BYTES], *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    int rc = folder == NULL ? 0 : mds_lint_path(folder, path);

    if (folder != NULL && rc == 0) {
        rc = write_json(report, path);
    }
    if (rc < 0) {
        bcs_warn("%s: %s", MDS_LINT_NAME, strerror(-rc));
    }
    if (out != NULL) {
        print(out, report, folder != NULL && rc == 0 ? path : NULL);
        if (fclose(out) == 0) {
            fputs(text, stderr); /* in one piece */
        }
        free(text);
    }
    tell_findings(report);
}

static void fini(struct report *report)
{
    for (uint32_t i = 0; i < report->n_groups; i++) {
        group_fini(&report->groups[i]);
    }
    free(report->groups);
    free(report->entries);
    free(report->bytes);
    free(report->starts);
}

void shim_lint_report(void)
{
    struct report report = {.size = (int)bcs_context_size(shim_context())};
    int rank = (int)bcs_context_rank(shim_context());
    struct shim_left_list own;

    if (shim_state.lint == NULL) {
        return;
    }
    shim_left_find(&own);
    shim_left_add_calls(&own);
    gather(&report, &own, rank);
    count_more(&report, &own, rank);
    if (rank == 0 && report.entries != NULL && make_groups(&report)) {
        find_places(&report);
        join_lines(&report);
        tell(&report);
    } else if (rank == 0) {
        bcs_error("lint: no memory to tell what is left at MPI_Finalize");
    }
    fini(&report);
    free(own.entries);
    shim_lint_stop();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds diff: the table of places. Lines move when a program is changed, and
 * addresses whenever it is built, so a place is found again by its function and file,
 * and by which call of the primitive it is there, in the order of lines. What has no
 * function must be at the same address.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/site.h"
#include "mds/tool/analysis/split_read.h"
#include "mds/tool/diff/diff.h"
#include "mds/tool/read/manifest.h"

#define NS_PER_MS 1e6

/** A place of one run, or, when those that belong together have been joined, of all. */
struct site_line {
    const char *primitive;
    const char *function; /* without one the words */
    const char *file;     /* the last part of its path, or "" */
    int line;
    uint64_t address;
    uint32_t ordinal;    /* of the calls of the primitive in the function */
    uint32_t which, run; /* side, and number there */
    char *words;         /* for free */
    double n, ns, late_ns;
    const char *words_of[2]; /* on both sides; NULL: it is not there */
    struct diff_pair count, total_ns;
    struct diff_pair late; /* ns for which late ranks were waited for */
};

/** The lines of all runs. */
struct site_lines {
    struct site_line *lines;
    size_t n, room;
    struct places *places;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/** By primitive, function and file. */
static int compare_functions(const struct site_line *a, const struct site_line *b)
{
    int order = strcmp(a->primitive, b->primitive);

    order = order != 0 ? order : strcmp(a->function, b->function);
    return order != 0 ? order : strcmp(a->file, b->file);
}

/** By run, function, and where in it. */
static int compare_in_run(const void *left, const void *right)
{
    const struct site_line *a = left, *b = right;
    int order = compare_numbers(a->which, b->which);

    order = order != 0 ? order : compare_numbers(a->run, b->run);
    order = order != 0 ? order : compare_functions(a, b);
    if (order == 0 && a->line != b->line) {
        order = a->line < b->line ? -1 : 1;
    }
    return order != 0 ? order : compare_numbers(a->address, b->address);
}

static int compare_places(const void *left, const void *right)
{
    const struct site_line *a = left, *b = right;
    int order = compare_functions(a, b);

    return order != 0 ? order : compare_numbers(a->ordinal, b->ordinal);
}

static int compare_changes(const void *left, const void *right)
{
    double a = fabs(diff_change(&((const struct site_line *)left)->total_ns));
    double b = fabs(diff_change(&((const struct site_line *)right)->total_ns));

    return a > b ? -1 : a < b ? 1 : compare_places(left, right);
}

/** @return 0 or -ENOMEM */
static int make_room(struct site_lines *all, size_t n)
{
    if (all->n + n > all->room) {
        size_t room = 2 * all->room + n;
        struct site_line *lines = realloc(all->lines, room * sizeof(*lines));

        if (lines == NULL) {
            return -ENOMEM;
        }
        all->lines = lines;
        all->room = room;
    }
    return 0;
}

/** @return 0 or -ENOMEM */
static int add_site(struct site_lines *all, const struct diff *diff,
                    const struct run *run, const struct site *site,
                    struct site_line *line)
{
    struct place place;

    line->primitive = site->primitive;
    line->address = site->address;
    line->n = diff_scaled(diff, run, (double)site->time.count);
    line->ns = diff_scaled(diff, run, (double)site->time.total_ns);
    line->late_ns = diff_scaled(diff, run, (double)split_late_ns(site->split.ns));
    line->words = site_place(site, all->places, &place);
    if (line->words == NULL) {
        return -ENOMEM;
    }
    line->function = place.function == NULL ? line->words : place.function;
    line->file = place.file == NULL ? "" : place_last_part(place.file);
    line->line = place.line;
    all->lines[all->n++] = *line;
    return 0;
}

/** @return 0 or -ENOMEM */
static int add_run(struct site_lines *all, const struct diff *diff, uint32_t which,
                   uint32_t number)
{
    const struct run *run = &diff->sides[which].runs[number];
    size_t n = 0;
    struct site *sites = sites_of(run, -1, &n);
    int rc = sites == NULL ? -ENOMEM : make_room(all, n);

    for (size_t i = 0; i < n && rc == 0; i++) {
        struct site_line line = {.which = which, .run = number};

        rc = add_site(all, diff, run, &sites[i], &line);
    }
    free(sites);
    return rc;
}

/** Number the calls of a primitive in a function of a run. */
static void number_calls(struct site_lines *all)
{
    if (all->n > 0) {
        qsort(all->lines, all->n, sizeof(*all->lines), compare_in_run);
    }
    for (size_t i = 1; i < all->n; i++) {
        const struct site_line *before = &all->lines[i - 1];
        struct site_line *line = &all->lines[i];

        if (before->which == line->which && before->run == line->run &&
            compare_functions(before, line) == 0) {
            line->ordinal = before->ordinal + 1;
        }
    }
}

/** Make one line of n of the same place. */
static struct site_line together(const struct diff *diff, const struct site_line *lines,
                                 size_t n)
{
    struct site_line sum = lines[0];

    sum.words = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct site_line *line = &lines[i];

        sum.words_of[line->which] = line->words;
        noise_add(&sum.count.of[line->which], line->n);
        noise_add(&sum.total_ns.of[line->which], line->ns);
        noise_add(&sum.late.of[line->which], line->late_ns);
    }
    for (uint32_t which = 0; which < 2; which++) { /* runs that have not called there */
        while (sum.count.of[which].n < diff->sides[which].n_runs) {
            noise_add(&sum.count.of[which], 0);
            noise_add(&sum.total_ns.of[which], 0);
            noise_add(&sum.late.of[which], 0);
        }
    }
    return sum;
}

/** A line for each place. @return [*n_out] for free; NULL: no memory */
static struct site_line *join(const struct diff *diff, struct site_lines *all,
                              size_t *n_out)
{
    struct site_line *joined = calloc(all->n + 1, sizeof(*joined));
    size_t n = 0, n_same;

    if (joined == NULL) {
        return NULL;
    }
    number_calls(all);
    if (all->n > 0) {
        qsort(all->lines, all->n, sizeof(*all->lines), compare_places);
    }
    for (size_t i = 0; i < all->n; i += n_same) {
        n_same = 1;
        while (i + n_same < all->n &&
               compare_places(&all->lines[i], &all->lines[i + n_same]) == 0) {
            n_same++;
        }
        joined[n++] = together(diff, &all->lines[i], n_same);
    }
    if (n > 0) {
        qsort(joined, n, sizeof(*joined), compare_changes);
    }
    *n_out = n;
    return joined;
}

/** The words for a place on both sides, and the end of its line. */
static void print_place(const struct site_line *line)
{
    const char *a = line->words_of[0], *b = line->words_of[1];

    manifest_print(stdout, a == NULL ? b : a, strlen(a == NULL ? b : a));
    if (a == NULL || b == NULL) {
        printf(" (%s only)", a == NULL ? "B" : "A");
    } else if (strcmp(a, b) != 0) {
        printf("; in B ");
        manifest_print(stdout, b, strlen(b));
    }
    printf("\n");
}

/** A time of a place on both sides, its change, and what is noise of it. */
static void print_change(const struct diff_pair *ns)
{
    printf("%11.3f %11.3f %11.3f ", ns->of[0].mean / NS_PER_MS,
           ns->of[1].mean / NS_PER_MS, diff_change(ns) / NS_PER_MS);
    diff_print_percent(ns);
    printf("  %-6s  ", noise_word(noise_judge(&ns->of[0], &ns->of[1])));
}

static void print_line(const struct site_line *line)
{
    printf("%-20s %11.0f %11.0f ", line->primitive, line->count.of[0].mean,
           line->count.of[1].mean);
    print_change(&line->total_ns);
    print_place(line);
}

static void print_lines(const struct diff *diff, const struct site_line *lines,
                        size_t n)
{
    printf("\n%-20s %11s %11s %11s %11s %11s %9s  %-6s  %s\n", "Called from", "Count A",
           "Count B", "Total A(ms)", "Total B(ms)", "Change(ms)", "Change(%)", "Noise",
           "Place");
    for (size_t i = 0; i < n && i < diff->n_most; i++) {
        print_line(&lines[i]);
    }
    printf("%zu of %zu places, by the change of their total.%s\n",
           n < diff->n_most ? n : diff->n_most, n, PLACE_NOTE);
}

static bool is_late(const struct site_line *line)
{
    return line->late.of[0].mean > 0 || line->late.of[1].mean > 0;
}

static int compare_late(const void *left, const void *right)
{
    const struct site_line *x = left, *y = right;
    double a = fabs(diff_change(&x->late)), b = fabs(diff_change(&y->late));

    if (is_late(x) != is_late(y)) {
        return is_late(x) ? -1 : 1;
    }
    return a > b ? -1 : a < b ? 1 : compare_places(left, right);
}

/** The places where late ranks were waited for; they are put in another order. */
static void print_late(const struct diff *diff, struct site_line *lines, size_t n)
{
    size_t n_late = 0;

    qsort(lines, n, sizeof(*lines), compare_late);
    while (n_late < n && is_late(&lines[n_late])) {
        n_late++;
    }
    if (n_late == 0) {
        return;
    }
    printf("\n%-20s %11s %11s %11s %9s  %-6s  %s\n", "Late ranks in", "Total A(ms)",
           "Total B(ms)", "Change(ms)", "Change(%)", "Noise", "Place");
    for (size_t i = 0; i < n_late && i < diff->n_most; i++) {
        printf("%-20s ", lines[i].primitive);
        print_change(&lines[i].late);
        print_place(&lines[i]);
    }
    printf("%zu of %zu places, by the change of the time for which late ranks were "
           "waited for.\n",
           n_late < diff->n_most ? n_late : diff->n_most, n_late);
}

int diff_print_sites(const struct diff *diff)
{
    struct site_lines all = {.places = place_open(PLACE_PATIENT_NS)};
    struct site_line *joined = NULL;
    size_t n = 0;
    int rc = all.places == NULL ? -ENOMEM : 0;

    for (uint32_t which = 0; which < 2; which++) {
        for (uint32_t i = 0; i < diff->sides[which].n_runs && rc == 0; i++) {
            rc = add_run(&all, diff, which, i);
        }
    }
    if (rc == 0) {
        joined = join(diff, &all, &n);
        rc = joined == NULL ? -ENOMEM : 0;
    }
    if (rc == 0 && n > 0) {
        print_lines(diff, joined, n);
        if (diff_split(diff) == DIFF_SPLIT_ALL) {
            print_late(diff, joined, n);
        }
    }
    for (size_t i = 0; i < all.n; i++) {
        free(all.lines[i].words);
    }
    free(all.lines);
    free(joined);
    place_close(all.places);
    return rc;
}

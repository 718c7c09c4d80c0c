/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints trees of calls; see call_tree_print.h. All lines are listed, those to show are
 * chosen, and these are printed.
 */
#include "call_tree_print.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "mds/tool/read/manifest.h"
#include "ranks.h"
#include "wait_print.h"

#define NO_LINE SIZE_MAX

/** A part of a path between two branches. */
struct line {
    const json_t *first, *last; /* nodes */
    size_t parent;              /* its line; NO_LINE: none */
    int depth;
    bool is_shown;
};

/** Those of a tree, each before those below it. */
struct lines {
    struct line *all;
    size_t n, n_room;
};

static const json_t *below(const json_t *node)
{
    return json_object_get(node, "below");
}

static const json_t *ranks_of(const struct line *line)
{
    return json_object_get(line->last, "ranks");
}

static bool is_end(const struct line *line)
{
    return json_array_size(below(line->last)) == 0;
}

/* ------------------------------------------------------------------------ listing */

/** @return 0 or -ENOMEM */
static int add_line(struct lines *lines, const json_t *node, size_t parent)
{
    struct line *line;

    if (lines->n == lines->n_room) {
        size_t n_room = 2 * lines->n_room + CALL_TREE_LINES;
        struct line *all = realloc(lines->all, n_room * sizeof(*all));

        if (all == NULL) {
            return -ENOMEM;
        }
        lines->all = all;
        lines->n_room = n_room;
    }
    line = &lines->all[lines->n++];
    *line = (struct line){.first = node, .last = node, .parent = parent};
    line->depth = parent == NO_LINE ? 0 : lines->all[parent].depth + 1;
    while (json_array_size(below(line->last)) == 1) {
        line->last = json_array_get(below(line->last), 0);
    }
    return 0;
}

/** Add the lines of some nodes, and of those below. @return 0 or -ENOMEM */
static int add_lines(struct lines *lines, const json_t *nodes, size_t parent)
{
    const json_t *node;
    size_t i;
    int rc = 0;

    json_array_foreach(nodes, i, node)
    {
        size_t mine = lines->n;

        rc = rc < 0 ? rc : add_line(lines, node, parent);
        rc = rc < 0 ? rc : add_lines(lines, below(lines->all[mine].last), mine);
    }
    return rc;
}

/* ----------------------------------------------------------------------- choosing */

/** How many lines more there are if one is shown, and all above it. */
static size_t n_more_with(const struct lines *lines, size_t which)
{
    size_t n = 0;

    for (; which != NO_LINE && !lines->all[which].is_shown; n++) {
        which = lines->all[which].parent;
    }
    return n;
}

static void show(struct lines *lines, size_t which)
{
    for (; which != NO_LINE; which = lines->all[which].parent) {
        lines->all[which].is_shown = true;
    }
}

static int compare_ends(const void *one, const void *other)
{
    const struct line *a = *(const struct line *const *)one;
    const struct line *b = *(const struct line *const *)other;
    size_t n_a = json_array_size(ranks_of(a)), n_b = json_array_size(ranks_of(b));

    return n_a != n_b ? (n_a > n_b) - (n_a < n_b) : (a > b) - (a < b);
}

/** The ends of all paths, those of the fewest ranks first. @return for free; NULL: no
 *  memory */
static struct line **ends_of(const struct lines *lines, size_t *n_out)
{
    struct line **ends = calloc(lines->n + 1, sizeof(struct line *));
    size_t n = 0;

    for (size_t i = 0; ends != NULL && i < lines->n; i++) {
        if (is_end(&lines->all[i])) {
            ends[n++] = &lines->all[i];
        }
    }
    if (n > 0) {
        qsort(ends, n, sizeof(struct line *), compare_ends);
    }
    *n_out = n;
    return ends;
}

/** Choose which lines are shown: all, or those that fit with one more, which says what
 *  was left out. @return 0 or -ENOMEM */
static int choose(struct lines *lines)
{
    size_t n_left = lines->n <= CALL_TREE_LINES ? lines->n : CALL_TREE_LINES - 1, n;
    struct line **ends = ends_of(lines, &n);

    if (ends == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        /* The one of most ranks is the first to get its room. */
        size_t which = (size_t)(ends[(i + n - 1) % n] - lines->all);
        size_t n_more = n_more_with(lines, which);

        if (n_more > n_left) {
            break;
        }
        show(lines, which);
        n_left -= n_more;
    }
    free(ends);
    return 0;
}

/* ----------------------------------------------------------------------- printing */

static void print_line(const struct line *line, int n_indent)
{
    const json_t *node = line->first;
    const char *between = ": ";

    printf("%*s", n_indent + 2 * line->depth, "");
    ranks_print(ranks_of(line));
    for (;; node = json_array_get(below(node), 0)) {
        const char *step = wait_text(node, "step");

        printf("%s", between);
        manifest_print(stdout, step, strlen(step));
        if (node == line->last) {
            break;
        }
        between = " > ";
    }
    putchar('\n');
}

/** Print the last line, if any path was left out. @return 0 or -ENOMEM */
static int print_rest(const struct lines *lines, int n_indent)
{
    json_t *left = json_array(), *sorted;
    size_t n_paths = 0, n_ranks;

    for (size_t i = 0; i < lines->n; i++) {
        if (is_end(&lines->all[i]) && !lines->all[i].is_shown) {
            json_array_extend(left, (json_t *)(uintptr_t)ranks_of(&lines->all[i]));
            n_paths++;
        }
    }
    sorted = ranks_sorted(left);
    n_ranks = json_array_size(sorted);
    if (n_paths > 0) {
        printf("%*sand %zu more path%s, of %zu rank%s\n", n_indent, "", n_paths,
               n_paths > 1 ? "s" : "", n_ranks, n_ranks > 1 ? "s" : "");
    }
    json_decref(left);
    json_decref(sorted);
    return sorted == NULL ? -ENOMEM : 0;
}

int call_tree_print(const json_t *tree, int n_indent)
{
    struct lines lines = {0};
    int rc = add_lines(&lines, tree, NO_LINE);

    rc = rc < 0 ? rc : choose(&lines);
    for (size_t i = 0; rc == 0 && i < lines.n; i++) {
        if (lines.all[i].is_shown) {
            print_line(&lines.all[i], n_indent);
        }
    }
    rc = rc < 0 ? rc : print_rest(&lines, n_indent);
    free(lines.all);
    return rc;
}

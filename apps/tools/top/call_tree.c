/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes trees of calls; see call_tree.h. Sorted paths that begin alike stand next to
 * each other, so that each node of the tree is a range of them.
 */
#include "call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "ranks.h"

/** Order the steps of two paths at some depth. One that ends there is another node than
 *  one of the same text that goes on. */
static int compare_steps(const struct call_path *a, const struct call_path *b,
                         size_t depth)
{
    bool a_ends = depth + 1 == a->n_steps, b_ends = depth + 1 == b->n_steps;
    int order = strcmp(a->steps[depth], b->steps[depth]);

    return order != 0 ? order : (int)b_ends - (int)a_ends;
}

static int compare_paths(const void *one, const void *other)
{
    const struct call_path *a = one, *b = other;
    int order = 0;

    /* Paths of which one has ended differ at its last step. */
    for (size_t i = 0; order == 0 && i < a->n_steps; i++) {
        order = compare_steps(a, b, i);
    }
    return order != 0 ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/** The ranks of some paths, in their order, each once. @return NULL: no memory */
static json_t *ranks_of(const struct call_path *paths, size_t n)
{
    json_t *all = json_array(), *sorted;

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(all, json_integer(paths[i].rank));
    }
    sorted = ranks_sorted(all);
    json_decref(all);
    return sorted;
}

static size_t n_ranks_of(const json_t *node)
{
    return json_array_size(json_object_get(node, "ranks"));
}

static json_int_t first_rank_of(const json_t *node)
{
    return json_integer_value(json_array_get(json_object_get(node, "ranks"), 0));
}

/** Order nodes: the one of fewer ranks first, as it is what is odd. */
static int compare_nodes(const json_t *a, const json_t *b)
{
    size_t n_a = n_ranks_of(a), n_b = n_ranks_of(b);

    return n_a != n_b ? (n_a > n_b) - (n_a < n_b)
                      : (first_rank_of(a) > first_rank_of(b)) -
                            (first_rank_of(a) < first_rank_of(b));
}

/** A node, and its place among those of its array by their texts. */
struct sibling {
    json_t *node;
    size_t place;
};

static int compare_siblings(const void *one, const void *other)
{
    const struct sibling *a = one, *b = other;
    int order = compare_nodes(a->node, b->node);

    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static json_t *nodes_of(const struct call_path *paths, size_t n, size_t depth);

/** The node of paths that have some step in common. @return NULL: no memory */
static json_t *node_of(const struct call_path *paths, size_t n, size_t depth)
{
    bool ends = depth + 1 == paths[0].n_steps;

    return json_pack("{s:s, s:o, s:o}", "step", paths[0].steps[depth], "ranks",
                     ranks_of(paths, n), "below",
                     ends ? json_array() : nodes_of(paths, n, depth + 1));
}

/** How many of some paths, from the first one on, have its step. */
static size_t n_alike(const struct call_path *paths, size_t n, size_t depth)
{
    size_t i = 1;

    while (i < n && compare_steps(&paths[0], &paths[i], depth) == 0) {
        i++;
    }
    return i;
}

/** The nodes of sorted paths that are equal up to some depth. @return NULL: no
 *  memory */
static json_t *nodes_of(const struct call_path *paths, size_t n, size_t depth)
{
    struct sibling *siblings = calloc(n + 1, sizeof(*siblings));
    json_t *list = siblings == NULL ? NULL : json_array();
    size_t n_siblings = 0, n_here;

    for (size_t i = 0; list != NULL && i < n; i += n_here) {
        n_here = n_alike(&paths[i], n - i, depth);
        siblings[n_siblings].node = node_of(&paths[i], n_here, depth);
        siblings[n_siblings].place = n_siblings;
        n_siblings++;
    }
    if (n_siblings > 0) {
        qsort(siblings, n_siblings, sizeof(*siblings), compare_siblings);
    }
    for (size_t i = 0; i < n_siblings; i++) {
        if (json_array_append_new(list, siblings[i].node) < 0) {
            json_decref(list);
            list = NULL;
        }
    }
    free(siblings);
    return list;
}

json_t *call_tree_of(struct call_path *paths, size_t n)
{
    if (n > 0) {
        qsort(paths, n, sizeof(*paths), compare_paths);
    }
    return nodes_of(paths, n, 0);
}

bool call_tree_is_path(const json_t *tree)
{
    while (json_array_size(tree) == 1) {
        tree = json_object_get(json_array_get(tree, 0), "below");
    }
    return json_array_size(tree) == 0;
}

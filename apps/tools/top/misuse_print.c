/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the waits of ranks; see misuse_print.h.
 */
#include "misuse_print.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/read/manifest.h"
#include "ranks.h"
#include "wait_print.h"

#define ENDING "MPI_Finalize"

enum { MOST_LINES = 10, MOST_IN_LINE = 6 };

static void print_text(const char *text)
{
    manifest_print(stdout, text, strlen(text));
}

static void print_name(const char *name)
{
    printf(" on ");
    print_text(*name == '\0' ? "another communicator" : name);
}

/** "rank 2", "ranks 0,1" */
static void print_ranks(const json_t *ranks)
{
    printf("rank%s ", json_array_size(ranks) > 1 ? "s" : "");
    ranks_print(ranks);
}

/** Add a rank to the list of a key. */
static void note(json_t *lists, const char *key, json_t *rank)
{
    json_t *list = json_object_get(lists, key);

    if (list == NULL) {
        list = json_array();
        json_object_set_new(lists, key, list);
    }
    json_array_append(list, rank);
}

/** The lists of a key, of which there may be none yet. */
static json_t *lists_of(json_t *all, const char *key)
{
    if (json_object_get(all, key) == NULL) {
        json_object_set_new(all, key, json_object());
    }
    return json_object_get(all, key);
}

/** Visit all waits of a job. */
typedef void visit_fn(json_t *rank, const json_t *wait, void *arg);

static void visit_waits(const json_t *job, visit_fn *visit, void *arg)
{
    const json_t *rank, *wait;
    size_t i, j;

    json_array_foreach(json_object_get(job, "ranks"), i, rank)
    {
        json_array_foreach(json_object_get(rank, "waits"), j, wait)
        {
            visit(json_object_get(rank, "rank"), wait, arg);
        }
    }
}

/* ---------------------------------------------------------- different collectives */

static void note_collective(json_t *rank, const json_t *wait, void *arg)
{
    const char *call = wait_shared(wait);
    char key[32];

    if (*call != '\0') {
        snprintf(key, sizeof(key), "%lld", (long long)wait_comm(wait));
        note(lists_of(arg, key), call, rank);
    }
}

/** What is printed in a line, one after the other. */
struct line {
    const char *before; /* the next one */
    const char *name;   /* of the communicator, to be told once; NULL: it has been */
};

static void print_in_call(const char *call, const json_t *ranks, void *arg)
{
    struct line *line = arg;

    printf("%s", line->before);
    print_ranks(ranks);
    printf(" %s in ", json_array_size(ranks) > 1 ? "are" : "is");
    print_text(call);
    if (line->name != NULL) {
        print_name(line->name);
    }
    *line = (struct line){.before = ", "};
}

/** The rest of a line. */
static void print_more_in_line(size_t n_more, const char *what)
{
    if (n_more > 0) {
        printf(", and %zu more %s", n_more, what);
    }
}

/** After the lines of a kind: what was left out, and what the standard says. */
static void print_end(size_t n_lines, const char *what, const char *demand)
{
    if (n_lines > MOST_LINES) {
        printf("  and %zu more %s\n", n_lines - MOST_LINES, what);
    }
    if (n_lines > 0) {
        printf("  %s\n", demand);
    }
}

/** "rank 2 is in MPI_Bcast on the grid, ranks 0,1 are in MPI_Barrier" */
static void print_collectives(const json_t *job)
{
    json_t *comms = json_object(), *calls;
    const char *key;
    size_t n_lines = 0;

    visit_waits(job, note_collective, comms);
    json_object_foreach(comms, key, calls)
    {
        struct line line = {"  ", wait_communicator(job, strtoll(key, NULL, 10))};

        if (json_object_size(calls) < 2 || n_lines++ >= MOST_LINES) {
            continue;
        }
        print_more_in_line(ranks_visit(calls, MOST_IN_LINE, print_in_call, &line),
                           "calls");
        putchar('\n');
    }
    print_end(n_lines, "communicators",
              "MPI-3.1, 5.13: all members of a communicator must call its collectives "
              "in the same order");
    json_decref(comms);
}

/* ------------------------------------------------ the same one, but not alike */

/** What members must say alike, and in which words it is told. */
struct agreed {
    const char *key;
    const char *words;
    const char *demand; /* of the standard */
};

/** What is collected of it: by collective, and by what is said, the ranks. */
struct sayings {
    const struct agreed *agreed;
    json_t *collectives;
};

static void note_saying(json_t *rank, const json_t *wait, void *arg)
{
    const struct sayings *sayings = arg;
    const json_t *value = json_object_get(wait, sayings->agreed->key);
    const char *call = wait_shared(wait);
    char key[160], said[96];

    if (*call == '\0' || wait_number(wait, "number") == 0) {
        return;
    }
    if (json_is_integer(value)) {
        snprintf(said, sizeof(said), "%lld", (long long)json_integer_value(value));
    } else if (json_is_string(value) && *json_string_value(value) != '\0') {
        snprintf(said, sizeof(said), "%s", json_string_value(value));
    } else {
        return;
    }
    snprintf(key, sizeof(key), "%lld %lld %s", (long long)wait_comm(wait),
             (long long)wait_number(wait, "number"), call);
    note(lists_of(sayings->collectives, key), said, rank);
}

static void print_saying(const char *said, const json_t *ranks, void *arg)
{
    struct line *line = arg;

    printf("%s", line->before);
    print_ranks(ranks);
    printf(" say%s ", json_array_size(ranks) > 1 ? "" : "s");
    print_text(said);
    line->before = ", ";
}

/** "roots differ: rank 2 says 1, ranks 0,1 say 0, in MPI_Bcast on the grid" */
static void print_sayings(const json_t *job, const struct agreed *agreed)
{
    const struct sayings sayings = {agreed, json_object()};
    const char *key;
    json_t *collective;
    size_t n_lines = 0;

    visit_waits(job, note_saying, (void *)(uintptr_t)&sayings);
    json_object_foreach(sayings.collectives, key, collective)
    {
        const char *call = strrchr(key, ' ') + 1;
        struct line line = {": ", NULL};

        if (json_object_size(collective) < 2 || n_lines++ >= MOST_LINES) {
            continue;
        }
        printf("  %s differ", agreed->words);
        print_more_in_line(ranks_visit(collective, MOST_IN_LINE, print_saying, &line),
                           agreed->words);
        printf(", in ");
        print_text(call);
        print_name(wait_communicator(job, strtoll(key, NULL, 10)));
        putchar('\n');
    }
    print_end(n_lines, "collectives", agreed->demand);
    json_decref(sayings.collectives);
}

/* ------------------------------------------------------------------ MPI_Finalize */

struct endings {
    json_t *ended; /* by where they have called it: their ranks */
    json_t *waiting;
};

static void note_ending(json_t *rank, const json_t *wait, void *arg)
{
    if (strcmp(wait_text(wait, "call"), ENDING) == 0) {
        note(((struct endings *)arg)->ended, wait_text(wait, "place"), rank);
    }
}

/** Whether a wait is for ranks that have ended. */
static bool is_for_ended(const json_t *wait, const struct endings *endings)
{
    const json_t *awaited;
    const char *place;
    json_t *ranks;
    size_t i;

    json_array_foreach(json_object_get(wait, "waits_for"), i, awaited)
    {
        json_object_foreach(endings->ended, place, ranks)
        {
            if (ranks_include(ranks, json_integer_value(awaited))) {
                return true;
            }
        }
    }
    return false;
}

/** Who waits for ranks that have ended, and has not ended itself. */
static void note_waiting(json_t *rank, const json_t *wait, void *arg)
{
    const struct endings *endings = arg;

    if (strcmp(wait_text(wait, "call"), ENDING) != 0 && is_for_ended(wait, endings) &&
        !ranks_include(endings->waiting, json_integer_value(rank))) {
        json_array_append(endings->waiting, rank);
    }
}

static void print_ending(const char *place, const json_t *ranks, void *arg)
{
    const struct endings *endings = arg;

    printf("  ");
    print_ranks(ranks);
    printf(" %s in " ENDING, json_array_size(ranks) > 1 ? "are" : "is");
    if (*place != '\0') {
        printf(" at ");
        print_text(place);
    }
    printf(", while ");
    print_ranks(endings->waiting);
    printf(" wait%s for what has not been called\n",
           json_array_size(endings->waiting) > 1 ? "" : "s");
}

/** "rank 2 is in MPI_Finalize at main, prog.c:50, while ranks 0,1 wait for it" */
static void print_endings(const json_t *job)
{
    struct endings endings = {json_object(), json_array()};

    visit_waits(job, note_ending, &endings);
    visit_waits(job, note_waiting, &endings);
    if (json_array_size(endings.waiting) > 0) {
        size_t n = json_object_size(endings.ended);

        ranks_visit(endings.ended, MOST_LINES, print_ending, &endings);
        print_end(n, "places",
                  "MPI-3.1, 8.7: before " ENDING " a process must have made all calls "
                  "that others need of it");
    }
    json_decref(endings.ended);
    json_decref(endings.waiting);
}

void misuse_print(const json_t *job)
{
    static const struct agreed agreed[] = {
        {"root", "roots",
         "MPI-3.1, 5.1: all members must give a collective the same root"},
        {"reduction", "operations",
         "MPI-3.1, 5.1: all members must give a collective the same reduction"},
    };

    print_collectives(job);
    for (size_t i = 0; i < sizeof(agreed) / sizeof(agreed[0]); i++) {
        print_sayings(job, &agreed[i]);
    }
    print_endings(job);
}

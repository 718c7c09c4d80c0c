/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-coverage: prints docs/mpi-coverage.md, what the shim does with each function of
 * MPI, by functions.def, from which the entry points are made. A program of the build,
 * not installed; one process, one thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum handling { BUFFERED, PASSED, BOTH, LOCAL, UNCOUNTED, N_HANDLINGS };

static const char *const handling_words[N_HANDLINGS] = {
    [BUFFERED] = "buffered", [PASSED] = "passed",       [BOTH] = "both",
    [LOCAL] = "local",       [UNCOUNTED] = "uncounted",
};

/* A row of functions.def; chapters have no name. */
struct function {
    const char *chapter;
    const char *name;
    enum handling handling;
    const char *timing;
};

static const struct function functions[] = {
#define SHIM_CHAPTER(title) {title, NULL, LOCAL, NULL},
#define SHIM_LIFECYCLE(type, name, parameters, arguments) {NULL, #name, BOTH, "-"},
#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    {NULL, #name, BUFFERED, #timing},
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    {NULL, #name, PASSED, #timing},
#define SHIM_LOCAL(type, name, parameters) {NULL, #name, LOCAL, "-"},
#define SHIM_UNUSED(name) {NULL, #name, LOCAL, "-"},
#define SHIM_UNCOUNTED(name) {NULL, #name, UNCOUNTED, "-"},
#include "mpi_shim/real/functions.def"
};

/* A function that is in two rows does not compile. */
enum {
#define SHIM_LIFECYCLE(type, name, parameters, arguments) ROW_##name,
#define SHIM_BUFFERED(timing, type, name, parameters, arguments) ROW_##name,
#define SHIM_PASSED(timing, type, name, parameters, arguments) ROW_##name,
#define SHIM_LOCAL(type, name, parameters) ROW_##name,
#define SHIM_UNUSED(name) ROW_##name,
#define SHIM_UNCOUNTED(name) ROW_##name,
#include "mpi_shim/real/functions.def"
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static const char head[] =
    "# MPI coverage\n"
    "\n"
    "Made by `mpi-coverage --markdown` from `mpi_shim/real/functions.def`, the table "
    "from\n"
    "which the entry points are made; do not edit.\n"
    "\n"
    "What the preload library does with each function of the C binding of MPI 3.1,\n"
    "and with those of MPI 4.0 that Open MPI 5 has:\n"
    "\n"
    "- **buffered**: carried by bcs, on communicators and requests of its own: on all\n"
    "  communicators whose members are processes of the job. On others, as those of\n"
    "  MPI_Comm_spawn, the call goes to the MPI library. In a function that makes a\n"
    "  communicator the members meet first; the MPI library makes it, and then they\n"
    "  agree that bcs carries what is sent on it.\n"
    "- **passed**: carried out by the MPI library; the report counts and names it.\n"
    "- **both**: the MPI library's part and one of ours.\n"
    "- **local**: answered by the MPI library without communication. Of those that "
    "make or\n"
    "  free objects, `bcsrun --lint` takes note.\n"
    "- **uncounted**: not interposed, though the MPI library may communicate; the\n"
    "  report does not show it. What is sent on a communicator of MPI_Session, and\n"
    "  the start of a partitioned request, are passed, and shown.\n"
    "\n"
    "*Recorded as* says how the monitoring takes the time inside the call (see\n"
    "[mds.md](mds.md)); `-` stands for not at all. What a non-blocking one may do is\n"
    "told in [slices.md](slices.md#calls-that-do-not-wait).\n"
    "\n"
    "Stricter than Open MPI: in a collective each member must expect as many bytes as\n"
    "are sent to it, as MPI demands; fewer or more give `MPI_ERR_TRUNCATE`\n"
    "([troubleshooting.md](troubleshooting.md#a-collective-fails)). Natively a member\n"
    "of an `MPI_Bcast`, say, may ask for more than the root sends.\n"
    "\n"
    "How suites and programs of others run: "
    "[foreign-programs.md](foreign-programs.md).\n";

static const char *recorded_as(const struct function *function)
{
    if (strcmp(function->timing, "BLOCKING") == 0) {
        return "blocking";
    }
    if (strcmp(function->timing, "INSTANT") == 0) {
        return "non-blocking";
    }
    return "-";
}

/* How many functions of the chapter at this index, or of all, have each handling. */
static void chapter_count(size_t first, size_t end, int counts_out[N_HANDLINGS])
{
    memset(counts_out, 0, N_HANDLINGS * sizeof(counts_out[0]));
    for (size_t i = first; i < end; i++) {
        if (functions[i].name != NULL) {
            counts_out[functions[i].handling]++;
        }
    }
}

/* Index of the row after the last function of the chapter at index first. */
static size_t chapter_end(size_t first)
{
    size_t end = first + 1;

    while (end < N_FUNCTIONS && functions[end].name != NULL) {
        end++;
    }
    return end;
}

static void counts_print(const char *title, size_t first, size_t end)
{
    int counts[N_HANDLINGS];

    chapter_count(first, end, counts);
    printf("| %s |", title);
    for (int i = 0; i < N_HANDLINGS; i++) {
        printf(" %d |", counts[i]);
    }
    printf("\n");
}

static void overview_print(void)
{
    printf("\n## Overview\n\n| |");
    for (int i = 0; i < N_HANDLINGS; i++) {
        printf(" %s |", handling_words[i]);
    }
    printf("\n|---|");
    for (int i = 0; i < N_HANDLINGS; i++) {
        printf("---|");
    }
    printf("\n");
    for (size_t i = 0; i < N_FUNCTIONS; i = chapter_end(i)) {
        counts_print(functions[i].chapter, i, chapter_end(i));
    }
    counts_print("All", 0, N_FUNCTIONS);
}

static void chapters_print(void)
{
    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        if (functions[i].name == NULL) {
            printf("\n## %s\n\n| function | handling | recorded as |\n|---|---|---|\n",
                   functions[i].chapter);
        } else {
            printf("| `MPI_%s` | %s | %s |\n", functions[i].name,
                   handling_words[functions[i].handling], recorded_as(&functions[i]));
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], "--markdown") != 0) {
        fprintf(stderr, "usage: mpi-coverage --markdown\n");
        return EXIT_FAILURE;
    }
    fputs(head, stdout);
    overview_print();
    chapters_print();
    return EXIT_SUCCESS;
}

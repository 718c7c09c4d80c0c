/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs random programs over MPI 3.1, one for each seed, and compares all that they get
 * with a model. README.md tells how they are made; run_random.py starts this program.
 *
 *     random_program [--keep LIST] [--repeat TIMES] [--progress FILE] FIRST [SEEDS]
 *     random_program --print RANKS [--keep LIST] SEED
 *
 * A program runs on 2 or more of the job's ranks. LIST holds the numbers of operations,
 * or ranges of them (3,7-9), that are kept, - none. In FILE each rank says where it is.
 * --print needs no MPI and writes the program, as a job of so many ranks runs it.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/random/run.h"

struct options {
    int n_print; /* ranks of the job whose program is printed, or 0 */
    bool is_native;
    const char *progress;
    const char *kept; /* as it was given */
    struct keep keep;
    uint64_t first;
    uint64_t n_seeds;
    int n_times; /* that each seed runs */
};

static void parse_keep(const char *text, struct keep *keep)
{
    keep->is_all = false;
    while (*text >= '0' && *text <= '9') {
        char *end;
        long low = strtol(text, &end, 10);
        long high = *end == '-' ? strtol(end + 1, &end, 10) : low;

        for (long i = low; i <= high && i < MAX_OPS; i++) {
            keep->ops[i] = true;
        }
        text = *end == ',' ? end + 1 : end;
    }
}

static void parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){.n_seeds = 1, .n_times = 1, .keep = {.is_all = true}};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;

        if (has_value && strcmp(argv[i], "--print") == 0) {
            options->n_print = atoi(argv[++i]);
        } else if (has_value && strcmp(argv[i], "--keep") == 0) {
            parse_keep(argv[++i], &options->keep);
        } else if (has_value && strcmp(argv[i], "--repeat") == 0) {
            options->n_times = atoi(argv[++i]);
        } else if (has_value && strcmp(argv[i], "--progress") == 0) {
            options->progress = argv[++i];
        } else if (strcmp(argv[i], "--native") == 0) {
            options->is_native = true;
        } else if (options->first == 0) {
            options->first = strtoull(argv[i], NULL, 10);
        } else {
            options->n_seeds = strtoull(argv[i], NULL, 10);
        }
    }
}

/* Each rank's place in a file that all of them share. */
static struct progress *open_progress(const char *path, int rank)
{
    static struct progress alone;
    struct progress *all;
    int file;

    if (!path) {
        return &alone;
    }
    file = open(path, O_RDWR);
    CHECK(file >= 0);
    all = mmap(NULL, MAX_RANKS * sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED, file,
               0);
    CHECK(all != MAP_FAILED);
    close(file);
    return &all[rank];
}

/* The ranks of the job that run a seed's program, in which order: in every third,
 * all. */
static int draw_members(uint64_t seed, int size, int *order)
{
    struct draw draw = draw_from(seed, 8, (uint64_t)size);
    int n = draw_chance(&draw, 33) || size < 3 ? size : 2 + draw_below(&draw, size - 1);

    for (int i = 0; i < size; i++) {
        order[i] = i;
    }
    if (n < size && draw_chance(&draw, 70)) {
        draw_shuffle(&draw, order, size);
    }
    return n;
}

static void run_seed(uint64_t seed, const struct options *options,
                     struct progress *progress)
{
    struct world world = check_world();
    int order[MAX_RANKS];
    int n = draw_members(seed, world.size, order);
    struct members members = {.n = n};
    struct plan *plan;
    MPI_Comm all;
    int me;

    memcpy(members.ranks, order, sizeof(order));
    me = plan_rank_in(&members, world.rank);
    progress->seed = (int64_t)seed;
    progress->act = -1;
    check_say("seed %llu\n", (unsigned long long)seed);
    MPI_Comm_split(MPI_COMM_WORLD, me < 0 ? MPI_UNDEFINED : 0, me, &all);
    if (me >= 0) {
        plan = plan_make(seed, n, &options->keep);
        MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
        run_plan(plan, all, options->is_native, progress);
        plan_free(plan);
        MPI_Comm_free(&all);
    }
    progress->act = -3;
}

static void print(const struct options *options)
{
    int order[MAX_RANKS];
    int n = draw_members(options->first, options->n_print, order);
    struct plan *plan = plan_make(options->first, n, &options->keep);

    printf("ranks of the program are processes");
    for (int i = 0; i < n; i++) {
        printf(" %d", order[i]);
    }
    printf("\n");
    plan_print(plan);
    plan_free(plan);
}

int main(int argc, char **argv)
{
    struct options options;
    struct progress *progress;
    struct world world;

    parse(argc, argv, &options);
    if (options.n_print > 0) {
        print(&options);
        return 0;
    }
    world = check_begin(&argc, &argv);
    CHECK(world.size <= MAX_RANKS && world.size >= 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    progress = open_progress(options.progress, world.rank);
    layout_begin();
    reducing_begin();
    for (uint64_t i = 0; i < options.n_seeds * (uint64_t)options.n_times; i++) {
        run_seed(options.first + i / (uint64_t)options.n_times, &options, progress);
    }
    reducing_end();
    layout_end();
    return check_end();
}

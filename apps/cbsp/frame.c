/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of events of every cBSP application. Runs on each process; process 0
 * prints. Whatever is wrong with the command line is wrong on all processes alike, and
 * said once. Lines that begin with "run:" or "time:" depend on how the program was run;
 * all others depend on the problem alone.
 */
#include "apps/cbsp/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/message.h"

#define EXIT_CHECK_FAILED 1
#define EXIT_UNUSABLE 2

#define SYNC_OPTION "--sync"
#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_FACTOR UINT64_C(0x100000001b3)

static void print_help(const struct frame_program *program)
{
    printf("Usage: mpirun -n N %s [OPTION]...\n%s\n\n", program->name,
           program->summary);
    printf("  %-20s how supersteps end: counting (cBSP_nsync where the number of\n"
           "  %-20s messages is known; default) or global (cBSP_gsync everywhere)\n",
           SYNC_OPTION " HOW", "");
    for (int o = 0; o < program->n_options; o++) {
        const struct frame_option *option = &program->options[o];
        char words[32];

        snprintf(words, sizeof(words), "%s N", option->name);
        printf("  %-20s %s (%ld)\n", words, option->help, *option->value);
    }
    printf("  %-20s print this text\n\n"
           "Exit status: 0 all checks passed, 1 a check failed, 2 wrong command line\n"
           "or no memory.\n",
           "--help");
}

static int parse_sync(const char *text, struct world *world, char *message)
{
    if (strcmp(text, "counting") != 0 && strcmp(text, "global") != 0) {
        message_set(message, SYNC_OPTION " is '%s'; allowed: counting or global", text);
        return -EINVAL;
    }
    world->is_counting = strcmp(text, "counting") == 0;
    return 0;
}

static int parse_number(const struct frame_option *option, const char *text,
                        char *message)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < option->least ||
        value > option->most) {
        message_set(message, "%s is '%s'; allowed: a whole number from %ld to %ld",
                    option->name, text, option->least, option->most);
        return -EINVAL;
    }
    *option->value = value;
    return 0;
}

static int parse_option(const char *name, const char *text, struct world *world,
                        const struct frame_program *program, char *message)
{
    const struct frame_option *option = program->options;
    const struct frame_option *end = option + program->n_options;
    bool is_sync = strcmp(name, SYNC_OPTION) == 0;

    while (option < end && strcmp(option->name, name) != 0) {
        option++;
    }
    if (!is_sync && option == end) {
        message_set(message, "'%s' is not an option (see --help)", name);
        return -EINVAL;
    }
    if (text == NULL) {
        message_set(message, "option '%s' needs a value (see --help)", name);
        return -EINVAL;
    }
    return is_sync ? parse_sync(text, world, message)
                   : parse_number(option, text, message);
}

static int parse_line(int argc, char **argv, struct world *world,
                      const struct frame_program *program, char *message)
{
    world->is_counting = true;
    for (int i = 1; i < argc; i += 2) {
        const char *text = i + 1 < argc ? argv[i + 1] : NULL;
        int result = parse_option(argv[i], text, world, program, message);

        if (result != 0) {
            return result;
        }
    }
    if (program->check_input != NULL) {
        return program->check_input(program->input, message);
    }
    return 0;
}

static bool has_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            return true;
        }
    }
    return false;
}

static void print_options(const struct frame_program *program)
{
    printf("problem: %s", program->problem);
    for (int o = 0; o < program->n_options; o++) {
        printf(", %s %ld", program->options[o].name + 2, *program->options[o].value);
    }
    printf("\n");
}

static bool is_passed(const struct frame_result *result)
{
    for (int c = 0; c < result->n_checks; c++) {
        if (result->checks[c].applies && !result->checks[c].passed) {
            return false;
        }
    }
    return true;
}

static void report_timing(const struct world *world)
{
    const struct world_timing *timed = &world->timed;
    double n_all = (double)timed->n_supersteps;

    printf("run: %d processes, %s synchronization\n", world->n_processes,
           world->is_counting ? "counting" : "global");
    printf("run: supersteps %" PRId64 ", count known in %" PRId64 ", %.2f %%\n",
           timed->n_supersteps, timed->n_known, 100.0 * (double)timed->n_known / n_all);
    printf("time: solve %.6f s\n", timed->seconds);
    printf("time: superstep %.3f us\n", 1e6 * timed->seconds / n_all);
}

static void report(const struct frame_program *program, const struct world *world,
                   const struct frame_result *result)
{
    print_options(program);
    if (result->number_name != NULL) {
        printf("%-24s %.17g\n", result->number_name, result->number);
    }
    if (world->timed.n_supersteps > 0) {
        printf("%-24s %016" PRIx64 "\n", "checksum", result->checksum);
        report_timing(world);
    }
    check_report(program->name, result->checks, result->n_checks, is_passed(result));
}

static int solve(struct world *world, const struct frame_program *program)
{
    struct frame_result result = {0};
    struct area verdict;
    int status;

    area_init(&verdict, world, sizeof(status));
    program->run(world, program->input, &result);
    status = is_passed(&result) ? EXIT_SUCCESS : EXIT_CHECK_FAILED;
    if (world->pid == 0) {
        report(program, world, &result);
        for (int process = 0; process < world->n_processes; process++) {
            world_put(process, &verdict, 0, &status, sizeof(status));
        }
    }
    world_sync_unknown(world);
    memcpy(&status, verdict.mine, sizeof(status));
    area_fini(&verdict);
    return status;
}

int frame_main(int argc, char **argv, const struct frame_program *program)
{
    char message[MESSAGE_BYTES] = "";
    struct world world;
    int status = EXIT_UNUSABLE;

    world_init(&world);
    if (has_help(argc, argv)) {
        if (world.pid == 0) {
            print_help(program);
        }
        status = EXIT_SUCCESS;
    } else if (parse_line(argc, argv, &world, program, message) == 0) {
        status = solve(&world, program);
    } else if (world.pid == 0) {
        fprintf(stderr, "%s: %s\n", program->name, message);
    }
    fflush(stdout);
    world_fini(&world);
    return status;
}

uint64_t frame_checksum(uint64_t checksum, const double *numbers, size_t n)
{
    uint64_t sum = checksum ^ FNV_START;

    for (size_t i = 0; i < n; i++) {
        uint64_t bits;

        memcpy(&bits, &numbers[i], sizeof(bits));
        sum = (sum ^ bits) * FNV_FACTOR;
        sum ^= sum >> 29;
    }
    return sum ^ FNV_START;
}

double frame_random(uint64_t seed, uint64_t index)
{
    uint64_t bits = seed * UINT64_C(0xd1342543de82ef95) +
                    (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    bits ^= bits >> 31;
    return (double)(bits >> 11) * 0x1p-53;
}

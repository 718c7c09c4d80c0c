/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds: reads what the MDS has written of a run, and shows it. One process, one
 * thread.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/waits.h"
#include "mds/tool/verbs/verbs.h"
#include <bcs/version.h>

enum {
    LETTERS = 64,           /* options on a command line, and a zero */
    MOST_GRID_US = 1000000, /* a second */
};

static const char help[] =
    "Usage: bcs-mds VERB FOLDER [OPTION]...\n"
    "\n"
    "Show what was recorded of a run: BCS_MDS=mmds BCS_MDS_DIR=PARENT bcsrun ... makes "
    "a\n"
    "new FOLDER in PARENT, and names it when the program ends.\n"
    "\n"
    "  summary FOLDER        what each primitive cost, how each rank has spent its "
    "time,\n"
    "                        what its calls have waited for, how efficient that was, "
    "and\n"
    "                        which places in the program cost most\n"
    "    --ranks             a table for each rank, too\n"
    "    --rank N            of one rank only\n"
    "    --most N            so many places at most, 10 if not given\n"
    "  dist FOLDER --of WHAT the distribution of the time in a primitive, as MPI_Send, "
    "or\n"
    "                        of computation (granularity) or communication (overhead)\n"
    "    --sizes             of the primitive's lengths\n"
    "    --rank N            of one rank only\n"
    "    -o, --output FILE   a picture in place of the table, as of slices\n"
    "  matrix FOLDER         who sends how much to whom, and on which communicators\n"
    "    --most N            so many pairs, and communicators, at most, 50 if not "
    "given\n"
    "  events FOLDER         the last calls, one by one, of a run with BCS_MDS=trace\n"
    "    --rank N            of one rank only\n"
    "    --most N            so many at most, 50 if not given\n"
    "  waits FOLDER          for whom ranks have waited, of a run with BCS_MDS=trace\n"
    "    --most N            so many lines at most, 20 if not given\n"
    "  slices FOLDER --metric NAME\n"
    "                        a metric of the time slices, as LTTS, of a run with "
    "BCS_MDS=emds,\n"
    "                        all or trace, by the slices' numbers\n"
    "    --node N            of one node only\n"
    "    --most N            so many lines, or points, at most, 50, or 4000, if not "
    "given:\n"
    "                        neighbours are put together\n"
    "    -o, --output FILE   a picture in place of the table, by gnuplot: FILE.svg, "
    "FILE.png,\n"
    "                        or FILE.txt or - for a terminal\n"
    "  check FOLDER          whether what was recorded agrees with itself, as the "
    "parts\n"
    "                        of what calls have waited for with the time of the calls\n"
    "    --grid US           and whether timed slices begin so near their grid\n"
    "    --every METRIC=N    and whether the metric of slices is not 0 every N slices, "
    "of the\n"
    "                        clock; may be given 8 times. 1 % may miss what is "
    "expected\n"
    "  report FOLDER -o FILE all of the above on one page in HTML, with drawings\n"
    "    -o, --output FILE   the file that is made; - is standard output\n"
    "  diagnosis FINDINGS FOLDER -o FILE\n"
    "                        the page of a report, and in front of it what bcsrun "
    "has\n"
    "                        written to the file FINDINGS, as JSON\n"
    "  diff A B              what has changed most, and whether by more than noise; "
    "A and B\n"
    "                        are folders of runs, or each has some of one kind in it\n"
    "    --most N            so many lines of a table at most, 20 if not given\n"
    "  export FOLDER --format FORMAT -o FILE\n"
    "                        all of it as csv, json or sqlite; or the timeline of its "
    "events\n"
    "                        as chrome, for Perfetto and Chrome's trace viewer, or as "
    "otf2,\n"
    "                        a folder of the Open Trace Format 2, for Vampir and "
    "Scalasca\n"
    "\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0; 1 if something is wrong with the folder, or check finds "
    "something; 2\n"
    "if the command line is wrong.\n";

/** A verb. */
struct verb {
    const char *name;
    int (*run)(const struct run *run, const struct verb_options *options);
    int (*run_two)(const char *a, const char *b, const struct verb_options *options);
    const char *allowed; /* letters of its options */
    const char *wanted;  /* letters of those that it must have */
    bool is_of_slices;   /* it needs no process's file */
    uint64_t
        n_events; /* it has all events held for it, if there are no more than these */
};

static const struct verb verbs[] = {
    {"summary", verb_summary, NULL, "arm", "", true, WAITS_FEW_EVENTS},
    {"dist", verb_dist, NULL, "fsro", "f", false, 0},
    {"matrix", verb_matrix, NULL, "m", "", false, 0},
    {"check", verb_check, NULL, "ge", "", true, 0},
    {"report", verb_report, NULL, "o", "o", false, WAITS_FEW_EVENTS},
    {"diff", NULL, verb_diff, "m", "", false, 0},
#ifdef MDS_HAS_JANSSON
    {"diagnosis", NULL, verb_diagnosis, "o", "o", false, 0},
#endif
    {"export", verb_export, NULL, "xo", "xo", true, 0},
    {"events", verb_events, NULL, "mr", "", false, 0},
    {"waits", verb_waits, NULL, "m", "", false, UINT64_MAX},
    {"slices", verb_slices, NULL, "cnmo", "c", true, 0},
};

static const struct option options_known[] = {
    {"ranks", no_argument, NULL, 'a'},        {"rank", required_argument, NULL, 'r'},
    {"of", required_argument, NULL, 'f'},     {"sizes", no_argument, NULL, 's'},
    {"most", required_argument, NULL, 'm'},   {"format", required_argument, NULL, 'x'},
    {"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'},
    {"metric", required_argument, NULL, 'c'}, {"node", required_argument, NULL, 'n'},
    {"grid", required_argument, NULL, 'g'},   {"every", required_argument, NULL, 'e'},
    {"version", no_argument, NULL, 'v'},      {NULL, 0, NULL, 0},
};

static _Noreturn void fail(const char *what, const char *which)
{
    fprintf(stderr, "bcs-mds: %s%s; see bcs-mds --help\n", what, which);
    exit(VERBS_USAGE_STATUS);
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            return &verbs[i];
        }
    }
    fail("there is no verb ", name);
}

static int64_t read_number(const char *text)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < 0) {
        fail("a number from 0 on is expected, not ", text);
    }
    return number;
}

/** Take METRIC=N. */
static void take_rhythm(char *text, struct verb_options *options)
{
    char *equals = strchr(text, '=');

    if (options->n_rhythms == VERBS_RHYTHMS) {
        fail("--every is there too often, at ", text);
    }
    if (equals == NULL || equals == text || equals[1] == '0') {
        fail("--every wants METRIC=N, N from 1 on, not ", text);
    }
    *equals = '\0';
    options->rhythms[options->n_rhythms++] =
        (struct rhythm){text, read_number(equals + 1)};
}

/** Take an option. */
static void take(int letter, struct verb_options *options)
{
    switch (letter) {
    case 'a':
        options->has_ranks = true;
        break;
    case 'r':
        options->rank = read_number(optarg);
        break;
    case 'f':
        options->of = optarg;
        break;
    case 'x':
        options->format = optarg;
        break;
    case 'o':
        options->output = optarg;
        break;
    case 'c':
        options->metric = optarg;
        break;
    case 'n':
        options->node = read_number(optarg);
        break;
    case 'g':
        options->grid_us = read_number(optarg);
        if (options->grid_us > MOST_GRID_US) {
            fail("--grid is 1000000 us at most, not ", optarg);
        }
        break;
    case 'e':
        take_rhythm(optarg, options);
        break;
    case 's':
        options->is_of_sizes = true;
        break;
    default:
        options->n_most = read_number(optarg);
        break;
    }
}

static void print_and_exit(int letter)
{
    if (letter == 'h') {
        fputs(help, stdout);
        exit(EXIT_SUCCESS);
    }
    if (letter == 'v') {
        printf("bcs-mds %s\n", bcs_version());
        exit(EXIT_SUCCESS);
    }
    if (letter == '?') { /* getopt has said what */
        exit(VERBS_USAGE_STATUS);
    }
}

/** Read the command line; what stands after the options are verb and folders.
 *  @param letters_out  those of the options */
static void read_options(int argc, char **argv, struct verb_options *options,
                         char letters_out[LETTERS])
{
    int letter, n = 0;

    while ((letter = getopt_long(argc, argv, "o:", options_known, NULL)) >= 0) {
        print_and_exit(letter);
        take(letter, options);
        if (n == LETTERS - 1) {
            fail("there are too many options", "");
        }
        letters_out[n++] = (char)letter;
    }
    letters_out[n] = '\0';
}

/** The long name of an option. */
static const char *name_of(char letter)
{
    const struct option *option = options_known;

    while (option->val != letter) {
        option++;
    }
    return option->name;
}

/** Every verb has options of its own. */
static void check_options(const struct verb *verb, const char *letters)
{
    if (letters[strspn(letters, verb->allowed)] != '\0') {
        fail("an option is not for the verb ", verb->name);
    }
    for (const char *wanted = verb->wanted; *wanted != '\0'; wanted++) {
        if (strchr(letters, *wanted) == NULL) {
            char what[64];

            snprintf(what, sizeof(what), "%s wants --", verb->name);
            fail(what, name_of(*wanted));
        }
    }
}

/** Read the folder and have the verb look at it. @return the program's exit status */
static int run_verb(const struct verb *verb, char **folders,
                    const struct verb_options *options)
{
    char error[DUMP_ERROR_BYTES];
    struct run run;
    int status;

    if (verb->run_two != NULL) {
        return verb->run_two(folders[0], folders[1], options);
    }
    if (run_read(folders[0], &run, error) < 0) {
        fprintf(stderr, "bcs-mds: %s\n", error);
        return EXIT_FAILURE;
    }
    if (run.n_beginning > 0) {
        fprintf(stderr, "bcs-mds: %u ranks of %s have not begun to record yet\n",
                run.n_beginning, folders[0]);
    }
    if (run.n_files == 0 && !verb->is_of_slices) {
        fprintf(stderr,
                "bcs-mds: %s has slices only, no file of a process, which the verb %s "
                "is about; record with BCS_MDS=all\n",
                folders[0], verb->name);
        status = EXIT_FAILURE;
    } else if (run_n_events(&run) <= verb->n_events &&
               run_hold_events(&run, error) < 0) {
        fprintf(stderr, "bcs-mds: %s\n", error);
        status = EXIT_FAILURE;
    } else {
        status = verb->run(&run, options);
    }
    run_fini(&run);
    return status;
}

int main(int argc, char **argv)
{
    struct verb_options options = {.rank = -1, .n_most = -1, .node = -1, .grid_us = -1};
    char letters[LETTERS];
    const struct verb *verb;
    int status;

    read_options(argc, argv, &options, letters);
    if (optind == argc) {
        fail("a verb is expected", "");
    }
    verb = find_verb(argv[optind]);
    if (argc - optind != (verb->run_two != NULL ? 3 : 2)) {
        fail(verb->run_two != NULL ? "two folders are expected by the verb "
                                   : "one folder is expected by the verb ",
             verb->name);
    }
    check_options(verb, letters);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error as others are */
    status = run_verb(verb, argv + optind + 1, &options);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "bcs-mds: cannot write: %s\n", strerror(errno));
        status = EXIT_FAILURE;
    }
    return status;
}

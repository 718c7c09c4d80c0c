/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-top: shows what the ranks of the user's running jobs do on the whole screen, or
 * prints where they stand, as a roll-call or as JSON: who waits, in which call, for
 * whom, since when, and from which line. One thread; the screen is a process of its
 * own.
 */
#include <bcs/version.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/look/look.h"
#include "finding_add.h"
#include "job_json.h"
#include "jobs_json.h"
#include "kin.h"
#include "libbcs/fabric/base/park.h"
#include "mds/source/place.h"
#include "near_miss.h"
#include "progress.h"
#include "roll_call.h"
#include "screen.h"
#include "standstill.h"

enum {
    TELL_ROUNDS = 20,
    FAIL_ROUNDS = 3,
    FIND_ROUNDS = 200,
    REAL_DIGITS = 9,
    CALL_BYTES = 65536
};
#define TELL_NS 5000000u /* between two looks at ranks that are about to tell */

static const char help[] =
    "Usage: bcs-top\n"
    "       bcs-top [--once] --json | --once | --tree | --of PID\n"
    "       bcs-top --patience NS PID\n"
    "       bcs-top --progress NS PID\n"
    "       bcs-top --stuck RANKS PID FILE MESSAGE...\n"
    "       bcs-top --at RANKS PID BEFORE AFTER\n"
    "       bcs-top --failing RANKS PID BEFORE AFTER\n"
    "       bcs-top --lines\n"
    "\n"
    "Show what the ranks of the jobs under BCS do that this user may look at, on the "
    "whole\n"
    "terminal, once a second; the key ? tells the others. Or print it. Jobs need no "
    "option\n"
    "for that. Other users' jobs are seen by root only.\n"
    "\n"
    "  --once     a line for ranks that wait at the same place\n"
    "  --tree     the calls of all ranks as a tree: ranks with the same path stand\n"
    "             together\n"
    "  --json     all that is known, for scripts; with --once the same\n"
    "  --stuck    as --once, of some ranks, as 0-3,7, of the job "
    "of process PID, who are\n"
    "             known to be deadlocked; who waits for whom in "
    "a circle; and which of\n"
    "             the messages that nobody has received, each "
    "FROM,TO,TAG,BYTES,CONTEXT,TAKEN\n"
    "             or that and ,WORDS, are almost what is waited for. The same as JSON "
    "into FILE, unless it is\n"
    "             empty. What a job runs that has found that\n"
    "  --at       as --once, of those of some ranks of the job of "
    "process PID that wait, when\n"
    "             all of them do, or a tenth of a second later, "
    "between the texts BEFORE and\n"
    "             AFTER, in one write. What a job runs in which a call fails\n"
    "  --failing  the same of those whose call fails now\n"
    "  --of PID   as --once, of the jobs that process PID has started: what "
    "bcsrun runs when\n"
    "             it gets SIGURG\n"
    "  --patience NS PID\n"
    "             as --of, each time that nothing has moved for NS nanoseconds, "
    "until it is\n"
    "             killed: what bcsrun --patience runs\n"
    "  --progress NS PID\n"
    "             a line about the job each NS nanoseconds, until it is killed: "
    "what\n"
    "             bcsrun --progress runs\n"
    "  --lines    print the line of the source for each line of the input, an "
    "address in hex,\n"
    "             and the file that it is in; behind a tab its number and the path "
    "of its\n"
    "             file: what bcsrun --lint has run\n"
    "  --finding JSON\n"
    "             before --stuck, --at or --failing: what the report is about. It is "
    "completed\n"
    "             by ranks, places and text, and appended to the findings in the "
    "folder that\n"
    "             BCS_FINDINGS names\n"
    "  --help     print this text\n"
    "  --version  print the version\n";

/** Add a job. @return whether all is well: it has been added, or is gone */
static bool add_job(json_t *jobs, const struct bcs_look_found *found,
                    struct places *places)
{
    struct bcs_look *look;
    int rc = job_json_open(found, &look);

    if (rc < 0) {
        return rc == -ENOENT || rc == -EAGAIN; /* it has ended, or only begins */
    }
    place_renew(places); /* what is slow in one job does not count for the next */
    json_array_append_new(jobs, job_json_of(look, found, places));
    bcs_look_close(look);
    return true;
}

/** What to print. */
struct wish {
    bool as_json;
    bool is_tree;        /* of calls, and nothing else */
    const char *stuck;   /* these ranks; NULL: all */
    int64_t pid;         /* of this process's job; 0: of all */
    int64_t starter;     /* that has started it, or who did that; 0: of anybody */
    const char *into;    /* a file for the report; NULL: none */
    const char *finding; /* what the report is about, see finding_add.h; or NULL */
    char **sent;         /* messages that nobody has received, ended by NULL; or NULL */
};

static bool is_wanted(const struct wish *wish, int64_t pid)
{
    return wish->starter == 0 || kin_is_below(pid, wish->starter);
}

/** Add the messages to the job that they are of. @return whether they could be read */
static bool add_messages(json_t *job, char **sent)
{
    json_t *list = json_array();

    json_object_set_new(job, "unreceived", list);
    for (; *sent != NULL; sent++) {
        json_t *message = near_miss_read(*sent);

        if (message == NULL) {
            fprintf(stderr,
                    "bcs-top: a message is FROM,TO,TAG,BYTES,CONTEXT,TAKEN, not %s\n",
                    *sent);
            return false;
        }
        near_miss_find(job, message);
        json_array_append_new(list, message);
    }
    return true;
}

/** Write the report of a deadlock, whole or not at all. @return whether it is there */
static bool write_report(const json_t *job, const struct wish *wish)
{
    json_t *report =
        json_pack("{s:s, s:s, s:s, s:O}", "format", "bcs-deadlock 1", "version",
                  bcs_version(), "stuck", wish->stuck, "job", job);
    char part[4096 + sizeof(".part")];
    int n = snprintf(part, sizeof(part), "%s.part", wish->into);
    int fd = report == NULL || n < 0 || (size_t)n >= sizeof(part)
                 ? -1
                 : open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool is_good = fd >= 0 && json_dumpfd(report, fd, JSON_INDENT(1)) == 0 &&
                   rename(part, wish->into) == 0;

    json_decref(report);
    if (!is_good) {
        fprintf(stderr, "bcs-top: cannot write %s: %s\n", wish->into, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    if (fd >= 0 && !is_good) {
        unlink(part);
    }
    return is_good;
}

static bool print_roll_calls(const json_t *jobs, const struct wish *wish)
{
    json_t *one;
    bool is_good = true;
    size_t i;

    json_array_foreach(jobs, i, one)
    {
        struct finding_add adding = finding_add_begin(wish->finding);

        is_good &= wish->sent == NULL || add_messages(one, wish->sent);
        is_good &= (wish->is_tree ? roll_call_print_tree(one)
                                  : roll_call_print(one, wish->stuck)) == 0;
        is_good &= finding_add_end(&adding, one, wish->stuck) == 0;
        is_good &= wish->into == NULL || write_report(one, wish);
    }
    return is_good;
}

/** bcs_look_find_of, for a job that may have begun just now: it can be looked at a
 *  little later. */
static int find_of(int64_t pid, struct bcs_look_found **found_out)
{
    int n = bcs_look_find_of(pid, found_out);

    for (int i = 0; n == 0 && i < FIND_ROUNDS; i++) {
        bcs_rest(TELL_NS);
        n = bcs_look_find_of(pid, found_out);
    }
    return n;
}

/** The ranks whose calls are to be printed, and what else. */
struct call_wish {
    int64_t pid; /* of whose job they are */
    struct roll_call_at at;
    const char *finding; /* that they are about; or NULL */
};

/** Print where some ranks of a job stand, once all of them have told; of failing ones
 *  those that have by now. @return 0 or -errno */
static int print_at(const struct bcs_look_found *found, const struct call_wish *wish,
                    struct places *places)
{
    const struct roll_call_at *at = &wish->at;
    int n_rounds = at->are_failing ? FAIL_ROUNDS : TELL_ROUNDS;
    struct bcs_look *look;
    int rc = job_json_open(found, &look);
    json_t *job = NULL;

    for (int i = 0; rc == 0 && i < n_rounds; i++) {
        json_decref(job);
        job = job_json_of(look, found, places);
        if (roll_call_is_complete(job, at->ranks)) {
            break;
        }
        bcs_rest(TELL_NS);
    }
    if (rc == 0) {
        struct finding_add adding = finding_add_begin(wish->finding);

        rc = roll_call_print_at(job, at);
        rc |= finding_add_end(&adding, job, at->ranks);
        bcs_look_close(look);
    }
    json_decref(job);
    return rc;
}

/** The same of the job of a process, all in one write. @return an exit status */
static int print_call(const struct call_wish *wish)
{
    char text[CALL_BYTES];
    struct bcs_look_found *found = NULL;
    struct places *places = place_open(PLACE_HASTY_NS);
    int n = find_of(wish->pid, &found), rc = places == NULL ? -ENOMEM : -ESRCH;

    setvbuf(stdout, text, _IOFBF, sizeof(text));
    for (int i = 0; rc == -ESRCH && i < n; i++) {
        rc = print_at(&found[i], wish, places);
    }
    free(found);
    place_close(places);
    rc |= fflush(stdout);
    setvbuf(stdout, NULL, _IONBF, 0);
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/** The jobs that were found. One that cannot be looked at does not hide the others.
 *  @param is_good  false then */
static json_t *find_jobs(const struct wish *wish, const struct bcs_look_found *found,
                         int n, struct places *places, bool *is_good)
{
    bool are_good = true;
    json_t *jobs;

    if (wish->as_json && places != NULL) {
        jobs = jobs_json_of(found, n < 0 ? 0 : n, places, &are_good);
        *is_good &= are_good;
        return jobs;
    }
    jobs = json_array();
    for (int i = 0; places != NULL && i < n; i++) {
        if (is_wanted(wish, found[i].handle.pid)) {
            *is_good &= add_job(jobs, &found[i], places);
        }
    }
    return jobs;
}

static int print_jobs(const struct wish *wish)
{
    struct bcs_look_found *found = NULL;
    struct places *places = place_open(PLACE_HASTY_NS);
    json_t *jobs;
    int n = wish->pid == 0 ? bcs_look_find(&found) : find_of(wish->pid, &found);
    bool is_good = n >= (wish->pid == 0 ? 0 : 1) && places != NULL;

    jobs = find_jobs(wish, found, n, places, &is_good);
    if (n == 0) {
        fprintf(stderr, "bcs-top: no job under BCS that this user may look at\n");
    } else if (wish->starter != 0 && is_good && json_array_size(jobs) == 0) {
        fprintf(stderr,
                "bcs-top: process %lld has started no job under BCS that runs\n",
                (long long)wish->starter);
    } else if (n < 0) {
        fprintf(stderr, "bcs-top: /proc: %s\n", strerror(-n));
    }
    if (wish->as_json) {
        json_dumpf(jobs, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(REAL_DIGITS));
        putchar('\n');
    } else {
        is_good &= print_roll_calls(jobs, wish);
    }
    json_decref(jobs);
    free(found);
    place_close(places);
    return is_good && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/** Print what may be anybody's, in one line. */
static void print_in_line(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        fputc(*text == '\n' || *text == '\t' ? ' ' : *text, out);
    }
}

/** The words for a place that a line of the input names, "ADDRESS PATH"; "?": it is
 *  none. Behind a tab the line and the path of the source, if they are known. */
static void print_line(FILE *out, struct places *places, char *line)
{
    char *path, *words = NULL;
    uint64_t address = strtoull(line, &path, 16);
    struct place place = {0};

    path[strcspn(path, "\n")] = '\0';
    if (*path == ' ') {
        words = place_describe(places, &(struct place_module){.path = path + 1},
                               address, &place);
    }
    print_in_line(out, words == NULL ? "?" : words);
    if (place.file != NULL && place.line > 0) {
        fprintf(out, "\t%d ", place.line);
        print_in_line(out, place.file);
    }
    fputc('\n', out);
    free(words);
}

/** Print which lines of the source addresses belong to, when all have been read. */
static int print_lines(void)
{
    struct places *places = place_open(PLACE_HASTY_NS);
    size_t n_line_bytes = 0, n_bytes = 0;
    char *line = NULL, *text = NULL;
    FILE *out = open_memstream(&text, &n_bytes);
    bool is_good = places != NULL && out != NULL;

    while (is_good && getline(&line, &n_line_bytes, stdin) > 0) {
        print_line(out, places, line);
    }
    is_good = out != NULL && fclose(out) == 0 && is_good;
    is_good = is_good && fwrite(text, 1, n_bytes, stdout) == n_bytes;
    free(line);
    free(text);
    place_close(places);
    return is_good && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/** The view of the whole screen. */
static int show_screen(void)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        fprintf(stderr,
                "bcs-top: standard input and output are no terminal: use --once "
                "or --json\n");
        return EXIT_FAILURE;
    }
    return screen_run();
}

/** Whether the command line is --once, --json or both, which is --json. */
static bool is_once(int argc, char **argv, bool *as_json_out)
{
    bool is_known = argc == 2 || argc == 3;

    *as_json_out = false;
    for (int i = 1; i < argc && is_known; i++) {
        bool is_json = strcmp(argv[i], "--json") == 0;

        *as_json_out |= is_json;
        is_known = is_json || strcmp(argv[i], "--once") == 0;
    }
    return is_known;
}

/** Take --finding and its value off the command line. @return the value, or NULL */
static const char *take_finding(int *argc, char ***argv)
{
    const char *finding = NULL;

    if (*argc > 3 && strcmp((*argv)[1], "--finding") == 0) {
        finding = (*argv)[2];
        *argc -= 2;
        *argv += 2;
    }
    return finding;
}

/** --at or --failing RANKS PID BEFORE AFTER. @return an exit status */
static int print_call_of(char **argv, const char *finding)
{
    return print_call(&(struct call_wish){
        .pid = atoll(argv[3]),
        .at = {.ranks = argv[2],
               .before = argv[4],
               .after = argv[5],
               .are_failing = strcmp(argv[1], "--failing") == 0},
        .finding = finding,
    });
}

int main(int argc, char **argv)
{
    const char *finding = take_finding(&argc, &argv);
    bool as_json;

    if (argc == 1) {
        return show_screen();
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("bcs-top %s\n", bcs_version());
        return EXIT_SUCCESS;
    }
    if (is_once(argc, argv, &as_json)) {
        return print_jobs(&(struct wish){.as_json = as_json});
    }
    if (argc >= 5 && strcmp(argv[1], "--stuck") == 0) {
        return print_jobs(&(struct wish){
            .stuck = argv[2],
            .pid = atoll(argv[3]),
            .into = *argv[4] == '\0' ? NULL : argv[4],
            .sent = argv + 5,
            .finding = finding,
        });
    }
    if (argc == 6 &&
        (strcmp(argv[1], "--at") == 0 || strcmp(argv[1], "--failing") == 0)) {
        return print_call_of(argv, finding);
    }
    if (argc == 2 && strcmp(argv[1], "--tree") == 0) {
        return print_jobs(&(struct wish){.is_tree = true});
    }
    if (argc == 2 && strcmp(argv[1], "--lines") == 0) {
        return print_lines();
    }
    if (argc == 3 && strcmp(argv[1], "--of") == 0) {
        return print_jobs(&(struct wish){.starter = atoll(argv[2])});
    }
    if (argc == 4 && strcmp(argv[1], "--patience") == 0) {
        return standstill_watch(atoll(argv[3]), strtoull(argv[2], NULL, 10));
    }
    if (argc == 4 && strcmp(argv[1], "--progress") == 0) {
        return progress_tell(atoll(argv[3]), strtoull(argv[2], NULL, 10));
    }
    fprintf(stderr,
            "bcs-top: it takes --once, --tree, --json, --of PID, --patience NS PID, "
            "--progress NS PID, --stuck RANKS PID FILE MESSAGE..., --at or "
            "--failing RANKS PID BEFORE AFTER, --lines, "
            "--help or --version\n");
    return EXIT_FAILURE;
}

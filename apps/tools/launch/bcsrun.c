/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcsrun: starts an unmodified MPI program under BCS, by mpirun with the preload
 * library for the ranks. Checks first all that can be checked.
 *
 * The job is kept by a process of its own, the keeper, which gives it a folder for Open
 * MPI's files, runs mpirun, and removes the folder. So the job ends, and nothing is
 * left behind, also if bcsrun is killed; and if the keeper is killed, bcsrun does its
 * work. Each has one thread.
 */
#include <bcs/version.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/launch/absence.h"
#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/documents.h"
#include "apps/tools/launch/launch_check.h"
#include "apps/tools/launch/launch_command.h"
#include "apps/tools/launch/launch_options.h"
#include "apps/tools/launch/launch_run.h"
#include "apps/tools/launch/look_run.h"
#include "apps/tools/launch/networks.h"
#include "apps/tools/launch/scratch.h"
#include "apps/tools/launch/versus.h"
#include "libbcs/session/variables.h"

#define ERROR_BYTES 512
#define KEEPER_GRACE_NS 15000000000u /* more than it gives to mpirun */

static const char help[] =
    "Usage: bcsrun [options] [mpirun's options] -n N program [arguments]\n"
    "\n"
    "Run an unmodified Open MPI program on N ranks under BCS.\n"
    "\n"
    "  --native       the same launch without BCS\n"
    "  --versus N     N pairs of a native run and one under BCS, in turn first; "
    "prints\n"
    "                 the wall seconds, the medians, the launcher's part, the ratios\n"
    "  --mds[=FOLDER] record the run in a new folder in FOLDER, bcs-mds if none is "
    "given,\n"
    "                 with a summary at the end; bcs-mds(1) reads it\n"
    "  --lint         tell at the end which messages nobody has received, and which "
    "requests\n"
    "                 and objects the program has not given back, and which "
    "collectives\n"
    "                 members have not called alike, with their lines\n"
    "  --json FILE, --sarif FILE, --junit FILE\n"
    "                 write at the end what was found, for continuous integration: "
    "verdict,\n"
    "                 misuse, lint and how the job has ended\n"
    "  --diagnose[=FILE]\n"
    "                 look at the run in all ways, record it, and write one page "
    "about it,\n"
    "                 bcs-diagnosis.html if none is given\n"
    "  --patience T   print where the ranks stand when nothing has moved for the time "
    "T, "
    "60s or\n"
    "                 500ms, say; the job goes on\n"
    "  --progress[=T] print a line each time T, 10s if none is given: how many "
    "messages and\n"
    "                 bytes a second, how many ranks wait, in what most of them; or "
    "that\n"
    "                 nothing moves\n"
    "  --mpirun PATH  the mpirun to use instead of the one in PATH\n"
    "  --help         print this text\n"
    "  --version      print the version\n"
    "\n"
    "SIGURG prints where the ranks stand, at any time: kill -URG PID.\n"
    "All other options are mpirun's. More ranks than cores need no further option.\n"
    "On one machine Open MPI looks for no networks, unless pml, btl or mtl is set.\n"
    "If BCS is not in the job, a few lines say so, and why.\n"
    "BCS_* variables set how BCS works; \"bcs-info\" lists them.\n";

/** The command lines of a launch; those that are not needed stay NULL. */
struct commands {
    struct versus_commands native;
    struct versus_commands bcs;
};

static int side_make(const struct launch_options *options, const char *mpirun,
                     const char *preload, struct versus_commands *commands)
{
    commands->job = launch_command_make(options, mpirun, preload, NULL);
    if (options->n_pairs > 0) {
        commands->launcher = launch_command_make(options, mpirun, preload, "true");
    }
    if (commands->job == NULL || (options->n_pairs > 0 && commands->launcher == NULL)) {
        return bcsrun_error("out of memory");
    }
    return 0;
}

static int commands_make(const struct launch_options *options,
                         struct commands *commands)
{
    char mpirun[PATH_MAX];
    char preload[PATH_MAX];
    int err = launch_find_mpirun(options, mpirun, sizeof mpirun);

    if (!err && (options->is_native || options->n_pairs > 0)) {
        err = side_make(options, mpirun, NULL, &commands->native);
    }
    if (!err && (!options->is_native || options->n_pairs > 0)) {
        err = launch_find_preload(preload, sizeof preload);
        err = err ? err : side_make(options, mpirun, preload, &commands->bcs);
    }
    return err;
}

static void side_free(struct versus_commands *commands)
{
    launch_command_free(commands->job);
    launch_command_free(commands->launcher);
}

/** What the keeper is to do. */
struct job {
    const struct launch_options *options;
    const struct commands *commands;
    struct documents *documents;
    struct launch_home home;
    struct absence absence; /* of BCS, of one run that is to be under it */
};

/* Whether the job is one run under BCS. */
static bool job_is_plain(const struct job *job)
{
    return !job->options->is_native && job->options->n_pairs == 0;
}

/* Somebody asks where the job stands. */
static void job_ask(void *arg)
{
    struct job *job = arg;

    if (!job_is_plain(job) || !absence_ask(&job->absence)) {
        look_ask(&job->home);
    }
}

static int commands_run(struct job *job)
{
    const struct launch_options *options = job->options;
    const struct commands *commands = job->commands;
    struct watch_result result;

    if (options->n_pairs > 0) {
        return versus_run(&job->home, &commands->native, &commands->bcs,
                          options->n_pairs);
    }
    if (launch_run(&job->home,
                   options->is_native ? commands->native.job : commands->bcs.job, -1,
                   &result)) {
        return EXIT_FAILURE;
    }
    if (job_is_plain(job)) {
        absence_end(&job->absence);
    }
    return documents_end(job->documents, &result);
}

/* Have somebody look at the job while it runs. */
static void job_accompany(struct job *job)
{
    const struct launch_options *options = job->options;

    job->home.ask = job_ask;
    job->home.asked = job;
    if (job_is_plain(job)) {
        job->home.first_look_ns = absence_begin(&job->absence, options->patience_ns);
        job->home.look = absence_look;
        job->home.looked = &job->absence;
    }
    if (options->patience_ns != 0) {
        look_watch(&job->home, options->patience_ns);
    }
    if (options->progress_ns != 0) {
        look_accompany(&job->home, options->progress_ns);
    }
}

/* Run the job, with those who look at it. */
static int job_go(struct job *job)
{
    job_accompany(job);
    return commands_run(job);
}

/* The keeper: launch in a folder of the job's own, unless other machines take part. */
static int job_keep(void *arg, const sigset_t *signals)
{
    struct job *job = arg;
    struct scratch scratch;
    int status;

    job->home.signals = signals;
    if (launch_is_remote(job->options)) {
        launch_settings_apply(job->options, NULL);
        return documents_begin(job->documents, NULL) < 0 ? EXIT_FAILURE : job_go(job);
    }
    if (scratch_create(launch_n_ranks(job->options), &scratch) < 0) {
        return EXIT_FAILURE;
    }
    launch_settings_apply(job->options, scratch.path);
    if (job_is_plain(job) && !job->options->picks_networks) {
        networks_apply(job->commands->bcs.job[0]);
    }
    status =
        documents_begin(job->documents, scratch.path) < 0 ? EXIT_FAILURE : job_go(job);
    scratch_remove(&scratch);
    return status;
}

static int job_run(const struct launch_options *options,
                   const struct commands *commands, struct documents *documents)
{
    struct job job = {.options = options,
                      .commands = commands,
                      .documents = documents,
                      .home.group = getpgrp()};
    struct watch_result result;

    if (watch_run(
            &(struct watch_child){
                .name = "bcsrun's keeper",
                .run = job_keep,
                .arg = &job,
                .has_own_group = true,
                .grace_ns = KEEPER_GRACE_NS,
            },
            &result) < 0) {
        return EXIT_FAILURE;
    }
    if (result.is_killed) {
        result.status = documents_end(documents, &result);
        scratch_sweep();
    }
    return result.status;
}

/** The variables that have a run recorded. */
static int records_apply(const char *folder)
{
    char path[PATH_MAX];

    if (folder[0] == '/') {
        path[0] = '\0';
    } else if (getcwd(path, sizeof(path) - 1) == NULL) {
        return bcsrun_error("--mds: cannot tell the folder that this is");
    } else {
        strcat(path, "/"); /* the ranks may start elsewhere */
    }
    if (strlen(path) + strlen(folder) >= sizeof(path)) {
        return bcsrun_error("--mds: the folder's name is too long");
    }
    setenv("BCS_MDS", "trace", 1);
    setenv("BCS_MDS_DIR", strcat(path, folder), 1);
    return 0;
}

static int launch(struct launch_options *options, char *const *command)
{
    struct commands commands = {0};
    struct documents documents;
    char error[ERROR_BYTES];
    int status = EXIT_FAILURE;

    if (options->records != NULL && records_apply(options->records) < 0) {
        return EXIT_FAILURE;
    }
    if (options->wants_lint) {
        setenv("BCS_REFEREE_LINT", "on", 1);
    }
    if (bcs_variables_check(error, sizeof error) < 0) {
        bcsrun_error("%s", error);
        return EXIT_FAILURE;
    }
    if (launch_check_programs(options) == 0 &&
        ((options->patience_ns == 0 && options->progress_ns == 0) ||
         look_check() == 0) &&
        documents_prepare(&documents, options, command) == 0 &&
        commands_make(options, &commands) == 0) {
        status = job_run(options, &commands, &documents);
    }
    side_free(&commands.native);
    side_free(&commands.bcs);
    return status;
}

int main(int argc, char **argv)
{
    struct launch_options options;
    int status = EXIT_SUCCESS;

    if (launch_options_parse(argc, argv, &options) < 0) {
        return EXIT_FAILURE;
    }
    if (options.wants_help) {
        fputs(help, stdout);
    } else if (options.wants_version) {
        printf("bcsrun %s\n", bcs_version());
    } else {
        status = launch(&options, argv);
    }
    launch_options_fini(&options);
    return status;
}

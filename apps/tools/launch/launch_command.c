/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes mpirun's command line and environment. Native launches and launches under BCS
 * differ in LD_PRELOAD of the ranks and in nothing else, so that times compare. Called
 * by bcsrun's main.
 */
#include "apps/tools/launch/launch_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/environment.h"

/** A list of strings that grows; each is allocated. */
struct command {
    char **words;
    size_t n_words;
    bool is_complete; /* false: memory ran out */
};

/* Append a copy of the first n_bytes of text. */
static void command_add(struct command *command, const char *text, size_t n_bytes)
{
    char **words = realloc(command->words, (command->n_words + 2) * sizeof *words);

    if (words == NULL) {
        command->is_complete = false;
        return;
    }
    command->words = words;
    words[command->n_words] = strndup(text, n_bytes);
    words[command->n_words + 1] = NULL;
    if (words[command->n_words] == NULL) {
        command->is_complete = false;
        return;
    }
    command->n_words++;
}

static void command_add_word(struct command *command, const char *word)
{
    command_add(command, word, strlen(word));
}

static void command_add_variables(struct command *command)
{
    size_t cursor = 0;
    const char *variable;

    while ((variable = bcs_environment_next("BCS_", &cursor)) != NULL) {
        command_add_word(command, "-x");
        command_add(command, variable, strcspn(variable, "="));
    }
}

/* What LD_PRELOAD held comes before us; but a sanitizer's runtime wants to be first. */
static void command_add_preload(struct command *command, const char *runtime,
                                const char *users, const char *preload)
{
    const char *const libraries[] = {runtime, users, preload};
    char *variable = strdup("LD_PRELOAD=");
    bool is_empty = true;

    if (runtime == NULL && users == NULL && preload == NULL) {
        free(variable);
        return;
    }
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        char *longer;

        if (libraries[i] == NULL || libraries[i][0] == '\0') {
            continue;
        }
        if (variable == NULL || asprintf(&longer, "%s%s%s", variable,
                                         is_empty ? "" : ":", libraries[i]) < 0) {
            longer = NULL;
        }
        free(variable);
        variable = longer;
        is_empty = false;
    }
    if (variable == NULL) {
        command->is_complete = false;
        return;
    }
    command_add_word(command, "-x");
    command_add_word(command, variable);
    free(variable);
}

/* mpirun's options of one program, then the program and its arguments, or `instead`. */
static void command_add_program(struct command *command,
                                const struct launch_context *context,
                                const char *instead)
{
    for (int i = 0; i < context->n_arguments; i++) {
        if (instead != NULL && context->arguments[i] == context->program) {
            command_add_word(command, instead);
            return;
        }
        command_add_word(command, context->arguments[i]);
    }
}

char **launch_command_make(const struct launch_options *options, const char *mpirun,
                           const char *preload, const char *instead)
{
    struct command command = {.is_complete = true};
    const char *users = options->preload;

    if (users == NULL && preload != NULL) {
        users = bcs_environment_get("LD_PRELOAD");
    }
    command_add_word(&command, mpirun);
    for (int i = 0; i < options->n_contexts; i++) {
        const struct launch_context *context = &options->contexts[i];

        if (i > 0) {
            command_add_word(&command, ":");
        }
        command_add_preload(
            &command,
            preload != NULL && context->runtime[0] != '\0' ? context->runtime : NULL,
            users, preload);
        command_add_variables(&command);
        command_add_program(&command, context, instead);
    }
    if (!command.is_complete) {
        launch_command_free(command.words);
        return NULL;
    }
    return command.words;
}

void launch_command_free(char **command)
{
    for (size_t i = 0; command != NULL && command[i] != NULL; i++) {
        free(command[i]);
    }
    free(command);
}

bool launch_is_remote(const struct launch_options *options)
{
    static const char *const batch_systems[] = {
        "SLURM_JOB_ID", "SLURM_JOBID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE"};

    for (size_t i = 0; i < sizeof batch_systems / sizeof batch_systems[0]; i++) {
        if (bcs_environment_get(batch_systems[i]) != NULL) {
            return true;
        }
    }
    return options->names_hosts;
}

int launch_n_ranks(const struct launch_options *options)
{
    int n_ranks = 0;

    for (int i = 0; i < options->n_contexts; i++) {
        int n = options->contexts[i].n_ranks;

        n_ranks += n > 0 ? n : (int)sysconf(_SC_NPROCESSORS_ONLN);
    }
    return n_ranks;
}

/* Variables that tell Open MPI 4 (OMPI_, orte) and 5 (PRTE_) where to put its files. */
static const char *const scratch_settings[] = {
    "OMPI_MCA_orte_tmpdir_base",
    "PRTE_MCA_prte_tmpdir_base",
    "OMPI_MCA_btl_vader_backing_directory",
    "OMPI_MCA_btl_sm_backing_directory",
    "OMPI_MCA_osc_sm_backing_directory",
    "OMPI_MCA_osc_rdma_backing_directory",
};

void launch_settings_apply(const struct launch_options *options, const char *scratch)
{
    if (geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
        setenv("PRTE_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    if (!options->maps_ranks && !launch_is_remote(options)) {
        setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
        setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
    }
    for (size_t i = 0;
         scratch != NULL && i < sizeof scratch_settings / sizeof scratch_settings[0];
         i++) {
        setenv(scratch_settings[i], scratch, 0);
    }
}

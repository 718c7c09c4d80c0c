/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-info: what this build of bcs is and how it can be configured. With --markdown it
 * prints docs/configuration.md. One process, one thread.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/environment.h"
#include "libbcs/fabric/base/limits.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/session/variables.h"
#include <bcs/primitives.h>
#include <bcs/version.h>

#define TEXT_BYTES 1024
#define HELP_COLUMNS 74

static const char help[] =
    "Usage: bcs-info [--markdown | --help | --version]\n"
    "\n"
    "Print the version of bcs, its transports, the MPI library that it was built with\n"
    "and every configuration variable with its value, default, allowed values and "
    "help.\n"
    "Exit status 1 if a BCS_* variable of the environment is unknown or has a bad "
    "value.\n"
    "\n"
    "  --markdown  print the variables as docs/configuration.md, without their "
    "values\n";

static const char markdown_head[] =
    "# Configuration\n"
    "\n"
    "Made by `bcs-info --markdown` from the modules' own tables; do not edit.\n"
    "\n"
    "Every setting is an environment variable. `bcsrun` and the preload library check\n"
    "all of them before the program starts: an unknown `BCS_` name or a bad value is "
    "an\n"
    "error that says what is allowed. `bcs-info` shows the values in force.\n";

static const char notices_head[] =
    "\n"
    "## What is said once\n"
    "\n"
    "Where a run does not go as fast as it could, or a limit holds it up, one line on\n"
    "standard error says so: the first time, by the first process that meets it. It\n"
    "begins with one of these names. With `BCS_MDS=mmds` the report ends the table "
    "over\n"
    "all processes with how often each was met.\n"
    "\n"
    "The level is `warn`, which is printed by default, if the user gets something "
    "else\n"
    "than was asked for, be it only slower; `info`, printed with `BCS_LOG=info`, if "
    "the\n"
    "difference is small or is what most users have.\n";

/* Print text in lines of up to HELP_COLUMNS, each after indent blanks. */
static void text_print(const char *text, int indent)
{
    int column = 0;

    while (*text != '\0') {
        int n_word = (int)strcspn(text, " ");

        if (column == 0) {
            printf("%*s", indent, "");
        } else if (column + 1 + n_word > HELP_COLUMNS) {
            printf("\n%*s", indent, "");
            column = 0;
        } else {
            column += printf(" ");
        }
        column += printf("%.*s", n_word, text);
        text += n_word;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void entry_print(const struct bcs_config_entry *entry)
{
    bool is_set = bcs_environment_get(entry->name) != NULL;
    char allowed[TEXT_BYTES];

    if (!bcs_config_exists(entry)) {
        return;
    }
    bcs_config_allowed(entry, allowed, sizeof allowed);
    printf("\n  %s=%s%s\n", entry->name, bcs_config_text(entry),
           is_set ? " (set)" : "");
    printf("      default %s; allowed %s\n", entry->fallback, allowed);
    text_print(entry->help, 6);
}

static void summary_print(void)
{
    const char *const *transports = bcs_transport_names();

    printf("bcs %s\n", bcs_version());
    printf("built with: %s\n", BCS_MPI_VERSION);
    printf("transports:");
    for (size_t i = 0; transports[i] != NULL; i++) {
        printf(" %s", transports[i]);
    }
    printf("\nvariables:\n");
}

static void variables_print(void)
{
    size_t n_tables;
    const struct bcs_config_table *const *tables = bcs_variables_tables(&n_tables);

    for (size_t i = 0; i < n_tables; i++) {
        for (size_t j = 0; j < tables[i]->n_entries; j++) {
            entry_print(&tables[i]->entries[j]);
        }
    }
}

static void limits_print_markdown(void)
{
    printf("\n| size | usual | least | most | |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < bcs_n_limits; i++) {
        const struct bcs_limit *limit = &bcs_limits[i];

        printf("| `%s` | %" PRIu32 " | %" PRIu32 " | %" PRIu32 "%s | %s |\n",
               limit->name, limit->usual, limit->least, limit->most,
               limit->is_power ? ", powers of two" : "", limit->help);
    }
}

static void table_print_markdown(const struct bcs_config_table *table)
{
    for (size_t i = 0; i < table->n_entries; i++) {
        const struct bcs_config_entry *entry = &table->entries[i];
        char allowed[TEXT_BYTES];

        if (!bcs_config_exists(entry)) {
            continue;
        }
        bcs_config_allowed(entry, allowed, sizeof allowed);
        printf("\n### %s\n\n", entry->name);
        printf("Default `%s`; allowed: `%s`.\n\n", entry->fallback, allowed);
        text_print(entry->help, 0);
        if (entry->kind == BCS_CONFIG_LIMITS) {
            limits_print_markdown();
        }
    }
}

static void notices_print_markdown(void)
{
    fputs(notices_head, stdout);
    for (enum bcs_notice i = 0; i < BCS_N_NOTICES; i++) {
        const struct bcs_notice_kind *kind = bcs_notice_kind(i);
        char text[TEXT_BYTES];

        printf("\n### %s\n\n", kind->key);
        printf("Level `%s`.\n\n", kind->level == BCS_LOG_WARN ? "warn" : "info");
        snprintf(text, sizeof text, "%s. %s.", kind->effect, kind->remedy);
        text_print(text, 0);
    }
}

static void markdown_print(void)
{
    size_t n_tables;
    const struct bcs_config_table *const *tables = bcs_variables_tables(&n_tables);

    fputs(markdown_head, stdout);
    for (size_t i = 0; i < n_tables; i++) {
        printf("\n## %s\n", tables[i]->module);
        table_print_markdown(tables[i]);
    }
    notices_print_markdown();
}

static int info_print(void)
{
    char error[TEXT_BYTES];
    int err;

    summary_print();
    variables_print();
    err = bcs_variables_check(error, sizeof error);
    if (err) {
        fflush(stdout);
        fprintf(stderr, "bcs-info: %s\n", error);
    }
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *option = argc > 1 ? argv[1] : "";

    if (argc == 1) {
        return info_print();
    }
    if (argc == 2 && strcmp(option, "--markdown") == 0) {
        markdown_print();
        return EXIT_SUCCESS;
    }
    if (argc == 2 && (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (argc == 2 && strcmp(option, "--version") == 0) {
        printf("bcs-info %s\n", bcs_version());
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "bcs-info: unknown argument %s\n%s", argv[argc > 2 ? 2 : 1], help);
    return EXIT_FAILURE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the command line of bcsrun. To find the program behind mpirun's options it must
 * know how many values each of them takes: that is a table, with what else matters to
 * bcsrun about an option. Called once by bcsrun.
 */
#include "apps/tools/launch/launch_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/networks.h"
#include "libbcs/fabric/base/config.h"
#include "libbcs/fabric/base/environment.h"

#define MAX_PAIRS 1000
#define LEAST_PATIENCE_NS UINT64_C(10000000)
#define WEEK_NS (UINT64_C(604800) * 1000000000)
#define LEAST_PROGRESS_NS UINT64_C(100000000)
#define RECORDS_USUAL "bcs-mds"
#define PROGRESS_USUAL "10s"
#define PAGE_USUAL "bcs-diagnosis.html"

enum option_kind {
    PASSED,    /* to mpirun, nothing else */
    RANKS,     /* the number of ranks */
    HOSTS,     /* names machines */
    MAPPING,   /* says where ranks go */
    DIRECTORY, /* where programs start */
    PATH,      /* where programs are looked for */
    EXPORT,    /* of an environment variable */
    APPFILE,   /* replaces the command line */
    PARAMETER, /* of Open MPI, and its value */
    FILES,     /* with parameters of Open MPI */
    NATIVE,    /* from here on: bcsrun's own, not passed to mpirun */
    VERSUS,
    PATIENCE,
    LINT,
    DOCUMENT, /* this one and as many as there are forms */
    LAST_DOCUMENT = DOCUMENT + FINDINGS_FORMS - 1,
    MDS, /* this and the next two may have a value behind a "=" */
    PROGRESS,
    DIAGNOSE,
    MPIRUN,
    HELP,
    VERSION,
};

struct option {
    const char *names; /* separated by blanks, without leading dashes */
    int n_values;
    enum option_kind kind;
};

/* mpirun's options that take values, as of Open MPI 4.1 and 5.0, and bcsrun's own. Any
 * option that is not listed is taken for a flag of mpirun's. */
static const struct option options_known[] = {
    {"n np c", 1, RANKS},
    {"H host hostfile machinefile default-hostfile hnp dvm", 1, HOSTS},
    {"rf rankfile", 1, HOSTS},
    {"map-by ppr npernode npersocket N", 1, MAPPING},
    {"oversubscribe nooversubscribe pernode", 0, MAPPING},
    {"wd wdir", 1, DIRECTORY},
    {"path", 1, PATH},
    {"x", 1, EXPORT},
    {"app", 1, APPFILE},
    {"mca gmca omca gomca prtemca pmixmca", 2, PARAMETER},
    {"am tune", 1, FILES},
    {"bind-to cartofile cf cpu-list cpu-set cpus-per-proc cpus-per-rank debugger", 1,
     PASSED},
    {"display fwd-environment launch-agent max-restarts max-vm-size ompi-server", 1,
     PASSED},
    {"output output-filename personality prefix preload-files rank-by", 1, PASSED},
    {"report-events report-pid report-uri runtime-options stdin timeout", 1, PASSED},
    {"xml-file xterm", 1, PASSED},
    {"native", 0, NATIVE},
    {"versus", 1, VERSUS},
    {"patience", 1, PATIENCE},
    {"lint", 0, LINT},
    {"json", 1, (enum option_kind)(DOCUMENT + FINDINGS_JSON)},
    {"sarif", 1, (enum option_kind)(DOCUMENT + FINDINGS_SARIF)},
    {"junit", 1, (enum option_kind)(DOCUMENT + FINDINGS_JUNIT)},
    {"mds", 0, MDS},
    {"progress", 0, PROGRESS},
    {"diagnose", 0, DIAGNOSE},
    {"mpirun", 1, MPIRUN},
    {"help h", 0, HELP},
    {"version V", 0, VERSION},
};

static bool names_have(const char *names, const char *name)
{
    size_t n_bytes = strlen(name);

    while (*names != '\0') {
        size_t n_word_bytes = strcspn(names, " ");

        if (n_word_bytes == n_bytes && memcmp(names, name, n_bytes) == 0) {
            return true;
        }
        names += n_word_bytes;
        names += strspn(names, " ");
    }
    return false;
}

/** Whether an argument is an option, by its name with dashes and "=", with a value. */
static bool is_valued(const char *argument, const char *option)
{
    return strncmp(argument, option, strlen(option)) == 0;
}

static const struct option *option_find(const char *argument)
{
    static const struct option flag = {"", 0, PASSED};
    static const struct option valued[] = {
        {"--mds=", 0, MDS}, {"--progress=", 0, PROGRESS}, {"--diagnose=", 0, DIAGNOSE}};
    const char *name = argument + strspn(argument, "-");

    for (size_t i = 0; i < sizeof valued / sizeof valued[0]; i++) {
        if (is_valued(argument, valued[i].names)) {
            return &valued[i];
        }
    }
    for (size_t i = 0; i < sizeof options_known / sizeof options_known[0]; i++) {
        if (names_have(options_known[i].names, name)) {
            return &options_known[i];
        }
    }
    return &flag;
}

/* A whole number from 1 to maximum, or -1. */
static long count_parse(const char *text, long maximum)
{
    char *end;
    long value;

    if (*text < '0' || *text > '9') {
        return -1;
    }
    value = strtol(text, &end, 10);
    return *end == '\0' && value >= 1 && value <= maximum ? value : -1;
}

/* -x NAME or -x NAME=value. @return whether mpirun is to see the option */
static bool export_apply(struct launch_options *options, const char *variable)
{
    size_t n_name_bytes = strcspn(variable, "=");
    const char *value = variable[n_name_bytes] ? variable + n_name_bytes + 1 : NULL;

    if (n_name_bytes == strlen("LD_PRELOAD") &&
        strncmp(variable, "LD_PRELOAD", n_name_bytes) == 0) {
        options->preload = value ? value : bcs_environment_get("LD_PRELOAD");
        return false;
    }
    if (strncmp(variable, "BCS_", strlen("BCS_")) == 0) {
        char *name = value ? strndup(variable, n_name_bytes) : NULL;

        if (name != NULL) {
            setenv(name, value, 1);
        }
        free(name);
        return false;
    }
    options->picks_networks |=
        strncmp(variable, "OMPI_MCA_", strlen("OMPI_MCA_")) == 0 &&
        networks_are_chosen_by(variable + strlen("OMPI_MCA_"));
    return true;
}

/* An option with a time. @return 0 or <0, printed */
static int time_apply(const char *option, const char *text, uint64_t least_ns,
                      uint64_t *ns_out)
{
    const struct bcs_config_entry entry = {
        .kind = BCS_CONFIG_DURATION_NS,
        .minimum = least_ns,
        .maximum = WEEK_NS,
    };
    char allowed[64];

    if (bcs_config_parse_number(&entry, text, ns_out)) {
        return 0;
    }
    bcs_config_allowed(&entry, allowed, sizeof allowed);
    return bcsrun_error("%s %s: it must be %s", option, text, allowed);
}

/* An option that may have a value behind a "=". @return 0 or <0, printed */
static int valued_apply(struct launch_options *options, enum option_kind kind,
                        const char *argument)
{
    const char *equals = strchr(argument, '=');
    const char *usual = kind == MDS        ? RECORDS_USUAL
                        : kind == DIAGNOSE ? PAGE_USUAL
                                           : PROGRESS_USUAL;
    const char *value = equals == NULL ? usual : equals + 1;

    if (kind != PROGRESS) {
        *(kind == MDS ? &options->records : &options->diagnosis) = value;
        return 0;
    }
    return time_apply("--progress", value, LEAST_PROGRESS_NS, &options->progress_ns);
}

/* What an option without more to it sets; NULL: it is none of these. */
static bool *switch_of(struct launch_options *options, enum option_kind kind)
{
    switch (kind) {
    case NATIVE:
        return &options->is_native;
    case LINT:
        return &options->wants_lint;
    case HELP:
        return &options->wants_help;
    case VERSION:
        return &options->wants_version;
    default:
        return NULL;
    }
}

/* Where an option puts its value as it is; NULL: it is none of these. */
static const char **text_of(struct launch_options *options, enum option_kind kind)
{
    return kind == MPIRUN ? &options->mpirun
           : kind >= DOCUMENT && kind <= LAST_DOCUMENT
               ? &options->documents[kind - DOCUMENT]
               : NULL;
}

/* What an option of mpirun sets that bcsrun has to know of; NULL: it is none. */
static bool *note_of(struct launch_options *options, enum option_kind kind,
                     char *const *values)
{
    switch (kind) {
    case HOSTS:
        return &options->names_hosts;
    case MAPPING:
        return &options->maps_ranks;
    case FILES:
        return &options->picks_networks;
    case PARAMETER:
        return networks_are_chosen_by(values[0]) ? &options->picks_networks : NULL;
    default:
        return NULL;
    }
}

/* What bcsrun has to know of one option, which stands before its values, at values.
 * @return 1 mpirun is to see it, 0 it is bcsrun's alone, <0 an error, printed */
static int option_apply(struct launch_options *options, struct launch_context *context,
                        enum option_kind kind, char **values)
{
    bool *is_set = switch_of(options, kind);
    bool *is_noted = note_of(options, kind, values);
    const char **text = text_of(options, kind);

    if (text != NULL) {
        *text = values[0];
        return 0;
    }
    if (is_set != NULL) {
        *is_set = true;
        return 0;
    }
    if (is_noted != NULL) {
        *is_noted = true;
        return 1;
    }
    switch (kind) {
    case RANKS:
        context->n_ranks = (int)count_parse(values[0], 1L << 30);
        if (context->n_ranks < 0) {
            return bcsrun_error(
                "-n %s: the number of ranks must be a whole number from 1", values[0]);
        }
        return 1;
    case DIRECTORY:
        context->directory = values[0];
        return 1;
    case PATH:
        context->path = values[0];
        return 1;
    case EXPORT:
        return export_apply(options, values[0]);
    case APPFILE:
        return bcsrun_error("--app is not supported; give all programs on the command "
                            "line, separated by \":\"");
    case VERSUS:
        options->n_pairs = (int)count_parse(values[0], MAX_PAIRS);
        if (options->n_pairs < 0) {
            return bcsrun_error("--versus %s: the number of pairs must be 1 to %d",
                                values[0], MAX_PAIRS);
        }
        return 0;
    case PATIENCE:
        return time_apply("--patience", values[0], LEAST_PATIENCE_NS,
                          &options->patience_ns);
    case MDS:
    case PROGRESS:
    case DIAGNOSE:
        return valued_apply(options, kind, values[-1]);
    default:
        break;
    }
    return 1;
}

static void context_append(struct launch_context *context, char **arguments, int n)
{
    for (int i = 0; i < n; i++) {
        context->arguments[context->n_arguments++] = arguments[i];
    }
}

/* Read one context: arguments up to a ":" or the end. @return how many, or <0 */
static int context_parse(struct launch_options *options, struct launch_context *context,
                         char **arguments, int n_arguments)
{
    int i = 0;

    context->arguments = calloc((size_t)n_arguments + 1, sizeof *context->arguments);
    if (context->arguments == NULL) {
        return bcsrun_error("out of memory");
    }
    while (i < n_arguments && arguments[i][0] == '-') {
        const struct option *option = option_find(arguments[i]);
        int n = 1 + option->n_values;
        int is_passed;

        if (i + n > n_arguments) {
            return bcsrun_error("%s needs %d value%s", arguments[i], option->n_values,
                                option->n_values > 1 ? "s" : "");
        }
        is_passed = option_apply(options, context, option->kind, &arguments[i + 1]);
        if (is_passed < 0) {
            return is_passed;
        }
        if (is_passed) {
            context_append(context, &arguments[i], n);
        }
        i += n;
    }
    if (i < n_arguments && strcmp(arguments[i], ":") != 0) {
        context->program = arguments[i];
    }
    for (; i < n_arguments && strcmp(arguments[i], ":") != 0; i++) {
        context_append(context, &arguments[i], 1);
    }
    return i;
}

/* The first option that asks for a document; NULL: none does. */
static const char *document_option(const struct launch_options *options)
{
    return options->documents[FINDINGS_JSON] != NULL    ? "--json"
           : options->documents[FINDINGS_SARIF] != NULL ? "--sarif"
           : options->documents[FINDINGS_JUNIT] != NULL ? "--junit"
                                                        : NULL;
}

/* What looks at a job under BCS is for one such run. @return 0 or <0, printed */
static int uses_check(const struct launch_options *options)
{
    const char *option = options->records != NULL     ? "--mds"
                         : options->patience_ns != 0  ? "--patience"
                         : options->progress_ns != 0  ? "--progress"
                         : options->wants_lint        ? "--lint"
                         : options->diagnosis != NULL ? "--diagnose"
                                                      : document_option(options);

    return option != NULL && (options->is_native || options->n_pairs > 0)
               ? bcsrun_error("%s is for one run under BCS, not for --native or "
                              "--versus",
                              option)
               : 0;
}

int launch_options_parse(int argc, char **argv, struct launch_options *options_out)
{
    struct launch_options options = {0};
    int next = 1;
    bool has_more = true;

    options.contexts = calloc((size_t)argc + 1, sizeof *options.contexts);
    if (options.contexts == NULL) {
        return bcsrun_error("out of memory");
    }
    while (has_more) {
        struct launch_context *context = &options.contexts[options.n_contexts++];
        int n = context_parse(&options, context, argv + next, argc - next);

        if (n < 0) {
            launch_options_fini(&options);
            return n;
        }
        has_more = next + n < argc; /* it stopped at a ":" */
        next += n + 1;
    }
    if (uses_check(&options) < 0) {
        launch_options_fini(&options);
        return -EINVAL;
    }
    *options_out = options;
    return 0;
}

void launch_options_fini(struct launch_options *options)
{
    for (int i = 0; i < options->n_contexts; i++) {
        free(options->contexts[i].arguments);
    }
    free(options->contexts);
    options->contexts = NULL;
    options->n_contexts = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcsrun's command line: which arguments are its own, which go to mpirun, and where the
 * program starts. Errors go to standard error and are only counted here.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tools/launch/launch_options.h"
#include "tests/unit/run_suite.h"

#define MAX_WORDS 32

static struct launch_options options;

static void options_free(void)
{
    launch_options_fini(&options);
}

/* Parse a command line that is given as one text with blanks. */
static int parse(const char *text)
{
    static char words[512];
    char *argv[MAX_WORDS] = {"bcsrun"};
    int argc = 1;

    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    return launch_options_parse(argc, argv, &options);
}

/* A context's arguments, as one text with blanks. */
static const char *arguments_of(int index)
{
    static char text[512];
    const struct launch_context *context = &options.contexts[index];

    text[0] = '\0';
    for (int i = 0; i < context->n_arguments; i++) {
        strcat(text, i ? " " : "");
        strcat(text, context->arguments[i]);
    }
    return text;
}

START_TEST(the_program_follows_mpiruns_options)
{
    ck_assert_int_eq(parse("-n 4 --mca btl self,vader --bind-to none ./prog -n 7"), 0);
    ck_assert_str_eq(options.contexts[0].program, "./prog");
    ck_assert_str_eq(arguments_of(0),
                     "-n 4 --mca btl self,vader --bind-to none ./prog -n 7");
    ck_assert(!options.is_native && !options.maps_ranks && !options.names_hosts);
}
END_TEST

START_TEST(own_options_are_taken_out)
{
    ck_assert_int_eq(
        parse("--native -np 2 --versus 5 --mpirun /x/mpirun prog --native"), 0);
    ck_assert(options.is_native);
    ck_assert_int_eq(options.n_pairs, 5);
    ck_assert_str_eq(options.mpirun, "/x/mpirun");
    ck_assert_str_eq(arguments_of(0), "-np 2 prog --native");
}
END_TEST

START_TEST(documents_have_names)
{
    ck_assert_int_eq(parse("--json a --sarif b --junit c -n 2 prog --json d"), 0);
    ck_assert_str_eq(options.documents[FINDINGS_JSON], "a");
    ck_assert_str_eq(options.documents[FINDINGS_SARIF], "b");
    ck_assert_str_eq(options.documents[FINDINGS_JUNIT], "c");
    ck_assert_ptr_null(options.diagnosis);
    ck_assert_str_eq(arguments_of(0), "-n 2 prog --json d");
    launch_options_fini(&options);
    ck_assert_int_eq(parse("--diagnose -n 2 prog"), 0);
    ck_assert_str_eq(options.diagnosis, "bcs-diagnosis.html");
    launch_options_fini(&options);
    ck_assert_int_eq(parse("--diagnose=a=b -n 2 prog"), 0);
    ck_assert_str_eq(options.diagnosis, "a=b");
    ck_assert_ptr_null(options.records);
}
END_TEST

START_TEST(documents_are_of_one_run_under_bcs)
{
    ck_assert_int_lt(parse("--json a --native -n 2 prog"), 0);
    ck_assert_int_lt(parse("--sarif a --versus 2 -n 2 prog"), 0);
    ck_assert_int_lt(parse("--junit a --native -n 2 prog"), 0);
    ck_assert_int_lt(parse("--diagnose --native -n 2 prog"), 0);
    ck_assert_int_lt(parse("--json"), 0);
}
END_TEST

START_TEST(a_run_is_recorded_where_it_is_said)
{
    ck_assert_int_eq(parse("-n 2 prog --mds"), 0);
    ck_assert_ptr_null(options.records);
    launch_options_fini(&options);
    ck_assert_int_eq(parse("--mds -n 2 prog"), 0);
    ck_assert_str_eq(options.records, "bcs-mds");
    ck_assert_str_eq(arguments_of(0), "-n 2 prog");
    launch_options_fini(&options);
    ck_assert_int_eq(parse("-n 2 --mds=/a/b=c prog"), 0);
    ck_assert_str_eq(options.records, "/a/b=c");
    ck_assert_str_eq(arguments_of(0), "-n 2 prog");
}
END_TEST

START_TEST(an_unknown_option_is_a_flag_of_mpiruns)
{
    ck_assert_int_eq(parse("--tag-output -n 1 prog"), 0);
    ck_assert_str_eq(options.contexts[0].program, "prog");
    launch_options_fini(&options);
    ck_assert_int_eq(parse("--bind prog"),
                     0); /* it is not bind-to, which has a value */
    ck_assert_str_eq(options.contexts[0].program, "prog");
}
END_TEST

START_TEST(several_programs_are_separate_contexts)
{
    ck_assert_int_eq(parse("-n 1 a x : -n 2 --wdir /d b : -n 3 c"), 0);
    ck_assert_int_eq(options.n_contexts, 3);
    ck_assert_str_eq(options.contexts[1].program, "b");
    ck_assert_str_eq(options.contexts[1].directory, "/d");
    ck_assert_str_eq(arguments_of(0), "-n 1 a x");
    ck_assert_str_eq(arguments_of(2), "-n 3 c");
}
END_TEST

START_TEST(a_missing_program_is_seen)
{
    ck_assert_int_eq(parse("-n 4"), 0);
    ck_assert_ptr_null(options.contexts[0].program);
    launch_options_fini(&options);
    ck_assert_int_eq(parse("-n 1 a :"), 0);
    ck_assert_int_eq(options.n_contexts, 2);
    ck_assert_ptr_null(options.contexts[1].program);
    launch_options_fini(&options);
    ck_assert_int_eq(parse(": b"), 0);
    ck_assert_int_eq(options.n_contexts, 2);
    ck_assert_ptr_null(options.contexts[0].program);
    ck_assert_str_eq(options.contexts[1].program, "b");
    launch_options_fini(&options);
    ck_assert_int_eq(parse(""), 0);
    ck_assert_ptr_null(options.contexts[0].program);
}
END_TEST

START_TEST(where_ranks_go_is_left_to_who_says_so)
{
    ck_assert_int_eq(parse("--map-by core -n 4 prog"), 0);
    ck_assert(options.maps_ranks);
    launch_options_fini(&options);
    ck_assert_int_eq(parse("--hostfile h -n 4 prog"), 0);
    ck_assert(options.names_hosts);
}
END_TEST

START_TEST(exported_variables_of_ours_are_set_here)
{
    ck_assert_int_eq(
        parse("-x LD_PRELOAD=t.so -x BCS_COPY=direct -x OTHER=1 -n 1 prog"), 0);
    ck_assert_str_eq(options.preload, "t.so");
    ck_assert_str_eq(getenv("BCS_COPY"), "direct");
    ck_assert_str_eq(arguments_of(0), "-x OTHER=1 -n 1 prog");
}
END_TEST

START_TEST(what_is_preloaded_is_known_by_its_whole_name)
{
    ck_assert_int_eq(parse("-x LD_PRELOAD=mine.so prog"), 0);
    ck_assert_str_eq(options.preload, "mine.so");
    ck_assert_str_eq(arguments_of(0), "prog");
    launch_options_fini(&options);
    ck_assert_int_eq(parse("-x LD_PRE=x -x LD_PRELOADED=y prog"), 0);
    ck_assert_ptr_null(options.preload);
    ck_assert_str_eq(arguments_of(0), "-x LD_PRE=x -x LD_PRELOADED=y prog");
}
END_TEST

START_TEST(progress_may_have_a_time)
{
    ck_assert_int_eq(parse("--progress -n 2 prog"), 0);
    ck_assert_uint_eq(options.progress_ns, UINT64_C(10000000000));
    launch_options_fini(&options);
    ck_assert_int_eq(parse("--progress=100ms -n 2 prog"), 0);
    ck_assert_uint_eq(options.progress_ns, 100000000);
    ck_assert_str_eq(options.contexts[0].program, "prog");
    ck_assert_int_eq(options.contexts[0].n_arguments, 3); /* it is not mpirun's */
    launch_options_fini(&options);
    ck_assert_int_eq(parse("-n 2 prog --progress"), 0);
    ck_assert_uint_eq(options.progress_ns, 0);
}
END_TEST

START_TEST(who_chooses_networks_is_known)
{
    static const char *const choosing[] = {"--mca pml ucx -n 2 prog",
                                           "-n 2 -gmca btl tcp,self prog",
                                           "--mca orte_default_hostfile f prog",
                                           "-am file prog",
                                           "--tune file prog",
                                           "-x OMPI_MCA_mtl=ofi prog"};
    static const char *const others[] = {"--mca pml_base_verbose 1 prog",
                                         "-n 2 prog --mca pml ucx",
                                         "-x OMPI_MCA_pml_v=1 -x pml=1 prog"};

    for (size_t i = 0; i < sizeof(choosing) / sizeof(choosing[0]); i++) {
        ck_assert_int_eq(parse(choosing[i]), 0);
        ck_assert_msg(options.picks_networks, "%s", choosing[i]);
        launch_options_fini(&options);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ck_assert_int_eq(parse(others[i]), 0);
        ck_assert_msg(!options.picks_networks, "%s", others[i]);
        launch_options_fini(&options);
    }
}
END_TEST

START_TEST(patience_has_a_unit)
{
    ck_assert_int_eq(parse("--patience 60s -n 2 prog"), 0);
    ck_assert_uint_eq(options.patience_ns, UINT64_C(60000000000));
    ck_assert_str_eq(arguments_of(0), "-n 2 prog");
    launch_options_fini(&options);
    ck_assert_int_eq(parse("--patience 10ms -n 2 prog"), 0);
    ck_assert_uint_eq(options.patience_ns, 10000000);
    launch_options_fini(&options);
    ck_assert_int_eq(parse("-n 2 prog --patience 1s"), 0); /* the program's own */
    ck_assert_uint_eq(options.patience_ns, 0);
}
END_TEST

static const char *const bad_lines[] = {
    "-n 0 prog",
    "-n -1 prog",
    "-n two prog",
    "-n 2x prog",
    "-n",
    "-np 0 prog",
    "-c 0 prog",
    "--versus 0 p",
    "--versus x p",
    "--mca one",
    "-n 99999999999999999999 prog",
    "--app file",
    "-n 1 a : -n 0 b",
    "-n +2 prog",
    "--mds --native -n 2 prog",
    "--versus 2 --mds=x -n 2 prog",
    "--lint --native -n 2 prog",
    "--versus 2 --lint -n 2 prog",
    "--versus 1001 prog",
    "--patience 60 -n 2 prog",
    "--patience 9ms -n 2 prog",
    "--patience 604801s -n 2 prog",
    "--patience -n 2 prog",
    "--patience 1s --native -n 2 prog",
    "--patience 1s --versus 2 -n 2 prog",
    "--progress= -n 2 prog",
    "--progress=99ms -n 2 prog",
    "--progress=604801s -n 2 prog",
    "--progress --native -n 2 prog",
    "--progress=1s --versus 2 -n 2 prog",
};

START_TEST(bad_command_lines_are_errors)
{
    ck_assert_int_lt(parse(bad_lines[_i]), 0);
    ck_assert_ptr_null(options.contexts);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("launch_options");

    tcase_add_checked_fixture(tests, NULL, options_free);
    tcase_add_test(tests, the_program_follows_mpiruns_options);
    tcase_add_test(tests, own_options_are_taken_out);
    tcase_add_test(tests, documents_have_names);
    tcase_add_test(tests, documents_are_of_one_run_under_bcs);
    tcase_add_test(tests, a_run_is_recorded_where_it_is_said);
    tcase_add_test(tests, an_unknown_option_is_a_flag_of_mpiruns);
    tcase_add_test(tests, several_programs_are_separate_contexts);
    tcase_add_test(tests, a_missing_program_is_seen);
    tcase_add_test(tests, where_ranks_go_is_left_to_who_says_so);
    tcase_add_test(tests, exported_variables_of_ours_are_set_here);
    tcase_add_test(tests, what_is_preloaded_is_known_by_its_whole_name);
    tcase_add_test(tests, who_chooses_networks_is_known);
    tcase_add_test(tests, patience_has_a_unit);
    tcase_add_test(tests, progress_may_have_a_time);
    tcase_add_loop_test(tests, bad_command_lines_are_errors, 0,
                        sizeof bad_lines / sizeof bad_lines[0]);
    return run_tcase("launch_options", tests);
}

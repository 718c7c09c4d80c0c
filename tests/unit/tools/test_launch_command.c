/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line and the environment that bcsrun gives to mpirun.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/launch/launch_command.h"
#include "tests/unit/run_suite.h"

/* mpirun's option has a value that reads as the program does, and so does its
 * argument. */
static char value[] = "./a", program[] = "./a", argument[] = "./a";
static char *first_words[] = {(char *)"-wdir", value, program, argument, NULL};
static char *second_words[] = {(char *)"./b", (char *)"x", NULL};
static struct launch_context contexts[2];
static struct launch_options options;

static void set_up(void)
{
    static const char *const unset[] = {"LD_PRELOAD",   "SLURM_JOB_ID", "SLURM_JOBID",
                                        "PBS_NODEFILE", "LSB_HOSTS",    "PE_HOSTFILE",
                                        "BCS_LOG",      "BCS_SPIN"};

    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++) {
        unsetenv(unset[i]);
    }
    contexts[0] = (struct launch_context){.arguments = first_words,
                                          .n_arguments = 4,
                                          .program = first_words[2],
                                          .n_ranks = 2};
    contexts[1] = (struct launch_context){
        .arguments = second_words, .n_arguments = 2, .program = second_words[0]};
    options = (struct launch_options){.contexts = contexts, .n_contexts = 1};
}

/* The command, as one text. */
static void is(const char *preload, const char *instead, const char *expected)
{
    char **command = launch_command_make(&options, "mpirun", preload, instead);
    char text[1024] = "";

    for (size_t i = 0; command[i] != NULL; i++) {
        strcat(strcat(text, i == 0 ? "" : " "), command[i]);
    }
    ck_assert_str_eq(text, expected);
    launch_command_free(command);
}

START_TEST(a_native_launch_has_no_preload)
{
    setenv("LD_PRELOAD", "user.so", 1);
    is(NULL, NULL, "mpirun -wdir ./a ./a ./a");
    snprintf(contexts[0].runtime, sizeof(contexts[0].runtime), "libasan.so.8");
    is(NULL, NULL, "mpirun -wdir ./a ./a ./a");
    options.preload = "mine.so"; /* -x LD_PRELOAD=mine.so */
    is(NULL, NULL, "mpirun -x LD_PRELOAD=mine.so -wdir ./a ./a ./a");
}
END_TEST

START_TEST(what_was_preloaded_comes_before_us)
{
    is("bcs.so", NULL, "mpirun -x LD_PRELOAD=bcs.so -wdir ./a ./a ./a");
    setenv("LD_PRELOAD", "", 1);
    is("bcs.so", NULL, "mpirun -x LD_PRELOAD=bcs.so -wdir ./a ./a ./a");
    setenv("LD_PRELOAD", "user.so", 1);
    is("bcs.so", NULL, "mpirun -x LD_PRELOAD=user.so:bcs.so -wdir ./a ./a ./a");
    snprintf(contexts[0].runtime, sizeof(contexts[0].runtime), "libasan.so.8");
    options.preload = "mine.so";
    is("bcs.so", NULL,
       "mpirun -x LD_PRELOAD=libasan.so.8:mine.so:bcs.so -wdir ./a ./a ./a");
}
END_TEST

START_TEST(each_program_gets_settings_and_preload)
{
    setenv("BCS_LOG", "info", 1);
    options.n_contexts = 2;
    is("bcs.so", NULL,
       "mpirun -x LD_PRELOAD=bcs.so -x BCS_LOG -wdir ./a ./a ./a : "
       "-x LD_PRELOAD=bcs.so -x BCS_LOG ./b x");
}
END_TEST

START_TEST(another_program_takes_no_arguments)
{
    options.n_contexts = 2;
    is(NULL, "true", "mpirun -wdir ./a true : true");
}
END_TEST

START_TEST(ranks_without_a_number_are_as_many_as_cores)
{
    options.n_contexts = 2;
    ck_assert_int_eq(launch_n_ranks(&options), 2 + (int)sysconf(_SC_NPROCESSORS_ONLN));
}
END_TEST

START_TEST(a_batch_system_may_have_other_machines)
{
    ck_assert(!launch_is_remote(&options));
    options.names_hosts = true;
    ck_assert(launch_is_remote(&options));
    options.names_hosts = false;
    setenv("PE_HOSTFILE", "hosts", 1);
    ck_assert(launch_is_remote(&options));
}
END_TEST

START_TEST(more_ranks_than_cores_are_allowed_here_only)
{
    const char *name = "OMPI_MCA_rmaps_base_oversubscribe";

    unsetenv(name);
    options.maps_ranks = true;
    launch_settings_apply(&options, NULL);
    ck_assert_ptr_null(getenv(name));
    options.maps_ranks = false;
    options.names_hosts = true;
    launch_settings_apply(&options, NULL);
    ck_assert_ptr_null(getenv(name));
    options.names_hosts = false;
    launch_settings_apply(&options, NULL);
    ck_assert_str_eq(getenv(name), "1");
}
END_TEST

START_TEST(what_the_user_has_set_stays)
{
    unsetenv("OMPI_MCA_osc_rdma_backing_directory");
    setenv("OMPI_MCA_orte_tmpdir_base", "/mine", 1);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "0", 1);
    launch_settings_apply(&options, "/theirs");
    ck_assert_str_eq(getenv("OMPI_MCA_orte_tmpdir_base"), "/mine");
    ck_assert_str_eq(getenv("OMPI_MCA_rmaps_base_oversubscribe"), "0");
    ck_assert_str_eq(getenv("OMPI_MCA_osc_rdma_backing_directory"), "/theirs");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("command");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, a_native_launch_has_no_preload);
    tcase_add_test(tcase, what_was_preloaded_comes_before_us);
    tcase_add_test(tcase, each_program_gets_settings_and_preload);
    tcase_add_test(tcase, another_program_takes_no_arguments);
    tcase_add_test(tcase, ranks_without_a_number_are_as_many_as_cores);
    tcase_add_test(tcase, a_batch_system_may_have_other_machines);
    tcase_add_test(tcase, more_ranks_than_cores_are_allowed_here_only);
    tcase_add_test(tcase, what_the_user_has_set_stays);
    return run_tcase("launch_command", tcase);
}

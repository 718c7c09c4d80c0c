/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's way between processes is chosen unless somebody else has chosen one: in
 * the environment, or in a file of the user or of the installation.
 */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tools/launch/networks.h"
#include "tests/unit/run_suite.h"

#define BTL "^openib,ofi,uct,usnic"

static char base[] = "/tmp/networks-test.XXXXXX";
static char mpirun[64];

static void file_write(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", base, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void folder_make(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", base, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

/* An installation with an mpirun, and a home. */
static void set_up(void)
{
    static const char *const unset[] = {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl",
                                        "OMPI_MCA_mca_base_param_files"};

    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++) {
        unsetenv(unset[i]);
    }
    strcpy(base + strlen(base) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
    folder_make("bin");
    folder_make("etc");
    folder_make(".openmpi");
    file_write("bin/mpirun", "");
    snprintf(mpirun, sizeof(mpirun), "%s/bin/mpirun", base);
    setenv("HOME", base, 1);
}

static void tear_down(void)
{
    char line[PATH_MAX];

    snprintf(line, sizeof(line), "rm -rf %s", base);
    ck_assert_int_eq(system(line), 0);
}

/* What is in the environment then; NULL: nothing. */
static void becomes(const char *pml, const char *btl)
{
    networks_apply(mpirun);
    if (pml == NULL) {
        ck_assert_ptr_null(getenv("OMPI_MCA_pml"));
    } else {
        ck_assert_str_eq(getenv("OMPI_MCA_pml"), pml);
    }
    if (btl == NULL) {
        ck_assert_ptr_null(getenv("OMPI_MCA_btl"));
    } else {
        ck_assert_str_eq(getenv("OMPI_MCA_btl"), btl);
    }
}

START_TEST(shared_memory_is_chosen_if_nobody_has_said)
{
    becomes("ob1", BTL);
}
END_TEST

START_TEST(what_the_environment_says_stays)
{
    setenv("OMPI_MCA_btl", "tcp,self", 1);
    becomes(NULL, "tcp,self");
    unsetenv("OMPI_MCA_btl");
    setenv("OMPI_MCA_mtl", "", 1);
    becomes(NULL, NULL);
    unsetenv("OMPI_MCA_mtl");
    setenv("PRTE_MCA_prte_default_hostfile", "hosts", 1);
    becomes(NULL, NULL);
    unsetenv("PRTE_MCA_prte_default_hostfile");
}
END_TEST

START_TEST(what_the_user_has_written_stays)
{
    file_write(".openmpi/mca-params.conf", "# a comment\n  pml = ucx\n");
    becomes(NULL, NULL);
}
END_TEST

START_TEST(a_comment_says_nothing)
{
    file_write(".openmpi/mca-params.conf", "#pml = ucx\n\npml_base_verbose = 1\nbtl\n");
    becomes("ob1", BTL);
}
END_TEST

START_TEST(a_list_of_what_is_not_used_leaves_the_rest)
{
    file_write("etc/openmpi-mca-params.conf",
               "mtl = ^ofi\nbtl = ^uct,ofi\npml=^ucx,ob1x\n");
    becomes("ob1", NULL);
}
END_TEST

START_TEST(a_list_with_ours_leaves_nothing)
{
    file_write("etc/openmpi-mca-params.conf", "pml = ^ucx, ob1\n");
    becomes(NULL, NULL);
}
END_TEST

START_TEST(machines_of_the_installation_may_be_others)
{
    file_write("etc/openmpi-default-hostfile", "# none\n\n  \n");
    becomes("ob1", BTL);
    unsetenv("OMPI_MCA_pml");
    unsetenv("OMPI_MCA_btl");
    file_write("etc/openmpi-default-hostfile", "# one\nnode1 slots=4\n");
    becomes(NULL, NULL);
}
END_TEST

START_TEST(parameters_are_known_by_their_whole_names)
{
    ck_assert(networks_are_chosen_by("pml"));
    ck_assert(networks_are_chosen_by("btl=tcp"));
    ck_assert(networks_are_chosen_by("orte_default_hostfile"));
    ck_assert(!networks_are_chosen_by("pml_base_verbose"));
    ck_assert(!networks_are_chosen_by("pm"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("networks");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, shared_memory_is_chosen_if_nobody_has_said);
    tcase_add_test(tests, what_the_environment_says_stays);
    tcase_add_test(tests, what_the_user_has_written_stays);
    tcase_add_test(tests, a_comment_says_nothing);
    tcase_add_test(tests, a_list_of_what_is_not_used_leaves_the_rest);
    tcase_add_test(tests, a_list_with_ours_leaves_nothing);
    tcase_add_test(tests, machines_of_the_installation_may_be_others);
    tcase_add_test(tests, parameters_are_known_by_their_whole_names);
    return run_tcase("networks", tests);
}

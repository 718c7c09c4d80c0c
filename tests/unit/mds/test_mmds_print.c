/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the report says of programs without MPI, of single calls, and of processes that
 * have recorded nothing.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "mds/mmds.h"
#include "tests/unit/run_suite.h"

static const char *const mpi_names[] = {"MPI_Send", "MPI_Recv"};
static const char *const cbsp_names[] = {"cBSP_send", "cBSP_gsync"};

/* One call of the first primitive, of 3 ms. */
static struct mmds_summary *one_call(void)
{
    struct mmds_summary *summary = calloc(1, sizeof(*summary));

    summary->n_processes = 1;
    summary->communication = (struct mmds_interval){
        .count = 1, .min_ns = 3000000, .max_ns = 3000000, .total_ns = 3000000};
    summary->primitives[0] = summary->communication;
    return summary;
}

static char *print(const char *const *names)
{
    struct mmds_summary *summary = one_call();
    char *text;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);

    mmds_print(out, "All", names, 2, summary);
    fclose(out);
    free(summary);
    return text;
}

START_TEST(one_call_is_its_own_mean)
{
    char *text = print(mpi_names);

    ck_assert_ptr_nonnull(strstr(text,
                                 "MPI_Send              3.000       3.000         "
                                 "3.000          1        3.000\n"));
    ck_assert_ptr_null(strstr(text, "MPI_Recv"));
    free(text);
}
END_TEST

START_TEST(a_program_without_mpi_passes_nothing_to_its_library)
{
    char *text = print(cbsp_names);

    ck_assert_ptr_null(strstr(text, "Passed to the MPI library"));
    free(text);
    text = print(mpi_names);
    ck_assert_ptr_nonnull(strstr(text, "Passed to the MPI library: nothing\n"));
    free(text);
}
END_TEST

/* The other rank has not recorded. */
static int gather_one(void *arg, const void *mine, size_t n_bytes, void *all)
{
    (void)arg;
    memcpy((char *)all + n_bytes, mine, n_bytes);
    return 0;
}

START_TEST(who_has_not_recorded_is_left_out)
{
    struct mmds_summary *summary = one_call();
    char *text;
    size_t n_bytes;
    const struct mmds_report report = {.names = mpi_names,
                                       .n_primitives = 2,
                                       .n_ranks = 2,
                                       .gather = gather_one,
                                       .out = open_memstream(&text, &n_bytes)};

    ck_assert_int_eq(mmds_report(&report, summary), 0);
    fclose(report.out);
    ck_assert_ptr_nonnull(strstr(text, "MMDS, all 1 processes"));
    ck_assert_ptr_null(strstr(text, "MMDS, process 0"));
    ck_assert_ptr_nonnull(strstr(text, "MMDS, process 1"));
    free(text);
    free(summary);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("mmds_print");

    tcase_add_test(tcase, one_call_is_its_own_mean);
    tcase_add_test(tcase, a_program_without_mpi_passes_nothing_to_its_library);
    tcase_add_test(tcase, who_has_not_recorded_is_left_out);
    return run_tcase("mmds_print", tcase);
}

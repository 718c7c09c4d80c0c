/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is read of waits in methods that hide the calls which they make.
 */
#include "apps/tools/top/wait_print.h"

#include <check.h>

#include "apps/tools/top/near_miss.h"
#include "libbcs/fabric/ring/stand.h"
#include "tests/unit/run_suite.h"

enum { WORLD = 8, OTHER = 12, TAG = 7 };

#define HIDDEN ((json_int_t)BCS_CONTEXT_HIDDEN | OTHER)

/* A wait for a message of rank 1. */
static json_t *receive(const char *call, const char *method, json_int_t context)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:[{s:s, s:i, s:i, s:I}]}", "call",
                     call, "method", method, "place", "run.py:3", "collective", "",
                     "context", context & ~(json_int_t)1, "operations", "kind",
                     "receive", "peer", 1, "tag", TAG, "context", context);
}

/* What members must call alike of a wait, which is given up. */
static const char *shared_of(json_t *wait)
{
    static char words[BCS_STAND_METHOD_BYTES];

    snprintf(words, sizeof(words), "%s", wait_shared(wait));
    json_decref(wait);
    return words;
}

START_TEST(members_call_a_method_alike)
{
    ck_assert_str_eq(shared_of(receive("MPI_Recv", "", WORLD)), "");
    ck_assert_str_eq(shared_of(receive("MPI_Bcast", "", WORLD + 1)), "MPI_Bcast");
    ck_assert_str_eq(shared_of(receive("MPI_Recv", "comm.allreduce", HIDDEN)),
                     "comm.allreduce");
    ck_assert_str_eq(shared_of(receive("MPI_Gather", "comm.gather", WORLD + 1)),
                     "comm.gather");
}
END_TEST

START_TEST(a_method_between_two_is_nobody_elses)
{
    static const char *const methods[] = {"comm.send", "comm.bsend", "comm.ssend",
                                          "comm.recv", "comm.sendrecv"};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        ck_assert_str_eq(shared_of(receive("MPI_Recv", methods[i], WORLD)), "");
    }
}
END_TEST

/* In what a message of rank 1 is not what rank 0 waits for on a communicator, by the
 * method for which it is; "": it is no near miss. */
static const char *difference_of(const char *message, json_int_t context)
{
    static char words[64];
    json_t *one = near_miss_read(message), *near;
    json_t *job = json_pack("{s:i, s:[{s:i, s:[o]}]}", "n_ranks", 2, "ranks", "rank", 0,
                            "waits", receive("MPI_Mprobe", "comm.recv", context));

    ck_assert_ptr_nonnull(one);
    near_miss_find(job, one);
    near = json_object_get(one, "near_miss");
    snprintf(words, sizeof(words), "%s%s%s", wait_text(near, "in"),
             near == NULL ? "" : ", ", wait_text(near, "method"));
    json_decref(one);
    json_decref(job);
    return words;
}

START_TEST(what_the_program_does_not_see_is_no_near_miss)
{
    char message[96];

    ck_assert_str_eq(difference_of("1,0,7,4,12,0", WORLD), "communicator, comm.recv");
    ck_assert_str_eq(difference_of("1,0,8,4,8,0", WORLD), "tag, comm.recv");
    snprintf(message, sizeof(message), "1,0,%d,4,%lld,0", TAG, (long long)HIDDEN);
    ck_assert_str_eq(difference_of(message, WORLD), "");
    snprintf(message, sizeof(message), "1,0,%d,4,%lld,0", TAG + 1, (long long)HIDDEN);
    ck_assert_str_eq(difference_of(message, HIDDEN), "");
    ck_assert_str_eq(difference_of("1,0,7,4,8,0", HIDDEN), "");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("wait_print");

    tcase_add_test(tcase, members_call_a_method_alike);
    tcase_add_test(tcase, a_method_between_two_is_nobody_elses);
    tcase_add_test(tcase, what_the_program_does_not_see_is_no_near_miss);
    return run_tcase("wait_print", tcase);
}

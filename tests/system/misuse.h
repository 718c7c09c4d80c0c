/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cases of misuse.c have in common with those of its other files. */
#ifndef TESTS_SYSTEM_MISUSE_H
#define TESTS_SYSTEM_MISUSE_H

enum { N_LONG = 40000, N_SHORT = 2, N_BY_MESSAGES = 100 };

/** What a case has. */
struct run {
    int rank, size;
    int is_last; /* this is the rank that does it wrong */
    int n;       /* elements: short, long */
};

/** What a case does. */
typedef void case_fn(const struct run *run, int is_wrong);

/** A message is longer than its receive. */
case_fn truncated_recv, truncated_any, truncated_wait, truncated_waitall,
    truncated_test, truncated_persistent, truncated_sendrecv, truncated_mrecv,
    truncated_with_gaps, truncated_often;

/** An argument is one that the standard forbids. */
case_fn argument_root, argument_count, argument_types, argument_op, argument_target,
    argument_tag, argument_type, argument_probe, argument_request, argument_of_one;

/** Two threads call the same collective over and over, wrong: on one communicator. */
case_fn crowd;

#endif

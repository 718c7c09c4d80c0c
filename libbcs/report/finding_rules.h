/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What findings may be about, for who tells of them and for who makes documents of
 * them. Constant data.
 */
#ifndef LIBBCS_REPORT_FINDING_RULES_H
#define LIBBCS_REPORT_FINDING_RULES_H

/** What a finding is about; bcs_finding_rules has more. */
enum bcs_finding_kind {
    BCS_FINDING_MISUSE,
    BCS_FINDING_DEADLOCK,
    BCS_FINDING_TRUNCATION,
    BCS_FINDING_ARGUMENT,
    BCS_FINDING_FAILURE,
    BCS_FINDING_BUFFER,
    BCS_FINDING_COLLECTIVE,
    BCS_FINDING_UNRECEIVED,
    BCS_FINDING_LEAK,
    BCS_FINDING_ABSENCE,
    BCS_FINDING_SUSPICION,
    BCS_FINDING_STANDSTILL,
    BCS_FINDING_KINDS
};

/** How grave a finding is. */
enum bcs_finding_level {
    BCS_LEVEL_NOTE,    /* it may be nothing */
    BCS_LEVEL_WARNING, /* the program has come to its end in spite of it */
    BCS_LEVEL_ERROR,   /* the program is wrong */
    BCS_LEVELS
};

/** What is said of all findings of a kind. */
struct bcs_finding_rule {
    const char *name; /* "deadlock" */
    enum bcs_finding_level level;
    int status;          /* exit status of a job that ends by it; 0: there is no such */
    const char *page;    /* of the documentation */
    const char *summary; /* a sentence without a stop */
};

/** By kind. */
extern const struct bcs_finding_rule bcs_finding_rules[BCS_FINDING_KINDS];

/** The words for a level: "error". */
const char *bcs_finding_level_word(enum bcs_finding_level level);

/** The kind of that name. @return BCS_FINDING_KINDS: there is none */
enum bcs_finding_kind bcs_finding_kind_of(const char *name);

#endif

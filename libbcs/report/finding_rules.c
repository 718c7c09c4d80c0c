/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of what findings are about: all documents that have findings in them take
 * names, levels and pages from here. Constant data.
 */
#include "libbcs/report/finding_rules.h"

#include <string.h>

const struct bcs_finding_rule bcs_finding_rules[BCS_FINDING_KINDS] = {
    [BCS_FINDING_DEADLOCK] = {"deadlock", BCS_LEVEL_ERROR, 86,
                              "docs/my-program-hangs.md",
                              "Ranks wait for each other and can never continue"},
    [BCS_FINDING_MISUSE] = {"misuse", BCS_LEVEL_ERROR, 87, "docs/referee.md#misuse",
                            "The program calls MPI as the standard forbids"},
    [BCS_FINDING_TRUNCATION] = {"truncation", BCS_LEVEL_ERROR, 15,
                                "docs/referee.md#misuse",
                                "A message is longer than its receive's buffer"},
    [BCS_FINDING_ARGUMENT] = {"argument", BCS_LEVEL_ERROR, 0,
                              "docs/referee.md#wrong-arguments",
                              "A call of MPI has a wrong argument"},
    [BCS_FINDING_FAILURE] = {"failure", BCS_LEVEL_ERROR, 0,
                             "docs/referee.md#exit-statuses",
                             "A call of MPI fails, as memory is not enough, say"},
    [BCS_FINDING_BUFFER] = {"buffer", BCS_LEVEL_ERROR, 0,
                            "docs/referee.md#buffers-of-pending-operations",
                            "The buffer of a pending operation is used"},
    [BCS_FINDING_COLLECTIVE] = {"collective", BCS_LEVEL_WARNING, 0,
                                "docs/referee.md#collectives-that-are-not-called-alike",
                                "Members have not called a collective alike"},
    [BCS_FINDING_UNRECEIVED] = {"unreceived", BCS_LEVEL_WARNING, 0,
                                "docs/referee.md#what-is-left-at-the-end",
                                "A message has not been received"},
    [BCS_FINDING_LEAK] = {"leak", BCS_LEVEL_WARNING, 0,
                          "docs/referee.md#what-is-left-at-the-end",
                          "A request or an object of MPI has not been given back"},
    [BCS_FINDING_ABSENCE] = {"absence", BCS_LEVEL_WARNING, 0,
                             "docs/troubleshooting.md#bcs-is-not-in-this-job",
                             "BCS is not in the job, so it has looked at nothing"},
    [BCS_FINDING_SUSPICION] = {"suspicion", BCS_LEVEL_NOTE, 0,
                               "docs/referee.md#a-suspicion",
                               "Ranks wait for each other, but one could still act"},
    [BCS_FINDING_STANDSTILL] = {"standstill", BCS_LEVEL_NOTE, 0,
                                "docs/my-program-hangs.md",
                                "Nothing has moved in the job for some time"},
};

const char *bcs_finding_level_word(enum bcs_finding_level level)
{
    static const char *const words[BCS_LEVELS] = {"note", "warning", "error"};

    return words[level];
}

enum bcs_finding_kind bcs_finding_kind_of(const char *name)
{
    int kind = 0;

    while (kind < BCS_FINDING_KINDS &&
           strcmp(bcs_finding_rules[kind].name, name) != 0) {
        kind++;
    }
    return (enum bcs_finding_kind)kind;
}

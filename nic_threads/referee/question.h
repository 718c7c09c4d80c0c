/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the referee asks the witness of another machine, and what that answers: two
 * blocks that go in letters (struct nic_letter). The referee has one question under way
 * at a time. Used by far_side.c, which asks, and witness.c.
 */
#ifndef NIC_THREADS_REFEREE_QUESTION_H
#define NIC_THREADS_REFEREE_QUESTION_H

#include "nic_threads/machine/engine.h"
#include "nic_threads/referee/desk_check.h"

enum nic_question_kind {
    /* Put the records that have changed, as `looks` says, and say what has changed. */
    NIC_QUESTION_LOOK,
    NIC_QUESTION_SUSPECTS,   /* these are suspected: some words of the set */
    NIC_QUESTION_ASK,        /* ask those that are suspected */
    NIC_QUESTION_SENT,       /* whether all nodes have sent what suspects have posted */
    NIC_QUESTION_CHECK,      /* what stands in desks */
    NIC_QUESTION_UNRECEIVED, /* messages to a rank that nobody has received */
    NIC_QUESTION_FILES,      /* put which processes ranks are, and the files of calls */
};

/** Parts of a look: bits. */
enum nic_question_looks {
    NIC_LOOKS_AT_RECORDS = 1, /* and puts those that have changed */
    NIC_LOOKS_REMIND = 2,     /* and wakes who sleeps and has not told */
    NIC_LOOKS_AWAKE = 4,      /* who begins to wait need not wake the witness, */
    NIC_LOOKS_REST = 8,       /* or has to, from now on */
};

enum {
    NIC_QUESTION_WORDS = 56,
    NIC_QUESTION_CHECKS = 18,
    NIC_ANSWER_MESSAGES = 11,
};

struct nic_question {
    uint32_t kind;
    uint32_t n;      /* of the list below that count */
    uint64_t now_ns; /* on the clock of the referee's machine */
    uint64_t asked;  /* ASK: what the ranks are to answer */
    uint32_t looks;  /* LOOK: bits */
    uint32_t first;  /* SUSPECTS: the first of the words; UNRECEIVED: of the messages */
    uint32_t rank;   /* UNRECEIVED */
    uint32_t kinds;  /* UNRECEIVED: bits, by enum nic_unmatched_kind */
    union {
        uint64_t words[NIC_QUESTION_WORDS];
        struct nic_desk_check checks[NIC_QUESTION_CHECKS];
    };
};

struct nic_answer {
    uint64_t changes;  /* LOOK: see nic_snapshot_changes */
    uint32_t n_silent; /* LOOK: who sleeps and has not told, */
    uint32_t n_woken;  /* and how many of them were woken */
    uint64_t holds;    /* SENT: 1 or 0; CHECK: a bit for each that holds */
    uint32_t n;        /* UNRECEIVED: messages that are below */
    uint32_t reserved;
    struct nic_unreceived messages[NIC_ANSWER_MESSAGES];
};

_Static_assert(sizeof(struct nic_question) <= NIC_LETTER_BYTES, "fits into a letter");
_Static_assert(sizeof(struct nic_answer) <= NIC_LETTER_BYTES, "fits into a letter");

#endif

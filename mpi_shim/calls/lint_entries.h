/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is left of the program's, as it goes from each rank to the first: entries, each
 * of things of one kind that were made by one call at one place. Used by lint_left.c,
 * which finds what this rank has left, and by lint_report.c.
 */
#ifndef SHIM_LINT_ENTRIES_H
#define SHIM_LINT_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi_shim/calls/lint.h"

#pragma GCC visibility push(hidden)

/** What can be left, in the order in which it is told. */
enum shim_left {
    SHIM_LEFT_MESSAGE,
    SHIM_LEFT_REQUEST,
    SHIM_LEFT_PERSISTENT,
    SHIM_LEFT_COMM,
    SHIM_LEFT_GROUP,
    SHIM_LEFT_TYPE,
    SHIM_LEFT_OP,
    SHIM_LEFT_KEYVAL,
    SHIM_LEFT_ERRHANDLER,
    SHIM_LEFT_CALL, /* nothing that is left: a collective that members have not called
                       alike */
    SHIM_N_LEFT,
};

enum {
    SHIM_LEFT_CALL_BYTES = 40,
    SHIM_LEFT_ABOUT_BYTES = 200,
    SHIM_LEFT_PATH_BYTES = 512,
    SHIM_LEFT_MOST = 1000,          /* entries of a rank */
    SHIM_LEFT_MESSAGES_MOST = 10000 /* that are looked at in a rank */
};

/** Things of a rank. Two are of one entry if all but n, first and, where it is neither
 *  a message nor a call, about are equal. */
struct shim_left_entry {
    uint32_t kind; /* enum shim_left */
    uint32_t n;
    uint64_t offset;                   /* in the file of code */
    char call[SHIM_LEFT_CALL_BYTES];   /* that made them; of messages: "" */
    char about[SHIM_LEFT_ABOUT_BYTES]; /* what is known of the first one; of messages:
                                          of all */
    char first[SHIM_LEFT_ABOUT_BYTES]; /* messages: what is known of the first one */
    char path[SHIM_LEFT_PATH_BYTES];   /* of the file of code; "": not known */
    bool is_place;                     /* path is no file, but the place in words */
};

/** The entries of a rank. */
struct shim_left_list {
    struct shim_left_entry *entries; /* for free */
    uint32_t n, n_room;
    uint64_t n_more[SHIM_N_LEFT]; /* things that are in no entry, by kind */
};

/** Whether things belong into one entry. */
bool shim_left_is_same(const struct shim_left_entry *a,
                       const struct shim_left_entry *b);

/** Set the call and the place of an entry. @return false: the MPI library has called */
bool shim_left_set_origin(struct shim_left_entry *entry,
                          struct shim_lint_origin origin);

/** Add things to a list: to the entry of such things, or as a new one. */
void shim_left_add(struct shim_left_list *list, const struct shim_left_entry *entry);

/** Add the collectives of this rank that members have not called alike (lint_calls.c).
 *  Collective over MPI_COMM_WORLD. */
void shim_left_add_calls(struct shim_left_list *list);

/** Find what this rank has left. Collective over MPI_COMM_WORLD. */
void shim_left_find(struct shim_left_list *list);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the full-screen view looks at: the jobs that there are, and of one of them the
 * last two looks and the rows made of them. It knows no terminal. One thread.
 */
#ifndef APPS_TOOLS_TOP_VIEWER_H
#define APPS_TOOLS_TOP_VIEWER_H

#include <stdbool.h>
#include <stdint.h>

#include "job_look.h"
#include "machine.h"
#include "picture.h"
#include "rows.h"
#include "where.h"

enum { VIEWER_TEXT_BYTES = 256, VIEWER_PLACES = 1024 };

/** Where an address is, once it has been found out. */
struct viewer_place {
    int64_t pid;
    uint64_t address; /* 0: none, and the place is not kept */
    struct where where;
};

/** The view's state. */
struct viewer {
    struct bcs_look_found *found; /* jobs, by pid */
    uint32_t n_found;
    uint64_t find_ns; /* when to look for jobs again */
    /* The job that is looked at: */
    bool has_job;
    struct bcs_look_found job;
    struct bcs_look *look; /* NULL: it has ended, or cannot be looked at */
    struct bcs_traffic traffic;
    struct job_look before, now;
    bool has_before, has_now;
    struct rows rows;
    struct machine_look machine_before, machine_now;
    char program[VIEWER_TEXT_BYTES];
    char problem[VIEWER_TEXT_BYTES]; /* why there is nothing to see; "" */
    char driver[16], strobe[16];
    uint32_t n_nodes;
    uint64_t began_ns, moved_ns, sum;
    bool has_sum, has_ended;
    uint64_t look_ns, glance_ns;           /* when to look, and to glance, again */
    uint64_t look_each_ns, glance_each_ns; /* how often it does */
    bool is_brief;                         /* see viewer_init_brief */
    /* What the user wants: */
    bool is_paused, is_grouped;
    bool has_chosen_groups, has_chosen_job; /* it is the user's wish */
    enum rows_order order;
    struct places *places;
    struct viewer_place known[VIEWER_PLACES];
};

/** Begin. @return 0 or -ENOMEM; end with viewer_fini */
int viewer_init(struct viewer *viewer);

/**
 * Begin for one job and two looks alone, a short time after each other and with as many
 * glances between them as the screen has in a second. viewer_step looks for no other
 * jobs. It is done when has_before is set, or look is NULL: the job has ended.
 *
 * @param look  of that job; the viewer's from now on
 */
void viewer_init_brief(struct viewer *viewer, const struct bcs_look_found *found,
                       struct bcs_look *look);

/** End. */
void viewer_fini(struct viewer *viewer);

/**
 * Do what is due: look for jobs, look at one, glance at its ranks.
 *
 * @param next_ns_out  when something is due again
 * @return whether there is something new to show
 */
bool viewer_step(struct viewer *viewer, uint64_t *next_ns_out);

/** Go to another job, so many further. */
void viewer_turn(struct viewer *viewer, int steps);

/** Make the rows anew, after order or groups have changed. */
void viewer_arrange(struct viewer *viewer);

/** Pause, or go on. */
void viewer_pause(struct viewer *viewer);

/** What is to be shown; of a viewer that has rows. */
struct picture viewer_picture(const struct viewer *viewer);

/** The place where a row's first rank waits, in words; NULL: not known. Stays the
 *  viewer's. */
const char *viewer_place(struct viewer *viewer, const struct row *row);

#endif

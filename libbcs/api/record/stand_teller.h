/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is kept for telling where waits stand. Internal to stand_tell.c and
 * stand_process.c.
 */
#ifndef LIBBCS_API_RECORD_STAND_TELLER_H
#define LIBBCS_API_RECORD_STAND_TELLER_H

#include "libbcs/api/context/context.h"

/** What is known of the looks of a process that polls, on bcs_clock_now_ns. */
struct bcs_stand_polls {
    uint64_t since_ns, last_ns; /* of the looks that follow each other */
    uint64_t told_ns;           /* 0: nothing is told */
};

/** What is kept for telling. The records are of bcs_stand_words words. */
struct bcs_stand_teller {
    struct bcs_clock_moment began; /* for the rate of ticks */
    uint64_t stand_ticks;          /* STAND_NS */
    struct bcs_stands *stands;     /* of this port; NULL: not looked up yet */
    uint32_t used;                 /* bits: slots of threads that wait */
    uint64_t asked;                /* the last question, */
    bool is_asked;                 /* which is being answered */
    uint32_t page;                 /* of what is told now */
    struct bcs_stand_polls polls;
    bool knows_tasks;
    struct bcs_tasks tasks; /* that are not the program's, if it knows them */
    uint64_t answered[BCS_STAND_THREADS];
    struct bcs_stand *draft;                   /* what is told now, */
    struct bcs_stand *told[BCS_STAND_THREADS]; /* and what stands in each slot */
};

/** Where the own port stands. */
static inline struct bcs_stands *bcs_stand_own(const struct bcs_context *context)
{
    struct bcs_stand_teller *teller = context->teller;

    if (teller->stands == NULL) {
        teller->stands = nic_engine_stands(context->engine, context->port);
    }
    return teller->stands;
}

/** What goes on by itself in this process, whoever waits: into the draft, which has
 *  nothing of it yet. */
void bcs_stand_tell_process(struct bcs_context *context);

#endif

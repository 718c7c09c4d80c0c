/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a simulated job have under way, and what must come of it.
 *
 * Every message gets a receive and every receive a message, since each kind of receive
 * has tags or a context of its own. Which one it gets is free only where a source is
 * not named. What must hold: the receive fits; the data are whole; and of two messages
 * from one process to another that both fit a receive, the earlier one goes to the
 * earlier receive.
 */
#ifndef TESTS_SIM_MODEL_H
#define TESTS_SIM_MODEL_H

#include "tests/sim/plan.h"
#include "tests/sim/world.h"

/** One end of a unit. */
struct sim_end {
    bool is_posted, is_done;
    uint64_t position; /* in the order of all posts */
    struct bcs_request request;
    uint8_t *data;
    uint32_t cell; /* of a collective */
};

/** What is under way. */
struct sim_model {
    const struct sim_script *script;
    struct sim_world world;
    struct bcs_group any_tag[JOB_MAX_RANKS], any[JOB_MAX_RANKS]; /* of each rank */
    struct bcs_group counted[JOB_MAX_RANKS]; /* its collectives are the engine's */
    struct sim_plan plan;
    uint32_t next_action[JOB_MAX_RANKS];
    struct sim_end sends[SIM_MAX_UNITS], receives[SIM_MAX_UNITS];
    struct sim_end members[SIM_MAX_UNITS][JOB_MAX_RANKS];
    uint32_t got[SIM_MAX_UNITS]; /* by receive: the unit of the message */
    bool is_joining[JOB_MAX_RANKS];
    uint32_t n_left; /* ends that are not done */
    uint64_t n_posts;
    uint64_t n_moves; /* things that ranks have done */
    uint64_t state;   /* of the random numbers */
    char problem[200];
};

/** Begin, with a job of the script's shape. End with sim_model_end. */
void sim_model_begin(struct sim_model *model, const struct sim_script *script);

/** Free the job and the data. */
void sim_model_end(struct sim_model *model);

/** The earliest problem is kept. */
void sim_model_fail(struct sim_model *model, const char *what, uint32_t unit);

/** A rank's next action; NULL: it has done all. */
const struct sim_action *sim_model_next(const struct sim_model *model, uint32_t rank);

/** The end of a unit that an action of a rank is about. */
struct sim_end *sim_model_end_of(struct sim_model *model, uint32_t rank,
                                 const struct sim_action *action);

/** A rank takes its next action, which the caller carries out. */
void sim_model_take(struct sim_model *model, uint32_t rank);

/** An end is over. */
void sim_model_done(struct sim_model *model, struct sim_end *end, const char *what,
                    uint32_t rank, uint32_t unit);

/** Begin to send a unit's message, or send it, and wait until that is done. */
void sim_model_send(struct sim_model *model, uint32_t id, bool waits);

/** Begin to receive it, or receive it. */
void sim_model_receive(struct sim_model *model, uint32_t id, bool waits);

/** Whether it can be taken back now: a send not while somebody is at work at a desk
 *  that it may be at. */
bool sim_model_may_take_back(const struct sim_model *model, uint32_t id);

/** Ask for its receive to be taken back; or take its send back, and send it again. */
void sim_model_take_back(struct sim_model *model, uint32_t id);

/** Make a rank's group of all for the collectives that the engine counts, as it does
 *  those of more members than look at each other's lines. */
void sim_model_open_counted(struct sim_model *model, uint32_t rank);

/** A rank's part of a collective, as the engine counts it: begin it. */
void sim_model_join(struct sim_model *model, uint32_t rank, uint32_t id);

/** Whether such a part has been carried out; what came of it is checked. */
bool sim_model_has_left(struct sim_model *model, uint32_t rank, uint32_t id);

/** A rank's part of a collective from its beginning to its end, as an MPI call does
 *  it. */
void sim_model_meet(struct sim_model *model, uint32_t rank, uint32_t id);

/** The request of a send is done. */
void sim_model_sent(struct sim_model *model, uint32_t id);

/** The request of a receive is done. @return whether it is over; else it has been
 *  posted again */
bool sim_model_received(struct sim_model *model, uint32_t id);

/** At the end: nobody was overtaken. (Empty messages cannot be told apart.) */
void sim_model_check_order(struct sim_model *model);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a wait tells others where it stands (libbcs/fabric/ring/stand.h). A loop that
 * waits asks bcs_wait_turn; if that says so, which it does after about a millisecond,
 * and then now and then, the loop tells what it waits for:
 *
 *     while (!is_over()) {
 *         if (bcs_wait_turn(context, &waiter)) {
 *             bcs_stand_at_message(context, &waiter, BCS_STAND_RECEIVE, message, cell);
 *         }
 *     }
 *     bcs_wait_stop(context, &waiter);
 *
 * bcs_wait_stop takes it back. So waits that are over before cost nothing but a
 * comparison at their end, and those that are told are longer than what telling takes.
 * What was told is told anew if it has changed, after each wake-up and every some
 * thousand looks. A rank that sleeps is woken without a reason by who wants to know
 * (apps/tools/look): it then tells.
 *
 * Used by the thread that waits, which has the context.
 */
#ifndef LIBBCS_API_RECORD_STAND_TELL_H
#define LIBBCS_API_RECORD_STAND_TELL_H

#include "libbcs/api/context/group.h"
#include "libbcs/fabric/base/waiter.h"
#include "libbcs/fabric/ring/stand.h"

/** What members of a collective must agree on. */
struct bcs_stand_agreed {
    int32_t root; /* -1: none */
    int kernel;   /* of a reduction; -1: none */
};

/** One operation that a wait is about. */
struct bcs_stand_about {
    enum bcs_stand_kind kind;
    const struct bcs_group *group; /* NULL: none */
    int32_t peer;                  /* in the group; negative: any of it */
    int32_t tag;                   /* negative: any */
    uint64_t n_bytes;
    const struct bcs_request *request; /* NULL: it has none */
    const uint32_t *cell;   /* without a request: its cell; NULL: it has none */
    const char *collective; /* of a collective: what it is, in words */
    uint64_t number;        /* and the how manyth; 0: unknown */
    /* what all its members must say alike; NULL: nothing, or unknown */
    const struct bcs_stand_agreed *agreed;
    uint8_t
        space; /* of its messages, added to the group's context id; bcs_message_space */
    /* Of a collective that needs all: who has come already; NULL: that is not known. */
    bool (*has_come)(const void *arg, int32_t member);
    const void *arg;
};

/** Begin to tell: nothing so far. @param needs_all  the wait ends when all are over */
void bcs_stand_begin(struct bcs_context *context, bool needs_all);

/** The wait is also about this. One that is not pending, by its request, is left
 *  out. */
void bcs_stand_add(struct bcs_context *context, const struct bcs_stand_about *about);

/** The same of a request of which only its owner knows what it is; see struct
 *  bcs_hooks. */
void bcs_stand_add_request(struct bcs_context *context,
                           const struct bcs_request *request);

/** The wait is also about a message of a collective, whose group `about` has; the rest
 *  is in its tag. */
void bcs_stand_add_step(struct bcs_context *context,
                        const struct bcs_stand_about *about,
                        const struct bcs_stand_operation *step);

/** Publish what was told since bcs_stand_begin, unless it is what was published
 *  before. */
void bcs_stand_publish(struct bcs_context *context, struct bcs_waiter *waiter);

/** All three, for one operation. */
void bcs_stand_at(struct bcs_context *context, struct bcs_waiter *waiter,
                  const struct bcs_stand_about *about);

/** For a message that is sent, received or probed for, as far as its completion cell is
 *  known. */
void bcs_stand_at_message(struct bcs_context *context, struct bcs_waiter *waiter,
                          enum bcs_stand_kind kind, const struct bcs_message *message,
                          uint32_t cell);

/** For all of these requests. */
void bcs_stand_at_requests(struct bcs_context *context, struct bcs_waiter *waiter,
                           const struct bcs_request requests[], size_t n_requests);

/** For something of the library's own, that a verdict must not count on. */
void bcs_stand_at_other(struct bcs_context *context, struct bcs_waiter *waiter);

/** For a call that is about to fail: where it stands. It waits for nobody.
 *  @param group  that it is on; or NULL @param name  what the program calls that; NULL:
 *  as the hook says, or nothing */
void bcs_stand_here(struct bcs_context *context, struct bcs_waiter *waiter,
                    const struct bcs_group *group, const char *name);

/** The wait is over; it has published something. */
void bcs_stand_withdraw(struct bcs_context *context, struct bcs_waiter *waiter);

/** A collective under way is about to post something while threads of this process may
 *  wait: what they have told may be no longer so. */
void bcs_stand_go_on(struct bcs_context *context);

/** Whether this thread has told of a wait. */
bool bcs_stand_is_told(const struct bcs_context *context);

/** The waits of this thread have been left without an end: take back what they have
 *  told. */
void bcs_stand_abandon(struct bcs_context *context);

/** Whether a wait should tell now. Called now and then, before it sleeps each time. */
bool bcs_stand_is_due(const struct bcs_context *context, struct bcs_waiter *waiter);

/** Make what a context needs for it. @return 0 or -ENOMEM, logged */
int bcs_stand_init(struct bcs_context *context);

/** Tell from now on whether other threads of the program could act. @param tasks those
 *  that are not the program's */
void bcs_stand_set_tasks(struct bcs_context *context, const struct bcs_tasks *tasks);

/** Give it back. Accepts a context that has none. */
void bcs_stand_fini(struct bcs_context *context);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper thread: it looks at the ends that are given to it, and runs their
 * handlers. It is made for the first of them and ends with the last. run and what it
 * calls is the thread itself, the rest belongs to the threads of the program.
 *
 * An end that is given away is moved: the thread has a copy, which the handlers get,
 * and what the program holds is an end that never has anything, so that a program that
 * uses it all the same breaks nothing. The sender has no part in this: it finds in the
 * word of sleepers that somebody sleeps, and only then looks which bell that is.
 *
 * Once the process exits no handler begins: the exit says so, and then waits if the
 * thread runs; who makes it has said before that it does, and it looks before each
 * handler. Of these four operations, which have one order, either the exit finds that
 * it runs, or it finds the exit.
 *
 * It waits as everything in the library does, at a bell of its own, so that what comes
 * for the program's threads does not wake it. No wake-up is lost, by the argument of
 * <bcs/channel_ring.h>: between its saying so in each end, with one barrier for all,
 * and its sleep it looks at all of them once more. Who gives it an end, or stops it,
 * says so first and rings afterwards: either the look finds it, or the bell has rung
 * since the announcement.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "libbcs/channel/channel_record.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/barrier.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/system.h"
#include "libbcs/fabric/base/thread_start.h"

enum { SLEEPS_A_DOUBT = 64, UNREAD_NS = 1000000, EXIT_NS = 1000000000 };

/** An end that was given to the thread. */
struct channel_helped {
    struct channel_in in; /* first: what the handler gets is its inlined */
    struct channel_in *given;
    struct channel_helped *next;
    bool is_over; /* its writer has closed it, or died; that was told */
};

/** A wait of the thread; zero it to start. */
struct helper_wait {
    struct bcs_bell_wait bell;
    uint32_t n_sleeps;
};

/** What a look has found. */
enum found {
    FOUND_NOTHING,
    FOUND_UNREAD, /* handlers were called, and have received nothing */
    FOUND_RECORDS,
    FOUND_END, /* the thread ends */
};

/* What the program's end looks at meanwhile: a block without a mark. */
_Alignas(64) static const uint8_t no_records[128];

void channel_helper_init(struct channel_helper *helper)
{
    pthread_mutex_init(&helper->life, NULL);
    pthread_mutex_init(&helper->lock, NULL);
    pthread_cond_init(&helper->turn, NULL);
}

void channel_helper_fini(struct channel_helper *helper)
{
    pthread_cond_destroy(&helper->turn);
    pthread_mutex_destroy(&helper->lock);
    pthread_mutex_destroy(&helper->life);
}

/* ------------------------------------------------------------------ the thread */

/** The thread has come to its end, or was not made: tell who waits for that. */
static void tell_end(struct channel_helper *helper)
{
    /* Pairs with the loads of await_end and has_ended. */
    __atomic_store_n(&helper->runs, 0, __ATOMIC_RELEASE);
    bcs_word_wake(&helper->runs);
}

/** Call the handler of an end, if it is due. */
static enum found look_at(struct channel_helped *helped)
{
    const struct bcs_channel_in *inlined = &helped->in.inlined;
    const uint8_t *block;
    uint64_t lap, n_read;

    if (!channel_in_is_due(&helped->in)) {
        return FOUND_NOTHING;
    }
    block = inlined->block;
    lap = inlined->lap;
    n_read = inlined->n_read;
    channels_record_handler(&helped->in);
    return block == inlined->block && lap == inlined->lap && n_read == inlined->n_read
               ? FOUND_UNREAD
               : FOUND_RECORDS;
}

/** Take the lock, behind who has asked for it. */
static void lock_politely(struct channel_helper *helper)
{
    pthread_mutex_lock(&helper->lock);
    /* Pairs with the stores of lock_first and unlock_first. */
    while (__atomic_load_n(&helper->is_asked, __ATOMIC_ACQUIRE) != 0) {
        pthread_cond_wait(&helper->turn, &helper->lock);
    }
}

/** Whether the thread is to run no handler any more. */
static bool must_end(struct channel_helper *helper)
{
    /* Pair with the stores of tell_stop, and of channel_helper_end_at_exit. */
    return __atomic_load_n(&helper->is_stopping, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&helper->is_exiting, __ATOMIC_SEQ_CST);
}

/** Look at all ends once. @return the most of what was found */
static enum found look_at_all(struct channel_helper *helper)
{
    enum found most = FOUND_NOTHING;

    lock_politely(helper);
    for (struct channel_helped *helped = helper->helped;
         helped != NULL && !must_end(helper); helped = helped->next) {
        enum found found = look_at(helped);

        most = found > most ? found : most;
    }
    pthread_mutex_unlock(&helper->lock);
    return must_end(helper) ? FOUND_END : most;
}

/** Say of all ends whether the thread sleeps, or will. */
static void tell_sleep(struct channel_helper *helper, enum channel_sleeper sleeps)
{
    lock_politely(helper);
    for (struct channel_helped *helped = helper->helped; helped != NULL;
         helped = helped->next) {
        /* Pairs with the load of bcs_channel_publish, by the barrier that follows where
         * it is not 0. */
        __atomic_store_n(helped->in.end.sleeper, (uint32_t)sleeps, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&helper->lock);
}

/** Look whether writers have died, which is told once. */
static void look_at_writers(struct channel_helper *helper)
{
    lock_politely(helper);
    for (struct channel_helped *helped = helper->helped; helped != NULL;
         helped = helped->next) {
        helped->is_over =
            helped->is_over || channel_door_look(&helped->in.end, true) != 0;
    }
    pthread_mutex_unlock(&helper->lock);
}

/** Sleep until the bell rings; or a moment, if a handler has left something unread, as
 *  nobody may ring for what it waits for. @return 0 or -errno */
static int go_to_sleep(struct channel_helper *helper, struct helper_wait *wait,
                       bool is_unread)
{
    int rc = 1;

    if (is_unread) {
        bcs_word_sleep(&helper->is_asked, 0, bcs_clock_now_ns() + UNREAD_NS);
        wait->bell.spell.is_announced = false;
    } else {
        rc = bcs_bell_sleep(&helper->bell, &wait->bell);
    }
    tell_sleep(helper, CHANNEL_AWAKE);
    if (rc == 0 || ++wait->n_sleeps % SLEEPS_A_DOUBT == 0) {
        look_at_writers(helper);
    }
    return rc < 0 ? rc : 0;
}

/** A look has led to nothing. @return 0: look again; or -errno */
static int wait_step(struct channel_helper *helper, struct helper_wait *wait,
                     enum found found)
{
    switch (bcs_bell_step(&helper->bell, &wait->bell)) {
    case BCS_WAIT_SLEEP:
        return go_to_sleep(helper, wait, found == FOUND_UNREAD);
    case BCS_WAIT_ANNOUNCE:
        tell_sleep(helper, CHANNEL_HELPER_SLEEPS);
        bcs_barrier_all();
        return 0;
    case BCS_WAIT_YIELD:
        bcs_yield();
        return 0;
    default:
        return 0;
    }
}

/** Make the thread the owner of all ends, as one that has ended by an error leaves them
 *  to the next. */
static void take_over(struct channel_helper *helper)
{
    lock_politely(helper);
    for (struct channel_helped *helped = helper->helped; helped != NULL;
         helped = helped->next) {
        helped->in.end.owner = pthread_self();
    }
    pthread_mutex_unlock(&helper->lock);
}

static void *run(void *arg)
{
    struct channel_helper *helper = arg;
    struct helper_wait wait = {0};
    enum found found;
    int rc = 0;

    /* Both pair with the loads of channel_helper_is_self. */
    __atomic_store_n(&helper->thread, pthread_self(), __ATOMIC_RELAXED);
    __atomic_store_n(&helper->is_thread, true, __ATOMIC_RELEASE);
    take_over(helper);
    while (rc == 0 && (found = look_at_all(helper)) != FOUND_END) {
        if (found != FOUND_RECORDS) {
            rc = wait_step(helper, &wait, found);
            continue;
        }
        if (wait.bell.spell.is_announced) {
            tell_sleep(helper, CHANNEL_AWAKE);
        }
        wait = (struct helper_wait){.n_sleeps = wait.n_sleeps};
    }
    tell_sleep(helper, CHANNEL_AWAKE);
    if (rc < 0) {
        bcs_error("the helper thread of channels ends, as it cannot sleep any more; "
                  "handlers are not run");
    }
    /* As at the beginning. */
    __atomic_store_n(&helper->is_thread, false, __ATOMIC_RELEASE);
    tell_end(helper);
    return NULL;
}

/* ------------------------------------------------------------------ the program's
 * threads */

/** Take the lock before the thread takes it again. Under `life`. */
static void lock_first(struct channel_helper *helper)
{
    /* Pairs with the load of lock_politely. */
    __atomic_store_n(&helper->is_asked, 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&helper->lock);
}

static void unlock_first(struct channel_helper *helper)
{
    /* As in lock_first. */
    __atomic_store_n(&helper->is_asked, 0, __ATOMIC_RELEASE);
    pthread_cond_signal(&helper->turn);
    pthread_mutex_unlock(&helper->lock);
}

/** Wake the thread, if it sleeps. */
static void ring(struct channel_helper *helper)
{
    /* The event is in the own heap, and was checked when its heap was laid out. */
    (void)bcs_signal_event(helper->bell.core, helper->bell.gva);
}

/** Be rid of the thread, which ends. Under `life`. */
static void join(struct channel_helper *helper)
{
    if (helper->is_running) {
        pthread_join(helper->id, NULL);
        helper->is_running = false;
    }
}

/** Whether there is no thread any more, though nobody has told it to stop. Under
 *  `life`. */
static bool has_ended(struct channel_helper *helper)
{
    /* Pairs with the store of tell_end. */
    return __atomic_load_n(&helper->runs, __ATOMIC_ACQUIRE) == 0;
}

/** Make the thread, unless there is one; in the place of one that has ended by an
 *  error, too. Under `life`. It may run where its maker may. */
static int start(struct channel_helper *helper)
{
    int rc;

    if (helper->is_running && !has_ended(helper)) {
        return 0;
    }
    join(helper);
    /* Pairs with the load of must_end. */
    __atomic_store_n(&helper->is_stopping, false, __ATOMIC_RELAXED);
    /* Pairs with the loads of await_end and has_ended; must_end follows in the
     * thread. */
    __atomic_store_n(&helper->runs, 1, __ATOMIC_SEQ_CST);
    rc = bcs_thread_start(&helper->id, "bcs-channels", run, helper);
    if (rc < 0) {
        tell_end(helper);
        bcs_error("bcs_channel_set_helper: the system makes no thread: error %d", -rc);
        return rc;
    }
    helper->is_running = true;
    return 0;
}

/** Tell the thread to end. Under `life`. */
static void tell_stop(struct channel_helper *helper)
{
    /* Pairs with the load of must_end. */
    __atomic_store_n(&helper->is_stopping, true, __ATOMIC_RELEASE);
    ring(helper);
}

/** Leave an end without anything to receive. */
static void make_empty(struct bcs_channel_in *in)
{
    in->block = no_records;
    in->first = no_records;
    in->end = no_records + in->block_bytes;
    in->n_read = 0;
    in->n_seen = 0;
    in->mark = 0;
}

/** Move an end to the thread, which runs. Under `life`. */
static void move_to_thread(struct channel_helper *helper, struct channel_in *in,
                           struct channel_helped *helped)
{
    helped->in = *in;
    helped->in.end.owner = helper->id;
    helped->in.helped = NULL;
    helped->given = in;
    in->helped = helped;
    in->when = BCS_CHANNEL_NEVER;
    make_empty(&in->inlined);
    lock_first(helper);
    helped->next = helper->helped;
    helper->helped = helped;
    unlock_first(helper);
    ring(helper);
}

int channel_helper_give(struct channel_in *in, enum bcs_channel_when when,
                        bcs_channel_handler_fn handler, void *arg)
{
    struct channel_helper *helper = &in->end.channels->helper;
    struct channel_helped *helped = calloc(1, sizeof(*helped));
    int rc;

    if (helped == NULL) {
        bcs_error("bcs_channel_set_helper: out of memory");
        return -ENOMEM;
    }
    pthread_mutex_lock(&helper->life);
    rc = start(helper);
    if (rc == 0) {
        in->when = when;
        in->handler = handler;
        in->handler_arg = arg;
        move_to_thread(helper, in, helped);
    } else {
        free(helped);
    }
    pthread_mutex_unlock(&helper->life);
    return rc;
}

/** Take an end out of the thread's list. Under `life`. @return whether it was the
 *  last */
static bool take_out(struct channel_helper *helper, struct channel_helped *helped)
{
    struct channel_helped **at = &helper->helped;
    bool is_last;

    lock_first(helper);
    while (*at != helped) {
        at = &(*at)->next;
    }
    *at = helped->next;
    is_last = helper->helped == NULL;
    /* As in tell_sleep. */
    __atomic_store_n(helped->in.end.sleeper, CHANNEL_AWAKE, __ATOMIC_RELAXED);
    unlock_first(helper);
    return is_last;
}

int channel_helper_take_back(struct channel_in *in)
{
    struct channel_helper *helper = &in->end.channels->helper;
    struct channel_helped *helped = in->helped;

    if (helped == NULL) {
        return 0;
    }
    if (bcs_forked_is_child()) {
        bcs_forked_tell("a channel whose handler runs in the helper thread");
        return -EPERM;
    }
    pthread_mutex_lock(&helper->life);
    if (take_out(helper, helped)) {
        tell_stop(helper);
        join(helper);
    }
    pthread_mutex_unlock(&helper->life);
    in->inlined = helped->in.inlined;
    in->helped = NULL;
    free(helped);
    return 0;
}

/** Wait until the thread has come to its end, but not for ever: a handler may never
 *  return.
 *  @return whether it has */
static bool await_end(struct channel_helper *helper)
{
    uint64_t until_ns = bcs_clock_now_ns() + EXIT_NS;
    bool is_late = false;

    /* Pairs with the stores of start and run. */
    while (__atomic_load_n(&helper->runs, __ATOMIC_SEQ_CST) != 0 && !is_late) {
        is_late = bcs_word_sleep(&helper->runs, 1, until_ns);
    }
    return !is_late;
}

void channel_helper_end_at_exit(struct channel_helper *helper)
{
    if (channel_helper_is_self(helper) || bcs_forked_is_child()) {
        return;
    }
    /* Pairs with the load of must_end. Without a lock, which another thread may
     * keep. */
    __atomic_store_n(&helper->is_exiting, true, __ATOMIC_SEQ_CST);
    ring(helper);
    /* Who has `life` is making the thread or ends it, and joins it then. */
    if (await_end(helper) && pthread_mutex_trylock(&helper->life) == 0) {
        join(helper);
        pthread_mutex_unlock(&helper->life);
    }
}

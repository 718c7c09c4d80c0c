/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who sleeps until a word of a region changes, and waking him.
 *
 * Who goes to sleep writes into his own heap what he waits for, marks himself at each
 * region where that is, counts himself in its state, and then has a barrier for all
 * processes (membarrier), a last look and his sleep. Who changes a word stores it, and
 * then loads the state. Either that load comes after the barrier and finds the sleeper,
 * with all that he has written before; or the store came before the barrier, and the
 * last look finds it. That the two stay in this order in the changer's program is for
 * bcs_remote_after_change.
 *
 * What a sleeper waits for may be read while he writes it anew; then the reader's
 * change is older than the barrier, and what he makes of it does not matter: to ring a
 * bell too often costs a look. A bell is rung once for each sleep: by whom takes the
 * sleeper from asleep to rung. If he dies before he rings, the sleeper finds that out
 * when his sleep ends by itself.
 *
 * A sleeper that is killed stays counted: those who change words of that region then
 * call a function each time, and nothing else.
 */
#include "libbcs/channel/channel_state.h"

/** Say that one sleeps at a region. */
static void say_there(struct bcs_remote_state *inside)
{
    uint32_t me = inside->channels->rank;

    if (!inside->is_watched) {
        inside->is_watched = true;
        /* Both pair with the loads of remote_wake and bcs_remote_after_change. */
        __atomic_fetch_or(&inside->head->sleepers[me / 64], UINT64_C(1) << (me % 64),
                          __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&inside->head->state, 1, __ATOMIC_SEQ_CST);
    }
}

/** What the process waits for, if that is one word: that of the goal, or of its one
 *  fetch. */
static struct remote_goal find_word(const struct remote_goal *goal)
{
    const struct bcs_remote_fetch *fetch = goal->channels->remotes.fetches;

    if (fetch != NULL && fetch->next == NULL && goal->remote == NULL) {
        return (struct remote_goal){
            .remote = fetch->remote,
            .offset = fetch->word,
            .at_least = fetch->at_least,
        };
    }
    return fetch == NULL ? *goal : (struct remote_goal){0};
}

void remote_say_sleep(const struct remote_goal *goal)
{
    struct remote_sleeper *sleeper = goal->channels->remotes.sleeper;
    const struct remote_goal word = find_word(goal);
    /* At another machine the owner's service looks. */
    const struct bcs_remote *remote =
        word.remote != NULL && word.remote->inside->is_far ? NULL : word.remote;

    /* All pair with the loads of is_satisfied. */
    __atomic_store_n(&sleeper->gva,
                     remote == NULL ? 0 : remote->inside->gva + word.offset,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&sleeper->at_least, word.at_least, __ATOMIC_RELAXED);
    __atomic_store_n(&sleeper->owner, remote == NULL ? 0 : remote->rank,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&sleeper->state, REMOTE_ASLEEP, __ATOMIC_SEQ_CST);
    if (goal->remote != NULL && !goal->remote->inside->is_far) {
        say_there(goal->remote->inside);
    }
    for (const struct bcs_remote_fetch *fetch = goal->channels->remotes.fetches;
         fetch != NULL; fetch = fetch->next) {
        say_there(fetch->remote->inside);
    }
}

void remote_say_awake(struct channels *channels)
{
    uint32_t me = channels->rank;

    /* Pairs with the exchange of remote_wake. */
    __atomic_store_n(&channels->remotes.sleeper->state, REMOTE_AWAKE, __ATOMIC_RELAXED);
    for (struct bcs_remote_state *inside = channels->remotes.open; inside != NULL;
         inside = inside->next) {
        if (inside->is_watched) {
            inside->is_watched = false;
            /* As in say_there; nothing follows from these. */
            __atomic_fetch_sub(&inside->head->state, 1, __ATOMIC_RELAXED);
            __atomic_fetch_and(&inside->head->sleepers[me / 64],
                               ~(UINT64_C(1) << (me % 64)), __ATOMIC_RELAXED);
        }
    }
}

/** Whether what a sleeper waits for may be there. @param rank owner of the changed
 *  region */
static bool is_satisfied(struct channels *channels,
                         const struct remote_sleeper *sleeper, uint32_t rank)
{
    /* All pair with the stores of remote_say_sleep. */
    uint64_t gva = __atomic_load_n(&sleeper->gva, __ATOMIC_RELAXED);
    uint64_t at_least = __atomic_load_n(&sleeper->at_least, __ATOMIC_RELAXED);
    const uint64_t *word;

    if (gva == 0) {
        return true; /* it waits for several things */
    }
    if (__atomic_load_n(&sleeper->owner, __ATOMIC_RELAXED) != rank ||
        gva % sizeof(*word) != 0 || gva > channels->layout.heap_bytes - sizeof(*word)) {
        return false;
    }
    word = remote_place(channels, rank, gva);
    /* This thread's own change, at least, or a later one. */
    return __atomic_load_n(word, __ATOMIC_RELAXED) >= at_least;
}

/** Wake one who sleeps at a region, if he is to be woken. */
static void wake_one(struct channels *channels, uint32_t sleeper_rank, uint32_t rank,
                     bool is_closed)
{
    struct remote_sleeper *sleeper =
        remote_place(channels, sleeper_rank, channels->layout.sleeper_gva);
    struct bcs_node_set one = bcs_node_set_one(sleeper_rank);
    uint32_t asleep = REMOTE_ASLEEP;

    /* Pairs with the store of remote_say_sleep. */
    if (__atomic_load_n(&sleeper->state, __ATOMIC_ACQUIRE) != REMOTE_ASLEEP ||
        (!is_closed && !is_satisfied(channels, sleeper, rank))) {
        return;
    }
    /* Pairs with the stores of remote_say_sleep and remote_say_awake. */
    if (__atomic_compare_exchange_n(&sleeper->state, &asleep, REMOTE_RUNG, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        /* An error of the primitives has been logged, and meets the sleeper, too. */
        (void)remote_transfer(channels,
                              &(struct bcs_xfer){
                                  .dests = &one,
                                  .remote_event_gva = channels->layout.bell_gva,
                              });
    }
}

/** Ring for the service of a region's owner, if processes of other machines wait at the
 *  region. */
static void wake_service(struct channels *channels, const struct bcs_remote *remote)
{
    struct bcs_node_set owner = bcs_node_set_one(remote->rank);

    /* Pairs with the addition of begin_wait in far_service.c. */
    if (__atomic_load_n(&remote->inside->head->n_far, __ATOMIC_SEQ_CST) != 0) {
        (void)remote_transfer(channels,
                              &(struct bcs_xfer){
                                  .dests = &owner,
                                  .remote_event_gva = channels->layout.service_bell_gva,
                              });
    }
}

void remote_wake(const struct bcs_remote *remote, bool is_closed)
{
    struct channels *channels = remote->inside->channels;

    wake_service(channels, remote);

    for (uint32_t i = 0; i < channels->size; i += 64) {
        /* Pairs with the addition of say_there. */
        uint64_t marks =
            __atomic_load_n(&remote->inside->head->sleepers[i / 64], __ATOMIC_SEQ_CST);

        while (marks != 0) {
            uint32_t rank = i + (uint32_t)__builtin_ctzll(marks);

            wake_one(channels, rank, remote->rank, is_closed);
            marks &= marks - 1;
        }
    }
}

int bcs_remote_changed(const struct bcs_remote *remote)
{
    bool is_closed = remote_is_closed(remote);

    remote_wake(remote, is_closed);
    return is_closed ? BCS_E_CLOSED : 0;
}

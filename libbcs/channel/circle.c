/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding threads that wait at channels for each other, in a circle, for ever.
 *
 * Only the thread that has opened an end uses it (<bcs/channel.h>). So a wait at a
 * channel is ended by one thread alone: the one that has opened the other end. Who has
 * slept in vain writes a record into its own heap: at which end it waits, and which
 * thread it is; the sequence of the record is odd as long as the wait lasts. From then
 * on, after each sleep in vain, it
 *
 * 1. reads the sequence q of its peer's record,
 * 2. looks at its channel once more, and if nothing is there, writes q into its record
 * as `seen`.
 *
 * The proof. Follow the records from a rank to the rank that it waits for, until the
 * circle is closed. Say that each sequence is odd, that each `seen` is the sequence of
 * the next record, that the thread of each record has opened the end that the one
 * before waits for, and that all sequences are the same when they are read again.
 * Between the two readings there is a moment at which all these threads were in these
 * waits: a sequence only grows, and a wait changes it before it ends. Take any of them.
 * It has looked after its peer's wait began, as it had read that wait's sequence
 * before, and has found nothing. What its peer did before that wait was seen by this
 * look (release of the sequence, acquire in step 1), and in a wait a thread neither
 * sends nor frees nor closes. So nothing is there for any of them at that moment, and
 * none can be the first to go on.
 *
 * What it does not see it does not judge: a rank of another machine; a process with a
 * helper thread, which may receive and send by itself; one that catches signals, whose
 * handlers may; an end whose other end is not open, as any thread may open it; a second
 * thread of a process that waits; and a rank that waits for something else, as in MPI,
 * or computes.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/report/deadlock_report.h"

#define HEADLINE                                                                       \
    "deadlock: at channels, each waits for the next one, and the last one for the "    \
    "first, and nobody else can help"
enum { LINE_BYTES = 160 };

static struct channel_stand *stand_of(const struct channels *channels, uint32_t rank)
{
    return remote_place(channels, rank, channels->layout.stand_gva);
}

static uint64_t sequence_of(const struct channel_stand *stand)
{
    /* Pairs with the store of set_sequence: what was sent before the wait is there. */
    return __atomic_load_n(&stand->sequence, __ATOMIC_ACQUIRE);
}

static void set_sequence(struct channel_stand *stand, uint64_t sequence)
{
    __atomic_store_n(&stand->sequence, sequence, __ATOMIC_RELEASE);
}

/** Whether the process catches a signal, but for those that tell it of its own
 *  faults. */
static bool catches_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                 SIGTRAP, SIGABRT, SIGSYS};
    struct sigaction action;

    for (int number = 1; number < NSIG; number++) {
        bool is_fault = false;

        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
            is_fault |= number == faults[i];
        }
        if (!is_fault && sigaction(number, NULL, &action) == 0 &&
            action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
            return true;
        }
    }
    return false;
}

/** Whether somebody else may do what the thread that waits would. */
static bool has_others(const struct channels *channels)
{
    /* Pairs with the stores of helper.c: an end of this thread was given away by it. */
    return __atomic_load_n(&channels->helper.runs, __ATOMIC_ACQUIRE) != 0 ||
           catches_signals();
}

/** Write the record, unless it is another thread's. @return whether it is written */
static bool tell(const struct channel_end *end)
{
    struct channels *channels = end->channels;
    struct channel_stand *stand = stand_of(channels, channels->rank);

    if (has_others(channels) ||
        __atomic_exchange_n(&channels->is_told, true, __ATOMIC_ACQUIRE)) {
        return false;
    }
    /* relaxed: the sequence says whether they belong together */
    __atomic_store_n(&stand->thread, (uint64_t)gettid(), __ATOMIC_RELAXED);
    __atomic_store_n(&stand->peer, (uint32_t)end->params.peer, __ATOMIC_RELAXED);
    __atomic_store_n(&stand->side, (uint32_t)end->side, __ATOMIC_RELAXED);
    __atomic_store_n(&stand->number, end->params.number, __ATOMIC_RELAXED);
    __atomic_store_n(&stand->opened, end->opened, __ATOMIC_RELAXED);
    __atomic_store_n(&stand->seen, 0, __ATOMIC_RELAXED);
    set_sequence(stand, stand->sequence + 1);
    return true;
}

void channel_circle_leave(struct channel_end *end)
{
    struct channels *channels = end->channels;
    struct channel_stand *stand = stand_of(channels, channels->rank);

    set_sequence(stand, stand->sequence + 1);
    /* First that: who sees what follows the wait sees that it has ended. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&channels->is_told, false, __ATOMIC_RELEASE);
}

/** Copy a rank's record. @return whether it waits */
static bool read_stand(const struct channels *channels, uint32_t rank,
                       struct channel_stand *stand_out)
{
    const struct channel_stand *stand = stand_of(channels, rank);

    stand_out->sequence = sequence_of(stand);
    /* relaxed: see tell; `seen` pairs with the store of channel_circle_look */
    stand_out->thread = __atomic_load_n(&stand->thread, __ATOMIC_RELAXED);
    stand_out->peer = __atomic_load_n(&stand->peer, __ATOMIC_RELAXED);
    stand_out->side = __atomic_load_n(&stand->side, __ATOMIC_RELAXED);
    stand_out->number = __atomic_load_n(&stand->number, __ATOMIC_RELAXED);
    stand_out->opened = __atomic_load_n(&stand->opened, __ATOMIC_RELAXED);
    stand_out->seen = __atomic_load_n(&stand->seen, __ATOMIC_ACQUIRE);
    return stand_out->sequence % 2 != 0 && stand_out->peer < channels->size &&
           stand_out->number < BCS_CHANNEL_NUMBERS;
}

/** Whether a thread has opened the other end of what a rank waits for. */
static bool has_other_end(const struct channels *channels, uint32_t rank,
                          const struct channel_stand *stand, uint64_t thread)
{
    enum channel_side side = stand->side == CHANNEL_IN ? CHANNEL_OUT : CHANNEL_IN;
    const struct channel_door *door = remote_place(
        channels, rank,
        channel_door_gva(&channels->layout, stand->peer, side, stand->number));

    /* As copy_door of channel_door.c. */
    return __atomic_load_n(&door->opened, __ATOMIC_ACQUIRE) == stand->opened &&
           __atomic_load_n(&door->thread, __ATOMIC_ACQUIRE) == thread &&
           __atomic_load_n(&door->closed, __ATOMIC_ACQUIRE) < stand->opened;
}

/** Go round the circle. @param first_out its smallest rank @return the sum of the
 *  sequences; 0: it is none */
static uint64_t go_round(const struct channels *channels, uint32_t *first_out)
{
    uint32_t rank = channels->rank, n = 0;
    struct channel_stand stand, next;
    uint64_t sum = 0;

    *first_out = rank;
    if (!read_stand(channels, rank, &stand)) {
        return 0;
    }
    do {
        if (n++ == channels->size || !read_stand(channels, stand.peer, &next) ||
            stand.seen != next.sequence ||
            !has_other_end(channels, rank, &stand, next.thread)) {
            return 0;
        }
        sum += stand.sequence;
        rank = stand.peer;
        *first_out = rank < *first_out ? rank : *first_out;
        stand = next;
    } while (rank != channels->rank);
    return sum;
}

/** Print a line of the report, and add it to the whole. @param whole  NULL: there is
 *  none */
static void add_line(FILE *whole, const char *line)
{
    bcs_error("%s", line);
    if (whole != NULL) {
        fprintf(whole, "%s\n", line);
    }
}

/** Print which rank waits for which. @return the text, for free, or NULL */
static char *report(const struct channels *channels)
{
    uint32_t rank = channels->rank;
    char line[LINE_BYTES], *text = NULL;
    struct channel_stand stand;
    size_t n_bytes = 0;
    FILE *whole = open_memstream(&text, &n_bytes);

    add_line(whole, HEADLINE ":");
    do {
        read_stand(channels, rank, &stand);
        snprintf(line, sizeof(line),
                 "  rank %" PRIu32 " waits for %s channel %" PRIu32 " %s rank %" PRIu32,
                 rank, stand.side == CHANNEL_IN ? "a record of" : "room in",
                 stand.number, stand.side == CHANNEL_IN ? "from" : "to", stand.peer);
        add_line(whole, line);
        rank = stand.peer;
    } while (rank != channels->rank);
    return whole != NULL && fclose(whole) == 0 ? text : NULL;
}

/** Print the report, and append the finding. */
static void tell_all(const struct channels *channels, enum nic_referee_mode mode)
{
    char *text = report(channels);

    bcs_finding_tell(&(struct bcs_finding){
        .kind = BCS_FINDING_DEADLOCK,
        .status = mode == NIC_REFEREE_ABORT ? BCS_EXIT_DEADLOCK : 0,
        .message = HEADLINE,
        .text = text,
    });
    free(text);
}

/** It is proved. The smallest rank says so. */
static void judge(struct channels *channels, enum nic_referee_mode mode)
{
    if (channels->has_judged) {
        return;
    }
    channels->has_judged = true;
    tell_all(channels, mode);
    if (mode == NIC_REFEREE_ABORT) {
        bcs_error(
            "the job ends with exit status %d; BCS_REFEREE=report, hold or off leaves "
            "it as it is",
            BCS_EXIT_DEADLOCK);
        bcs_deadlock_exit();
    }
    bcs_error("BCS_REFEREE=%s: the ranks go on waiting",
              mode == NIC_REFEREE_HOLD ? "hold" : "report");
}

bool channel_circle_look(struct channel_end *end, bool is_told,
                         bool (*is_there)(struct channel_end *end))
{
    struct channels *channels = end->channels;
    enum nic_referee_mode mode =
        (enum nic_referee_mode)channels->entry.settings.nic.referee;
    struct channel_stand *own = stand_of(channels, channels->rank);
    uint64_t sequence, sum;
    uint32_t first;

    if (mode == NIC_REFEREE_OFF || end->is_far || (!is_told && !tell(end))) {
        return false;
    }
    sequence = sequence_of(stand_of(channels, (uint32_t)end->params.peer));
    if (sequence % 2 == 0 || is_there(end)) {
        return true;
    }
    __atomic_store_n(&own->seen, sequence, __ATOMIC_RELEASE);
    sum = go_round(channels, &first);
    if (sum != 0 && first == channels->rank) {
        uint32_t again;

        /* The records are read before the sequences are, again. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (go_round(channels, &again) == sum) {
            judge(channels, mode);
        }
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For whom ranks have waited in a run whose events were recorded: which rank was late,
 * and where.
 *
 * A receive that begins before its message is sent waits for the sender; a blocking
 * send that begins before the blocking receive of its message does, and has not ended
 * by then, waits for the receiver; a rank in a blocking collective waits for the last
 * one that has come before it could go on. What a call waits for is no longer than the
 * call. Messages go together by communicator, ranks and tag, in the order of their
 * calls, which is MPI's order unless a program completes requests in another one than
 * it has made them; of ranks that have lost events, or messages of them, they are left
 * out, and so is what was on a communicator of id 0, that of all that found no room in
 * a rank's table.
 */
#ifndef MDS_TOOL_ANALYSIS_WAITS_H
#define MDS_TOOL_ANALYSIS_WAITS_H

#include "mds/tool/analysis/site.h"
#include "mds/tool/analysis/timeline.h"

/** Who is late. */
enum wait_kind { WAIT_SENDER, WAIT_RECEIVER, WAIT_COLLECTIVE, WAIT_KINDS };

/** In words: "late sender". */
extern const char *const wait_names[WAIT_KINDS];

/** Waits at one place because of one rank at one place. */
struct wait {
    enum wait_kind kind;
    struct site waiting; /* place and primitive */
    struct site late;
    uint32_t late_rank;
    uint64_t n, total_ns, most_ns;
    uint64_t
        root_ns; /* waits, of others too, that they were the root of; see delay.h */
};

/** All waits of a run. */
struct waits {
    struct wait *waits; /* [n] the longest first */
    size_t n;
    uint64_t *waited_ns; /* [n_files] by rank: how long it has waited, */
    uint64_t *caused_ns; /* and others for it, */
    uint64_t *root_ns;   /* and for how long it was to blame for waits, whoever's */
    size_t n_events;     /* that they were found in, */
    uint64_t n_unread;   /* or that they were not looked for in, as they are not held */
    uint32_t n_left_out; /* ranks that have lost events, or messages of them, */
    uint32_t n_unpaired; /* and those among them that have lost messages alone */
};

/** So many events are looked through on the way to something else, in less than a
 *  second; more only if it is asked for. */
#define WAITS_FEW_EVENTS (UINT64_C(1) << 20)

/** Find them, if the events of all ranks are held (dump_later.h); there are none
 *  without events. @return 0 or -ENOMEM; end with waits_fini in any case */
int waits_of(const struct run *run, struct waits *waits_out);

/** Free what waits_of has made. Accepts zeros. */
void waits_fini(struct waits *waits);

/** Write a sentence or two that stand below lines of waits. @param n_most lines that
 *  there are at most */
void waits_write_note(FILE *out, const struct waits *waits, size_t n_most);

/** Write a sentence that stands in place of what events would tell, if they were not
 *  looked at. */
void waits_write_unread(FILE *out, const struct waits *waits);

/** Print those that were longest. @return 0 or -ENOMEM */
int waits_print(const struct run *run, const struct waits *waits, size_t n_most);

#endif

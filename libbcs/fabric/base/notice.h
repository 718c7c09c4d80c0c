/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run says once: that something does not go as fast as it could, or that a limit
 * holds it up, and what to do about it. One table (notice.c) has all of it; bcs-info
 * --markdown prints it into docs/configuration.md, and the MMDS report how often each
 * was met. Any process and thread; never on the hot path.
 */
#ifndef LIBBCS_FABRIC_BASE_NOTICE_H
#define LIBBCS_FABRIC_BASE_NOTICE_H

#include <stdatomic.h>
#include <stdint.h>

#include "libbcs/fabric/base/log.h"

/** In the order of the table. */
enum bcs_notice {
    BCS_NOTICE_COPY_FORBIDDEN,
    BCS_NOTICE_COPY_REFUSED,
    BCS_NOTICE_COPY_FAULT,
    BCS_NOTICE_COPY_MEMORY,
    BCS_NOTICE_CPUS_UNKNOWN,
    BCS_NOTICE_CROWDED,
    BCS_NOTICE_NO_SLOT,
    BCS_NOTICE_STROBE_PRIORITY,
    BCS_NOTICE_PASSED,
    BCS_NOTICE_NO_HOOK,
    BCS_NOTICE_SHORT_SLEEPS,
    BCS_NOTICE_ALONE,
    BCS_NOTICE_NO_REPORT,
    BCS_NOTICE_NO_SLICES,
    BCS_NOTICE_UNWRITTEN,
    BCS_NOTICE_MESSAGES_KEPT,
    BCS_NOTICE_BLOCKS_USED,
    BCS_NOTICE_DESCRIPTORS_USED,
    BCS_NOTICE_COMMUNICATORS_USED,
    BCS_NOTICE_REQUESTS_USED,
    BCS_N_NOTICES,
};

/** An entry of the table. */
struct bcs_notice_kind {
    const char *key; /* a name of a few words, as "copy-refused" */
    /* BCS_LOG_WARN if the user gets something else than was asked for, be it only
     * slower; BCS_LOG_INFO if the difference is small, or is what most users have */
    enum bcs_log_level level;
    const char *effect; /* what is done instead, or until when it is held up */
    const char *remedy; /* what to do about it, with the names of settings */
};

/** How often each was met by the processes that share this; zeroed at first. */
struct bcs_notices {
    _Atomic uint64_t n[BCS_N_NOTICES];
};

/** An entry of the table. */
const struct bcs_notice_kind *bcs_notice_kind(enum bcs_notice notice);

/**
 * Count that something was met. The first of all processes that share their counts
 * prints one line: the text, the effect, the remedy.
 *
 * @param format  what was met, here and now; no full stop
 */
void bcs_notice(enum bcs_notice notice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** How often it was met, by all processes that share their counts. */
uint64_t bcs_notice_count(enum bcs_notice notice);

/**
 * Count with other processes from now on, and take along what was counted before.
 * Called once all have mapped the same memory. If this process shares its counts with
 * several jobs, it counts in the last one.
 *
 * @param shared  must stay until bcs_notice_unshare
 */
void bcs_notice_share(struct bcs_notices *shared);

/** Count alone again, from what was counted together; before the memory goes. Nothing
 *  is done if this process counts elsewhere by now. */
void bcs_notice_unshare(struct bcs_notices *shared);

#endif

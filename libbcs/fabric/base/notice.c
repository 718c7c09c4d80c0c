/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of what is said once, and the counts: this process's own, until it shares
 * them.
 */
#include "libbcs/fabric/base/notice.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_BYTES 400

static const struct bcs_notice_kind kinds[BCS_N_NOTICES] = {
    [BCS_NOTICE_COPY_FORBIDDEN] =
        {
            .key = "copy-forbidden",
            .level = BCS_LOG_WARN,
            .effect =
                "Long messages take two copies, through NIC memory, and both ranks' "
                "help, instead of one copy by either rank",
            .remedy = "Run where processes of one user may trace each other "
                      "(kernel.yama.ptrace_scope up to 1; in a container, "
                      "--cap-add=SYS_PTRACE or a seccomp profile that allows "
                      "process_vm_readv), or set BCS_COPY=pooled if this is meant",
        },
    [BCS_NOTICE_COPY_REFUSED] =
        {
            .key = "copy-refused",
            .level = BCS_LOG_WARN,
            .effect =
                "Long messages between such processes take two copies from now on, "
                "through NIC memory, and both ranks' help",
            .remedy =
                "A process has given up rights after the start (setuid, "
                "PR_SET_DUMPABLE, a seccomp filter): if it can, let it do so before "
                "MPI_Init, and alike in all ranks, or set BCS_COPY=pooled if this is "
                "meant",
        },
    [BCS_NOTICE_COPY_FAULT] =
        {
            .key = "copy-fault",
            .level = BCS_LOG_WARN,
            .effect =
                "The rank copies it by itself; if the buffer is no memory that it may "
                "use, that ends it",
            .remedy =
                "Look whether the buffer is as long as count and datatype say; memory "
                "of devices takes this way, too",
        },
    [BCS_NOTICE_COPY_MEMORY] =
        {
            .key = "copy-memory",
            .level = BCS_LOG_WARN,
            .effect = "With timed strobes such messages then move only while both "
                      "ranks are inside MPI",
            .remedy = "Leave the ranks more memory, or send fewer long messages with "
                      "gaps at a time",
        },
    [BCS_NOTICE_CPUS_UNKNOWN] =
        {
            .key = "cpus-unknown",
            .level = BCS_LOG_WARN,
            .effect =
                "One is assumed, so that ranks that wait give up their cores at once",
            .remedy = "Ranks must be allowed to call sched_getaffinity, on a machine "
                      "of up to 1024 processors",
        },
    [BCS_NOTICE_CROWDED] =
        {
            .key = "crowded",
            .level = BCS_LOG_INFO,
            .effect = "A rank that waits polls only for a moment, then yields its core "
                      "and sleeps, so that each message costs a wake-up",
            .remedy = "Start no more ranks, of all jobs, than there are cores, and "
                      "look whether the "
                      "launcher binds them (mpirun --bind-to none, --report-bindings)",
        },
    [BCS_NOTICE_NO_SLOT] =
        {
            .key = "no-slot",
            .level = BCS_LOG_INFO,
            .effect = "Ranks that wait do not see when other jobs of yours need their "
                      "processors, and poll as if they were alone",
            .remedy = "Run fewer jobs at a time, or raise the limit of open files "
                      "(ulimit -n); another user may also hold the name that your jobs "
                      "meet by (grep bcs-jobs /proc/net/unix)",
        },
    [BCS_NOTICE_STROBE_PRIORITY] =
        {
            .key = "strobe-priority",
            .level = BCS_LOG_INFO,
            .effect =
                "The thread asks the scheduler for short turns instead; beside ranks "
                "that compute some strobes come late, which the report counts",
            .remedy = "Give the user RLIMIT_RTPRIO of 1 or more, or CAP_SYS_NICE",
        },
    [BCS_NOTICE_PASSED] =
        {
            .key = "passed",
            .level = BCS_LOG_INFO,
            .effect = "The MPI library carries it out, at its own speed, while ranks "
                      "that wait in BCS go on",
            .remedy = "Nothing need be done; docs/mpi-coverage.md lists these "
                      "functions, and the MMDS report how often each was called",
        },
    [BCS_NOTICE_NO_HOOK] =
        {
            .key = "no-progress-hook",
            .level = BCS_LOG_WARN,
            .effect = "A rank that waits in one of its own functions does not move the "
                      "messages of others",
            .remedy = "Use an Open MPI whose opal_progress_register can be found, or "
                      "BCS_DRIVER=threads",
        },
    [BCS_NOTICE_SHORT_SLEEPS] =
        {
            .key = "short-sleeps",
            .level = BCS_LOG_INFO,
            .effect = "Ranks that wait wake up by themselves, at least every 0.8 ms, "
                      "since processes of another job cannot wake them",
            .remedy = "Nothing need be done",
        },
    [BCS_NOTICE_ALONE] =
        {
            .key = "alone",
            .level = BCS_LOG_INFO,
            .effect = "The program is a job of one process",
            .remedy = "Start it by a launcher that provides PMIx, such as mpirun, "
                      "prterun or srun --mpi=pmix",
        },
    [BCS_NOTICE_NO_REPORT] =
        {
            .key = "no-report",
            .level = BCS_LOG_WARN,
            .effect = "The run has no report of them: processes leave channels without "
                      "waiting for each other, so that none sums up what all have done",
            .remedy = "Set BCS_MDS_DIR, as bcsrun --mds=FOLDER does, to a folder that "
                      "can be written to; bcs-mds reads what each process leaves there",
        },
    [BCS_NOTICE_NO_SLICES] =
        {
            .key = "no-slices",
            .level = BCS_LOG_WARN,
            .effect = "cBSP, BSPlib and channels stand on the primitives, without the "
                      "engine that has slices: there are none of them in the report",
            .remedy = "See their calls, which BCS_MDS=mmds, all and trace record",
        },
    [BCS_NOTICE_UNWRITTEN] =
        {
            .key = "unwritten",
            .level = BCS_LOG_WARN,
            .effect =
                "What was recorded may be missing in the folder of the run; if there "
                "is none, tables are printed instead. The program goes on",
            .remedy = "Make room there, or let BCS_MDS_DIR be a folder that can be "
                      "written to",
        },
    [BCS_NOTICE_MESSAGES_KEPT] =
        {
            .key = "messages-kept",
            .level = BCS_LOG_WARN,
            .effect =
                "Their senders wait, with all that they do after, until some have "
                "been received",
            .remedy =
                "If the program stops here, raise BCS_DESCRIPTORS (four such messages "
                "for each), or receive earlier",
        },
    [BCS_NOTICE_BLOCKS_USED] =
        {
            .key = "blocks-used",
            .level = BCS_LOG_WARN,
            .effect =
                "A standard send waits for its receive as one of a long message does",
            .remedy =
                "If the program stops here, it relies on more buffering than there is "
                "(a rank has 4, 8 and 16 GB for three lengths, 32 MB for the longest, "
                "less where BCS_LIMITS says so): receive earlier, or use MPI_Isend or "
                "MPI_Bsend",
        },
    [BCS_NOTICE_DESCRIPTORS_USED] =
        {
            .key = "descriptors-used",
            .level = BCS_LOG_WARN,
            .effect = "The call fails, in MPI with MPI_ERR_NO_MEM",
            .remedy = "Raise BCS_DESCRIPTORS, or have fewer operations pending",
        },
    [BCS_NOTICE_COMMUNICATORS_USED] =
        {
            .key = "communicators-used",
            .level = BCS_LOG_WARN,
            .effect = "The call fails with MPI_ERR_NO_MEM",
            .remedy = "Raise BCS_COMMUNICATORS, or free some",
        },
    [BCS_NOTICE_REQUESTS_USED] =
        {
            .key = "requests-used",
            .level = BCS_LOG_WARN,
            .effect = "The call fails with MPI_ERR_NO_MEM",
            .remedy = "Complete or free some; this limit cannot be raised",
        },
};

/* A part of the log sink: what has been said is state of standard error. */
static struct {
    struct bcs_notices own;
    struct bcs_notices *_Atomic shared; /* NULL: counts alone */
} said;

/** Where this process counts. */
static struct bcs_notices *counts(void)
{
    /* acquire: pairs with the release in bcs_notice_share */
    struct bcs_notices *shared =
        atomic_load_explicit(&said.shared, memory_order_acquire);

    return shared == NULL ? &said.own : shared;
}

const struct bcs_notice_kind *bcs_notice_kind(enum bcs_notice notice)
{
    return &kinds[notice];
}

void bcs_notice(enum bcs_notice notice, const char *format, ...)
{
    const struct bcs_notice_kind *kind = &kinds[notice];
    char text[TEXT_BYTES];
    va_list arguments;

    /* relaxed: each count stands for itself */
    if (atomic_fetch_add_explicit(&counts()->n[notice], 1, memory_order_relaxed) > 0) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    bcs_log(kind->level, "%s: %s. %s. %s. (Said once.)", kind->key, text, kind->effect,
            kind->remedy);
}

uint64_t bcs_notice_count(enum bcs_notice notice)
{
    return atomic_load_explicit(&counts()->n[notice], memory_order_relaxed);
}

/** Add what was counted in one place to another. */
static void carry(struct bcs_notices *from, struct bcs_notices *to)
{
    for (int i = 0; i < BCS_N_NOTICES; i++) {
        atomic_fetch_add_explicit(
            &to->n[i], atomic_exchange_explicit(&from->n[i], 0, memory_order_relaxed),
            memory_order_relaxed);
    }
}

void bcs_notice_share(struct bcs_notices *shared)
{
    carry(&said.own, shared);
    /* release: pairs with the acquire in counts */
    atomic_store_explicit(&said.shared, shared, memory_order_release);
}

void bcs_notice_unshare(struct bcs_notices *shared)
{
    if (atomic_load_explicit(&said.shared, memory_order_relaxed) != shared) {
        return;
    }
    for (int i = 0; i < BCS_N_NOTICES; i++) {
        atomic_store_explicit(&said.own.n[i], bcs_notice_count(i),
                              memory_order_relaxed);
    }
    atomic_store_explicit(&said.shared, NULL, memory_order_release);
}

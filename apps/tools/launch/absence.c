/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at the processes below bcsrun's keeper; see absence.h. The looks begin soon, so
 * that a short job is seen, too, and become rarer. They end when BCS is found in a
 * process: a job that is as it should be is looked at once or twice.
 */
#include "apps/tools/launch/absence.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/descendants.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/report/finding.h"

#define FIRST_PAUSE_NS UINT64_C(100000000)
#define MOST_PAUSE_NS UINT64_C(10000000000)
#define TELL_NS UINT64_C(3000000000)

enum {
    MESSAGE_BYTES = 128,
    WHY_BYTES = 160 + RANK_PRELOAD_BYTES,
    TEXT_BYTES = 512 + WHY_BYTES
};

/** How long to wait for the next look, which is not to be later than the telling. */
static uint64_t pause_next(struct absence *absence, uint64_t gone_ns)
{
    uint64_t pause_ns = absence->pause_ns;

    absence->pause_ns = pause_ns * 2 > MOST_PAUSE_NS ? MOST_PAUSE_NS : pause_ns * 2;
    if (gone_ns < absence->tell_ns && absence->tell_ns - gone_ns < pause_ns) {
        pause_ns = absence->tell_ns - gone_ns;
    }
    return pause_ns;
}

uint64_t absence_begin(struct absence *absence, uint64_t patience_ns)
{
    *absence = (struct absence){
        .began_ns = bcs_clock_now_ns(),
        .tell_ns = patience_ns != 0 && patience_ns < TELL_NS ? patience_ns : TELL_NS,
        .pause_ns = FIRST_PAUSE_NS,
    };
    return pause_next(absence, 0);
}

void absence_add(struct absence_found *found, pid_t pid)
{
    char preload[RANK_PRELOAD_BYTES];
    enum rank_absence reason;
    struct rank_signs signs;

    if (!rank_look(pid, &signs, preload, &reason)) {
        return;
    }
    found->has_met |= signs.has_called;
    if (reason == RANK_NOT_ABSENT) {
        found->n_open++;
    } else if (found->n_absent++ == 0) {
        found->pid = pid;
        found->reason = reason;
        memcpy(found->preload, preload, sizeof(preload));
    }
}

bool absence_is_sure(const struct absence_found *found)
{
    return !found->has_met && found->n_absent > 0 && found->n_open == 0;
}

/** A descendants_fn. */
static void process_add(void *arg, pid_t pid)
{
    absence_add(arg, pid);
}

/** The line that says why. @return what the user can do */
static const char *reason_of(const struct absence_found *found, char why_out[WHY_BYTES])
{
    long pid = found->pid;

    switch (found->reason) {
    case RANK_STATIC:
        snprintf(why_out, WHY_BYTES,
                 "why: process %ld is a static program, which reads no LD_PRELOAD",
                 pid);
        return "link the program without -static";
    case RANK_NOT_PRELOADED:
        snprintf(why_out, WHY_BYTES,
                 "why: LD_PRELOAD of process %ld is \"%s\", without libbcs_mpi.so: a "
                 "wrapper "
                 "script or a module has replaced it",
                 pid, found->preload);
        return "add to the variable there, as in export "
               "LD_PRELOAD=libtool.so${LD_PRELOAD:+:$LD_PRELOAD}";
    case RANK_NOT_LOADED:
        snprintf(why_out, WHY_BYTES,
                 "why: LD_PRELOAD of process %ld names libbcs_mpi.so, but the dynamic "
                 "linker "
                 "has not loaded it",
                 pid);
        return "run a program that is not set-user-ID; in a container, mount the "
               "folder "
               "of libbcs_mpi.so";
    default:
        snprintf(why_out, WHY_BYTES,
                 "why: process %ld has called MPI_Init in the MPI library itself, past "
                 "libbcs_mpi.so",
                 pid);
        return "name libmpi_bcs.so as the program's MPI library";
    }
}

static void tell(const struct absence_found *found)
{
    char why[WHY_BYTES], message[MESSAGE_BYTES], text[TEXT_BYTES];
    const char *remedy = reason_of(found, why);

    snprintf(message, sizeof(message),
             "BCS is not in this job: it carries the calls of none of %d MPI process%s",
             found->n_absent, found->n_absent == 1 ? "" : "es");
    bcsrun_error("%s", message);
    bcsrun_error("%s", why);
    bcsrun_error("what to do: %s", remedy);
    bcsrun_error("see docs/troubleshooting.md, \"BCS is not in this job\"");
    snprintf(text, sizeof(text), "%s\n%s\nwhat to do: %s", message, why, remedy);
    bcs_finding_tell(&(struct bcs_finding){
        .kind = BCS_FINDING_ABSENCE, .message = message, .text = text});
}

/** Look at all processes that this one has started. */
static struct absence_found look(void)
{
    struct absence_found found = {0};

    descendants_visit(getpid(), process_add, &found);
    return found;
}

bool absence_ask(struct absence *absence)
{
    struct absence_found found = look();

    if (!absence_is_sure(&found)) {
        return false;
    }
    absence->is_over = true;
    tell(&found);
    return true;
}

uint64_t absence_look(void *arg)
{
    struct absence *absence = arg;
    uint64_t gone_ns = bcs_clock_now_ns() - absence->began_ns;
    struct absence_found found;

    if (absence->is_over) {
        return 0;
    }
    found = look();
    if (found.has_met || found.n_absent + found.n_open > 0) {
        absence->found = found;
    }
    absence->is_over = found.has_met;
    if (absence_is_sure(&found) && gone_ns >= absence->tell_ns) {
        absence->is_over = true;
        tell(&found);
    }
    return absence->is_over ? 0 : pause_next(absence, gone_ns);
}

void absence_end(struct absence *absence)
{
    if (!absence->is_over && absence_is_sure(&absence->found)) {
        absence->is_over = true;
        tell(&absence->found);
    }
}

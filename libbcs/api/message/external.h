/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that bcs does not carry and that may need any process of the job: the MPI
 * library's own. A process that waits in there for others, who may be asleep in us,
 * calls them; they wake up and look after that work as long as calls come. Nobody has
 * to know what is open there: whoever waits, calls.
 *
 * The first call comes when a wait has lasted for LEAST, the next ones whenever an
 * eighth of the time that it has lasted has passed since the last call of any process;
 * at least LEAST, at most MOST. So a process that is asleep delays a wait by an eighth,
 * and a wait of seconds costs the sleepers next to nothing. Who is called stays awake
 * for ATTENTION, so that a sequence of short waits finds it awake. (The names are those
 * of external.c.)
 *
 * Every call is heard, however late the called process gets a core: it remembers which
 * one it has heard last, listens when it has been woken and before it sleeps, and,
 * where polling gives the core away, looks each time whether there is a new one. Used
 * by any thread of any process of the job.
 */
#ifndef LIBBCS_API_MESSAGE_EXTERNAL_H
#define LIBBCS_API_MESSAGE_EXTERNAL_H

#include <bcs/bcs.h>

/**
 * This process waits outside of us; call this again and again meanwhile.
 *
 * @param since_ns  when the wait began, on the clock of bcs_clock_now_ns; 0 before the
 *                  first time, which sets it
 */
void bcs_external_call(const struct bcs_context *context, uint64_t *since_ns);

/** Whether work that is not ours may need this process. */
bool bcs_external_is_needed(const struct bcs_context *context);

/** Whether some process has called since this one has listened, or, if not, has called
 *  not long ago; context->is_called is then the same. */
bool bcs_external_listen(struct bcs_context *context);

#endif

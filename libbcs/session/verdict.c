/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ending a job; see verdict.h.
 */
#include "libbcs/session/verdict.h"

bool bcs_verdict_write_first(const struct bcs_verdict *verdict, uint64_t gva,
                             uint64_t value)
{
    const struct bcs_comparison comparison = {
        .variable_gva = gva,
        .op = BCS_COMPARE_EQ,
        .dests = verdict->all,
        .write_gva = gva,
        .write_value = value,
    };
    bool is_first = false;

    return bcs_compare_and_write(verdict->core, &comparison, &is_first) == 0 &&
           is_first;
}

int bcs_verdict_end(const struct bcs_verdict *verdict, int error)
{
    const struct bcs_xfer ring = {
        .dests = verdict->all,
        .remote_event_gva = verdict->bell_gva,
    };
    int decided;

    if (bcs_verdict_write_first(verdict, verdict->word_gva, (uint64_t)-error)) {
        bcs_xfer_and_signal_blocking(verdict->core, &ring);
        bcs_core_flush(verdict->core); /* this process may do nothing more */
        return error;
    }
    decided = bcs_verdict_look(verdict);
    return decided == 0 ? error : decided;
}

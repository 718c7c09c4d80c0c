/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How efficient a run was; see efficiency.h. Pure.
 */
#include "mds/tool/efficiency.h"

uint64_t efficiency_outside_ns(const struct mmds_summary *summary)
{
    uint64_t computation_ns = summary->computation.total_ns;

    return computation_ns > summary->instant_ns ? computation_ns - summary->instant_ns
                                                : 0;
}

struct efficiency efficiency_of(const struct run *run)
{
    struct efficiency efficiency = {0};
    double most_ns = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct mmds_summary *summary = &run->summaries[i];
        double outside_ns = (double)efficiency_outside_ns(summary);

        most_ns = outside_ns > most_ns ? outside_ns : most_ns;
        if ((double)summary->run_ns > efficiency.run_ns) {
            efficiency.run_ns = (double)summary->run_ns;
        }
        efficiency.outside_ns += outside_ns / run->n_files;
        efficiency.blocking_ns +=
            (double)summary->communication.total_ns / run->n_files;
        efficiency.other_ns += (double)summary->instant_ns / run->n_files;
    }
    efficiency.parallel = efficiency_part(efficiency.outside_ns, efficiency.run_ns);
    efficiency.balance = efficiency_part(efficiency.outside_ns, most_ns);
    efficiency.communication = efficiency_part(most_ns, efficiency.run_ns);
    return efficiency;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How efficient a run was; see efficiency.h. Pure.
 */
#include "mds/tool/analysis/efficiency.h"

uint64_t efficiency_outside_ns(const struct mmds_summary *summary)
{
    uint64_t computation_ns = summary->computation.total_ns;

    return computation_ns > summary->instant_ns ? computation_ns - summary->instant_ns
                                                : 0;
}

struct efficiency efficiency_of(const struct run *run)
{
    struct efficiency efficiency = {0};

    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct mmds_summary *summary = &run->summaries[i];
        double outside_ns = (double)efficiency_outside_ns(summary);

        if (outside_ns > efficiency.most_ns) {
            efficiency.most_ns = outside_ns;
        }
        if ((double)summary->run_ns > efficiency.run_ns) {
            efficiency.run_ns = (double)summary->run_ns;
        }
        efficiency.outside_ns += outside_ns / run->n_files;
        efficiency.blocking_ns +=
            (double)summary->communication.total_ns / run->n_files;
        efficiency.other_ns += (double)summary->instant_ns / run->n_files;
    }
    efficiency.parallel = efficiency_part(efficiency.outside_ns, efficiency.run_ns);
    efficiency.balance = efficiency_part(efficiency.outside_ns, efficiency.most_ns);
    efficiency.communication = efficiency_part(efficiency.most_ns, efficiency.run_ns);
    return efficiency;
}

void efficiency_split(const struct run *run, const uint64_t *waited_ns,
                      struct efficiency *efficiency)
{
    double ideal_ns = efficiency->most_ns;

    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct mmds_summary *summary = &run->summaries[i];
        uint64_t blocked_ns = summary->communication.total_ns;
        double its_ns = (double)efficiency_outside_ns(summary) +
                        (double)(waited_ns[i] < blocked_ns ? waited_ns[i] : blocked_ns);

        ideal_ns = its_ns > ideal_ns ? its_ns : ideal_ns;
    }
    efficiency->serialisation = efficiency_part(efficiency->most_ns, ideal_ns);
    efficiency->transfer = efficiency_part(ideal_ns, efficiency->run_ns);
}

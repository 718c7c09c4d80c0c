/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The suite of the core primitives, run with every transport of the build.
 */
#include "tests/transport/world.h"

#include <stddef.h>

#include "tests/unit/run_suite.h"

int main(void)
{
    TCase *(*const tcases[])(int) = {
        primitives_tcase, bounds_tcase, consistency_tcase, waiting_tcase, death_tcase,
    };
    Suite *suite = suite_create("transport");
    int n_transports = 0;

    while (bcs_transport_names()[n_transports] != NULL) {
        n_transports++;
    }
    for (size_t i = 0; i < sizeof(tcases) / sizeof(tcases[0]); i++) {
        TCase *tcase = tcases[i](n_transports);

        tcase_set_timeout(tcase, 0); /* a hang is the runner's business */
        suite_add_tcase(suite, tcase);
    }
    return run_suite(suite);
}

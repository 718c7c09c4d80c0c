/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the files of the program and its interpreter; see place_finder.h.
 */
#include "mpi_shim/calls/place_finder.h"

#include <stdlib.h>

#include "mpi_shim/calls/skip_list.h"
#include "mpi_shim/calls/traceback.h"
#include "mpi_shim/real/shim_module.h"
#include "mpi_shim/real/state.h"

enum { PATH_BYTES = 4096 };

struct shim_place_finder {
    struct shim_interpreter interpreter;
    char skip[sizeof(NIC_PLACE_SKIP_USUAL) + BCS_CONFIG_TEXT_BYTES]; /* a list */
    char program[PATH_BYTES]; /* the file of the program itself */
};

void shim_place_finder_setup(const struct nic_config *config)
{
    struct shim_place_finder *finder = calloc(1, sizeof(*finder));

    if (finder != NULL) {
        shim_interpreter_find(&finder->interpreter);
        shim_skip_list(config->place_skip, NIC_PLACE_SKIP_USUAL, finder->skip,
                       sizeof(finder->skip));
        shim_module_program(finder->program, sizeof(finder->program));
    }
    shim_state.place_finder = finder;
}

void shim_place_finder_teardown(void)
{
    free(shim_state.place_finder);
    shim_state.place_finder = NULL;
}

const struct shim_interpreter *shim_place_interpreter(void)
{
    const struct shim_place_finder *finder = shim_state.place_finder;

    return finder == NULL || finder->interpreter.thread == NULL ? NULL
                                                                : &finder->interpreter;
}

bool shim_place_is_skipped(const char *path)
{
    const struct shim_place_finder *finder = shim_state.place_finder;

    return finder != NULL &&
           shim_skip_has(finder->skip, *path == '\0' ? finder->program : path);
}

void shim_place_lines(bool with_skipped, uint32_t n_most,
                      char lines_out[BCS_STAND_LINES_BYTES])
{
    const struct shim_place_finder *finder = shim_state.place_finder;
    char text[SHIM_TRACEBACK_BYTES];

    shim_interpreter_traceback(&finder->interpreter, text);
    shim_traceback_lines(text, with_skipped ? "" : finder->skip, n_most, lines_out);
}

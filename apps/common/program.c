/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of events of an application. Every rank runs it.
 */
#include "apps/common/program.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/message.h"

bool program_is_root(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

int program_share_input(int result, void *input, size_t n_bytes)
{
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (result == 0) {
        MPI_Bcast(input, (int)n_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    return result;
}

/** @return 0, or another number and a line in message */
static int run(const struct program *program, int argc, char **argv, bool *passed_out,
               char *message)
{
    const char *input_path;
    int result = command_line_parse(&program->line, argc, argv, program->options,
                                    &input_path, message);

    if (result == 0 && input_path == NULL) {
        if (program_is_root()) {
            fputs(program->help, stdout);
        }
        return 0;
    }
    if (result == 0) {
        result = program->set_up(program->run, input_path, message);
    }
    if (result == 0) {
        result = program->compute(program->run, passed_out, message);
    }
    return result;
}

int program_main(const struct program *program, int argc, char **argv)
{
    char message[MESSAGE_BYTES] = "";
    bool passed = true;
    int result;

    MPI_Init(&argc, &argv);
    result = run(program, argc, argv, &passed, message);
    if (result != 0 && program_is_root()) {
        fprintf(stderr, "%s: %s\n", program->line.program, message);
    }
    program->tear_down(program->run);
    fflush(stdout);
    MPI_Finalize();
    return result != 0 ? PROGRAM_UNUSABLE
           : passed    ? EXIT_SUCCESS
                       : PROGRAM_CHECK_FAILED;
}

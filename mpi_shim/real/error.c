/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raising MPI errors, and MPI_Abort. What ends the job is told first, in one write that
 * names the rank. An error that ends the job does so by the function that the MPI
 * library's own fatal handler ends with: that handler itself would name
 * MPI_Comm_call_errhandler as the call.
 */
#include "mpi_shim/real/error.h"

#include <bcs/status.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libbcs/api/message/misuse.h"
#include "libbcs/fabric/base/fatal.h"
#include "libbcs/fabric/base/park.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

enum { TEXT_BYTES = MPI_MAX_ERROR_STRING + MPI_MAX_OBJECT_NAME + 160 };
enum { DRAIN_STEPS = 100 };
#define DRAIN_STEP_NS 1000000u

int shim_class_of_status(int status)
{
    if (__builtin_expect(status == 0, 1)) {
        return MPI_SUCCESS;
    }
    if (status == BCS_E_TRUNCATED) {
        return MPI_ERR_TRUNCATE;
    }
    if (status == BCS_E_DISAGREED) {
        return MPI_ERR_OTHER;
    }
    return status == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
}

int shim_world_rank(void)
{
    int is_initialized = 0, is_finalized = 0, rank = -1;

    shim_real.Initialized(&is_initialized);
    shim_real.Finalized(&is_finalized);
    if (is_initialized && !is_finalized) {
        shim_real.Comm_rank(shim_handles.comm_world, &rank);
    }
    return rank;
}

/* Print "bcs: rank 3 <text>" in one write; works whatever state stdio is in. */
static void shim_error_announce(int rank, const char *text)
{
    char line[MPI_MAX_ERROR_STRING + MPI_MAX_OBJECT_NAME + 80];
    int length;

    if (rank >= 0) {
        length = snprintf(line, sizeof(line), "bcs: rank %d %s\n", rank, text);
    } else {
        length =
            snprintf(line, sizeof(line), "bcs: process %d %s\n", (int)getpid(), text);
    }
    if (length >= (int)sizeof(line)) {
        length = sizeof(line) - 1;
    }
    if (write(STDERR_FILENO, line, (size_t)length) < 0) {
        return; /* nobody listens: the exit status must do */
    }
}

/* The communicator's name, or what it is called if it has none. */
static void shim_comm_name(MPI_Comm comm, const char *nameless,
                           char name_out[MPI_MAX_OBJECT_NAME])
{
    int length = 0;

    if (comm == NULL || comm == shim_handles.comm_null ||
        shim_real.Comm_get_name(comm, name_out, &length) != MPI_SUCCESS ||
        length == 0) {
        strcpy(name_out, nameless);
    }
}

static bool shim_error_is_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler;
    bool is_fatal;

    if (shim_real.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) {
        return false;
    }
    is_fatal = handler == shim_handles.errors_are_fatal;
    shim_real.Errhandler_free(&handler);
    return is_fatal;
}

/** Wait until who reads our standard error has all of it: a launcher that ends a job
 *  may lose the rest. */
static void await_reader(void)
{
    int n_bytes = 1;

    for (int i = 0; i < DRAIN_STEPS && n_bytes > 0; i++) {
        if (ioctl(STDERR_FILENO, FIONREAD, &n_bytes) != 0 || n_bytes == 0) {
            return; /* not a pipe, or an empty one */
        }
        bcs_rest(DRAIN_STEP_NS);
    }
}

void shim_error_end_job(int status)
{
    void *symbol = shim_symbol_find("ompi_mpi_abort");
    int (*end)(MPI_Comm, int);

    await_reader();
    if (symbol != NULL) { /* what MPI_Abort does, without its text */
        memcpy(&end, &symbol, sizeof(symbol));
        end(shim_handles.comm_world, status);
    }
    bcs_end_process(status);
}

/** Cut the text of an error class, "MPI_ERR_ROOT: invalid root", in two. @return what
 *  is behind the name */
static const char *reason_split(char text[MPI_MAX_ERROR_STRING])
{
    char *colon = strstr(text, ": ");

    if (colon == NULL) {
        return text;
    }
    *colon = '\0';
    return colon + 2;
}

/** Whether an error is one that has been told when it was found (misuse.h). */
static bool is_told(int error_class)
{
    return error_class == MPI_ERR_TRUNCATE || error_class == MPI_ERR_OTHER;
}

/** Whether it is not about what the program has said. */
static bool is_of_resources(int error_class)
{
    return error_class == MPI_ERR_NO_MEM || error_class == MPI_ERR_INTERN;
}

/** An error ends the job: say what, and do so. @param comm  whose error handler it is
 *  @param is_of_call  whether that is the one that the call is on */
static void end_by(MPI_Comm comm, bool is_of_call, int error_class, const char *words)
{
    char name[MPI_MAX_OBJECT_NAME], reason[MPI_MAX_ERROR_STRING] = "?";
    char call[BCS_STAND_CALL_BYTES], what[TEXT_BYTES], next[TEXT_BYTES];
    struct bcs_context *context = shim_context();
    int length, status = error_class == MPI_ERR_OTHER ? BCS_EXIT_MISMATCH : error_class;
    const char *of_class;

    shim_comm_name(comm, "a communicator without a name", name);
    shim_real.Error_string(error_class, reason, &length);
    of_class = reason_split(reason);
    bcs_misuse_call(context, call);
    snprintf(what, sizeof(what), "%s: %s%s%s: %s (%s)",
             is_of_resources(error_class) ? "error" : "wrong argument",
             call[0] == '\0' ? "a call" : call, is_of_call ? " on " : "",
             is_of_call ? name : "", *words == '\0' ? of_class : words, reason);
    snprintf(next, sizeof(next),
             "the job ends with exit status %d (%s, MPI_ERRORS_ARE_FATAL on %s); see "
             "docs/referee.md",
             status, reason, name);
    if (context != NULL) {
        shim_enter();
    }
    bcs_misuse_tell_fatal(context, &(struct bcs_fatal_error){
                                       .what = is_told(error_class) ? NULL : what,
                                       .comm = is_of_call ? name : NULL,
                                       .next = next,
                                       .kind = is_of_resources(error_class)
                                                   ? BCS_FINDING_FAILURE
                                                   : BCS_FINDING_ARGUMENT,
                                       .status = status,
                                   });
    shim_error_end_job(status);
}

int shim_error_of(MPI_Comm comm, int error_class, const char *words)
{
    bool is_of_call = comm != NULL && comm != shim_handles.comm_null;

    if (error_class == MPI_SUCCESS) {
        return error_class;
    }
    if (!is_of_call) {
        comm = shim_handles.comm_world;
    }
    if (shim_error_is_fatal(comm)) {
        end_by(comm, is_of_call, error_class, words);
    }
    shim_real.Comm_call_errhandler(comm, error_class);
    return error_class;
}

struct shim_hush shim_hush_begin(MPI_Comm comm)
{
    if (comm == NULL) {
        comm = shim_handles.comm_world;
    }
    if (!shim_error_is_fatal(comm)) {
        return (struct shim_hush){NULL};
    }
    shim_real.Comm_set_errhandler(comm, shim_handles.errors_return);
    return (struct shim_hush){comm};
}

int shim_hush_end(const struct shim_hush *hush, int rc)
{
    int error_class = rc;

    if (hush->comm != NULL) {
        shim_real.Comm_set_errhandler(hush->comm, shim_handles.errors_are_fatal);
    }
    if (rc != MPI_SUCCESS) {
        shim_real.Error_class(rc, &error_class);
    }
    return error_class;
}

int shim_error_abort(MPI_Comm comm, int code)
{
    char name[MPI_MAX_OBJECT_NAME], text[MPI_MAX_OBJECT_NAME + 64];
    int rank = shim_world_rank();

    strcpy(name, "comm");
    if (rank >= 0) {
        shim_comm_name(comm, "comm", name);
    }
    snprintf(text, sizeof(text), "called MPI_Abort(%s, %d)", name, code);
    shim_error_announce(rank, text);
    return shim_real.Abort(comm, code);
}

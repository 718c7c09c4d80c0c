/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs error_classes_*.c share. Each makes calls with one argument wrong,
 * each argument in each way, and says which error class comes of it and which
 * communicator's error handler was called. Natively a good many wrong calls crash;
 * those are made under BCS only, which must refuse them. A wrong call does nothing
 * else, and the program goes on.
 *
 * Included before everything else.
 */
#ifndef TESTS_CONFORMANCE_ERROR_CLASSES_H
#define TESTS_CONFORMANCE_ERROR_CLASSES_H

#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>

#include "tests/conformance/check.h"

/** Where wrong calls are made. All communicators have a handler that takes notes. */
struct place {
    struct world world;
    MPI_Comm self;      /* this rank alone */
    MPI_Comm many;      /* all ranks */
    MPI_Datatype loose; /* not committed */
    MPI_Datatype pair;  /* of two integers */
    MPI_Datatype empty; /* has no data */
};

/** What the handlers have been called with since the last line. */
static struct {
    int n_calls;
    int class;
    MPI_Comm comm;
} errors_seen;

static struct place errors_here;

static inline void errors_remember(MPI_Comm *comm, int *code, ...)
{
    errors_seen.n_calls++;
    errors_seen.comm = *comm;
    MPI_Error_class(*code, &errors_seen.class);
}

static inline const char *errors_name_of(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD     ? "world"
           : comm == MPI_COMM_SELF    ? "itself"
           : comm == errors_here.self ? "self"
           : comm == errors_here.many ? "many"
                                      : "another";
}

/** Say what a call has come to, and forget it: "Send buf NULL: MPI_ERR_BUFFER on
 *  self". */
static inline void errors_say(const char *function, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING], handled[64] = "";
    int length;
    int class;

    MPI_Error_class(code, &class);
    MPI_Error_string(class, text, &length);
    text[strcspn(text, ":")] = '\0';
    if (errors_seen.n_calls != 0) {
        snprintf(handled, sizeof(handled), " on %s%s%s",
                 errors_name_of(errors_seen.comm),
                 errors_seen.n_calls > 1 ? ", again" : "",
                 errors_seen.class != class ? " as another class" : "");
    }
    check_say("%s %s: %s%s\n", function, what, text, handled);
    errors_seen.n_calls = 0;
}

/** End the job unless a call has returned an error of this class, and raised it. */
static inline void errors_expect(const char *function, const char *what, int class,
                                 int code)
{
    int found;

    MPI_Error_class(code, &found);
    if (found != class || errors_seen.n_calls != 1 || errors_seen.class != class) {
        fprintf(stderr, "%s %s: class %d, handled %d times\n", function, what, found,
                errors_seen.n_calls);
    }
    CHECK_EQUAL(found, class);
    CHECK_EQUAL(errors_seen.n_calls, 1);
    CHECK_EQUAL(errors_seen.class, class);
    errors_seen.n_calls = 0;
}

/** Whether BCS carries this job. */
static inline int errors_is_carried(void)
{
    Dl_info info;

    return dladdr(dlsym(RTLD_DEFAULT, "MPI_Send"), &info) != 0 &&
           strstr(info.dli_fname, "bcs") != NULL;
}

/** MPI_Init, and the place. */
static inline struct place errors_begin(int *argc, char ***argv)
{
    struct place place = {.world = check_begin(argc, argv)};
    MPI_Errhandler handler;

    MPI_Comm_create_errhandler(errors_remember, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_dup(MPI_COMM_SELF, &place.self);
    MPI_Comm_dup(MPI_COMM_WORLD, &place.many);
    MPI_Type_contiguous(2, MPI_INT, &place.loose);
    MPI_Type_contiguous(2, MPI_INT, &place.pair);
    MPI_Type_commit(&place.pair);
    MPI_Type_contiguous(0, MPI_INT, &place.empty);
    MPI_Type_commit(&place.empty);
    errors_here = place;
    return place;
}

/** Nothing of the wrong calls may be left over: messages and collectives still
 *  match. */
static inline void errors_go_on(struct world world, MPI_Comm comm)
{
    int in = -1;

    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 1, &in, 1, MPI_INT,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Allreduce(&world.rank, &in, 1, MPI_INT, MPI_MAX, comm);
    CHECK_EQUAL(in, world.size - 1);
    MPI_Scan(&world.rank, &in, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(in, world.rank * (world.rank + 1) / 2);
    CHECK_EQUAL(errors_seen.n_calls, 0);
    check_say("all goes on\n");
}

/** MPI_Finalize, if nothing is left over. @return the exit status */
static inline int errors_end(struct place *place)
{
    errors_go_on(place->world, place->many);
    errors_go_on(place->world, MPI_COMM_WORLD);
    MPI_Comm_free(&place->self);
    MPI_Comm_free(&place->many);
    MPI_Type_free(&place->loose);
    MPI_Type_free(&place->pair);
    MPI_Type_free(&place->empty);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    return check_end();
}

/** A call that crashes natively, or hangs: BCS refuses it with this class. */
#define REFUSED(function, what, class, call)                                           \
    do {                                                                               \
        if (errors_is_carried()) {                                                     \
            errors_expect(function, what, class, call);                                \
        }                                                                              \
    } while (0)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns names of the linker back; see demangle.h. The C++ run-time library is not
 * linked, so that bcs-mds needs no C++ compiler to be built, nor that library to run.
 *
 * - gfortran: __halo_MOD_swap is halo::swap.
 * - Rust writes names as C++ does, with a number at the end, which is cut off:
 *   halo::swap::h0123456789abcdef. In its newer form, _RNvCs4Hf_4halo4swap, it nests
 *   paths. Those of crates, modules, functions and closures are read; one with types in
 *   it stays.
 */
#include "mds/source/demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPP "_Z"
#define RUST "_R"
#define FORTRAN "__"
#define OF_MODULE "_MOD_"
#define NUMBER "::h" /* of a Rust function, in hex */

enum { NUMBER_DIGITS = 16, DEPTH_MOST = 32, LENGTH_DIGITS_MOST = 4 };

struct demangler demangler_open(void)
{
    struct demangler demangler;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
    void *symbol = library == NULL ? NULL : dlsym(library, "__cxa_demangle");

    memcpy(&demangler.function, &symbol, sizeof(symbol));
    return demangler;
}

static bool begins_with(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

/** Where the name of a procedure of a Fortran module begins. @return NULL: it is
 *  none */
static const char *procedure_of(const char *name)
{
    const char *between = begins_with(name, FORTRAN) ? strstr(name, OF_MODULE) : NULL;

    return between == NULL ? NULL : between + strlen(OF_MODULE);
}

bool demangle_is_needed(const char *name)
{
    return begins_with(name, CPP) || begins_with(name, RUST) ||
           procedure_of(name) != NULL;
}

/** Cut the number off that Rust adds to a name. */
static void cut_number(char *plain)
{
    size_t n = strlen(plain), n_number = strlen(NUMBER) + NUMBER_DIGITS;
    char *number = plain + n - n_number;

    if (n > n_number && begins_with(number, NUMBER) &&
        strspn(number + strlen(NUMBER), "0123456789abcdef") == NUMBER_DIGITS) {
        *number = '\0';
    }
}

/** Skip a number that tells names apart: "s4Hf_". */
static const char *skip_disambiguator(const char *at)
{
    size_t n;

    if (*at != 's') {
        return at;
    }
    n = strcspn(at, "_");
    return at[n] == '_' ? at + n + 1 : at;
}

/** Add a name, "4halo", to a path. @return what is behind it; NULL: it is none */
static const char *add_name(FILE *out, const char *at)
{
    size_t n_digits = strspn(at, "0123456789"), n;

    if (n_digits == 0 || n_digits > LENGTH_DIGITS_MOST) {
        return NULL; /* also one that is not ASCII */
    }
    n = strtoul(at, NULL, 10);
    at += n_digits + (at[n_digits] == '_');
    if (strnlen(at, n) < n) {
        return NULL;
    }
    fwrite(at, 1, n, out);
    return at + n;
}

/** Add a path of Rust: "C" and a crate, or "N", what it is, a path and a name in it.
 *  @return what is behind it; NULL: it is none of these */
static const char *add_path(FILE *out, const char *at, int depth)
{
    char what;

    if (*at == 'C') {
        return add_name(out, skip_disambiguator(at + 1));
    }
    if (*at != 'N' || depth == DEPTH_MOST) {
        return NULL;
    }
    what = at[1];
    at = what == '\0' ? NULL : add_path(out, at + 2, depth + 1);
    if (at == NULL) {
        return NULL;
    }
    fputs("::", out);
    at = skip_disambiguator(at);
    if (what == 'C' && *at == '0') {
        fputs("{closure}", out);
        return at + 1;
    }
    return add_name(out, at);
}

/** Turn a name of Rust's newer form back. @return for free; NULL: it cannot be */
static char *rust_name(const char *name)
{
    char *plain = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&plain, &n_bytes);
    bool is_read;

    if (out == NULL) {
        return NULL;
    }
    is_read = add_path(out, name + strlen(RUST), 0) != NULL;
    if (fclose(out) != 0 || !is_read) {
        free(plain);
        return NULL;
    }
    return plain;
}

/** @return for free; NULL: it cannot be turned back */
static char *cpp_name(const struct demangler *demangler, const char *name)
{
    int status;
    char *plain = demangler->function == NULL
                      ? NULL
                      : demangler->function(name, NULL, NULL, &status);

    if (plain != NULL) {
        cut_number(plain);
    }
    return plain;
}

/** @return for free; NULL: no memory */
static char *fortran_name(const char *name, const char *procedure)
{
    size_t n_module = (size_t)(procedure - name) - strlen(FORTRAN) - strlen(OF_MODULE);
    char *plain;

    return asprintf(&plain, "%.*s::%s", (int)n_module, name + strlen(FORTRAN),
                    procedure) < 0
               ? NULL
               : plain;
}

char *demangle(const struct demangler *demangler, const char *name)
{
    const char *procedure = name == NULL ? NULL : procedure_of(name);
    char *plain = NULL;

    if (name == NULL) {
        return NULL;
    }
    if (procedure != NULL) {
        plain = fortran_name(name, procedure);
    } else if (begins_with(name, RUST)) {
        plain = rust_name(name);
    } else if (begins_with(name, CPP)) {
        plain = cpp_name(demangler, name);
    }
    return plain != NULL ? plain : strdup(name);
}

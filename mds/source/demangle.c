/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the C++ run-time library; see demangle.h. It is not linked, so that bcs-mds
 * needs no C++ compiler to be built, nor that library to run.
 */
#include "mds/source/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct demangler demangler_open(void)
{
    struct demangler demangler;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
    void *symbol = library == NULL ? NULL : dlsym(library, "__cxa_demangle");

    memcpy(&demangler.function, &symbol, sizeof(symbol));
    return demangler;
}

char *demangle(const struct demangler *demangler, const char *name)
{
    char *plain = NULL;
    int status;

    if (name == NULL) {
        return NULL;
    }
    if (demangler->function != NULL && strncmp(name, "_Z", 2) == 0) {
        plain = demangler->function(name, NULL, NULL, &status);
    }
    return plain != NULL ? plain : strdup(name);
}

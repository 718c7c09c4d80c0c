/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in programs in Python; see python_place.h. A call costs the way to the
 * instruction, some loads, and two looks into a table. Only an instruction that is met
 * for the first time has the interpreter write where it is, which takes some ten
 * microseconds.
 *
 * An instruction is known by its address. If the code of a function is freed, and that
 * of another one gets its place, the words stay those of the first one.
 *
 * Entries of the table are added under a lock and never changed: address, stored last,
 * publishes the words.
 */
#include "mpi_shim/calls/python_place.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/calls/place_finder.h"
#include "mpi_shim/real/python_frame.h"
#include "mpi_shim/real/shim_module.h"

enum { ENTRIES_MOST = 4096 }; /* a power of two */

/** An address of code, or of an instruction of Python. */
struct entry {
    _Atomic uintptr_t address; /* 0: the entry is free */
    /* Of an instruction: for its line; "": it has none. Of code: NULL, or, if it calls
     * for Python, "". */
    const char *words;
};

struct shim_python_places {
    const struct shim_interpreter *interpreter;
    struct shim_python_way way;
    uint32_t n;           /* entries; one stays free for searches to end */
    pthread_mutex_t lock; /* of those who add */
    struct entry entries[ENTRIES_MOST];
};

struct shim_python_places *shim_python_places_make(void)
{
    const struct shim_interpreter *interpreter = shim_place_interpreter();
    struct shim_python_places *places =
        interpreter == NULL ? NULL : calloc(1, sizeof(*places));

    if (places == NULL || !shim_python_way_find(&places->way)) {
        free(places);
        return NULL;
    }
    places->interpreter = interpreter;
    pthread_mutex_init(&places->lock, NULL);
    return places;
}

void shim_python_places_free(struct shim_python_places *places)
{
    for (uint32_t i = 0; places != NULL && i < ENTRIES_MOST; i++) {
        free((char *)(uintptr_t)places->entries[i].words);
    }
    if (places != NULL) {
        pthread_mutex_destroy(&places->lock);
        free(places);
    }
}

/** The entry of an address, or the free one where it would be. */
static struct entry *find(struct shim_python_places *places, uintptr_t address)
{
    uint32_t i = (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (;; i++) {
        struct entry *entry = &places->entries[i % ENTRIES_MOST];
        /* acquire: pairs with the release in add */
        uintptr_t found = atomic_load_explicit(&entry->address, memory_order_acquire);

        if (found == address || found == 0) {
            return entry;
        }
    }
}

/** Finds the words for an address. @return for free; or NULL */
typedef char *words_fn(uintptr_t address);

/** Find and keep the words for an address. @return NULL also if there is no room */
static const char *add(struct shim_python_places *places, uintptr_t address,
                       words_fn *find_words)
{
    struct entry *entry;
    const char *words;

    pthread_mutex_lock(&places->lock);
    entry = find(places, address);
    /* relaxed: entries change under the lock only */
    if (atomic_load_explicit(&entry->address, memory_order_relaxed) == 0 &&
        places->n < ENTRIES_MOST - 1) {
        places->n++;
        entry->words = find_words(address);
        /* release: pairs with the acquire in find */
        atomic_store_explicit(&entry->address, address, memory_order_release);
    }
    words = entry->words;
    pthread_mutex_unlock(&places->lock);
    return words;
}

/** The words for an address, found if it is met for the first time. */
static const char *words_of(struct shim_python_places *places, uintptr_t address,
                            words_fn *find_words)
{
    const struct entry *entry = find(places, address);

    /* acquire: as in find, which may have found it free before */
    return atomic_load_explicit(&entry->address, memory_order_acquire) == address
               ? entry->words
               : add(places, address, find_words);
}

/** Of code. @return for free; NULL: it does not call for Python, or no memory */
static char *words_of_code(uintptr_t address)
{
    struct shim_module module = {.address = address};

    return shim_module_at(&module) && shim_place_is_skipped(module.path) ? strdup("")
                                                                         : NULL;
}

/** Of the instruction that is under way. @return for free; NULL: no memory */
static char *words_of_line(uintptr_t address)
{
    char line[BCS_STAND_LINES_BYTES];

    (void)address;
    shim_place_lines(true, 1, line);
    return strdup(line);
}

uintptr_t shim_python_place(struct shim_python_places *places, uintptr_t address,
                            const char **words_out)
{
    const void *state;
    uintptr_t instruction = 0;
    const char *words;

    *words_out = NULL;
    if (words_of(places, address, words_of_code) == NULL) {
        return address;
    }
    state = places->interpreter->thread();
    if (state != NULL) {
        instruction = shim_python_instruction(&places->way, state);
    }
    words = instruction == 0 ? NULL : words_of(places, instruction, words_of_line);
    if (words == NULL || *words == '\0') {
        return address;
    }
    *words_out = words;
    return instruction;
}

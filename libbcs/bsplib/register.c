/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations of memory. Each is a slot with the address and the size of every process;
 * slots are numbered in the order of bsp_push_reg, alike everywhere. What a process has
 * pushed and popped in a superstep it tells all in one message, at the beginning of
 * bsp_sync; then all check that it was the same, and change their slots alike.
 */
#include <stdlib.h>
#include <string.h>

#include "libbcs/bsplib/bsplib.h"

/** A process's part of a registration. */
struct part {
    uint64_t address;
    uint64_t n_bytes;
};

/** Registrations; parts are [n_slots][n_procs]. */
static struct {
    struct part *parts;
    bool *is_alive;  /* [n_slots] */
    bool *is_popped; /* [n_slots] here, in this superstep */
    uint64_t
        n_slots; /* that are valid; those after them were pushed in this superstep */
    uint64_t n_pushed;  /* here, in this superstep */
    uint64_t n_room;    /* slots that arrays are long enough for */
    uint64_t last_used; /* slot */
} slots;

/** What this process has popped in this superstep: slots, or NO_SLOT for NULL. */
static struct {
    uint64_t *slots;
    uint64_t n, n_room;
} pops;

#define NO_SLOT UINT64_MAX

/** What a process tells; its pushes (struct part) and its pops (uint64_t) follow. */
struct told {
    uint64_t n_pushes, n_pops;
    uint64_t n_tagsizes, tagsize;
};

/** What each has told. */
static struct told **told_by;

static void *grown(void *array, uint64_t n, size_t element_bytes)
{
    void *result = realloc(array, n * element_bytes);

    if (result == NULL) {
        bsp_abort("bsp_push_reg: out of memory\n");
    }
    return result;
}

static struct part *part_of(uint64_t slot, int pid)
{
    return &slots.parts[slot * (uint64_t)bsplib.n_procs + (uint64_t)pid];
}

void bsp_push_reg(const void *ident, int size)
{
    uint64_t slot = slots.n_slots + slots.n_pushed;

    bsplib_check("bsp_push_reg");
    if (size < 0 || (ident == NULL && size != 0)) {
        bsp_abort("bsp_push_reg: %d bytes%s\n", size,
                  ident == NULL ? " at NULL" : "; the size may not be negative");
    }
    if (slot == slots.n_room) {
        slots.n_room = 2 * slots.n_room + 16;
        slots.parts = grown(slots.parts, slots.n_room * (uint64_t)bsplib.n_procs,
                            sizeof(*slots.parts));
        slots.is_alive = grown(slots.is_alive, slots.n_room, sizeof(*slots.is_alive));
        slots.is_popped =
            grown(slots.is_popped, slots.n_room, sizeof(*slots.is_popped));
    }
    *part_of(slot, cBSP_pid()) =
        (struct part){(uint64_t)(uintptr_t)ident, (uint64_t)size};
    slots.is_alive[slot] = true;
    slots.is_popped[slot] = false;
    slots.n_pushed++;
    bsplib.bits |= BSPLIB_REGISTERS;
}

/** The last slot below end with this address here that was not popped. */
static uint64_t find(const void *ident, uint64_t end)
{
    for (uint64_t slot = end; slot-- > 0;) {
        if (slots.is_alive[slot] && !slots.is_popped[slot] &&
            part_of(slot, cBSP_pid())->address == (uint64_t)(uintptr_t)ident) {
            return slot;
        }
    }
    return NO_SLOT;
}

void bsp_pop_reg(const void *ident)
{
    uint64_t slot = NO_SLOT;

    bsplib_check("bsp_pop_reg");
    if (ident != NULL) {
        slot = find(ident, slots.n_slots + slots.n_pushed);
        if (slot == NO_SLOT) {
            bsp_abort("bsp_pop_reg: memory at address %p is not registered\n", ident);
        }
        slots.is_popped[slot] = true;
    }
    if (pops.n == pops.n_room) {
        pops.n_room = 2 * pops.n_room + 16;
        pops.slots = grown(pops.slots, pops.n_room, sizeof(*pops.slots));
    }
    pops.slots[pops.n++] = slot;
    bsplib.bits |= BSPLIB_REGISTERS;
}

/** A valid slot with this address here; those popped in this superstep still are. */
static uint64_t find_valid(const char *caller, const void *ident)
{
    uint64_t address = (uint64_t)(uintptr_t)ident;

    for (uint64_t slot = slots.n_slots; slot-- > 0;) {
        if (slots.is_alive[slot] && part_of(slot, cBSP_pid())->address == address) {
            return slot;
        }
    }
    bsp_abort("%s: memory at address %p is not registered%s\n", caller, ident,
              find(ident, slots.n_slots + slots.n_pushed) != NO_SLOT
                  ? " before the next bsp_sync"
                  : "");
    return NO_SLOT;
}

uint64_t bsplib_registered(const char *caller, int pid, const void *ident, int offset,
                           int nbytes)
{
    uint64_t slot = slots.last_used, end = (uint64_t)offset + (uint64_t)nbytes;
    const struct part *part;

    if (ident == NULL) {
        bsp_abort("%s: the registered address is NULL\n", caller);
    }
    if (slot == NO_SLOT || slot >= slots.n_slots ||
        part_of(slot, cBSP_pid())->address != (uint64_t)(uintptr_t)ident) {
        slot = find_valid(caller, ident);
        slots.last_used = slot;
    }
    part = part_of(slot, pid);
    if (end > part->n_bytes) {
        bsp_abort("%s: %d bytes at offset %d are beyond the %llu bytes that process %d "
                  "has registered\n",
                  caller, nbytes, offset, (unsigned long long)part->n_bytes, pid);
    }
    return part->address + (uint64_t)offset;
}

/** Keep what a process tells. */
static void hear(int srcNode, void *destAddr, int nBytes)
{
    if (told_by == NULL) {
        told_by = calloc((size_t)bsplib.n_procs, sizeof(struct told *));
    }
    if (told_by == NULL || (told_by[srcNode] = malloc((size_t)nBytes)) == NULL) {
        bsp_abort("bsp_sync: no memory for registrations\n");
        return;
    }
    memcpy(told_by[srcNode], destAddr, (size_t)nBytes);
}

void bsplib_registrations_tell(void)
{
    struct told told = {.n_pushes = slots.n_pushed, .n_pops = pops.n};
    size_t push_bytes = slots.n_pushed * sizeof(struct part);
    size_t n_bytes = sizeof(told) + push_bytes + pops.n * sizeof(uint64_t);
    int n_tagsizes, tagsize;
    uint8_t *bytes;

    if ((bsplib.bits & BSPLIB_REGISTERS) == 0) {
        return;
    }
    bytes = grown(NULL, n_bytes, 1);
    bsplib_tagsize(&n_tagsizes, &tagsize);
    told.n_tagsizes = (uint64_t)n_tagsizes;
    told.tagsize = (uint64_t)tagsize;
    memcpy(bytes, &told, sizeof(told));
    for (uint64_t i = 0; i < slots.n_pushed; i++) {
        memcpy(bytes + sizeof(told) + i * sizeof(struct part),
               part_of(slots.n_slots + i, cBSP_pid()), sizeof(struct part));
    }
    if (pops.n != 0) {
        memcpy(bytes + sizeof(told) + push_bytes, pops.slots,
               pops.n * sizeof(uint64_t));
    }
    for (int i = 0; i < bsplib.n_procs; i++) {
        bsplib_send("bsp_sync", i,
                    &(struct bsplib_message){.data = bytes, .n_bytes = n_bytes}, hear);
    }
    free(bytes);
}

static void check_told(void)
{
    const struct told *first = told_by[0];

    for (int i = 0; i < bsplib.n_procs; i++) {
        const struct told *told = told_by[i];
        const char *what = told == NULL || first == NULL           ? "register memory"
                           : told->n_pushes != first->n_pushes     ? "bsp_push_reg"
                           : told->n_pops != first->n_pops         ? "bsp_pop_reg"
                           : told->n_tagsizes != first->n_tagsizes ? "bsp_set_tagsize"
                                                                   : NULL;

        if (what != NULL) {
            bsp_abort(
                "bsp_sync/%s: processes 0 and %d did not call it the same number of "
                "times\n",
                what, i);
        }
        if (told->tagsize != first->tagsize) {
            bsp_abort(
                "bsp_sync/bsp_set_tagsize: process 0 has set %llu, process %d %llu\n",
                (unsigned long long)first->tagsize, i,
                (unsigned long long)told->tagsize);
        }
    }
}

/** The slot that the i-th pop of a process names. */
static uint64_t popped_slot(int pid, uint64_t i)
{
    const struct told *told = told_by[pid];
    const uint8_t *bytes = (const uint8_t *)(told + 1);
    uint64_t slot;

    bytes += told->n_pushes * sizeof(struct part) + i * sizeof(slot);
    memcpy(&slot, bytes, sizeof(slot));
    return slot;
}

/** The last slot in which no process has a part. */
static uint64_t find_empty(void)
{
    for (uint64_t slot = slots.n_slots; slot-- > 0;) {
        bool is_empty = slots.is_alive[slot];

        for (int pid = 0; is_empty && pid < bsplib.n_procs; pid++) {
            is_empty = part_of(slot, pid)->address == 0;
        }
        if (is_empty) {
            return slot;
        }
    }
    bsp_abort(
        "bsp_sync/bsp_pop_reg: all processes give NULL, but there is no registration "
        "in which none has a part\n");
    return NO_SLOT;
}

/** End the registration that the i-th pops of all name. */
static void apply_pop(uint64_t i)
{
    uint64_t slot = NO_SLOT;
    int who = 0;

    for (int pid = 0; pid < bsplib.n_procs; pid++) {
        uint64_t named = popped_slot(pid, i);

        if (named != NO_SLOT && slot != NO_SLOT && named != slot) {
            bsp_abort("bsp_sync/bsp_pop_reg: processes %d and %d did not pop the same "
                      "registration\n",
                      who, pid);
        }
        if (named != NO_SLOT) {
            slot = named;
            who = pid;
        }
    }
    slot = slot == NO_SLOT ? find_empty() : slot;
    for (int pid = 0; pid < bsplib.n_procs; pid++) {
        if (popped_slot(pid, i) == NO_SLOT && part_of(slot, pid)->address != 0) {
            bsp_abort(
                "bsp_sync/bsp_pop_reg: process %d gives NULL for a registration in "
                "which it has a part\n",
                pid);
        }
    }
    slots.is_alive[slot] = false;
}

void bsplib_registrations_apply(void)
{
    uint64_t n_pops;

    if (told_by == NULL) {
        bsp_abort("bsp_sync: not all processes have registered the same\n");
        return;
    }
    check_told();
    for (int pid = 0; pid < bsplib.n_procs; pid++) {
        const struct part *parts = (const struct part *)(told_by[pid] + 1);

        for (uint64_t i = 0; i < slots.n_pushed; i++) {
            *part_of(slots.n_slots + i, pid) = parts[i];
        }
    }
    slots.n_slots += slots.n_pushed;
    slots.n_pushed = 0;
    n_pops = told_by[0]->n_pops;
    for (uint64_t i = 0; i < n_pops; i++) {
        apply_pop(i);
    }
    while (slots.n_slots > 0 && !slots.is_alive[slots.n_slots - 1]) {
        slots.n_slots--;
    }
    pops.n = 0;
    slots.last_used = NO_SLOT;
    for (int pid = 0; pid < bsplib.n_procs; pid++) {
        free(told_by[pid]);
        told_by[pid] = NULL;
    }
}

void bsplib_registrations_fini(void)
{
    free(slots.parts);
    free(slots.is_alive);
    free(slots.is_popped);
    free(pops.slots);
    free(told_by);
    memset(&slots, 0, sizeof(slots));
    memset(&pops, 0, sizeof(pops));
    told_by = NULL;
}

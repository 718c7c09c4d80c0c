/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations of memory. Each is a slot with the address and the size of every
 * process; slots are numbered in the order of bsp_push_reg, alike everywhere. What a
 * process has pushed and popped in a superstep it tells all in one message, at the
 * beginning of bsp_sync; then all check that it was the same, and change their slots
 * alike.
 */
#include <stdlib.h>
#include <string.h>

#include "libbcs/bsplib/bsplib.h"

/** A process's part of a registration. */
struct bsplib_part {
    uint64_t address;
    uint64_t n_bytes;
};

#define NO_SLOT UINT64_MAX

/** What a process tells; its pushes (struct bsplib_part) and its pops (uint64_t)
 *  follow. */
struct bsplib_told {
    uint64_t n_pushes, n_pops;
    uint64_t n_tagsizes, tagsize;
};

static void *grown(void *array, uint64_t n, size_t element_bytes)
{
    void *result = realloc(array, n * element_bytes);

    if (result == NULL) {
        bsp_abort("bsp_push_reg: out of memory\n");
    }
    return result;
}

static struct bsplib_part *part_of(const struct bsplib *bsp, uint64_t slot, int pid)
{
    return &bsp->registrations.parts[slot * (uint64_t)bsp->n_procs + (uint64_t)pid];
}

void bsplib_call_push_reg(const void *ident, int size)
{
    struct bsplib *bsp = bsplib_check("bsp_push_reg");
    struct bsplib_registrations *slots = &bsp->registrations;
    uint64_t slot = slots->n_slots + slots->n_pushed;

    if (size < 0 || (ident == NULL && size != 0)) {
        bsp_abort("bsp_push_reg: %d bytes%s\n", size,
                  ident == NULL ? " at NULL" : "; the size may not be negative");
    }
    if (slot == slots->n_room) {
        slots->n_room = 2 * slots->n_room + 16;
        slots->parts = grown(slots->parts, slots->n_room * (uint64_t)bsp->n_procs,
                             sizeof(*slots->parts));
        slots->is_alive =
            grown(slots->is_alive, slots->n_room, sizeof(*slots->is_alive));
        slots->is_popped =
            grown(slots->is_popped, slots->n_room, sizeof(*slots->is_popped));
    }
    *part_of(bsp, slot, cBSP_pid()) =
        (struct bsplib_part){(uint64_t)(uintptr_t)ident, (uint64_t)size};
    slots->is_alive[slot] = true;
    slots->is_popped[slot] = false;
    slots->n_pushed++;
    bsp->bits |= BSPLIB_REGISTERS;
}

/** The last slot below end with this address here that was not popped. */
static uint64_t find(const struct bsplib *bsp, const void *ident, uint64_t end)
{
    const struct bsplib_registrations *slots = &bsp->registrations;

    for (uint64_t slot = end; slot-- > 0;) {
        if (slots->is_alive[slot] && !slots->is_popped[slot] &&
            part_of(bsp, slot, cBSP_pid())->address == (uint64_t)(uintptr_t)ident) {
            return slot;
        }
    }
    return NO_SLOT;
}

void bsplib_call_pop_reg(const void *ident)
{
    struct bsplib *bsp = bsplib_check("bsp_pop_reg");
    struct bsplib_registrations *slots = &bsp->registrations;
    uint64_t slot = NO_SLOT;

    if (ident != NULL) {
        slot = find(bsp, ident, slots->n_slots + slots->n_pushed);
        if (slot == NO_SLOT) {
            bsp_abort("bsp_pop_reg: memory at address %p is not registered\n", ident);
        }
        slots->is_popped[slot] = true;
    }
    if (slots->n_pops == slots->n_pop_room) {
        slots->n_pop_room = 2 * slots->n_pop_room + 16;
        slots->pops = grown(slots->pops, slots->n_pop_room, sizeof(*slots->pops));
    }
    slots->pops[slots->n_pops++] = slot;
    bsp->bits |= BSPLIB_REGISTERS;
}

/** A valid slot with this address here; those popped in this superstep still are. */
static uint64_t find_valid(const struct bsplib *bsp, const char *caller,
                           const void *ident)
{
    const struct bsplib_registrations *slots = &bsp->registrations;
    uint64_t address = (uint64_t)(uintptr_t)ident;

    for (uint64_t slot = slots->n_slots; slot-- > 0;) {
        if (slots->is_alive[slot] &&
            part_of(bsp, slot, cBSP_pid())->address == address) {
            return slot;
        }
    }
    bsp_abort("%s: memory at address %p is not registered%s\n", caller, ident,
              find(bsp, ident, slots->n_slots + slots->n_pushed) != NO_SLOT
                  ? " before the next bsp_sync"
                  : "");
    return NO_SLOT;
}

uint64_t bsplib_registered(struct bsplib *bsp, const char *caller, int pid,
                           const struct bsplib_place *place)
{
    struct bsplib_registrations *slots = &bsp->registrations;
    uint64_t end = (uint64_t)place->offset + (uint64_t)place->n_bytes;
    uint64_t slot = slots->last_used;
    const struct bsplib_part *part;

    if (place->ident == NULL) {
        bsp_abort("%s: the registered address is NULL\n", caller);
    }
    if (slot == NO_SLOT || slot >= slots->n_slots ||
        part_of(bsp, slot, cBSP_pid())->address != (uint64_t)(uintptr_t)place->ident) {
        slot = find_valid(bsp, caller, place->ident);
        slots->last_used = slot;
    }
    part = part_of(bsp, slot, pid);
    if (end > part->n_bytes) {
        bsp_abort("%s: %d bytes at offset %d are beyond the %llu bytes that process %d "
                  "has registered\n",
                  caller, place->n_bytes, place->offset,
                  (unsigned long long)part->n_bytes, pid);
    }
    return part->address + (uint64_t)place->offset;
}

/** Keep what a process tells. */
static void hear(int srcNode, void *destAddr, int nBytes)
{
    struct bsplib *bsp = bsplib_self;
    struct bsplib_registrations *slots = &bsp->registrations;

    if (slots->told_by == NULL) {
        slots->told_by = calloc((size_t)bsp->n_procs, sizeof(struct bsplib_told *));
    }
    if (slots->told_by == NULL ||
        (slots->told_by[srcNode] = malloc((size_t)nBytes)) == NULL) {
        bsp_abort("bsp_sync: no memory for registrations\n");
        return;
    }
    memcpy(slots->told_by[srcNode], destAddr, (size_t)nBytes);
}

void bsplib_registrations_tell(struct bsplib *bsp)
{
    const struct bsplib_registrations *slots = &bsp->registrations;
    const struct bsplib_told told = {
        .n_pushes = slots->n_pushed,
        .n_pops = slots->n_pops,
        .n_tagsizes = (uint64_t)bsp->queue.n_set,
        .tagsize = (uint64_t)bsp->queue.set_tag,
    };
    size_t push_bytes = slots->n_pushed * sizeof(struct bsplib_part);
    size_t n_bytes = sizeof(told) + push_bytes + slots->n_pops * sizeof(uint64_t);
    uint8_t *bytes;

    if ((bsp->bits & BSPLIB_REGISTERS) == 0) {
        return;
    }
    bytes = grown(NULL, n_bytes, 1);
    memcpy(bytes, &told, sizeof(told));
    for (uint64_t i = 0; i < slots->n_pushed; i++) {
        memcpy(bytes + sizeof(told) + i * sizeof(struct bsplib_part),
               part_of(bsp, slots->n_slots + i, cBSP_pid()),
               sizeof(struct bsplib_part));
    }
    if (slots->n_pops != 0) {
        memcpy(bytes + sizeof(told) + push_bytes, slots->pops,
               slots->n_pops * sizeof(uint64_t));
    }
    for (int i = 0; i < bsp->n_procs; i++) {
        bsplib_send("bsp_sync", i,
                    &(struct bsplib_message){.data = bytes, .n_bytes = n_bytes}, hear);
    }
    free(bytes);
}

static void check_told(const struct bsplib *bsp)
{
    struct bsplib_told *const *told_by = bsp->registrations.told_by;
    const struct bsplib_told *first = told_by[0];

    for (int i = 0; i < bsp->n_procs; i++) {
        const struct bsplib_told *told = told_by[i];
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
static uint64_t popped_slot(const struct bsplib *bsp, int pid, uint64_t i)
{
    const struct bsplib_told *told = bsp->registrations.told_by[pid];
    const uint8_t *bytes = (const uint8_t *)(told + 1);
    uint64_t slot;

    bytes += told->n_pushes * sizeof(struct bsplib_part) + i * sizeof(slot);
    memcpy(&slot, bytes, sizeof(slot));
    return slot;
}

/** The last slot in which no process has a part. */
static uint64_t find_empty(const struct bsplib *bsp)
{
    const struct bsplib_registrations *slots = &bsp->registrations;

    for (uint64_t slot = slots->n_slots; slot-- > 0;) {
        bool is_empty = slots->is_alive[slot];

        for (int pid = 0; is_empty && pid < bsp->n_procs; pid++) {
            is_empty = part_of(bsp, slot, pid)->address == 0;
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
static void apply_pop(struct bsplib *bsp, uint64_t i)
{
    uint64_t slot = NO_SLOT;
    int who = 0;

    for (int pid = 0; pid < bsp->n_procs; pid++) {
        uint64_t named = popped_slot(bsp, pid, i);

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
    slot = slot == NO_SLOT ? find_empty(bsp) : slot;
    for (int pid = 0; pid < bsp->n_procs; pid++) {
        if (popped_slot(bsp, pid, i) == NO_SLOT &&
            part_of(bsp, slot, pid)->address != 0) {
            bsp_abort(
                "bsp_sync/bsp_pop_reg: process %d gives NULL for a registration in "
                "which it has a part\n",
                pid);
        }
    }
    bsp->registrations.is_alive[slot] = false;
}

void bsplib_registrations_apply(struct bsplib *bsp)
{
    struct bsplib_registrations *slots = &bsp->registrations;
    uint64_t n_pops;

    if (slots->told_by == NULL) {
        bsp_abort("bsp_sync: not all processes have registered the same\n");
        return;
    }
    check_told(bsp);
    for (int pid = 0; pid < bsp->n_procs; pid++) {
        const struct bsplib_part *parts =
            (const struct bsplib_part *)(slots->told_by[pid] + 1);

        for (uint64_t i = 0; i < slots->n_pushed; i++) {
            *part_of(bsp, slots->n_slots + i, pid) = parts[i];
        }
    }
    slots->n_slots += slots->n_pushed;
    slots->n_pushed = 0;
    n_pops = slots->told_by[0]->n_pops;
    for (uint64_t i = 0; i < n_pops; i++) {
        apply_pop(bsp, i);
    }
    while (slots->n_slots > 0 && !slots->is_alive[slots->n_slots - 1]) {
        slots->n_slots--;
    }
    slots->n_pops = 0;
    slots->last_used = NO_SLOT;
    for (int pid = 0; pid < bsp->n_procs; pid++) {
        free(slots->told_by[pid]);
        slots->told_by[pid] = NULL;
    }
}

void bsplib_registrations_fini(struct bsplib_registrations *registrations)
{
    free(registrations->parts);
    free(registrations->is_alive);
    free(registrations->is_popped);
    free(registrations->pops);
    free(registrations->told_by);
    *registrations = (struct bsplib_registrations){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of desk checks; see check_list.h. Many ranks ask the same of each other, as in
 * a collective, so doubles are thrown out before the list grows.
 */
#include "nic_threads/referee/check_list.h"

#include <stdlib.h>

enum { FIRST_ROOM = 64 };

static int compare_numbers(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

/** By the desk first: what one machine sees stands together. */
static int compare(const void *one, const void *other)
{
    const struct nic_desk_check *a = &((const struct nic_check_entry *)one)->check;
    const struct nic_desk_check *b = &((const struct nic_check_entry *)other)->check;
    const uint64_t as[] = {a->at, a->kind, a->port, a->place, a->number};
    const uint64_t bs[] = {b->at, b->kind, b->port, b->place, b->number};
    int order = 0;

    for (size_t i = 0; order == 0 && i < sizeof(as) / sizeof(as[0]); i++) {
        order = compare_numbers(as[i], bs[i]);
    }
    return order;
}

void nic_check_list_settle(struct nic_check_list *list)
{
    size_t n = 0;

    if (list->n == 0) {
        return;
    }
    qsort(list->entries, list->n, sizeof(list->entries[0]), compare);
    for (size_t i = 0; i < list->n; i++) {
        if (n == 0 || compare(&list->entries[n - 1], &list->entries[i]) != 0) {
            list->entries[n++] = list->entries[i];
        }
    }
    list->n = n;
}

/** Make room for one more. @return whether there is */
static bool make_room(struct nic_check_list *list)
{
    size_t n_room = list->n_room == 0 ? FIRST_ROOM : 2 * list->n_room;
    struct nic_check_entry *entries;

    if (list->n < list->n_room) {
        return true;
    }
    nic_check_list_settle(list);
    if (list->n < list->n_room / 2) {
        return true;
    }
    entries = realloc(list->entries, n_room * sizeof(*entries));
    if (entries == NULL) {
        return false;
    }
    list->entries = entries;
    list->n_room = n_room;
    return true;
}

void nic_check_list_add(struct nic_check_list *list, const struct nic_desk_check *check)
{
    if (make_room(list)) {
        list->entries[list->n++] = (struct nic_check_entry){.check = *check};
    } else {
        list->has_lost = true;
    }
}

bool nic_check_list_holds(const struct nic_check_list *list,
                          const struct nic_desk_check *check)
{
    const struct nic_check_entry key = {.check = *check};
    const struct nic_check_entry *found =
        list->n == 0 ? NULL
                     : bsearch(&key, list->entries, list->n, sizeof(key), compare);

    return found != NULL && found->holds;
}

void nic_check_list_clear(struct nic_check_list *list)
{
    list->n = 0;
    list->has_lost = false;
}

void nic_check_list_fini(struct nic_check_list *list)
{
    free(list->entries);
    *list = (struct nic_check_list){0};
}

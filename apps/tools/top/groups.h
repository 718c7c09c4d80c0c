/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks of a job stand at the same place, for the roll-call. Those whose calls
 * differ only in whom they wait for, with which tag and how many bytes, stand together
 * if they are many: of a ring of ten thousand it is one line, and whoever is not like
 * the others has its own. One thread.
 */
#ifndef APPS_TOOLS_TOP_GROUPS_H
#define APPS_TOOLS_TOP_GROUPS_H

#include <jansson.h>

/** What the operations of a group's ranks have in common. */
enum group_likeness {
    GROUP_ALIKE,  /* all */
    GROUP_OFFSET, /* tags and lengths, and partners are as far from each rank */
    GROUP_OTHERS, /* each is about others */
};

/**
 * Group the waits of a job.
 *
 * @param list        ranks as "0-3,7", only these; NULL: all
 * @param groups_out an object of groups: "wait", that of its first rank; "ranks", in
 *                    their order; "seconds", the shortest; "likeness"; "offset", of the
 *                    first partner, if it is that; "differ", what is not the same in
 *                    the first operations of all ("peer", "tag", "bytes"), or in
 *                    who has called ("callers"). For json_decref
 * @param acting_out  an array: the ranks that do not wait. For json_decref
 * @return 0 or -ENOMEM
 */
int groups_of(const json_t *job, const char *list, json_t **groups_out,
              json_t **acting_out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the screen shows of a job, as members of its JSON: from the same picture that
 * picture.c puts into lines. Pure.
 */
#ifndef APPS_TOOLS_TOP_PICTURE_JSON_H
#define APPS_TOOLS_TOP_PICTURE_JSON_H

#include <jansson.h>

#include "picture.h"

/**
 * Add to a job of job_json_of what a picture of it shows: program, age, rates, shares,
 * pairs and the machine; and to each of its ranks core, shares and rates.
 * docs/bcs-top.md names all of them with their units; what is not known is null.
 *
 * @param picture  its rows are by rank, not grouped
 */
void picture_json_add(json_t *job, const struct picture *picture);

#endif

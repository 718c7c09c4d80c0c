/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All running jobs as JSON, with what the screen shows of them. One thread.
 */
#ifndef APPS_TOOLS_TOP_JOBS_JSON_H
#define APPS_TOOLS_TOP_JOBS_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "apps/tools/look/look.h"
#include "mds/source/place.h"

/**
 * Look at jobs twice, a quarter of a second after each other, all at once. A job that
 * ends meanwhile is left out.
 *
 * @param found        [n] jobs
 * @param is_good_out false: one could not be looked at, which has been said on standard
 * error
 * @return for json_decref: a list
 */
json_t *jobs_json_of(const struct bcs_look_found *found, int n, struct places *places,
                     bool *is_good_out);

#endif

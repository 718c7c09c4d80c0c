/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The document in a form of our own. Internal to this folder.
 */
#ifndef APPS_TOOLS_FINDINGS_DOCUMENT_JSON_H
#define APPS_TOOLS_FINDINGS_DOCUMENT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/tools/findings/document.h"

/** Write it. @return false: no memory; what else fails the stream says */
bool document_write_json(FILE *out, const struct document *document);

#endif

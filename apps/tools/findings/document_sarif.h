/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The document as SARIF. Internal to this folder.
 */
#ifndef APPS_TOOLS_FINDINGS_DOCUMENT_SARIF_H
#define APPS_TOOLS_FINDINGS_DOCUMENT_SARIF_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/tools/findings/document.h"

/** Write it. @return false: no memory; what else fails the stream says */
bool document_write_sarif(FILE *out, const struct document *document);

#endif

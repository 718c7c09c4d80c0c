/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The document as JUnit's XML. Internal to this folder.
 */
#ifndef APPS_TOOLS_FINDINGS_DOCUMENT_JUNIT_H
#define APPS_TOOLS_FINDINGS_DOCUMENT_JUNIT_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/tools/findings/document.h"

/** Write it. @return true: what fails the stream says */
bool document_write_junit(FILE *out, const struct document *document);

#endif

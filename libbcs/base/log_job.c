/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first to say something makes an empty file in the launcher's folder of the job, named
 * after the text; the launcher removes the folder. A process that cannot make the file for
 * another reason than that it exists says it, too: rather twice than not at all.
 */
#include "libbcs/base/log_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "libbcs/base/environment.h"
#include "libbcs/base/log.h"

#define TEXT_BYTES 768

/* FNV-1a, of one text after another. */
static uint64_t digest_add(uint64_t digest, const char *text)
{
    for (; *text != '\0'; text++) {
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return digest;
}

/* Whether nobody else of the job has said this. */
static bool is_first(const char *text)
{
    const char *folder = bcs_environment_get("PMIX_SERVER_TMPDIR");
    const char *job = bcs_environment_get("PMIX_NAMESPACE");
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    char path[PATH_MAX];
    int fd;

    if (folder == NULL || folder[0] != '/' || job == NULL) {
        return true;
    }
    digest = digest_add(digest_add(digest, job), text);
    snprintf(path, sizeof path, "%s/bcs-said-%016" PRIx64, folder, digest);
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno != EEXIST;
    }
    close(fd);
    return true;
}

void bcs_job_error(const char *format, ...)
{
    char text[TEXT_BYTES];
    int saved_errno = errno;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (is_first(text)) {
        bcs_error("%s", text);
    }
    errno = saved_errno;
}

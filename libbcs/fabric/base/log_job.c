/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who says something holds a lock on a file in the launcher's folder of the job, named
 * after the text, and then writes a byte to it; who finds the byte is silent. So nobody
 * goes on, and ends the job, before the text is out; and if the one who holds the lock
 * is killed, the next one says it. The launcher removes the folder. Who cannot do that
 * says it, too: rather twice than not at all.
 */
#include "libbcs/fabric/base/log_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "libbcs/fabric/base/digest.h"
#include "libbcs/fabric/base/environment.h"
#include "libbcs/fabric/base/log.h"

#define TEXT_BYTES 768

/* Open and lock the file of a text. @return the descriptor; -1: there is none */
static int said_open(const char *text)
{
    const char *folder = bcs_environment_get("PMIX_SERVER_TMPDIR");
    const char *job = bcs_environment_get("PMIX_NAMESPACE");
    uint64_t digest = BCS_DIGEST_OF_NOTHING;
    char path[PATH_MAX];
    int fd;

    if (folder == NULL || folder[0] != '/' || job == NULL) {
        return -1;
    }
    digest = bcs_digest_add(digest, job, strlen(job));
    digest = bcs_digest_add(digest, text, strlen(text));
    snprintf(path, sizeof path, "%s/bcs-said-%016" PRIx64, folder, digest);
    fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    }
    return fd;
}

void bcs_job_error(const char *format, ...)
{
    char text[TEXT_BYTES];
    int saved_errno = errno;
    char said;
    int fd;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fd = said_open(text);
    if (fd < 0 || read(fd, &said, 1) != 1) {
        bcs_error("%s", text);
        if (fd >= 0 && write(fd, "!", 1) != 1) {
            /* No room: others say it, too. */
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    errno = saved_errno;
}

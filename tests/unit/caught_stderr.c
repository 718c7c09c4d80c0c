/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard error, caught; for one thread. */
#include "tests/unit/caught_stderr.h"

#include <check.h>
#include <sys/socket.h>
#include <unistd.h>

static int log_end; /* where the writes arrive */
static int stderr_kept;

void caught_stderr_begin(void)
{
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    stderr_kept = dup(STDERR_FILENO);
    dup2(pair[1], STDERR_FILENO);
    close(pair[1]);
    log_end = pair[0];
}

void caught_stderr_end(void)
{
    dup2(stderr_kept, STDERR_FILENO);
    close(stderr_kept);
    close(log_end);
}

const char *caught_stderr_next(void)
{
    static char text[4096];
    ssize_t n_bytes = recv(log_end, text, sizeof text - 1, MSG_DONTWAIT);

    text[n_bytes > 0 ? n_bytes : 0] = '\0';
    return text;
}

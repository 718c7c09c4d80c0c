/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads /proc/self/task/TID; see thread_state.h. A process may always read that of its
 * own threads.
 */
#include "libbcs/fabric/base/thread_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 64, TEXT_BYTES = 4096 };

/** Read a file of a thread's. @return whether something was read; the text ends with a
 *  zero */
static bool read_file(int32_t id, const char *name, char text_out[TEXT_BYTES])
{
    char path[PATH_BYTES];
    ssize_t n_bytes;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%" PRId32 "/%s", id, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    n_bytes = read(fd, text_out, TEXT_BYTES - 1);
    close(fd);
    text_out[n_bytes > 0 ? n_bytes : 0] = '\0';
    return n_bytes > 0;
}

/** Whether a futex call sleeps until a thread of the same process wakes it. */
static bool is_own_futex(uint64_t operation, uint64_t limit)
{
    uint64_t command = operation & FUTEX_CMD_MASK;

    return (operation & FUTEX_PRIVATE_FLAG) != 0 && limit == 0 &&
           (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

void bcs_thread_parse_call(const char *line, struct bcs_thread_state *state_out)
{
    uint64_t address = 0, operation = 0, limit = 0;
    int32_t call = -1;
    int n = sscanf(line, "%" SCNd32 " %" SCNx64 " %" SCNx64 " %*x %" SCNx64, &call,
                   &address, &operation, &limit);

    state_out->kind = BCS_THREAD_RUNS;
    if (n < 1 || call < 0) {
        return;
    }
    state_out->kind = n == 4 && call == SYS_futex && is_own_futex(operation, limit)
                          ? BCS_THREAD_SLEEPS_FOR_OWN
                          : BCS_THREAD_SLEEPS;
    state_out->call = call;
    state_out->address = address;
}

/** Find a line of the form "KEY:\tVALUE". @return its value, or NULL */
static const char *value_of(const char *text, const char *key)
{
    size_t n_bytes = strlen(key);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n_bytes) == 0) {
            return line + n_bytes;
        }
    }
    return NULL;
}

bool bcs_thread_parse_status(const char *text, struct bcs_thread_state *state_out)
{
    const char *name = value_of(text, "Name:\t");
    const char *own = value_of(text, "voluntary_ctxt_switches:\t");
    const char *forced = value_of(text, "nonvoluntary_ctxt_switches:\t");
    uint64_t n_own, n_forced;

    if (name == NULL || own == NULL || forced == NULL ||
        sscanf(own, "%" SCNu64, &n_own) != 1 ||
        sscanf(forced, "%" SCNu64, &n_forced) != 1) {
        return false;
    }
    memset(state_out->name, 0, sizeof(state_out->name));
    strncat(state_out->name, name,
            strcspn(name, "\n") < sizeof(state_out->name)
                ? strcspn(name, "\n")
                : sizeof(state_out->name) - 1);
    state_out->n_switches = n_own + n_forced;
    return true;
}

bool bcs_thread_look(int32_t id, struct bcs_thread_state *state_out)
{
    struct bcs_thread_state state = {0};
    char text[TEXT_BYTES];

    if (read_file(id, "syscall", text)) {
        bcs_thread_parse_call(text, &state);
    }
    /* The order counts: see thread_state.h. */
    if (!read_file(id, "status", text) || !bcs_thread_parse_status(text, &state)) {
        return false;
    }
    *state_out = state;
    return true;
}

const char *bcs_thread_call_name(int32_t call)
{
    static const struct {
        long call;
        const char *name;
    } calls[] = {
        {SYS_futex, "futex"},
        {SYS_clock_nanosleep, "clock_nanosleep"},
        {SYS_nanosleep, "nanosleep"},
        {SYS_read, "read"},
        {SYS_readv, "readv"},
        {SYS_write, "write"},
        {SYS_ppoll, "ppoll"},
        {SYS_pselect6, "pselect6"},
        {SYS_epoll_pwait, "epoll_pwait"},
        {SYS_recvfrom, "recvfrom"},
        {SYS_recvmsg, "recvmsg"},
        {SYS_accept, "accept"},
        {SYS_accept4, "accept4"},
        {SYS_connect, "connect"},
        {SYS_wait4, "wait4"},
        {SYS_waitid, "waitid"},
        {SYS_flock, "flock"},
        {SYS_fcntl, "fcntl"},
        {SYS_mq_timedreceive, "mq_timedreceive"},
        {SYS_semtimedop, "semtimedop"},
        {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
        {SYS_rt_sigsuspend, "rt_sigsuspend"},
        {SYS_io_uring_enter, "io_uring_enter"},
#ifdef SYS_poll
        {SYS_poll, "poll"},
        {SYS_select, "select"},
        {SYS_epoll_wait, "epoll_wait"},
        {SYS_pause, "pause"},
#endif
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (calls[i].call == call) {
            return calls[i].name;
        }
    }
    return NULL;
}

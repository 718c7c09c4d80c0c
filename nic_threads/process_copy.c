/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One loop for both directions. Any process and thread.
 */
#include "nic_threads/process_copy.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>

#include "libbcs/base/log.h"
#include "nic_threads/engine.h"

typedef ssize_t (*vm_copy_fn)(pid_t, const struct iovec *, unsigned long,
                              const struct iovec *, unsigned long, unsigned long);

/** Use a byte as the copy would: this ends the process if it must not be used. */
static void touch(volatile char *byte, bool is_written)
{
    char value = *byte;

    if (is_written) {
        *byte = value;
    }
}

/** The rest of a copy was refused: end the process whose memory is at fault. */
static void end_owner(const struct bcs_port *other, const struct iovec *remote,
                      const struct iovec *local, bool is_read)
{
    int error = errno;

    touch(local->iov_base, is_read);
    bcs_error("a message of rank %u: %zu bytes at %p there cannot be %s: %s",
              other->rank, remote->iov_len, remote->iov_base,
              is_read ? "read" : "written", strerror(error));
    kill((pid_t)other->pid, SIGABRT);
}

/** Copy as one system call after another can. @return whether all was copied */
static bool copy(vm_copy_fn function, const struct bcs_port *other, uint64_t address,
                 char *own, uint64_t n_bytes)
{
    uint64_t n_done = 0;

    while (n_done < n_bytes) {
        struct iovec local = {own + n_done, n_bytes - n_done};
        struct iovec remote = {(void *)(uintptr_t)(address + n_done), n_bytes - n_done};
        ssize_t n = function((pid_t)other->pid, &local, 1, &remote, 1, 0);

        if (n <= 0) {
            if (errno != ESRCH) {
                end_owner(other, &remote, &local, function == process_vm_readv);
            }
            return false;
        }
        n_done += (uint64_t)n;
    }
    return true;
}

bool nic_process_read(const struct nic_engine *engine, const struct nic_place *from,
                      void *to, uint64_t n_bytes)
{
    if (from->port == engine->port) {
        memmove(to, (const void *)(uintptr_t)from->address, n_bytes);
        return true;
    }
    return copy(process_vm_readv, nic_engine_port(engine, from->port), from->address,
                to, n_bytes);
}

bool nic_process_write(const struct nic_engine *engine, const struct nic_place *to,
                       const void *from, uint64_t n_bytes)
{
    if (to->port == engine->port) {
        memmove((void *)(uintptr_t)to->address, from, n_bytes);
        return true;
    }
    return copy(process_vm_writev, nic_engine_port(engine, to->port), to->address,
                (char *)(uintptr_t)from, n_bytes);
}

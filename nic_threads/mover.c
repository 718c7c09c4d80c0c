/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mover: process_vm_readv and process_vm_writev between ports. Used by one thread.
 */
#include "nic_threads/mover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libbcs/base/log.h"

struct nic_mover {
    const struct nic_engine *engine;
    char buffer[NIC_MOVER_BUFFER_BYTES];
};

typedef ssize_t (*vm_copy_fn)(pid_t, const struct iovec *, unsigned long,
                              const struct iovec *, unsigned long, unsigned long);

static pid_t pid_of(const struct nic_mover *mover, uint32_t port)
{
    return (pid_t)nic_engine_port(mover->engine, port)->pid;
}

/** Copy between this process's memory and another's. */
static void copy(const struct nic_mover *mover, vm_copy_fn function, void *own,
                 const struct nic_place *other, uint64_t n_bytes)
{
    pid_t pid = pid_of(mover, other->port);
    uint64_t n_done = 0;

    while (n_done < n_bytes) {
        struct iovec local = {(char *)own + n_done, n_bytes - n_done};
        struct iovec remote = {(void *)(uintptr_t)(other->address + n_done),
                               n_bytes - n_done};
        ssize_t n = function(pid, &local, 1, &remote, 1, 0);

        if (n < 0 && errno == ESRCH) {
            return;
        }
        if (n <= 0) {
            bcs_error(
                "a message of rank %u: %zu bytes at %p there cannot be copied: %s",
                other->port, remote.iov_len, remote.iov_base, strerror(errno));
            abort();
        }
        n_done += (uint64_t)n;
    }
}

int nic_mover_create(const struct nic_engine *engine, struct nic_mover **mover_out)
{
    struct nic_mover *mover = malloc(sizeof(*mover));

    if (mover == NULL) {
        return -ENOMEM;
    }
    mover->engine = engine;
    *mover_out = mover;
    return 0;
}

void nic_mover_destroy(struct nic_mover *mover)
{
    free(mover);
}

const void *nic_mover_read(struct nic_mover *mover, const struct nic_place *from,
                           uint64_t n_bytes)
{
    copy(mover, process_vm_readv, mover->buffer, from, n_bytes);
    return mover->buffer;
}

void nic_mover_write(struct nic_mover *mover, const void *data,
                     const struct nic_place *to, uint64_t n_bytes)
{
    if (pid_of(mover, to->port) == getpid()) {
        memcpy((void *)(uintptr_t)to->address, data, n_bytes);
    } else {
        copy(mover, process_vm_writev, (void *)(uintptr_t)data, to, n_bytes);
    }
}

void nic_mover_copy(struct nic_mover *mover, const struct nic_place *from,
                    const struct nic_place *to, uint64_t n_bytes)
{
    if (pid_of(mover, to->port) == getpid()) {
        copy(mover, process_vm_readv, (void *)(uintptr_t)to->address, from, n_bytes);
        return;
    }
    if (pid_of(mover, from->port) == getpid()) {
        copy(mover, process_vm_writev, (void *)(uintptr_t)from->address, to, n_bytes);
        return;
    }
    for (uint64_t done = 0; done < n_bytes; done += NIC_MOVER_BUFFER_BYTES) {
        uint64_t left = n_bytes - done;
        uint64_t n =
            left < NIC_MOVER_BUFFER_BYTES ? left : (uint64_t)NIC_MOVER_BUFFER_BYTES;
        struct nic_place source = {from->port, from->address + done};
        struct nic_place target = {to->port, to->address + done};

        copy(mover, process_vm_readv, mover->buffer, &source, n);
        copy(mover, process_vm_writev, mover->buffer, &target, n);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One loop for both directions. Any process and thread.
 */
#include "nic_threads/process_copy.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "libbcs/base/notice.h"
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

/** The bit of a port in another's closed_to, and its word. */
static uint64_t bit_of(const struct nic_engine *engine, uint32_t port,
                       uint32_t *word_out)
{
    uint32_t local = port % engine->layout.shape.node_ranks;

    *word_out = local / 64;
    return UINT64_C(1) << (local % 64);
}

static void set_apart(const struct nic_engine *engine, uint32_t port, uint32_t other)
{
    uint32_t word;
    uint64_t bit = bit_of(engine, other, &word);

    atomic_fetch_or_explicit(&nic_engine_port(engine, port)->closed_to[word], bit,
                             memory_order_relaxed);
}

bool nic_ports_are_apart(const struct nic_engine *engine, uint32_t port, uint32_t other)
{
    uint32_t word;
    uint64_t bit = bit_of(engine, other, &word);

    return (atomic_load_explicit(&nic_engine_port(engine, port)->closed_to[word],
                                 memory_order_relaxed) &
            bit) != 0;
}

/** Note that this process cannot copy another's memory. */
static void note_refused(const struct nic_engine *engine, uint32_t other)
{
    if (engine->is_background) {
        atomic_store_explicit(&nic_engine_port(engine, other)->is_closed, 1,
                              memory_order_relaxed);
    } else {
        set_apart(engine, engine->port, other);
        set_apart(engine, other, engine->port);
    }
}

/** The rest of a copy has failed: find out why. */
static enum nic_outcome judge(const struct nic_engine *engine, uint32_t other,
                              const struct iovec *remote, const struct iovec *local,
                              bool is_read)
{
    uint32_t rank = nic_engine_port(engine, other)->rank;
    int error = errno;

    if (error == ESRCH) {
        return NIC_GONE;
    }
    if (error == EFAULT) {
        touch(local->iov_base, is_read); /* if the fault is here it ends here */
        bcs_notice(BCS_NOTICE_COPY_FAULT,
                   "%zu bytes at %p of a message of rank %u cannot be %s by the kernel",
                   remote->iov_len, remote->iov_base, rank,
                   is_read ? "read" : "written");
    } else {
        bcs_notice(BCS_NOTICE_COPY_REFUSED,
                   "the process of rank %u may not %s the memory of rank %u: %s",
                   nic_engine_port(engine, engine->port)->rank,
                   is_read ? "read" : "write", rank, strerror(error));
    }
    note_refused(engine, other);
    return NIC_REFUSED;
}

/** Copy as one system call after another can. */
static enum nic_outcome copy(const struct nic_engine *engine, vm_copy_fn function,
                             const struct nic_place *there, char *own, uint64_t n_bytes)
{
    pid_t pid = (pid_t)nic_engine_port(engine, there->port)->pid;
    uint64_t n_done = 0;

    while (n_done < n_bytes) {
        struct iovec local = {own + n_done, n_bytes - n_done};
        struct iovec remote = {(void *)(uintptr_t)(there->address + n_done),
                               n_bytes - n_done};
        ssize_t n = function(pid, &local, 1, &remote, 1, 0);

        if (n <= 0) {
            return judge(engine, there->port, &remote, &local,
                         function == process_vm_readv);
        }
        n_done += (uint64_t)n;
    }
    return NIC_DONE;
}

enum nic_outcome nic_process_read(const struct nic_engine *engine,
                                  const struct nic_place *from, void *to,
                                  uint64_t n_bytes)
{
    if (from->port == engine->port) {
        memmove(to, (const void *)(uintptr_t)from->address, n_bytes);
        return NIC_DONE;
    }
    return copy(engine, process_vm_readv, from, to, n_bytes);
}

enum nic_outcome nic_process_write(const struct nic_engine *engine,
                                   const struct nic_place *to, const void *from,
                                   uint64_t n_bytes)
{
    if (to->port == engine->port) {
        memmove((void *)(uintptr_t)to->address, from, n_bytes);
        return NIC_DONE;
    }
    return copy(engine, process_vm_writev, to, (char *)(uintptr_t)from, n_bytes);
}

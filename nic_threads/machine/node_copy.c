/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between ports: the kernel's (libbcs/fabric/copy), and what becomes of those
 * that it refuses. Any process and thread.
 */
#include "nic_threads/machine/node_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/copy/process_copy.h"
#include "nic_threads/node/views.h"

/** Use a byte as the copy would: this ends the process if it must not be used. */
static void touch(volatile char *byte, bool is_written)
{
    char value = *byte;

    if (is_written) {
        *byte = value;
    }
}

/** The word of two ports in the table of those that are apart, and its bit. @return
 *  NULL: they are not on one node */
static _Atomic uint64_t *word_of(const struct nic_engine *engine, uint32_t port,
                                 uint32_t other, uint64_t *bit_out)
{
    uint32_t node = nic_layout_node(&engine->layout, port);
    const struct nic_view *view;
    uint32_t local, bit;

    if (!nic_engine_is_near(engine, node) ||
        nic_layout_node(&engine->layout, other) != node) {
        return NULL;
    }
    view = nic_engine_node(engine, node);
    local = port - view->first_port;
    bit = other - view->first_port;
    *bit_out = UINT64_C(1) << (bit % 64);
    return &view->per_node.apart[local * view->n_words + bit / 64];
}

static void set_apart(const struct nic_engine *engine, uint32_t port, uint32_t other)
{
    uint64_t bit;
    _Atomic uint64_t *word = word_of(engine, port, other, &bit);

    if (word != NULL) {
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    }
}

bool nic_ports_are_apart(const struct nic_engine *engine, uint32_t port, uint32_t other)
{
    uint64_t bit;
    const _Atomic uint64_t *word = word_of(engine, port, other, &bit);

    return word != NULL &&
           (atomic_load_explicit(word, memory_order_relaxed) & bit) != 0;
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

/** A part of a process's memory, and its counterpart in this one. */
struct range {
    const struct nic_place *there;
    char *here;
    uint64_t n_bytes;
};

/** Find out why a copy has failed at its byte n_done. */
static enum nic_outcome judge(const struct nic_engine *engine,
                              const struct range *range, uint64_t n_done, int error,
                              bool is_read)
{
    uint32_t other = range->there->port;
    uint32_t rank = nic_engine_port(engine, other)->rank;

    if (error == ESRCH) {
        return NIC_GONE;
    }
    if (error == EFAULT) {
        /* if the fault is here it ends here */
        touch(range->here + n_done, is_read);
        bcs_notice(BCS_NOTICE_COPY_FAULT,
                   "%" PRIu64 " bytes at 0x%" PRIx64
                   " of a message of rank %u cannot be %s by "
                   "the kernel",
                   range->n_bytes - n_done, range->there->address + n_done, rank,
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

static pid_t pid_of(const struct nic_engine *engine, uint32_t port)
{
    return (pid_t)nic_engine_port(engine, port)->pid;
}

enum nic_outcome nic_process_read(const struct nic_engine *engine,
                                  const struct nic_place *from, void *to,
                                  uint64_t n_bytes)
{
    uint64_t n_done;
    int rc;

    if (from->port == engine->port) {
        memmove(to, (const void *)(uintptr_t)from->address, n_bytes);
        return NIC_DONE;
    }
    rc = bcs_copy_read(pid_of(engine, from->port), from->address, to, n_bytes, &n_done);
    return rc == 0
               ? NIC_DONE
               : judge(engine, &(struct range){from, to, n_bytes}, n_done, -rc, true);
}

enum nic_outcome nic_process_write(const struct nic_engine *engine,
                                   const struct nic_place *to, const void *from,
                                   uint64_t n_bytes)
{
    char *here = (char *)(uintptr_t)from;
    uint64_t n_done;
    int rc;

    if (to->port == engine->port) {
        memmove((void *)(uintptr_t)to->address, from, n_bytes);
        return NIC_DONE;
    }
    rc = bcs_copy_write(pid_of(engine, to->port), to->address, from, n_bytes, &n_done);
    return rc == 0
               ? NIC_DONE
               : judge(engine, &(struct range){to, here, n_bytes}, n_done, -rc, false);
}

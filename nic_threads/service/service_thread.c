/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of the service; see service_thread.h.
 *
 * No wake-up is lost. The thread announces itself by all that wakes it
 * (libbcs/fabric/base/park.h): it reads how often its bell has rung, and parks. Only
 * then it looks, and it sleeps if it has found nothing. Whoever makes work stores or
 * puts it first and then wakes: before the announcement, and the look finds the work,
 * or after, and the thread does not sleep. To be stopped is such work.
 */
#include "nic_threads/service/service_thread.h"

#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/thread_start.h"
#include "nic_threads/machine/cores.h"
#include "nic_threads/machine/waking.h"

/** One look, and the rest that follows it. @return whether the thread goes on */
static bool look_and_rest(struct nic_service_thread *thread)
{
    const struct nic_wakers *wakers = &thread->wakers;
    uint64_t n_rings = wakers->bell == NULL ? 0 : nic_engine_n_rings(wakers->bell);
    uint32_t announced =
        wakers->park == NULL ? 0 : bcs_park_announce(wakers->park, NULL);
    struct nic_rest rest = {NIC_REST_NOT, 0};
    /* seq_cst: partner of the store in nic_service_thread_stop */
    bool is_stopping = atomic_load_explicit(&thread->is_stopping, memory_order_seq_cst);

    if (!is_stopping) {
        rest = thread->worker->look(thread->state, thread->part);
    }
    if (rest.kind == NIC_REST_BELL) {
        nic_engine_await_bell(wakers->bell, n_rings);
    } else if (rest.kind == NIC_REST_PARK) {
        bcs_park_sleep(wakers->park, announced, rest.until_ns);
    }
    if (wakers->park != NULL) {
        bcs_park_end(wakers->park);
    }
    return !is_stopping;
}

static void *run(void *argument)
{
    struct nic_service_thread *thread = argument;

    if (thread->worker->begin != NULL) {
        thread->worker->begin(thread->state, thread->part);
    }
    while (look_and_rest(thread)) {
    }
    return NULL;
}

int nic_service_thread_start(struct nic_service_thread *thread, const char *name)
{
    int rc;

    thread->wakers = thread->worker->wakers(thread->state, thread->part);
    rc = bcs_thread_start(&thread->id, name, run, thread);
    if (rc == 0) {
        nic_cores_allow_all(thread->id);
    }
    return rc;
}

void nic_service_thread_stop(struct nic_service_thread *thread)
{
    /* seq_cst: as other work that a thread is woken for */
    atomic_store_explicit(&thread->is_stopping, true, memory_order_seq_cst);
    if (thread->wakers.park != NULL) {
        bcs_park_wake(thread->wakers.park);
    }
    if (thread->wakers.bell != NULL) {
        nic_engine_ring_own(thread->wakers.bell);
    }
    pthread_join(thread->id, NULL);
}

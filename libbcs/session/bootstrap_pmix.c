/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bootstrap by PMIx. Every exchange is a key that each process puts, a fence that
 * collects them, and a get for each process. Called through entry.c, in one thread.
 *
 * libpmix is not linked but loaded by its soname when a launcher is there: a program
 * that is started alone needs none, and one that brings its own is not disturbed.
 */
#include "libbcs/session/bootstrap_pmix.h"

#include <dlfcn.h>
#include <errno.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/environment.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/log_job.h"
#include "libbcs/fabric/base/park.h"

#define PMIX_LIBRARY "libpmix.so.2"

#define LAUNCHER_NS UINT64_C(10000000000) /* what a launcher may take to end a job */

/** The functions of libpmix that are used, by their names in it. */
struct functions {
    __typeof__(PMIx_Init) *init;
    __typeof__(PMIx_Finalize) *finalize;
    __typeof__(PMIx_Put) *put;
    __typeof__(PMIx_Commit) *commit;
    __typeof__(PMIx_Fence) *fence;
    __typeof__(PMIx_Get) *get;
    __typeof__(PMIx_Error_string) *error_string;
};

struct bcs_pmix {
    const char *caller;
    void *library;
    struct functions call;
    pmix_proc_t self;
    uint32_t size;
    uint32_t n_exchanges;
    bool is_open;
};

bool bcs_pmix_is_launched(void)
{
    return bcs_environment_get("PMIX_NAMESPACE") != NULL;
}

static int load(struct bcs_pmix *pmix)
{
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        {"PMIx_Init", &pmix->call.init},
        {"PMIx_Finalize", &pmix->call.finalize},
        {"PMIx_Put", &pmix->call.put},
        {"PMIx_Commit", &pmix->call.commit},
        {"PMIx_Fence", &pmix->call.fence},
        {"PMIx_Get", &pmix->call.get},
        {"PMIx_Error_string", &pmix->call.error_string},
    };

    pmix->library = dlopen(PMIX_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    if (pmix->library == NULL) {
        bcs_job_error(
            "%s: a launcher has started this program, but its PMIx library cannot "
            "be loaded: %s",
            pmix->caller, dlerror());
        return -ELIBACC;
    }
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        void *address = dlsym(pmix->library, wanted[i].name);

        if (address == NULL) {
            bcs_job_error("%s: " PMIX_LIBRARY " has no %s", pmix->caller,
                          wanted[i].name);
            return -ELIBACC;
        }
        memcpy(wanted[i].function, &address, sizeof(address));
    }
    return 0;
}

/* A process has died on the way, which the launcher knows. It ends the others and tells
 * which one was the first; if another ends by itself before that, some launchers blame
 * that one. */
static void await_launcher(void)
{
    uint64_t now_ns = bcs_clock_now_ns(), until_ns = now_ns + LAUNCHER_NS;

    while (now_ns < until_ns) {
        bcs_rest(until_ns - now_ns);
        now_ns = bcs_clock_now_ns();
    }
}

static int check(const struct bcs_pmix *pmix, const char *what, pmix_status_t status)
{
    if (status == PMIX_SUCCESS) {
        return 0;
    }
    if (status == PMIX_ERR_PARTIAL_SUCCESS) {
        await_launcher();
    }
    bcs_job_error("%s: %s: %s", pmix->caller, what, pmix->call.error_string(status));
    return -EIO;
}

/** Make every process's last put known to all. */
static int exchange(struct bcs_pmix *pmix)
{
    pmix_info_t collect = {.key = PMIX_COLLECT_DATA,
                           .value = {.type = PMIX_BOOL, .data.flag = true}};
    int rc = check(pmix, "PMIx_Commit", pmix->call.commit());

    return rc < 0 ? rc
                  : check(pmix, "PMIx_Fence", pmix->call.fence(NULL, 0, &collect, 1));
}

/** Get what a process has put, which must be n_bytes. */
static int get_bytes(struct bcs_pmix *pmix, uint32_t rank, const char *key,
                     size_t n_bytes, void *data_out)
{
    pmix_proc_t proc = pmix->self;
    pmix_value_t *value = NULL;
    int rc;

    proc.rank = rank;
    rc = check(pmix, "PMIx_Get", pmix->call.get(&proc, key, NULL, 0, &value));
    if (rc < 0) {
        return rc;
    }
    if (value->type == PMIX_BYTE_OBJECT && value->data.bo.size == n_bytes) {
        memcpy(data_out, value->data.bo.bytes, n_bytes);
        free(value->data.bo.bytes);
    } else {
        bcs_error("%s: PMIx_Get: rank %u has put something else", pmix->caller, rank);
        rc = -EIO;
    }
    free(value);
    return rc;
}

static int allgather(void *arg, const void *mine, size_t n_bytes, void *all_out)
{
    struct bcs_pmix *pmix = arg;
    pmix_value_t value = {
        .type = PMIX_BYTE_OBJECT,
        .data.bo = {.bytes = (char *)(uintptr_t)mine, .size = n_bytes},
    };
    char key[32];
    int rc;

    snprintf(key, sizeof(key), "%s.%u", pmix->caller, pmix->n_exchanges++);
    rc = check(pmix, "PMIx_Put", pmix->call.put(PMIX_GLOBAL, key, &value));
    rc = rc < 0 ? rc : exchange(pmix);
    for (uint32_t i = 0; rc == 0 && i < pmix->size; i++) {
        rc = get_bytes(pmix, i, key, n_bytes, (char *)all_out + i * n_bytes);
    }
    return rc;
}

/** Get a number that the launcher has for the whole job. */
static pmix_status_t get_number(const struct bcs_pmix *pmix, const char *key,
                                uint32_t *number_out)
{
    pmix_proc_t all = pmix->self;
    pmix_value_t *value = NULL;
    pmix_status_t status;

    all.rank = PMIX_RANK_WILDCARD;
    status = pmix->call.get(&all, key, NULL, 0, &value);
    if (status == PMIX_SUCCESS) {
        *number_out = value->type == PMIX_UINT32 ? value->data.uint32 : 0;
        free(value);
    }
    return status;
}

static int get_size(struct bcs_pmix *pmix)
{
    int rc = check(pmix, "PMIx_Get of the job's size",
                   get_number(pmix, PMIX_JOB_SIZE, &pmix->size));

    if (rc < 0) {
        return rc;
    }
    if (pmix->size <= pmix->self.rank) {
        bcs_error("%s: PMIx says that this is rank %u of %u", pmix->caller,
                  pmix->self.rank, pmix->size);
        return -EIO;
    }
    return 0;
}

int bcs_pmix_open(struct bcs_pmix **pmix_out, struct bcs_bootstrap *bootstrap_out,
                  const char *caller)
{
    struct bcs_pmix *pmix = calloc(1, sizeof(*pmix));
    uint32_t n_near = 0;
    int rc;

    if (pmix == NULL) {
        return -ENOMEM;
    }
    pmix->caller = caller;
    rc = load(pmix);

    if (rc == 0) {
        rc = check(pmix, "PMIx_Init", pmix->call.init(&pmix->self, NULL, 0));
        pmix->is_open = rc == 0;
    }
    rc = rc < 0 ? rc : get_size(pmix);
    if (rc < 0) {
        bcs_pmix_close(pmix);
        return rc;
    }
    /* A launcher need not say it. */
    get_number(pmix, PMIX_LOCAL_SIZE, &n_near);
    *bootstrap_out = (struct bcs_bootstrap){
        .rank = pmix->self.rank,
        .size = pmix->size,
        .n_near = n_near,
        .arg = pmix,
        .allgather = allgather,
    };
    *pmix_out = pmix;
    return 0;
}

void bcs_pmix_close(struct bcs_pmix *pmix)
{
    if (pmix == NULL) {
        return;
    }
    if (pmix->is_open) {
        pmix->call.finalize(NULL, 0);
    }
    /* The library stays loaded: it has had threads of its own. */
    free(pmix);
}

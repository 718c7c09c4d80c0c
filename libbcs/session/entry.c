/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings and launcher of a program without MPI; see entry.h.
 */
#include "libbcs/session/entry.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/log_job.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/session/variables.h"

static int read_settings(struct bcs_settings *settings_out)
{
    char error[512];
    int rc = bcs_variables_check(error, sizeof(error));

    settings_out->nic.record = (struct nic_record_config){0};
    if (rc == 0) {
        rc = bcs_config_read(&nic_config_table, &settings_out->nic, error,
                             sizeof(error));
    }
    if (rc == 0) {
        rc = bcs_config_read(&mds_config_table, &settings_out->mds, error,
                             sizeof(error));
    }
    if (rc == 0) {
        rc = bcs_config_read(&bcs_log_config_table, &settings_out->log, error,
                             sizeof(error));
    }
    if (rc < 0) {
        bcs_job_error("%s", error);
    }
    return rc;
}

uint64_t bcs_settings_spin_ns(const struct bcs_settings *settings, uint64_t usual_ns)
{
    return nic_config_spin_ns(&settings->nic, usual_ns);
}

struct bcs_node_range bcs_entry_near(const struct bcs_entry *entry)
{
    uint32_t size = entry->bootstrap.size, machine;
    struct nic_config config = entry->settings.nic;
    struct bcs_node_range near = {0};

    config.far_map = NIC_FAR_BLOCK; /* so that those of a machine follow each other */
    machine = nic_config_machine(&config, size, entry->bootstrap.rank);
    for (uint32_t rank = 0; rank < size; rank++) {
        if (nic_config_machine(&config, size, rank) == machine) {
            near.first = near.n == 0 ? rank : near.first;
            near.n++;
        }
    }
    return near;
}

/** The exchange of a job of one process. */
static int allgather_alone(void *arg, const void *mine, size_t n_bytes, void *all_out)
{
    (void)arg;
    memcpy(all_out, mine, n_bytes);
    return 0;
}

/** Say what the settings ask for that is not recorded. */
static void tell_unrecorded(const struct mds_config *mds, enum bcs_entry_use use,
                            const char *caller)
{
    if (use != BCS_ENTRY_API && mds->mode >= MDS_MODE_EMDS) {
        bcs_notice(BCS_NOTICE_NO_SLICES,
                   "%s: BCS_MDS records slices of MPI and of the BCS API", caller);
    }
}

int bcs_entry_init(struct bcs_entry *entry_out, enum bcs_entry_use use)
{
    /* The process's own, as long as it lives: to the launcher it is one process of one
     * job, which puts each of its keys once. (Who has another bootstrap does not come
     * here.) */
    static atomic_flag has_entered[BCS_N_ENTRIES] = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT,
                                                     ATOMIC_FLAG_INIT};
    static const char *const callers[BCS_N_ENTRIES] = {
        [BCS_ENTRY_API] = "bcs_init",
        [BCS_ENTRY_CBSP] = "cBSP_initialize",
        [BCS_ENTRY_CHANNELS] = "bcs_channels_init",
    };
    const char *caller = callers[use];
    struct bcs_entry entry = {
        .bootstrap = {.size = 1, .n_near = 1, .allgather = allgather_alone},
    };
    int rc;

    if (atomic_flag_test_and_set(&has_entered[use])) {
        bcs_error("%s: called before in this process", caller);
        return -EALREADY;
    }
    rc = read_settings(&entry.settings);
    if (rc == 0 && bcs_pmix_is_launched()) {
        rc = bcs_pmix_open(&entry.pmix, &entry.bootstrap, caller);
    }
    if (rc < 0) {
        return rc;
    }
    bcs_log_setup((enum bcs_log_level)entry.settings.log.level,
                  (int)entry.bootstrap.rank);
    if (entry.bootstrap.rank == 0) {
        tell_unrecorded(&entry.settings.mds, use, caller);
    }
    if (entry.pmix == NULL) {
        bcs_notice(BCS_NOTICE_ALONE, "%s: no launcher provides PMIx", caller);
    }
    *entry_out = entry;
    return 0;
}

void bcs_entry_fini(struct bcs_entry *entry)
{
    bcs_pmix_close(entry->pmix);
    entry->pmix = NULL;
}

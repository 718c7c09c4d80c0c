/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of channel_record.h, and when recording starts and ends: in
 * bcs_channels_init and bcs_channels_finalize. Processes leave without waiting for each
 * other, so nobody sums up what all have recorded, and it is recorded only if the run
 * has a folder: there each writes its own file and then counts itself in the heap of
 * rank 0; who finds that it is the last one says in the manifest that the run has
 * ended. A process that died is not counted, and then the run has not.
 */
#include "libbcs/channel/channel_record.h"

#include <string.h>

#include "libbcs/fabric/base/notice.h"
#include "libbcs/session/run_recorder.h"

struct mds_collect *channels_collect;

static const char *const names[CHANNEL_N_CALLS] = {
#define CHANNEL_CALL(timing, name, parameters, arguments, BEFORE, AFTER) "bcs_" #name,
#include "libbcs/channel/channel_calls.def"
    "bcs_channel_set_helper(handler)",
};

static const enum mds_timing timings[CHANNEL_N_CALLS] = {
#define CHANNEL_CALL(timing, name, parameters, arguments, BEFORE, AFTER) MDS_##timing,
#include "libbcs/channel/channel_calls.def"
    MDS_BESIDE,
};

/** Name what calls are about. */
static void name_comms(struct mds_collect *collect, uint32_t n_procs)
{
    static const char *const comms[] = {
        [CHANNEL_COMM_CHANNELS] = "channels",
        [CHANNEL_COMM_REGIONS] = "regions",
    };

    for (uint32_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
        uint32_t number = mds_comm_number(collect, i + 1, n_procs);

        strcpy(collect->comms.table[number].name, comms[i]);
    }
}

void channels_record(struct channels *channels)
{
    struct mmds_plan plan = {
        .is_shared = true, /* threads of the program, and the helper thread */
        .names = names,
        .timings = timings,
        .n_primitives = CHANNEL_N_CALLS,
    };
    struct bcs_recorder *recorder =
        bcs_recorder_start(&channels->entry, channels->size, &plan);
    struct mds_collect *collect = bcs_recorder_collect(recorder);

    if (recorder != NULL && bcs_recorder_folder(recorder) == NULL) {
        if (channels->rank == 0) {
            bcs_notice(
                BCS_NOTICE_NO_REPORT,
                "bcs_channels_init: the run has no folder, without which BCS_MDS "
                "records no channels and no remote commands");
        }
        bcs_recorder_leave(recorder, false);
        return;
    }
    channels->recorder = recorder;
    if (collect != NULL) {
        name_comms(collect, channels->size);
        channels_collect = collect;
    }
}

/** Count this process among those that have written. @return whether it is the last
 *  one */
static bool is_last(const struct channels *channels)
{
    const struct bcs_node_set first = bcs_node_set_one(0);
    struct bcs_comparison count = {
        .variable_gva = channels->layout.n_written_gva,
        .op = BCS_COMPARE_EQ,
        .dests = &first,
        .write_gva = channels->layout.n_written_gva,
    };
    bool is_counted = false;
    int rc = 0;

    /* The count only grows: if it is not n, it is more. Who is the last one finds all
     * files. */
    for (uint64_t n = 0; rc == 0 && !is_counted && n < channels->size; n++) {
        count.value = n;
        count.write_value = n + 1;
        rc = bcs_compare_and_write(channels->core, &count, &is_counted);
    }
    return is_counted && count.write_value == channels->size;
}

void channels_record_end(struct channels *channels)
{
    struct bcs_recorder *recorder = channels->recorder;

    if (recorder == NULL) {
        return;
    }
    channels_collect = NULL;
    bcs_recorder_stop(recorder);
    bcs_recorder_write(recorder, &(struct bcs_recorder_end){0});
    bcs_recorder_leave(recorder, is_last(channels));
    channels->recorder = NULL;
}

void channels_record_handler(struct channel_in *in)
{
    struct mds_collect *collect = channels_collect;
    uint64_t began;

    if (collect == NULL) {
        in->handler(&in->inlined, in->handler_arg);
        return;
    }
    /* Places are where calls return to, a byte of which is before: here the handler's
     * first one. */
    mds_call_from((const char *)(uintptr_t)in->handler + 1);
    began = mds_begin(collect, CHANNEL_CALL_handler, MDS_BESIDE);
    in->handler(&in->inlined, in->handler_arg);
    mds_end(collect, CHANNEL_CALL_handler, MDS_BESIDE, began);
}

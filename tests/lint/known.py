# SPDX-License-Identifier: BSD-3-Clause
"""What lint.py finds and lets pass: tables that may only become shorter."""

# Calls in the hot folders that are meant, by file and function, each with its reason.
CALLS_IN_HOT_FOLDERS = {
    ("nic_threads/roles/guest.c", "bcs_clock_pause"):
        "one instruction for a spinning core, which reads no clock",
    ("nic_threads/roles/strobe_receiver.c", "bcs_clock_ticks"):
        "the moment at which a recorded slice begins; only if slices are recorded",
}
# Headers that declare functions of files of another name. Some are headers of a whole folder.
KNOWN_ELSEWHERE = {
    "apps/tools/look/look.h": ["apps/tools/look/find.c"],
    "apps/tools/findings/findings.h": ["apps/tools/findings/no_findings.c"],
    "apps/tools/top/screen.h": ["apps/tools/top/no_screen.c"],
    "libbcs/api/collective/collective_internal.h": [
        "libbcs/api/collective/block_cursor.c", "libbcs/api/collective/collective.c",
    ],
    "libbcs/api/collective/collective_shares.h": ["libbcs/api/collective/collective_reduce.c"],
    "libbcs/api/collective/plan.h": [
        "libbcs/api/collective/plan_list.c", "libbcs/api/collective/plan_stand.c",
    ],
    "libbcs/api/message/p2p.h": ["libbcs/api/message/cancel.c", "libbcs/api/message/probe.c"],
    "libbcs/api/message/wait.h": ["libbcs/api/collective/collective.c"],
    "libbcs/api/record/stand_tell.h": ["libbcs/api/record/stand_process.c"],
    "libbcs/api/record/stand_teller.h": ["libbcs/api/record/stand_process.c"],
    "libbcs/bsplib/bsplib.h": [
        "libbcs/bsplib/bsplib_check.c", "libbcs/bsplib/bsplib_sync.c", "libbcs/bsplib/queue.c",
        "libbcs/bsplib/register.c", "libbcs/bsplib/remote.c", "libbcs/bsplib/run.c",
    ],
    "libbcs/cbsp/cbsp_job_state.h": [
        "libbcs/cbsp/cbsp_barrier.c", "libbcs/cbsp/cbsp_job.c", "libbcs/cbsp/cbsp_outbox.c",
        "libbcs/cbsp/cbsp_reduce.c", "libbcs/cbsp/cbsp_region.c", "libbcs/cbsp/cbsp_sync.c",
        "libbcs/cbsp/cbsp_transfer.c", "libbcs/cbsp/cbsp_wait.c", "libbcs/cbsp/inbox.c",
        "libbcs/cbsp/parts.c", "libbcs/cbsp/send.c", "libbcs/cbsp/stuck.c",
    ],
    "libbcs/cbsp/cbsp_wire.h": ["libbcs/cbsp/cbsp_layout.c"],
    "libbcs/cbsp/raw.h": ["libbcs/cbsp/cbsp_calls.c"],
    "libbcs/channel/channel_state.h": [
        "libbcs/channel/channel_check.c", "libbcs/channel/channel_door.c",
        "libbcs/channel/channel_job.c", "libbcs/channel/circle.c", "libbcs/channel/due.c",
        "libbcs/channel/handlers.c", "libbcs/channel/helper.c", "libbcs/channel/open.c",
        "libbcs/channel/pool.c",
    ],
    "libbcs/channel/remote_state.h": [
        "libbcs/channel/channel_region.c", "libbcs/channel/fetch.c",
        "libbcs/channel/remote_event.c", "libbcs/channel/remote_memory.c",
        "libbcs/channel/remote_peer.c", "libbcs/channel/remote_wait.c",
        "libbcs/channel/remote_wake.c",
    ],
    "libbcs/fabric/transport/windows.h": ["libbcs/fabric/transport/map_window.c"],
    "mds/mmds.h": ["mds/mmds_print.c"],
    "mds/source/place_file.h": ["mds/source/place_dwarf.c", "mds/source/place_none.c"],
    "mds/tool/analysis/waits.h": ["mds/tool/analysis/waits_print.c"],
    "mds/tool/diff/diff.h": [
        "mds/tool/diff/diff_calls.c", "mds/tool/diff/diff_ranks.c", "mds/tool/diff/diff_sites.c",
        "mds/tool/diff/diff_split.c", "mds/tool/diff/diff_whole.c", "mds/tool/verbs/verb_diff.c",
    ],
    "mds/tool/export/export.h": [
        "mds/tool/export/export_chrome.c", "mds/tool/export/export_csv.c",
        "mds/tool/export/export_json.c", "mds/tool/export/export_otf2.c",
        "mds/tool/export/export_sqlite.c",
    ],
    "mds/tool/export/otf2_archive.h": ["mds/tool/export/otf2_define.c"],
    "mds/tool/report/report.h": [
        "mds/tool/report/report_calls.c", "mds/tool/report/report_comms.c",
        "mds/tool/report/report_matrix.c", "mds/tool/report/report_ranks.c",
        "mds/tool/report/report_run.c", "mds/tool/report/report_sites.c",
        "mds/tool/report/report_slices.c", "mds/tool/report/report_split.c",
        "mds/tool/report/report_spreads.c", "mds/tool/report/report_waits.c",
    ],
    "mds/tool/verbs/verbs.h": [
        "mds/tool/verbs/verb_check.c", "mds/tool/verbs/verb_diagnosis.c",
        "mds/tool/verbs/verb_diff.c", "mds/tool/verbs/verb_dist.c",
        "mds/tool/verbs/verb_events.c", "mds/tool/verbs/verb_export.c",
        "mds/tool/verbs/verb_matrix.c", "mds/tool/verbs/verb_report.c",
        "mds/tool/verbs/verb_slices.c", "mds/tool/verbs/verb_summary.c",
        "mds/tool/verbs/verb_waits.c",
    ],
    "mpi_shim/calls/lint_entries.h": ["mpi_shim/calls/lint_calls.c", "mpi_shim/calls/lint_left.c"],
    "mpi_shim/data/datatype.h": ["mpi_shim/data/datatype_table.c", "mpi_shim/data/pack.c"],
    "mpi_shim/data/datatype_internal.h": [
        "mpi_shim/data/datatype_describe.c", "mpi_shim/data/datatype_layout.c",
        "mpi_shim/data/pack.c",
    ],
    "mpi_shim/real/state.h": ["mpi_shim/real/door.c"],
    "nic_threads/drivers/driver.h": ["nic_threads/drivers/slices_read.c"],
    "nic_threads/roles/roles.h": [
        "nic_threads/roles/buffer_receiver.c", "nic_threads/roles/buffer_sender.c",
        "nic_threads/roles/collective_helper.c", "nic_threads/roles/dma_helper.c",
        "nic_threads/roles/reduce_helper.c", "nic_threads/roles/strobe_receiver.c",
        "nic_threads/roles/strobe_sender.c",
    ],
}

# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom: the table that lint.py holds the tree to."""

# Not the table of check_calls.py as well, whose edges are others: a header may be included for
# its constants and types alone, and the functions of a public header are defined elsewhere
# (libbcs/include by nearly everybody; libbcs/api calls libbcs/fabric/core through it). Here an edge may
# end at one file, and a subfolder without an entry belongs to the folder above. Both tests refuse
# an edge that nobody uses, so that neither table can stand for the other.

# Which folder may include which, beside itself. A folder's files belong to the longest
# entry that fits; an entry on the right may be a folder or one file.
EVERYBODY = ["libbcs/fabric/base"]
STANDALONE = ["libbcs/include"]  # what is installed cannot include what is not
INCLUDE_EDGES = {
    "libbcs/include": [],
    "libbcs/fabric/base": ["libbcs/include"],
    "libbcs/fabric/transport": ["libbcs/include/bcs/primitives.h"],
    "libbcs/fabric/copy": [],
    "libbcs/fabric/core": ["libbcs/include/bcs/primitives.h", "libbcs/fabric/transport"],
    "libbcs/fabric/ring": ["libbcs/include"],
    "nic_threads": ["libbcs/fabric/ring"],
    "nic_threads/rules": ["libbcs/fabric/ring"],
    "nic_threads/node": [
        "libbcs/include/bcs/primitives.h", "libbcs/fabric/ring", "nic_threads/nic_config.h",
        "nic_threads/rules",
    ],
    "nic_threads/machine": ["libbcs/fabric/copy", "libbcs/fabric/ring", "nic_threads/node"],
    "nic_threads/roles": [
        "libbcs/fabric/ring", "nic_threads/rules", "nic_threads/node", "nic_threads/machine",
    ],
    "nic_threads/referee": [
        "libbcs/fabric/ring", "nic_threads/rules", "nic_threads/node", "nic_threads/machine",
        "nic_threads/roles",
    ],
    "nic_threads/service": [
        "libbcs/fabric/ring", "nic_threads/node", "nic_threads/machine", "nic_threads/roles",
        "nic_threads/referee",
    ],
    "nic_threads/drivers": [
        "nic_threads/node", "nic_threads/machine", "nic_threads/roles", "nic_threads/service",
    ],
    "mds": ["libbcs/include/bcs/version.h", "nic_threads/node/monitor.h"],
    "libbcs/report": [],
    "libbcs/session": [
        "libbcs/include/bcs/primitives.h", "libbcs/fabric/copy",
        "libbcs/fabric/ring/port_map.h", "nic_threads/nic_config.h", "mds/emds.h",
        "mds/mds_config.h", "mds/mmds.h", "mds/recorder.h", "mds/selection.h",
    ],
    "libbcs/api/context": [
        "libbcs/include", "libbcs/fabric/ring", "nic_threads/rules/reduce_ops.h",
        "nic_threads/drivers/driver.h", "mds/origin.h", "libbcs/session",
    ],
    "libbcs/api/record": [
        "libbcs/fabric/ring", "nic_threads/node/referee_wake.h", "nic_threads/referee/snapshot.h",
        "nic_threads/drivers/driver.h", "libbcs/report/deadlock_report.h", "libbcs/api/context",
    ],
    "libbcs/api/message": [
        "libbcs/include/bcs/bcs.h", "libbcs/fabric/ring", "nic_threads/node/node.h",
        "nic_threads/machine/engine_xfer.h", "nic_threads/machine/node_copy.h",
        "nic_threads/machine/waking.h",
        "nic_threads/machine/link.h", "nic_threads/referee/proof.h", "nic_threads/drivers/pending_desks.h",
        "nic_threads/drivers/take_at_hand.h", "nic_threads/drivers/waiting.h",
        "nic_threads/drivers/withdraw.h", "libbcs/report", "libbcs/api/context",
        "libbcs/api/record",
    ],
    "libbcs/api/collective": [
        "libbcs/include", "libbcs/fabric/ring", "nic_threads/rules/reduce_ops.h",
        "nic_threads/node/signature.h", "nic_threads/machine/engine_xfer.h",
        "nic_threads/drivers/driver.h", "nic_threads/drivers/pending_desks.h",
        "libbcs/api/context", "libbcs/api/record", "libbcs/api/message",
    ],
    "libbcs/api": [
        "libbcs/include", "libbcs/fabric/ring", "nic_threads/nic_config.h", "mds/collect.h",
        "mds/dump_node.h", "mds/emds.h", "mds/live_slices.h", "mds/mds_config.h",
        "mds/recorder.h", "libbcs/session", "libbcs/api/context", "libbcs/api/record",
        "libbcs/api/message", "libbcs/api/collective",
    ],
    "libbcs/cbsp": [
        "libbcs/include", "libbcs/fabric/copy", "mds/collect.h", "libbcs/report/finding.h", "libbcs/session",
    ],
    "libbcs/channel": [
        "libbcs/include", "nic_threads/rules/reduce_ops.h", "mds/collect.h",
        "libbcs/report/deadlock_report.h", "libbcs/session",
    ],
    "libbcs/bsplib": ["libbcs/cbsp/call_kinds.def", "libbcs/cbsp/raw.h"],
    "mpi_shim/real": [
        "libbcs/include/bcs/status.h", "mds/collect.h", "libbcs/api/message/external.h",
        "libbcs/api/message/misuse.h", "libbcs/api/message/turns.h", "libbcs/api/message/wait.h",
        "libbcs/api/record/stand_tell.h", "libbcs/api/attach.h",
    ],
    "mpi_shim/data": [
        "libbcs/include/bcs/bcs.h", "nic_threads/rules/reduce_ops.h", "mpi_shim/real",
    ],
    "mpi_shim/comm": [
        "mds/collect.h", "libbcs/fabric/ring/stand.h", "libbcs/api/message/p2p.h", "libbcs/api/message/wait.h",
        "libbcs/api/collective/collective_across.h", "libbcs/api/collective/neighbors.h",
        "mpi_shim/real",
    ],
    "mpi_shim/collective": [
        "libbcs/include/bcs/bcs.h", "libbcs/api/collective/disagreement.h",
        "mpi_shim/real/fault.h", "mpi_shim/data", "mpi_shim/comm",
    ],
    "mpi_shim/request": [
        "libbcs/include/bcs/bcs.h", "libbcs/report", "libbcs/api/record/stand_tell.h",
        "libbcs/api/message/completion.h", "libbcs/api/message/misuse.h",
        "libbcs/api/message/p2p.h", "libbcs/api/message/wait.h", "mpi_shim/real", "mpi_shim/data",
        "mpi_shim/comm", "mpi_shim/collective",
    ],
    "mpi_shim/calls": [
        "libbcs/include/bcs/version.h", "libbcs/fabric/ring/stand.h", "nic_threads/nic_config.h",
        "mds/collect.h", "mds/dump_write.h", "mds/mds_config.h", "mds/run_folder.h",
        "mds/selection.h", "libbcs/report", "libbcs/session/variables.h",
        "libbcs/api/record/collective_words.h", "libbcs/api/record/stand_tell.h",
        "libbcs/api/message/misuse.h", "libbcs/api/message/p2p.h",
        "libbcs/api/message/unreceived.h", "libbcs/api/message/wait.h", "libbcs/api/job_record.h",
        "libbcs/session/mapping.h", "mpi_shim/real", "mpi_shim/data", "mpi_shim/comm", "mpi_shim/collective",
        "mpi_shim/request",
    ],
    "mds/source": [],
    "mds/tool/read": [
        "mds/dump.h", "mds/dump_process.h", "mds/emds.h", "mds/histogram.h", "mds/live.h",
        "mds/live_slices.h", "mds/mmds.h", "mds/run_folder.h",
    ],
    "mds/tool/analysis": [
        "mds/events.h", "mds/histogram.h", "mds/run_folder.h", "mds/source", "mds/tool/read",
    ],
    "mds/tool/report": ["mds/histogram.h", "mds/tool/read", "mds/tool/analysis"],
    "mds/tool/export": [
        "mds/collect.h", "mds/events.h", "mds/histogram.h", "mds/source", "mds/tool/read",
        "mds/tool/analysis",
    ],
    "mds/tool/diff": ["mds/tool/read", "mds/tool/analysis"],
    "mds/tool/verbs": [
        "mds/histogram.h", "mds/tool/read", "mds/tool/analysis", "mds/tool/report",
        "mds/tool/export", "mds/tool/diff",
    ],
    "mds/tool": ["libbcs/include/bcs/version.h", "mds/tool/analysis", "mds/tool/verbs"],
    "apps/tools/findings": [
        "libbcs/include/bcs/version.h", "libbcs/report/finding_rules.h",
        "mds/tool/read/json_ranks.h", "mds/tool/read/text.h",
    ],
    "apps/tools/launch": [
        "libbcs/include", "libbcs/report/finding.h", "libbcs/session/variables.h", "apps/tools/findings",
    ],
    "apps/tools/hosts": ["libbcs/include/bcs/version.h"],
    "apps/tools/look": ["libbcs/include/bcs/primitives.h", "libbcs/fabric/ring"],
    "apps/tools/top": [
        "libbcs/include/bcs/version.h", "libbcs/fabric/ring/stand.h", "libbcs/report/finding.h",
        "mds/source/place.h", "mds/source/reader.h", "mds/tool/read", "apps/tools/look",
    ],
    "apps": None,  # of ours nothing at all, not even what everybody may
    "apps/cbsp": ["apps/common", "libbcs/include/bcs/cbsp.h"],
    "apps/channel": ["apps/bench", "apps/common", "libbcs/include/bcs/channel.h",
                     "libbcs/include/bcs/remote.h"],
    "apps/examples": ["libbcs/include/bcs/bcs.h"],
    "tests": ["libbcs", "nic_threads", "mds", "mpi_shim", "apps/tools", "apps/bench/median.h",
              "apps/channel/matrix_market.h", "apps/channel/sparse.h", "apps/common",
              "apps/overhead/measure/counters.h", "apps/overhead/measure/matching.h",
              "apps/sage/wide_sum.h"],
}
# Files that only some folders may include, whatever the table above says.
RESTRICTED_HEADERS = {
    "libbcs/api/context/context.h": ["libbcs/api"],
    "libbcs/fabric/base/environment.h": ["libbcs/fabric/base", "apps/tools/launch",
                                  "libbcs/session/bootstrap_pmix.c",
                                  "libbcs/session/mapping.c",
                                  "libbcs/report/finding.c",
                                  "libbcs/report/top_tool.c"],
}
# Files of a folder that include each other in a circle, a file and its header being one. No
# circle may be new or grow, and what is not one any more goes.
KNOWN_CIRCLES = []

# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom: the table that lint.py holds the tree to."""

# Not the table of check_calls.py as well, whose edges are others: a header may be included for
# its constants and types alone, and the functions of a public header are defined elsewhere
# (libbcs/include by nearly everybody; libbcs/api calls libbcs/core through it). Here an edge may
# end at one file, and a subfolder without an entry belongs to the folder above. Both tests refuse
# an edge that nobody uses, so that neither table can stand for the other.

# Which folder may include which, beside itself. A folder's files belong to the longest
# entry that fits; an entry on the right may be a folder or one file.
EVERYBODY = ["libbcs/base"]
STANDALONE = ["libbcs/include"]  # what is installed cannot include what is not
INCLUDE_EDGES = {
    "libbcs/include": [],
    "libbcs/base": ["libbcs/include"],
    "libbcs/transport": ["libbcs/include"],
    "libbcs/copy": [],
    "libbcs/core": ["libbcs/include", "libbcs/transport"],
    "libbcs/ring": ["libbcs/include"],
    "libbcs/session": [
        "libbcs/copy",
        "libbcs/include",
        "mds/emds.h",
        "mds/mds_config.h",
        "mds/mmds.h",
        "mds/recorder.h",
        "mds/selection.h",
        "nic_threads/nic_config.h",
    ],
    "libbcs/api": [
        "libbcs/include",
        "libbcs/ring",
        "libbcs/session",
        "mds/collect.h",
        "mds/dump_node.h",
        "mds/emds.h",
        "mds/live_slices.h",
        "mds/mds_config.h",
        "mds/origin.h",
        "mds/recorder.h",
        "nic_threads/drivers/at_hand.h",
        "nic_threads/drivers/case.h",
        "nic_threads/drivers/driver.h",
        "nic_threads/drivers/owed.h",
        "nic_threads/drivers/records.h",
        "nic_threads/drivers/waiter.h",
        "nic_threads/drivers/withdraw.h",
        "nic_threads/nic_config.h",
        "nic_threads/node/engine_xfer.h",
        "nic_threads/node/note.h",
        "nic_threads/node/process_copy.h",
        "nic_threads/node/stirring.h",
        "nic_threads/node/terms.h",
        "nic_threads/rules/reduce_ops.h",
    ],
    "libbcs/cbsp": ["libbcs/copy", "libbcs/include", "libbcs/session", "mds/collect.h"],
    "libbcs/channel": ["libbcs/include", "libbcs/session", "mds/collect.h",
                       "nic_threads/rules/reduce_ops.h"],
    "libbcs/bsplib": ["libbcs/cbsp/call_kinds.def", "libbcs/cbsp/raw.h"],
    "libbcs/look": ["libbcs/include", "libbcs/ring"],
    "libbcs/tools/top": ["libbcs/include", "libbcs/look", "mds/tool/manifest.h",
                         "mds/tool/place.h", "mds/tool/reader.h"],
    "libbcs/tools": ["libbcs/include", "libbcs/session/variables.h"],
    "nic_threads": ["libbcs/ring"],
    "nic_threads/rules": ["libbcs/ring"],
    "nic_threads/node": [
        "libbcs/copy",
        "libbcs/include",
        "libbcs/ring",
        "nic_threads/nic_config.h",
        "nic_threads/rules",
    ],
    "nic_threads/roles": [
        "libbcs/ring/landing.h",
        "nic_threads/node",
        "nic_threads/rules",
    ],
    "nic_threads/drivers": ["libbcs/ring", "nic_threads/node", "nic_threads/roles",
                            "nic_threads/rules/deadlock.h"],
    "mds": ["libbcs/include/bcs/version.h", "nic_threads/node/monitor.h"],
    "mds/tool": ["libbcs/include/bcs/version.h", "mds"],
    "mpi_shim/real": [
        "libbcs/include",
        "libbcs/api/attach.h",
        "libbcs/api/external.h",
        "libbcs/api/misuse.h",
        "libbcs/api/turns.h",
        "libbcs/api/wait.h",
        "mds/collect.h",
    ],
    "mpi_shim/data": ["libbcs/include", "mpi_shim/real", "nic_threads/rules/reduce_ops.h"],
    "mpi_shim/comm": [
        "mds/collect.h",
        "libbcs/api/collective_across.h",
        "libbcs/api/neighbors.h",
        "libbcs/api/p2p.h",
        "libbcs/api/wait.h",
        "mpi_shim/real",
    ],
    "mpi_shim/collective": [
        "libbcs/api/disagreement.h",
        "libbcs/include",
        "mpi_shim/comm",
        "mpi_shim/data",
    ],
    "mpi_shim/request": [
        "libbcs/api/completion.h",
        "libbcs/api/misuse.h",
        "libbcs/api/p2p.h",
        "libbcs/api/stand.h",
        "libbcs/api/wait.h",
        "libbcs/session/lines.h",
        "mpi_shim/collective",
        "mpi_shim/comm",
        "mpi_shim/data",
        "mpi_shim/real",
    ],
    "mpi_shim/calls": [
        "libbcs/api/collective_words.h",
        "libbcs/api/misuse.h",
        "libbcs/api/job_record.h",
        "libbcs/api/p2p.h",
        "libbcs/api/stand.h",
        "libbcs/api/unreceived.h", "libbcs/api/wait.h", "libbcs/include/bcs/version.h",
        "libbcs/session/lines.h",
        "libbcs/session/variables.h",
        "mds",
        "mpi_shim/collective",
        "mpi_shim/comm",
        "mpi_shim/data",
        "mpi_shim/real",
        "mpi_shim/request",
    ],
    "apps": None,  # of ours nothing at all, not even what everybody may
    "apps/cbsp": ["apps/common", "libbcs/include/bcs/cbsp.h"],
    "apps/channel": ["apps/bench", "apps/common", "libbcs/include/bcs/channel.h",
                     "libbcs/include/bcs/remote.h"],
    "apps/examples": ["libbcs/include/bcs/bcs.h"],
    "tests": ["libbcs", "nic_threads", "mds", "mpi_shim", "apps/bench/median.h",
              "apps/channel/matrix_market.h", "apps/channel/sparse.h", "apps/common",
              "apps/overhead/measure/counters.h", "apps/overhead/measure/matching.h",
              "apps/sage/wide_sum.h"],
}
# Files that only some folders may include, whatever the table above says.
RESTRICTED_HEADERS = {
    "libbcs/api/context.h": ["libbcs/api"],
    "libbcs/base/environment.h": ["libbcs/base", "libbcs/tools",
                                  "libbcs/session/bootstrap_pmix.c",
                                  "libbcs/session/top_tool.c"],
}
# Files of a folder that include each other in a circle, a file and its header being one. No
# circle may be new or grow, and what is not one any more goes.
KNOWN_CIRCLES = []

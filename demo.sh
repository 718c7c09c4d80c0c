#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, and runs SWEEP3D on 4 ranks under BCS; the report at
# the end says what each MPI primitive cost.
set -eu
cd "$(dirname "$0")"
. .ci/setup.sh

install_missing
build_all
BCS_MDS=mmds
export BCS_MDS

# The report is on standard error: keep it apart, so that it follows the program's output.
report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
"$BUILD_DIR/apps/tools/launch/bcsrun" -n 4 "$BUILD_DIR/apps/sweep3d/sweep3d" \
    apps/sweep3d/input.demo 2>"$report" || status=$?
cat "$report"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Shows three things: what each MPI call of SWEEP3D costs, on 4 ranks under BCS; how a deadlock
# is reported; and the recorded run as a page for a browser. Installs what is missing, and
# builds what is needed for that and no more.
set -eu
cd "$(dirname "$0")"
. .ci/setup.sh

RUNS=$BUILD_DIR/demo
PAGE=$BUILD_DIR/demo.html
bcsrun=$BUILD_DIR/apps/tools/launch/bcsrun

# What the demo runs, in the build folder.
TARGETS="apps/tools/launch/bcsrun apps/tools/top/bcs-top mpi_shim/libbcs_mpi.so
    mds/tool/bcs-mds apps/sweep3d/sweep3d apps/examples/example_deadlock"

heading() {
    printf '\n== %s\n\n' "$*"
}

install_missing program
if [ -n "$(missing_list tests)" ]; then
    build_configure -Dtests=false
else
    build_configure
fi
# shellcheck disable=SC2086 # a list of words
ninja -C "$BUILD_DIR" $TARGETS

heading "SWEEP3D on 4 ranks: what each MPI call costs"
rm -rf "$RUNS"
# The summary is on standard error: keep it apart, so that it follows the program's output.
report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
"$bcsrun" --mds="$RUNS" -n 4 "$BUILD_DIR/apps/sweep3d/sweep3d" \
    apps/sweep3d/input.demo 2>"$report" || status=$?
[ "$status" -eq 0 ] || {
    cat "$report"
    exit "$status"
}
sed -n '/^MMDS, all/,/^$/p' "$report" # those of each rank follow

heading "A deadlock: rank 0 sends tag 8, rank 1 waits for tag 7 (apps/examples/deadlock.c)"
status=0
"$bcsrun" -n 2 "$BUILD_DIR/apps/examples/example_deadlock" || status=$?
[ "$status" -eq 86 ] || exit 1

heading "SWEEP3D's run, recorded"
"$BUILD_DIR/mds/tool/bcs-mds" report "$RUNS"/* -o "$PAGE"
echo "Open $(realpath "$PAGE") in a browser: the timeline, who waits for whom, and where."
echo "Your own program: $bcsrun -n 4 ./prog"

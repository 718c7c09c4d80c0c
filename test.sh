#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds if needed, runs the tests and ends with a line "N passed, N failed".
#
# Usage: test.sh [--all] [--werror] [arguments of "meson test"]
#   --all     the suite "long", too
#   --werror  compiler warnings are errors
set -u
cd "$(dirname "$0")" || exit 1
. .ci/setup.sh

suites="--no-suite single --no-suite long"
build_options=
while [ $# -gt 0 ]; do
    case $1 in
    --all) suites="--no-suite single" ;;
    --werror) build_options=-Dwerror=true ;;
    --help)
        sed -n '3,8s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) break ;;
    esac
    shift
done

# shellcheck disable=SC2086 # empty or one word
if ! install_missing || ! build_all $build_options; then
    echo "The build failed."
    echo "0 passed, 1 failed"
    exit 1
fi

log=$BUILD_DIR/meson-logs/testlog.json
rm -f "$log"
# shellcheck disable=SC2086 # several words
meson test -C "$BUILD_DIR" --no-rebuild --print-errorlogs $suites "$@"
status=$?

# One JSON object a line for each test. Quotes inside a test's output are escaped there.
count() {
    grep -c -E "\"result\": \"($1)\"" "$log" 2>/dev/null
}
total=$(count '[A-Z]+')
passed=$(count 'OK|EXPECTEDFAIL')
skipped=$(count 'SKIP')
failed=$((${total:-0} - ${passed:-0} - ${skipped:-0}))
if [ "$failed" -gt 0 ] || [ "${total:-0}" -eq 0 ]; then
    status=1
fi
line="${passed:-0} passed, $failed failed"
[ "${skipped:-0}" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
exit "$status"

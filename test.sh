#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds if needed, runs the tests and ends with a line "N passed, N failed".
#
# Usage: test.sh [--all] [--werror] [--sanitize=WHAT] [arguments of "meson test"]
#   --all            the suite "long", too
#   --werror         compiler warnings are errors
#   --sanitize=WHAT  with the compiler's sanitizers address, undefined, leak or thread (with
#                    commas), in a build folder of its own
# MESON_TESTTHREADS says how many tests run at a time; three for each core if it does not.
set -u
cd "$(dirname "$0")" || exit 1
. .ci/setup.sh

suites="--no-suite single --no-suite long"
build_options=-Dtests=true # demo.sh may have left them out
sanitizers=
while [ $# -gt 0 ]; do
    case $1 in
    --all) suites="--no-suite single" ;;
    --werror) build_options="$build_options -Dwerror=true" ;;
    --sanitize=?*) sanitizers=${1#*=} ;;
    --help)
        sed -n '3,11s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) break ;;
    esac
    shift
done

# What sanitizers find ends a process. What the user has in their variables counts more.
if [ -n "$sanitizers" ]; then
    BUILD_DIR=$BUILD_DIR-$(echo "$sanitizers" | tr , -)
    build_options="$build_options -Db_sanitize=$sanitizers -Db_lundef=false"
    export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
    # Open MPI unloads its plugins, so that nobody can tell which leaks are theirs. The
    # tests without it look for leaks. Programs without sanitizers, a shell say, load our
    # libraries before the sanitizer's, which would end them for that.
    export ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0:${ASAN_OPTIONS:-}"
    echo "Skipped: engine_threads, which has ThreadSanitizer and bears no other build;" \
        "address_space, resident_memory_* and globals, as sanitizers have memory and" \
        "variables of their own."
    case $sanitizers in
    *thread* | *leak*)
        suites="--suite unit"
        echo "Skipped: all but the suite unit. ThreadSanitizer does not know the locks in" \
            "Open MPI, nor LeakSanitizer its plugins."
        ;;
    esac
    suites="$suites --timeout-multiplier 6"
fi

# shellcheck disable=SC2086 # several words
if ! install_missing program tests || ! install_wanted || ! build_all $build_options; then
    echo "The build failed."
    echo "0 passed, 1 failed"
    exit 1
fi

# Half of the time of most tests is waiting: for mpirun to begin and to end, for other ranks. Two
# for each core leave a tenth of the cores' time unused, three next to nothing.
export MESON_TESTTHREADS="${MESON_TESTTHREADS:-$((3 * $(nproc)))}"

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

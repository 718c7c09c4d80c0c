#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs what takes too long for each change: once a night, say. Ends with "N passed, N failed".
#
# Usage: tests/nightly.sh [--work FOLDER] [STEP...]
#   --work FOLDER  for the steps' output, STEP.log, and what the fuzzers find (default: nightly)
#   STEP           some of these; all, in this order, if there is none:
#     suite     ./test.sh --all
#     sanitize  the usual tests with AddressSanitizer and UndefinedBehaviorSanitizer
#     race      the unit tests with ThreadSanitizer
#     fuzz      an hour of fuzzing for what reads files and memory of others; needs clang
#     random    20000 random programs in all modes
#     matrix    every conformance program in all modes
#     mutants   every fault that the tests must notice
set -u
cd "$(dirname "$0")/.." || exit 1

work=nightly
if [ "${1:-}" = --help ]; then
    sed -n '3,15s/^# \{0,1\}//p' tests/nightly.sh
    exit 0
fi
if [ "${1:-}" = --work ]; then
    work=${2:?--work needs a folder}
    shift 2
fi
all="suite sanitize race fuzz random matrix mutants"
[ $# -gt 0 ] || eval "set -- $all"
for step in "$@"; do
    case " $all " in
    *" $step "*) ;;
    *)
        echo "nightly.sh: no step $step; allowed: $all" >&2
        exit 2
        ;;
    esac
done
mkdir -p "$work" || exit 1
. .ci/setup.sh

run() {
    case $1 in
    suite) ./test.sh --all ;;
    sanitize) ./test.sh --sanitize=address,undefined ;;
    race) ./test.sh --sanitize=thread ;;
    fuzz) python3 tests/fuzz/run_fuzz.py --build "$BUILD_DIR" --work "$work/fuzz" --minutes 60 ;;
    random) python3 tests/random/run_random.py --build "$BUILD_DIR" --seeds 20000 \
        --per-launch 100 --jobs 2 ;;
    matrix) python3 tests/conformance/run_matrix.py --build "$BUILD_DIR" --jobs 2 ;;
    mutants) python3 tests/mutate/mutate.py --jobs 2 ;;
    esac
}

if ! install_missing program tests || ! build_all >"$work/build.log" 2>&1; then
    echo "The build failed: $work/build.log"
    echo "0 passed, 1 failed"
    exit 1
fi
passed=0
failed=0
for step in "$@"; do
    if run "$step" >"$work/$step.log" 2>&1; then
        passed=$((passed + 1))
        echo "$step: passed"
    else
        failed=$((failed + 1))
        echo "$step: FAILED, see $work/$step.log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

# SPDX-License-Identifier: BSD-3-Clause
# Shared by demo.sh, test.sh and .ci/run, which source it at the top of the checkout:
# installs what is missing and builds. BUILD_DIR names the build folder (default: build).

BUILD_DIR=${BUILD_DIR:-build}
# What the programs need to be built, and what the tests and bcs-mds's other formats need.
PROGRAM_PACKAGES="gcc libc6-dev meson ninja-build pkg-config libopenmpi-dev openmpi-bin libpmix-dev libucx-dev libjansson-dev libdw-dev"
TEST_PACKAGES="gfortran check libsqlite3-dev libotf2-trace-dev libncurses-dev"
# What a few tests need, which are skipped without it.
WANTED_PACKAGES="python3-scipy gnuplot-nox"

# What this machine lacks, one name a line. "program": of what the programs need to be built;
# "tests": of what is needed besides, for the tests.
missing_list() {
    case $1 in
    program)
        programs="gcc meson ninja pkg-config mpirun python3"
        libraries="ompi-c pmix ucx jansson libdw"
        ;;
    tests)
        programs=gfortran
        libraries="ompi-fort check sqlite3 otf2 ncursesw"
        ;;
    esac
    for program in $programs; do
        command -v "$program" >/dev/null 2>&1 || echo "$program"
    done
    for library in $libraries; do
        pkg-config --exists "$library" 2>/dev/null || echo "$library"
    done
    echo '#include <stdio.h>' | gcc -E - >/dev/null 2>&1 || echo libc6-dev
    return 0
}

# What only those tests need and this machine lacks. A Python that comes before the
# distribution's in PATH need not have it: bcs-overhead looks at both.
wanted_list() {
    python3 -c 'import numpy, scipy' >/dev/null 2>&1 ||
        /usr/bin/python3 -c 'import numpy, scipy' >/dev/null 2>&1 || echo python3-scipy
    command -v gnuplot >/dev/null 2>&1 || echo gnuplot-nox
    return 0
}

# Install what those tests need, if that can be done without asking; never fails.
install_wanted() {
    wanted=$(wanted_list)
    [ -n "$wanted" ] || return 0
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root="sudo -n"
    if command -v apt-get >/dev/null 2>&1; then
        # shellcheck disable=SC2086 # lists of words
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends $WANTED_PACKAGES >/dev/null 2>&1 || {
            $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y --no-install-recommends $WANTED_PACKAGES
        } >/dev/null 2>&1
    fi
    wanted=$(wanted_list | tr '\n' ' ')
    [ -z "$wanted" ] || echo "Not installed: $wanted; the tests that need it are skipped."
    return 0
}

# All that is missing for some kinds of missing_list, as one line.
missing_of() {
    for kind in "$@"; do
        missing_list "$kind"
    done | tr '\n' ' '
}

# Install the packages with apt, on systems that have it, if anything is missing of these kinds:
# program, or program tests.
install_missing() {
    missing=$(missing_of "$@")
    [ -n "$missing" ] || return 0
    packages=$PROGRAM_PACKAGES
    [ "$*" = program ] || packages="$packages $TEST_PACKAGES"
    echo "Missing: $missing"
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "This is no Debian or Ubuntu system: install the above by hand (Open MPI" \
            "and PMIx, with their pkg-config files, and the Check library)." >&2
        return 1
    fi
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        command -v sudo >/dev/null 2>&1 || {
            echo "Not root and no sudo here. As root, run:" \
                "apt-get update && apt-get install $packages" >&2
            return 1
        }
    fi
    # What apt-get update cannot fetch, the installation may not need.
    $as_root apt-get update || true
    # shellcheck disable=SC2086 # a list of packages
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $packages || return 1
    was_installed=yes
    missing=$(missing_of "$@")
    [ -z "$missing" ] || {
        echo "Still missing after the installation: $missing" >&2
        return 1
    }
}

# Configure once, or again with other options. Arguments go to meson.
build_configure() {
    if [ ! -f "$BUILD_DIR/build.ninja" ]; then
        meson setup "$BUILD_DIR" "$@" || return 1
    elif [ -n "${was_installed:-}" ]; then # it looks again for what it had not found
        meson setup --reconfigure "$BUILD_DIR" "$@" || return 1
    elif [ $# -gt 0 ]; then
        meson configure "$BUILD_DIR" "$@" || return 1
    fi
}

# The same, and build all.
build_all() {
    build_configure "$@" && ninja -C "$BUILD_DIR"
}

# SPDX-License-Identifier: BSD-3-Clause
# Shared by demo.sh, test.sh and .ci/run, which source it at the top of the checkout:
# installs what is missing and builds. BUILD_DIR names the build folder (default: build).

BUILD_DIR=${BUILD_DIR:-build}
PACKAGES="gcc gfortran meson ninja-build pkg-config check libopenmpi-dev openmpi-bin"

# What the build and the tests need and this machine lacks, one name a line.
missing_list() {
    for program in gcc gfortran meson ninja pkg-config mpirun python3; do
        command -v "$program" >/dev/null 2>&1 || echo "$program"
    done
    for library in ompi-c ompi-fort check; do
        pkg-config --exists "$library" 2>/dev/null || echo "$library"
    done
    return 0
}

run_as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        echo "Not root and no sudo here. As root, run: $*" >&2
        return 1
    fi
}

# Install the packages with apt, on systems that have it, if anything is missing.
install_missing() {
    missing=$(missing_list | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    echo "Missing: $missing"
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "This is no Debian or Ubuntu system: install the above by hand (Open MPI," \
            "with its C and Fortran pkg-config files, and the Check library)." >&2
        return 1
    fi
    run_as_root apt-get update || return 1
    # shellcheck disable=SC2086 # a list of packages
    run_as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $PACKAGES || return 1
    missing=$(missing_list | tr '\n' ' ')
    [ -z "$missing" ] || {
        echo "Still missing after the installation: $missing" >&2
        return 1
    }
}

# Configure once (or again, with other options) and build. Arguments go to meson.
build_all() {
    if [ ! -f "$BUILD_DIR/build.ninja" ]; then
        meson setup "$BUILD_DIR" "$@" || return 1
    elif [ $# -gt 0 ]; then
        meson configure "$BUILD_DIR" "$@" || return 1
    fi
    ninja -C "$BUILD_DIR"
}

# shellcheck shell=bash
# Sourced by build.sh: brings in what a Debian 12 machine lacks. Does nothing, quickly,
# when all is there.

# command or file that shows a package is there -> package
APT_NEEDS=(
    gcc:build-essential
    emcc:emscripten
    clang-19:clang-19
    llvm-ar-19:llvm-19
    wasm-ld-19:lld-19
    /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a:libclang-rt-19-dev
    clang-format:clang-format
    shellcheck:shellcheck
    valgrind:valgrind
    aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
    /usr/aarch64-linux-gnu/include/stdint.h:libc6-dev-arm64-cross
    s390x-linux-gnu-gcc:gcc-s390x-linux-gnu
    /usr/s390x-linux-gnu/include/stdint.h:libc6-dev-s390x-cross
    qemu-aarch64-static:qemu-user-static
    cmake:cmake
    pkg-config:pkg-config
    tcc:tcc
)

missing_packages() {
    local need proof package
    for need in "${APT_NEEDS[@]}"; do
        proof=${need%:*}
        package=${need##*:}
        # Files named for x86-64 prove nothing on another machine: ask the package manager.
        case $proof in
        /*) [ -e "$proof" ] || dpkg -s "$package" >/dev/null 2>&1 || echo "$package" ;;
        *) command -v "$proof" >/dev/null || echo "$package" ;;
        esac
    done
    python_works || echo python3
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    [ -e "$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ||
        echo python3-dev
}

python_works() {
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

install_packages() {
    local packages
    mapfile -t packages < <(missing_packages)
    apt_install "${packages[@]}"
    python_works || {
        echo "setup: $PYTHON is older than 3.11; set PYTHON to a newer one" >&2
        return 1
    }
}

# Installs Debian packages; without any, does nothing.
apt_install() { # package…
    local sudo=()
    [ $# -gt 0 ] || return 0
    echo "setup: installing $*"
    if [ "$(id -u)" != 0 ]; then
        sudo=(sudo)
        command -v sudo >/dev/null || {
            echo "setup: run as root, or install these yourself: $*" >&2
            return 1
        }
    fi
    mkdir -p build/log
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "$@" >build/log/apt.log 2>&1 || {
        tail -n 20 build/log/apt.log >&2
        return 1
    }
}

# .venv with the pinned packages, and with this source tree importable.
make_venv() {
    local wanted
    wanted=$(sha256sum requirements-dev.txt | cut -c 1-64)
    if [ "$(cat .venv/requirements.sha256 2>/dev/null)" = "$wanted" ] &&
        "$VENV_PYTHON" -c '' 2>/dev/null; then
        return 0
    fi
    echo "setup: Python packages into .venv"
    "$VENV_PYTHON" -c 'import pip' 2>/dev/null || "$PYTHON" -m venv --clear .venv
    "$VENV_PYTHON" -m pip install -q --disable-pip-version-check -r requirements-dev.txt
    link_source_tree
    echo "$wanted" >.venv/requirements.sha256
}

link_source_tree() {
    local site
    site=$("$VENV_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$PWD/py_host" >"$site/isotok-source-tree.pth"
    printf '#!/bin/sh\nexec "%s" -m isotok "$@"\n' "$PWD/$VENV_PYTHON" >.venv/bin/isotok
    chmod +x .venv/bin/isotok
}

setup() {
    install_packages
    make_venv
}

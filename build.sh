#!/usr/bin/env bash
# Every verb of the project; `./build.sh help` lists them. CI runs the same.
set -Eeuo pipefail
trap 'echo "build.sh: failed: $BASH_COMMAND (${BASH_SOURCE[0]}, line $LINENO)" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")"

PYTHON=${PYTHON:-python3}
VENV_PYTHON=.venv/bin/python
JOBS=${JOBS:-$(nproc)}
export PYTHONDONTWRITEBYTECODE=${PYTHONDONTWRITEBYTECODE:-1}

# shellcheck source=tools/setup.sh
source tools/setup.sh
# shellcheck source=tools/compile.sh
source tools/compile.sh
# shellcheck source=tools/web.sh
source tools/web.sh
# shellcheck source=tools/playground.sh
source tools/playground.sh
# shellcheck source=tools/hosts.sh
source tools/hosts.sh

usage() {
    cat <<'TEXT'
usage: ./build.sh VERB [ARGUMENT …]

  setup                 install what is missing: Debian packages, .venv
  gen [--check]         write the generated files (or only compare)
  build [PART …]        native, wasm, wasm-second, py, web, playground, and hosts
                        (browsers and runtimes for tests), bench-web (peers);
                        without PART: native wasm py
  build variant NAME    C tests and their libraries: debug, asan, aarch64, s390x
  amalgamation [FOLDER] the C core as files to copy: dist/isotok.{h,c}, isotok_build.{h,c}
  check                 formatters, linters, types, layers, generated files; < 20 s
  test [NAME …]         all that CI runs, or the named parts and groups (test --list)
  test full [ARG …]     the large matrices
  test scale [ARG …]    docs/scale.md with its engines
  fuzz [ARG …]          libFuzzer targets
  bench [NAME …]        measurements against peers
  demo                  set up, build, and show it at work
  clean [all]           remove what was built (all: .venv and web/node_modules too)
TEXT
}

say() { printf '\n== %s\n' "$*"; }

# One build at a time: two that write the same objects spoil each other's.
with_lock() { # command…
    mkdir -p build
    exec 9>build/.lock
    flock 9
    "$@"
    exec 9>&-
}

# Ends with a script of the tree: its exit code is ours.
end_with() { # path argument…
    [ -e "$1" ] || {
        echo "build.sh: $1 is missing" >&2
        exit 1
    }
    exec "$VENV_PYTHON" "$@"
}

verb_gen() {
    with_lock setup
    "$VENV_PYTHON" core/format/generate.py "$@"
    "$VENV_PYTHON" wasm/layout.py "$@"
    "$VENV_PYTHON" tools/operations.py "$@"
    "$VENV_PYTHON" tools/pretok_known.py "$@"
    "$VENV_PYTHON" tools/normalizer_known.py "$@"
}

verb_build() {
    with_lock setup
    [ $# -gt 0 ] || set -- native wasm py
    with_lock build_parts "$@"
}

build_parts() { # part…
    local part
    if [ "$1" = variant ]; then
        [ $# -ge 2 ] || {
            usage
            return 2
        }
        build_c_tests "$2"
        return
    fi
    for part in "$@"; do
        echo "build $part"
        case $part in
        native) build_native ;;
        wasm)
            build_wasm
            "$VENV_PYTHON" wasm/check.py build/wasm
            ;;
        wasm-second)
            build_wasm_second
            "$VENV_PYTHON" wasm/check.py --any-size build/wasm-second
            ;;
        py) build_py ;;
        web) build_web ;;
        playground) build_playground ;;
        playground-tests) build_playground_tests ;;
        hosts) build_hosts ;;
        bench-web) npm_packages bench/web ;;
        *)
            echo "build.sh: unknown part $part (native wasm wasm-second py web playground hosts bench-web)" >&2
            return 2
            ;;
        esac
    done
}

verb_test() {
    case ${1:-} in
    full)
        shift
        verb_build native wasm py
        end_with tests/full/run.py "$@"
        ;;
    scale)
        shift
        verb_build py
        end_with tests/scale/run.py "$@"
        ;;
    *)
        with_lock setup
        end_with tools/run_tests.py "$@"
        ;;
    esac
}

verb_demo() {
    local start=$SECONDS
    verb_build py
    "$VENV_PYTHON" -m isotok demo
    say "demo: $((SECONDS - start)) s, setup and build included"
}

verb_clean() {
    rm -rf build dist web/dist py_host/isotok/data/*.wasm py_host/isotok/_native*.so
    find . -path ./.venv -prune -o -name __pycache__ -type d -print0 | xargs -0 -r rm -rf
    rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis
    if [ "${1:-}" = all ]; then rm -rf .venv {web,bench/web,tests/web/*}/node_modules; fi
}

main() {
    local verb=${1:-help}
    [ $# -eq 0 ] || shift
    case $verb in
    setup) with_lock setup ;;
    gen | build | test | demo | clean) "verb_$verb" "$@" ;;
    amalgamation)
        with_lock setup
        end_with tools/amalgamate.py "$@"
        ;;
    check)
        with_lock setup
        with_lock build_native
        end_with tools/check.py "$@"
        ;;
    fuzz)
        with_lock setup
        end_with tests/fuzz/run.py "$@"
        ;;
    bench)
        verb_build native wasm py
        end_with bench/run.py "$@"
        ;;
    help | --help | -h) usage ;;
    *)
        usage >&2
        return 2
        ;;
    esac
}

# Bash reads a script while it runs: leave before a changed file is read on.
{ main "$@"; exit; }

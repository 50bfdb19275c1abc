# shellcheck shell=bash
# Sourced by build.sh: the playground page, and what its tests need.

PLAYGROUND_PLAYWRIGHT=(playwright==1.65.2 greenlet==3.5.6)

# The page, in build/playground: files for any static host.
build_playground() {
    local sources
    build_web
    mapfile -t sources < <(find web/playground -type f)
    sources+=(web/dist/index.js web/dist/isotok.wasm web/dist/isotok-build.wasm web/dist/isotok-compile.js)
    sources+=(py_host/isotok/data/default.isotok-packed)
    if is_stale build/playground/index.html "${sources[@]}"; then
        echo "  build/playground"
        node web/playground/build.mjs
    fi
}

# A browser, fonts for all scripts in the tests, Playwright and axe.
build_playground_tests() {
    playground_packages
    "$VENV_PYTHON" -c 'import playwright' 2>/dev/null || {
        echo "setup: Playwright into .venv"
        "$VENV_PYTHON" -m pip install -q --disable-pip-version-check "${PLAYGROUND_PLAYWRIGHT[@]}"
    }
    npm_packages tests/web/playground
}

playground_packages() {
    local package missing=()
    command -v chromium >/dev/null || missing+=(chromium)
    for package in fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji; do
        dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    apt_install "${missing[@]}"
}

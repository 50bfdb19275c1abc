# shellcheck shell=bash
# Sourced by build.sh: the playground page, and what its tests need.

PLAYGROUND_PLAYWRIGHT=(playwright==1.65.2 greenlet==3.5.6)

# The page, in build/playground: files for any static host.
build_playground() {
    local sources
    build_web
    mapfile -t sources < <(find web/playground -type f)
    sources+=(web/dist/index.js web/dist/isotok.wasm web/dist/isotok-build.wasm)
    sources+=(py_host/isotok/data/default.isotok-packed)
    if is_stale build/playground/index.html "${sources[@]}"; then
        echo "  build/playground"
        node web/playground/build.mjs
    fi
}

# A browser, fonts for all scripts in the tests, Playwright and axe.
build_playground_tests() {
    use_node
    playground_packages
    "$VENV_PYTHON" -c 'import playwright' 2>/dev/null || {
        echo "setup: Playwright into .venv"
        "$VENV_PYTHON" -m pip install -q --disable-pip-version-check "${PLAYGROUND_PLAYWRIGHT[@]}"
    }
    if is_stale tests/web/playground/node_modules/.package-lock.json tests/web/playground/package-lock.json; then
        echo "setup: npm packages into tests/web/playground/node_modules"
        npm ci --prefix tests/web/playground --silent --no-fund --no-audit
        touch tests/web/playground/node_modules/.package-lock.json
    fi
}

playground_packages() {
    local package missing=()
    command -v chromium >/dev/null || missing+=(chromium)
    for package in fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji; do
        dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    apt_install "${missing[@]}"
}

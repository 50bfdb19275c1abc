# shellcheck shell=bash
# Sourced by build.sh: the hosts in which the npm package is tested.

# Browsers from Debian; runtimes, and a driver of browsers, from npm.
build_hosts() {
    local folder=tests/web/hosts missing=()
    use_node
    command -v chromium >/dev/null || missing+=(chromium)
    command -v firefox-esr >/dev/null || missing+=(firefox-esr)
    apt_install "${missing[@]}"
    is_stale $folder/node_modules/.package-lock.json $folder/package-lock.json || return 0
    echo "setup: npm packages into $folder/node_modules"
    mkdir -p build/log
    npm ci --prefix $folder --no-fund --no-audit >build/log/npm-hosts.log 2>&1 || {
        tail -n 20 build/log/npm-hosts.log >&2
        return 1
    }
    touch $folder/node_modules/.package-lock.json
}

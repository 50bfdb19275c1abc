# shellcheck shell=bash
# Sourced by build.sh: the hosts in which the npm package is tested.

# Browsers from Debian; runtimes, and a driver of browsers, from npm.
build_hosts() {
    local missing=()
    command -v chromium >/dev/null || missing+=(chromium)
    command -v firefox-esr >/dev/null || missing+=(firefox-esr)
    apt_install "${missing[@]}"
    npm_packages tests/web/hosts
}

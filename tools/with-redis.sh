#!/bin/sh
# Runs a command beside a Redis of its own: with-redis.sh COMMAND [ARGUMENT...]
#
# The command finds its address in GRACKLE_REDIS_URL. That Redis listens on a free port of the
# loopback, keeps nothing on disk, and ends with the command.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
server=$("$root/tools/get-redis.sh")
folder=$(mktemp -d "${TMPDIR:-/tmp}/grackle-redis.XXXXXX")
log=$folder/log
pid=

stop() {
    if [ -n "$pid" ]; then
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start() {
    "$server" --port "$1" --bind 127.0.0.1 --dir "$folder" --logfile "$log" \
        --save '' --appendonly no --daemonize no &
    pid=$!
}

# Whether the server comes up; it ends by itself when the port is taken.
ready() {
    while kill -0 "$pid" 2>/dev/null; do
        if grep -q 'Ready to accept connections' "$log" 2>/dev/null; then return 0; fi
        sleep 0.1
    done
    wait "$pid" || true
    pid=
    return 1
}

# Below the ports that the system gives to outgoing connections.
for attempt in 0 1 2 3 4 5 6 7 8 9; do
    port=$((10000 + ($$ + attempt * 1009) % 20000))
    start "$port"
    if ready; then break; fi
done
if [ -z "$pid" ]; then
    cat "$log" >&2
    echo "with-redis: $server does not start; its log is above" >&2
    exit 1
fi

GRACKLE_REDIS_URL=redis://127.0.0.1:$port
export GRACKLE_REDIS_URL
"$@"

#!/bin/sh
# Runs a command beside a Docker engine: with-docker.sh COMMAND [ARGUMENT...]
#
# An engine that answers is taken. Where none does, root gets one of its own if dockerd is installed:
# it leaves the machine's iptables alone, and ends with the command. Without either the command is
# not run, and one line says so.
set -eu

has() { command -v "$1" >/dev/null 2>&1; }
answers() { docker version >/dev/null 2>&1; }

skip() {
    echo "skipped: container tests: no Docker engine: $*"
    exit 0
}

has docker || skip "there is no docker command"
if answers; then exec "$@"; fi
has dockerd || skip "none answers, and there is no dockerd to start"
[ "$(id -u)" -eq 0 ] || skip "none answers, and to start dockerd takes root"

folder=$(mktemp -d "${TMPDIR:-/tmp}/grackle-docker.XXXXXX")
bridge=/sys/class/net/docker0
if [ -e "$bridge" ]; then bridge=; fi
pid=

# unshare passes no signal on, so its child gets it.
# shellcheck disable=SC2317  # trap calls it
stop() {
    if [ -n "$pid" ]; then
        # shellcheck disable=SC2046  # no process, or one
        kill $(cat "/proc/$pid/task/$pid/children" 2>/dev/null) 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
    if [ -n "$bridge" ] && [ -e "$bridge" ]; then ip link delete docker0 2>/dev/null || true; fi
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# vfs is the storage that works on any file system.
cat >"$folder/daemon.json" <<EOF
{
    "hosts": ["unix://$folder/socket"],
    "pidfile": "$folder/pid",
    "data-root": "$folder/data",
    "exec-root": "$folder/exec",
    "storage-driver": "vfs",
    "ip": "127.0.0.1",
    "iptables": false,
    "ip6tables": false,
    "ip-forward": false,
    "shutdown-timeout": 5
}
EOF

# In namespaces of its own: what it starts and mounts can't outlive it, however it ends.
unshare --mount --pid --mount-proc --kill-child \
    dockerd --config-file "$folder/daemon.json" >"$folder/log" 2>&1 &
pid=$!
DOCKER_HOST=unix://$folder/socket
export DOCKER_HOST
attempts=300
until answers; do
    attempts=$((attempts - 1))
    if [ "$attempts" -eq 0 ] || ! kill -0 "$pid" 2>/dev/null; then
        skip "dockerd does not start: $(tail -n 1 "$folder/log")"
    fi
    sleep 0.1
done
echo "with-docker: dockerd $(docker version --format '{{.Server.Version}}')" >&2

status=0
"$@" || status=$?
if ! kill -0 "$pid" 2>/dev/null; then
    echo "with-docker: dockerd ended while the command ran" >&2
fi
exit "$status"

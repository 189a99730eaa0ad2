#!/bin/sh
# Runs the semaphores of the Node-RED package and Grackle's side by side, plays the same 200 requests at
# both, and prints a table of the answers (tools/beside-node-red/compare.mjs). Then has Node-RED run
# docs/node-red-flow.json against Grackle, and sees that two who print take turns. Needs Node.js and npm;
# the package and Node-RED come from the npm registry, into target/tools: `--get` does that and no more.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/tools/beside-node-red
folder=$root/target/tools/node-red
server=${1:?the path of grackle-server, or --get}

say() { echo "beside-node-red: $*" >&2; }

if [ ! -d "$folder" ]; then
    say "getting Node-RED (a minute)"
    rm -rf "$folder.new"
    mkdir -p "$folder.new"
    (cd "$folder.new" && npm init -y >/dev/null &&
        npm install --no-audit --no-fund node-red@4 node-red-contrib-semaphoreservice@0.0.4 >npm.log 2>&1) ||
        { say "npm could not: $folder.new/npm.log"; exit 1; }
    mv "$folder.new" "$folder"
fi

if [ "$server" = --get ]; then exit 0; fi

work=$(mktemp -d)
pids=
end() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    # Before their folders go.
    for pid in $pids; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap end EXIT INT TERM

free_port() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }

# $1: where; $2: what it answers once it is up
answers() {
    for _ in $(seq 300); do
        if node -e 'fetch(process.argv[1]).then((it) => it.text()).then((text) =>
                process.exit(text.trim() === process.argv[2] ? 0 : 1), () => process.exit(1))' "$1" "$2"; then
            return
        fi
        sleep 0.1
    done
    say "nothing answers at $1"
    exit 1
}

# The package is a subflow; a flow with one of it is all there is.
cp "$tools/settings.js" "$work/settings.js"
node - "$folder/node_modules/node-red-contrib-semaphoreservice/subflow.json" >"$work/flows.json" <<'JS'
const { flow, ...subflow } = require(process.argv[2]);
const tab = { id: "tab", type: "tab", label: "semaphores" };
const one = { id: "one", type: `subflow:${subflow.id}`, z: tab.id, x: 0, y: 0, wires: [] };
console.log(JSON.stringify([subflow, ...flow, tab, one]));
JS

# $1: its folder, with flows.json and settings.js; $2: its port
node_red() {
    PORT=$2 node "$folder/node_modules/node-red/red.js" --userDir "$1" --settings "$1/settings.js" \
        >"$1/node-red.log" 2>&1 &
    pids="$pids $!"
}

port=$(free_port)
node_red "$work" "$port"
ours=$(free_port)
"$server" --listen "127.0.0.1:$ours" --data-dir "$work/data" >"$work/grackle.log" 2>&1 &
pids="$pids $!"
answers "http://127.0.0.1:$port/semaphore/value/none" "semaphore not found"
answers "http://127.0.0.1:$ours/healthz" ok
node "$tools/compare.mjs" "http://127.0.0.1:$port" "http://127.0.0.1:$ours" | tee "$work/table"
if ! tail -n "$(wc -l <"$work/table")" "$root/docs/node-red.md" | cmp - "$work/table"; then
    say "docs/node-red.md has another table at its end"
    exit 1
fi

say "now docs/node-red-flow.json"
mkdir "$work/flow"
cp "$tools/settings.js" "$work/flow/settings.js"
sed "s|http://127.0.0.1:8000|http://127.0.0.1:$ours|" "$root/docs/node-red-flow.json" >"$work/flow/flows.json"
port=$(free_port)
node_red "$work/flow" "$port"
# Its flow makes the semaphore when it starts.
answers "http://127.0.0.1:$ours/semaphore/value/printer" '{"name":"printer","value":1}'
node "$tools/flow.mjs" "http://127.0.0.1:$port" "http://127.0.0.1:$ours"

-- The keys that an acquire or a release needs only where somebody waits.
local semaphores, created = namespace .. ':semaphores', namespace .. ':leases:created'
local due = namespace .. ':due'

-- The waits of one process in one queue, where the discipline is WEIGHTED.
local function flow_key(name, process_id) return semaphore_key(name) .. ':flow:' .. process_id end
local function process_key(process_id) return namespace .. ':process:' .. process_id end
-- The calls that wait through a node; the node listens on the channel of the same name.
local function node_key(node) return namespace .. ':node:' .. node end

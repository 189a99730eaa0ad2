-- The keys that an acquire or a release needs only where a call waits.
local semaphores, created = namespace .. ':semaphores', namespace .. ':leases:created'
local due = namespace .. ':due'

-- The waits of one process in one queue, where the discipline is WEIGHTED.
local function flow_key(name, process_id) return semaphore_key(name) .. ':flow:' .. process_id end
local function process_key(process_id) return namespace .. ':process:' .. process_id end
-- The calls that wait through a node. The channel of the same name brings the node their answers.
local function node_key(node) return namespace .. ':node:' .. node end

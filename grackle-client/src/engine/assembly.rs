//! Makes the parts of the engine, and gives each what it needs.

use std::sync::Arc;

use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::config::Config;
use crate::engine::acquire::Acquirer;
use crate::engine::cleanup::CleanupTasks;
use crate::engine::diagnostics::ServerCheck;
use crate::engine::load::registry::LoadRegistry;
use crate::engine::missed_answers::Resumer;
use crate::engine::namespace_subscriptions::NamespaceSubscriptions;
use crate::engine::plain_semaphores::{AcknowledgedTickets, Downs, LeasesInUse, ProxyLeases, Ups};
use crate::engine::replication::replica_acks::ReplicaAckCounter;
use crate::engine::shutdown::Shutdown;
use crate::engine::subscriber::Subscribers;
use crate::engine::subscriber::inbox::Inbox;
use crate::engine::sweeper::active::ActiveSweeper;
use crate::engine::sweeper::idle::IdleSweeper;
use crate::engine::tasks::{Lifetime, Tasks};
use crate::engine::tickets::Tickets;
use crate::engine::waiters::Waiters;
use crate::engine::watch::registry::WatchRegistry;
use crate::engine::watch::watcher::Watching;
use crate::error::Error;
use crate::scripts::{Observer, Scripts};
use crate::transport::keys::Keys;
use crate::transport::topology::Topology;

/// What the public API of a client calls.
pub(crate) struct Engine {
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) tickets: Arc<Tickets>,
    pub(crate) acquirer: Arc<Acquirer>,
    pub(crate) downs: Downs,
    pub(crate) ups: Ups,
    pub(crate) watching: Arc<Watching>,
    pub(crate) load: Arc<LoadRegistry>,
    pub(crate) idle_sweeper: Arc<IdleSweeper>,
    pub(crate) server_check: ServerCheck,
    pub(crate) shutdown: Shutdown,
    /// Ends the background tasks, but for those that streams of watches keep.
    pub(crate) lifetime: Lifetime,
}

impl Engine {
    /// Makes the engine on the runtime of the caller. It connects with the first command.
    pub(crate) fn start(config: &Config) -> Result<Self, Error> {
        let (tasks, lifetime) = Tasks::new();
        let (shared, moved) = Shared::new(config, tasks)?;
        let subscribers = shared.subscribers(config);
        let subscriptions = shared.subscriptions(&subscribers);
        let sweeper = shared.sweeper(&subscriptions);
        let acquirer = shared.acquirer(config, &sweeper);
        let acknowledged = Arc::new(AcknowledgedTickets::new(shared.idle_sweeper.clone()));
        shared.tasks.spawn(subscriptions.clone().follow(moved));
        shared.tasks.spawn(shared.idle_sweeper.clone().run());
        Ok(Self {
            downs: shared.downs(&acquirer, &acknowledged),
            ups: shared.ups(acknowledged),
            shutdown: shared.shutdown(&subscribers),
            watching: shared.watching(subscribers, subscriptions, sweeper),
            server_check: shared.server_check(),
            acquirer,
            scripts: shared.scripts,
            tickets: shared.tickets,
            load: shared.load,
            idle_sweeper: shared.idle_sweeper,
            lifetime,
        })
    }
}

/// The parts that several others need.
struct Shared {
    tasks: Tasks,
    cleanup: CleanupTasks,
    topology: Arc<Topology>,
    tickets: Arc<Tickets>,
    load: Arc<LoadRegistry>,
    scripts: Arc<Scripts>,
    waiters: Arc<Waiters>,
    watches: Arc<WatchRegistry>,
    resumer: Arc<Resumer>,
    idle_sweeper: Arc<IdleSweeper>,
}

impl Shared {
    /// Beside them: the namespaces that turn out to be on another server.
    fn new(config: &Config, tasks: Tasks) -> Result<(Self, UnboundedReceiver<String>), Error> {
        let topology = Arc::new(Topology::new(config)?);
        let load = Arc::new(LoadRegistry::new(count(config.limits.max_observed_semaphores)));
        let (moves, moved) = mpsc::unbounded_channel();
        let scripts = Scripts::on_topology(config, topology.clone(), moves, observer(&load));
        let (scripts, waiters) = (Arc::new(scripts), Arc::new(Waiters::default()));
        let tickets = Arc::new(Tickets::new());
        let idle_sweeper = IdleSweeper::new(tickets.node_id(), scripts.clone(), waiters.clone());
        let shared = Self {
            cleanup: CleanupTasks::new(tasks.runtime().clone()),
            tasks,
            topology,
            tickets,
            load,
            watches: Arc::new(WatchRegistry::new(count(config.limits.max_watches))),
            resumer: Arc::new(Resumer::new(scripts.clone(), waiters.clone())),
            idle_sweeper: Arc::new(idle_sweeper),
            scripts,
            waiters,
        };
        Ok((shared, moved))
    }

    fn node_id(&self) -> String {
        self.tickets.node_id().to_owned()
    }

    fn subscribers(&self, config: &Config) -> Arc<Subscribers> {
        let inbox = Inbox {
            keys: Keys::new(&config.key_prefix),
            scripts: self.scripts.clone(),
            waiters: self.waiters.clone(),
            watches: self.watches.clone(),
            resumer: self.resumer.clone(),
            tasks: self.tasks.clone(),
        };
        Arc::new(Subscribers {
            topology: self.topology.clone(),
            node_id: self.node_id(),
            timeout: config.command_timeout,
            inbox: Arc::new(inbox),
            placement: Arc::default(),
        })
    }

    fn subscriptions(&self, subscribers: &Arc<Subscribers>) -> Arc<NamespaceSubscriptions> {
        Arc::new(NamespaceSubscriptions {
            waiters: self.waiters.clone(),
            watches: self.watches.clone(),
            subscribers: subscribers.clone(),
        })
    }

    fn sweeper(&self, subscriptions: &Arc<NamespaceSubscriptions>) -> Arc<ActiveSweeper> {
        Arc::new(ActiveSweeper {
            node_id: self.node_id(),
            scripts: self.scripts.clone(),
            waiters: self.waiters.clone(),
            watches: self.watches.clone(),
            subscriptions: subscriptions.clone(),
            resumer: self.resumer.clone(),
            load: self.load.clone(),
            tasks: self.tasks.clone(),
        })
    }

    fn acquirer(&self, config: &Config, sweeper: &Arc<ActiveSweeper>) -> Arc<Acquirer> {
        Arc::new(Acquirer {
            scripts: self.scripts.clone(),
            tickets: self.tickets.clone(),
            waiters: self.waiters.clone(),
            sweeper: sweeper.clone(),
            resumer: self.resumer.clone(),
            load: self.load.clone(),
            cleanup: self.cleanup.clone(),
            tasks: self.tasks.clone(),
            on_drop: config.on_drop,
            replica_acks: self.replica_acks(config),
        })
    }

    fn replica_acks(&self, config: &Config) -> Option<ReplicaAckCounter> {
        let (scripts, topology) = (self.scripts.clone(), self.topology.clone());
        let tasks = self.tasks.clone();
        let wanted = config.replica_acks?;
        Some(ReplicaAckCounter::new(config, wanted, scripts, topology, tasks))
    }

    fn downs(&self, acquirer: &Arc<Acquirer>, acknowledged: &Arc<AcknowledgedTickets>) -> Downs {
        let proxy_leases = ProxyLeases {
            node_id: self.node_id(),
            scripts: self.scripts.clone(),
            sweeper: self.idle_sweeper.clone(),
            tasks: self.tasks.clone(),
            cleanup: self.cleanup.clone(),
            in_use: LeasesInUse::default(),
        };
        Downs {
            scripts: self.scripts.clone(),
            tickets: self.tickets.clone(),
            waiters: self.waiters.clone(),
            acquirer: acquirer.clone(),
            proxy_leases: Arc::new(proxy_leases),
            acknowledged: acknowledged.clone(),
            cleanup: self.cleanup.clone(),
        }
    }

    fn ups(&self, acknowledged: Arc<AcknowledgedTickets>) -> Ups {
        Ups { scripts: self.scripts.clone(), tickets: self.tickets.clone(), acknowledged }
    }

    fn shutdown(&self, subscribers: &Arc<Subscribers>) -> Shutdown {
        Shutdown {
            scripts: self.scripts.clone(),
            waiters: self.waiters.clone(),
            watches: self.watches.clone(),
            subscribers: subscribers.clone(),
            cleanup: self.cleanup.clone(),
        }
    }

    fn watching(
        &self,
        subscribers: Arc<Subscribers>,
        subscriptions: Arc<NamespaceSubscriptions>,
        sweeper: Arc<ActiveSweeper>,
    ) -> Arc<Watching> {
        Arc::new(Watching {
            scripts: self.scripts.clone(),
            registry: self.watches.clone(),
            subscribers,
            subscriptions,
            sweeper,
            tasks: self.tasks.clone(),
        })
    }

    fn server_check(&self) -> ServerCheck {
        ServerCheck { scripts: self.scripts.clone(), topology: self.topology.clone() }
    }
}

/// Shows the load registry each state of a semaphore that a reply or a message brings.
fn observer(load: &Arc<LoadRegistry>) -> Observer {
    let load = Arc::clone(load);
    Box::new(move |namespace, semaphore| load.observe(namespace, semaphore))
}

fn count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

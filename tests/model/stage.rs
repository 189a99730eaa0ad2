//! The real scripts in a real Redis, asked in the model's words.

use std::time::Duration;

use grackle_client::scripts::{
    AcquireArguments as Wants, AcquireReply, Call, CallState, Edge, Outcome as Reported, PageReply,
    PageStart as Start, Scripts, SemaphoreRules,
};
use grackle_client::{Error, Limits as Configured};

use crate::keys::Keys;
use crate::op::{EXPLAINED, Op};
use crate::plan::NAMESPACES;
use crate::spec::{
    AcquireArguments, Answer, Fate, From, Limits, Micros, Name, Outcome, Page, Queue, Refused, Tag,
    Ticket, WaitingCall, description, metadata, refused,
};
use crate::subscriptions::{Received, Subscriptions};
use grackle_test_support::TestRedis;
use grackle_test_support::script_world::{NS, State, World};

pub(crate) struct Stage {
    world: World,
    subscriptions: Subscriptions,
    now: Micros,
}

impl Stage {
    pub(crate) async fn new(limits: Limits, now: Micros) -> Self {
        let redis = TestRedis::shared().await;
        let mut config = redis.config();
        config.test_clock = true;
        config.limits = configured(limits);
        let (subscriptions, clock) = (Subscriptions::open(&redis).await, redis.clock(NS));
        let scripts = Scripts::new(&config).expect("scripts");
        let mut stage = Self { world: World { redis, scripts, clock }, subscriptions, now };
        stage.pass(0).await;
        stage
    }

    /// Plays it; what it replied, and what was said meanwhile.
    pub(crate) async fn play(&mut self, op: &Op) -> (Answer, Received) {
        let answer = match op {
            Op::Dies { node } => {
                self.subscriptions.dies(node).await;
                Answer::Done
            }
            Op::Returns { node } => {
                self.subscriptions.returns(node).await;
                Answer::Done
            }
            Op::Passes { time } => {
                self.pass(*time).await;
                Answer::Done
            }
            _ => match self.ask(op).await {
                Ok(answer) => answer,
                Err(error) => Answer::Refused(known(&error.to_string())),
            },
        };
        (answer, self.subscriptions.received().await)
    }

    async fn pass(&mut self, time: Micros) {
        self.now += time;
        for ns in NAMESPACES {
            self.world.redis.clock(ns).set(self.now).await;
        }
    }

    /// All keys of a namespace; fails where they break a rule of their own.
    pub(crate) async fn keys(&self, ns: Name) -> Keys {
        if ns == NS {
            return Keys::of(&self.world.checked().await);
        }
        Keys::of(&State::read(&self.world.redis, ns).await)
    }

    /// Fails where a key is left.
    pub(crate) async fn end(&self) {
        let redis = &self.world.redis;
        for ns in NAMESPACES {
            let clock = format!("{}:{{{ns}}}:clock", redis.prefix());
            let _: i64 = redis.run(&["DEL", &clock]).await;
        }
        let left = redis.keys_left().await;
        assert!(left.is_empty(), "keys left behind: {left:?}");
    }

    async fn ask(&self, op: &Op) -> Result<Answer, Error> {
        let scripts = &self.world.scripts;
        Ok(match op.clone() {
            Op::CreateNamespace { request, ns, label } => {
                let (about, labels) = (description(label), metadata(label));
                let made = scripts.create_namespace(request, ns, &about, &labels);
                Answer::Namespace(made.await?)
            }
            Op::GetNamespace { ns } => Answer::Namespace(scripts.get_namespace(ns).await?),
            Op::UpdateNamespace { request, ns, expected, label } => {
                let (about, labels) = (description(label), metadata(label));
                let made = scripts.update_namespace(request, ns, expected, &about, &labels);
                Answer::Namespace(made.await?)
            }
            Op::DeleteNamespace { ns } => done(scripts.delete_namespace(ns).await?),
            Op::ListNamespaces { from, limit } => {
                Answer::Namespaces(page(scripts.list_namespaces(&start(from), limit as i64).await?))
            }
            Op::CreateSemaphore { request, ns, name, permits, queue, label } => {
                let (about, labels) = (description(label), metadata(label));
                let made = scripts
                    .create_semaphore(request, ns, name, rules(permits, queue), &about, &labels)
                    .await?;
                Answer::Semaphore(made)
            }
            Op::GetSemaphore { ns, name } => {
                Answer::Semaphore(scripts.get_semaphore(ns, name).await?)
            }
            Op::UpdateSemaphore { request, ns, name, expected, permits, queue, label } => {
                let (about, labels) = (description(label), metadata(label));
                let made = scripts.update_semaphore(
                    request,
                    ns,
                    name,
                    expected,
                    rules(permits, queue),
                    &about,
                    &labels,
                );
                Answer::Semaphore(made.await?)
            }
            Op::DeleteSemaphore { ns, name } => {
                Answer::Deleted(scripts.delete_semaphore(ns, name).await?)
            }
            Op::ListSemaphores { ns, from, limit } => {
                let from = start(from);
                let listed = scripts.list_semaphores(ns, &from, limit as i64);
                Answer::Semaphores(page(listed.await?))
            }
            Op::ListHolders { ns, name, from, limit } => {
                let from = start(from);
                let listed = scripts.list_semaphore_holders(ns, name, &from, limit as i64);
                Answer::Holders(page(listed.await?))
            }
            Op::ListWaiters { ns, name, from, limit } => {
                let from = start(from);
                let listed = scripts.list_semaphore_waiters(ns, name, &from, limit as i64, "");
                Answer::Waiters(page(listed.await?))
            }
            Op::GetWaiter { ns, name, lease } => {
                Answer::Waiter(scripts.get_semaphore_waiter(ns, name, lease).await?)
            }
            Op::Acquire { ns, wanted } => self.acquire(ns, wanted).await?,
            Op::Resume { ns, calls } => {
                let calls: Vec<_> = calls.into_iter().map(call).collect();
                let (sweep_in, replies) = scripts.resume(ns, &calls).await?;
                Answer::CallState { sweep_in, fates: replies.into_iter().map(fate).collect() }
            }
            Op::TimeOut { ns, call: asked } => {
                Answer::Outcome(outcome(scripts.time_out(ns, &call(asked), Some(EXPLAINED)).await?))
            }
            Op::Cancel { ns, call: asked } => done(scripts.cancel(ns, &call(asked)).await?),
            Op::SetAside { ns, undo, calls } => {
                let calls = calls.into_iter().map(|(asked, keep)| (call(asked), duration(keep)));
                let replies = scripts.park(ns, undo, &calls.collect::<Vec<_>>()).await?;
                Answer::Park(replies.into_iter().map(fate).collect())
            }
            Op::Release { ns, name, lease } => {
                Answer::Semaphore(scripts.release(ns, name, lease).await?)
            }
            Op::Down { ns, name, ticket, received } => {
                let reply = scripts.down(ns, name, &text(ticket), &texts(&received)).await?;
                let taken = reply.outcome == grackle_client::scripts::Outcome::Acquired;
                Answer::Taken(taken, reply.semaphore.expect("the semaphore"))
            }
            // A node that undoes a call has no more news.
            Op::Up { ns, name, ticket, undoes: Some(undoes), received: _ } => {
                Answer::Semaphore(scripts.undo_down(ns, name, &text(ticket), &text(undoes)).await?)
            }
            Op::Up { ns, name, ticket, undoes: None, received } => {
                Answer::Semaphore(scripts.up(ns, name, &text(ticket), &texts(&received)).await?)
            }
            Op::Disown { ns, name, lease, received } => {
                Answer::Semaphore(scripts.disown(ns, name, lease, &texts(&received)).await?)
            }
            Op::RefreshProxyLeases { ns, ttl, leases } => {
                let leases: Vec<_> = leases.into_iter().map(str::to_owned).collect();
                done(scripts.refresh_proxy_leases(ns, duration(ttl), &leases).await?)
            }
            Op::Sweep { ns, node } => {
                let swept = scripts.sweep(ns, node).await?;
                Answer::Swept {
                    sweep_in: swept.sweep_in,
                    waiting: swept.waiting,
                    received: swept.subscribers,
                }
            }
            Op::CreateLease { ns, lease, process, ttl, label } => {
                let (ttl, labels) = (duration(ttl), metadata(label));
                Answer::Lease(scripts.create_lease(ns, lease, process, ttl, &labels).await?)
            }
            Op::GetLease { ns, lease } => Answer::Lease(scripts.get_lease(ns, lease).await?),
            Op::RefreshLease { ns, lease, ttl } => {
                Answer::Lease(scripts.refresh_lease(ns, lease, duration(ttl)).await?)
            }
            Op::RevokeLease { ns, lease } => done(scripts.revoke_lease(ns, lease).await?),
            Op::ListLeases { ns, process, from, limit } => {
                let from = start(from);
                let listed = scripts.list_leases(ns, process, &from, limit as i64);
                Answer::Leases(page(listed.await?))
            }
            Op::Dies { .. } | Op::Returns { .. } | Op::Passes { .. } => unreachable!(),
        })
    }

    async fn acquire(&self, ns: Name, wanted: AcquireArguments) -> Result<Answer, Error> {
        let AcquireArguments { semaphore, lease, ticket, weight, share, label, timeout, listening } =
            wanted;
        let (metadata, timeout) = (metadata(label), duration(timeout));
        let explain = true;
        let wants = Wants { weight, share, metadata: &metadata, timeout, listening, explain };
        let asked = call(WaitingCall { lease, semaphore, ticket });
        Ok(Answer::Outcome(outcome(self.world.scripts.acquire(ns, &asked, wants).await?)))
    }
}

fn configured(limits: Limits) -> Configured {
    let mut configured = Configured::default();
    configured.max_semaphores = limits.semaphores as u64;
    configured.max_leases = limits.leases as u64;
    configured.max_holders = limits.holders as u64;
    configured.max_waiters = limits.waiters as u64;
    configured.max_holds_per_lease = limits.holds_per_lease as u64;
    configured
}

fn rules(permits: i64, queue: Queue) -> SemaphoreRules {
    let Queue { discipline, max_waiters } = queue;
    SemaphoreRules { permits, discipline, max_waiters }
}

fn done((): ()) -> Answer {
    Answer::Done
}

pub(crate) fn text(ticket: Ticket) -> String {
    format!("{}:{}", ticket.node, ticket.number)
}

pub(crate) fn texts(tickets: &[Ticket]) -> Vec<String> {
    tickets.iter().map(|ticket| text(*ticket)).collect()
}

fn call(asked: WaitingCall) -> Call {
    let (lease_id, semaphore) = (asked.lease.to_owned(), asked.semaphore.to_owned());
    Call { lease_id, semaphore, ticket: text(asked.ticket) }
}

fn duration(micros: Micros) -> Duration {
    Duration::from_micros(micros.try_into().expect("not negative"))
}

fn start(from: From) -> Start {
    match from {
        From::Start => Start::First,
        From::After(score, name) => Start::After(Edge(score.0.to_string(), name)),
        From::Before(score, name) => Start::Before(Edge(score.0.to_string(), name)),
    }
}

fn page<T>(reply: PageReply<T>) -> Page<T> {
    let edge = |edge: Option<Edge>| {
        edge.map(|Edge(score, name)| (Tag(score.parse().expect("a number")), name))
    };
    Page { entries: reply.entries, before: edge(reply.before), after: edge(reply.after) }
}

fn fate(resumed: CallState) -> Fate {
    match resumed {
        CallState::Waiting => Fate::Waits,
        CallState::Unknown => Fate::Lost,
        CallState::Answered(reply) => Fate::Granted(outcome(reply)),
    }
}

pub(crate) fn outcome(reply: AcquireReply) -> Outcome {
    let semaphore = || reply.semaphore.clone().expect("the semaphore");
    let waiting = || reply.waiting.clone().expect("why it is not granted");
    match reply.outcome {
        Reported::Acquired => {
            Outcome::Acquired { token: reply.fencing_token, semaphore: semaphore() }
        }
        Reported::Unavailable => Outcome::Unavailable(semaphore(), waiting()),
        Reported::TimedOut => Outcome::TimedOut(semaphore(), waiting()),
        Reported::Waiting => Outcome::Waiting { sweep_in: reply.sweep_in.expect("when to sweep") },
        Reported::Error => {
            let error = reply.error.expect("a text");
            Outcome::Failed(known(error.split_once(' ').expect("CODE text").1))
        }
    }
}

fn known(text: &str) -> Refused {
    let known = refused::ALL.into_iter().find(|refused| *refused == text);
    known.unwrap_or_else(|| panic!("an error says {text:?}"))
}

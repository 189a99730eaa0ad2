//! Plays a case, step by step.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::case::{Case, Judgement, Request, Setup, Step, Target};
use crate::matcher::at;
use crate::names::Names;
use crate::transport::{Answer, Transport};

/// Plays `case`; where it fails, says at which step and how.
pub(crate) async fn play<T: Transport>(case: Case, transport: Arc<T>) -> Result<(), String> {
    let mut player = Player { transport, names: Names::new(), jobs: HashMap::new() };
    for (i, step) in case.steps.into_iter().enumerate() {
        let what = what(&step);
        let failure = |why| format!("{}, step {} ({what}): {why}", case.name, i + 1);
        player.step(step).await.map_err(failure)?;
    }
    Ok(())
}

type Job = JoinHandle<Result<Answer, String>>;

struct Player<T> {
    transport: Arc<T>,
    names: Names,
    jobs: HashMap<String, Job>,
}

impl<T: Transport> Player<T> {
    async fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Setup(setup) => self.set_up(setup).await,
            Step::Ask(request, judgement) => {
                let answer = self.ask(request).await?;
                self.judge(&judgement, &answer)
            }
            Step::Start { job, request, settle } => self.start(job, request, settle).await,
            Step::Pending { job } => self.pending(&job).await,
            Step::Finish { job, within, judgement } => {
                let answer = self.finish(&job, within).await?;
                self.judge(&judgement, &answer)
            }
            Step::Sleep(length) => {
                sleep(length).await;
                Ok(())
            }
        }
    }

    async fn set_up(&mut self, setup: Setup) -> Result<(), String> {
        self.must("CreateNamespace", json!({"name": "$ns"})).await?;
        if let Some(permits) = setup.permits {
            let mut semaphore = setup.semaphore;
            semaphore.insert("namespace_name".to_owned(), "$ns".into());
            semaphore.insert("semaphore_name".to_owned(), "s".into());
            semaphore.insert("permits".to_owned(), permits);
            self.must("CreateSemaphore", semaphore.into()).await?;
        }
        let ttl = setup.ttl.unwrap_or_else(|| 60.into());
        for i in 1..=setup.leases {
            self.create_lease(i, &ttl).await?;
        }
        Ok(())
    }

    async fn create_lease(&mut self, i: u32, ttl: &Value) -> Result<(), String> {
        let process_id = format!("p{i}");
        let lease = json!({"namespace_name": "$ns", "process_id": process_id, "ttl_seconds": ttl});
        let body = self.must("CreateSemaphoreLease", lease).await?;
        self.names.save(&format!("L{i}"), at(&body, "lease.lease_id")?);
        Ok(())
    }

    async fn must(&self, operation: &str, with: Value) -> Result<Value, String> {
        let target = Target::Operation(operation.to_owned());
        let request = Request { target, with: Some(with), text: None, headers: [].into() };
        let Answer { status, body, .. } = self.ask(request).await?;
        if status == 200 { Ok(body) } else { Err(format!("{operation}: {status} {body}")) }
    }

    async fn ask(&self, request: Request) -> Result<Answer, String> {
        ask(Arc::clone(&self.transport), fill(request, &self.names)).await
    }

    async fn start(
        &mut self,
        job: String,
        request: Request,
        settle: Duration,
    ) -> Result<(), String> {
        let asked = ask(Arc::clone(&self.transport), fill(request, &self.names));
        self.jobs.insert(job, tokio::spawn(asked));
        sleep(settle).await;
        Ok(())
    }

    async fn pending(&mut self, job: &str) -> Result<(), String> {
        if self.job(job)?.is_finished() {
            let answer = self.finish(job, Duration::ZERO).await;
            return Err(format!("{job} should still wait; it got {answer:?}"));
        }
        Ok(())
    }

    async fn finish(&mut self, job: &str, within: Duration) -> Result<Answer, String> {
        let late = |_| format!("{job} not finished within {within:?}");
        let joined = timeout(within, self.job(job)?).await.map_err(late)?;
        self.jobs.remove(job);
        joined.map_err(|error| error.to_string())?
    }

    fn job(&mut self, job: &str) -> Result<&mut Job, String> {
        self.jobs.get_mut(job).ok_or_else(|| format!("{job} was not started, or has finished"))
    }

    fn judge(&mut self, judgement: &Judgement, answer: &Answer) -> Result<(), String> {
        judgement.expect.judge(answer, &self.names)?;
        for (name, path) in &judgement.save {
            self.names.save(name, at(&answer.body, path)?);
        }
        Ok(())
    }
}

async fn ask<T: Transport>(transport: Arc<T>, request: Request) -> Result<Answer, String> {
    let began = Instant::now();
    let (status, body) = transport.send(request).await?;
    Ok(Answer { status, body, took: began.elapsed() })
}

fn fill(request: Request, names: &Names) -> Request {
    let target = match request.target {
        Target::Path { method, path } => Target::Path { method, path: names.fill_text(&path) },
        operation @ Target::Operation(_) => operation,
    };
    Request { target, with: request.with.map(|with| names.fill(&with)), ..request }
}

fn what(step: &Step) -> String {
    match step {
        Step::Setup(_) => "setup".to_owned(),
        Step::Ask(request, _) => name(request),
        Step::Start { job, request, .. } => format!("start {job}: {}", name(request)),
        Step::Pending { job } => format!("pending {job}"),
        Step::Finish { job, .. } => format!("finish {job}"),
        Step::Sleep(_) => "sleep".to_owned(),
    }
}

fn name(request: &Request) -> String {
    match &request.target {
        Target::Operation(operation) => operation.clone(),
        Target::Path { method, path } => format!("{method} {path}"),
    }
}

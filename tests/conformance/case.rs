//! What a case is made of; anything else in a file fails the test.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::expect::Expect;

/// Steps that are played one after the other, in a namespace of the case's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    #[serde(rename = "why")]
    _why: String,
    pub(crate) steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Keys")]
pub(crate) enum Step {
    /// `setup`: the namespace `$ns`, a semaphore `s`, leases `$L1`, `$L2`, …
    Setup(Setup),
    /// `call` or `http`: a request, and what its answer must be.
    Ask(Request, Judgement),
    /// `start`: the same in the background, `settle` (0.1 s) before the next step.
    Start { job: String, request: Request, settle: Duration },
    /// `pending`: that one has not been answered yet.
    Pending { job: String },
    /// `finish`: that one is answered `within` (10 s) so long, and how.
    Finish { job: String, within: Duration, judgement: Judgement },
    /// `sleep`: so many seconds pass.
    Sleep(Duration),
}

/// Leases are of processes `p1`, `p2`, …; `semaphore` has more fields for the semaphore.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Setup {
    pub(crate) permits: Option<Value>,
    pub(crate) leases: u32,
    pub(crate) ttl: Option<Value>,
    pub(crate) semaphore: Map<String, Value>,
}

/// Where a request goes, and what with.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) target: Target,
    /// The body, as JSON.
    pub(crate) with: Option<Value>,
    /// The body, as it stands.
    pub(crate) text: Option<String>,
    pub(crate) headers: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// An operation, on any transport.
    Operation(String),
    /// Any other request over HTTP.
    Path { method: String, path: String },
}

/// What an answer must be, and what of it later steps use.
#[derive(Debug, Clone)]
pub(crate) struct Judgement {
    pub(crate) expect: Expect,
    /// Name → path in the answer.
    pub(crate) save: BTreeMap<String, String>,
}

/// The keys of a step, before it is known which of them go together.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Keys {
    setup: Option<Setup>,
    call: Option<String>,
    http: Option<String>,
    with: Option<Value>,
    text: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    start: Option<String>,
    settle: Option<f64>,
    pending: Option<String>,
    finish: Option<String>,
    within: Option<f64>,
    sleep: Option<f64>,
    expect: Option<Expect>,
    save: Option<BTreeMap<String, String>>,
}

impl TryFrom<Keys> for Step {
    type Error = String;

    fn try_from(mut keys: Keys) -> Result<Self, String> {
        let step = keys.take_step()?;
        if keys == Keys::default() {
            Ok(step)
        } else {
            Err(format!("keys that this step does not use: {keys:?} beside {step:?}"))
        }
    }
}

impl Keys {
    fn take_step(&mut self) -> Result<Step, String> {
        if let Some(setup) = self.setup.take() {
            return Ok(Step::Setup(setup));
        }
        if let Some(length) = self.sleep.take() {
            return Ok(Step::Sleep(seconds(length)?));
        }
        if let Some(job) = self.pending.take() {
            return Ok(Step::Pending { job });
        }
        if let Some(job) = self.finish.take() {
            let within = seconds(self.within.take().unwrap_or(10.0))?;
            return Ok(Step::Finish { job, within, judgement: self.take_judgement() });
        }
        self.take_asking()
    }

    fn take_asking(&mut self) -> Result<Step, String> {
        let request = self.take_request()?;
        let Some(job) = self.start.take() else {
            return Ok(Step::Ask(request, self.take_judgement()));
        };
        let settle = seconds(self.settle.take().unwrap_or(0.1))?;
        Ok(Step::Start { job, request, settle })
    }

    fn take_request(&mut self) -> Result<Request, String> {
        Ok(Request {
            target: self.take_target()?,
            // `text` goes before `with`: left there, it is one key too many.
            with: if self.text.is_none() { self.with.take() } else { None },
            text: self.text.take(),
            headers: self.headers.take().unwrap_or_default(),
        })
    }

    fn take_target(&mut self) -> Result<Target, String> {
        if let Some(operation) = self.call.take() {
            return Ok(Target::Operation(operation));
        }
        let line = self.http.take().ok_or_else(|| format!("not a step: {self:?}"))?;
        let (method, path) = line.split_once(' ').ok_or_else(|| format!("no path: {line}"))?;
        Ok(Target::Path { method: method.to_owned(), path: path.to_owned() })
    }

    fn take_judgement(&mut self) -> Judgement {
        Judgement {
            expect: self.expect.take().unwrap_or_default(),
            save: self.save.take().unwrap_or_default(),
        }
    }
}

fn seconds(length: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(length).map_err(|error| error.to_string())
}

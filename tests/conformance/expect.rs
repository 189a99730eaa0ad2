//! What a case expects of an answer.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::matcher::{at, matches};
use crate::names::Names;
use crate::transport::Answer;

/// Conditions on one answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Expect {
    /// The status, or a list of those that will do; 200 if left out.
    status: Option<Value>,
    /// A subset of the answer, with matchers; lists whole.
    body: Option<Value>,
    /// Least and most seconds.
    took: Option<[f64; 2]>,
    /// `"a.b - a.c"` → the difference, or a matcher of it.
    difference: BTreeMap<String, Value>,
}

impl Expect {
    /// What is wrong with the answer, if anything.
    pub(crate) fn judge(&self, answer: &Answer, names: &Names) -> Result<(), String> {
        self.judge_status(answer)?;
        if let Some(body) = &self.body {
            matches(&names.fill(body), &answer.body, "body")?;
        }
        self.judge_time(answer)?;
        for (formula, want) in &self.difference {
            matches(&names.fill(want), &difference(formula, &answer.body)?, formula)?;
        }
        Ok(())
    }

    fn judge_status(&self, answer: &Answer) -> Result<(), String> {
        let want = self.status.clone().unwrap_or_else(|| 200.into());
        let got = &answer.status;
        let fits = want == *got || want.as_array().is_some_and(|any| any.contains(got));
        if fits { Ok(()) } else { Err(format!("status {got}, wanted {want}: {}", answer.body)) }
    }

    fn judge_time(&self, answer: &Answer) -> Result<(), String> {
        let (Some([least, most]), took) = (self.took, answer.took.as_secs_f64()) else {
            return Ok(());
        };
        if (least..=most).contains(&took) {
            Ok(())
        } else {
            Err(format!("took {took:.3} s, wanted {least} to {most}"))
        }
    }
}

fn difference(formula: &str, body: &Value) -> Result<Value, String> {
    let (left, right) = formula.split_once(" - ").ok_or("a difference is \"a.b - a.c\"")?;
    let number = |path| at(body, path)?.as_i64().ok_or_else(|| format!("{path}: no integer"));
    Ok((number(left)? - number(right)?).into())
}

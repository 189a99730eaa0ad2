//! What the measuring examples share; `times` is for those that count percentiles.

pub(crate) mod place;
mod progress;
mod user;

use std::error::Error;
use std::process::ExitCode;

pub(crate) use place::Place;
pub(crate) use progress::Progress;
pub(crate) use user::User;

/// Whatever ended an example early.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Says what went wrong, if anything did, in one line.
pub(crate) fn report(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

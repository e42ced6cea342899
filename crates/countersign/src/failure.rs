//! Why a command did not do what was asked, and what to do next.

use crate::terminal::Terminal;
use anstyle::AnsiColor;
use countersign_server::config::{ConfigErrors, Problem};
use std::process::ExitCode;

#[derive(Debug)]
pub(crate) struct Failure {
    reasons: Vec<Reason>,
}

#[derive(Debug)]
struct Reason {
    error: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self { reasons: vec![Reason { error: error.into(), hint: None }] }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(reason) = self.reasons.last_mut() {
            reason.hint = Some(hint.into());
        }
        self
    }

    /// The output has already said what is wrong.
    pub(crate) fn told() -> Self {
        Self { reasons: Vec::new() }
    }

    pub(crate) fn report(&self, terminal: &Terminal) -> ExitCode {
        for reason in &self.reasons {
            terminal.note("error", AnsiColor::Red, &reason.error);
            if let Some(hint) = &reason.hint {
                terminal.note("hint", AnsiColor::Cyan, hint);
            }
        }
        ExitCode::FAILURE
    }
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        let reason = |problem: Problem| Reason { error: problem.to_string(), hint: Some(problem.hint) };
        Self { reasons: errors.problems.into_iter().map(reason).collect() }
    }
}

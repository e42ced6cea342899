//! Why a command did not do what was asked, and what to do next.

use crate::terminal::Terminal;
use anstyle::AnsiColor;
use countersign_server::{
    admin::{AccountRefusal, AccountTrouble, Refusal},
    config::{ConfigErrors, Problem},
};
use std::process::ExitCode;

#[derive(Debug)]
pub(crate) struct Failure {
    reasons: Vec<Reason>,
    misused: bool,
}

#[derive(Debug)]
struct Reason {
    error: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self { reasons: vec![Reason { error: error.into(), hint: None }], misused: false }
    }

    /// Arguments that do not go together, which the parser alone cannot tell.
    pub(crate) fn misused(error: impl Into<String>) -> Self {
        Self { misused: true, ..Self::new(error) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(reason) = self.reasons.last_mut() {
            reason.hint = Some(hint.into());
        }
        self
    }

    /// Several things are wrong at once; the hint is about all of them.
    pub(crate) fn all(errors: impl IntoIterator<Item = String>) -> Self {
        Self { reasons: errors.into_iter().map(|error| Reason { error, hint: None }).collect(), misused: false }
    }

    /// For commands where 1 is an answer, as it is of a linter: what has anything to report is no answer, and ends with 2.
    pub(crate) fn or_trouble(self) -> Self {
        Self { misused: self.misused || !self.reasons.is_empty(), ..self }
    }

    /// The output has already said what is wrong.
    pub(crate) fn told() -> Self {
        Self { reasons: Vec::new(), misused: false }
    }

    pub(crate) fn report(&self, terminal: &Terminal) -> ExitCode {
        for reason in &self.reasons {
            terminal.note("error", AnsiColor::Red, &reason.error);
            if let Some(hint) = &reason.hint {
                terminal.note("hint", AnsiColor::Cyan, hint);
            }
        }
        if self.misused { ExitCode::from(2) } else { ExitCode::FAILURE }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unavailable => Self::new("the store could not be read or written")
                .hint("the lines above say why; look at what is there now before you try again"),
            other => Self::new(other.to_string()),
        }
    }
}

impl From<AccountTrouble> for Failure {
    fn from(trouble: AccountTrouble) -> Self {
        match trouble {
            AccountTrouble::Refused(why @ AccountRefusal::Unknown(_)) => {
                Self::new(why.to_string()).hint("`countersign user list` shows who there is")
            }
            AccountTrouble::Refused(why) => Self::new(why.to_string()),
            AccountTrouble::Engine(refusal) => refusal.into(),
        }
    }
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        let reason = |problem: Problem| Reason { error: problem.to_string(), hint: Some(problem.hint) };
        Self { reasons: errors.problems.into_iter().map(reason).collect(), misused: false }
    }
}

//! The error of a command, with a hint.

use crate::terminal::Terminal;
use anstyle::AnsiColor;
use countersign_server::{
    admin::AdminRefusal,
    config::{ConfigErrors, ConfigProblem},
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

    /// Arguments that contradict each other in a way the parser cannot detect.
    pub(crate) fn misused(error: impl Into<String>) -> Self {
        Self { misused: true, ..Self::new(error) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(reason) = self.reasons.last_mut() {
            reason.hint = Some(hint.into());
        }
        self
    }

    /// Several errors at once; the hint applies to all of them.
    pub(crate) fn all(errors: impl IntoIterator<Item = String>) -> Self {
        Self { reasons: errors.into_iter().map(|error| Reason { error, hint: None }).collect(), misused: false }
    }

    /// For commands with 1 as a regular result, like a linter: an error exits with 2 instead.
    pub(crate) fn or_trouble(self) -> Self {
        Self { misused: self.misused || !self.reasons.is_empty(), ..self }
    }

    /// The error was already printed.
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

impl From<AdminRefusal> for Failure {
    fn from(refusal: AdminRefusal) -> Self {
        let failure = Self::new(refusal.to_string());
        match refusal {
            AdminRefusal::NoProject => failure.hint("make one with `countersign project apply FILE`"),
            AdminRefusal::SeveralProjects(ids) => failure.hint(format!("name one of: {}", ids.join(", "))),
            AdminRefusal::UnknownProject(ids) => failure.hint(format!("known are: {}", ids.join(", "))),
            AdminRefusal::UnknownVersion { project, .. } => {
                failure.hint(format!("`countersign project versions {project}` lists them"))
            }
            AdminRefusal::Problems(problems) => Self::all(problems.iter().map(ToString::to_string)),
            AdminRefusal::SecondProject => {
                failure.hint("give the document the id of that project, or set tenancy = \"multi\"")
            }
            AdminRefusal::UnknownPerson(_) | AdminRefusal::NoAccount => {
                failure.hint("`countersign user list` lists the accounts")
            }
            AdminRefusal::UnknownCall => failure.hint("`countersign call list` shows the calls by their ids"),
            AdminRefusal::UnknownApiKey => failure.hint("`countersign key list` shows the keys by their ids"),
            AdminRefusal::UnknownSubscriberToken => {
                failure.hint("`countersign token list` shows the tokens by their ids")
            }
            AdminRefusal::UnknownWebhookSecret => {
                failure.hint("`countersign webhooks secret list` shows the secrets by their ids")
            }
            AdminRefusal::UnknownServiceAccount => {
                failure.hint("`countersign service-account list` shows the accounts and their grants")
            }
            AdminRefusal::UnknownWebhookMessage => {
                failure.hint("`countersign webhooks list` shows the messages by their ids")
            }
            AdminRefusal::Store(_) => {
                failure.hint("`countersign config check` shows the store in use, and where it is configured")
            }
            AdminRefusal::Unavailable => {
                failure.hint("the log has the reason; check the current state before you try again")
            }
            AdminRefusal::Refused(_) => failure,
        }
    }
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        let reason = |problem: ConfigProblem| Reason { error: problem.to_string(), hint: Some(problem.hint) };
        Self { reasons: errors.problems.into_iter().map(reason).collect(), misused: false }
    }
}

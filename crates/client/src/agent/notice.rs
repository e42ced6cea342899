//! Notifications of an agent to its person.

use countersign_protocol::domain::Domain;
use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

/// A channel to the person: a terminal, a window, a list in a test.
pub trait UserFacing: Send + Sync {
    fn notice(&self, notice: Notice);
}

/// A message to the person. Its `Display` is a plain sentence; services are named by their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The service demands a higher tier than this agent has (AAP 2).
    ManualAuthorization { service: String, needed: u8, has: u8 },
    /// There is no delegation, or it has ended (AAP 5.1).
    ConnectNeeded { service: String, operator: Domain },
    /// The page to open. The domain is that of the asking operator (AAP 13.2).
    PleaseConnect { service: String, operator: Domain, url: String },
    /// The identity that the agent acts under, in the service's words, before its first action (AAP 11.5).
    ModeDisclosure { service: String, mode: String, text: String },
    /// The delegation was revoked (AAP 8.5). The reason is one of the protocol's, or `not told`.
    AccessCutOff { service: String, reason: String },
    /// An action of the agent is not possible, or no longer.
    LostCapability { service: String, code: String, why: String },
    /// The two sides do not speak the same protocol.
    ProtocolError { service: String, what: String },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ManualAuthorization { service, needed, has } => write!(
                f,
                "{service} demands trust tier {needed}, and I have tier {has}. I cannot continue: please do this there \
                 yourself."
            ),
            Self::ConnectNeeded { service, operator } => {
                write!(f, "I need you to connect me with {service} first. I am an agent of {operator}.")
            }
            Self::PleaseConnect { service, operator, url } => {
                write!(f, "Please open {url} to connect this agent of {operator} with {service}.")
            }
            Self::ModeDisclosure { service, text, .. } => write!(f, "{service}: {text}"),
            Self::AccessCutOff { service, reason } => {
                write!(f, "My access to {service} was revoked. Reason: {}.", reason_text(reason))
            }
            Self::LostCapability { service, code, why } => {
                write!(f, "{service} does not let me do this: {why} ({code}).")
            }
            Self::ProtocolError { service, what } => write!(f, "I cannot work with {service}: {what}."),
        }
    }
}

/// The closed vocabulary of `X-Agent-Revoke-Reason` (AAP 8.5).
fn reason_text(reason: &str) -> &str {
    match reason {
        "policy_expired" => "the time that you granted is over",
        "inactivity" => "it was not used for too long",
        "task_complete" => "the task was complete",
        "event_triggered" => "something changed at the service",
        "manual_revoke" => "it was revoked",
        "key_rotation" => "the operator's key was withdrawn",
        other => other,
    }
}

/// A service's text made safe for display: one line, no control characters, limited in length.
pub(super) fn shown(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    visible.take(1000).collect::<String>().trim().to_owned()
}

/// Collects, for demonstrations and tests.
impl UserFacing for Mutex<Vec<Notice>> {
    fn notice(&self, notice: Notice) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }
}

//! Subscriber tokens a person gave to screen readers, speakers and scripts, and their revocation.

use super::{Frame, PlainLine};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// A token of the person, without its secret.
#[derive(Clone, Debug)]
pub struct SubscriberRow {
    pub id: String,
    pub project: String,
    pub service: PlainLine,
    pub name: PlainLine,
    pub may_answer: bool,
    pub legacy: bool,
    pub approves_high_risk: bool,
    pub since: UnixMillis,
    pub until: UnixMillis,
}

/// The form for a new token.
#[derive(Clone, Debug, Default)]
pub struct NewSubscriber {
    /// The projects it can be issued for, by id and name.
    pub projects: Vec<(String, PlainLine)>,
    /// Whether any of them accepts tokens in URLs.
    pub legacy: bool,
    /// Its lifetime.
    pub days: i64,
    /// The name from a form that has to be sent again.
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscribersError {
    /// The name is missing or too long.
    Name,
    /// The project does not accept tokens in URLs.
    Legacy,
    /// A listen-only token cannot also approve.
    Listens,
}

/// The new token, shown only this once.
#[derive(Clone, Debug, Template)]
#[template(path = "subscriber_made.html")]
pub struct SubscriberMadePage {
    pub frame: Frame,
    pub subscriber: SubscriberRow,
    pub secret: String,
    /// The URL for a client that cannot send credentials; as secret as the token.
    pub endpoint: Option<String>,
}

impl SubscriberRow {
    /// The path of its revocation form.
    pub(super) fn path(&self) -> String {
        format!("/account/subscribers/{}/{}/revoke", self.project, self.id)
    }

    pub(super) fn role(&self, frame: &Frame) -> String {
        frame.say(if self.may_answer { "subscriber-answers" } else { "subscriber-listens" })
    }
}

impl NewSubscriber {
    pub(super) fn lasts(&self, frame: &Frame) -> String {
        frame.say_count("subscriber-days", self.days)
    }
}

impl SubscribersError {
    pub(super) fn text(self, frame: &Frame) -> String {
        frame.say(match self {
            SubscribersError::Name => "subscriber-error-name",
            SubscribersError::Legacy => "subscriber-error-legacy",
            SubscribersError::Listens => "subscriber-error-listens",
        })
    }

    pub(super) fn field(self) -> &'static str {
        match self {
            SubscribersError::Name => "subscriber-name",
            SubscribersError::Legacy => "subscriber-legacy",
            SubscribersError::Listens => "subscriber-high-risk",
        }
    }
}

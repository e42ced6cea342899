//! What a person has given to screen readers, speakers and scripts of theirs, and the way to take it back.

use super::{Frame, Line};
use askama::Template;
use countersign_protocol::time::UnixMillis;

/// A token that the person made, without its secret.
#[derive(Clone, Debug)]
pub struct Subscriber {
    pub id: String,
    pub project: String,
    pub service: Line,
    pub name: Line,
    pub may_answer: bool,
    pub legacy: bool,
    pub approves_high_risk: bool,
    pub since: UnixMillis,
    pub until: UnixMillis,
}

/// The form for another one.
#[derive(Clone, Debug, Default)]
pub struct NewSubscriber {
    /// The projects that it can be for, by id and name.
    pub projects: Vec<(String, Line)>,
    /// Whether any of them lets tokens stand in addresses.
    pub legacy: bool,
    /// How long it will be good for.
    pub days: i64,
    /// What was typed into a form that has to be sent again.
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscribersError {
    /// It has no name, or one that is too long.
    Name,
    /// The project does not let tokens stand in addresses.
    Legacy,
    /// It only listens, and is to approve something.
    Listens,
}

/// The token, shown this once.
#[derive(Clone, Debug, Template)]
#[template(path = "subscriber_made.html")]
pub struct SubscriberMadePage {
    pub frame: Frame,
    pub subscriber: Subscriber,
    pub secret: String,
    /// What a client without credentials of its own is given as its address; as secret as the token.
    pub endpoint: Option<String>,
}

impl Subscriber {
    /// Where it is taken back.
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

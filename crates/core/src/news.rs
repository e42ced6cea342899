//! What is told after a step is durable: to subscribers, and to whoever waits on any node.
//!
//! News is made in the step that causes it and leaves with its commit, never before; it may arrive twice.

use crate::records::Role;
use countersign_protocol::{
    aaep::{event::Event, extension},
    ids::RowKey,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum News {
    /// An event was said in an AAEP session.
    Said(Box<Said>),
    /// A decision, its allowance or its execution is another than before: whoever waits looks again.
    Changed { decision: RowKey },
    /// What a person may see or answer may be another than before: their subscriptions and waits are looked at again.
    Standing { person: RowKey },
    /// A subscription has new terms or is closed.
    Subscription { subscription: RowKey },
    /// Delegations and AAP sessions are over, by a step of this node: no node sends anything more under them.
    Ended { holders: Vec<RowKey>, node: i64 },
    /// This node sends nothing more under them.
    Acknowledged { holders: Vec<RowKey>, node: i64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    pub project: RowKey,
    /// The AAEP session.
    pub session: RowKey,
    /// Its place in the session, without holes.
    pub seq: i64,
    pub to: Audience,
    pub event: Event,
    /// The same event in further languages, for words of our own.
    pub translations: Vec<(String, Event)>,
}

impl News {
    /// The same without a reply token: what other nodes read from the database holds none.
    #[must_use]
    pub fn at_rest(&self) -> Self {
        let mut news = self.clone();
        if let Self::Said(said) = &mut news {
            said.set_reply_token("");
        }
        news
    }
}

impl Said {
    /// In every language: each is the same event.
    pub fn set_reply_token(&mut self, token: &str) {
        let all = std::iter::once(&mut self.event).chain(self.translations.iter_mut().map(|(_, event)| event));
        all.for_each(|event| event.payload.set_reply_token(token.to_owned()));
    }

    /// The decision whose reply token was left out on the way here.
    pub fn lacks_token_of(&self) -> Option<&str> {
        let lacks = self.event.payload.reply_token().is_some_and(str::is_empty);
        let ours = self.event.envelope.extensions.get(extension::PREFIX).filter(|_| lacks)?;
        ours.get("decision_id")?.as_str()
    }
}

/// Who may see an event, in its project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audience {
    pub people: Vec<RowKey>,
    pub roles: Vec<Role>,
}

impl Audience {
    pub fn has(&self, person: RowKey, roles: &[Role]) -> bool {
        self.people.contains(&person) || self.roles.iter().any(|role| roles.contains(role))
    }
}

//! Signals to subscribers and waiters on all nodes, sent after a step is durable.
//!
//! A signal belongs to the step that causes it and is sent with its commit, never before. It may arrive twice.

use crate::{aap::concurrent_use::ClientNetwork, records::Role};
use countersign_protocol::{
    aaep::{event::Event, extension},
    ids::RowKey,
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Signal {
    /// A new event in an AAEP session.
    Said(Box<AaepSignal>),
    /// A decision, its allowance or its execution has changed: waiters read it again.
    Changed { decision: RowKey },
    /// A person's rights may have changed: their subscriptions and waiters are checked again.
    Standing { person: RowKey },
    /// A subscription has new terms or is closed.
    Subscription { subscription: RowKey },
    /// Delegations and AAP sessions ended by a step of this node: no node sends anything more under them.
    Ended { holders: Vec<RowKey>, node: i64 },
    /// A delegation is in use from this network, where the project watches that (AAP 13.3).
    Used { delegation: RowKey, network: ClientNetwork, at: UnixMillis, window_seconds: i64, node: i64 },
    /// A suspension was lifted: every node forgets where the delegation was used before (AAP 13.3).
    Lifted { delegation: RowKey },
    /// Confirms that this node sends nothing more under them.
    Acknowledged { holders: Vec<RowKey>, node: i64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AaepSignal {
    pub project: RowKey,
    /// The AAEP session.
    pub session: RowKey,
    /// The event's number in the session, without gaps.
    pub seq: i64,
    pub to: Audience,
    /// Shared with every subscription that it reaches.
    pub event: Arc<Event>,
    /// The same event in other languages, if it contains texts of ours.
    pub translations: Arc<[(String, Event)]>,
}

impl Signal {
    /// The signal without reply tokens, as stored for other nodes: the database holds none.
    #[must_use]
    pub fn without_reply_tokens(&self) -> Self {
        let mut news = self.clone();
        if let Self::Said(said) = &mut news {
            said.set_reply_token("");
        }
        news
    }
}

impl AaepSignal {
    /// Sets it in every language, since all are the same event.
    pub fn set_reply_token(&mut self, token: &str) {
        let translations = Arc::make_mut(&mut self.translations).iter_mut().map(|(_, event)| event);
        let all = std::iter::once(Arc::make_mut(&mut self.event)).chain(translations);
        all.for_each(|event| event.payload.set_reply_token(token.to_owned()));
    }

    /// The decision of a reply token omitted in storage.
    pub fn omitted_token_decision(&self) -> Option<&str> {
        let lacks = self.event.payload.reply_token().is_some_and(str::is_empty);
        let ours = self.event.envelope.extensions.get(extension::PREFIX).filter(|_| lacks)?;
        ours.get("decision_id")?.as_str()
    }
}

/// The people and roles with access to an event, in its project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audience {
    pub people: Vec<RowKey>,
    pub roles: Vec<Role>,
}

impl Audience {
    pub fn includes(&self, person: RowKey, roles: &[Role]) -> bool {
        self.people.contains(&person) || self.roles.iter().any(|role| roles.contains(role))
    }
}

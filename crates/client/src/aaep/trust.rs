//! Known producers, and the handling of all others (AAEP 6.9).

use countersign_protocol::aaep::envelope::Producer;

/// A person's settings for producers. By default every producer that the connected service admits is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The `agent_id`s that the person knows; none means all.
    pub known: Option<Vec<String>>,
    pub unknown: UnknownProducers,
}

/// The handling of an unknown producer's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownProducers {
    /// Shown, and always marked.
    #[default]
    ShowMarked,
    /// Neither shown nor answerable; their existence is announced once.
    Refuse,
}

/// The verdict on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventTrust {
    Known,
    Marked,
    Refused,
}

impl Trust {
    pub(super) fn of_producer(&self, producer: &Producer) -> EventTrust {
        self.of_agent(&producer.agent_id)
    }

    pub(super) fn of_agent(&self, agent_id: &str) -> EventTrust {
        let known = self.known.as_ref().is_none_or(|all| all.iter().any(|known| known == agent_id));
        match (known, self.unknown) {
            (true, _) => EventTrust::Known,
            (false, UnknownProducers::ShowMarked) => EventTrust::Marked,
            (false, UnknownProducers::Refuse) => EventTrust::Refused,
        }
    }
}

//! Whom a person knows, and what happens to the events of others (AAEP 6.9).

use countersign_protocol::aaep::envelope::Producer;

/// What a person decided about producers. By default everybody whom the connected service lets speak is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The `agent_id`s that the person knows; nothing means all.
    pub known: Option<Vec<String>>,
    pub unknown: UnknownProducers,
}

/// What becomes of events of a producer that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownProducers {
    /// Shown, and marked wherever they are shown.
    #[default]
    ShowMarked,
    /// Not shown, and not to be answered; that there are any is told once.
    Refuse,
}

/// How an event is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Known,
    Marked,
    Refused,
}

impl Trust {
    pub(super) fn standing(&self, producer: &Producer) -> Standing {
        self.of_agent(&producer.agent_id)
    }

    pub(super) fn of_agent(&self, agent_id: &str) -> Standing {
        let known = self.known.as_ref().is_none_or(|all| all.iter().any(|known| known == agent_id));
        match (known, self.unknown) {
            (true, _) => Standing::Known,
            (false, UnknownProducers::ShowMarked) => Standing::Marked,
            (false, UnknownProducers::Refuse) => Standing::Refused,
        }
    }
}

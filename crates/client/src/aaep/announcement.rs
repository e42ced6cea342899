//! Announcements to a person, and their urgency.

use super::question::ReceivedQuestion;
use countersign_protocol::{aaep::envelope::Urgency, time::UnixMillis};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Announcement {
    /// A new question: at once, assertively, and exactly once.
    Asked(Arc<ReceivedQuestion>),
    /// It can no longer be answered; announced once.
    Over { question: Arc<ReceivedQuestion>, ending: Ending, words: Option<String>, said_by: SaidBy },
    /// A countdown sent by the producer. Nothing depends on it (AAEP 6.4.3).
    TimeLeft { question: Arc<ReceivedQuestion>, seconds: i64 },
    /// The deadline was extended.
    MoreTime { question: Arc<ReceivedQuestion>, deadline: UnixMillis },
    /// Any other event of an agent.
    Said(AnnouncementText),
    /// Events of a producer that the person refuses; announced once per producer.
    ProducerRefused { agent_id: String },
}

/// The end of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Accepted,
    Rejected,
    Answered,
    /// Nobody answered in time. That is no rejection.
    Expired,
    /// Withdrawn by the agent, or with the agent's access.
    Withdrawn,
    /// The agent's whole session is over.
    SessionOver,
    /// The agent continued: the question was answered or withdrawn. The producer does not say which.
    Moved,
    /// It was gone after a reconnection.
    Missed,
}

/// The author of an event's text, as the producer declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaidBy {
    Agent,
    /// The service itself, about an agent.
    Hub,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementText {
    pub session_id: String,
    pub agent_id: String,
    pub known_producer: bool,
    pub said_by: SaidBy,
    pub urgency: Urgency,
    /// Of one session only the latest of each of these needs to be heard.
    pub kind: AnnouncementKind,
    pub text: String,
    /// How many others it replaces.
    pub folded: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnouncementKind {
    State,
    Progress,
    Output,
    /// Each is a separate message.
    Message,
}

impl SaidBy {
    /// The machine-readable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Hub => "hub",
        }
    }
}

impl Announcement {
    /// Whether it precedes all others and is never dropped.
    pub fn is_assertive(&self) -> bool {
        match self {
            Self::Asked(_) | Self::Over { .. } | Self::MoreTime { .. } | Self::ProducerRefused { .. } => true,
            Self::TimeLeft { .. } => false,
            Self::Said(said) => said.urgency == Urgency::Critical,
        }
    }

    pub(super) fn is_background(&self) -> bool {
        matches!(self, Self::TimeLeft { .. }) || matches!(self, Self::Said(said) if said.urgency == Urgency::Background)
    }
}

impl Ending {
    /// From the state that our extension names.
    pub(super) fn of(settled: &str) -> Self {
        match settled {
            "accepted" => Self::Accepted,
            "rejected" => Self::Rejected,
            "answered" => Self::Answered,
            "expired" => Self::Expired,
            "cancelled" => Self::Withdrawn,
            _ => Self::Moved,
        }
    }

    /// The machine-readable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::SessionOver => "session_over",
            Self::Moved => "settled",
            Self::Missed => "missed",
        }
    }
}

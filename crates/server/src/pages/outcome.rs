//! The outcome of a question, shown unaltered to a person it was addressed to.

use super::{Frame, HELD, Prose, Unanswered};
use countersign_protocol::time::UnixMillis;

#[derive(Clone, Debug)]
pub enum OutcomeText {
    /// Pending.
    Open,
    /// The deadline has passed; the expiry is being recorded.
    Over,
    Accepted {
        by: DecidedBy,
        at: UnixMillis,
    },
    Rejected {
        by: DecidedBy,
        at: UnixMillis,
        reason: Option<Prose>,
    },
    Answered {
        by: DecidedBy,
        at: UnixMillis,
        response: Prose,
    },
    Expired {
        at: UnixMillis,
        as_if: Unanswered,
    },
    Withdrawn {
        at: UnixMillis,
    },
    /// An entitled person cancelled it.
    CalledOff {
        by: DecidedBy,
        at: UnixMillis,
        reason: Option<Prose>,
    },
    SessionOver {
        at: UnixMillis,
    },
    Revoked {
        at: UnixMillis,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    You,
    SomebodyElse,
}

/// The state of the permitted call: permitted, running or finished.
#[derive(Clone, Debug)]
pub enum Runs {
    May {
        until: UnixMillis,
    },
    /// Held until its undo window closes.
    Held {
        until: UnixMillis,
    },
    Undone {
        at: UnixMillis,
    },
    Lapsed {
        at: UnixMillis,
    },
    Cancelled {
        at: UnixMillis,
    },
    /// Claimed. The enforcement point has until `report_by` to report the outcome.
    Begun {
        at: UnixMillis,
        report_by: UnixMillis,
        run_by: RunBy,
    },
    Ran {
        at: UnixMillis,
        told_by: ToldBy,
        why: Option<Prose>,
    },
    Failed {
        at: UnixMillis,
        told_by: ToldBy,
        why: Option<Prose>,
    },
    Released {
        at: UnixMillis,
    },
    Unknown {
        since: UnixMillis,
        /// While its upstream is probed for the outcome.
        asked_until: Option<UnixMillis>,
    },
}

/// How an approved call can be undone, or was (AAP 14.1).
#[derive(Clone, Debug)]
pub enum CallUndo {
    /// The reader may undo it now.
    Offered {
        /// None while it is still to be sent; otherwise the service is asked to undo it.
        call_id: Option<String>,
    },
    /// The service is being asked.
    Undoing,
    Undone {
        at: UnixMillis,
    },
    Remains {
        at: UnixMillis,
        why: Prose,
    },
    Unknown {
        at: UnixMillis,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunBy {
    Agent,
    /// This service's gateway, which sees the upstream response itself.
    Gateway,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldBy {
    Agent,
    Gateway,
    /// The upstream, when it was probed for the outcome.
    Upstream,
    You,
    SomebodyElse,
}

impl OutcomeText {
    pub fn is_open(&self) -> bool {
        matches!(self, OutcomeText::Open)
    }

    /// Whether the reader of the page settled the question.
    pub fn is_by_you(&self) -> bool {
        let (OutcomeText::Accepted { by, .. }
        | OutcomeText::Rejected { by, .. }
        | OutcomeText::Answered { by, .. }
        | OutcomeText::CalledOff { by, .. }) = self
        else {
            return false;
        };
        *by == DecidedBy::You
    }

    /// The outcome in one sentence.
    pub(super) fn text(&self, frame: &Frame) -> String {
        frame.say(match self {
            OutcomeText::Open => "became-open",
            OutcomeText::Over => "became-over",
            OutcomeText::Accepted { by: DecidedBy::You, .. } => "became-accepted-you",
            OutcomeText::Accepted { .. } => "became-accepted-other",
            OutcomeText::Rejected { by: DecidedBy::You, .. } => "became-rejected-you",
            OutcomeText::Rejected { .. } => "became-rejected-other",
            OutcomeText::Answered { by: DecidedBy::You, .. } => "became-answered-you",
            OutcomeText::Answered { .. } => "became-answered-other",
            OutcomeText::Expired { .. } => "became-expired",
            OutcomeText::Withdrawn { .. } => "became-withdrawn",
            OutcomeText::CalledOff { by: DecidedBy::You, .. } => "became-called-off-you",
            OutcomeText::CalledOff { .. } => "became-called-off-other",
            OutcomeText::SessionOver { .. } => "became-session-over",
            OutcomeText::Revoked { .. } => "became-revoked",
        })
    }

    /// The label beside the heading.
    pub(super) fn word(&self, frame: &Frame) -> String {
        frame.say(match self {
            OutcomeText::Open => "became-word-open",
            OutcomeText::Over | OutcomeText::Expired { .. } => "became-word-expired",
            OutcomeText::Accepted { .. } => "became-word-accepted",
            OutcomeText::Rejected { .. } => "became-word-rejected",
            OutcomeText::Answered { .. } => "became-word-answered",
            OutcomeText::CalledOff { .. } => "became-word-called-off",
            OutcomeText::Withdrawn { .. } | OutcomeText::SessionOver { .. } | OutcomeText::Revoked { .. } => {
                "became-word-withdrawn"
            }
        })
    }

    pub(super) fn at(&self) -> Option<&UnixMillis> {
        match self {
            OutcomeText::Open | OutcomeText::Over => None,
            OutcomeText::Accepted { at, .. }
            | OutcomeText::Rejected { at, .. }
            | OutcomeText::Answered { at, .. }
            | OutcomeText::Expired { at, .. }
            | OutcomeText::Withdrawn { at }
            | OutcomeText::CalledOff { at, .. }
            | OutcomeText::SessionOver { at }
            | OutcomeText::Revoked { at } => Some(at),
        }
    }

    /// The reason for a rejection or cancellation, as the person wrote it.
    pub(super) fn reason(&self) -> Option<&Prose> {
        match self {
            OutcomeText::Rejected { reason, .. } | OutcomeText::CalledOff { reason, .. } => reason.as_ref(),
            _ => None,
        }
    }

    pub(super) fn response(&self) -> Option<&Prose> {
        match self {
            OutcomeText::Answered { response, .. } => Some(response),
            _ => None,
        }
    }

    /// The outcome of a question that nobody answered. Never presented as a rejection.
    pub(super) fn as_if(&self, frame: &Frame) -> Option<String> {
        let OutcomeText::Expired { as_if, .. } = self else { return None };
        Some(match as_if {
            Unanswered::Rejected => frame.say("expired-as-rejected"),
            Unanswered::Accepted => frame.say("expired-as-accepted"),
            Unanswered::Response(response) => frame.say_of("expired-as-response", "response", response.as_str()),
            Unanswered::Unavailable | Unanswered::Stopped => frame.say("expired-as-unavailable"),
        })
    }
}

impl Runs {
    /// A sentence that ends just before its timestamp.
    pub(super) fn text(&self, frame: &Frame) -> String {
        frame.say(match self {
            Runs::May { .. } => "runs-may",
            Runs::Held { .. } => "runs-held",
            Runs::Undone { .. } => "runs-undone",
            Runs::Lapsed { .. } => "runs-lapsed",
            Runs::Cancelled { .. } => "runs-cancelled",
            Runs::Begun { run_by: RunBy::Agent, .. } => "runs-begun",
            Runs::Begun { run_by: RunBy::Gateway, .. } => "runs-begun-gateway",
            Runs::Ran { told_by: ToldBy::Gateway, .. } => "runs-ran-gateway",
            Runs::Failed { told_by: ToldBy::Gateway, .. } => "runs-failed-gateway",
            Runs::Ran { told_by: ToldBy::Upstream, .. } => "runs-ran-upstream",
            Runs::Failed { told_by: ToldBy::Upstream, .. } => "runs-failed-upstream",
            Runs::Ran { told_by: ToldBy::Agent, .. } => "runs-ran-agent",
            Runs::Ran { told_by: ToldBy::You, .. } => "runs-ran-you",
            Runs::Ran { .. } => "runs-ran-other",
            Runs::Failed { told_by: ToldBy::Agent, .. } => "runs-failed-agent",
            Runs::Failed { told_by: ToldBy::You, .. } => "runs-failed-you",
            Runs::Failed { .. } => "runs-failed-other",
            Runs::Released { .. } => "runs-released",
            Runs::Unknown { .. } => "runs-unknown",
        })
    }

    pub(super) fn at(&self) -> &UnixMillis {
        match self {
            Runs::May { until } | Runs::Held { until } => until,
            Runs::Begun { report_by, .. } => report_by,
            Runs::Undone { at }
            | Runs::Lapsed { at }
            | Runs::Cancelled { at }
            | Runs::Ran { at, .. }
            | Runs::Failed { at, .. }
            | Runs::Released { at } => at,
            Runs::Unknown { since, .. } => since,
        }
    }

    pub(super) fn why(&self) -> Option<&Prose> {
        match self {
            Runs::Ran { why, .. } | Runs::Failed { why, .. } => why.as_ref(),
            _ => None,
        }
    }

    pub(super) fn asked_until(&self) -> Option<&UnixMillis> {
        match self {
            Runs::Unknown { asked_until, .. } => asked_until.as_ref(),
            _ => None,
        }
    }

    /// Whether the reader of the page reported the outcome.
    pub fn is_told_by_you(&self) -> bool {
        matches!(self, Runs::Ran { told_by: ToldBy::You, .. } | Runs::Failed { told_by: ToldBy::You, .. })
    }
}

impl CallUndo {
    /// A sentence that ends just before its timestamp, if it has one.
    pub(super) fn text(&self, frame: &Frame) -> String {
        frame.say(match self {
            CallUndo::Offered { call_id: None } => "undo-means",
            CallUndo::Offered { call_id: Some(_) } => "undo-means-sent",
            CallUndo::Undoing => "undo-undoing",
            CallUndo::Undone { .. } => "undo-undone",
            CallUndo::Remains { .. } => "undo-remains",
            CallUndo::Unknown { .. } => "undo-unknown",
        })
    }

    pub(super) fn at(&self) -> Option<&UnixMillis> {
        match self {
            CallUndo::Offered { .. } | CallUndo::Undoing => None,
            CallUndo::Undone { at } | CallUndo::Remains { at, .. } | CallUndo::Unknown { at } => Some(at),
        }
    }

    pub(super) fn why(&self) -> Option<&Prose> {
        match self {
            CallUndo::Remains { why, .. } => Some(why),
            _ => None,
        }
    }

    /// The same as a whole sentence, for whoever just asked for it.
    pub(super) fn notice(&self) -> &'static str {
        match self {
            CallUndo::Offered { .. } | CallUndo::Undoing => "undo-undoing",
            CallUndo::Undone { .. } => "question-notice-undone-sent",
            CallUndo::Remains { .. } => "question-notice-remains",
            CallUndo::Unknown { .. } => "question-notice-undo-unknown",
        }
    }

    /// The value of the undo button, if there is one.
    pub(super) fn offered(&self) -> Option<&str> {
        match self {
            CallUndo::Offered { call_id } => Some(call_id.as_deref().unwrap_or(HELD)),
            _ => None,
        }
    }
}

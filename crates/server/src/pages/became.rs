//! The outcome of a question, shown unaltered to a person it was addressed to.

use super::{Frame, Prose, Unanswered};
use countersign_protocol::time::UnixMillis;

#[derive(Clone, Debug)]
pub enum Became {
    /// Pending.
    Open,
    /// The deadline has passed; the expiry is being recorded.
    Over,
    Accepted {
        by: Who,
        at: UnixMillis,
    },
    Rejected {
        by: Who,
        at: UnixMillis,
        reason: Option<Prose>,
    },
    Answered {
        by: Who,
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
        by: Who,
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
pub enum Who {
    You,
    SomebodyElse,
}

/// The state of the permitted call: permitted, running or finished.
#[derive(Clone, Debug)]
pub enum Runs {
    May {
        until: UnixMillis,
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

impl Became {
    pub fn is_open(&self) -> bool {
        matches!(self, Became::Open)
    }

    /// Whether the reader of the page settled the question.
    pub fn is_by_you(&self) -> bool {
        let (Became::Accepted { by, .. }
        | Became::Rejected { by, .. }
        | Became::Answered { by, .. }
        | Became::CalledOff { by, .. }) = self
        else {
            return false;
        };
        *by == Who::You
    }

    /// The outcome in one sentence.
    pub(super) fn text(&self, frame: &Frame) -> String {
        frame.say(match self {
            Became::Open => "became-open",
            Became::Over => "became-over",
            Became::Accepted { by: Who::You, .. } => "became-accepted-you",
            Became::Accepted { .. } => "became-accepted-other",
            Became::Rejected { by: Who::You, .. } => "became-rejected-you",
            Became::Rejected { .. } => "became-rejected-other",
            Became::Answered { by: Who::You, .. } => "became-answered-you",
            Became::Answered { .. } => "became-answered-other",
            Became::Expired { .. } => "became-expired",
            Became::Withdrawn { .. } => "became-withdrawn",
            Became::CalledOff { by: Who::You, .. } => "became-called-off-you",
            Became::CalledOff { .. } => "became-called-off-other",
            Became::SessionOver { .. } => "became-session-over",
            Became::Revoked { .. } => "became-revoked",
        })
    }

    /// The label beside the heading.
    pub(super) fn word(&self, frame: &Frame) -> String {
        frame.say(match self {
            Became::Open => "became-word-open",
            Became::Over | Became::Expired { .. } => "became-word-expired",
            Became::Accepted { .. } => "became-word-accepted",
            Became::Rejected { .. } => "became-word-rejected",
            Became::Answered { .. } => "became-word-answered",
            Became::CalledOff { .. } => "became-word-called-off",
            Became::Withdrawn { .. } | Became::SessionOver { .. } | Became::Revoked { .. } => "became-word-withdrawn",
        })
    }

    pub(super) fn at(&self) -> Option<&UnixMillis> {
        match self {
            Became::Open | Became::Over => None,
            Became::Accepted { at, .. }
            | Became::Rejected { at, .. }
            | Became::Answered { at, .. }
            | Became::Expired { at, .. }
            | Became::Withdrawn { at }
            | Became::CalledOff { at, .. }
            | Became::SessionOver { at }
            | Became::Revoked { at } => Some(at),
        }
    }

    /// The reason for a rejection or cancellation, as the person wrote it.
    pub(super) fn reason(&self) -> Option<&Prose> {
        match self {
            Became::Rejected { reason, .. } | Became::CalledOff { reason, .. } => reason.as_ref(),
            _ => None,
        }
    }

    pub(super) fn response(&self) -> Option<&Prose> {
        match self {
            Became::Answered { response, .. } => Some(response),
            _ => None,
        }
    }

    /// The outcome of a question that nobody answered. Never presented as a rejection.
    pub(super) fn as_if(&self, frame: &Frame) -> Option<String> {
        let Became::Expired { as_if, .. } = self else { return None };
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
            Runs::May { until } => until,
            Runs::Begun { report_by, .. } => report_by,
            Runs::Lapsed { at }
            | Runs::Cancelled { at }
            | Runs::Ran { at, .. }
            | Runs::Failed { at, .. }
            | Runs::Released { at } => at,
            Runs::Unknown { since } => since,
        }
    }

    pub(super) fn why(&self) -> Option<&Prose> {
        match self {
            Runs::Ran { why, .. } | Runs::Failed { why, .. } => why.as_ref(),
            _ => None,
        }
    }

    /// Whether the reader of the page reported the outcome.
    pub fn is_told_by_you(&self) -> bool {
        matches!(self, Runs::Ran { told_by: ToldBy::You, .. } | Runs::Failed { told_by: ToldBy::You, .. })
    }
}

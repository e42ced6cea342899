//! The result of sending a request upstream, and its meaning for the effect.

use countersign_core::{decision::outcome::OutcomeReport, refusal::Refusal};
use countersign_protocol::project::Route;

/// Why there is no upstream response, and whether anything may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamError {
    /// Nothing was sent.
    NotSent(&'static str),
    /// Sent, and no response in time.
    TimedOut(&'static str),
    /// Sent, or perhaps sent, and no response came back.
    ConnectionLost(&'static str),
}

impl From<UpstreamError> for Refusal {
    fn from(error: UpstreamError) -> Self {
        match error {
            UpstreamError::NotSent(_) => Self::UpstreamUnreachable,
            UpstreamError::TimedOut(_) => Self::UpstreamSlow(None),
            UpstreamError::ConnectionLost(_) => Self::UpstreamFailed(None),
        }
    }
}

/// The upstream's behaviour as an enforcement point observed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamOutcome {
    /// The head of its response: status, reason phrase, the length if it is declared, and whether it carries
    /// `Countersign-Effect: none`.
    Responded {
        status: u16,
        reason: &'static str,
        length: Option<u64>,
        says_no_effect: bool,
    },
    Failed(UpstreamError),
}

impl UpstreamOutcome {
    /// `201 Created`, as the audit shows it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Responded { status, reason, .. } => format!("{status} {reason}").trim_end().to_owned(),
            Self::Failed(UpstreamError::NotSent(why)) => format!("not sent: {why}"),
            Self::Failed(UpstreamError::TimedOut(why) | UpstreamError::ConnectionLost(why)) => {
                format!("unknown: {why}")
            }
        }
    }

    /// Whether the upstream itself declared that it did nothing: a 4xx other than 408 and 425, a status that the
    /// route lists, or a response with `Countersign-Effect: none`.
    pub(super) fn reports_no_effect(&self, route: &Route) -> bool {
        match self {
            Self::Responded { says_no_effect: true, .. } => true,
            Self::Responded { status, .. } if route.no_effect_statuses.contains(status) => true,
            Self::Responded { status, .. } => (400..500).contains(status) && !matches!(status, 408 | 425),
            Self::Failed(_) => false,
        }
    }

    /// The report about the execution of an approved call.
    pub(super) fn report(&self, route: &Route) -> OutcomeReport {
        match self {
            Self::Failed(UpstreamError::NotSent(why)) => {
                OutcomeReport::Failed { why: Some((*why).to_owned()), refused: false }
            }
            _ if self.reports_no_effect(route) => OutcomeReport::Failed { why: Some(self.text()), refused: true },
            Self::Failed(_) => OutcomeReport::Lost,
            Self::Responded { status: 500.. | 408 | 425, .. } => OutcomeReport::Lost,
            Self::Responded { .. } => OutcomeReport::Committed,
        }
    }

    pub(super) fn was_sent(&self) -> bool {
        !matches!(self, Self::Failed(UpstreamError::NotSent(_)))
    }

    pub(super) fn bytes(&self) -> i64 {
        match self {
            Self::Responded { length: Some(length), .. } => i64::try_from(*length).unwrap_or(i64::MAX),
            _ => 0,
        }
    }

    pub(super) fn is_unsized(&self) -> bool {
        matches!(self, Self::Responded { length: None, .. })
    }
}

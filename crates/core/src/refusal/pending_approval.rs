//! A call without a matching approval: pending, rejected or not covered (C-01, C-02).

use serde_json::{Map, Value};

/// The reason for not forwarding a call that needs approval, and its decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingApproval {
    pub action: String,
    pub why: Awaiting,
    /// The part of the decision open to the agent: its id, the address to poll, the page, the next step.
    pub decision: Map<String, Value>,
    /// The status configured by the project: 403 or 428.
    pub status: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaiting {
    /// A person has been asked.
    Answer,
    /// The approval exists and can be claimed.
    Redemption,
    Rejected,
    Expired,
    Cancelled,
    /// The confirmation sent covers another call or is no longer valid. No person was asked.
    OtherConfirmation(&'static str),
}

impl std::fmt::Display for PendingApproval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let action = &self.action;
        match self.why {
            Awaiting::Answer => {
                write!(f, "{action} needs a person's approval, which is pending; nothing was forwarded")
            }
            Awaiting::Redemption => write!(f, "{action} is approved, but this request does not claim the approval"),
            Awaiting::Rejected => write!(f, "a person rejected {action}; nothing was forwarded"),
            Awaiting::Expired => {
                write!(f, "nobody answered the confirmation request for {action} in time; nothing was forwarded")
            }
            Awaiting::Cancelled => write!(f, "the confirmation request for {action} was withdrawn or cancelled"),
            Awaiting::OtherConfirmation(why) => {
                write!(f, "{action} needs a person's approval, and the confirmation is not valid for it: {why}")
            }
        }
    }
}

impl PendingApproval {
    pub fn hint(&self) -> String {
        match self.why {
            Awaiting::Answer => {
                "wait for the decision, then send exactly the same request with X-Agent-Confirm: true, \
                                 or redeem the decision"
                    .into()
            }
            Awaiting::Redemption => "send exactly the same request with X-Agent-Confirm: true".into(),
            Awaiting::Rejected => "tell the user; if they proposed an alternative, request that".into(),
            Awaiting::Expired | Awaiting::Cancelled => "send the request again only if it is still wanted".into(),
            Awaiting::OtherConfirmation(_) => {
                "send the request without X-Agent-Confirm to request an approval of exactly this call".into()
            }
        }
    }
}

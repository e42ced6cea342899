//! Messages to operators' webhooks, and the secrets that sign them (AAP 17.8).

use super::RevokeReason;
use countersign_protocol::{domain::Domain, ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};

/// One message to an operator about one auto-revoke or suspension, written in the step that causes it. It is sent until the
/// operator acknowledges it, for a day at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutboxMessage {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// `msg_…`: the same for every attempt (`webhook-id`), so that the receiver can drop repeats.
    pub id: String,
    pub operator: Domain,
    pub delegation: RowKey,
    pub delegation_id: String,
    /// The person's subject, which the operator knows from the delegation token.
    pub account_id: String,
    pub trigger: String,
    pub triggered_by: String,
    /// None: the delegation was suspended, for `trigger`.
    pub reason: Option<RevokeReason>,
    /// When it was revoked or suspended.
    pub revoked_at: UnixMillis,
    pub state: OutboxState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum OutboxState {
    Pending {
        /// Attempts so far, the running one included.
        attempts: u32,
        /// The next attempt; while one is running, the end of its lease.
        due: UnixMillis,
        /// The last attempt. Set by the first one, since a message may wait for an earlier one of its delegation.
        give_up_at: Option<UnixMillis>,
        last_error: Option<String>,
    },
    Delivered {
        at: UnixMillis,
        status: u16,
        attempts: u32,
    },
    /// Given up; an administrator can replay it.
    Dead {
        at: UnixMillis,
        attempts: u32,
        last_error: String,
    },
}

impl OutboxMessage {
    /// The next attempt, while there is one.
    pub fn due(&self) -> Option<UnixMillis> {
        match self.state {
            OutboxState::Pending { due, .. } => Some(due),
            OutboxState::Delivered { .. } | OutboxState::Dead { .. } => None,
        }
    }
}

/// An operator's webhook secrets in one project, newest first; two at most. Without any it gets no messages (C-19).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebhookEnrolment {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub operator: Domain,
    pub secrets: Vec<WebhookSecret>,
}

impl WebhookEnrolment {
    pub const MAX_SECRETS: usize = 2;

    pub fn is_active(&self) -> bool {
        !self.secrets.is_empty()
    }
}

/// A secret, sealed under the project's key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebhookSecret {
    /// `whs_…`: names it in commands and in the evidence.
    pub id: String,
    pub sealed: String,
    pub created_at: UnixMillis,
}

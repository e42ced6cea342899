//! The message to an operator's webhook about an auto-revoke (AAP 8.5, 17.8): the members of both published shapes (C-17).

use crate::{
    canonical::{self, NotCanonical},
    time::{UnixMillis, rfc3339},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub const AUTO_REVOKED: &str = "delegation.auto_revoked";
/// A delegation is on hold until it is lifted (C-86).
pub const SUSPENDED: &str = "delegation.suspended";

/// When the attempt was signed, in Unix seconds.
pub const TIMESTAMP: &str = "x-aap-webhook-timestamp";
/// `v1=` and the hex HMAC-SHA-256 of timestamp, `.` and the raw body (C-18).
pub const SIGNATURE: &str = "x-aap-webhook-signature";
/// The same for every attempt at one message. This and the next two are the headers of Standard Webhooks.
pub const STANDARD_ID: &str = "webhook-id";
pub const STANDARD_TIMESTAMP: &str = "webhook-timestamp";
pub const STANDARD_SIGNATURE: &str = "webhook-signature";

/// The body without its member `signature`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoRevokeNotice {
    pub event: String,
    pub delegation_id: String,
    /// The account that acted through the agent: `sub` of the delegation token.
    pub account_id: String,
    /// The member of the effective policy that ended the delegation, or the lifecycle event.
    pub trigger: String,
    /// `service`, `operator` or `user`: the party whose rule it was; or the lifecycle event.
    pub triggered_by: String,
    /// The value of `X-Agent-Revoke-Reason`.
    pub reason: String,
    #[serde(with = "rfc3339")]
    pub revoked_at: UnixMillis,
    /// Equal to `revoked_at`.
    #[serde(with = "rfc3339")]
    pub timestamp: UnixMillis,
    /// The host of the service.
    pub service: String,
}

/// The same for a suspension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspensionNotice {
    pub event: String,
    pub delegation_id: String,
    pub account_id: String,
    /// `concurrent_use`.
    pub trigger: String,
    /// The operator shows it at `/agent/lift` to end exactly this suspension. Nobody else receives it.
    pub acknowledgement: String,
    #[serde(with = "rfc3339")]
    pub suspended_at: UnixMillis,
    /// Equal to `suspended_at`.
    #[serde(with = "rfc3339")]
    pub timestamp: UnixMillis,
    pub service: String,
}

impl AutoRevokeNotice {
    pub fn signed(&self, sign: impl FnOnce(&[u8]) -> String) -> Result<Vec<u8>, NotCanonical> {
        signed(self, sign)
    }
}

impl SuspensionNotice {
    pub fn signed(&self, sign: impl FnOnce(&[u8]) -> String) -> Result<Vec<u8>, NotCanonical> {
        signed(self, sign)
    }
}

/// The body in canonical form. Its member `signature` is made from the canonical form of the other members.
fn signed(notice: &impl Serialize, sign: impl FnOnce(&[u8]) -> String) -> Result<Vec<u8>, NotCanonical> {
    let mut body = canonical::value_of(notice)?;
    let signature = sign(&canonical::of_value(&body)?);
    if let Value::Object(members) = &mut body {
        members.insert("signature".into(), signature.into());
    }
    canonical::of_value(&body)
}

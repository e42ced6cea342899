//! Messages that open, change and close a subscription (AAEP 5), in both directions: a producer reads a subscriber's
//! messages, and our own subscriber reads a producer's responses.
//!
//! Every message is a closed object. A parse error names the wrong member and never repeats its value.

mod capabilities;
mod read;

pub use capabilities::{Capabilities, CognitiveLoad, EventFilters};

use super::envelope::Producer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The first message of a subscription (AAEP 5.2).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "subscription.request")]
pub struct SubscriptionRequest {
    pub aaep_version: String,
    pub subscriber_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriber_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriber_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriber_manifest_uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    pub capabilities: Capabilities,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, Value>,
}

impl SubscriptionRequest {
    pub fn parse(value: &Value) -> Result<Self, String> {
        let object = read::closed(value, read::REQUEST)?;
        let capabilities = Capabilities::parse_member(object, "capabilities")?;
        let plain: Self = read::typed(object, read::REQUEST, &["capabilities"])?;
        Ok(Self { capabilities, ..plain })
    }
}

/// The producer's acceptance with its commitments (AAEP 5.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "subscription.accepted")]
pub struct SubscriptionAccepted {
    pub subscription_id: String,
    pub aaep_version: String,
    pub producer: Producer,
    pub honored_capabilities: Capabilities,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_uri: Option<String>,
    /// A JWS in compact form with the manifest as payload (AAEP 5.10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_manifest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negotiation_notes: Option<String>,
}

impl SubscriptionAccepted {
    pub fn parse(value: &Value) -> Result<Self, String> {
        let object = read::closed(value, read::ACCEPTED)?;
        let honored_capabilities = Capabilities::parse_member(object, "honored_capabilities")?;
        let plain: Self = read::typed(object, read::ACCEPTED, &["honored_capabilities"])?;
        Ok(Self { honored_capabilities, ..plain })
    }
}

/// The producer's rejection (AAEP 5.5). It is always sent: silence would not conform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "subscription.rejected")]
pub struct SubscriptionRejected {
    pub reason_code: ReasonCode,
    pub reason_message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative_manifest_uri: Option<String>,
}

impl SubscriptionRejected {
    pub fn new(reason_code: ReasonCode, reason_message: impl Into<String>) -> Self {
        let reason_message = reason_message.into();
        Self { reason_code, reason_message, retry_after_seconds: None, alternative_manifest_uri: None }
    }

    pub fn parse(value: &Value) -> Result<Self, String> {
        read::typed(read::closed(value, read::REJECTED)?, read::REJECTED, &[])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    VersionUnsupported,
    ManifestSignatureRequired,
    CapabilitiesIncompatible,
    RateLimit,
    AuthenticationRequired,
    AuthorizationDenied,
    TransportUnavailable,
    Unknown,
}

/// Changed terms for an open subscription. Capabilities that are not named stay unchanged (AAEP 5.7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "subscription.renegotiate")]
pub struct Renegotiate {
    pub subscription_id: String,
    pub capabilities: Capabilities,
}

impl Renegotiate {
    pub fn parse(value: &Value) -> Result<Self, String> {
        let object = read::closed(value, read::RENEGOTIATE)?;
        let capabilities = Capabilities::parse_member(object, "capabilities")?;
        let plain: Self = read::typed(object, read::RENEGOTIATE, &["capabilities"])?;
        Ok(Self { capabilities, ..plain })
    }
}

/// Closes a subscription, from either side (AAEP 5.8). A reason is optional.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "subscription.close")]
pub struct Close {
    pub subscription_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_message: Option<String>,
}

impl Close {
    pub fn parse(value: &Value) -> Result<Self, String> {
        read::typed(read::closed(value, read::CLOSE)?, read::CLOSE, &[])
    }
}

#[cfg(test)]
mod tests;

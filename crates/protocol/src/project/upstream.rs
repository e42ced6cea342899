//! The upstreams of the gateway.

use serde::{Deserialize, Serialize};

/// A service that calls are forwarded to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Upstream {
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub id: String,
    /// Scheme, host and port: `http://127.0.0.1:9000`. Paths are forwarded unchanged.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub url: String,
    /// The name of a credential in the node's configuration, where secrets are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
    /// The header with the effect key, for a service that recognises repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_header: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_timeout_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
}

/// How long connecting to an upstream may take that does not say.
const CONNECT_TIMEOUT_S: i64 = 5;

impl Upstream {
    /// How long an upstream may take until its answer begins, where neither it nor the route says.
    pub const TIMEOUT_SECONDS: i64 = 30;

    pub fn connect_timeout_s(&self) -> i64 {
        self.connect_timeout_seconds.unwrap_or(CONNECT_TIMEOUT_S)
    }
}

//! Whom a project trusts, and what it claims: conformance, model providers, simultaneous use.

use crate::aap::manifest::ConformanceTier;
use serde::{Deserialize, Serialize};

/// The conformance block of the manifest (AAP 15). A tier whose parts the document does not provide is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ConformanceClaim {
    pub tier: ConformanceTier,
    /// The date of the last run of a conformance suite against this service: `2026-06-01`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tested: Option<String>,
}

impl ConformanceClaim {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Suspends a delegation that is used from two networks at the same time (AAP 13.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ConcurrentUse {
    /// Two calls from different networks within this time are simultaneous.
    pub window_seconds: i64,
    /// Addresses with this many equal leading bits are one network.
    pub ipv4_prefix: u8,
    pub ipv6_prefix: u8,
}

impl Default for ConcurrentUse {
    fn default() -> Self {
        Self { window_seconds: 60, ipv4_prefix: 24, ipv6_prefix: 48 }
    }
}

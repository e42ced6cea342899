//! Who reads the transparency log.

use serde::{Deserialize, Serialize};

/// Readers of the project's checkpoints, tiles and entries. Entries hide everything personal behind commitments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct EvidencePolicy {
    /// Whether anyone may read them. Without it only auditors and admins may.
    pub public: bool,
}

impl EvidencePolicy {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

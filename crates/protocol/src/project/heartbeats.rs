//! Heartbeats of long tasks (AAP 12.2).

use serde::{Deserialize, Serialize};

/// What a missed heartbeat changes. It is always recorded and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct HeartbeatPolicy {
    pub on_missed: OnMissed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnMissed {
    /// The session goes on.
    #[default]
    Record,
    /// The AAP session ends, with everything that is pending in it.
    EndSession,
}

impl HeartbeatPolicy {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

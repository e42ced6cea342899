//! `POST /agent/events`: lifecycle events from the service's own systems (AAP 8.3).

use crate::time::{UnixMillis, rfc3339};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LifecycleEventRequest {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = super::policy::LifecycleEvent, required = true))]
    pub event: Option<String>,
    /// The sender's id of this event, 1 to 128 characters; an event with a known id changes nothing.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub event_id: Option<String>,
    /// The subject of the user concerned: required for `user.offboarded` and `user.role_changed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The issuer of that subject; absent for a local account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The one delegation concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LifecycleEventResponse {
    pub event_id: String,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub applied_at: UnixMillis,
    /// The delegations that the event ended; none if the event was known already.
    pub revoked: Vec<String>,
}

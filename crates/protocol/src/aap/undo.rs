//! `POST /agent/undo`: undoes a call within its undo window (AAP 14.1, C-58).

use crate::{
    decisions::UndoState,
    time::{UnixMillis, rfc3339},
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UndoRequest {
    /// The last segment of the call's `undo_url`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub undo_id: Option<String>,
}

/// `POST /aaep/v1/questions/{decision_id}/undo`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UndoCallRequest {
    /// Names one of several calls that the approval covered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UndoResponse {
    pub decision_id: String,
    /// `undone`: the call was not sent and never will be, or the service undid it.
    pub state: UndoState,
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub undone_at: UnixMillis,
}

/// 202: the approved call is held until its undo window closes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueuedResponse {
    pub decision_id: String,
    /// POST undoes the call, with the access token of the same session.
    pub undo_url: String,
    /// When the window closes and the call is sent.
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: UnixMillis,
    /// The decision, with the outcome of the call later.
    pub outcome: String,
    /// The page on which the person can undo it.
    pub page: String,
}

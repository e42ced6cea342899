//! Undo windows of routes (AAP 14.1).

use serde::{Deserialize, Serialize};

/// How a call by this route is undone within the window of its scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RouteUndo {
    pub by: UndoBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum UndoBy {
    /// The approved request is held, and sent when the window closes.
    Hold,
}

impl RouteUndo {
    /// The window of an irreversible scope that sets none, in seconds.
    pub const WINDOW_S: i64 = 30;
    pub const MAX_WINDOW_S: i64 = 3600;
}

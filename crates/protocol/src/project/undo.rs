//! Undo windows of routes (AAP 14.1).

use super::RouteCancel;
use serde::{Deserialize, Serialize};

/// How a call by this route is undone within the window of its scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum RouteUndo {
    /// The approved request is held, and sent when the window closes.
    Hold {},
    /// The approved request is sent at once, and its upstream undoes it.
    Upstream {
        /// Undoes the call.
        request: RouteCancel,
    },
}

impl RouteUndo {
    pub const HOLD: Self = Self::Hold {};
    /// The window of an irreversible scope that sets none, in seconds.
    pub const WINDOW_S: i64 = 30;
    pub const MAX_WINDOW_S: i64 = 3600;

    /// The upstream's own request that undoes a call.
    pub fn endpoint(&self) -> Option<&RouteCancel> {
        match self {
            Self::Hold {} => None,
            Self::Upstream { request } => Some(request),
        }
    }
}

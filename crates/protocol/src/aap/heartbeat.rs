//! `POST /agent/heartbeat` (AAP 12.2): a sign of life of a long task, which the service watches for the person.

use crate::time::{UnixMillis, rfc3339, rfc3339_option};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeartbeatRequest {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub session_id: Option<String>,
    /// `running` or `waiting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<TaskStatus>))]
    pub status: Option<String>,
    /// Percent of the task that is done, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 100))]
    pub progress: Option<i64>,
}

/// The state of a task in its agent's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    Running,
    /// For a person or another service.
    Waiting,
}

impl TaskStatus {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "running" => Some(Self::Running),
            "waiting" => Some(Self::Waiting),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeartbeatResponse {
    #[serde(with = "rfc3339")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub received_at: UnixMillis,
    /// When the next one is expected at the latest; absent where the receipt asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub next_before: Option<UnixMillis>,
    /// Always false: the heartbeat of a session that is over is refused, and its agent stops then.
    pub abort: bool,
}

/// A running task with a watch on its heartbeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchedTask {
    pub session_id: String,
    /// In seconds.
    pub heartbeat_interval: i64,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_heartbeat: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<i64>,
    /// Since when its agent is silent; absent while heartbeats arrive in time.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339_option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub missed_at: Option<UnixMillis>,
}

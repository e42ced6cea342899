//! How the upstream of a route is asked whether a call was carried out, when its own answer was lost.

use serde::{Deserialize, Serialize};

/// A read of the route's upstream that tells whether an approved call took effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RouteProbe {
    /// Path and query at the route's upstream: `/transfers?reference={body.reference}`. Names in braces stand for members
    /// of the approved request: a whole segment of the path, or a value of the query.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub path: String,
    /// Answers that mean that the call was carried out. They count at once.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub done: ProbeAnswer,
    /// Answers that mean that it was not. They count twice in a row, from the end of the settling time on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_done: Option<ProbeAnswer>,
    /// How long after the connection was closed the upstream may still carry the call out; required with `not_done`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settling_seconds: Option<i64>,
}

/// Answers to a probe: one of these statuses and, if a member is named, a JSON body in which it is as said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProbeAnswer {
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub statuses: Vec<u16>,
    /// A member of the body by its JSON pointer (RFC 6901), such as `/items`; empty for the body itself. Alone it must be
    /// there and not be null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The text, number or truth value of the member, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equals: Option<String>,
    /// Whether the member is a list with something in it, or an empty one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<ProbeItems>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProbeItems {
    Some,
    None,
}

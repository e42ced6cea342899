//! How the upstream of a route undoes a committed call when its session is cancelled (AAP 17.7).

use super::ProbeAnswer;
use serde::{Deserialize, Serialize};

/// A request to the route's upstream that undoes one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RouteCancel {
    /// `POST` (default), `PUT`, `PATCH` or `DELETE`; it has no body.
    #[serde(default = "RouteCancel::default_method", skip_serializing_if = "RouteCancel::is_default_method")]
    pub method: String,
    /// Path and query at the route's upstream: `/orders/{response.id}/cancel`. Names in braces stand for members of the
    /// call, or of the JSON body of its response: a whole segment of the path, or a value of the query.
    pub path: String,
    /// Responses that mean that the call was undone; without it every status from 200 to 299 other than 202.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<ProbeAnswer>,
}

impl RouteCancel {
    fn default_method() -> String {
        "POST".into()
    }

    fn is_default_method(method: &String) -> bool {
        method == "POST"
    }
}

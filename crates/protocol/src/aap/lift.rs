//! `POST /agent/lift`: the end of a suspension (C-86).

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiftRequest {
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = true))]
    pub delegation_id: Option<String>,
    /// For the operator's acknowledgement that its delegation was used from two networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_jwt: Option<String>,
    /// Required from an operator: the member `acknowledgement` of the suspension's notice to its webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledgement: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiftResponse {
    pub delegation_id: String,
    /// `active`.
    pub state: String,
}

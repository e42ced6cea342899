//! The effective auto-revoke policy of a delegation (AAP 19.6).

use crate::time::{UnixMillis, rfc3339_option};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EffectivePolicy {
    #[serde(default, with = "rfc3339_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub expires_at: Option<UnixMillis>,
}

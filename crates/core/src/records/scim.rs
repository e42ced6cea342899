//! Users that an identity provider provisions.

use countersign_protocol::{ids::RowKey, time::UnixMillis};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A provisioned user of one project. The person's membership decides whether the user is active.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScimUser {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: String,
    pub person: RowKey,
    /// The person's subject at the issuer of the project's policy.
    pub external_id: String,
    /// For filters and display; never an identity.
    pub user_name: String,
    /// The other kept attributes, in the form of RFC 7643: `name`, `displayName`, `emails`.
    pub attributes: Map<String, Value>,
    pub created_at: UnixMillis,
    pub changed_at: UnixMillis,
}

impl ScimUser {
    /// User names are unique regardless of case (RFC 7643 4.1.1).
    pub fn folded_user_name(&self) -> String {
        folded_user_name(&self.user_name)
    }
}

pub fn folded_user_name(user_name: &str) -> String {
    user_name.to_lowercase()
}

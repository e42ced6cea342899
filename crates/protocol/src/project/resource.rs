//! What the routes' resources are, for the boundaries and the audit of service accounts (AAP 11.3, 11.4).

use serde::{Deserialize, Serialize};

/// What the owner says about some resources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ResourceEntry {
    /// A resource id such as `inbox:sales`, or a prefix that ends in `:*`. The most specific entry counts.
    pub pattern: String,
    pub users: ResourceUsers,
}

/// The people whose data a resource has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResourceUsers {
    /// Nobody's in particular.
    None,
    /// Each resource has the data of one user; a prefix of them has that of several.
    One,
    /// A single resource has the data of several users. A resource without an entry counts as such.
    Many,
}

/// Where a response names the people whose data it touched: a header, or a member of its JSON body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DataSubjectSource {
    /// A response header with names separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// A JSON pointer (RFC 6901) to a text or a list of texts; `*` stands for every item of a list: `/items/*/owner`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

//! Users provisioned by an identity provider (SCIM 2.0, RFC 7643 and 7644).
//!
//! A user is a person of the project: the issuer of the project's policy, and `externalId` as the subject. The
//! membership decides whether the user is active. Deactivation and deletion are `user.offboarded`, another set of roles
//! is `user.role_changed`.

pub mod attributes;
pub mod change;
pub mod filter;
pub mod patch;
pub mod selection;
pub mod users;

use crate::{
    records::{Membership, Person, Role, ScimUser},
    refusal::Refusal,
};
use countersign_protocol::project::ScimPolicy;

/// A refused request, with the `scimType` of RFC 7644 3.12.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScimRefusal {
    #[error("{0}")]
    InvalidFilter(String),
    #[error("{0}")]
    InvalidSyntax(String),
    #[error("{0}")]
    InvalidPath(String),
    #[error("{0}")]
    InvalidValue(String),
    #[error("a removal needs a path")]
    NoTarget,
    #[error("{0}")]
    Mutability(String),
    #[error("{0}")]
    Uniqueness(String),
    /// Also for a user of another project.
    #[error("there is no such user here")]
    NotFound,
    #[error("{0}")]
    Other(#[from] Refusal),
}

impl ScimRefusal {
    pub fn scim_type(&self) -> Option<&'static str> {
        match self {
            Self::InvalidFilter(_) => Some("invalidFilter"),
            Self::InvalidSyntax(_) => Some("invalidSyntax"),
            Self::InvalidPath(_) => Some("invalidPath"),
            Self::InvalidValue(_) => Some("invalidValue"),
            Self::NoTarget => Some("noTarget"),
            Self::Mutability(_) => Some("mutability"),
            Self::Uniqueness(_) => Some("uniqueness"),
            Self::NotFound | Self::Other(_) => None,
        }
    }

    pub fn status(&self) -> u16 {
        match self {
            Self::Uniqueness(_) => 409,
            Self::NotFound => 404,
            Self::Other(refusal) => refusal.code().status(),
            _ => 400,
        }
    }
}

/// A user with the rows that its state rests on.
#[derive(Clone, Debug)]
pub struct ProvisionedUser {
    pub user: ScimUser,
    pub person: Person,
    pub membership: Option<Membership>,
}

impl ProvisionedUser {
    pub fn is_active(&self) -> bool {
        !self.roles().is_empty()
    }

    pub fn roles(&self) -> Vec<Role> {
        self.membership.as_ref().map(|membership| membership.roles.clone()).unwrap_or_default()
    }
}

/// The roles of every user of the policy. `check` ensures that the names are known.
pub fn default_roles(policy: &ScimPolicy) -> Vec<Role> {
    sorted(policy.roles.iter().filter_map(|name| role_named(name)).collect())
}

pub fn role_named(name: &str) -> Option<Role> {
    [Role::User, Role::Approver, Role::Admin, Role::Auditor]
        .into_iter()
        .find(|role| role_name(*role).eq_ignore_ascii_case(name))
}

pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Approver => "approver",
        Role::Admin => "admin",
        Role::Auditor => "auditor",
    }
}

fn sorted(mut roles: Vec<Role>) -> Vec<Role> {
    roles.sort();
    roles.dedup();
    roles
}

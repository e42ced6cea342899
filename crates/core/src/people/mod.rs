//! People, their memberships in projects, and all other authenticated callers.

pub mod accounts;
pub mod api_keys;
pub mod disable;
pub mod erasure;
pub mod sign_in;

use crate::{
    records::{ApiKey, Membership, Person, Role, Session, Table, WebSession},
    step::Guard,
};
use countersign_protocol::{domain::Domain, time::UnixMillis};

/// A signed-in person in the context of one project.
#[derive(Clone, Debug)]
pub struct ProjectMember {
    pub person: Person,
    /// None if the person is no member of the project.
    pub membership: Option<Membership>,
    /// When their last proof of presence stops counting as fresh.
    pub fresh_until: UnixMillis,
}

impl ProjectMember {
    /// Platform admins administer every project, but not the personal accounts of others.
    pub fn has_role(&self, role: Role) -> bool {
        let listed = self.membership.as_ref().is_some_and(|m| m.roles.contains(&role));
        listed || (role == Role::Admin && self.person.platform_admin)
    }

    /// The effective roles in the project.
    pub fn roles(&self) -> Vec<Role> {
        let mut roles = self.membership.as_ref().map(|place| place.roles.clone()).unwrap_or_default();
        if self.person.platform_admin && !roles.contains(&Role::Admin) {
            roles.push(Role::Admin);
        }
        roles
    }

    /// The rows that their authority rests on: an action of a person removed at the same moment does not commit.
    pub fn guards(&self) -> Vec<Guard> {
        let person = Guard { table: Table::Person, key: self.person.key, version: self.person.version };
        let place = self.membership.as_ref();
        let place = place.map(|p| Guard { table: Table::Membership, key: p.key, version: p.version });
        [person].into_iter().chain(place).collect()
    }

    pub fn is_fresh(&self, now: UnixMillis) -> bool {
        now <= self.fresh_until
    }
}

/// An authenticated caller.
#[derive(Clone, Debug)]
pub enum Actor {
    Person(Box<ProjectMember>),
    Operator(Domain),
    /// An agent, authenticated by the access token of its AAP session.
    Agent(Box<Session>),
    AdminKey(Box<ApiKey>),
    /// The service itself: the command line of its owner.
    Service,
    /// A key that may raise questions or enforce, but never administers.
    OtherKey,
}

/// Whether a sign-in session is still valid.
pub fn signed_in(session: &WebSession, person: &Person, now: UnixMillis) -> bool {
    session.person == person.key
        && !person.disabled
        && now < session.expires_at
        && session.generation == person.generation
}

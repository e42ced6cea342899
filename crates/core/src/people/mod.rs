//! People, their places in projects, and everyone else who may ask for something.

pub mod accounts;
pub mod api_keys;
pub mod disable;
pub mod sign_in;

use crate::{
    records::{ApiKey, Membership, Person, Role, Session, Table, WebSession},
    step::Guard,
};
use countersign_protocol::{domain::Domain, time::UnixMillis};

/// A signed-in person, seen from one project.
#[derive(Clone, Debug)]
pub struct Member {
    pub person: Person,
    /// None if the person has no place in the project.
    pub membership: Option<Membership>,
    /// Until when their last proof of presence counts as fresh.
    pub fresh_until: UnixMillis,
}

impl Member {
    /// Platform admins administer every project; what belongs to a person's own account stays theirs.
    pub fn has(&self, role: Role) -> bool {
        let listed = self.membership.as_ref().is_some_and(|m| m.roles.contains(&role));
        listed || (role == Role::Admin && self.person.platform_admin)
    }

    /// The roles that count in the project.
    pub fn roles(&self) -> Vec<Role> {
        let mut roles = self.membership.as_ref().map(|place| place.roles.clone()).unwrap_or_default();
        if self.person.platform_admin && !roles.contains(&Role::Admin) {
            roles.push(Role::Admin);
        }
        roles
    }

    /// What their standing rests on: what somebody does who is thrown out at the same moment does not count.
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

/// Whoever asks, as proven by what they presented.
#[derive(Clone, Debug)]
pub enum Actor {
    Person(Box<Member>),
    Operator(Domain),
    /// An agent, by the access token of its session.
    Agent(Box<Session>),
    AdminKey(Box<ApiKey>),
    /// A key that may raise questions or enforce, but never administers.
    OtherKey,
}

/// Whether a sign-in still counts.
pub fn signed_in(session: &WebSession, person: &Person, now: UnixMillis) -> bool {
    session.person == person.key
        && !person.disabled
        && now < session.expires_at
        && session.generation == person.generation
}

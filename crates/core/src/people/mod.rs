//! People, their places in projects, and everyone else who may ask for something.

pub mod accounts;
pub mod api_keys;
pub mod sign_in;

use crate::records::{ApiKey, Membership, Person, Role, Session, WebSession};
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

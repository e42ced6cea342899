//! Local accounts, and memberships in projects.

use crate::{
    env::Env,
    records::{Membership, Person, Record, Role},
    signals::Signal,
    step::{Effects, Operation, Step},
};
use countersign_protocol::aap::service_account::is_email;

/// The issuer of local accounts.
pub const LOCAL: &str = "local";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountRefusal {
    #[error("an account named {0:?} exists already")]
    Exists(String),
    #[error("a name is 1 to 128 printable characters without spaces")]
    BadName,
    #[error("there is no account named {0:?}")]
    Unknown(String),
    #[error("a password has at least 10 characters and at most 256")]
    BadPassword,
    #[error("{0:?} is not an e-mail address")]
    BadEmail(String),
}

/// Checks only the length: composition rules add no security.
pub fn check_password(password: &str) -> Result<(), AccountRefusal> {
    if (10..=256).contains(&password.chars().count()) { Ok(()) } else { Err(AccountRefusal::BadPassword) }
}

pub struct Add {
    pub subject: String,
    pub display_name: String,
    pub password_hash: String,
    pub platform_admin: bool,
}

impl Operation for Add {
    type View = Option<Person>;
    type Answer = Person;
    type Refusal = AccountRefusal;

    fn decide(self, existing: &Option<Person>, env: &Env) -> Result<Step<Person>, AccountRefusal> {
        if existing.is_some() {
            return Err(AccountRefusal::Exists(self.subject));
        }
        let printable = |c: char| !c.is_control() && !c.is_whitespace();
        if !(1..=128).contains(&self.subject.chars().count()) || !self.subject.chars().all(printable) {
            return Err(AccountRefusal::BadName);
        }
        let person = Person {
            key: env.mint().key(),
            version: 1,
            issuer: LOCAL.into(),
            subject: self.subject,
            display_name: self.display_name,
            email: None,
            password_hash: Some(self.password_hash),
            platform_admin: self.platform_admin,
            disabled: false,
            created_at: env.now,
            generation: 1,
        };
        let effects = Effects { puts: vec![Record::Person(person.clone())], ..Effects::default() };
        Ok(Step { answer: person, effects })
    }
}

/// Changes the given members and leaves the rest. A new password ends every sign-in session and subscriber token.
/// Disabling an account is [`super::disable`].
#[derive(Default)]
pub struct AccountChange {
    pub password_hash: Option<String>,
    pub email: Option<String>,
    pub enabled: bool,
}

impl Operation for AccountChange {
    type View = Person;
    type Answer = Person;
    type Refusal = AccountRefusal;

    fn decide(self, person: &Person, _: &Env) -> Result<Step<Person>, AccountRefusal> {
        if let Some(email) = self.email.as_ref().filter(|email| !is_email(email)) {
            return Err(AccountRefusal::BadEmail(email.chars().take(80).collect()));
        }
        let ends_sessions = self.password_hash.is_some();
        let changed = Person {
            version: person.version + 1,
            password_hash: self.password_hash.or_else(|| person.password_hash.clone()),
            email: self.email.or_else(|| person.email.clone()),
            disabled: person.disabled && !self.enabled,
            generation: person.generation + i64::from(ends_sessions),
            ..person.clone()
        };
        let news = vec![Signal::Standing { person: changed.key }];
        let effects = Effects { puts: vec![Record::Person(changed.clone())], news, ..Effects::default() };
        Ok(Step { answer: changed, effects })
    }
}

/// Sets a person's roles in a project. No roles means no membership.
pub struct SetRoles {
    pub project: i64,
    pub person: i64,
    pub roles: Vec<Role>,
}

impl Operation for SetRoles {
    type View = Option<Membership>;
    type Answer = Membership;
    type Refusal = AccountRefusal;

    fn decide(mut self, current: &Option<Membership>, env: &Env) -> Result<Step<Membership>, AccountRefusal> {
        self.roles.sort();
        self.roles.dedup();
        let membership = match current {
            Some(current) => Membership { version: current.version + 1, roles: self.roles, ..current.clone() },
            None => Membership {
                key: env.mint().key(),
                version: 1,
                project: self.project,
                person: self.person,
                roles: self.roles,
            },
        };
        let news = vec![Signal::Standing { person: membership.person }];
        let effects = Effects { puts: vec![Record::Membership(membership.clone())], news, ..Effects::default() };
        Ok(Step { answer: membership, effects })
    }
}

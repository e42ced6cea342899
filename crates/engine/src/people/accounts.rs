//! Managing accounts and memberships, from the command line.

use crate::{
    services::People,
    store::{AllPeople, MembershipOf, MembershipsOfPerson, StoreError},
};
use countersign_core::{
    aap::events::{Concerns, Event},
    people::accounts::{AccountChange, AccountRefusal, Add, SetRoles, check_password},
    records::{Membership, Person, Project, Role},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{aap::policy::LifecycleEvent, ids::RowKey};
use std::collections::BTreeSet;

#[derive(Debug, thiserror::Error)]
pub enum AccountFailure {
    #[error(transparent)]
    Refused(#[from] AccountRefusal),
    #[error("{0}")]
    Engine(Refusal),
}

impl From<Refusal> for AccountFailure {
    fn from(refusal: Refusal) -> Self {
        Self::Engine(refusal)
    }
}

impl From<StoreError> for AccountFailure {
    fn from(why: StoreError) -> Self {
        Self::Engine(why.into())
    }
}

impl People<'_> {
    pub async fn add_person(
        self,
        name: &str,
        display: &str,
        password: &str,
        platform_admin: bool,
    ) -> Result<Person, AccountFailure> {
        check_password(password)?;
        let password_hash = self.passwords.hash(password, self.env()?.mint().bytes()).await?;
        self.run(|| async {
            let existing = self.account(name).await?;
            let add = Add {
                subject: name.to_owned(),
                display_name: display.to_owned(),
                password_hash: password_hash.clone(),
                platform_admin,
            };
            Ok(add.decide(&existing, &self.env()?)?)
        })
        .await
    }

    pub async fn set_password(self, name: &str, password: &str) -> Result<Person, AccountFailure> {
        check_password(password)?;
        let hash = self.passwords.hash(password, self.env()?.mint().bytes()).await?;
        self.change_person(name, || AccountChange { password_hash: Some(hash.clone()), ..AccountChange::default() })
            .await
    }

    /// The address that a service account's token names for an admin.
    pub async fn set_email(self, name: &str, email: &str) -> Result<Person, AccountFailure> {
        self.change_person(name, || AccountChange { email: Some(email.to_owned()), ..AccountChange::default() }).await
    }

    /// A disabled account cannot sign in, and all its sessions, tokens, delegations and keys end at once; enabling it
    /// restores none of them.
    pub async fn set_disabled(self, name: &str, disabled: bool) -> Result<Person, AccountFailure> {
        match disabled {
            true => Ok(self.disable_person(name, "operator").await?.person),
            false => self.change_person(name, || AccountChange { enabled: true, ..AccountChange::default() }).await,
        }
    }

    async fn change_person(
        self,
        name: &str,
        change: impl Fn() -> AccountChange + Send,
    ) -> Result<Person, AccountFailure> {
        self.run(|| async {
            let person = self.account(name).await?.ok_or_else(|| AccountRefusal::Unknown(name.to_owned()))?;
            Ok(change().decide(&person, &self.env()?)?)
        })
        .await
    }

    pub async fn set_roles(self, project: RowKey, name: &str, roles: Vec<Role>) -> Result<Membership, AccountFailure> {
        let person = self.account(name).await?.ok_or_else(|| AccountRefusal::Unknown(name.to_owned()))?;
        self.run(|| async {
            let current = self.find_one(MembershipOf { project, person: person.key }).await?;
            let set = SetRoles { project, person: person.key, roles: roles.clone() };
            Ok(set.decide(&current, &self.env()?)?)
        })
        .await
    }

    /// Replaces a person's roles. Other roles than before are the lifecycle event `user.role_changed` (AAP 8.3), which comes
    /// first: if this is interrupted, the repeated request reports it again. Returns the ids of the ended delegations, too.
    pub async fn change_roles(
        self,
        project: &Project,
        name: &str,
        roles: Vec<Role>,
        by: &str,
    ) -> Result<(Membership, Vec<String>), AccountFailure> {
        let person = self.account(name).await?.ok_or_else(|| AccountRefusal::Unknown(name.to_owned()))?;
        let current = self.find_one(MembershipOf { project: project.key, person: person.key }).await?;
        let mut revoked = Vec::new();
        if current.is_some_and(|current: Membership| !same_roles(&current.roles, &roles)) {
            let (event, id) = (LifecycleEvent::UserRoleChanged, self.env()?.mint().id("role"));
            let concerns = Concerns::User { issuer: Some(person.issuer), subject: person.subject };
            let event = Event { event, id, concerns, by_own_provider: false };
            revoked = self.agents().apply(project, by, &event).await?.revoked;
        }
        Ok((self.set_roles(project.key, name, roles).await?, revoked))
    }

    /// Every person, with their memberships.
    pub async fn list(self) -> Result<Vec<(Person, Vec<Membership>)>, Refusal> {
        let people = self.find_all(AllPeople).await?;
        let mut found = Vec::new();
        for person in people {
            let places = self.find_all(MembershipsOfPerson(person.key)).await?;
            found.push((person, places));
        }
        Ok(found)
    }
}

fn same_roles(before: &[Role], after: &[Role]) -> bool {
    before.iter().collect::<BTreeSet<_>>() == after.iter().collect::<BTreeSet<_>>()
}

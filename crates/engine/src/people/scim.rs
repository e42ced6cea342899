//! Users provisioned through `/scim/v2`.

use crate::{
    credentials::PresentedCredential,
    decisions::bound_key,
    engine::Tenancy,
    projects::ProjectAt,
    services::People,
    store::{
        self, ApiKeyByHash, MembershipOf, MembershipsOfProject, PersonBySubject, ScimUserById, ScimUserByName,
        ScimUserOfPerson, ScimUsersOfProject,
    },
};
use countersign_core::{
    aap::events::{Concerns, Event},
    decision::ProjectRef,
    records::{ApiKey, ApiKeyKind, Person, ScimUser, folded_user_name},
    refusal::Refusal,
    scim::{
        ProvisionedUser, ScimRefusal,
        change::{TargetUser, UserChange, created},
        filter::UserFilter,
        users::{ChangeUser, ChangeUserView, CreateUser, CreateUserView, delete_user, is_local},
    },
    step::Operation as _,
};
use countersign_protocol::{aap::policy::LifecycleEvent, hash::Digest, project::ScimPolicy};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A page of users, and the number of all that match.
#[derive(Debug)]
pub struct UserPage {
    pub total: usize,
    pub users: Vec<ProvisionedUser>,
}

impl People<'_> {
    /// The key of an identity provider. Keys of other kinds, and of other projects, are refused.
    pub async fn scim_key(self, at: &ProjectAt, presented: PresentedCredential<'_>) -> Result<ApiKey, Refusal> {
        self.check_clock()?;
        let key = store::find_one(&*self.store, ApiKeyByHash(Digest::of(presented.token.as_bytes()))).await?;
        let key =
            key.filter(|key| key.project == at.project.key && key.is_live()).ok_or(Refusal::AccessTokenInvalid)?;
        self.prove_possession(at, bound_key(&key)?.as_ref(), false, &presented.hashed()).await?;
        match key.kind {
            ApiKeyKind::Scim => Ok(key),
            _ => Err(Refusal::NotAuthorized("only a key of the kind scim may provision users".into())),
        }
    }

    pub async fn create_scim_user(
        self,
        at: &ProjectAt,
        key: &ApiKey,
        resource: &Map<String, Value>,
    ) -> Result<ProvisionedUser, ScimRefusal> {
        let policy = self.scim_policy(at)?;
        let target = created(resource, policy)?;
        let user = self.run(|| self.created_user(at, policy, &target, &key.principal)).await?;
        if target.active || user.membership.is_none() {
            return Ok(user);
        }
        self.report(at, &user, LifecycleEvent::UserOffboarded, &key.principal).await?;
        Ok(ProvisionedUser { membership: None, ..user })
    }

    pub async fn change_scim_user(
        self,
        at: &ProjectAt,
        key: &ApiKey,
        id: &str,
        change: &UserChange,
    ) -> Result<ProvisionedUser, ScimRefusal> {
        let policy = self.scim_policy(at)?;
        let before = self.scim_user(at, id).await?;
        let target = change.target(&before, policy)?;
        // The event comes first: if this is interrupted, the repeated request reports it again.
        if target.offboards {
            self.report(at, &before, LifecycleEvent::UserOffboarded, &key.principal).await?;
        } else if before.is_active() && before.roles() != target.roles {
            self.report(at, &before, LifecycleEvent::UserRoleChanged, &key.principal).await?;
        }
        self.run(|| async {
            let current = self.scim_user(at, id).await?;
            let target = change.target(&current, policy)?;
            let same_name = self.user_named(at, &target.user_name).await?;
            let name_is_taken = same_name.is_some_and(|other| other.key != current.user.key);
            let view = ChangeUserView { place: place(at), current, name_is_taken };
            ChangeUser { target, by: key.principal.clone() }.decide(&view, &self.env()?)
        })
        .await
    }

    pub async fn delete_scim_user(self, at: &ProjectAt, key: &ApiKey, id: &str) -> Result<(), ScimRefusal> {
        let user = self.scim_user(at, id).await?;
        self.report(at, &user, LifecycleEvent::UserOffboarded, &key.principal).await?;
        self.run(|| async {
            let user = self.scim_user(at, id).await?.user;
            delete_user(&place(at), &user, &key.principal, &self.env()?)
        })
        .await
    }

    pub async fn scim_user(self, at: &ProjectAt, id: &str) -> Result<ProvisionedUser, ScimRefusal> {
        let lookup = ScimUserById { project: at.project.key, id: id.to_owned() };
        let user = store::find_one(&*self.store, lookup).await.map_err(Refusal::from)?;
        self.provisioned(user.ok_or(ScimRefusal::NotFound)?).await?.ok_or(ScimRefusal::NotFound)
    }

    /// Users in the order of their creation, after `skip` of them.
    pub async fn scim_users(
        self,
        at: &ProjectAt,
        filter: Option<&UserFilter>,
        (skip, count): (usize, usize),
    ) -> Result<UserPage, ScimRefusal> {
        let project = at.project.key;
        let Some(filter) = filter else {
            let all = store::find_all(&*self.store, ScimUsersOfProject(project)).await.map_err(Refusal::from)?;
            let total = all.len();
            let users = self.all_provisioned(at, all.into_iter().skip(skip).take(count).collect()).await?;
            return Ok(UserPage { total, users });
        };
        let found = match filter {
            UserFilter::Id(id) => self.scim_user(at, id).await.ok().map(|found| found.user),
            UserFilter::UserName(name) => self.user_named(at, name).await?,
            UserFilter::ExternalId(subject) => match self.subject(&self.scim_policy(at)?.issuer, subject).await? {
                Some(person) => self.user_of(at, &person).await?,
                None => None,
            },
        };
        let (total, mut users) = (usize::from(found.is_some()), Vec::new());
        if let (Some(user), true) = (found, skip == 0 && count > 0) {
            users.extend(self.provisioned(user).await?);
        }
        Ok(UserPage { total, users })
    }

    async fn created_user(
        self,
        at: &ProjectAt,
        policy: &ScimPolicy,
        target: &TargetUser,
        by: &str,
    ) -> Result<countersign_core::step::Step<ProvisionedUser>, ScimRefusal> {
        let person = self.subject(&policy.issuer, &target.external_id).await?;
        let (mut membership, mut is_user) = (None, false);
        if let Some(person) = &person {
            let lookup = MembershipOf { project: at.project.key, person: person.key };
            membership = store::find_one(&*self.store, lookup).await.map_err(Refusal::from)?;
            is_user = self.user_of(at, person).await?.is_some();
        }
        let name_is_taken = self.user_named(at, &target.user_name).await?.is_some();
        let view = CreateUserView { place: place(at), person, membership, is_user, name_is_taken };
        let create = CreateUser { issuer: policy.issuer.clone(), target: target.clone(), by: by.to_owned() };
        create.decide(&view, &self.env()?)
    }

    /// Reports a lifecycle event of a user: what it ends is over on every node when this returns.
    async fn report(
        self,
        at: &ProjectAt,
        user: &ProvisionedUser,
        event: LifecycleEvent,
        by: &str,
    ) -> Result<(), Refusal> {
        let id = self.env()?.mint().id("scim");
        let (issuer, subject) = (Some(user.person.issuer.clone()), user.person.subject.clone());
        let event = Event { event, id, concerns: Concerns::User { issuer, subject }, by_own_provider: false };
        match self.agents().apply(&at.project, by, &event).await {
            // Neither a member nor ever the holder of a delegation or key: there is nothing to end.
            Ok(_) | Err(Refusal::NotFound(_)) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Local accounts are shared by all projects, so only an installation with one project provisions them.
    fn scim_policy(self, at: &ProjectAt) -> Result<&ScimPolicy, Refusal> {
        let policy = at.project.document.scim.as_ref();
        let allowed = |policy: &&ScimPolicy| !is_local(&policy.issuer) || self.settings.tenancy == Tenancy::Single;
        let why = "the project's document has no usable scim section";
        policy.filter(allowed).ok_or_else(|| Refusal::NotAuthorized(why.into()))
    }

    async fn subject(self, issuer: &str, subject: &str) -> Result<Option<Person>, Refusal> {
        let lookup = PersonBySubject { issuer: issuer.to_owned(), subject: subject.to_owned() };
        Ok(store::find_one(&*self.store, lookup).await?)
    }

    async fn user_of(self, at: &ProjectAt, person: &Person) -> Result<Option<ScimUser>, Refusal> {
        let lookup = ScimUserOfPerson { project: at.project.key, person: person.key };
        Ok(store::find_one(&*self.store, lookup).await?)
    }

    async fn user_named(self, at: &ProjectAt, name: &str) -> Result<Option<ScimUser>, Refusal> {
        let lookup = ScimUserByName { project: at.project.key, user_name: folded_user_name(name) };
        Ok(store::find_one(&*self.store, lookup).await?)
    }

    async fn provisioned(self, user: ScimUser) -> Result<Option<ProvisionedUser>, Refusal> {
        let person: Option<Person> = store::get(&*self.store, user.person).await?;
        let lookup = MembershipOf { project: user.project, person: user.person };
        let membership = store::find_one(&*self.store, lookup).await?;
        Ok(person.map(|person| ProvisionedUser { user, person, membership }))
    }

    /// The memberships of a whole page come with one look-up.
    async fn all_provisioned(self, at: &ProjectAt, users: Vec<ScimUser>) -> Result<Vec<ProvisionedUser>, Refusal> {
        let memberships = store::find_all(&*self.store, MembershipsOfProject(at.project.key)).await?;
        let mut memberships: HashMap<_, _> = memberships.into_iter().map(|found| (found.person, found)).collect();
        let mut found = Vec::new();
        for user in users {
            let person: Option<Person> = store::get(&*self.store, user.person).await?;
            let membership = memberships.remove(&user.person);
            found.extend(person.map(|person| ProvisionedUser { user, person, membership }));
        }
        Ok(found)
    }
}

fn place(at: &ProjectAt) -> ProjectRef {
    (at.project.key, at.project.id.clone())
}

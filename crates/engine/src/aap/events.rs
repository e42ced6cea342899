//! `POST /agent/events`

use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{DelegationById, DelegationsOfPerson, DelegationsOfProject, MembershipOf, Outcome, PersonBySubject},
};
use countersign_core::{
    aap::events::{Concerns, EndByEvent, Event, EventView, Offboard, OffboardView, applied, applies, read},
    people::{Actor, accounts::LOCAL},
    records::{Delegation, Person, Role},
    refusal::Refusal,
    step::{Effects, Operation as _, Step},
};
use countersign_protocol::{
    aap::{
        events::{LifecycleEventRequest, LifecycleEventResponse},
        policy::LifecycleEvent,
    },
    ids::RowKey,
};

/// The number of delegations that end in one step.
const BATCH: usize = 64;

impl Agents<'_> {
    /// Applies a lifecycle event. When this returns, no node honours the delegations that it ended.
    pub async fn apply_event(
        self,
        at: &ProjectAt,
        actor: &Actor,
        body: &LifecycleEventRequest,
    ) -> Result<LifecycleEventResponse, Refusal> {
        self.apply(at, &admin(actor)?, &read(body)?).await
    }

    /// The same for an event from an authenticated source, such as an identity provider.
    pub(crate) async fn apply(
        self,
        at: &ProjectAt,
        by: &str,
        event: &Event,
    ) -> Result<LifecycleEventResponse, Refusal> {
        let answer = |revoked| LifecycleEventResponse { event_id: event.id.clone(), applied_at: self.now(), revoked };
        let concerned = self.concerned(at, event).await?;
        let ending = self.subscribe_acknowledgements();
        let mut ended = match (&event.event, &concerned) {
            (LifecycleEvent::UserOffboarded, Concerned::User(person)) => self.offboard(at, event, person, by).await?,
            _ => Vec::new(),
        };
        let others = self.delegations_concerned(at, &concerned).await?;
        let others: Vec<RowKey> = others.iter().filter(|d| applies(event.event, d)).map(|d| d.key).collect();
        for batch in others.chunks(BATCH) {
            ended.extend(self.end_by_event(at, event, batch).await?);
        }
        self.use_event(at, event, (by, ended.len())).await?;
        let mut keys = Vec::new();
        for id in &ended {
            let lookup = DelegationById { project: at.project.key, id: id.clone() };
            let found: Option<Delegation> = self.find_one(lookup).await?;
            keys.extend(found.map(|delegation| delegation.key));
        }
        for key in &keys {
            self.end_late_decisions_of_delegation(&at.project, *key).await?;
        }
        self.wait_for_inflight_writes(&keys, ending, self.now()).await;
        Ok(answer(ended))
    }

    async fn concerned(self, at: &ProjectAt, event: &Event) -> Result<Concerned, Refusal> {
        match &event.concerns {
            Concerns::Everyone => Ok(Concerned::Everyone),
            Concerns::Delegation { id } => {
                let lookup = DelegationById { project: at.project.key, id: id.clone() };
                let found: Option<Delegation> = self.find_one(lookup).await?;
                found.map(|delegation| Concerned::Delegation(Box::new(delegation))).ok_or(Refusal::DelegationNotFound)
            }
            Concerns::User { issuer, subject } => {
                let issuer = issuer.clone().unwrap_or_else(|| LOCAL.into());
                let person = self.person_in(at, issuer, subject.clone()).await?;
                let person = person.ok_or_else(|| Refusal::NotFound("there is no such user in this project".into()))?;
                Ok(Concerned::User(Box::new(person)))
            }
        }
    }

    /// A person with a role or a delegation in this project. A person of other projects only looks like an unknown one.
    pub(super) async fn person_in(
        self,
        at: &ProjectAt,
        issuer: String,
        subject: String,
    ) -> Result<Option<Person>, Refusal> {
        let found: Option<Person> = self.find_one(PersonBySubject { issuer, subject }).await?;
        let Some(person) = found else { return Ok(None) };
        let lookup = MembershipOf { project: at.project.key, person: person.key };
        let is_known = self.find_one(lookup).await?.is_some()
            || !self.people().delegations_of(at.project.key, person.key).await?.is_empty();
        Ok(is_known.then_some(person))
    }

    async fn delegations_concerned(self, at: &ProjectAt, concerned: &Concerned) -> Result<Vec<Delegation>, Refusal> {
        let project = at.project.key;
        Ok(match concerned {
            Concerned::Delegation(delegation) => vec![(**delegation).clone()],
            Concerned::User(person) => self.find_all(DelegationsOfPerson { project, person: person.key }).await?,
            Concerned::Everyone => self.find_all(DelegationsOfProject(project)).await?,
        })
    }

    async fn offboard(self, at: &ProjectAt, event: &Event, person: &Person, by: &str) -> Result<Vec<String>, Refusal> {
        self.unless_known(|| async {
            let lookup = MembershipOf { project: at.project.key, person: person.key };
            let membership = self.find_one(lookup).await?;
            let held = self.people().holdings_in(&at.project, person).await?;
            let view = OffboardView { person: person.clone(), membership, held };
            Ok(((), Offboard { event, by: by.to_owned() }.decide(&view, &self.env()?)?))
        })
        .await
    }

    async fn end_by_event(self, at: &ProjectAt, event: &Event, keys: &[RowKey]) -> Result<Vec<String>, Refusal> {
        self.unless_known(|| async {
            let mut delegations = Vec::new();
            for key in keys {
                let found: Option<Delegation> = self.get(*key).await?;
                let Some(delegation) = found else { continue };
                let live = self.decisions().live_for_auto_revoke(&delegation).await?;
                delegations.push((delegation, live));
            }
            let place = (at.project.key, at.project.id.clone());
            Ok(((), EndByEvent { event }.decide(&EventView { place, delegations }, &self.env()?)?))
        })
        .await
    }

    /// An event with a known id ends nothing.
    async fn unless_known<F>(self, attempt: impl Fn() -> F) -> Result<Vec<String>, Refusal>
    where
        F: Future<Output = Result<((), Step<Vec<String>>), Refusal>>,
    {
        match self.run_to_outcome(attempt).await? {
            (Outcome::Committed, ended) => Ok(ended),
            (Outcome::LimitReached { .. }, _) => Ok(Vec::new()),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// Of two requests with the same event, the later finds nothing left to end.
    async fn use_event(self, at: &ProjectAt, event: &Event, result: (&str, usize)) -> Result<(), Refusal> {
        let place = (at.project.key, at.project.id.clone());
        let attempt = || async {
            let effects: Effects = applied(&place, event, result, &self.env()?)?;
            Ok::<_, Refusal>(((), Step { answer: (), effects }))
        };
        match self.run_to_outcome(attempt).await? {
            (Outcome::Committed | Outcome::LimitReached { .. }, ()) => Ok(()),
            _ => Err(Refusal::Unavailable),
        }
    }
}

enum Concerned {
    User(Box<Person>),
    Delegation(Box<Delegation>),
    Everyone,
}

/// The administrator behind an event, for the record.
fn admin(actor: &Actor) -> Result<String, Refusal> {
    match actor {
        Actor::AdminKey(key) => Ok(key.principal.clone()),
        Actor::Person(member) if member.has_role(Role::Admin) => Ok(member.person.subject.clone()),
        _ => Err(Refusal::NotAuthorized("only an admin key or an admin may report lifecycle events".into())),
    }
}

//! `POST /agent/events`

use crate::{
    ended::Ending,
    projects::ProjectAt,
    services::Agents,
    store::{
        DelegationById, DelegationsOfPerson, DelegationsOfProject, LifecycleReportSame, MembershipOf,
        MembershipsOfPerson, PersonBySubject,
    },
};
use countersign_core::{
    aap::events::{
        Begin, BeginView, Concerns, EndByEvent, Event, EventView, Offboard, OffboardView, applied, applies,
        earlier_counter, read,
    },
    people::{Actor, accounts::LOCAL},
    records::{Delegation, LifecycleReport, Membership, Person, Project, Role},
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
        self.apply(&at.project, &admin(actor)?, &read(body)?).await
    }

    /// The same for an event from an authenticated source, such as an identity provider.
    pub(crate) async fn apply(
        self,
        project: &Project,
        by: &str,
        event: &Event,
    ) -> Result<LifecycleEventResponse, Refusal> {
        let answer = |revoked| LifecycleEventResponse { event_id: event.id.clone(), applied_at: self.now(), revoked };
        let Some(begun) = self.begin(project, event).await? else { return Ok(answer(Vec::new())) };
        let concerned = self.concerned(project, event).await?;
        let ending = self.subscribe_acknowledgements();
        if let (LifecycleEvent::UserOffboarded, Concerned::User(person)) = (&event.event, &concerned) {
            self.offboard(project, (event, begun.key), person, by).await?;
        }
        let others = self.delegations_concerned(project, &concerned).await?;
        let others: Vec<RowKey> = others.iter().filter(|d| applies(event.event, d)).map(|d| d.key).collect();
        for batch in others.chunks(BATCH) {
            self.end_by_event(project, (event, begun.key), batch).await?;
        }
        let Some(report) = self.unapplied(begun.key).await? else { return Ok(answer(Vec::new())) };
        let revoked = self.complete_ends(project, &report, ending).await?;
        self.finish_event(project, (event, &report), by).await?;
        Ok(answer(revoked))
    }

    /// None if the event was applied before. An interrupted report is continued, whatever its user still holds.
    async fn begin(self, project: &Project, event: &Event) -> Result<Option<LifecycleReport>, Refusal> {
        self.run(|| async {
            let lookup = LifecycleReportSame { project: project.key, same: event.same() };
            let known: Option<LifecycleReport> = self.find_one(lookup).await?;
            let is_counted = known.is_none() && self.store.count(&earlier_counter(project.key, event)).await? != 0;
            if known.is_none() && !is_counted {
                self.check_concerned(project, event).await?;
            }
            Begin { event }.decide(&BeginView { project: project.key, known, is_counted }, &self.env()?)
        })
        .await
    }

    /// Completes the end of everything that the event has ended, also before an interruption, and returns the ids of the
    /// delegations.
    async fn complete_ends(
        self,
        project: &Project,
        LifecycleReport { ended, .. }: &LifecycleReport,
        ending: Ending,
    ) -> Result<Vec<String>, Refusal> {
        for holder in ended.delegations.iter().chain(&ended.api_keys) {
            self.end_late_decisions_of_delegation(project, *holder).await?;
        }
        self.wait_for_inflight_writes(&ended.delegations, ending, self.now()).await;
        let mut ids = Vec::new();
        for key in &ended.delegations {
            let delegation: Option<Delegation> = self.get(*key).await?;
            ids.extend(delegation.map(|delegation| delegation.id));
        }
        Ok(ids)
    }

    /// A new event must concern somebody, or something, of this project.
    async fn check_concerned(self, project: &Project, event: &Event) -> Result<(), Refusal> {
        let Concerned::User(person) = self.concerned(project, event).await? else { return Ok(()) };
        self.holds_something(project, &person).await?.then_some(()).ok_or_else(unknown_user)
    }

    async fn concerned(self, project: &Project, event: &Event) -> Result<Concerned, Refusal> {
        match &event.concerns {
            Concerns::Everyone => Ok(Concerned::Everyone),
            Concerns::Delegation { id } => {
                let lookup = DelegationById { project: project.key, id: id.clone() };
                let found: Option<Delegation> = self.find_one(lookup).await?;
                found.map(|delegation| Concerned::Delegation(Box::new(delegation))).ok_or(Refusal::DelegationNotFound)
            }
            Concerns::User { issuer, subject } => {
                let issuer = issuer.clone().unwrap_or_else(|| LOCAL.into());
                let person: Option<Person> =
                    self.find_one(PersonBySubject { issuer, subject: subject.clone() }).await?;
                person.map(|person| Concerned::User(Box::new(person))).ok_or_else(unknown_user)
            }
        }
    }

    /// A person with a role, a delegation or an API key in this project. A person of other projects only looks like an
    /// unknown one.
    pub(super) async fn person_in(
        self,
        project: &Project,
        issuer: String,
        subject: String,
    ) -> Result<Option<Person>, Refusal> {
        let found: Option<Person> = self.find_one(PersonBySubject { issuer, subject }).await?;
        let Some(person) = found else { return Ok(None) };
        Ok(self.holds_something(project, &person).await?.then_some(person))
    }

    async fn holds_something(self, project: &Project, person: &Person) -> Result<bool, Refusal> {
        let lookup = MembershipOf { project: project.key, person: person.key };
        let holds = self.find_one(lookup).await?.is_some()
            || !self.people().delegations_of(project.key, person.key).await?.is_empty()
            || self.people().api_keys(project.key).await?.iter().any(|key| key.responsible == person.key);
        Ok(holds)
    }

    async fn delegations_concerned(self, project: &Project, concerned: &Concerned) -> Result<Vec<Delegation>, Refusal> {
        let project = project.key;
        Ok(match concerned {
            Concerned::Delegation(delegation) => vec![(**delegation).clone()],
            Concerned::User(person) => self.find_all(DelegationsOfPerson { project, person: person.key }).await?,
            Concerned::Everyone => self.find_all(DelegationsOfProject(project)).await?,
        })
    }

    async fn offboard(
        self,
        project: &Project,
        (event, report): (&Event, RowKey),
        person: &Person,
        by: &str,
    ) -> Result<(), Refusal> {
        self.run(|| async {
            let Some(report) = self.unapplied(report).await? else { return Ok(Step::answer(())) };
            let person: Person = self.load(person.key).await?;
            let memberships: Vec<Membership> = self.find_all(MembershipsOfPerson(person.key)).await?;
            let (here, elsewhere): (Vec<_>, Vec<_>) =
                memberships.into_iter().partition(|place| place.project == project.key);
            let is_elsewhere = person.platform_admin || elsewhere.iter().any(|place| !place.roles.is_empty());
            let held = self.people().holdings_in(project, &person).await?;
            let view = OffboardView { person, membership: here.into_iter().next(), held, is_elsewhere };
            Offboard { event, report: &report, by: by.to_owned() }.decide(&view, &self.env()?)
        })
        .await
    }

    async fn end_by_event(
        self,
        project: &Project,
        (event, report): (&Event, RowKey),
        keys: &[RowKey],
    ) -> Result<(), Refusal> {
        self.run(|| async {
            let Some(report) = self.unapplied(report).await? else { return Ok(Step::answer(())) };
            let mut delegations = Vec::new();
            for key in keys {
                let found: Option<Delegation> = self.get(*key).await?;
                let Some(delegation) = found else { continue };
                let live = self.decisions().live_for_auto_revoke(&delegation).await?;
                delegations.push((delegation, live));
            }
            let place = (project.key, project.id.clone());
            EndByEvent { event, report: &report }.decide(&EventView { place, delegations }, &self.env()?)
        })
        .await
    }

    /// Of two requests with the same event, the later finds it finished.
    async fn finish_event(
        self,
        project: &Project,
        (event, report): (&Event, &LifecycleReport),
        by: &str,
    ) -> Result<(), Refusal> {
        let place = (project.key, project.id.clone());
        self.run(|| async {
            let Some(current) = self.unapplied(report.key).await? else { return Ok(Step::answer(())) };
            // The other request ended more meanwhile, and that end may not be complete.
            if current.ended != report.ended {
                return Err(Refusal::Unavailable);
            }
            let effects: Effects = applied(&place, (event, &current), by, &self.env()?)?;
            Ok::<_, Refusal>(Step { answer: (), effects })
        })
        .await
    }

    /// None once the event was applied, also by another request.
    async fn unapplied(self, report: RowKey) -> Result<Option<LifecycleReport>, Refusal> {
        let current: Option<LifecycleReport> = self.get(report).await?;
        Ok(current.filter(|report| report.applied_at.is_none()))
    }
}

enum Concerned {
    User(Box<Person>),
    Delegation(Box<Delegation>),
    Everyone,
}

fn unknown_user() -> Refusal {
    Refusal::NotFound("there is no such user in this project".into())
}

/// The administrator behind an event, for the record.
fn admin(actor: &Actor) -> Result<String, Refusal> {
    match actor {
        Actor::AdminKey(key) => Ok(key.principal.clone()),
        Actor::Person(member) if member.has_role(Role::Admin) => Ok(member.person.subject.clone()),
        _ => Err(Refusal::NotAuthorized("only an admin key or an admin may report lifecycle events".into())),
    }
}

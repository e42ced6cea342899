//! `POST /agent/events`

use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{
        DelegationById, DelegationsOfPerson, DelegationsOfProject, LifecycleReportSame, MembershipOf,
        MembershipsOfPerson, PersonBySubject,
    },
};
use countersign_core::{
    aap::events::{
        Begin, Concerns, EndByEvent, EndedByEvent, Event, EventView, Offboard, OffboardView, applied, applies, read,
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
        let Some(report) = self.begin(project, event).await? else { return Ok(answer(Vec::new())) };
        let concerned = self.concerned(project, event).await?;
        let ending = self.subscribe_acknowledgements();
        let mut ended = match (&event.event, &concerned) {
            (LifecycleEvent::UserOffboarded, Concerned::User(person)) => {
                self.offboard(project, (event, &report), person, by).await?
            }
            _ => EndedByEvent::default(),
        };
        let others = self.delegations_concerned(project, &concerned).await?;
        let others: Vec<RowKey> = others.iter().filter(|d| applies(event.event, d)).map(|d| d.key).collect();
        for batch in others.chunks(BATCH) {
            ended.delegations.extend(self.end_by_event(project, (event, &report), batch).await?.delegations);
        }
        self.finish_event(project, (event, &report), (by, ended.delegations.len())).await?;
        let delegations: Vec<RowKey> = ended.delegations.iter().map(|(key, _)| *key).collect();
        for holder in delegations.iter().chain(&ended.api_keys) {
            self.end_late_decisions_of_delegation(project, *holder).await?;
        }
        self.wait_for_inflight_writes(&delegations, ending, self.now()).await;
        Ok(answer(ended.delegations.into_iter().map(|(_, id)| id).collect()))
    }

    /// None if the event was applied before. An interrupted report is continued, whatever its user still holds.
    async fn begin(self, project: &Project, event: &Event) -> Result<Option<LifecycleReport>, Refusal> {
        self.run(|| async {
            let lookup = LifecycleReportSame { project: project.key, same: event.same() };
            let known: Option<LifecycleReport> = self.find_one(lookup).await?;
            if known.is_none() {
                self.check_concerned(project, event).await?;
            }
            let place = (project.key, project.id.clone());
            Begin { event }.decide(&(place, known), &self.env()?)
        })
        .await
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
        (event, report): (&Event, &LifecycleReport),
        person: &Person,
        by: &str,
    ) -> Result<EndedByEvent, Refusal> {
        self.run(|| async {
            if self.is_applied(report).await? {
                return Ok(Step::answer(EndedByEvent::default()));
            }
            let person: Person = self.load(person.key).await?;
            let memberships: Vec<Membership> = self.find_all(MembershipsOfPerson(person.key)).await?;
            let (here, elsewhere): (Vec<_>, Vec<_>) =
                memberships.into_iter().partition(|place| place.project == project.key);
            let is_elsewhere = person.platform_admin || elsewhere.iter().any(|place| !place.roles.is_empty());
            let held = self.people().holdings_in(project, &person).await?;
            let view = OffboardView { person, membership: here.into_iter().next(), held, is_elsewhere };
            Offboard { event, report, by: by.to_owned() }.decide(&view, &self.env()?)
        })
        .await
    }

    async fn end_by_event(
        self,
        project: &Project,
        (event, report): (&Event, &LifecycleReport),
        keys: &[RowKey],
    ) -> Result<EndedByEvent, Refusal> {
        self.run(|| async {
            if self.is_applied(report).await? {
                return Ok(Step::answer(EndedByEvent::default()));
            }
            let mut delegations = Vec::new();
            for key in keys {
                let found: Option<Delegation> = self.get(*key).await?;
                let Some(delegation) = found else { continue };
                let live = self.decisions().live_for_auto_revoke(&delegation).await?;
                delegations.push((delegation, live));
            }
            let place = (project.key, project.id.clone());
            EndByEvent { event, report }.decide(&EventView { place, delegations }, &self.env()?)
        })
        .await
    }

    /// Of two requests with the same event, the later finds nothing left to end.
    async fn finish_event(
        self,
        project: &Project,
        of: (&Event, &LifecycleReport),
        result: (&str, usize),
    ) -> Result<(), Refusal> {
        let place = (project.key, project.id.clone());
        self.run(|| async {
            if self.is_applied(of.1).await? {
                return Ok(Step::answer(()));
            }
            let effects: Effects = applied(&place, of, result, &self.env()?)?;
            Ok::<_, Refusal>(Step { answer: (), effects })
        })
        .await
    }

    /// Whether another request with the same event was faster.
    async fn is_applied(self, report: &LifecycleReport) -> Result<bool, Refusal> {
        let current: Option<LifecycleReport> = self.get(report.key).await?;
        Ok(current.is_none_or(|current| current.version != report.version))
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

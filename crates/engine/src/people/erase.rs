//! Erasing people: scheduled, held, and carried out in steps that a crash may interrupt anywhere.
//!
//! Every step can be made again: openings and rows are removed in transactions of their own, with their number, and only the
//! last step states that all of it is gone.

use super::AccountFailure;
use crate::{
    services::People,
    store::{
        AllErasures, AllPeople, AllProjects, ApiKeysOfProject, DecisionsPage, DelegationsOfPerson, ErasedRecords,
        ErasureOf, ErasuresDue, LogQuery, MembershipOf, Outcome,
    },
};
use countersign_core::{
    audit::{AuditedEntry, AuditedPerson},
    people::{
        accounts::AccountRefusal,
        erasure::{ConcludeErasure, ErasureView, HoldRecords, RequestErasure, without_decider, without_subject},
    },
    records::{ApiKey, Decision, Delegation, Erasure, Person, Project, Record},
    refusal::Refusal,
    step::{Effects, Operation as _},
};
use countersign_protocol::ids::RowKey;

/// Positions of the log, and decisions, that are looked at at once.
const STRETCH: i64 = 4096;
const DECISIONS: i64 = 250;

impl People<'_> {
    /// Ends everything that the person holds, and schedules the erasure; with a reason it is carried out at once.
    pub async fn request_erasure(self, name: &str, early: Option<&str>, by: &str) -> Result<Erasure, AccountFailure> {
        let person = self.the_person(name).await?;
        // Refused before anything has ended.
        let request =
            || RequestErasure { early: early.map(str::to_owned), keep_days: self.settings.retention.audit_days };
        request().decide(&self.erasure_view(person.key).await?, &self.env()?)?;
        if !person.disabled {
            self.disable(person.key, by).await?;
        }
        let erasure: Erasure =
            self.run(|| async { request().decide(&self.erasure_view(person.key).await?, &self.env()?) }).await?;
        if early.is_some() { Ok(self.carry_out(erasure).await?) } else { Ok(erasure) }
    }

    /// Sets a legal hold, or without a reason lifts it.
    pub async fn hold_records(self, name: &str, reason: Option<&str>) -> Result<Erasure, AccountFailure> {
        let person = self.the_person(name).await?;
        let hold = || async {
            let view = self.erasure_view(person.key).await?;
            HoldRecords { reason: reason.map(str::to_owned) }.decide(&view, &self.env()?)
        };
        Ok(self.run(hold).await?)
    }

    pub async fn erasures(self) -> Result<Vec<Erasure>, Refusal> {
        Ok(self.find_all(AllErasures {}).await?)
    }

    /// Carries out what is due.
    pub async fn erase_due(self) -> Result<usize, Refusal> {
        let due: Vec<Erasure> = self.find_all(ErasuresDue { by: self.decision_time()?, limit: 8 }).await?;
        let count = due.len();
        for erasure in due {
            self.carry_out(erasure).await?;
        }
        Ok(count)
    }

    /// The one person of this name: entries name people, and those of two could not be told apart.
    async fn the_person(self, name: &str) -> Result<Person, AccountFailure> {
        let people: Vec<Person> = self.find_all(AllPeople {}).await.map_err(Refusal::from)?;
        let mut named = people.into_iter().filter(|person| person.subject == name);
        match (named.next(), named.next()) {
            (Some(person), None) => Ok(person),
            (Some(_), Some(_)) => {
                Err(Refusal::Conflict("several people of different identity providers have this name".into()).into())
            }
            _ => Err(AccountRefusal::Unknown(name.to_owned()).into()),
        }
    }

    async fn erasure_view(self, person: RowKey) -> Result<ErasureView, Refusal> {
        let erasure = self.find_one(ErasureOf(person)).await?;
        let person: Person = self.get(person).await?.ok_or(Refusal::Internal)?;
        let (mut projects, mut last_end) = (Vec::new(), None);
        for project in self.find_all(AllProjects).await? {
            let delegations: Vec<Delegation> =
                self.find_all(DelegationsOfPerson { project: project.key, person: person.key }).await?;
            let member = self.find_one(MembershipOf { project: project.key, person: person.key }).await?;
            if member.is_some() || !delegations.is_empty() {
                projects.push((project.key, project.id.clone()));
            }
            last_end = delegations.iter().filter_map(Delegation::ended_at).max().max(last_end);
        }
        Ok(ErasureView { person, erasure, projects, last_end })
    }

    async fn carry_out(self, erasure: Erasure) -> Result<Erasure, Refusal> {
        let person: Person = self.get(erasure.person).await?.ok_or(Refusal::Internal)?;
        let projects: Vec<Project> = self.find_all(AllProjects).await?;
        for project in &projects {
            let about = self.records_of(project.key, &person).await?;
            self.erase_openings(&erasure, project.key, &about.0).await?;
            self.store.erase_records(about.1).await?;
        }
        self.redact_decisions(&person).await?;
        let counted = self.store.erased_openings(erasure.key).await?;
        let openings = |project: &Project| {
            let count = counted.iter().find(|(key, _)| *key == project.key).map(|(_, count)| *count)?;
            Some(((project.key, project.id.clone()), count))
        };
        let openings: Vec<_> = projects.iter().filter_map(openings).collect();
        self.run(|| async {
            let person: Person = self.get(erasure.person).await?.ok_or(Refusal::Internal)?;
            let current = self.find_one(ErasureOf(erasure.person)).await?.ok_or(Refusal::Internal)?;
            ConcludeErasure { openings: openings.clone() }.decide(&(person, current), &self.env()?)
        })
        .await
    }

    /// What the log and the tables of a project have about a person.
    async fn records_of(self, project: RowKey, person: &Person) -> Result<(AuditedPerson, ErasedRecords), Refusal> {
        let delegations: Vec<Delegation> = self.find_all(DelegationsOfPerson { project, person: person.key }).await?;
        let keys: Vec<ApiKey> = self.find_all(ApiKeysOfProject(project)).await?;
        let own = keys.iter().filter(|key| key.responsible == person.key);
        let principals: Vec<String> = own.clone().map(|key| key.id.clone()).collect();
        for delegation in delegations.iter().filter_map(without_subject) {
            self.put(Record::Delegation(delegation)).await?;
        }
        let keys_of: Vec<RowKey> = delegations.iter().map(|delegation| delegation.key).collect();
        let ids = delegations.iter().map(|delegation| delegation.id.clone());
        let records = ErasedRecords {
            project,
            person: person.key,
            principals: ids.chain(principals.iter().cloned()).collect(),
            delegations: keys_of.clone(),
            keys: own.map(|key| key.key).collect(),
        };
        Ok((AuditedPerson { subject: person.subject.clone(), delegations: keys_of, principals }, records))
    }

    async fn erase_openings(self, erasure: &Erasure, project: RowKey, about: &AuditedPerson) -> Result<(), Refusal> {
        let mut query = LogQuery {
            project,
            after: Vec::new(),
            from: None,
            to: None,
            event_type: None,
            stretch: STRETCH,
            limit: 4096,
        };
        loop {
            let page = self.store.log(query.clone()).await?;
            let mut places = Vec::new();
            for row in page.rows.iter().filter(|row| row.openings.is_some()) {
                let (members, _) = self.evidence_health.opened(row);
                let entry = AuditedEntry {
                    at: row.place.at,
                    delegation: row.delegation,
                    session: row.session,
                    members: &members,
                };
                places.extend(about.is_in(&entry).then_some((row.place.lane, row.pos)));
            }
            if !places.is_empty() {
                self.store.erase_openings(erasure.key, project, places).await?;
            }
            if !page.more {
                return Ok(());
            }
            query.after = page.next;
        }
    }

    /// Removes the name from decisions that the person made about the agents of others.
    async fn redact_decisions(self, person: &Person) -> Result<(), Refusal> {
        let mut before = None;
        loop {
            let found: Vec<Decision> = self.find_all(DecisionsPage { before, limit: DECISIONS }).await?;
            for decision in found.iter().filter_map(|decision| without_decider(decision, person)) {
                self.put(Record::Decision(decision)).await?;
            }
            match found.last() {
                Some(last) => before = Some(last.key),
                None => return Ok(()),
            }
        }
    }

    async fn put(self, record: Record) -> Result<(), Refusal> {
        match self.commit(Effects { puts: vec![record], ..Effects::default() }).await {
            Outcome::Committed => Ok(()),
            // Somebody else changed the row meanwhile; the erasure is still due and looks again.
            _ => Err(Refusal::Unavailable),
        }
    }
}

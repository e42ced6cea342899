//! The audit of a whole project, for its auditors: filtered, page by page in the order of the log.

use crate::{
    mplp::{Cursor, ProjectReader},
    projects::ProjectAt,
    services::Evidence,
    store::{
        AllPeople, ApiKeysOfProject, AuditRow, DelegationById, DelegationsOfPerson, LogQuery, SessionsBySessionId,
    },
};
use countersign_core::{
    audit::{AuditFilter, AuditOutcome, AuditedAgent, AuditedEntry, AuditedPerson},
    records::{ApiKey, Delegation, Person, Project, Session},
    refusal::Refusal,
};
use countersign_protocol::{
    audit::{AuditRecord, AuditRecords},
    evidence::has_commitments,
    ids::RowKey,
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};

/// What is asked for, in the words of the person who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditSearch {
    /// The sign-in name.
    pub person: Option<String>,
    pub operator: Option<String>,
    /// The id of a delegation, an AAP session, an API key or a service account.
    pub agent: Option<String>,
    /// A route's id, or the action of a route or a tool.
    pub route: Option<String>,
    pub outcome: Option<String>,
    pub event_type: Option<String>,
    pub decision_id: Option<String>,
    pub from: Option<UnixMillis>,
    pub to: Option<UnixMillis>,
}

/// The positions of a lane that one page of the store goes through.
const STRETCH: i64 = 8192;
/// A page that is still empty after so many of them is handed out as it is, with its cursor.
const STRETCHES: usize = 8;
/// The intent of a write; its outcome is listed.
const NOT_LISTED: &str = "call_started";

impl Evidence<'_> {
    /// A page for an auditor, an admin or an admin key of the project.
    pub async fn project_audit(
        self,
        at: &ProjectAt,
        reader: &ProjectReader,
        search: &AuditSearch,
        after: &Cursor,
        limit: usize,
    ) -> Result<AuditRecords, Refusal> {
        if !reader.sees_all() {
            let why = "only for an admin key, and for people who administer the project or audit it";
            return Err(Refusal::NotAuthorized(why.into()));
        }
        self.audit_of(&at.project, search, after, limit).await
    }

    /// The same for the service's own command line.
    pub async fn audit_of(
        self,
        project: &Project,
        search: &AuditSearch,
        after: &Cursor,
        limit: usize,
    ) -> Result<AuditRecords, Refusal> {
        let filter = self.audit_filter(project, search).await?;
        let mut query = LogQuery {
            project: project.key,
            after: after.positions(),
            from: filter.from,
            to: filter.to,
            event_type: filter.event_type.clone(),
            stretch: STRETCH,
            limit,
        };
        let (mut entries, mut more) = (Vec::new(), true);
        for _ in 0..STRETCHES {
            let page = self.store.log(LogQuery { limit: limit - entries.len(), ..query.clone() }).await?;
            entries.extend(page.rows.iter().filter_map(|row| self.record_of(row, &filter)));
            (query.after, more) = (page.next, page.more);
            if !more || entries.len() >= limit {
                break;
            }
        }
        Ok(AuditRecords { entries, next_cursor: Cursor::of(query.after).to_string(), more })
    }

    /// An altered entry fits every filter: nobody knows what it was.
    fn record_of(self, row: &AuditRow, filter: &AuditFilter) -> Option<AuditRecord> {
        if row.event_type == NOT_LISTED && filter.event_type.is_none() {
            return None;
        }
        let (members, misfit) = self.evidence_health.opened(row);
        let entry =
            AuditedEntry { at: row.place.at, delegation: row.delegation, session: row.session, members: &members };
        if misfit.is_none() && !filter.fits(&entry) {
            return None;
        }
        let outcome = if misfit.is_some() { AuditOutcome::Altered } else { AuditOutcome::of(&members) };
        let erased = misfit.is_none() && row.openings.is_none() && has_commitments(&members);
        let kept = |name: &str| !["v", "commitments", "project", "event_type", "timestamp"].contains(&name);
        Some(AuditRecord {
            timestamp: row.place.at,
            event_type: if members.is_empty() { "unreadable".into() } else { row.event_type.clone() },
            result: outcome.as_str().into(),
            evidence_fault: misfit.map(|misfit| misfit.to_string()),
            erased,
            lane: row.place.lane,
            seq: row.place.seq,
            leaf_hash: row.hash.hex(),
            members: members.into_iter().filter(|(name, _)| kept(name)).collect(),
        })
    }

    async fn audit_filter(self, project: &Project, search: &AuditSearch) -> Result<AuditFilter, Refusal> {
        let outcome =
            search.outcome.as_deref().map(|word| AuditOutcome::parse(word).ok_or_else(|| unknown_outcome(word)));
        let route = search.route.as_ref();
        let action = route.map(|id| match project.document.routes.iter().find(|route| route.id == *id) {
            Some(route) => route.action.clone(),
            None => id.clone(),
        });
        Ok(AuditFilter {
            person: match &search.person {
                Some(name) => Some(self.audited_person(project.key, name).await?),
                None => None,
            },
            operator: search.operator.clone(),
            agent: match &search.agent {
                Some(id) => Some(self.audited_agent(project.key, id).await?),
                None => None,
            },
            action,
            outcome: outcome.transpose()?,
            event_type: search.event_type.clone(),
            decision_id: search.decision_id.clone(),
            from: search.from,
            to: search.to,
        })
    }

    /// Everybody with this name, of whichever issuer.
    pub(crate) async fn audited_person(self, project: RowKey, name: &str) -> Result<AuditedPerson, Refusal> {
        let people: Vec<Person> = self.find_all(AllPeople {}).await?;
        let keys: Vec<ApiKey> = self.find_all(ApiKeysOfProject(project)).await?;
        let (mut delegations, mut principals) = (Vec::new(), Vec::new());
        for person in people.iter().filter(|person| person.subject == name) {
            let own: Vec<Delegation> = self.find_all(DelegationsOfPerson { project, person: person.key }).await?;
            delegations.extend(own.iter().map(|delegation| delegation.key));
            principals.extend(keys.iter().filter(|key| key.responsible == person.key).map(|key| key.id.clone()));
        }
        Ok(AuditedPerson { subject: name.to_owned(), delegations, principals })
    }

    async fn audited_agent(self, project: RowKey, id: &str) -> Result<AuditedAgent, Refusal> {
        let delegation = self.find_one(DelegationById { project, id: id.to_owned() }).await?;
        let sessions: Vec<Session> = self.find_all(SessionsBySessionId { project, session_id: id.to_owned() }).await?;
        Ok(AuditedAgent {
            id: id.to_owned(),
            delegations: delegation.iter().map(|delegation| delegation.key).collect(),
            sessions: sessions.iter().map(|session| session.key).collect(),
        })
    }
}

fn unknown_outcome(word: &str) -> Refusal {
    let known: Vec<&str> = AuditOutcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
    Refusal::invalid(format!("outcome {word:?} is none of {}", known.join(", ")))
}

//! Rows that contradict their evidence: a decision, a delegation, an API key or an execution in another state than the log says.

use super::state::EvidenceCheck;
use crate::{
    services::Evidence,
    store::{ApiKeysOfProject, DecisionById, DecisionsPage, DelegationById, ExecutionById, Lookup, WalkedRow},
};
use countersign_core::{
    decision::settled_as,
    records::{ApiKey, Decision, DecisionState, Delegation, ExecutionState},
    refusal::Refusal,
};
use serde_json::{Map, Value};

/// Decisions that are compared at once.
const AT_ONCE: i64 = 500;

impl Evidence<'_> {
    /// Rows as they are stored, past every cache; none for one that cannot be read.
    async fn stored_rows<L: Lookup>(self, lookup: L) -> Result<Vec<Option<L::Record>>, Refusal> {
        let documents = self.store.list(lookup.search()).await?;
        Ok(documents.iter().map(|document| serde_json::from_str(document).ok()).collect())
    }

    /// Compares entries that ended something with the rows of what they ended. A row that is not kept any more says nothing.
    pub(super) async fn compare_with_rows(
        self,
        check: &mut EvidenceCheck,
        entries: Vec<(&WalkedRow, Map<String, Value>)>,
    ) -> Result<(), Refusal> {
        for (entry, members) in entries {
            let contradiction = match entry.row.event_type.as_str() {
                "decision_settled" => self.compare_decision(check, entry, &members).await?,
                "execution_settled" => self.compare_execution(entry, &members).await?,
                "delegation_revoked" | "auto_revoked" => self.compare_delegation(entry, &members).await?,
                "api_key_revoked" => self.compare_key(entry, &members).await?,
                _ => None,
            };
            if let Some(what) = contradiction {
                check.fault(Some(entry.row.place.lane), Some(entry.row.pos), what);
            }
        }
        Ok(())
    }

    async fn compare_decision(
        self,
        check: &mut EvidenceCheck,
        entry: &WalkedRow,
        members: &Map<String, Value>,
    ) -> Result<Option<String>, Refusal> {
        let (id, state) = (text(members, "decision_id"), text(members, "state"));
        let search = DecisionById { project: entry.project, id: id.to_owned() };
        let Some(decision) = self.stored_rows(search).await?.pop() else { return Ok(None) };
        let Some(decision) = decision else { return Ok(Some(format!("the row of decision {id} cannot be read"))) };
        if entry.row.place.at < check.tallied_until() {
            check.settled.add(id, state);
        }
        let row = settled_as(&decision);
        if row != state {
            return Ok(Some(format!("the log says that decision {id} is {state}, and its row says {row}")));
        }
        let person = decided_by(&decision);
        if members.get("decided_by").and_then(Value::as_str).zip(person).is_some_and(|(log, row)| log != row) {
            return Ok(Some(format!("the row of decision {id} names another person than the log")));
        }
        let digest = members.get("action_sha256").and_then(Value::as_str);
        let other = digest.is_some_and(|digest| digest != decision.digest.hex());
        Ok(other.then(|| format!("the row of decision {id} is about another action than the log")))
    }

    async fn compare_execution(
        self,
        entry: &WalkedRow,
        members: &Map<String, Value>,
    ) -> Result<Option<String>, Refusal> {
        let (id, outcome) = (text(members, "execution_id"), text(members, "outcome"));
        let search = ExecutionById { project: entry.project, id: id.to_owned() };
        let Some(execution) = self.stored_rows(search).await?.pop() else { return Ok(None) };
        let Some(execution) = execution else { return Ok(Some(format!("the row of execution {id} cannot be read"))) };
        let row = match execution.state {
            ExecutionState::Committed { .. } => "committed",
            ExecutionState::Failed { .. } => "failed",
            _ => "not settled",
        };
        Ok((row != outcome).then(|| format!("the log says that execution {id} is {outcome}, and its row says {row}")))
    }

    async fn compare_delegation(
        self,
        entry: &WalkedRow,
        members: &Map<String, Value>,
    ) -> Result<Option<String>, Refusal> {
        let id = text(members, "delegation_id");
        let search = DelegationById { project: entry.project, id: id.to_owned() };
        let found = self.stored_rows(search).await?.pop();
        let alive = found.is_some_and(|row| row.is_none_or(|delegation: Delegation| !delegation.is_ended()));
        Ok(alive.then(|| format!("the log says that delegation {id} has ended, and its row says that it has not")))
    }

    async fn compare_key(self, entry: &WalkedRow, members: &Map<String, Value>) -> Result<Option<String>, Refusal> {
        let id = text(members, "key_id");
        let keys: Vec<Option<ApiKey>> = self.stored_rows(ApiKeysOfProject(entry.project)).await?;
        let alive = keys.iter().flatten().any(|key| key.id == id && key.revoked_at.is_none());
        Ok(alive.then(|| format!("the log says that API key {id} was revoked, and its row says that it was not")))
    }

    /// Adds up the next settled decisions; at the end they must be those that the log has entries of.
    pub(super) async fn compare_decisions(self, check: &mut EvidenceCheck) -> Result<(), Refusal> {
        let found: Vec<Option<Decision>> =
            self.stored_rows(DecisionsPage { before: check.decisions_from, limit: AT_ONCE }).await?;
        for decision in found.iter().flatten() {
            if decision.settled_at().is_some_and(|at| at < check.tallied_until()) {
                check.decisions.add(&decision.id, settled_as(decision));
            }
        }
        let last = found.iter().flatten().next_back().map(|decision| decision.key);
        check.decisions_from = last;
        if found.len() < usize::try_from(AT_ONCE).unwrap_or(usize::MAX) || last.is_none() {
            check.conclude();
            check.finished_at = Some(self.now());
        }
        Ok(())
    }
}

impl EvidenceCheck {
    /// Retention may remove rows while a check runs, so fewer rows than entries are no fault.
    fn conclude(&mut self) {
        let (log, rows) = (self.settled, self.decisions);
        if rows.count > log.count {
            self.fault(None, None, format!("{} settled decisions have no entry in the log", rows.count - log.count));
        } else if rows.count == log.count && rows.sum != log.sum && self.fault_count == 0 {
            self.fault(None, None, "the settled decisions are others than those in the log");
        }
        let missing = std::mem::take(&mut self.missing);
        for (project, missing) in missing {
            let accounted = self.erased.get(&project).copied().unwrap_or(0);
            if missing > accounted {
                let what = format!(
                    "{} openings of project {project} are gone, and no erasure accounts for them",
                    missing - accounted
                );
                self.fault(None, None, what);
            }
        }
    }
}

fn text<'m>(members: &'m Map<String, Value>, name: &str) -> &'m str {
    members.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn decided_by(decision: &Decision) -> Option<&str> {
    match &decision.state {
        DecisionState::Accepted { by, .. }
        | DecisionState::Rejected { by, .. }
        | DecisionState::Answered { by, .. } => Some(&by.subject),
        _ => None,
    }
}

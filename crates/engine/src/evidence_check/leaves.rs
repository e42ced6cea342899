//! Every leaf of a lane in its order: hash, sequence, running hash, columns, openings and index.

use super::state::{EvidenceCheck, LaneWalk};
use crate::{
    services::Evidence,
    store::{DelegationsOfProject, WalkedRow},
};
use countersign_core::{
    records::{Delegation, Project},
    refusal::Refusal,
};
use countersign_protocol::{
    evidence::{chain, has_commitments},
    hash::Digest,
    ids::RowKey,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Ids by row key, as leaves have them.
pub(super) struct KnownIds {
    projects: BTreeMap<RowKey, String>,
    delegations: BTreeMap<RowKey, String>,
}

const START: (i64, Digest) = (1, Digest([0; 32]));
const DAY_S: i64 = 86_400;

impl EvidenceCheck {
    /// The first lane that is not through.
    pub(super) fn next_lane(&self) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.pos < lane.last || !lane.ends.is_empty())
    }
}

impl Evidence<'_> {
    /// The next entries of a lane.
    pub(super) async fn walk(self, check: &mut EvidenceCheck, at: usize, limit: i64) -> Result<(), Refusal> {
        let Some(mut walk) = check.lanes.get(at).cloned() else { return Err(Refusal::Internal) };
        let to = walk.last.min(walk.pos.saturating_add(limit));
        let found = self.store.lane_rows(walk.lane, walk.pos, to).await?;
        let ids = self.known_ids(&found).await?;
        let kept_since = self.now().plus_secs(-self.settings.retention.audit_days.saturating_mul(DAY_S));
        let mut settlements = Vec::new();
        for entry in &found {
            walk.come_to(entry.row.pos, check);
            walk.take(entry, check);
            let members = check_members(entry, &ids, check);
            check.checked += 1;
            let Some(members) = members else { continue };
            let young = entry.row.place.at > kept_since;
            check_kept(entry, &members, young, walk.indexed, check);
            settlements.push((entry, members));
        }
        if walk.pos < to {
            walk.come_to(to + 1, check);
            walk.pos = to;
        }
        self.compare_with_rows(check, settlements).await?;
        if walk.pos >= walk.last {
            walk.end(check);
        }
        if let Some(kept) = check.lanes.get_mut(at) {
            *kept = walk;
        }
        Ok(())
    }

    async fn known_ids(self, found: &[WalkedRow]) -> Result<KnownIds, Refusal> {
        let mut ids = KnownIds { projects: BTreeMap::new(), delegations: BTreeMap::new() };
        for entry in found {
            if ids.projects.contains_key(&entry.project) {
                continue;
            }
            let project: Option<Project> = self.get(entry.project).await?;
            ids.projects.insert(entry.project, project.map(|project| project.id.to_string()).unwrap_or_default());
            let delegations: Vec<Delegation> = self.find_all(DelegationsOfProject(entry.project)).await?;
            ids.delegations.extend(delegations.into_iter().map(|delegation| (delegation.key, delegation.id)));
        }
        Ok(ids)
    }
}

impl LaneWalk {
    /// Comes to a position, and reports those that are missing before it.
    fn come_to(&mut self, pos: i64, check: &mut EvidenceCheck) {
        let first = self.pos + 1;
        if pos > first {
            check.fault(Some(self.lane), Some(first), format!("{} entries are missing", pos - first));
        }
        self.pos = pos;
    }

    /// Places the entry in its project's part of the lane.
    fn take(&mut self, entry: &WalkedRow, check: &mut EvidenceCheck) {
        let head = self.heads.entry(entry.project).or_insert(START);
        let seq = entry.row.place.seq;
        if seq != head.0 {
            let what = format!("its sequence is {seq} and must be {}", head.0);
            check.fault(Some(self.lane), Some(entry.row.pos), what);
        }
        *head = (seq + 1, chain(&head.1, seq, &entry.row.hash));
    }

    /// Compares the heads that were found with those that the log states.
    fn end(&mut self, check: &mut EvidenceCheck) {
        let ends = std::mem::take(&mut self.ends);
        for (project, end) in &ends {
            let found = self.heads.get(project).copied().unwrap_or(START);
            if found.0 != end.0 {
                let what = format!(
                    "project {project} has {} entries here, and the head of the log says {}",
                    found.0 - 1,
                    end.0 - 1
                );
                check.fault(Some(self.lane), None, what);
            } else if found.1 != end.1 {
                check.fault(
                    Some(self.lane),
                    None,
                    format!("the running hash of project {project} does not fit its entries"),
                );
            }
        }
        for project in self.heads.keys().filter(|project| !ends.contains_key(project)) {
            check.fault(Some(self.lane), None, format!("project {project} has entries and no head"));
        }
    }
}

/// The members of an entry that fits: its hash, its columns and its openings.
fn check_members(entry: &WalkedRow, ids: &KnownIds, check: &mut EvidenceCheck) -> Option<Map<String, Value>> {
    let (lane, pos) = (Some(entry.row.place.lane), Some(entry.row.pos));
    let members = match entry.row.stored().members() {
        Ok(members) => members,
        Err(misfit) => {
            check.fault(lane, pos, misfit.to_string());
            return None;
        }
    };
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if ids.projects.get(&entry.project).is_some_and(|id| text("project") != Some(id)) {
        check.fault(lane, pos, "the column project does not fit the leaf");
    }
    let known = entry.row.delegation.and_then(|key| ids.delegations.get(&key));
    if known.is_some_and(|id| text("delegation_id") != Some(id)) {
        check.fault(lane, pos, "the column delegation does not fit the leaf");
    }
    Some(members)
}

/// Openings and index rows are there until retention or an erasure removes them.
fn check_kept(entry: &WalkedRow, members: &Map<String, Value>, young: bool, indexed: i64, check: &mut EvidenceCheck) {
    let (lane, pos) = (entry.row.place.lane, entry.row.pos);
    if young && entry.row.openings.is_none() && has_commitments(members) {
        *check.missing.entry(entry.project).or_default() += 1;
    }
    if entry.row.event_type == "person_erased" {
        let erased = members.get("openings").and_then(Value::as_u64).unwrap_or(0);
        *check.erased.entry(entry.project).or_default() += erased;
    }
    let keys = [entry.row.delegation, entry.row.session];
    let unlisted = keys.iter().zip(entry.listed).any(|(key, listed)| key.is_some() && !listed);
    if young && pos <= indexed && unlisted {
        check.fault(Some(lane), Some(pos), "the audit does not list it");
    }
}

//! The verdict: the responses to agents, the effects at the upstream and the nodes' records must agree.

use super::{
    final_check::NodeRecords,
    histories,
    linearizability::is_linearizable,
    record::{Attempt, Effect, Micros, Pages, ReportedResult, SoakOperation},
};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// All of them must be empty.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Findings {
    /// The upstream carried out one call more than once.
    pub(super) double_effects: Vec<String>,
    /// Acknowledged, but not done or not recorded.
    pub(super) lost_acknowledgements: Vec<String>,
    /// Denied with "nothing happened", but it did.
    pub(super) false_denials: Vec<String>,
    /// Never ended, although the faults were over.
    pub(super) stuck: Vec<String>,
    /// The nodes recorded an outcome that the upstream contradicts.
    pub(super) conflicts: Vec<String>,
    /// The observations of a decision fit no order of approval and use.
    pub(super) impossible_histories: Vec<String>,
}

impl Findings {
    pub(super) fn rows(&self) -> [(&'static str, &[String]); 6] {
        [
            ("double effects", &self.double_effects),
            ("lost acknowledgements", &self.lost_acknowledgements),
            ("false denials", &self.false_denials),
            ("stuck", &self.stuck),
            ("conflicts", &self.conflicts),
            ("impossible histories", &self.impossible_histories),
        ]
    }

    pub(super) fn is_clean(&self) -> bool {
        self.rows().iter().all(|(_, found)| found.is_empty())
    }

    pub(super) fn of(pages: &Pages, remembered: &NodeRecords) -> Self {
        let mut findings = Self { stuck: pages.stuck.clone(), ..Self::default() };
        findings.stuck.extend(remembered.stuck.iter().cloned());
        let mut attempts: BTreeMap<&str, Vec<&Attempt>> = BTreeMap::new();
        for attempt in &pages.attempts {
            attempts.entry(&attempt.marker).or_default().push(attempt);
        }
        let markers: BTreeSet<&str> =
            attempts.keys().copied().chain(pages.effects.keys().map(String::as_str)).collect();
        for marker in markers {
            let effects = pages.effects.get(marker).map(Vec::as_slice).unwrap_or_default();
            findings.marker(marker, attempts.get(marker).map(Vec::as_slice).unwrap_or_default(), effects);
        }
        findings.acknowledged(pages, remembered);
        findings.remembered(pages, remembered);
        let histories = histories::by_decision(pages);
        let impossible = histories.iter().filter(|(_, history)| !is_linearizable(history));
        findings.impossible_histories = impossible.map(|(id, history)| format!("{id}: {history:?}")).collect();
        findings
    }

    fn marker(&mut self, marker: &str, attempts: &[&Attempt], effects: &[Effect]) {
        let story = || story(marker, attempts, effects);
        if effects.len() > 1 {
            self.double_effects.push(story());
        }
        let may_have = |effect: &Effect| {
            let may = |told: ReportedResult| matches!(told, ReportedResult::Ran | ReportedResult::InDoubt);
            attempts.iter().any(|attempt| may(attempt.told) && attempt.invoked <= effect.at)
        };
        if effects.iter().any(|effect| !may_have(effect)) {
            self.false_denials.push(story());
        }
        let ran = |attempt: &&&Attempt| attempt.told == ReportedResult::Ran && attempt.operation != SoakOperation::Read;
        let acknowledged = attempts.iter().filter(ran).count();
        if acknowledged > effects.len() {
            self.lost_acknowledgements.push(format!("the upstream did it less often: {}", story()));
        }
    }

    /// Each acknowledged call is in the record, unless a restore legitimately forgot it.
    fn acknowledged(&mut self, pages: &Pages, remembered: &NodeRecords) {
        for attempt in pages.attempts.iter().filter(|attempt| attempt.told == ReportedResult::Ran) {
            let is_known = match (&attempt.decision, attempt.operation) {
                (Some(id), _) => remembered.decisions.get(id).is_some_and(is_committed),
                (None, SoakOperation::Read) => remembered.audited.contains(&format!("/accounts/{}", attempt.marker)),
                (None, SoakOperation::Write) => remembered.audited.contains(&format!("/notes/{}", attempt.marker)),
                (None, SoakOperation::Held) => true,
            };
            if !is_known && !is_forgotten(pages, attempt.invoked, attempt.returned) {
                let stands = attempt.decision.as_ref().and_then(|id| remembered.decisions.get(id));
                let stands = stands.map(Value::to_string).unwrap_or_default();
                self.lost_acknowledgements.push(format!("not in the record: {attempt:?} {stands}"));
            }
        }
        for reply in pages.replies.iter().filter(|reply| reply.is_sure) {
            let document = remembered.decisions.get(&reply.decision).unwrap_or(&Value::Null);
            let is_known = document["state"] == if reply.accepts { "accepted" } else { "rejected" };
            let was_reached = !remembered.stuck.iter().any(|stuck| stuck.starts_with(&reply.decision));
            if !is_known && was_reached && !is_forgotten_later(pages, reply.invoked, reply.returned, document) {
                self.lost_acknowledgements.push(format!("an answer is not in the record: {reply:?} {document}"));
            }
        }
    }

    /// A recorded outcome must be the upstream's.
    fn remembered(&mut self, pages: &Pages, remembered: &NodeRecords) {
        let done: BTreeSet<&str> =
            pages.effects.values().flatten().filter_map(|effect| effect.decision.as_deref()).collect();
        for (id, document) in &remembered.decisions {
            let state = document["execution"]["state"].as_str().unwrap_or_default();
            let contradicts = match state {
                "committed" => !done.contains(id.as_str()),
                "failed" | "released" => done.contains(id.as_str()),
                _ => false,
            };
            if contradicts || document["execution"]["conflict"] == true {
                let did = if done.contains(id.as_str()) { "did it" } else { "did not do it" };
                self.conflicts.push(format!("the upstream {did}: {document}"));
            }
        }
    }
}

fn is_committed(document: &Value) -> bool {
    document["execution"]["state"] == "committed"
}

/// Acknowledged between a backup and its restore.
fn is_forgotten(pages: &Pages, invoked: Micros, returned: Micros) -> bool {
    pages.forgotten.iter().any(|(from, to)| returned >= *from && invoked <= *to)
}

/// A restore may also end a decision that it knows of: open approvals are cancelled.
fn is_forgotten_later(pages: &Pages, invoked: Micros, returned: Micros, document: &Value) -> bool {
    is_forgotten(pages, invoked, returned) || (!pages.forgotten.is_empty() && document["state"] == "cancelled")
}

fn story(marker: &str, attempts: &[&Attempt], effects: &[Effect]) -> String {
    let mut lines = vec![format!("{marker}: done {} times, at {:?}", effects.len(), effects)];
    lines.extend(attempts.iter().map(|attempt| {
        let Attempt { invoked, returned, told, answer, decision, .. } = attempt;
        format!("    {invoked}-{returned} {told:?} {} ({answer})", decision.as_deref().unwrap_or("-"))
    }));
    lines.join("\n")
}

#[cfg(test)]
mod tests;

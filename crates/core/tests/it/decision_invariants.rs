//! Invariants that hold after every step.

use crate::{
    decision_reference::{Fate, Run, Yes},
    decision_runner::Runner,
    decision_stream::is_yes,
    decision_world::{ALICE, is_open},
};
use countersign_core::{
    aaep::event_writer::AWAITING_INPUT,
    records::{AaepSessionState, AllowanceState, Decision, DecisionState, Defaulted, ExecutionState},
};
use countersign_protocol::{
    aaep::event::{Risk, YesNo},
    ids::RowKey,
};
use serde_json::Value;

impl Runner {
    pub(crate) fn check(&mut self) {
        self.listener.listen(&self.plane.store);
        self.rows_are_as_the_reference_says();
        self.settlements_stay();
        self.what_ran_was_allowed();
        self.counters_are_true();
        self.sessions_are_true();
        self.evidence_is_true();
    }

    fn rows_are_as_the_reference_says(&self) {
        let store = &self.plane.store;
        assert_eq!(store.decisions().count(), self.keys.len());
        for (key, question) in self.keys.iter().zip(&self.reference.questions) {
            let decision = store.decision(*key);
            assert_eq!(fate(&decision.state), question.fate, "{}", decision.id);
            if let DecisionState::Pending { deadline, due, .. } = decision.state {
                assert_eq!((deadline, due), (question.deadline, question.due));
            }
            assert_eq!(store.allowance_of(*key).map(|a| (yes(a.state), a.until)), question.yes);
            assert_eq!(store.execution_of(*key).map(|e| run(&e.state)), question.run);
        }
    }

    /// A decision is settled once, never changes afterwards, and the settlement reaches its audience.
    fn settlements_stay(&mut self) {
        for decision in self.plane.store.decisions().filter(|decision| !decision.is_pending()) {
            let state = serde_json::to_value(&decision.state).unwrap();
            let first = self.settled.entry(decision.key).or_insert_with(|| state.clone());
            assert_eq!(*first, state, "{} was settled twice", decision.id);
            assert!(self.listener.told.contains(&decision.id), "nobody was told what became of {}", decision.id);
        }
    }

    /// Every execution has an approval, claims it at most once, and runs exactly the approved digest.
    fn what_ran_was_allowed(&self) {
        let store = &self.plane.store;
        for allowance in store.allowances() {
            let decision = store.decision(allowance.decision);
            let runs = store.executions().filter(|run| run.allowance == allowance.key);
            let runs: Vec<_> = runs.inspect(|run| assert_eq!(run.digest, decision.digest)).collect();
            assert!(is_yes(decision) && runs.len() <= 1 && allowance.tally.used == i64::try_from(runs.len()).unwrap());
            assert!(runs.iter().all(|run| run.claimed_at < allowance.until), "claimed after its time");
            if matches!(decision.state, DecisionState::Expired { .. }) {
                default_yes_was_permitted(decision);
            }
        }
        assert!(store.executions().all(|run| store.allowance_of(run.decision).map(|a| a.key) == Some(run.allowance)));
    }

    fn counters_are_true(&self) {
        let store = &self.plane.store;
        let asked = store.count(&format!("1:asked:{ALICE}"));
        assert_eq!(asked, self.reference.open_of(None), "open questions of the person");
        for agent in [0, 1] {
            let principal = self.plane.raiser(agent).principal;
            let open = store.count(&format!("1:open-questions:{principal}"));
            assert_eq!(open, self.reference.open_of(Some(&principal)), "open questions of the agent");
        }
    }

    /// A session lists exactly its pending questions and is in `awaiting_input` while there are any.
    fn sessions_are_true(&self) {
        let store = &self.plane.store;
        for session in store.sessions() {
            assert_eq!(is_open(session), !self.reference.sessions[&session.key].over, "{}", session.id);
            let mut open: Vec<RowKey> =
                store.decisions().filter(|d| d.is_pending() && d.asked_in == session.key).map(|d| d.key).collect();
            if let AaepSessionState::Open { at, waiting, .. } = &session.state {
                let mut waiting = waiting.clone();
                waiting.sort_unstable();
                open.sort_unstable();
                assert_eq!(waiting, open);
                assert!(waiting.is_empty() || at == AWAITING_INPUT);
            } else {
                assert_eq!(open, [] as [RowKey; 0], "a question outlives its session");
            }
        }
    }

    /// Each raised and each settled decision is recorded once, and an expired one is not recorded as rejected.
    fn evidence_is_true(&mut self) {
        let store = &self.plane.store;
        for draft in &store.evidence[self.entries..] {
            let entry: Value = serde_json::from_slice(&draft.leaf.bytes).unwrap();
            let Some(id) = entry["decision_id"].as_str() else { continue };
            let written = self.written.entry(id.to_owned()).or_default();
            match draft.event_type {
                "decision_raised" => written.0 += 1,
                "decision_settled" => {
                    written.1 += 1;
                    let decision = store.decisions().find(|decision| decision.id == id).unwrap();
                    let state = serde_json::to_value(&decision.state).unwrap();
                    assert_eq!(entry["state"], state["is"], "{entry}");
                    let as_if = ["accept", "reject", "default_response", "unavailable"];
                    let expired = as_if.iter().any(|word| entry["expired_as"] == *word);
                    assert_eq!(entry["state"] == "expired", expired, "{entry}");
                }
                _ => {}
            }
        }
        self.entries = store.evidence.len();
        for decision in store.decisions() {
            let expected = (1, u32::from(!decision.is_pending()));
            assert_eq!(self.written.get(&decision.id), Some(&expected), "entries of {}", decision.id);
        }
    }
}

/// reversible, below high risk, and a timeout of at least thirty seconds.
fn default_yes_was_permitted(decision: &Decision) {
    let terms = &decision.terms;
    assert!(!terms.irreversible && terms.risk < Risk::High && terms.timeout_s >= 30, "{terms:?}");
    assert_eq!(terms.default, YesNo::Accept);
    let DecisionState::Expired { at, .. } = decision.state else { return };
    assert!(at >= decision.asked_at.plus_secs(terms.timeout_s), "a default yes before its time");
}

fn fate(state: &DecisionState) -> Fate {
    match state {
        DecisionState::Pending { .. } => Fate::Open,
        DecisionState::Accepted { .. } => Fate::Accepted,
        DecisionState::Rejected { .. } => Fate::Rejected,
        DecisionState::Answered { .. } => Fate::Answered,
        DecisionState::Cancelled { .. } => Fate::Cancelled,
        DecisionState::Expired { as_if, .. } => match as_if {
            Defaulted::Accept => Fate::ExpiredAccept,
            Defaulted::Reject => Fate::ExpiredReject,
            Defaulted::Response { .. } => Fate::ExpiredResponse,
            Defaulted::Unavailable => Fate::ExpiredUnavailable,
        },
    }
}

fn yes(state: AllowanceState) -> Yes {
    match state {
        AllowanceState::Open => Yes::Open,
        AllowanceState::Spent => Yes::Spent,
        AllowanceState::Lapsed { .. } => Yes::Lapsed,
        AllowanceState::Cancelled { .. } => Yes::Cancelled,
    }
}

fn run(state: &ExecutionState) -> Run {
    match state {
        ExecutionState::Claimed { lease_until } => Run::Claimed(*lease_until),
        ExecutionState::Committed { .. } => Run::Committed,
        ExecutionState::Failed { .. } => Run::Failed,
        ExecutionState::Unknown { .. } => Run::Unknown,
        ExecutionState::Released { .. } => panic!("nothing here releases"),
    }
}

//! The rows of these tests, with defaults for irrelevant members.

use super::AT;
use crate::store::START;
use countersign_core::{
    bounded::Tally,
    records::{
        AaepSession, AaepSessionState, Allowance, AllowanceState, Approvers, Assurance, Clarification, Decision,
        DecisionState, DecisionTerms, Defaulted, Execution, ExecutionState, Point, Question, Raiser, Subscription,
        SubscriptionOwner, TextAuthor,
    },
};
use countersign_protocol::{
    aaep::{
        envelope::Producer,
        event::{ResponseKind, Risk, Summaries, YesNo},
    },
    hash::Digest,
    ids::RowKey,
    time::UnixMillis,
};
use serde_json::json;

pub(crate) fn digest(n: RowKey) -> Digest {
    Digest::of(&n.to_be_bytes())
}

pub(crate) fn raiser(n: RowKey) -> Raiser {
    let principal = format!("del_{n}");
    Raiser { principal, person: n, delegation: Some(n), session: Some(n + 10), api_key: None, operator: None }
}

pub(crate) fn pending(due: i64) -> DecisionState {
    DecisionState::Pending { deadline: UnixMillis(START + 60_000), due: UnixMillis(due), ballots: vec![] }
}

pub(crate) fn expired() -> DecisionState {
    DecisionState::Expired { at: AT, as_if: Defaulted::Reject }
}

pub(crate) fn decision(key: RowKey, version: i64, state: DecisionState) -> Decision {
    let clarification = Clarification {
        question: "Which one?".into(),
        summaries: Summaries::default(),
        kinds: vec![ResponseKind::Freetext],
        choices: vec![],
        context: None,
        default_response: None,
    };
    Decision {
        key,
        version,
        project: 1,
        id: format!("dec_{key}"),
        project_version: 1,
        raised_by: raiser(key),
        point: Point::AgentClaimed,
        asked_in: 1,
        digest: digest(key),
        same: digest(key),
        effect: None,
        action: String::new(),
        question: Question::Clarification(clarification),
        words: TextAuthor::Agent,
        terms: terms(),
        language: "en".into(),
        event_id: format!("evt_{key}"),
        asked_at: AT,
        reply_hash: digest(100 + key),
        last_ran_at: None,
        rules: None,
        target: None,
        governance: None,
        gap: None,
        expansion: None,
        state,
    }
}

fn terms() -> DecisionTerms {
    DecisionTerms {
        risk: Risk::Low,
        irreversible: false,
        reversibility: None,
        default: YesNo::Reject,
        timeout_s: 60,
        latest: UnixMillis(START + 60_000),
        approvers: Approvers { people: vec![], roles: vec![], own_yes: true },
        also: vec![],
        floor: Assurance::Token,
        high_risk_tokens: false,
        allowance_s: 60,
        lease_s: 60,
    }
}

pub(crate) fn allowance(key: RowKey, version: i64, until: i64, state: AllowanceState) -> Allowance {
    Allowance {
        key,
        version,
        project: 1,
        decision: 100 + key,
        raised_by: raiser(key),
        point: Point::Gateway,
        digest: Some(digest(key)),
        pattern: None,
        tally: Tally::single_use(),
        until: UnixMillis(until),
        rules: None,
        lease_s: 60,
        decided_by: None,
        step: None,
        state,
        queued: None,
    }
}

/// An approval by person `20 + key` of every action that fits a pattern.
pub(crate) fn bounded(key: RowKey, version: i64, state: AllowanceState) -> Allowance {
    let pattern = json!({ "what": { "is": "tool", "name": "pay" }, "arguments": "{}", "released": {} });
    let pattern = Some(serde_json::from_value(pattern).unwrap());
    Allowance { pattern, digest: None, decided_by: Some(20 + key), ..allowance(key, version, START, state) }
}

pub(crate) fn execution(key: RowKey, version: i64, state: ExecutionState) -> Execution {
    Execution {
        key,
        version,
        project: 1,
        id: format!("exe_{key}"),
        decision: 100 + key,
        allowance: 200 + key,
        raised_by: raiser(key),
        point: Point::Gateway,
        digest: digest(key),
        effect: None,
        taken: vec![],
        step: None,
        lease_s: 60,
        fence: 0,
        node: 0,
        claimed_at: AT,
        call_id: format!("call_{key}"),
        state,
        probe: None,
        conflict: None,
        undoable: false,
    }
}

pub(crate) fn aaep_session(key: RowKey, version: i64, state: AaepSessionState) -> AaepSession {
    let producer = json!({ "agent_id": "agent" });
    AaepSession {
        key,
        version,
        project: 1,
        id: format!("sess_{key}"),
        principal: "del_1".into(),
        person: key,
        operator: None,
        delegation: Some(key),
        session: Some(10 + key),
        api_key: None,
        producer: serde_json::from_value::<Producer>(producer).unwrap(),
        language: "en".into(),
        implicit: false,
        opened_at: AT,
        said: 0,
        last_at: AT,
        idle_s: 3600,
        access_until: None,
        state,
    }
}

pub(crate) fn subscription(key: RowKey, version: i64, closed_at: Option<UnixMillis>) -> Subscription {
    Subscription {
        key,
        version,
        project: 1,
        id: format!("sub_{key}"),
        person: key,
        owner: SubscriptionOwner::Token { key },
        may_answer: true,
        subscriber_id: "speaker".into(),
        capabilities: json!({}),
        opened_at: AT,
        closed_at,
    }
}

//! Rows for rendering MPLP documents, and the validators of those documents.

use crate::mplp_judge;
use countersign_core::{
    decision::{
        answer::{Answer, AnswerContent, AnswerView, Extra, NotCounted, ProvenPerson},
        due::DueView,
    },
    env::Env,
    evidence,
    mplp::{bus, roles::Deciding},
    records::{AaepSession, Assurance, Decision, DecisionState, Plan, Role, Via},
    step::{EvidenceDraft, Operation, Step},
};
use countersign_protocol::{
    aaep::event::YesNo,
    hash::Digest,
    ids::{ProjectId, RowKey},
    mplp::{BusEvent, MplpId},
    project::ProjectDocument,
    time::UnixMillis,
};
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) const ASKED: UnixMillis = UnixMillis(1_800_000_000_000);
pub(crate) const DECIDED: UnixMillis = UnixMillis(1_800_000_060_250);
pub(crate) const PROJECT: RowKey = 1;
pub(crate) const ALICE: RowKey = 2;
pub(crate) const BOB: RowKey = 3;
const PLAN: RowKey = 7;

pub(crate) const DECISION_ID: &str = "dec_3f2b8c1d5e6f4a7b8c9d0e1f2a3b4c5d";
pub(crate) const CONFIRM_ID: &str = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
pub(crate) const PLAN_ID: &str = "11111111-1111-4111-8111-111111111111";
pub(crate) const CONTEXT_ID: &str = "22222222-2222-4222-8222-222222222222";
pub(crate) const STEPS: [&str; 3] = [
    "33333333-3333-4333-8333-333333333331",
    "33333333-3333-4333-8333-333333333332",
    "33333333-3333-4333-8333-333333333333",
];

pub(crate) fn id(text: &str) -> MplpId {
    MplpId::parse(text).unwrap()
}

/// A project with the default roles and these additional members.
pub(crate) fn project(more: Value) -> ProjectDocument {
    let mut document = json!({ "id": "small" });
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(document).unwrap()
}

/// Alice's agent asks to pay; Bob, an approver, may decide.
pub(crate) fn asked() -> Decision {
    serde_json::from_value(json!({
        "key": 5, "version": 1, "project": PROJECT, "id": DECISION_ID, "project_version": 1,
        "raised_by": raiser(),
        "point": "gateway", "asked_in": 6, "digest": Digest::of(b"d"), "same": Digest::of(b"s"), "action": "payments.send",
        "question": {
            "is": "confirmation", "action": "Pay 82,000 USD", "consequence": "The money is gone.",
            "summary_normal": "Pay 82,000 USD", "allowed_replies": ["accept", "reject"], "tool": "payments.send",
        },
        "words": "owner",
        "terms": {
            "risk": "high", "irreversible": true, "reversibility": null, "default": "reject", "timeout_s": 600,
            "latest": ASKED.plus_secs(3600), "floor": "token", "allowance_s": 300, "lease_s": 60,
            "approvers": { "people": [], "roles": ["approver", "admin"], "own_yes": false },
        },
        "language": "en", "event_id": "evt_1", "asked_at": ASKED, "reply_hash": Digest::of(b"r"),
        "state": { "is": "pending", "deadline": ASKED.plus_secs(600), "due": ASKED.plus_secs(600), "ballots": [] },
    }))
    .unwrap()
}

/// The same question about a target with its own id.
pub(crate) fn asked_about(target_type: &str, target_id: &str) -> Decision {
    let target = json!({
        "target_type": target_type, "target_id": target_id, "requested_by_role": "planner", "reason": "Move the accounts",
        "plan": (target_type == "plan").then_some(PLAN),
    });
    Decision { target: serde_json::from_value(target).unwrap(), ..asked() }
}

/// A clarification request that takes free text.
pub(crate) fn clarification() -> Decision {
    let question = json!({
        "is": "clarification", "question": "Which account?", "summary_normal": "Which account?", "kinds": ["freetext"],
    });
    Decision { question: serde_json::from_value(question).unwrap(), ..asked() }
}

fn raiser() -> Value {
    json!({
        "principal": "del_1", "person": ALICE, "delegation": 4, "session": 8, "api_key": null, "operator": "acme.test",
    })
}

/// The decision with this state, given as JSON.
pub(crate) fn settled(decision: &Decision, state: Value) -> Decision {
    let state: DecisionState = serde_json::from_value(state).unwrap();
    Decision { state, version: 2, ..decision.clone() }
}

pub(crate) fn accepted(decision: &Decision, rationale: Option<&str>) -> Decision {
    settled(decision, json!({ "is": "accepted", "by": ballot("approver"), "rationale": rationale }))
}

pub(crate) fn rejected(decision: &Decision, rationale: Option<&str>) -> Decision {
    let by = ballot("approver");
    settled(decision, json!({ "is": "rejected", "by": by, "rationale": rationale, "proposal": null }))
}

pub(crate) fn expired(decision: &Decision, as_if: &str) -> Decision {
    settled(decision, json!({ "is": "expired", "at": DECIDED, "as_if": { "is": as_if } }))
}

/// Cancelled without a person.
pub(crate) fn cancelled(decision: &Decision, why: &str, reason: Option<&str>) -> Decision {
    settled(decision, json!({ "is": "cancelled", "at": DECIDED, "why": why, "by": null, "reason": reason }))
}

pub(crate) fn ballot(role: &str) -> Value {
    json!({
        "person": BOB, "subject": "bob", "assurance": "session", "at": DECIDED, "claimed_at": ASKED, "decided_by": "Robert",
        "correlation_id": null, "via": { "is": "page" }, "role": role,
    })
}

/// Every possible end of a question, each once.
pub(crate) fn every_end(decision: &Decision) -> Vec<Decision> {
    let by_person =
        json!({ "is": "cancelled", "at": DECIDED, "why": "taken_back", "by": ballot("admin"), "reason": null });
    vec![
        accepted(decision, None),
        accepted(decision, Some("As agreed")),
        rejected(decision, None),
        rejected(decision, Some("Too much")),
        expired(decision, "accept"),
        expired(decision, "reject"),
        cancelled(decision, "withdrawn", Some("Not needed")),
        cancelled(decision, "session_over", None),
        cancelled(decision, "revoked", None),
        settled(decision, by_person),
    ]
}

/// Three consecutive steps; the second pays twice through the gateway.
pub(crate) fn plan() -> Plan {
    let step = |n: usize, before: &[&str]| {
        json!({ "step_id": STEPS[n], "description": format!("Step {n} for Carol"), "status": "pending",
                "dependencies": before, "agent_role": "Carol's helper" })
    };
    let document = json!({
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0", "created_at": "2027-01-15T08:00:00Z",
                  "created_by": "del_1" },
        "plan_id": PLAN_ID, "context_id": CONTEXT_ID, "title": "Move Carol's accounts", "objective": "Carol is paid",
        "status": "draft", "steps": [step(0, &[]), step(1, &[STEPS[0]]), step(2, &[STEPS[1]])],
    });
    let runs = json!({
        "action": { "tool": "pay", "uses": 2 }, "pattern": { "what": { "is": "tool", "name": "pay" }, "arguments": "{}", "released": {} },
        "point": "agent_claimed", "tool": "pay", "rules": Digest::of(b"rules"), "risk": "low", "irreversible": false,
        "lease_s": 60, "asks_again": false, "shown": "pay()", "words": "agent",
    });
    serde_json::from_value(json!({
        "key": PLAN, "version": 1, "project": PROJECT, "id": PLAN_ID, "by": raiser(), "document": document,
        "actions": { (STEPS[1]): runs }, "lasts_s": 3600, "revision": 1,
    }))
    .unwrap()
}

/// The plan after it was proposed under this Confirm.
pub(crate) fn asked_plan(confirm_id: &str) -> Plan {
    let plan = plan();
    let asked = json!({ "confirm_id": confirm_id, "document": plan.document, "actions": plan.actions });
    Plan { asked: serde_json::from_value(asked).unwrap(), confirm: Some(5), ..plan }
}

pub(crate) fn place() -> (RowKey, ProjectId) {
    (PROJECT, project(json!({})).id)
}

pub(crate) fn env(now: UnixMillis) -> Env {
    Env { now, entropy: [7; 32], first_key: 100 }
}

pub(crate) fn due_view(decision: Decision, plan: Option<Plan>) -> DueView {
    DueView { place: place(), session: session(), decision, plan }
}

/// Bob replies under his own role.
pub(crate) fn bob_replies(decision: Decision, plan: Option<Plan>, reply: YesNo) -> (Decision, Vec<EvidenceDraft>) {
    replied(bob(), Extra::default(), decision, plan, reply).unwrap()
}

/// The settled decision and its evidence.
pub(crate) fn replies(
    by: ProvenPerson,
    extra: Extra,
    decision: Decision,
    reply: YesNo,
) -> Result<(Decision, Vec<EvidenceDraft>), NotCounted> {
    replied(by, extra, decision, None, reply)
}

fn replied(
    by: ProvenPerson,
    extra: Extra,
    decision: Decision,
    plan: Option<Plan>,
    reply: YesNo,
) -> Result<(Decision, Vec<EvidenceDraft>), NotCounted> {
    let given = AnswerContent::Reply { decision: reply, rationale: None, modified_action: None };
    let answer = Answer { by, given, claimed_at: DECIDED, decided_by: None, correlation_id: None, extra };
    let (session, policy) = (session(), project(json!({})).plans);
    let view = AnswerView {
        place: place(),
        pause_s: 600,
        decision,
        session,
        plan,
        asked_for: None,
        boundary: None,
        policy,
        gap: None,
        widening: None,
    };
    let Step { answer, effects } = answer.decide(&view, &env(DECIDED))?;
    Ok((answer.decision, effects.evidence))
}

pub(crate) fn bob() -> ProvenPerson {
    let (subject, roles) = ("bob".to_owned(), vec![Role::Approver]);
    let deciding = Deciding::of(&project(json!({})), &subject, &roles);
    let (assurance, guards) = (Assurance::Session, Vec::new());
    ProvenPerson {
        person: BOB,
        subject,
        roles,
        assurance,
        presence: None,
        deciding,
        may_answer: true,
        approves_high_risk: false,
        via: Via::Page,
        guards,
    }
}

fn session() -> AaepSession {
    serde_json::from_value(json!({
        "key": 6, "version": 1, "project": PROJECT, "id": "sess_1", "principal": "del_1", "person": ALICE,
        "operator": "acme.test", "delegation": 4, "session": 8, "producer": { "agent_id": "agent.acme.test" },
        "language": "en", "implicit": true, "opened_at": ASKED, "said": 3, "last_at": ASKED,
        "state": { "is": "open", "at": "awaiting_input", "waiting": [5], "tools": [], "outputs": [] },
    }))
    .unwrap()
}

/// The observer events for these entries, in order.
pub(crate) fn told(entries: &[EvidenceDraft], project: &ProjectDocument) -> Vec<BusEvent> {
    entries.iter().flat_map(|draft| told_of(draft, project)).collect()
}

pub(crate) fn told_of(draft: &EvidenceDraft, project: &ProjectDocument) -> Vec<BusEvent> {
    let members = evidence::opened(&draft.leaf).unwrap();
    bus::events(&bus::OpenedEntry { members: &members, hash: &draft.leaf.hash, project })
}

/// Validates against our schema, and against the published one if it is available.
#[track_caller]
pub(crate) fn sound(schema: &str, document: &impl Serialize) -> Value {
    let document = serde_json::to_value(document).unwrap();
    let found = [mplp_judge::problems(schema, &document), mplp_judge::published_problems(schema, &document)].concat();
    assert!(found.is_empty(), "no sound {schema}: {found:#?}\n{document:#}");
    document
}

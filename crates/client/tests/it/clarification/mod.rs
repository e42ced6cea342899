//! Clarifications against a scripted service with scripted signatures.

mod answers;
mod proven;

use crate::service::{Service, ok};
use countersign_client::clarification::{AgentKey, Clarifications};
use countersign_protocol::{
    clarification::{
        Gap, Message, Operation, PROTOCOL_VERSION, PublishedKey, PublishedKeys, SCHEMA, Severity, Signable, Signature,
        Stamp, Status,
        signed::{AskBody, ask_hash, plan_digest},
        submission::{CheckRequest, CheckResponse, OpenAsk},
    },
    hash::Digest,
    mplp::MplpId,
    origin::Origin,
};
use serde_json::{Value, json};
use std::sync::Arc;

const SESSION: &str = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
const AGENT: &str = "countersign-bank";
const CHECK: &str = "/v1/clarification/submit-clarification";
const GAPS: &str = "/v1/clarification/list-gaps";
const RESOLVE: &str = "/v1/clarification/resolve-gap";
const KEYS: &str = "/v1/clarification/keys";

fn session() -> MplpId {
    MplpId::parse(SESSION).unwrap()
}

fn key(byte: u8) -> AgentKey {
    AgentKey::from_seed([byte; 32])
}

fn stamp(text: &str) -> Stamp {
    text.parse().unwrap()
}

fn signed<T: Signable>(by: &AgentKey, body: &T) -> Signature {
    by.sign_body(body).unwrap()
}

fn agent(service: &Arc<Service>) -> Clarifications {
    Clarifications::new(&Origin::parse("https://plane.example").unwrap(), None, "csk_0", service.clone())
}

fn publishes(service: &Service, keys: &[&AgentKey]) {
    let keys = keys.iter().map(|key| PublishedKey {
        public_key: key.public_key(),
        created_at: stamp("2026-05-10T00:00:00Z"),
        retired_at: None,
    });
    let published = PublishedKeys { agent_id: AGENT.into(), keys: keys.collect(), rotations: Vec::new() };
    service.answers(KEYS, [ok(&serde_json::to_value(&published).unwrap())]);
}

fn plan() -> Value {
    json!({ "transfer": { "amount": "82.00" } })
}

fn submission() -> CheckRequest {
    let Value::Object(plan_object) = plan() else { panic!() };
    CheckRequest { plan_object, session_id: None, protocol_version: None }
}

fn gap() -> Gap {
    Gap {
        id: "gap-001".into(),
        field: "transfer.from".into(),
        pointer: Some("/transfer/from".into()),
        severity: Severity::Block,
        question: "From which account?".into(),
        context: "It is not said".into(),
        suggestions: vec!["main".into()],
        suggestions_exclusive: false,
        blocked_operations: vec![Operation::Build],
        person_must_answer: false,
    }
}

/// The service's response about the session, signed by that key.
fn response(by: &AgentKey) -> CheckResponse {
    let mut message = Message {
        schema: SCHEMA.into(),
        protocol_version: PROTOCOL_VERSION.into(),
        session_id: session(),
        agent_id: AGENT.into(),
        agent_public_key: by.public_key(),
        timestamp: stamp("2026-05-10T15:00:00Z"),
        status: Status::NeedsClarification,
        gaps: vec![gap()],
        accepted_gaps: 0,
        blocking_gaps: 1,
        warning_gaps: 0,
        signature: Signature::from_bytes([0; 64]),
    };
    message.signature = signed(by, &message);
    CheckResponse {
        status: message.status,
        gaps: message.gaps.clone(),
        blocking_count: 1,
        warning_count: 0,
        session_id: session(),
        asks: vec![ask(by)],
        clarification: message,
    }
}

fn ask_body(by: &AgentKey) -> AskBody {
    AskBody {
        session_id: session(),
        round: 1,
        agent_id: AGENT.into(),
        agent_public_key: by.public_key(),
        ask_timestamp: stamp("2026-05-10T15:00:00Z"),
        gap: gap(),
        plan_digest: plan_digest(&plan()).unwrap().into(),
        prev: Digest([7; 32]).into(),
    }
}

fn ask(by: &AgentKey) -> OpenAsk {
    let body = ask_body(by);
    OpenAsk {
        gap_id: body.gap.id.clone(),
        round: body.round,
        prev: body.prev,
        ask_timestamp: body.ask_timestamp.clone(),
        ask_signature: signed(by, &body),
        ask_hash: ask_hash(&body).unwrap(),
    }
}

fn response_to(response: &CheckResponse) -> Value {
    serde_json::to_value(response).unwrap()
}

//! Events sent by agents in their AAEP sessions: legal ones are published, illegal ones refused with a reason
//! (AAEP 4.5, 6.8).

use crate::{
    decision_stream::Listener,
    decision_world::{ALICE, Ask, BOB, CAROL, NOW, Plane, answer, at_deadline, beside, claim, is_open, reply},
};
use countersign_core::{
    aaep::session::PublishedEvent,
    records::{CancelledFor, Decision, DecisionState, Role},
    refusal::Refusal,
    step::Step,
};
use countersign_protocol::{
    aaep::event::{Payload, YesNo},
    ids::RowKey,
};
use serde_json::{Value, json};

fn session(plane: &mut Plane) -> RowKey {
    let step = plane.open_session(0, NOW).unwrap();
    plane.commit(step).key
}

fn says(plane: &Plane, session: RowKey, type_name: &str, mut members: Value) -> Result<Step<PublishedEvent>, Refusal> {
    members["type"] = format!("aaep:agent.{type_name}").into();
    let payload: Payload = serde_json::from_value(members).unwrap();
    plane.publish(session, payload, NOW)
}

fn say(plane: &mut Plane, session: RowKey, type_name: &str, members: Value) -> PublishedEvent {
    let step = says(plane, session, type_name, members).unwrap();
    plane.commit(step)
}

fn state(from: &str, to: &str) -> Value {
    json!({ "from_state": from, "to_state": to, "summary_normal": "on it" })
}

fn is_conflict(result: Result<Step<PublishedEvent>, Refusal>) -> bool {
    matches!(result.map(drop), Err(Refusal::Conflict(_)))
}

fn asked(plane: &mut Plane, ask: Ask) -> Decision {
    let step = plane.raise(&ask, NOW).unwrap();
    plane.commit(step).decision
}

fn cancelled_for(plane: &Plane, question: &Decision) -> Option<CancelledFor> {
    match plane.store.decision(question.key).state {
        DecisionState::Cancelled { why, .. } => Some(why),
        _ => None,
    }
}

fn hear(plane: &Plane) -> Listener {
    let mut listener = Listener::default();
    listener.listen(&plane.store);
    listener
}

#[test]
fn states_follow_one_another_from_idle_on() {
    let mut plane = Plane::new();
    let session = session(&mut plane);
    assert!(is_conflict(says(&plane, session, "state.changed", state("thinking", "deciding"))));
    let first = say(&mut plane, session, "state.changed", state("idle", "thinking"));
    assert_eq!(first.sequence_number, 1);
    assert!(is_conflict(says(&plane, session, "state.changed", state("idle", "deciding"))));
    say(&mut plane, session, "state.changed", state("thinking", "a state of our own"));
    hear(&plane);
}

#[test]
fn a_session_is_started_once_and_nothing_follows_its_end() {
    let mut plane = Plane::new();
    let started = json!({ "summary_normal": "again" });
    for (end, members) in [
        ("session.completed", json!({ "summary_normal": "done" })),
        ("session.errored", json!({ "summary_normal": "failed", "error_category": "unknown" })),
        ("session.cancelled", json!({ "summary_normal": "stopped", "cancelled_by": "user" })),
    ] {
        let session = session(&mut plane);
        assert!(is_conflict(says(&plane, session, "session.started", started.clone())));
        say(&mut plane, session, end, members.clone());
        assert!(is_conflict(says(&plane, session, end, members)));
        assert!(is_conflict(says(&plane, session, "state.changed", state("idle", "thinking"))));
        let late = plane.raise(&Ask::of("file.move").within(session), NOW);
        assert!(matches!(late.map(drop), Err(Refusal::Conflict(_))));
    }
    hear(&plane);
}

#[test]
fn a_tool_is_completed_once_and_only_after_it_was_invoked() {
    let mut plane = Plane::new();
    let session = session(&mut plane);
    let invoked = |id: Value| json!({ "tool": "look.up", "summary_normal": "looking", "tool_call_id": id });
    let done = |tool: &str, id: Value| json!({ "tool": tool, "status": "success", "tool_call_id": id });
    assert!(is_conflict(says(&plane, session, "tool.completed", done("look.up", json!("call_1")))));
    say(&mut plane, session, "tool.invoked", invoked(json!("call_1")));
    assert!(is_conflict(says(&plane, session, "tool.invoked", invoked(json!("call_1")))));
    assert!(is_conflict(says(&plane, session, "tool.completed", done("look.up", json!("call_2")))));
    assert!(is_conflict(says(&plane, session, "tool.completed", done("another", json!("call_1")))));
    assert!(is_conflict(says(&plane, session, "session.completed", json!({ "summary_normal": "done" }))));
    say(&mut plane, session, "tool.completed", done("look.up", json!("call_1")));
    assert!(is_conflict(says(&plane, session, "tool.completed", done("look.up", json!("call_1")))));
    say(&mut plane, session, "tool.invoked", invoked(Value::Null));
    say(&mut plane, session, "tool.completed", done("look.up", Value::Null));
    say(&mut plane, session, "session.completed", json!({ "summary_normal": "done" }));
    hear(&plane);
}

/// AAEP-6.1-08
#[test]
fn an_irreversible_tool_is_announced_by_the_service_only_after_its_approval_is_claimed() {
    let mut document = crate::decision_world::document();
    document.actions[1].reversibility = Some(countersign_protocol::aaep::event::Reversibility::Irreversible);
    let mut plane = Plane::with(document);
    let session = session(&mut plane);
    let invoked = |tool: &str, irreversible: Value| json!({ "tool": tool, "summary_normal": "now", "tool_call_id": "call_1", "irreversible": irreversible });
    assert!(is_conflict(says(&plane, session, "tool.invoked", invoked("look.up", json!(true)))));
    assert!(is_conflict(says(&plane, session, "tool.invoked", invoked("money.pay", Value::Null))));
    assert!(is_conflict(says(&plane, session, "tool.invoked", invoked("money.pay", json!(false)))));
    assert!(is_conflict(says(&plane, session, "tool.invoked", invoked("file.move", Value::Null))));

    let question = asked(&mut plane, Ask::of("money.pay").within(session));
    let step = plane.answer(question.key, answer(BOB, reply(YesNo::Accept), NOW), NOW).unwrap();
    plane.commit(step);
    let step = plane.claim(question.key, claim(question.digest), true, NOW).unwrap();
    let call_id = plane.commit(step).call_id;
    let said = json!({ "tool": "money.pay", "status": "success", "tool_call_id": call_id });
    assert!(is_conflict(says(&plane, session, "tool.completed", said)), "its outcome is reported, not said");
    hear(&plane);
}

#[test]
fn output_goes_on_where_it_stopped_and_ends_once() {
    let mut plane = Plane::new();
    let session = session(&mut plane);
    let chunk = |id: &str, position: i64, complete: bool| json!({ "chunk": "añ😀", "position": position, "complete": complete, "output_id": id });
    assert!(is_conflict(says(&plane, session, "output.streaming", chunk("out_1", 3, false))));
    say(&mut plane, session, "output.streaming", chunk("out_1", 0, false));
    for wrong in [0, 2, 4, 7] {
        assert!(is_conflict(says(&plane, session, "output.streaming", chunk("out_1", wrong, false))), "{wrong}");
    }
    say(&mut plane, session, "output.streaming", chunk("out_2", 0, false));
    say(&mut plane, session, "output.streaming", chunk("out_1", 3, true));
    assert!(is_conflict(says(&plane, session, "output.streaming", chunk("out_1", 6, true))));
    hear(&plane);
}

/// AAEP-6.1-01, AAEP-6.1-08
#[test]
fn while_a_question_waits_the_session_waits() {
    let mut plane = Plane::new();
    let session = session(&mut plane);
    asked(&mut plane, Ask::of("file.move").within(session));
    for to in ["calling_tool", "writing_output", "idle"] {
        assert!(is_conflict(says(&plane, session, "state.changed", state("awaiting_input", to))), "{to}");
    }
    assert!(is_conflict(says(&plane, session, "state.changed", state("thinking", "deciding"))));
    say(&mut plane, session, "progress.updated", json!({ "progress": { "percent": 3 } }));
    hear(&plane);
}

/// AAEP-6.8-01, AAEP-6.8-04
#[test]
fn going_back_to_thinking_withdraws_the_one_question_that_waits() {
    for back in ["thinking", "deciding"] {
        let mut plane = Plane::new();
        let session = session(&mut plane);
        let question = asked(&mut plane, Ask::of("file.move").within(session));
        let said = say(&mut plane, session, "state.changed", state("awaiting_input", back));
        assert_eq!(cancelled_for(&plane, &question), Some(CancelledFor::Withdrawn));
        let last = &plane.store.said.last().unwrap().event;
        assert_eq!((&last.envelope.event_id, beside(last, "settled")), (&said.event_id, Some("cancelled")));
        let late = plane.answer(question.key, answer(ALICE, reply(YesNo::Accept), NOW), NOW);
        assert!(late.is_err() && is_open(plane.store.session(session)));
        hear(&plane);
    }
}

#[test]
fn with_several_questions_the_withdrawn_one_is_named() {
    let mut plane = Plane::new();
    let session = session(&mut plane);
    let [one, other] = [0, 1].map(|number| asked(&mut plane, Ask { number, ..Ask::of("file.move").within(session) }));
    assert!(is_conflict(says(&plane, session, "state.changed", state("awaiting_input", "thinking"))));
    let step = plane.withdraw(one.key, NOW).unwrap();
    plane.commit(step);
    assert_eq!(cancelled_for(&plane, &one), Some(CancelledFor::Withdrawn));
    let late = plane.answer(one.key, answer(ALICE, reply(YesNo::Accept), NOW), NOW);
    assert!(late.is_err() && plane.store.decision(other.key).is_pending());
    assert!(plane.withdraw(one.key, NOW).is_err(), "only once");
    say(&mut plane, session, "state.changed", state("awaiting_input", "thinking"));
    assert_eq!(cancelled_for(&plane, &other), Some(CancelledFor::Withdrawn));
    hear(&plane);
}

/// AAEP-6.8-02, AAEP-6.8-04
#[test]
fn the_end_of_a_session_ends_its_questions_with_an_event_for_every_approver() {
    let mut plane = Plane::new();
    let session = session(&mut plane);
    let questions =
        ["file.move", "money.pay", "lamp.dim"].map(|action| asked(&mut plane, Ask::of(action).within(session)));
    say(&mut plane, session, "session.cancelled", json!({ "summary_normal": "stop", "cancelled_by": "user" }));
    for question in &questions {
        assert_eq!(cancelled_for(&plane, question), Some(CancelledFor::SessionOver));
        let late = plane.answer(question.key, answer(ALICE, reply(YesNo::Reject), NOW), NOW);
        assert!(late.is_err());
        plane.store.now = NOW.plus_secs(question.terms.timeout_s);
        let due = plane.due(question.key, at_deadline(), plane.store.now).unwrap();
        assert!(due.effects.is_empty(), "no default is applied later");
    }
    let to = &plane.store.said.last().unwrap().to;
    assert!(to.people.contains(&ALICE) && to.people.contains(&CAROL) && to.roles == [Role::Approver]);
    hear(&plane);
}

/// AAEP-6.8-03
#[test]
fn a_waiter_learns_that_and_why_a_question_was_withdrawn() {
    let mut plane = Plane::new();
    let session = session(&mut plane);
    let question = asked(&mut plane, Ask::of("file.move").within(session));
    let step = plane.withdraw(question.key, NOW).unwrap();
    plane.commit(step);
    let last = &plane.store.said.last().unwrap().event;
    let Payload::StateChanged(changed) = &last.payload else { panic!("{:?}", last.payload) };
    assert_eq!((changed.from_state.as_str(), changed.to_state.as_str()), ("awaiting_input", "thinking"));
    let told = changed.summaries.normal.as_deref().unwrap();
    assert!(told.contains("withdrawn") && told.contains("not needed"), "{told}");
    assert_eq!((beside(last, "decision_id"), beside(last, "settled")), (Some(question.id.as_str()), Some("cancelled")));
    hear(&plane);
}

#[test]
fn a_session_that_was_made_for_one_question_takes_no_other_and_nothing_that_an_agent_says() {
    let mut plane = Plane::new();
    let question = asked(&mut plane, Ask::of("file.move"));
    let session = question.asked_in;
    let second = plane.raise(&Ask { number: 1, ..Ask::of("file.move").within(session) }, NOW);
    assert!(matches!(second.map(drop), Err(Refusal::Conflict(_))));
    let invoked = json!({ "tool": "look.up", "summary_normal": "looking" });
    assert!(is_conflict(says(&plane, session, "tool.invoked", invoked)));
    let step = plane.answer(question.key, answer(ALICE, reply(YesNo::Reject), NOW), NOW).unwrap();
    plane.commit(step);
    assert!(!is_open(plane.store.session(session)));
    hear(&plane);
}

//! Invariants after a restart on the remaining data.

use super::story::{Acknowledged, Act, id, spending, unconfirmed};
use countersign_testkit::{Answer, bank::BankFixture, stored_evidence};
use serde_json::Value;

/// The lease of a claim (the usual terms of a project).
const LEASE_S: i64 = 60;

/// The state of a held call at the next start: its execution, and the bank's effects.
pub(super) type Found = (String, usize);

pub(super) async fn is_sound(fixture: &BankFixture, told: &Acknowledged) -> Found {
    let effects = fixture.bank.effects().len();
    let decision = match &told.decision {
        Some(decision) => decision.clone(),
        None => asked_again(fixture).await,
    };
    let looked = fixture.reads_decision(&fixture.agent, &decision).await;
    let state = looked["state"].as_str().unwrap();
    let execution = looked["execution"]["state"].as_str().unwrap_or("none");
    println!("{:?} in doubt: {state}, {execution}, {effects} effects", told.in_doubt);
    assert!(may_stand(told.in_doubt, state, execution), "{:?}: {state}, {execution}", told.in_doubt);
    assert!(effects <= 1);
    match execution {
        "none" => can_be_spent_once(fixture, told, &looked).await,
        "claimed" => becomes_unknown(fixture, &decision).await,
        _ => is_over(fixture, &decision).await,
    }
    assert!(execution == "none" || fixture.bank.effects().len() == effects, "nothing runs by itself");
    (execution.to_owned(), effects)
}

/// Every acknowledged act is there; the one in doubt has happened or not.
fn may_stand(in_doubt: Option<Act>, state: &str, execution: &str) -> bool {
    match in_doubt {
        Some(Act::Asks) => (state, execution) == ("pending", "none"),
        Some(Act::SaysYes) => ["pending", "accepted"].contains(&state) && execution == "none",
        Some(Act::Repeats | Act::Redeems) => {
            state == "accepted" && ["none", "claimed", "committed"].contains(&execution)
        }
        None => (state, execution) == ("accepted", "committed"),
    }
}

/// An agent without a response to the first request sends it again; alice has one question, raised before or now.
async fn asked_again(fixture: &BankFixture) -> Value {
    let held = fixture.sends(BankFixture::transfer()).await;
    assert_eq!(held.refusal(), unconfirmed(), "{}", held.text());
    assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 1);
    BankFixture::decision(&held)
}

/// Nothing has run, the request is still stored, and an approval of it allows one run.
async fn can_be_spent_once(fixture: &BankFixture, told: &Acknowledged, looked: &Value) {
    assert_eq!(fixture.bank.effects().len(), 0, "what ran cannot be claimable");
    assert_eq!(fixture.sealed_requests().await.len(), 1, "it may still be redeemed");
    if looked["state"] == "pending" {
        assert_eq!(fixture.sends(BankFixture::transfer().confirmed("true")).await.refusal(), unconfirmed());
        fixture.alice.accepts(&fixture.plane, looked).await;
        assert_eq!(fixture.bank.effects().len(), 0, "whoever waited for this yes is gone");
    }
    // The other way, so that each finds the killed node's data.
    let other = if told.in_doubt == Some(Act::Redeems) { Act::Repeats } else { Act::Redeems };
    fixture.sends(spending(other, looked)).await.expect(201);
    is_over(fixture, looked).await;
}

/// It ran once and is recorded so, its approval is claimed, and the stored request is gone.
async fn is_over(fixture: &BankFixture, decision: &Value) {
    assert_eq!((execution(fixture, decision).await.as_str(), fixture.bank.effects().len()), ("committed", 1));
    assert_eq!(fixture.sealed_requests().await.len(), 0);
    assert_eq!(recorded(fixture).await, (1, 1));
    assert_eq!(fixture.sends(spending(Act::Redeems, decision)).await.refusal(), (404, "not_found".into()));
    let again = fixture.sends(spending(Act::Repeats, decision)).await;
    assert_eq!(again.refusal(), unconfirmed());
    let anew = BankFixture::decision(&again);
    assert_ne!(id(&anew), id(decision));
    assert!(fixture.reads_decision(&fixture.agent, &anew).await["last_ran_at"].is_string());
    assert_eq!(fixture.bank.effects().len(), 1);
}

/// A claim of a dead node: it is not run again, not asked again, and unknown when its lease lapses.
pub(super) async fn becomes_unknown(fixture: &BankFixture, decision: &Value) {
    assert_eq!(fixture.sealed_requests().await.len(), 0, "a spent yes keeps nothing");
    assert_eq!(recorded(fixture).await, (1, 0), "begun, and no outcome made up");
    is_taken(fixture, decision).await;
    fixture.plane.advance_secs(LEASE_S - 1).await;
    assert_eq!(execution(fixture, decision).await, "claimed");
    fixture.plane.advance_secs(1).await;
    assert_eq!(execution(fixture, decision).await, "unknown");
    is_taken(fixture, decision).await;
    fixture.plane.advance_secs(600).await;
    fixture.plane.engine.run_maintenance().await.unwrap();
    assert_eq!(execution(fixture, decision).await, "unknown", "time does not tell");
    is_taken(fixture, decision).await;
}

/// The same request is refused with the id of the decision under which it may have run, and no person is asked.
async fn is_taken(fixture: &BankFixture, decision: &Value) {
    for sent in [BankFixture::transfer(), BankFixture::transfer().waits(1), spending(Act::Repeats, decision)] {
        is_refused_for(&fixture.sends(sent).await, decision);
    }
    assert_eq!(fixture.sends(spending(Act::Redeems, decision)).await.refusal(), (404, "not_found".into()));
    assert_eq!(fixture.alice.pending_questions(&fixture.plane).await, 0);
}

fn is_refused_for(answer: &Answer, decision: &Value) {
    assert_eq!(answer.refusal(), (409, "conflict".into()), "{}", answer.text());
    assert!(answer.json()["error_description"].as_str().unwrap().contains(id(decision)), "{}", answer.text());
}

pub(super) async fn execution(fixture: &BankFixture, decision: &Value) -> String {
    let looked = fixture.reads_decision(&fixture.agent, decision).await;
    looked["execution"]["state"].as_str().unwrap_or("none").to_owned()
}

/// The number of calls recorded as begun, and as executed.
pub(super) async fn recorded(fixture: &BankFixture) -> (usize, usize) {
    let entries = stored_evidence(&fixture.plane.place).await;
    let of = |event: &str| entries.iter().filter(|entry| entry.event_type == event).collect::<Vec<_>>();
    let carried_out = |leaf: &[u8]| {
        let leaf: Value = serde_json::from_slice(leaf).expect("a leaf of JSON");
        leaf["outcome"].as_str().expect("an outcome") == "201 Created"
    };
    (of("call_started").len(), of("call").into_iter().filter(|entry| carried_out(&entry.leaf)).count())
}

//! Kill -9 at every commit of an undo window's story: held, undone, sent. Sent at most once, and never after an undo; an
//! upstream is asked to undo a call at most once (AAP 14.1, R-5, R-6, R-21).

use super::{
    cases::MOST,
    process::Process,
    story::{exchange, id, sends},
};
use countersign_protocol::project::{ProjectDocument, RouteUndo};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest},
    faulty_store::{CrashPoint, Moment},
    on_both_stores, stored_evidence,
};
use http::Method;
use serde_json::Value;
use std::{collections::BTreeSet, time::Duration};

const MOMENTS: [Moment; 3] = [Moment::Before, Moment::During, Moment::After];

fn undoable(document: &mut ProjectDocument) {
    document.routes[4].undo = Some(RouteUndo::HOLD);
    document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(30);
}

/// The bank undoes a transfer for ten minutes.
fn reversible(document: &mut ProjectDocument) {
    let undo = serde_json::json!({ "by": "upstream", "request": { "path": "/transfers/{response.id}/reversal" } });
    document.routes[4].undo = Some(serde_json::from_value(undo).unwrap());
    document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(600);
}

on_both_stores! {
    /// AAP-14.1-05, R-5, R-21
    async fn killed_at_any_commit_while_a_call_is_being_held_it_is_held_or_approved_and_sent_once_at_most(kit) {
        for moment in MOMENTS {
            let mut found = BTreeSet::new();
            for commit in 1..MOST {
                let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
                let decision = scene.approved(BankFixture::transfer()).await;
                let answered = at_a_process(&scene, CrashPoint { commit, moment }, async |process| {
                    sends(&scene, process.addresses.gateway, BankFixture::transfer().confirmed("true")).await
                }).await;
                let scene = scene.restarted().await;
                let state = undo_state(&scene, &decision).await;
                assert!(["none", "open"].contains(&state.as_str()), "{moment:?} {commit}: {state}");
                assert!(answered.is_none() || state == "open", "{moment:?} {commit}: {state}");
                if state == "none" {
                    scene.sends(BankFixture::transfer().confirmed("true")).await.expect(202);
                }
                assert_eq!(scene.bank.effects().len(), 0);
                closes(&scene).await;
                assert_eq!(scene.bank.effects().len(), 1, "{moment:?} {commit}");
                found.insert(state);
                scene.plane.engine.store().close().await;
                if answered.is_some() {
                    break;
                }
            }
            assert!(found.contains("open"), "{moment:?}: {found:?}");
        }
    }

    /// AAP-14.1-08, R-21
    async fn killed_at_any_commit_of_an_undo_it_is_undone_or_sent_and_an_acknowledged_undo_is_never_sent(kit) {
        for moment in MOMENTS {
            let mut found = BTreeSet::new();
            for commit in 1..MOST {
                let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
                let told = held(&scene).await;
                let answered = at_a_process(&scene, CrashPoint { commit, moment }, async |process| {
                    undoes_at(&scene, process, &told).await
                }).await;
                assert!(answered.as_ref().is_none_or(|status| *status == 200), "{answered:?}");
                let scene = scene.restarted().await;
                let state = undo_state(&scene, &told).await;
                assert!(answered.is_none() || state == "undone", "{moment:?} {commit}: {state}");
                closes(&scene).await;
                let effects = usize::from(state == "open");
                assert_eq!(scene.bank.effects().len(), effects, "{moment:?} {commit}: {state}");
                found.insert(state);
                scene.plane.engine.store().close().await;
                if answered.is_some() {
                    break;
                }
            }
            assert!(found.contains("undone"), "{moment:?}: {found:?}");
        }
    }

    /// AAP-14.1-05, R-5, R-6, R-35
    async fn killed_at_any_commit_while_a_held_call_is_being_sent_it_is_sent_once_at_most_and_not_undone(kit) {
        let (mut found, mut unsent) = (BTreeSet::new(), BTreeSet::new());
        for moment in MOMENTS {
            for commit in 1..MOST {
                let (scene, _folder) = BankFixture::lasting(kit, undoable).await;
                let told = held(&scene).await;
                scene.plane.advance_without_settling(30).await;
                let sent = at_a_process(&scene, CrashPoint { commit, moment }, async |process| {
                    is_sent(&scene, process).await
                }).await;
                let begun = was_begun(&scene).await;
                // Until another node is in service.
                scene.plane.advance_without_settling(2).await;
                let scene = scene.restarted().await;
                let execution = execution(&scene, &told).await;
                let effects = scene.bank.effects().len();
                assert!(effects <= 1 && (execution != "none" || effects == 0), "{moment:?} {commit}: {execution}, {effects}");
                assert_eq!(undo(&scene, &told).await, 409, "{moment:?} {commit}: the window has closed");
                closes(&scene).await;
                let after = scene.bank.effects().len();
                match execution.as_str() {
                    // A durable attempt shows that the close was watched, so the next one sends it. Without one nobody knows.
                    "none" => {
                        assert_eq!(after, usize::from(begun), "{moment:?} {commit}: {begun}");
                        unsent.insert(begun);
                    }
                    _ => assert_eq!(after, effects, "{moment:?} {commit}: nothing runs by itself"),
                }
                found.insert((execution, effects));
                scene.plane.engine.store().close().await;
                if sent.is_some() {
                    break;
                }
            }
        }
        let of = |execution: &str, effects| (execution.to_owned(), effects);
        let all = [of("none", 0), of("claimed", 0), of("claimed", 1), of("committed", 1)];
        assert!(all.iter().all(|one| found.contains(one)), "{found:?}");
        assert_eq!(unsent, BTreeSet::from([false, true]), "killed before its first attempt, and within it");
    }

    /// AAP-14.1-08, R-6, R-21, R-34
    async fn killed_at_any_commit_of_an_undo_by_the_upstream_it_is_asked_once_at_most_and_the_state_is_true(kit) {
        let mut found = BTreeSet::new();
        for moment in MOMENTS {
            for commit in 1..MOST {
                let (scene, _folder) = BankFixture::lasting(kit, reversible).await;
                let told = sent(&scene).await;
                let answered = at_a_process(&scene, CrashPoint { commit, moment }, async |process| {
                    undoes_at(&scene, process, &told).await
                }).await;
                assert!(answered.as_ref().is_none_or(|status| *status == 200), "{answered:?}");
                let scene = scene.restarted().await;
                for _ in 0..4 {
                    scene.plane.advance_secs(10).await;
                    scene.plane.engine.calls().undo_due().await.unwrap();
                }
                let (state, asked) = (undo_state(&scene, &told).await, scene.bank.effects().len() - 1);
                let sound = match state.as_str() {
                    "undone" => asked == 1,
                    "unknown" => asked <= 1 && answered.is_none(),
                    "open" => asked == 0 && answered.is_none(),
                    _ => false,
                };
                assert!(sound, "{moment:?} {commit}: {state}, asked {asked} times, {answered:?}");
                let again = undo(&scene, &told).await;
                let wanted = if state == "unknown" { 409 } else { 200 };
                assert_eq!((again, scene.bank.effects().len() - 1), (wanted, asked.max(usize::from(wanted == 200))));
                found.insert(state);
                scene.plane.engine.store().close().await;
                if answered.is_some() {
                    break;
                }
            }
        }
        assert!(found.contains("undone") && found.contains("unknown"), "{found:?}");
    }
}

/// The answer of a process that is killed at this point, or at the end; none if it was killed before it answered.
async fn at_a_process<T>(
    scene: &BankFixture,
    crash: CrashPoint,
    act: impl AsyncFnOnce(&mut Process) -> Option<T>,
) -> Option<T> {
    scene.plane.engine.store().close().await;
    let mut process = Process::start(&scene.plane, Some(crash)).await?;
    let answered = act(&mut process).await;
    process.kill();
    answered
}

async fn held(scene: &BankFixture) -> Value {
    scene.approved(BankFixture::transfer()).await;
    scene.sends(BankFixture::transfer().confirmed("true")).await.expect(202).json()
}

/// A transfer that was carried out, with its decision and the way to undo it.
async fn sent(scene: &BankFixture) -> Value {
    scene.bank.set_write_response(r#"{"id":"t-1"}"#);
    let mut decision = scene.approved(BankFixture::transfer()).await;
    let answer = scene.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
    decision["undo_url"] = answer.header("x-agent-undo-url").unwrap().into();
    decision
}

fn path(scene: &BankFixture, told: &Value) -> String {
    told["undo_url"].as_str().unwrap().strip_prefix(scene.plane.service()).unwrap().to_owned()
}

async fn undo(scene: &BankFixture, told: &Value) -> u16 {
    scene.requests(&scene.agent, Method::POST, &path(scene, told)).await.status
}

/// The agent posts to the undo URL at the process.
async fn undoes_at(scene: &BankFixture, process: &Process, told: &Value) -> Option<u16> {
    let path = path(scene, told);
    let url = format!("{}{path}", scene.plane.service());
    for _ in 0..2 {
        let sent = GatewayRequest::new("POST", &path)
            .with("aap-version", "2.0")
            .with("authorization", &scene.agent.authorization())
            .with("dpop", &scene.agent.proof("POST", &url, scene.plane.now()).expect("a key"));
        let answer = exchange(process.addresses.plane, sent).await?;
        scene.agent.takes_nonce(answer.header("dpop-nonce"));
        if answer.status != 401 {
            return Some(answer.status);
        }
    }
    panic!("no nonce was good enough")
}

/// Waits until the process has recorded the outcome of the held call; none if it is killed before.
async fn is_sent(scene: &BankFixture, process: &mut Process) -> Option<()> {
    let mut every = tokio::time::interval(Duration::from_millis(20));
    while !process.is_gone() {
        every.tick().await;
        let entries = stored_evidence(&scene.plane.place).await;
        if entries.iter().any(|entry| entry.event_type == "execution_settled") {
            return Some(());
        }
    }
    None
}

/// Every later moment at which a node may send it.
async fn closes(scene: &BankFixture) {
    for _ in 0..12 {
        scene.plane.advance_secs(10).await;
        scene.plane.engine.calls().send_queued().await.unwrap();
    }
}

/// Whether the store has an attempt to send the held call.
async fn was_begun(scene: &BankFixture) -> bool {
    let rows = scene.stored_state().await;
    let queued = rows.iter().filter_map(|row| serde_json::from_str::<Value>(row).ok()?.get("queued").cloned());
    let queued: Vec<Value> = queued.filter(Value::is_object).collect();
    assert_eq!(queued.len(), 1, "one held call");
    queued[0]["due"].as_i64().unwrap() > queued[0]["closes_at"].as_i64().unwrap()
}

async fn undo_state(scene: &BankFixture, decision: &Value) -> String {
    let looked = scene.reads_decision(&scene.agent, decision).await;
    assert_eq!(looked["decision_id"], id(decision));
    looked["undo"]["state"].as_str().unwrap_or("none").to_owned()
}

async fn execution(scene: &BankFixture, decision: &Value) -> String {
    let looked = scene.reads_decision(&scene.agent, decision).await;
    looked["execution"]["state"].as_str().unwrap_or("none").to_owned()
}

use super::*;
use countersign_core::{
    records::{Record, UndoableCall, UndoableState},
    step::Effects,
};
use countersign_engine::store::{self, Outcome, UndoableCallsDue};
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Backend, Kit,
    bank::{BankFixture, GatewayRequest, Holder, Manner},
};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Notes are undone when their session is cancelled, transfers when somebody asks for it.
fn reversible(document: &mut ProjectDocument) {
    for route in &mut document.routes {
        match route.id.as_str() {
            "notes" => {
                let cancel = json!({ "method": "DELETE", "path": "/notes/{response.id}" });
                route.cancel = Some(serde_json::from_value(cancel).unwrap());
            }
            "transfers" => {
                let undo = json!({ "by": "upstream", "request": { "path": "/transfers/{response.id}/reversal" } });
                route.undo = Some(serde_json::from_value(undo).unwrap());
            }
            _ => {}
        }
    }
    document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(600);
}

/// Notes of another session, newest last.
async fn notes(scene: &BankFixture, agent: &Holder) {
    for id in ["n-1", "n-2"] {
        scene.bank.set_write_response(&json!({ "id": id }).to_string());
        let note = GatewayRequest::new("POST", "/notes").json(json!({ "text": id }).to_string());
        scene.sends_as(agent, note).await.expect(201);
    }
}

async fn transfer(scene: &BankFixture) -> UndoableCall {
    scene.bank.set_write_response(r#"{"id":"t-1"}"#);
    scene.approved(BankFixture::transfer()).await;
    scene.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
    let calls = UndoableCallsDue { by: scene.plane.now().plus_secs(600), limit: 2 };
    let [call] = store::find_all(&**scene.plane.engine.store(), calls).await.unwrap().try_into().expect("one call");
    call
}

/// As when the node that was asked for it is lost before it sends the request.
async fn wants_undo(scene: &BankFixture, call: UndoableCall) {
    let state = UndoableState::Wanted { at: scene.plane.now() };
    let wanted = Record::UndoableCall(UndoableCall { state, version: call.version + 1, ..call });
    let effects = Effects { puts: vec![wanted], ..Effects::default() };
    assert_eq!(scene.plane.engine.store().commit(effects).await, Outcome::Committed);
}

/// AAP-14.1-08, R-21
#[tokio::test]
async fn a_call_is_undone_while_a_rollback_waits_for_its_upstream() {
    let scene = Kit(Backend::Sqlite).bank_with(reversible).await;
    let (plane, other) = (&scene.plane, scene.another(|_| {}).await);
    let call = transfer(&scene).await;
    notes(&scene, &other).await;
    scene.bank.set_manner(Manner::Thoughtful);
    let operator_jwt = plane.acme().jwt(plane.service(), plane.now());
    let cancel = json!({ "session_id": other.session_id, "operator_jwt": operator_jwt });
    tokio::select! {
        told = plane.post("/agent/cancel", &cancel) => panic!("{}", told.text()),
        () = scene.bank.wait_for_requests(4) => {}
    }
    // The first request of the rollback counts as lost, and its second waits, too.
    plane.advance_without_settling(30).await;
    let chores = start_chores(&plane.engine);
    scene.bank.wait_for_requests(5).await;
    wants_undo(&scene, call).await;
    // The rollback waits ten seconds for an answer.
    let undone = tokio::time::timeout(Duration::from_secs(9), scene.bank.wait_for_requests(6)).await;
    chores.iter().for_each(JoinHandle::abort);
    undone.expect("a request before the rollback gives up its own");
    let sent: Vec<String> = scene.bank.effects().into_iter().skip(3).map(|got| got.target).collect();
    assert_eq!(sent, ["/notes/n-2", "/notes/n-1", "/transfers/t-1/reversal"]);
}

/// A panic in a round is an error like others.
#[tokio::test(start_paused = true)]
async fn messages_are_delivered_after_every_round_has_panicked() {
    let begun = Arc::new(AtomicUsize::new(0));
    let round = || {
        let n = begun.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert!(n >= WEBHOOK_ROUNDS, "a fault of the test");
            Ok(0)
        }
    };
    let _elapsed = tokio::time::timeout(Duration::from_secs(300), deliver_in_rounds(round)).await;
    assert!(begun.load(Ordering::SeqCst) > 2 * WEBHOOK_ROUNDS);
}

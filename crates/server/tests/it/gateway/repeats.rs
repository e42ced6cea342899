//! A write without approval and with an unknown outcome runs no second time, in any form of repeat.

use super::durable::{failing as failing_log, lasting};
use countersign_protocol::project::{ProjectDocument, Route};
use countersign_server::admin::{AdminRequest as _, ListUnsettledCalls, SettleCall};
use countersign_testkit::{
    Answer, Backend, Kit,
    bank::{BankFixture, GatewayListener, GatewayRequest, Manner},
    on_both_stores,
};
use serde_json::Value;

fn note_of(text: &str) -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(format!("{{\"text\":\"{text}\"}}"))
}

fn note() -> GatewayRequest {
    note_of("call the bank")
}

/// Longer than the stored prefix of a forwarded body; all of them begin alike.
fn long_note(end: &str) -> GatewayRequest {
    note_of(&format!("{}{end}", "x".repeat(300_000)))
}

fn changed_notes(change: impl Fn(&mut Route)) -> impl FnOnce(&mut ProjectDocument) {
    move |document| document.routes.iter_mut().filter(|route| route.id == "notes").for_each(change)
}

/// The call id in a response.
fn call_id(answer: &Answer) -> String {
    let id =
        answer.json()["call"]["call_id"].as_str().unwrap_or_else(|| panic!("no call: {}", answer.text())).to_owned();
    assert!(answer.text().contains(&format!("call {id}")), "its text names it too: {}", answer.text());
    id
}

fn refused_for(answer: &Answer, id: &str) {
    assert_eq!(answer.refusal(), (409, "conflict".into()), "{}", answer.text());
    assert_eq!(call_id(answer), id);
    assert!(answer.text().contains(&format!("countersign call settle {id}")), "{}", answer.text());
}

/// Sends a note that the bank executes without a response, and returns the call's id.
async fn lost(scene: &BankFixture, sent: GatewayRequest) -> String {
    scene.bank.set_manner(Manner::Vanishing);
    let answer = scene.sends(sent).await;
    scene.bank.set_manner(Manner::Obliging);
    assert_eq!(answer.refusal(), (502, "upstream_failed".into()), "{}", answer.text());
    call_id(&answer)
}

async fn settles(scene: &BankFixture, id: &str, ran: bool) {
    let reason = "It stands in the ledger".to_owned();
    let request = SettleCall { project: None, call_id: id.to_owned(), ran, reason };
    request.run(&scene.plane.engine).await.expect("settled");
}

/// The audit's entries of this type.
async fn entries(scene: &BankFixture, event_type: &str) -> Vec<Value> {
    let id = &scene.connected.delegation_id;
    let query = format!("/agent/audit?delegation_id={id}&event_type={event_type}&limit=200");
    scene.alice.get(&scene.plane, &query).await.expect(200).json()["entries"].as_array().unwrap().clone()
}

on_both_stores! {
    ///
    async fn a_repeat_of_a_write_whose_answer_was_lost_is_refused_with_the_calls_id_and_another_write_is_not(kit) {
        let scene = kit.bank().await;
        let id = lost(&scene, note()).await;
        refused_for(&scene.sends(note()).await, &id);
        refused_for(&scene.sends_as(&scene.another(|_| {}).await, note()).await, &id);
        assert_eq!(scene.bank.effects().len(), 1);
        scene.sends(note_of("something else")).await.expect(201);
        scene.sends(GatewayRequest { target: "/notes?to=me".into(), ..note() }).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 3);
        assert_eq!(entries(&scene, "call").await.iter().filter(|entry| entry["call_id"] == id.as_str()).count(), 1);
    }

    ///
    async fn an_upstreams_error_leaves_the_outcome_open_and_its_word_that_it_did_nothing_does_not(kit) {
        for status in [500, 503, 408, 425] {
            let scene = kit.bank().await;
            scene.bank.set_manner(Manner::Status(status));
            let first = scene.sends(note()).await.expect(status);
            scene.bank.set_manner(Manner::Obliging);
            let id = first.header("countersign-call").expect("the call is named").to_owned();
            refused_for(&scene.sends(note()).await, &id);
        }
        let scene = kit.bank_with(changed_notes(|route| route.no_effect_statuses = vec![503])).await;
        for manner in [Manner::Status(404), Manner::Status(503), Manner::NoEffect(500), Manner::Obliging] {
            scene.bank.set_manner(manner);
            assert_eq!(scene.sends(note()).await.header("countersign-call"), None);
        }
        scene.sends(note()).await.expect(201);
    }

    ///
    async fn long_bodies_are_distinguished_by_their_last_bytes(kit) {
        let scene = kit.bank().await;
        let id = lost(&scene, long_note("a")).await;
        refused_for(&scene.sends(long_note("a")).await, &id);
        scene.sends(long_note("b")).await.expect(201);
        scene.sends(long_note("longer")).await.expect(201);
        let bodies: Vec<Vec<u8>> = scene.bank.effects().into_iter().map(|got| got.body).collect();
        assert_eq!(bodies, [long_note("a").body, long_note("b").body, long_note("longer").body]);
    }

    ///
    async fn a_write_in_flight_is_not_sent_beside_itself(kit) {
        let scene = kit.bank().await;
        scene.bank.set_manner(Manner::Thoughtful);
        let (first, second) = tokio::join!(scene.sends(note()), async {
            scene.bank.next_arrival().await;
            let again = scene.sends(note()).await;
            scene.bank.release_response();
            again
        });
        first.expect(201);
        assert_eq!(second.refusal(), (409, "conflict".into()), "{}", second.text());
        scene.bank.set_manner(Manner::Obliging);
        scene.sends(note()).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 2);
    }

    ///
    async fn an_outcome_that_is_recorded_late_settles_the_write(kit) {
        let (scene, store) = failing_log(kit).await;
        scene.bank.set_manner(Manner::Thoughtful);
        let (answer, ()) = tokio::join!(scene.sends(note()), async {
            scene.bank.next_arrival().await;
            store.start();
            scene.bank.release_response();
        });
        assert_eq!(answer.status, 503, "{}", answer.text());
        let id = call_id(&answer);
        store.stop();
        scene.bank.set_manner(Manner::Obliging);
        refused_for(&scene.sends(note()).await, &id);
        scene.plane.engine.decisions().settle_due().await.unwrap();
        scene.sends(note()).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 2);
    }

    ///
    async fn an_administrator_settles_a_call_with_a_reason_and_its_repeats_are_let_through(kit) {
        let scene = kit.bank().await;
        let id = lost(&scene, note()).await;
        let listed = ListUnsettledCalls { project: None }.run(&scene.plane.engine).await.unwrap();
        assert_eq!(listed.iter().map(|call| call.call_id.as_str()).collect::<Vec<_>>(), [id.as_str()]);
        let nothing = SettleCall { project: None, call_id: id.clone(), ran: true, reason: " ".into() };
        assert!(nothing.run(&scene.plane.engine).await.unwrap_err().to_string().contains("say how you found out"));
        settles(&scene, &id, false).await;
        let settled = entries(&scene, "call_settled").await;
        let entry = &settled[0];
        assert_eq!((&entry["call_id"], &entry["outcome"]), (&id.as_str().into(), &"failed".into()), "{entry}");
        assert_eq!((&entry["reason"], &entry["by"]), (&"It stands in the ledger".into(), &"service".into()), "{entry}");
        scene.sends(note()).await.expect(201);
        assert!(ListUnsettledCalls { project: None }.run(&scene.plane.engine).await.unwrap().is_empty());
    }

    ///
    async fn an_outcome_that_contradicts_an_administrators_finding_stands_beside_it_as_a_conflict(kit) {
        let scene = kit.bank().await;
        scene.bank.set_manner(Manner::Thoughtful);
        let (answer, id) = tokio::join!(scene.sends(note_of("slow")), async {
            scene.bank.next_arrival().await;
            let listed = ListUnsettledCalls { project: None }.run(&scene.plane.engine).await.unwrap();
            settles(&scene, &listed[0].call_id, false).await;
            scene.bank.release_response();
            listed[0].call_id.clone()
        });
        answer.expect(201);
        let conflicts = entries(&scene, "call_conflict").await;
        assert_eq!(conflicts.len(), 1);
        let entry = &conflicts[0];
        assert_eq!((&entry["call_id"], &entry["outcome"]), (&id.as_str().into(), &"committed".into()), "{entry}");
    }

    ///
    async fn repeats_are_let_through_after_a_day_and_where_the_owner_calls_the_route_idempotent(kit) {
        let scene = kit.bank().await;
        let id = lost(&scene, note()).await;
        scene.plane.advance_secs(86_000).await;
        let later = scene.another(|_| {}).await;
        refused_for(&scene.sends_as(&later, note()).await, &id);
        scene.plane.advance_secs(401).await;
        scene.sends_as(&later, note()).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 2);

        let scene = kit.bank_with(changed_notes(|route| route.idempotent = Some(true))).await;
        scene.bank.set_manner(Manner::Vanishing);
        assert_eq!(scene.sends(note()).await.status, 502);
        scene.bank.set_manner(Manner::Obliging);
        scene.sends(note()).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 2);
    }

    ///
    async fn a_repeat_is_refused_after_a_restart(kit) {
        let (scene, _folder) = lasting(kit).await;
        let id = lost(&scene, note()).await;
        let BankFixture { plane, bank, alice, connected, agent, .. } = scene;
        let plane = plane.restart().await;
        let gateway = GatewayListener::open(&plane.engine, |_| {}).await;
        let scene = BankFixture { plane, bank, gateway, alice, connected, agent };
        refused_for(&scene.sends(note()).await, &id);
        assert_eq!(scene.bank.effects().len(), 1);
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_at_the_other_node_is_refused_and_of_two_at_once_one_is_sent() {
    let scene = Kit(Backend::Postgres).bank().await;
    let (engine, _router) = scene.plane.second_node().await;
    let other = GatewayListener::open(&engine, |_| {}).await;
    let id = lost(&scene, note()).await;
    refused_for(&scene.sends_at(other.address, &scene.agent, note()).await, &id);
    assert_eq!(scene.bank.effects().len(), 1);
    for round in 0..10 {
        let twice = note_of(&format!("round {round}"));
        let before = scene.bank.effects().len();
        scene.bank.set_manner(Manner::Status(500));
        let (here, there) =
            tokio::join!(scene.sends(twice.clone()), scene.sends_at(other.address, &scene.agent, twice.clone()));
        let mut told = [here.status, there.status];
        told.sort_unstable();
        assert_eq!(told, [409, 500], "{} {}", here.text(), there.text());
        assert_eq!(scene.bank.effects().len(), before);
    }
}

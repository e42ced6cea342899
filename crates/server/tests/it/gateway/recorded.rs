//! After the decision on a call, every exit is recorded in the audit and uses its proof, and no sent
//! request is reported as "nothing happened".

use super::{durable::failing as failing_log, held::*};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_engine::{ManualClock, Role, store::StoreLocation};
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Backend, Kit,
    bank::{BankFixture, GatewayRequest, Got, Manner},
    on_both_stores, postgres,
};
use serde_json::json;

/// A small body limit, and an unreachable upstream.
fn narrow(document: &mut ProjectDocument) {
    for (id, speculative) in [("searches", true), ("lookups", false)] {
        let route = json!({ "id": id, "method": "POST", "path": format!("/{id}"), "action": "accounts.read",
                            "writes": false, "speculative": speculative });
        document.routes.push(serde_json::from_value(route).unwrap());
    }
    document.routes.iter_mut().for_each(|route| route.max_body_bytes = Some(200));
    let gone = json!({ "id": "gone", "url": "http://127.0.0.1:1" });
    document.upstreams.push(serde_json::from_value(gone).unwrap());
    document
        .routes
        .iter_mut()
        .filter(|route| route.id == "orders")
        .for_each(|route| route.upstream = Some("gone".into()));
    document
        .routes
        .iter_mut()
        .filter(|route| route.id == "statement")
        .for_each(|route| route.upstream = Some("gone".into()));
}

/// Calls that pass the decision and are refused by a later step.
fn early_exits() -> Vec<(&'static str, GatewayRequest)> {
    let long = format!("{{\"note\":\"{}\"}}", "x".repeat(300));
    vec![
        ("a speculative read whose body is too long", GatewayRequest::new("POST", "/searches").json(long.clone())),
        ("a read whose body is too long", GatewayRequest::new("POST", "/lookups").json(long.clone())),
        ("a write whose body is too long", GatewayRequest::new("POST", "/notes").json(long.clone())),
        ("a held call whose body is too long", GatewayRequest::new("POST", "/transfers").json(long)),
        ("a held call that cannot be read", GatewayRequest::new("POST", "/transfers").json("{\"a\":1,\"a\":2}")),
        ("a held call that nobody approved", BankFixture::transfer()),
        ("a token of nobody", BankFixture::transfer().confirmed("dec_00000000000000000000000000000000.cft_0")),
        ("no WebSocket where one is expected", GatewayRequest::new("GET", "/ticker")),
        ("an upgrade where none is expected", GatewayRequest::new("GET", "/accounts").with("upgrade", "websocket")),
        ("a read whose upstream is away", GatewayRequest::new("GET", "/statements/1")),
        ("a held call whose route wants the agent's word", GatewayRequest::new("POST", "/pings").json("{}")),
    ]
}

on_both_stores! {
    ///
    async fn every_refusal_after_the_decision_has_one_entry_and_uses_its_proof_up(kit) {
        let scene = kit.bank_with(narrow).await;
        for (what, sent) in early_exits() {
            let before = scene.calls().await.len();
            let dressed = scene.authenticated(&scene.agent, sent);
            let refused = scene.sends_raw(dressed.clone()).await;
            assert!(refused.status >= 400, "{what}: {}", refused.text());
            assert_eq!(scene.calls().await.len(), before + 1, "{what}: {}", refused.text());
            let again = scene.sends_raw(dressed).await;
            assert_eq!(again.code(), "dpop_replayed", "{what}: {}", again.text());
            assert_eq!(scene.calls().await.len(), before + 1, "{what}, replayed");
        }
        assert!(scene.bank.got().is_empty());
    }

    ///
    async fn redeeming_another_agents_request_has_one_entry_and_uses_its_proof_up(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        let alone = scene.plane.person("bob").await;
        let theirs = scene.plane.connect(&alone, scene.plane.acme(), &["bank.pay"]).await;
        let other = scene.plane.holder(&theirs, |_| {}).await;
        let path = format!("/.countersign/decisions/{}/redeem", id(&decision));
        let sent = scene.authenticated(&other, GatewayRequest::new("POST", &path));
        assert_eq!(scene.sends_raw(sent.clone()).await.status, 404);
        assert_eq!(scene.sends_raw(sent).await.code(), "dpop_replayed");
    }
}

on_both_stores! {
    ///
    async fn a_sent_call_is_never_reported_as_without_effect_and_its_outcome_is_recorded_when_the_store_returns(kit) {
        let (scene, failing) = failing_log(kit).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.bank.set_manner(Manner::Thoughtful);
        for (what, sent) in [("approved", confirmed_transfer()), ("not held", GatewayRequest::new("POST", "/notes").json("{}"))] {
            let away = async {
                scene.bank.next_arrival().await;
                failing.start();
                scene.bank.release_response();
            };
            let (answer, ()) = tokio::join!(scene.sends(sent), away);
            assert_eq!(answer.status, 503, "{what}");
            let told = answer.text();
            assert!(told.contains("may have been carried out") && !told.contains("nothing was"), "{what}: {told}");
            failing.stop();
            if what == "approved" {
                assert_eq!(answer.json()["decision"]["decision_id"], decision["decision_id"], "{told}");
            }
        }
        assert_eq!(execution(&scene, &decision).await, "claimed");
        scene.plane.engine.decisions().settle_due().await.unwrap();
        assert_eq!(execution(&scene, &decision).await, "committed");
        let outcomes: Vec<_> = scene.calls().await.iter().map(|call| call["outcome"].clone()).collect();
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == "201 Created").count(), 2, "{outcomes:?}");
        assert_eq!(scene.bank.effects().len(), 2);
    }

    ///
    async fn a_node_that_stood_still_until_its_claim_had_lapsed_sends_nothing(kit) {
        let (scene, store) = failing_log(kit).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        store.stall_after_claim();
        let standing_still = async {
            store.wait_for_stall().await;
            scene.plane.advance_without_settling(61).await;
            store.resume();
        };
        let (answer, ()) = tokio::join!(scene.sends(confirmed_transfer()), standing_still);
        assert_eq!(answer.refusal(), (502, "upstream_failed".into()), "{}", answer.text());
        assert!(answer.text().contains("nothing was sent"), "{}", answer.text());
        assert!(scene.bank.got().is_empty());
        assert_eq!(execution(&scene, &decision).await, "failed");
    }

    ///
    async fn setting_the_clock_back_does_not_lengthen_a_lease(kit) {
        let (scene, store) = failing_log(kit).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        store.stall_after_claim();
        let standing_still = async {
            store.wait_for_stall().await;
            scene.plane.clock.advance_secs(61);
            scene.plane.clock.leap_millis(-61_000);
            store.resume();
        };
        let (answer, ()) = tokio::join!(scene.sends(confirmed_transfer()), standing_still);
        scene.plane.clock.leap_millis(61_000);
        assert!(answer.text().contains("nothing was sent"), "{}", answer.text());
        assert!(scene.bank.got().is_empty());
        assert_eq!(execution(&scene, &decision).await, "failed");
    }

    ///
    async fn each_claim_of_the_same_action_tells_the_upstream_a_higher_fence_number(kit) {
        let scene = kit.bank().await;
        for _ in 0..2 {
            scene.approved(BankFixture::transfer()).await;
            scene.sends(confirmed_transfer()).await.expect(201);
        }
        scene.approved(BankFixture::transfer_of("1.00")).await;
        scene.sends(BankFixture::transfer_of("1.00").confirmed("true")).await.expect(201);
        let fence = |got: &Got| {
            let jwt = got.headers["countersign-identity"].to_str().unwrap().to_owned();
            let claims = URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1).unwrap()).unwrap();
            serde_json::from_slice::<serde_json::Value>(&claims).unwrap()["fence"].clone()
        };
        let now = scene.plane.engine.clock().now().secs();
        assert_eq!(scene.bank.got().iter().map(fence).collect::<Vec<_>>(), [json!(now), json!(now + 1), json!(now)]);
    }

    ///
    async fn an_outcome_that_contradicts_a_persons_finding_stands_beside_it_as_a_conflict(kit) {
        let scene = kit.bank().await;
        let ada = scene.plane.person_in("bank", "ada", &[Role::Admin]).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.bank.set_manner(Manner::Thoughtful);
        let meanwhile = async {
            scene.bank.next_arrival().await;
            scene.plane.advance_secs(61).await;
            assert_eq!(execution(&scene, &decision).await, "unknown");
            reconciles(&scene, &ada, &decision, "no").await.expect(303);
            scene.bank.release_response();
        };
        let (answer, ()) = tokio::join!(scene.sends(confirmed_transfer()), meanwhile);
        assert_eq!(answer.status, 201, "{}", answer.text());
        let looked = scene.reads_decision(&scene.agent, &decision).await["execution"].clone();
        assert_eq!((&looked["state"], &looked["conflict"]), (&json!("failed"), &json!(true)), "{looked}");
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_another_node_took_for_lapsed_is_read_again_and_nothing_is_sent() {
    let looked = stands_still_while_another_node_settles(None).await;
    assert_eq!((&looked["state"], &looked["conflict"]), (&json!("failed"), &json!(null)), "{looked}");
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stood_still_while_a_person_found_out_sends_nothing_and_contradicts_nobody() {
    let looked = stands_still_while_another_node_settles(Some("no")).await;
    assert_eq!((&looked["state"], &looked["conflict"]), (&json!("failed"), &json!(null)), "{looked}");
}

/// A node claims and pauses, by its own clocks for a moment only; another one takes the claim for lapsed, and an
/// admin records there whether it ran. Returns the final execution; nothing was sent.
async fn stands_still_while_another_node_settles(ran: Option<&str>) -> serde_json::Value {
    let (scene, store) = failing_log(Kit(Backend::Postgres)).await;
    let ada = scene.plane.person_in("bank", "ada", &[Role::Admin]).await;
    let ahead = ManualClock::at(scene.plane.now());
    let (other, router) = scene.plane.second_node_by(&ahead).await;
    let decision = scene.approved(BankFixture::transfer()).await;
    store.stall_after_claim();
    let standing_still = async {
        store.wait_for_stall().await;
        ahead.advance_secs(61);
        let StoreLocation::Postgres(place) = &scene.plane.place else { panic!("a shared database") };
        postgres::set_clock(&place.url, ahead.now().0).await;
        other.decisions().settle_due().await.unwrap();
        if let Some(ran) = ran {
            reconciles_at(&router, &scene, &ada, &decision, ran).await.expect(303);
        }
        scene.plane.clock.advance_millis(300);
        store.resume();
    };
    let (answer, ()) = tokio::join!(scene.sends(confirmed_transfer()), standing_still);
    assert!(answer.text().contains("nothing was sent"), "{}", answer.text());
    assert!(scene.bank.got().is_empty());
    scene.reads_decision(&scene.agent, &decision).await["execution"].clone()
}

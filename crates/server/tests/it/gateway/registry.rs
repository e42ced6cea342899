//! Trust tier 4: registries of model providers, served under real TLS (AAP 2.2, 4.2, 8.2; C-100).

use super::proofs::*;
use crate::register::support::{told, with};
use axum::body::Body;
use countersign_jose::SigningKey;
use countersign_protocol::{
    aap::registry,
    domain::Domain,
    hash::Digest,
    project::{ProjectDocument, RouteUndo},
};
use countersign_testkit::{
    Answer, Kit, Setup, agent_request,
    bank::{Bank, BankFixture, GatewayRequest, Manner, SCOPES},
    deadline::{until, within_deadline},
    on_both_stores, on_sqlite,
};
use http::Method;
use serde_json::{Value, json};

const PROVIDER: &str = "openai.test";
/// Named by the operator and not trusted by the service.
const FRIEND: &str = "friend.test";

/// A bank whose project became as strict as `change` after alice connected acme's agent.
async fn strict(kit: Kit, change: impl FnOnce(&mut ProjectDocument)) -> BankFixture {
    let bank = Bank::open().await;
    let setup = Setup::bank(&bank, without_nonces);
    let setup = Setup { operators: vec!["acme.test", PROVIDER, FRIEND, "second.test"], ..setup };
    let plane = kit.plane_with(setup).await;
    let mut identity = plane.acme().identity();
    identity["model_providers"] = json!([FRIEND, PROVIDER, "second.test"]);
    identity["provider_registry_urls"] = json!([format!("https://{FRIEND}{}", registry::PATH)]);
    plane.acme().publish_identity(&identity);
    let scene = BankFixture::on(plane, bank).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    publishes(&scene, FRIEND, &json!([{ "domain": "acme.test", "verified": "2025-03-15", "standing": "good" }]));
    let mut document = (*scene.plane.at().await.project.document).clone();
    change(&mut document);
    scene.plane.engine.apply_project(document, "test").await.unwrap();
    scene
}

fn tier_four(document: &mut ProjectDocument) {
    document.minimum_tier = 4;
    document.trusted_providers = vec![Domain::parse(PROVIDER).unwrap()];
}

fn publishes(scene: &BankFixture, provider: &str, operators: &Value) {
    let registry = json!({ "published": "2026-06-01T00:00:00Z", "operators": operators });
    scene.plane.operator(provider).host.set_document(registry::PATH, registry.to_string());
}

fn lists(scene: &BankFixture, standing: &str) {
    publishes(scene, PROVIDER, &json!([{ "domain": "acme.test", "verified": "2025-03-15", "standing": standing }]));
}

/// The number of fetches of a provider's registry.
fn look_ups(scene: &BankFixture, provider: &str) -> usize {
    scene.plane.operator(provider).host.fetches().iter().filter(|path| *path == registry::PATH).count()
}

fn consented(scene: &BankFixture) -> Value {
    let acme = scene.plane.acme();
    let mut claims = scene.plane.receipt_claims(acme, "alice", &scene.connected, SCOPES);
    claims["session_id"] = json!(format!("sess_{}", &Digest::of(fresh().as_bytes()).hex()[..32]));
    with(scene.plane.register_body(acme, &scene.connected), "consent_receipt", json!(acme.sign_receipt(&claims)))
}

async fn register(scene: &BankFixture) -> Answer {
    register_with(scene, &consented(scene)).await
}

async fn register_with(scene: &BankFixture, body: &Value) -> Answer {
    let key = SigningKey::generate(None).unwrap();
    let url = format!("{}/agent/register", scene.plane.service());
    let claims = json!({ "jti": fresh(), "htm": "POST", "htu": url, "iat": scene.plane.now().secs() });
    let proof = key.sign_with_header(&header_of(&key), &claims).unwrap();
    let request = agent_request(Method::POST, "/agent/register").header("dpop", proof);
    scene.plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn entries(scene: &BankFixture, event: &str) -> Vec<Value> {
    let path = format!("/agent/audit?delegation_id={}&event_type={event}", scene.connected.delegation_id);
    scene.alice.get(&scene.plane, &path).await.expect(200).json()["entries"].as_array().unwrap().clone()
}

fn read() -> GatewayRequest {
    GatewayRequest::new("GET", "/accounts")
}

/// A transfer of tier 4 in its undo window, which closes in half an hour, when the standing read for it is too old.
async fn held_in_its_window(kit: Kit) -> (BankFixture, Value) {
    let mut scene = strict(kit, |document| {
        document.trusted_providers = vec![Domain::parse(PROVIDER).unwrap()];
        document.routes[4].minimum_tier = Some(4);
        document.routes[4].undo = Some(RouteUndo::HOLD);
        document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(1801);
    })
    .await;
    lists(&scene, "good");
    let first = scene.with_receipt(|_| {}).await;
    BankFixture::decision(&scene.sends_as(&first, BankFixture::transfer_of("1.00")).await);
    scene.plane.advance_secs(1800).await;
    let expires = scene.plane.now().secs() + 7200;
    scene.agent = scene.with_receipt(|claims| claims["exp"] = expires.into()).await;
    let asked = BankFixture::decision(&scene.sends(BankFixture::transfer()).await);
    scene.alice.accepts(&scene.plane, &asked).await;
    let told = scene.sends(BankFixture::transfer().confirmed("true")).await.expect(202).json();
    (scene, told)
}

on_both_stores! {
    /// AAP-2-05, AAP-4.2-02, AAP-4.2-03, AAP-8.2-04
    async fn at_tier_four_only_an_operator_in_good_standing_with_a_trusted_provider_registers_and_calls(kit) {
        let scene = strict(kit, tier_four).await;
        assert_eq!(register(&scene).await.refusal(), told(403, "tier_not_met"), "no registry is published");
        scene.plane.advance_secs(61).await;
        lists(&scene, "good");
        register(&scene).await.expect(200);
        scene.plane.advance_secs(1800).await;
        let agent = scene.with_receipt(|_| {}).await;
        scene.sends_as(&agent, read()).await.expect(200);
        let before = look_ups(&scene, PROVIDER);
        register(&scene).await.expect(200);
        scene.sends_as(&agent, read()).await.expect(200);
        assert_eq!(look_ups(&scene, PROVIDER), before, "one look-up an hour");

        // Suspended: refused within the hour, the live session too.
        lists(&scene, "suspended");
        scene.plane.advance_secs(1801).await;
        assert_eq!(scene.sends_as(&agent, read()).await.refusal(), told(403, "operator_suspended"));
        assert_eq!(register(&scene).await.refusal(), told(403, "operator_suspended"));
        lists(&scene, "revoked");
        scene.plane.advance_secs(3601).await;
        assert_eq!(register(&scene).await.refusal(), told(403, "operator_suspended"));
        publishes(&scene, PROVIDER, &json!([]));
        scene.plane.advance_secs(3601).await;
        assert_eq!(register(&scene).await.refusal(), told(403, "tier_not_met"));
        lists(&scene, "probably fine");
        scene.plane.advance_secs(3601).await;
        assert_eq!(register(&scene).await.refusal(), told(403, "tier_not_met"));
        lists(&scene, "good");
        scene.plane.advance_secs(3601).await;
        register(&scene).await.expect(200);
    }
}

on_sqlite! {
    /// AAP-4.2-05
    async fn an_operator_cannot_choose_its_own_registry(kit) {
        let scene = strict(kit, tier_four).await;
        publishes(&scene, PROVIDER, &json!([]));
        assert_eq!(register(&scene).await.refusal(), told(403, "tier_not_met"));
        assert_eq!(look_ups(&scene, FRIEND), 0, "neither its URL nor its provider is asked");
        assert_eq!(look_ups(&scene, PROVIDER), 1);
    }

    /// AAP-4.2-05
    async fn a_trusted_provider_that_the_operator_does_not_name_says_nothing_about_it(kit) {
        let scene = strict(kit, |document| {
            document.minimum_tier = 4;
            document.trusted_providers = vec![Domain::parse("stranger.test").unwrap()];
        })
        .await;
        let fetched = scene.plane.asked.urls().len();
        let refused = register(&scene).await;
        assert_eq!(refused.refusal(), told(403, "tier_not_met"));
        assert!(refused.json()["hint"].as_str().unwrap().contains("model_providers"), "{}", refused.json());
        assert_eq!(scene.plane.asked.urls().len(), fetched);
    }

    /// AAP-4.2-02, AAP-4.2-04
    async fn below_tier_four_no_registry_is_fetched_and_none_is_needed(kit) {
        for tier in 1..=3 {
            let scene = strict(kit, |document| {
                tier_four(document);
                document.minimum_tier = tier;
            })
            .await;
            scene.plane.operator(PROVIDER).host.go_offline();
            register(&scene).await.expect(200);
            let agent = scene.with_receipt(|_| {}).await;
            scene.sends_as(&agent, read()).await.expect(200);
            assert_eq!(look_ups(&scene, PROVIDER), 0, "{tier}");
        }
    }

    /// AAP-2-05, AAP-4.2-03
    async fn what_cannot_be_read_lists_nobody_and_a_suspension_anywhere_counts(kit) {
        let scene = strict(kit, |document| {
            tier_four(document);
            document.trusted_providers.push(Domain::parse("second.test").unwrap());
        })
        .await;
        let provider = &scene.plane.operator(PROVIDER).host;
        for malformed in ["<html>", "{}", r#"{"operators":{"acme.test":"good"}}"#] {
            provider.set_document(registry::PATH, malformed);
            assert_eq!(register(&scene).await.refusal(), told(403, "tier_not_met"), "{malformed}");
            scene.plane.advance_secs(61).await;
        }
        provider.go_offline();
        publishes(&scene, "second.test", &json!([{ "domain": "acme.test", "standing": "good" }]));
        assert_eq!(register(&scene).await.refusal(), told(403, "tier_not_met"), "the other one may know better");
        provider.recover();
        publishes(&scene, PROVIDER, &json!([]));
        scene.plane.advance_secs(61).await;
        register(&scene).await.expect(200);
        lists(&scene, "suspended");
        scene.plane.advance_secs(3601).await;
        assert_eq!(register(&scene).await.refusal(), told(403, "operator_suspended"));
        // Known until it was read otherwise, however long that takes.
        provider.go_offline();
        for _ in 0..3 {
            scene.plane.advance_secs(3601).await;
            assert_eq!(register(&scene).await.refusal(), told(403, "operator_suspended"));
        }
        provider.recover();
        lists(&scene, "good");
        scene.plane.advance_secs(61).await;
        register(&scene).await.expect(200);
    }

    /// AAP-4.2-03, AAP-8.2-04
    async fn a_provider_that_is_not_trusted_any_more_counts_no_longer_in_live_sessions(kit) {
        let scene = strict(kit, tier_four).await;
        lists(&scene, "good");
        let agent = scene.with_receipt(|_| {}).await;
        scene.sends_as(&agent, read()).await.expect(200);
        publishes(&scene, "second.test", &json!([]));
        let mut document = (*scene.plane.at().await.project.document).clone();
        document.trusted_providers = vec![Domain::parse("second.test").unwrap()];
        scene.plane.engine.apply_project(document.clone(), "test").await.unwrap();
        assert_eq!(scene.sends_as(&agent, read()).await.refusal(), told(403, "tier_not_met"));
        document.trusted_providers = vec![Domain::parse(PROVIDER).unwrap()];
        scene.plane.engine.apply_project(document, "test").await.unwrap();
        scene.sends_as(&agent, read()).await.expect(200);
    }

    /// R-5, AAP-8.2-04
    async fn a_held_call_of_tier_four_is_sent_only_while_its_operator_is_in_good_standing(kit) {
        for (standing, sent) in [("good", 1), ("suspended", 0)] {
            let (scene, told) = held_in_its_window(kit).await;
            lists(&scene, standing);
            scene.plane.advance_secs(1801).await;
            scene.plane.engine.calls().send_queued().await.unwrap();
            assert_eq!(scene.bank.effects().len(), sent, "{standing}");
            let state = scene.reads_decision(&scene.agent, &told).await["undo"]["state"].clone();
            assert_eq!(state, if sent == 1 { "closed" } else { "not_sent" });
        }
        // A registry that cannot be read now ends nothing: another attempt, or another node, may read it.
        let (scene, told) = held_in_its_window(kit).await;
        scene.plane.operator(PROVIDER).host.go_offline();
        scene.plane.advance_secs(1801).await;
        scene.plane.engine.calls().send_queued().await.unwrap();
        assert_eq!(scene.bank.got().len(), 0);
        assert_eq!(scene.reads_decision(&scene.agent, &told).await["undo"]["state"], "closed");
        scene.plane.advance_secs(60).await;
        assert_eq!(scene.reads_decision(&scene.agent, &told).await["undo"]["state"], "not_sent");
    }

    /// AAP-2-05
    async fn a_live_session_ends_when_no_registry_can_be_read_any_more(kit) {
        let scene = strict(kit, tier_four).await;
        lists(&scene, "good");
        register(&scene).await.expect(200);
        scene.plane.advance_secs(1800).await;
        let agent = scene.with_receipt(|_| {}).await;
        scene.plane.operator(PROVIDER).host.go_offline();
        scene.plane.advance_secs(1799).await;
        scene.sends_as(&agent, read()).await.expect(200);
        scene.plane.advance_secs(2).await;
        assert_eq!(scene.sends_as(&agent, read()).await.refusal(), told(403, "tier_not_met"));
        assert_eq!(scene.bank.got().len(), 1);
    }

    /// AAP-2-05
    async fn a_route_of_tier_four_looks_the_operator_up_and_the_others_do_not(kit) {
        let scene = strict(kit, |document| {
            document.trusted_providers = vec![Domain::parse(PROVIDER).unwrap()];
            document.routes.iter_mut().find(|route| route.id == "notes").unwrap().minimum_tier = Some(4);
        })
        .await;
        let note = || GatewayRequest::new("POST", "/notes").json(r#"{"text":"hello"}"#);
        publishes(&scene, PROVIDER, &json!([]));
        let agent = scene.with_receipt(|_| {}).await;
        scene.sends_as(&agent, read()).await.expect(200);
        assert_eq!(look_ups(&scene, PROVIDER), 0);
        assert_eq!(scene.sends_as(&agent, note()).await.refusal(), told(403, "tier_not_met"));
        lists(&scene, "good");
        scene.plane.advance_secs(1801).await;
        let again = scene.with_receipt(|_| {}).await;
        scene.plane.advance_secs(1801).await;
        scene.sends_as(&again, note()).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
    }

    /// R-20, AAP-8.2-04
    async fn a_stream_of_tier_four_ends_when_a_provider_drops_its_operator(kit) {
        let scene = strict(kit, |document| {
            document.trusted_providers = vec![Domain::parse(PROVIDER).unwrap()];
            document.routes.iter_mut().find(|route| route.id == "prices").unwrap().minimum_tier = Some(4);
        })
        .await;
        lists(&scene, "good");
        let prices = || GatewayRequest::new("GET", "/prices");
        let first = scene.with_receipt(|_| {}).await;
        scene.sends_as(&first, prices()).await.expect(200);
        scene.plane.advance_secs(1800).await;
        let agent = scene.with_receipt(|_| {}).await;
        scene.bank.set_manner(Manner::Events);
        let stream = scene.opens_as(&agent, prices()).await.opened(200);
        lists(&scene, "revoked");
        scene.plane.advance_secs(1801).await;
        within_deadline("the end of the stream", stream.read_to_end()).await;
        until("the record of the stream's end", async || {
            entries(&scene, "stream_closed").await.iter().any(|entry| entry["outcome"] == "operator_suspended")
        })
        .await;
    }

    /// AAP-2-05
    async fn an_operator_that_could_not_register_asks_no_person(kit) {
        let scene = strict(kit, tier_four).await;
        publishes(&scene, PROVIDER, &json!([]));
        let body = scene.plane.connect_body(scene.plane.acme(), SCOPES);
        assert_eq!(scene.plane.post("/agent/delegate/requests", &body).await.refusal(), told(403, "tier_not_met"));
    }
}

//! Dry runs that the upstream answers itself: in its one spelling, without a hold, and never as a write (R-20).

use super::dry_run::{SPELLINGS, in_header, in_query, note, of};
use crate::schemas::claims_of;
use countersign_protocol::project::{DryRunSpelling, ProjectDocument, RouteDryRun, UpstreamDryRun};
use countersign_testkit::{
    bank::{BankFixture, GatewayRequest, Got, Manner},
    on_both_stores, on_sqlite,
};
use serde_json::{Value, json};

fn declare(document: &mut ProjectDocument, upstream: DryRunSpelling) {
    for route in ["notes", "transfers", "orders"] {
        of(document, route).dry_run = Some(RouteDryRun::Upstream(UpstreamDryRun { upstream }));
    }
}

/// The same, and the calls that can be undone are undone by a part of their body, which is read completely for that.
fn declare_with_cancel(document: &mut ProjectDocument, upstream: DryRunSpelling) {
    declare(document, upstream);
    for (route, path) in [("notes", "/notes/{body.note}"), ("orders", "/orders/{body.item}/cancel")] {
        of(document, route).cancel = Some(serde_json::from_value(json!({ "path": path })).unwrap());
    }
}

fn order() -> GatewayRequest {
    GatewayRequest::new("POST", "/orders").json(r#"{"item":"paper"}"#)
}

fn header(got: &Got) -> Option<&str> {
    got.headers.get("x-agent-dry-run").map(|value| value.to_str().unwrap())
}

on_both_stores! {
    /// AAP-14.1-02, AAP-14.2-07, R-20
    async fn the_upstream_gets_only_the_declared_spelling_and_its_answer_is_marked(kit) {
        for upstream in [DryRunSpelling::Query, DryRunSpelling::Header] {
            let (scene, _folder) = BankFixture::lasting(kit, |document| declare_with_cancel(document, upstream)).await;
            let agent = scene.limited(json!({ "writes_per_session": 1 })).await;
            scene.bank.set_manner(Manner::Status(200));
            let writes = |state: Vec<String>| -> Vec<String> {
                state.into_iter().filter(|row| !row.contains("/requests/") && !row.contains("/egress=")).collect()
            };
            let before = writes(scene.stored_state().await);
            for spelled in SPELLINGS {
                for (sent, target) in [
                    (note(), "/notes"),
                    (order(), "/orders"),
                    (BankFixture::transfer(), "/transfers"),
                    (GatewayRequest { target: "/transfers?a=%20".into(), ..BankFixture::transfer() }, "/transfers?a=%20"),
                ] {
                    let answer = scene.sends_as(&agent, spelled(sent.clone())).await.expect(200);
                    assert_eq!(answer.header("x-agent-dry-run"), Some("true"));
                    assert_eq!(answer.json(), json!({ "from": "bank" }));
                    let got = scene.bank.got().pop().unwrap();
                    let separator = if target.contains('?') { '&' } else { '?' };
                    match upstream {
                        DryRunSpelling::Query => {
                            assert_eq!((got.target.clone(), header(&got)), (format!("{target}{separator}dry_run=true"), None));
                        }
                        DryRunSpelling::Header => assert_eq!((got.target.as_str(), header(&got)), (target, Some("true"))),
                    }
                    assert_eq!(got.body, sent.body);
                    assert_eq!(got.headers["authorization"], "Bearer the-banks-own-secret");
                    assert_eq!(claims_of(got.headers["countersign-identity"].to_str().unwrap())["dry_run"], true);
                }
            }
            assert_eq!(writes(scene.stored_state().await), before);
            assert_eq!((scene.bank.effects().len(), scene.alice.pending_questions(&scene.plane).await), (0, 0));
            let calls = scene.calls().await;
            assert_eq!(calls.len(), 12);
            assert!(calls.iter().all(|call| call["dry_run"] == true && call["outcome"] == "200 OK"), "{calls:#?}");
            scene.bank.set_manner(Manner::Obliging);
            scene.sends_as(&agent, note()).await.expect(201);
            let real = scene.bank.effects().pop().unwrap();
            assert_eq!((real.target.as_str(), header(&real)), ("/notes", None));
            assert_eq!(claims_of(real.headers["countersign-identity"].to_str().unwrap())["dry_run"], Value::Null);
        }
    }
}

on_sqlite! {
    /// AAP-14.1-12, R-20, R-28
    async fn what_the_real_call_would_be_refused_for_never_reaches_the_upstream(kit) {
        let scene = kit.bank_with(|document| declare(document, DryRunSpelling::Query)).await;
        let agent = scene.limited(json!({ "writes_per_session": 1 })).await;
        scene.sends_as(&agent, note()).await.expect(201);
        for sent in [in_query(note()), in_header(BankFixture::transfer())] {
            assert_eq!(scene.sends_as(&agent, sent).await.refusal(), (429, "usage_limit_reached".into()));
        }
        for target in ["/notes?dry_run=1", "/notes?dry_run=true&dry_run=true"] {
            let odd = scene.sends(GatewayRequest { target: target.into(), ..note() }).await;
            assert_eq!(odd.refusal(), (400, "invalid_request".into()));
        }
        let body = json!({ "delegation_id": scene.connected.delegation_id, "reason": "user_requested" });
        scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
        assert_eq!(scene.sends(in_query(BankFixture::transfer())).await.refusal(), (401, "delegation_revoked".into()));
        assert_eq!(scene.bank.got().len(), 1, "the note");
    }

    /// R-20: requests reach the service and bytes leave it, so those limits count.
    async fn a_forwarded_dry_run_counts_as_a_request_and_its_answer_as_egress(kit) {
        let scene = kit.bank_with(|document| declare(document, DryRunSpelling::Header)).await;
        let agent = scene.limited(json!({ "requests_per_hour": 2 })).await;
        scene.bank.set_manner(Manner::Sized(1024));
        for _ in 0..2 {
            scene.sends_as(&agent, in_query(BankFixture::transfer())).await.expect(200);
        }
        let third = scene.sends_as(&agent, in_query(BankFixture::transfer())).await;
        assert_eq!(third.header("x-agent-limit-reason"), Some("requests_per_hour"));
        let agent = scene.limited(json!({ "max_data_egress_kb": 1 })).await;
        scene.sends_as(&agent, in_query(note())).await.expect(200);
        let second = scene.sends_as(&agent, in_query(note())).await;
        assert_eq!(second.header("x-agent-limit-reason"), Some("max_data_egress_kb"));
        assert_eq!(scene.bank.got().len(), 3);
    }

    /// R-34: it commits nothing, so a repeat of one with a lost answer is let through.
    async fn a_lost_answer_to_a_dry_run_stops_no_repeat(kit) {
        let scene = kit.bank_with(|document| declare(document, DryRunSpelling::Query)).await;
        scene.bank.set_manner(Manner::Vanishing);
        let lost = scene.sends(in_query(note())).await.expect(502);
        assert!(lost.json().get("call").is_none(), "{}", lost.text());
        scene.bank.set_manner(Manner::Obliging);
        scene.sends(in_query(note())).await.expect(201);
        scene.sends(note()).await.expect(201);
    }
}

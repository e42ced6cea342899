//! `X-Agent-Confirm` with a token: one use, by one session, of exactly one request (AAP 14.1, C-02).

use super::held::*;
use countersign_testkit::{
    Answer, Backend, Kit,
    bank::{BankFixture, GatewayListener, GatewayRequest},
    on_both_stores,
};
use futures_util::future::join_all;
use serde_json::json;
use std::collections::BTreeSet;

/// A bank with the transfer under another method and another path, too.
async fn doubled(kit: Kit) -> BankFixture {
    kit.bank_with(|document| {
        let transfers = document.routes.iter().find(|route| route.id == "transfers").unwrap().clone();
        let mut replaces = transfers.clone();
        (replaces.id, replaces.method) = ("replaces".into(), "PUT".into());
        let mut wires = transfers;
        (wires.id, wires.path) = ("wires".into(), "/wires".into());
        document.routes.extend([replaces, wires]);
    })
    .await
}

/// Every way in which a request can differ from the approved one.
fn differing() -> Vec<(&'static str, GatewayRequest)> {
    let same = BankFixture::transfer;
    let retyped = |kind: &str| GatewayRequest { headers: vec![("content-type".into(), kind.into())], ..same() };
    vec![
        ("body", BankFixture::transfer_of("820000.00")),
        ("method", GatewayRequest { method: "PUT".into(), ..same() }),
        ("path", GatewayRequest { target: "/wires".into(), ..same() }),
        ("query", GatewayRequest { target: "/transfers?now=1".into(), ..same() }),
        ("content type", retyped("application/json; charset=utf-8")),
        ("covered header", same().with("x-reference", "another")),
    ]
}

on_both_stores! {
    /// AAP-14.1-13
    async fn the_token_of_an_approval_runs_its_request_once(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        let confirm = token(&scene, &decision).await;
        scene.sends(BankFixture::transfer().confirmed(&confirm)).await.expect(201);
        assert_eq!(execution(&scene, &decision).await, "committed");
        assert_eq!(scene.reads_decision(&scene.agent, &decision).await.get("confirm_token"), None);
        for _ in 0..2 {
            let again = scene.sends(BankFixture::transfer().confirmed(&confirm)).await;
            assert_eq!(again.refusal(), unconfirmed());
        }
        assert_eq!(scene.bank.effects().len(), 1);
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 0, "a token asks nobody");
    }

    /// AAP-14.1-13, R-3
    async fn a_token_cannot_be_made_up_and_fits_no_other_request_and_no_other_session(kit) {
        let scene = doubled(kit).await;
        let decision = scene.approved(BankFixture::transfer()).await;
        let confirm = token(&scene, &decision).await;
        let elsewhere = scene.plane.confirm_token("dec_00000000000000000000000000000000").await;
        let forged = [format!("{}.{}", id(&decision), elsewhere.split_once('.').unwrap().1), format!("{confirm}0")];
        for forged in forged.iter().map(String::as_str).chain([id(&decision), &format!("{}.", id(&decision))]) {
            let refused = scene.sends(BankFixture::transfer().confirmed(forged)).await;
            assert_eq!(refused.refusal(), unconfirmed(), "{forged}");
        }
        for (what, sent) in differing() {
            let refused = scene.sends(sent.confirmed(&confirm)).await;
            assert_eq!(refused.refusal(), unconfirmed(), "another {what}");
        }
        let other = scene.another(|_| {}).await;
        let refused = scene.sends_as(&other, BankFixture::transfer().confirmed(&confirm)).await;
        assert_eq!(refused.refusal(), unconfirmed(), "another session");
        let bob = scene.plane.person("bob").await;
        let connected = scene.plane.connect(&bob, scene.plane.acme(), countersign_testkit::bank::SCOPES).await;
        let stranger = scene.plane.holder(&connected, |_| {}).await;
        let refused = scene.sends_as(&stranger, BankFixture::transfer().confirmed(&confirm)).await;
        assert_eq!(refused.refusal(), unconfirmed(), "another delegation");
        assert_eq!((scene.bank.effects().len(), scene.alice.pending_questions(&scene.plane).await), (0, 0));
        scene.sends(BankFixture::transfer().confirmed(&confirm)).await.expect(201);
    }

    /// AAP-14.1-13
    async fn a_token_that_was_never_given_or_has_no_approval_runs_nothing(kit) {
        let scene = kit.bank().await;
        let pending = asked(&scene, BankFixture::transfer()).await;
        let forged = format!("{}.cft_{}", id(&pending), "0".repeat(32));
        let unknown = scene.plane.confirm_token("dec_00000000000000000000000000000000").await;
        let open = scene.plane.confirm_token(id(&pending)).await;
        for made_up in ["dec_1.cft_2", ".", "x", "true.true", id(&pending), &forged, &unknown, &open] {
            let refused = scene.sends(BankFixture::transfer().confirmed(made_up)).await;
            assert_eq!(refused.refusal(), unconfirmed(), "{made_up}");
        }
        scene.alice.rejects(&scene.plane, &pending, None).await;
        let refused = scene.sends(BankFixture::transfer().confirmed(&open)).await;
        assert_eq!(refused.refusal(), unconfirmed(), "rejected");

        let expired = asked(&scene, BankFixture::transfer()).await;
        scene.plane.advance_secs(300).await;
        let late = scene.plane.confirm_token(id(&expired)).await;
        assert_eq!(scene.sends(BankFixture::transfer().confirmed(&late)).await.refusal(), unconfirmed(), "expired");

        let lapsed = scene.approved(BankFixture::transfer()).await;
        let late = token(&scene, &lapsed).await;
        scene.plane.advance_secs(301).await;
        assert_eq!(scene.sends(BankFixture::transfer().confirmed(&late)).await.refusal(), unconfirmed(), "lapsed");
        assert_eq!(scene.bank.effects().len(), 0);
    }

    /// AAP-14.1-13
    async fn a_token_dies_with_the_delegation(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        let confirm = token(&scene, &decision).await;
        revoke(&scene).await;
        let refused = scene.sends(BankFixture::transfer().confirmed(&confirm)).await;
        assert_eq!(refused.refusal(), (401, "delegation_revoked".into()));
        assert_eq!(scene.bank.effects().len(), 0);
    }

    /// AAP-14.1-13, R-2
    async fn an_approval_of_an_agents_own_question_is_worth_nothing_at_the_gateway(kit) {
        let scene = kit.bank().await;
        let body = json!({
            "action": "Transfer 82000.00 USD to theirs",
            "consequence": "The money leaves the account.",
            "tool": "transfers.send",
            "arguments": { "from": "ours", "to": "theirs", "amount": "82000.00", "currency": "USD" },
        });
        let worded = posts(&scene, &scene.agent, "/v1/confirmations", &body).await.expect(201).json();
        scene.alice.accepts(&scene.plane, &worded).await;
        let looked = scene.reads_decision(&scene.agent, &worded).await;
        assert_eq!((looked["state"].as_str(), looked.get("confirm_token")), (Some("accepted"), None));
        let confirm = scene.plane.confirm_token(id(&worded)).await;
        let refused = scene.sends(BankFixture::transfer().confirmed(&confirm)).await;
        assert_eq!(refused.refusal(), unconfirmed());
        assert_eq!(scene.sends(redeem(&worded)).await.refusal(), (404, "not_found".into()));
        let held = asked(&scene, confirmed_transfer()).await;
        assert_ne!(id(&held), id(&worded));
        assert_ne!(held["digest"], looked["digest"], "the kind of point is inside the digest");
        assert_eq!(scene.bank.effects().len(), 0);
    }

    ///
    async fn an_approval_for_the_gateway_is_not_the_agents_to_claim_or_to_report(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        let path = format!("/v1/decisions/{}", id(&decision));
        let digest = json!({ "digest": decision["digest"] });
        let claim = posts(&scene, &scene.agent, &format!("{path}/claim"), &digest).await;
        assert_eq!(claim.refusal(), (403, "confirmation_invalid".into()));
        assert_eq!(scene.reads_decision(&scene.agent, &decision).await["allowance"]["state"], "open");
        scene.sends(confirmed_transfer()).await.expect(201);
        let report = posts(&scene, &scene.agent, &format!("{path}/outcome"), &json!({ "status": "failed" })).await;
        assert_eq!(report.refusal(), (403, "confirmation_invalid".into()));
        assert_eq!(execution(&scene, &decision).await, "committed");
    }
}

/// Fifty connections with the same approved request; returns the number of effects and the responses.
async fn storm(scene: &BankFixture, nodes: &[&GatewayListener]) -> (usize, Vec<Answer>) {
    scene.approved(BankFixture::transfer()).await;
    let address = |n: usize| nodes[n % nodes.len()].address;
    let all = (0..50).map(|n| scene.sends_at(address(n), &scene.agent, confirmed_transfer()));
    let answers = join_all(all).await;
    (scene.bank.effects().len(), answers)
}

/// One ran. The others arrived while it ran, or came too late and ask anew.
fn one_ran((effects, answers): (usize, Vec<Answer>)) {
    assert_eq!(effects, 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    let rest: BTreeSet<(u16, String)> = answers.iter().filter(|a| a.status != 201).map(Answer::refusal).collect();
    let known = [(409, "conflict".into()), unconfirmed(), (503, "service_unavailable".into())];
    assert!(rest.iter().all(|refusal| known.contains(refusal)), "{rest:?}");
}

/// AAP-14.1-13, R-5, R-6
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_at_once_on_one_node_with_sqlite_one_runs() {
    let scene = Kit(Backend::Sqlite).bank().await;
    one_ran(storm(&scene, &[&scene.gateway]).await);
}

/// AAP-14.1-13, R-5, R-6
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_at_once_on_one_node_with_postgres_one_runs() {
    let scene = Kit(Backend::Postgres).bank().await;
    one_ran(storm(&scene, &[&scene.gateway]).await);
}

/// AAP-14.1-13, R-5, R-6
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_at_once_on_two_nodes_one_runs() {
    let scene = Kit(Backend::Postgres).bank().await;
    let (engine, _router) = scene.plane.second_node().await;
    let second = GatewayListener::open(&engine, |_| {}).await;
    one_ran(storm(&scene, &[&scene.gateway, &second]).await);
}

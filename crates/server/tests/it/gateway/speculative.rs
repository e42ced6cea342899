//! Forwarding before the step is durable: reads by GET and HEAD, unless their route opts out, and nothing
//! else (R-22 to R-24).

use super::proofs::{EPOCH_OVER_S, without_nonces};
use countersign_protocol::project::{ProjectDocument, Route};
use countersign_testkit::{
    Answer, Kit,
    bank::{BankFixture, GatewayRequest, Holder, Manner},
    on_sqlite,
};
use futures_util::future::join_all;
use serde_json::json;

/// A search by POST that changes nothing, and a read that its owner excludes from speculative forwarding.
fn with_careful_reads(document: &mut ProjectDocument) {
    without_nonces(document);
    let route = |id: &str, method: &str, path: &str| Route {
        id: id.into(),
        method: method.into(),
        path: path.into(),
        action: "accounts.read".into(),
        ..Route::default()
    };
    document.routes.push(Route { writes: Some(false), ..route("search", "POST", "/accounts/search") });
    document.routes.push(Route { speculative: Some(false), ..route("balance", "GET", "/accounts/main/balance") });
}

async fn scene(kit: Kit) -> BankFixture {
    let scene = kit.bank_with(with_careful_reads).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    scene
}

fn careful() -> [GatewayRequest; 2] {
    [
        GatewayRequest::new("POST", "/accounts/search").json(r#"{"name":"a"}"#),
        GatewayRequest::new("GET", "/accounts/main/balance"),
    ]
}

fn passed(answers: &[Answer], code: &str) -> usize {
    let (passed, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.is_success());
    refused.iter().for_each(|answer| assert_eq!(answer.code(), code));
    passed.len()
}

async fn at_once(scene: &BankFixture, agent: &Holder, sent: &GatewayRequest, times: usize) -> Vec<Answer> {
    join_all((0..times).map(|_| scene.sends_as(agent, sent.clone()))).await
}

async fn revoke(scene: &BankFixture) {
    let body = json!({ "delegation_id": scene.connected.delegation_id, "reason": "user_requested" });
    scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
}

on_sqlite! {
    /// R-22
    async fn a_proof_that_is_shown_to_a_node_again_is_refused_before_anything_is_forwarded(kit) {
        let scene = scene(kit).await;
        for sent in careful().into_iter().chain([GatewayRequest::new("GET", "/accounts")]) {
            let before = scene.bank.got().len();
            let same = scene.authenticated(&scene.agent, sent);
            let answers = join_all((0..50).map(|_| scene.sends_raw(same.clone()))).await;
            assert_eq!(passed(&answers, "dpop_replayed"), 1, "{}", same.target);
            assert_eq!(scene.sends_raw(same.clone()).await.code(), "dpop_replayed");
            assert_eq!(scene.bank.got().len(), before + 1, "{}", same.target);
        }
    }

    /// R-22
    async fn the_proof_of_a_refused_read_is_not_good_for_another_try(kit) {
        let scene = scene(kit).await;
        let mut sent = scene.authenticated(&scene.agent, GatewayRequest::new("GET", "/accounts"));
        let intent = sent.headers.iter_mut().find(|(name, _)| name == "x-agent-intent-type").unwrap();
        let right = std::mem::replace(&mut intent.1, "NOBODYS_INTENT".into());
        assert_eq!(scene.sends_raw(sent.clone()).await.code(), "intent_type_unknown");
        sent.headers.iter_mut().find(|(name, _)| name == "x-agent-intent-type").unwrap().1 = right;
        assert_eq!(scene.sends_raw(sent).await.code(), "dpop_replayed");
        assert_eq!(scene.bank.got().len(), 0);
    }

    /// R-24, AAP-14.2-03, AAP-14.2-06
    async fn a_committed_read_reaches_the_upstream_no_more_often_than_a_limit_allows(kit) {
        let scene = scene(kit).await;
        for sent in careful() {
            scene.plane.advance_secs(3600).await;
            let agent = scene.limited(json!({ "requests_per_hour": 10 })).await;
            let before = scene.bank.got().len();
            let answers = at_once(&scene, &agent, &sent, 50).await;
            assert_eq!(passed(&answers, "usage_limit_reached"), 10, "{}", sent.target);
            assert_eq!(scene.bank.got().len(), before + 10, "{}", sent.target);
        }
    }

    /// R-23, AAP-8.2-01
    async fn no_read_reaches_the_service_after_the_revocation_was_answered(kit) {
        let reads = careful().into_iter().chain([GatewayRequest::new("GET", "/accounts")]);
        for sent in reads {
            let scene = scene(kit).await;
            scene.sends(sent.clone()).await;
            let before = scene.bank.got().len();
            revoke(&scene).await;
            for answer in at_once(&scene, &scene.agent, &sent, 10).await {
                assert_eq!(answer.refusal(), (401, "delegation_revoked".into()), "{}", sent.target);
            }
            assert_eq!(scene.bank.got().len(), before, "{}", sent.target);
        }
    }

    /// R-24, AAP-14.2-03
    async fn a_read_that_is_committed_first_counts_as_a_read_and_has_one_entry(kit) {
        let scene = scene(kit).await;
        let agent = scene.limited(json!({ "writes_per_session": 1, "max_data_egress_kb": 1 })).await;
        for sent in careful() {
            assert!(scene.sends_as(&agent, sent).await.is_success());
        }
        let outcomes: Vec<_> = scene.calls().await.iter().map(|entry| entry["outcome"].clone()).collect();
        assert_eq!(outcomes, ["201 Created", "200 OK"]);
        scene.bank.set_manner(Manner::Sized(4096));
        for sent in careful() {
            let answer = scene.sends_as(&agent, sent).await;
            assert_eq!(answer.header("x-agent-limit-reason"), Some("max_data_egress_kb"), "a read's answer is cut");
        }
        scene.bank.set_manner(Manner::Obliging);
        let note = GatewayRequest::new("POST", "/notes").json(r#"{"text":"hello"}"#);
        scene.sends_as(&agent, note).await.expect(201);
    }

    /// R-23, R-24
    async fn a_read_that_was_committed_first_and_is_cut_off_meanwhile_gets_the_refusal(kit) {
        let scene = scene(kit).await;
        scene.bank.set_manner(Manner::Thoughtful);
        let [search, _] = careful();
        let (answer, ()) = tokio::join!(scene.sends(search), async {
            scene.bank.next_arrival().await;
            revoke(&scene).await;
            scene.bank.release_response();
        });
        assert_eq!(answer.refusal(), (401, "delegation_revoked".into()));
    }

    /// R-24
    async fn a_document_that_wants_a_write_forwarded_before_it_is_recorded_is_not_applied(kit) {
        let scene = scene(kit).await;
        let mut document = (*scene.plane.at().await.project.document).clone();
        document.routes.iter_mut().find(|route| route.id == "notes").unwrap().speculative = Some(true);
        let why = scene.plane.engine.apply_project(document, "test").await.unwrap_err();
        assert!(format!("{why:?}").contains("speculative is for reads"), "{why:?}");
    }
}

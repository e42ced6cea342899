//! The limits of a receipt (AAP 14.2): hard, reported with the reason and the time, and checked before a person is asked.

use countersign_testkit::{
    Answer, Backend, Kit,
    bank::{BankFixture, GatewayListener, GatewayRequest, Holder, Manner, SCOPES},
    on_both_stores,
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::net::SocketAddr;

on_both_stores! {
    /// AAP-14.2-04, AAP-16.2-19, C-42
    async fn a_caller_over_a_limit_gets_its_name_and_its_end_and_keeps_the_delegation(kit) {
        let scene = kit.bank().await;
        for (limits, uses, reason) in [
            (json!({ "requests_per_hour": 1 }), read(), "requests_per_hour"),
            (json!({ "writes_per_session": 1 }), note(), "writes_per_session"),
            (json!({ "max_data_egress_kb": 1 }), read(), "max_data_egress_kb"),
        ] {
            let agent = scene.limited(limits).await;
            scene.bank.set_manner(Manner::Sized(1024));
            scene.sends_as(&agent, uses.clone()).await.expect(200);
            let answer = scene.sends_as(&agent, uses).await;
            assert_used_up(&answer, reason);
        }
        scene.sends(read()).await.expect(200);
        let standing = scene.alice.get(&scene.plane, "/v1/agents").await.expect(200).json();
        assert_eq!(standing["agents"][0]["delegation_id"], scene.connected.delegation_id, "{standing}");
    }

    /// AAP-8.3-06: the end of a used-up delegation takes no response from a write that was within its budget.
    async fn a_write_within_the_usage_budget_gets_its_response_though_the_next_call_ends_the_delegation(kit) {
        let budget = json!({ "after_use": { "max_writes": 1 } });
        let scene = kit.bank_with(|document| document.auto_revoke = serde_json::from_value(budget).unwrap()).await;
        scene.bank.set_manner(Manner::Thoughtful);
        let (within, beyond) = tokio::join!(scene.sends(note()), async {
            scene.bank.next_arrival().await;
            let body = r#"{"note":"one too many"}"#;
            let beyond = scene.sends(GatewayRequest::new("POST", "/notes").json(body.to_owned())).await;
            scene.bank.release_response();
            beyond
        });
        assert_eq!(beyond.refusal(), (401, "auto_revoked".into()));
        within.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
        assert_eq!(scene.sends(read()).await.refusal(), (401, "auto_revoked".into()));
    }

    /// AAP-8.3-06: the same for a read that is counted before it is forwarded.
    async fn a_read_within_the_usage_budget_gets_its_response_though_the_next_call_ends_the_delegation(kit) {
        let budget = json!({ "after_use": { "max_requests": 1 } });
        let scene = kit
            .bank_with(|document| {
                document.auto_revoke = serde_json::from_value(budget).unwrap();
                document.routes.iter_mut().find(|route| route.id == "accounts").unwrap().speculative = Some(false);
            })
            .await;
        scene.bank.set_manner(Manner::Thoughtful);
        let (within, beyond) = tokio::join!(scene.sends(read()), async {
            scene.bank.next_arrival().await;
            let beyond = scene.sends(read()).await;
            scene.bank.release_response();
            beyond
        });
        assert_eq!(beyond.refusal(), (401, "auto_revoked".into()));
        within.expect(200);
        assert_eq!(scene.bank.reads().len(), 1);
    }

    /// R-23: a revocation takes the response away, also from a read within the budget.
    async fn a_revoked_read_gets_no_response_though_it_was_counted_before(kit) {
        let budget = json!({ "after_use": { "max_requests": 1 } });
        let scene = kit
            .bank_with(|document| {
                document.auto_revoke = serde_json::from_value(budget).unwrap();
                document.routes.iter_mut().find(|route| route.id == "accounts").unwrap().speculative = Some(false);
            })
            .await;
        scene.bank.set_manner(Manner::Thoughtful);
        let (within, ()) = tokio::join!(scene.sends(read()), async {
            scene.bank.next_arrival().await;
            let body = json!({ "delegation_id": scene.connected.delegation_id });
            scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
            scene.bank.release_response();
        });
        assert_eq!(within.refusal(), (401, "delegation_revoked".into()));
    }

    /// AAP-14.2-03
    async fn of_a_burst_of_writes_exactly_as_many_run_as_the_receipt_allows(kit) {
        let scene = kit.bank().await;
        let agent = scene.limited(json!({ "writes_per_session": 7 })).await;
        let answers = burst(&scene, &agent, &[scene.gateway.address], &note(), 24).await;
        assert_eq!(passed(&answers, "writes_per_session"), 7);
        assert_eq!(scene.bank.effects().len(), 7);
    }

    /// AAP-14.2-03
    async fn of_a_burst_of_reads_exactly_as_many_are_answered_as_the_receipt_allows(kit) {
        let scene = kit.bank().await;
        let agent = scene.limited(json!({ "requests_per_hour": 7 })).await;
        let answers = burst(&scene, &agent, &[scene.gateway.address], &read(), 24).await;
        assert_eq!(passed(&answers, "requests_per_hour"), 7);
        let arrived = scene.bank.got().len();
        assert_used_up(&scene.sends_as(&agent, read()).await, "requests_per_hour");
        assert_eq!(scene.bank.got().len(), arrived, "once it is used up, the bank is left alone");
    }

    /// AAP-G-59, C-42
    async fn sessions_of_a_delegation_share_the_hours_requests_and_each_has_its_own_writes_and_bytes(kit) {
        let scene = kit.bank().await;
        scene.plane.advance_secs(3600 + 1234).await;
        let (one, two) = (hourly(&scene, 3).await, hourly(&scene, 3).await);
        for agent in [&one, &two, &one] {
            scene.sends_as(agent, read()).await.expect(200);
        }
        let left = 3600 - scene.plane.now().secs().rem_euclid(3600);
        assert_eq!(left, 3600 - 1234);
        for agent in [&one, &two] {
            let refused = scene.sends_as(agent, read()).await;
            assert_used_up(&refused, "requests_per_hour");
            assert_eq!(refused.header("retry-after"), Some(left.to_string().as_str()));
        }
        let elsewhere = scene.plane.connect(&scene.alice, scene.plane.acme(), SCOPES).await;
        let elsewhere = scene.plane.holder(&elsewhere, |_| {}).await;
        scene.sends_as(&elsewhere, read()).await.expect(200);
        scene.plane.advance_secs(left - 1).await;
        assert_used_up(&scene.sends_as(&one, read()).await, "requests_per_hour");
        scene.plane.advance_secs(1).await;
        scene.sends_as(&one, read()).await.expect(200);

        for (limits, uses, reason) in [
            (json!({ "writes_per_session": 1 }), note(), "writes_per_session"),
            (json!({ "max_data_egress_kb": 1 }), read(), "max_data_egress_kb"),
        ] {
            scene.bank.set_manner(Manner::Sized(1024));
            let (one, two) = (scene.limited(limits.clone()).await, scene.limited(limits).await);
            for agent in [&one, &two] {
                scene.sends_as(agent, uses.clone()).await.expect(200);
                assert_used_up(&scene.sends_as(agent, uses.clone()).await, reason);
            }
        }
    }

    /// AAP-14.2-05
    async fn a_session_whose_writes_are_used_up_goes_on_with_a_new_receipt_and_with_no_other(kit) {
        let scene = kit.bank().await;
        let mut receipt = scene.plane.receipt_claims(scene.plane.acme(), "alice", &scene.connected, SCOPES);
        receipt["usage_limits"] = json!({ "writes_per_session": 1 });
        let agent = registered(&scene, &receipt, None).await;
        scene.sends_as(&agent, note()).await.expect(201);
        assert_used_up(&scene.sends_as(&agent, note()).await, "writes_per_session");
        let same = registered(&scene, &receipt, Some(&agent)).await;
        assert_eq!(same.session_id, agent.session_id);
        assert_used_up(&scene.sends_as(&same, note()).await, "writes_per_session");
        scene.plane.advance_secs(1).await;
        receipt["iat"] = json!(scene.plane.now().secs());
        let renewed = registered(&scene, &receipt, Some(&same)).await;
        assert_eq!(renewed.session_id, agent.session_id);
        scene.sends_as(&renewed, note()).await.expect(201);
        assert_used_up(&scene.sends_as(&renewed, note()).await, "writes_per_session");
        assert_eq!(scene.bank.effects().len(), 2);
    }

    /// AAP-14.2-07, C-80
    async fn a_write_counts_unless_the_bank_itself_refused_it_and_a_lost_answer_counts(kit) {
        let scene = kit.bank().await;
        let agent = scene.limited(json!({ "writes_per_session": 3 })).await;
        scene.bank.set_manner(Manner::Vanishing);
        // A different note from those that follow: a repeat of an unknown outcome is refused (R-34).
        scene.sends_as(&agent, GatewayRequest::new("POST", "/notes?lost=true")).await.expect(502);
        for refused in [400, 409, 422] {
            scene.bank.set_manner(Manner::Status(refused));
            scene.sends_as(&agent, note()).await.expect(refused);
        }
        scene.bank.set_manner(Manner::Obliging);
        for dry in [note().with("x-agent-dry-run", "true"), GatewayRequest::new("POST", "/notes?dry_run=true")] {
            scene.sends_as(&agent, dry).await.expect(200);
        }
        for _ in 0..2 {
            scene.sends_as(&agent, read()).await.expect(200);
            scene.sends_as(&agent, note()).await.expect(201);
        }
        assert_used_up(&scene.sends_as(&agent, note()).await, "writes_per_session");
        assert_eq!(scene.bank.effects().len(), 3);
        scene.sends_as(&agent, read()).await.expect(200);
        let apart = scene.limited(json!({ "writes_per_session": 1 })).await;
        scene.sends_as(&apart, note()).await.expect(201);
    }

    /// R-8, R-28
    async fn nobody_is_asked_about_a_call_that_a_limit_would_refuse(kit) {
        let scene = kit.bank().await;
        for (limits, uses, reason) in [
            (json!({ "requests_per_hour": 1 }), read(), "requests_per_hour"),
            (json!({ "writes_per_session": 1 }), note(), "writes_per_session"),
            (json!({ "max_data_egress_kb": 1 }), read(), "max_data_egress_kb"),
        ] {
            scene.plane.advance_secs(3600).await;
            let agent = scene.limited(limits).await;
            scene.bank.set_manner(Manner::Sized(1024));
            scene.sends_as(&agent, uses).await.expect(200);
            for held in [
                BankFixture::transfer(),
                BankFixture::transfer().waits(5),
                BankFixture::transfer().confirmed("true"),
                BankFixture::transfer().confirmed("dec_0.cft_0"),
            ] {
                assert_used_up(&scene.sends_as(&agent, held).await, reason);
            }
        }
        assert_eq!(scene.alice.pending_questions(&scene.plane).await, 0);
    }

    /// R-5, R-28
    async fn an_approval_is_not_claimed_for_a_call_that_a_limit_refuses_meanwhile(kit) {
        let scene = kit.bank().await;
        let agent = scene.limited(json!({ "writes_per_session": 1 })).await;
        let held = scene.sends_as(&agent, BankFixture::transfer()).await;
        assert_eq!(held.refusal(), (403, "irreversible_requires_confirm".into()));
        scene.sends_as(&agent, note()).await.expect(201);
        assert_used_up(&scene.sends_as(&agent, BankFixture::transfer()).await, "writes_per_session");
        let asked = BankFixture::decision(&held);
        scene.alice.accepts(&scene.plane, &asked).await;
        for again in [BankFixture::transfer(), BankFixture::transfer().confirmed("true")] {
            assert_used_up(&scene.sends_as(&agent, again).await, "writes_per_session");
        }
        assert!(scene.reads_decision(&agent, &asked).await["execution"].is_null());
        assert_eq!(scene.bank.effects().len(), 1, "the note, and nothing else");
    }
}

/// AAP-14.2-03
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_nodes_together_let_no_more_pass_than_the_receipt_allows() {
    let scene = Kit(Backend::Postgres).bank().await;
    let (engine, _) = scene.plane.second_node().await;
    let second = GatewayListener::open(&engine, |_| {}).await;
    let nodes = [scene.gateway.address, second.address];
    scene.plane.advance_secs(700).await;
    let agent = scene.limited(json!({ "writes_per_session": 9 })).await;
    assert_eq!(passed(&burst(&scene, &agent, &nodes, &note(), 30).await, "writes_per_session"), 9);
    assert_eq!(scene.bank.effects().len(), 9);
    scene.plane.advance_secs(3600).await;
    let agent = hourly(&scene, 9).await;
    assert_eq!(passed(&burst(&scene, &agent, &nodes, &read(), 30).await, "requests_per_hour"), 9);
}

fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"note":"hello"}"#)
}

fn read() -> GatewayRequest {
    GatewayRequest::new("GET", "/accounts")
}

async fn hourly(scene: &BankFixture, requests: i64) -> Holder {
    scene.limited(json!({ "requests_per_hour": requests })).await
}

fn assert_used_up(answer: &Answer, reason: &str) {
    assert_eq!(answer.refusal(), (429, "usage_limit_reached".into()));
    assert_eq!(answer.header("x-agent-limit-reason"), Some(reason));
    assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<i64>().unwrap() > 0));
}

/// The number that passed; all others were refused for this limit.
fn passed(answers: &[Answer], reason: &str) -> usize {
    let (passed, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.is_success());
    refused.iter().for_each(|answer| assert_used_up(answer, reason));
    passed.len()
}

/// The same request many times at once, at each of the nodes in turn. Writes differ in their text: an identical one is
/// refused while the first is in flight (R-34).
async fn burst(
    scene: &BankFixture,
    agent: &Holder,
    nodes: &[SocketAddr],
    sent: &GatewayRequest,
    times: usize,
) -> Vec<Answer> {
    let numbered = |n: usize| match sent.body.is_empty() {
        true => sent.clone(),
        false => GatewayRequest { body: format!("{{\"note\":{n}}}").into_bytes(), ..sent.clone() },
    };
    join_all((0..times).map(|n| scene.sends_at(nodes[n % nodes.len()], agent, numbered(n)))).await
}

/// A session with exactly this receipt, under the key of an earlier session if there is one.
async fn registered(scene: &BankFixture, claims: &Value, earlier: Option<&Holder>) -> Holder {
    let key = earlier.map_or_else(|| countersign_jose::ProofKey::generate().ok(), |earlier| earlier.key.clone());
    let mut body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
    body["consent_receipt"] = json!(scene.plane.acme().sign_receipt(claims));
    scene.plane.holder_with(&body, key, &scene.connected).await
}

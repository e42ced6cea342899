//! The project's policy sets the terms; a requester can only tighten them (R-1, AAEP 6.4.1).

use countersign_engine::{ApiKeyKind, NotCounted, Role};
use countersign_protocol::aaep::event::YesNo;
use countersign_testkit::{
    Setup,
    aaep::event,
    decisions::{DecisionFixture, confirmation, payments},
    on_sqlite,
};
use serde_json::{Value, json};

fn with(tool: &str, n: u32, change: &Value) -> Value {
    let mut body = confirmation(tool, json!({ "n": n }));
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    body
}

/// The time until the question expires, in seconds.
fn seconds_left(plane: &countersign_testkit::Plane, asked: &Value) -> i64 {
    let deadline = asked["deadline"].as_str().unwrap();
    countersign_protocol::time::UnixMillis::parse_rfc3339(deadline).unwrap().millis_since(plane.now()) / 1000
}

on_sqlite! {
    /// AAEP-6.4.1-10
    async fn a_caller_that_loosens_policy_gets_policy_and_one_that_tightens_it_is_heard(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let loose = json!({ "irreversible": false, "risk_level": "low", "reversibility": "reversible" });
        for tool in ["payments.send", "mail.send"] {
            let asked = agent.requests_confirmation(&plane, &with(tool, 1, &loose)).await.expect(201).json();
            let risk = if tool == "mail.send" { "low" } else { "high" };
            assert_eq!((&asked["irreversible"], &asked["risk_level"]), (&json!(true), &json!(risk)), "{tool}");
        }
        // An action without a policy entry is irreversible and of high risk, despite its caller's claims.
        let mut worded = json!({ "action": "Water the plants", "consequence": "They are wet" });
        worded.as_object_mut().unwrap().extend(loose.as_object().unwrap().clone());
        let asked = agent.requests_confirmation(&plane, &worded).await.expect(201).json();
        assert_eq!((&asked["irreversible"], &asked["risk_level"]), (&json!(true), &json!("high")));

        let strict = json!({ "irreversible": true, "risk_level": "high" });
        let asked = agent.requests_confirmation(&plane, &with("notes.tidy", 1, &strict)).await.expect(201).json();
        assert_eq!((&asked["irreversible"], &asked["risk_level"]), (&json!(true), &json!("high")));
        plane.advance_secs(300).await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["expired_as"], "reject", "tightened, it defaults to no");
    }

    /// AAEP-6.4.1-01, AAEP-6.4.1-02, AAEP-6.4.1-03, AAEP-6.4.1-04, AAEP-6.4.1-07, AAEP-6.4.1-09
    async fn nothing_irreversible_or_of_high_risk_or_unknown_defaults_to_accept(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let wish = |change: Value| {
            let mut wish = json!({ "default_decision": "accept", "timeout_seconds": 60 });
            wish.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            wish
        };
        // Policy accepts tidying by default, so only the request's own members can forbid it.
        let plain = agent.requests_confirmation(&plane, &with("notes.tidy", 1, &wish(json!({})))).await.expect(201).json();
        agent.withdraws(&plane, &plain, &json!({})).await.expect(200);
        for (tool, change) in [
            ("payments.send", json!({ "irreversible": false, "risk_level": "low" })),
            ("notes.purge", json!({})),
            ("notes.tidy", json!({ "risk_level": "high" })),
            ("notes.tidy", json!({ "reversibility": "irreversible" })),
            ("notes.archive", json!({})),
        ] {
            let answer = agent.requests_confirmation(&plane, &with(tool, 1, &wish(change.clone()))).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{tool} {change}");
        }
        assert_eq!(alice.pending_questions(&plane).await, 0);
        // Neither an event nor a project's document gets past it.
        let session = agent.opens_session(&plane).await;
        let members = json!({ "action": "Wipe it", "consequence": "It is gone", "timeout_seconds": 60,
            "default_decision": "accept", "risk_level": "high", "irreversible": true });
        let spoken = agent.publishes(&plane, &session, &event("awaiting.confirmation", members)).await;
        assert_eq!(spoken.refusal(), (400, "invalid_request".into()));
        for tool in ["payments.send", "mail.send", "notes.purge"] {
            let mut document = payments("calendar");
            let policy = document.actions.iter_mut().find(|policy| policy.name == tool).unwrap();
            policy.default_decision = Some(YesNo::Accept);
            assert!(plane.engine.apply_project(document, "test").await.is_err(), "{tool}");
        }
    }

    /// AAEP-6.4.1-10
    async fn the_time_to_answer_is_policys_and_lies_within_its_bounds(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        for (seconds, status) in [(9, 400), (10, 201), (120, 201), (121, 400)] {
            let wish = json!({ "timeout_seconds": seconds });
            let answer = agent.requests_confirmation(&plane, &with("notes.archive", seconds, &wish)).await.expect(status);
            if status == 201 {
                assert_eq!(seconds_left(&plane, &answer.json()), i64::from(seconds));
            }
        }
    }

    ///
    async fn where_policy_names_approvers_only_their_approval_counts_and_only_with_enough_proof(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let bob = plane.person_in("calendar", "bob", &[Role::Approver]).await;
        let asked = agent.requests_approval(&plane, "payments.release", json!({ "batch": 1 })).await;
        assert_eq!(alice.tries(&plane, &asked, true).await, Some(NotCounted::NotEntitled));
        plane.advance_secs(299).await;
        let stale = agent.requests_approval(&plane, "payments.release", json!({ "batch": 2 })).await;
        plane.advance_secs(2).await;
        assert!(matches!(bob.tries(&plane, &stale, true).await, Some(NotCounted::TooWeak(_))));
        let bob = countersign_testkit::TestPerson::sign_in(&plane, "bob").await;
        bob.accepts(&plane, &stale).await;
        let settled = agent.reads_decision(&plane, &stale).await.expect(200).json();
        assert_eq!((&settled["state"], &settled["assurance"]), (&json!("accepted"), &json!("fresh")));
        // The rejection by the person for whom the agent acts always counts.
        let third = agent.requests_approval(&plane, "payments.release", json!({ "batch": 3 })).await;
        let alice = countersign_testkit::TestPerson::sign_in(&plane, "alice").await;
        alice.rejects(&plane, &third, None).await;
        assert_eq!(agent.reads_decision(&plane, &third).await.json()["state"], "rejected");
    }

    ///
    async fn a_question_that_nobody_could_answer_is_refused(kit) {
        let setup = Setup::payments_with(|document| document.actions[1].approvers = vec!["user:nobody".into()]);
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture_with(setup).await;
        let answer = agent.requests_confirmation(&plane, &confirmation("payments.release", json!({}))).await;
        assert_eq!(answer.refusal(), (403, "not_authorized".into()));
    }

    ///
    async fn a_key_asks_only_for_the_actions_and_only_the_people_that_it_lists(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let bob = plane.person("bob").await;
        let agent = plane.key_of(ApiKeyKind::Agent, "alice", &["mail.send"], &["bob"]).await;
        let answer = agent.requests_confirmation(&plane, &confirmation("payments.send", json!({}))).await;
        assert_eq!(answer.refusal(), (403, "not_authorized".into()));
        assert_eq!((alice.pending_questions(&plane).await, bob.pending_questions(&plane).await), (0, 0));
        let asked = agent.requests_approval(&plane, "mail.send", json!({})).await;
        assert_eq!((alice.pending_questions(&plane).await, bob.pending_questions(&plane).await), (1, 1));
        let carol = plane.person("carol").await;
        assert_eq!(carol.tries(&plane, &asked, false).await, Some(NotCounted::NotEntitled));
        bob.accepts(&plane, &asked).await;
        assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "accepted");
    }
}

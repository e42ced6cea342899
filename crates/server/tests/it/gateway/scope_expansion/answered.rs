//! The person's answer, and what it allows.

use super::*;
use countersign_engine::NotCounted;
use countersign_testkit::{deadline::until, on_both_stores, on_sqlite};

on_both_stores! {
    /// AAP-G-49, C-63
    async fn an_approval_lets_the_retry_pass_and_allows_nothing_else(kit) {
        let scene = kit.bank().await;
        let (agent, other) = (reader(&scene).await, reader(&scene).await);
        let asked = asks(&scene, &agent, note()).await;
        scene.alice.accepts(&scene.plane, &asked).await;
        let polled = polls(&scene, &agent).await;
        assert_eq!((&polled["status"], &polled["scopes"]), (&json!("approved"), &json!(["bank.note"])));
        let until = polled["expires_at"].as_str().unwrap().to_owned();
        scene.sends_as(&agent, note()).await.expect(201);
        scene.sends_as(&agent, note()).await.expect(201);
        assert_eq!(asks(&scene, &agent, payee()).await["scopes"], json!(["bank.payees"]));
        // Another task of the same delegation has its own consent.
        assert_ne!(asks(&scene, &other, note()).await["decision_id"], asked["decision_id"]);

        assert_eq!(recorded(&scene).await, ["raised", "approved", "raised", "raised"]);
        let approved = &entries(&scene).await[1];
        assert_eq!((&approved["by"], &approved["scopes"]), (&json!("user"), &json!(["bank.note"])));
        assert_eq!((&approved["session_id"], &approved["decision_id"]), (&json!(agent.session_id), &asked["decision_id"]));
        let calls = scene.calls().await;
        let used = calls.iter().filter(|call| call["expanded_scope"] == "bank.note");
        assert_eq!(used.map(|call| call["outcome"].as_str().unwrap()).collect::<Vec<_>>(), ["201 Created"; 2]);
        let shown = summary(&scene, &scene.alice).await;
        assert_eq!(shown.len(), 1);
        let one = &shown[0];
        assert_eq!((&one["scope"], &one["by"], &one["session_id"]), (&json!("bank.note"), &json!("approval"), &json!(agent.session_id)));
        assert_eq!((&one["decision_id"], &one["expires_at"]), (&asked["decision_id"], &json!(until)));
    }

    /// AAP-G-49
    async fn a_denial_stays_and_its_reason_reaches_the_agent_which_asks_nobody_again_at_once(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let asked = asks(&scene, &agent, note()).await;
        scene.alice.rejects(&scene.plane, &asked, Some("not for this task")).await;
        let refused = scene.sends_as(&agent, note()).await;
        assert_eq!(refused.refusal(), exceeded());
        let told = request_in(&refused);
        for answer in [&told, &polls(&scene, &agent).await] {
            assert_eq!((&answer["status"], &answer["denied_for"]), (&json!("denied"), &json!("rejected")));
            assert_eq!((&answer["reason"], &answer["decision_id"]), (&json!("not for this task"), &asked["decision_id"]));
        }
        assert_eq!((pending(&scene).await, scene.bank.got().len()), (0, 0));
        assert_eq!(recorded(&scene).await, ["raised", "denied"]);

        scene.plane.advance_secs(599).await;
        assert_eq!(asks(&scene, &agent, note()).await["decision_id"], asked["decision_id"]);
        scene.plane.advance_secs(1).await;
        assert_ne!(asks(&scene, &agent, note()).await["decision_id"], asked["decision_id"]);
        assert_eq!(pending(&scene).await, 1);
    }

    ///
    async fn an_unanswered_request_counts_as_denied_and_is_recorded_as_expired(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let asked = asks(&scene, &agent, note()).await;
        scene.plane.advance_secs(900).await;
        assert!(matches!(scene.alice.tries(&scene.plane, &asked, true).await, Some(NotCounted::Settled)));
        let polled = polls(&scene, &agent).await;
        assert_eq!((&polled["status"], &polled["denied_for"]), (&json!("denied"), &json!("expired")));
        assert_eq!(asks(&scene, &agent, note()).await["decision_id"], asked["decision_id"]);
        assert_eq!((recorded(&scene).await, pending(&scene).await), (vec!["raised".to_owned(), "expired".into()], 0));
        scene.plane.advance_secs(600).await;
        assert_ne!(asks(&scene, &agent, note()).await["decision_id"], asked["decision_id"]);
    }

    ///
    async fn a_restart_keeps_the_pending_request_and_what_was_approved(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, |_| {}).await;
        let agent = reader(&scene).await;
        let noted = asks(&scene, &agent, note()).await;
        scene.alice.accepts(&scene.plane, &noted).await;
        let asked = asks(&scene, &agent, payee()).await;
        let scene = scene.restarted().await;
        scene.sends_as(&agent, note()).await.expect(201);
        assert_eq!(asks(&scene, &agent, payee()).await["decision_id"], asked["decision_id"]);
        scene.alice.accepts(&scene.plane, &asked).await;
        assert_eq!(polls(&scene, &agent).await["status"], "approved");
    }
}

on_sqlite! {
    ///
    async fn an_expansion_never_loosens_a_confirmation(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        for sent in [payee(), BankFixture::transfer()] {
            let asked = asks(&scene, &agent, sent.clone()).await;
            scene.alice.accepts(&scene.plane, &asked).await;
            let held = scene.sends_as(&agent, sent.clone()).await;
            assert_eq!(held.refusal(), (403, "irreversible_requires_confirm".into()));
            // The approval of the scope is none of the call.
            assert_eq!(scene.sends_as(&agent, sent.confirmed("true")).await.refusal().0, 403);
        }
        assert_eq!(scene.bank.got().len(), 0);
    }

    /// R-4, AAP-G-49
    async fn only_the_person_of_the_delegation_answers_and_only_signed_in(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let (phone, mut heard) = scene.alice.subscribed(&scene.plane).await;
        let asked = asks(&scene, &agent, note()).await;
        let event = heard.next_of("awaiting.confirmation").await;
        let (bob, carol) = (scene.plane.person("bob").await, scene.plane.person("carol").await);
        scene.plane.give_roles("bank", "carol", &[countersign_engine::Role::Admin, countersign_engine::Role::Approver]).await;
        for other in [&bob, &carol] {
            assert!(matches!(other.tries(&scene.plane, &asked, true).await, Some(NotCounted::NotEntitled)));
        }
        let id = asked["decision_id"].as_str().unwrap();
        // The agent's token is no subscriber's, claims nothing, and reads what it may not answer.
        for (path, body) in [
            (format!("/v1/decisions/{id}/claim"), json!({ "digest": scene.reads_decision(&agent, &asked).await["digest"] })),
            ("/aaep/messages".to_owned(), json!({ "type": "agent.reply" })),
        ] {
            let status = scene.posts(&agent, &path, &body).await.status;
            assert!((400..500).contains(&status), "{path}: {status}");
        }
        assert_eq!(scene.reads_decision(&agent, &asked).await["kind"], "scope_expansion");
        assert_eq!(scene.sends_as(&agent, note()).await.refusal(), exceeded());
        // A subscriber token may reject, and never approve.
        phone.accepts(&scene.plane, &event).await.expect(204);
        assert_eq!(polls(&scene, &agent).await["status"], "pending");
        scene.alice.accepts(&scene.plane, &asked).await;
        scene.sends_as(&agent, note()).await.expect(201);
    }

    ///
    async fn after_three_rejections_of_a_scope_no_task_of_the_delegation_asks_for_it(kit) {
        let scene = kit.bank().await;
        for _ in 0..3 {
            let asked = asks(&scene, &reader(&scene).await, note()).await;
            scene.alice.rejects(&scene.plane, &asked, None).await;
        }
        let refused = scene.sends_as(&reader(&scene).await, note()).await;
        assert_eq!(refused.refusal(), (429, "too_many_requests".into()));
        assert_eq!(pending(&scene).await, 0);
        // Neither other scopes nor confirmations are paused.
        asks(&scene, &reader(&scene).await, payee()).await;
        assert_eq!(scene.sends(BankFixture::transfer()).await.refusal(), (403, "irreversible_requires_confirm".into()));
    }

    async fn a_poll_waits_for_the_answer(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let asked = asks(&scene, &agent, note()).await;
        let path = format!("/agent/scope-approval?session_id={}&wait=30", agent.session_id);
        let (polled, _) = tokio::join!(scene.requests(&agent, Method::GET, &path), async {
            until("the poll", async || scene.plane.engine.pending_requests() > 0).await;
            scene.alice.accepts(&scene.plane, &asked).await
        });
        assert_eq!(polled.expect(200).json()["status"], "approved");
        let path = format!("/agent/scope-approval?session_id={}&wait=56", agent.session_id);
        assert_eq!(scene.requests(&agent, Method::GET, &path).await.refusal(), (400, "invalid_request".into()));
    }
}

//! `notify`: one request to the person, within the limits; and `reject`.

use super::*;
use countersign_testkit::{on_both_stores, on_sqlite};
use futures_util::future::join_all;

on_sqlite! {
    /// AAP-G-48, AAP-3-07
    async fn a_project_that_rejects_asks_nobody_and_has_nothing_pending(kit) {
        let scene = kit.bank_with(expanding("reject")).await;
        let agent = reader(&scene).await;
        for sent in [note(), payee(), BankFixture::transfer()] {
            let refused = scene.sends_as(&agent, sent).await;
            assert_eq!(refused.refusal(), exceeded());
            assert_eq!(refused.json()["scope_request"], Value::Null);
        }
        assert_eq!(polls(&scene, &agent).await, json!({
            "session_id": agent.session_id, "status": "none", "scopes": [], "requests": [],
        }));
        assert_eq!((pending(&scene).await, scene.bank.got().len(), recorded(&scene).await.len()), (0, 0, 0));
    }

    /// AAP-19.1-08, AAP-G-51, AAP-3-07
    async fn a_project_without_the_member_publishes_notify_and_behaves_so(kit) {
        let scene = kit.bank().await;
        let manifest = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        assert_eq!(manifest["scope_expansion"], "notify");
        assert_eq!(manifest["endpoints"]["scope_approval"], "/agent/scope-approval");
        asks(&scene, &reader(&scene).await, note()).await;
        assert_eq!(pending(&scene).await, 1);
    }

    /// AAP-19.1-08, AAP-3-07
    async fn another_value_is_refused_with_the_member_named(kit) {
        let scene = kit.bank().await;
        for other in ["sometimes", "Notify", ""] {
            let mut document = (*scene.plane.at().await.project.document).clone();
            document.scope_expansion = other.into();
            // A node applies the project of its own file in the same way when it starts.
            let why = format!("{:?}", scene.plane.engine.apply_project(document, "node").await.unwrap_err());
            assert!(why.contains("scope_expansion") && why.contains("must be reject, notify or silent"), "{why}");
        }
    }

    /// AAP-G-49, AAP-16.2-10, AAP-12.3-02
    async fn a_scope_beyond_the_delegation_is_never_offered(kit) {
        let scene = kit.bank().await;
        let narrow = scene.plane.connect(&scene.alice, scene.plane.acme(), &["bank.read"]).await;
        let agent = scene.plane.holder(&narrow, |_| {}).await;
        for sent in [note(), payee()] {
            assert_eq!(scene.sends_as(&agent, sent).await.refusal(), (403, "scope_not_granted".into()));
        }
        assert_eq!((pending(&scene).await, polls(&scene, &agent).await["status"].clone()), (0, json!("none")));
    }

    async fn an_exclusion_of_a_granted_scope_is_refused_and_nobody_is_asked(kit) {
        let scene = kit.bank_with(|document| document.scopes[0].explicitly_excludes = vec!["notes.write".into()]).await;
        let agent = reader(&scene).await;
        assert_eq!(scene.sends_as(&agent, note()).await.refusal(), (403, "scope_not_granted".into()));
        assert_eq!(pending(&scene).await, 0);
    }

    async fn a_dry_run_asks_nobody(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let refused = scene.sends_as(&agent, note().with("x-agent-dry-run", "true")).await;
        assert_eq!(refused.refusal(), exceeded());
        assert_eq!(pending(&scene).await, 0);
    }

    async fn the_scope_with_the_fewest_actions_is_requested(kit) {
        let scene = kit.bank_with(|document| document.scopes[2].allows.push("notes.write".into())).await;
        let agent = reader(&scene).await;
        assert_eq!(asks(&scene, &agent, note()).await["scopes"], json!(["bank.note"]));
    }

    ///
    async fn beyond_the_limits_it_is_429_and_nobody_is_disturbed(kit) {
        let scene = kit.bank_with(|document| document.decisions.max_open_per_agent = 1).await;
        let agent = reader(&scene).await;
        asks(&scene, &agent, note()).await;
        let refused = scene.sends_as(&agent, payee()).await;
        assert_eq!(refused.refusal(), (429, "too_many_requests".into()));
        assert!(refused.header("retry-after").is_some());
        assert_eq!((pending(&scene).await, recorded(&scene).await), (1, vec!["raised".to_owned()]));
    }

    async fn a_session_that_is_not_the_callers_own_looks_unknown(kit) {
        let scene = kit.bank().await;
        let (agent, other) = (reader(&scene).await, reader(&scene).await);
        asks(&scene, &agent, note()).await;
        for id in [agent.session_id.as_str(), "sess_unknown"] {
            assert_eq!(polls_for(&scene, &other, id).await.refusal(), (404, "session_not_found".into()));
        }
        let bob = scene.plane.person("bob").await;
        let theirs = scene.plane.connect(&bob, scene.plane.acme(), &["bank.read"]).await;
        let theirs = scene.plane.holder(&theirs, |_| {}).await;
        assert_eq!(polls_for(&scene, &theirs, &agent.session_id).await.refusal(), (404, "session_not_found".into()));
        let path = format!("/agent/scope-approval?session_id={}", agent.session_id);
        assert_eq!(bob.get(&scene.plane, &path).await.refusal(), (401, "agent_auth_required".into()));
        assert_eq!(scene.alice.get(&scene.plane, &path).await.refusal(), (401, "agent_auth_required".into()));
        assert_eq!(summary(&scene, &bob).await, Vec::<Value>::new());
        assert_eq!(bob.pending_questions(&scene.plane).await, 0);
        let missing = scene.requests(&agent, Method::GET, "/agent/scope-approval").await;
        assert_eq!(missing.refusal(), (400, "invalid_request".into()));
    }

    /// AAP-18.2-02, C-28
    async fn an_agent_proves_its_key_to_revoke_complete_cancel_and_poll_and_a_person_needs_none(kit) {
        let scene = kit.bank_with(|document| document.dpop.required = true).await;
        let agent = reader(&scene).await;
        let poll = format!("/agent/scope-approval?session_id={}", agent.session_id);
        let session = json!({ "session_id": agent.session_id });
        let delegation = json!({ "delegation_id": agent.delegation_id });
        for (method, path, body) in [
            (Method::GET, poll.as_str(), Value::Null),
            (Method::POST, "/agent/task-complete", session.clone()),
            (Method::POST, "/agent/cancel", session),
            (Method::POST, "/agent/revoke", delegation.clone()),
        ] {
            for scheme in ["Bearer", "DPoP"] {
                let request = countersign_testkit::agent_request(method.clone(), path)
                    .header("authorization", format!("{scheme} {}", agent.access_token));
                let body = if body.is_null() { String::new() } else { body.to_string() };
                let answer = scene.plane.send(request.body(axum::body::Body::from(body)).unwrap()).await;
                assert_eq!(answer.refusal(), (401, "dpop_missing".into()), "{path} {scheme}");
            }
        }
        polls(&scene, &agent).await;
        scene.alice.post(&scene.plane, "/agent/revoke", &delegation).await.expect(200);
    }
}

on_both_stores! {
    /// AAP-G-49, R-3
    async fn the_first_call_raises_one_request_and_every_repeat_returns_it(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let first = asks(&scene, &agent, note()).await;
        let again = asks(&scene, &agent, note()).await;
        assert_eq!(again, first);
        assert_eq!((&first["status"], &first["scopes"]), (&json!("pending"), &json!(["bank.note"])));
        let poll = format!("{}/agent/scope-approval?session_id={}", scene.plane.service(), agent.session_id);
        assert_eq!(first["poll"], poll);
        let polled = polls(&scene, &agent).await;
        for member in ["status", "scopes", "expires_at", "decision_id", "page"] {
            assert_eq!(polled[member], first[member], "{member}");
        }
        assert_eq!(polled["requests"].as_array().unwrap().len(), 1);
        assert_eq!((pending(&scene).await, recorded(&scene).await), (1, vec!["raised".to_owned()]));
        assert_eq!(scene.bank.got().len(), 0);

        // A further scope is a question of its own.
        let other = asks(&scene, &agent, payee()).await;
        assert_ne!(other["decision_id"], first["decision_id"]);
        assert_eq!((pending(&scene).await, polls(&scene, &agent).await["requests"].as_array().unwrap().len()), (2, 2));
    }

    ///
    async fn of_concurrent_first_calls_one_raises_the_request(kit) {
        let scene = kit.bank().await;
        let agent = reader(&scene).await;
        let answers = join_all((0..8).map(|_| scene.sends_as(&agent, note()))).await;
        let mut ids: Vec<Value> = answers.iter().map(|answer| request_in(answer)["decision_id"].clone()).collect();
        ids.dedup();
        assert_eq!((ids.len(), pending(&scene).await), (1, 1));
        assert!(answers.iter().all(|answer| answer.refusal() == exceeded()));
        assert_eq!(recorded(&scene).await, ["raised"]);
    }
}

//! Asking: one question an action, and the same one only once (AAEP 6.1, E-07).

use countersign_testkit::{
    AgentFixture, Setup,
    decisions::{DecisionFixture, confirmation},
    on_both_stores,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn worded(action: &str, consequence: &str) -> Value {
    json!({ "action": action, "consequence": consequence })
}

on_both_stores! {
    /// AAEP-6.1-09
    async fn the_same_action_asked_for_again_is_the_question_that_is_open(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let body = confirmation("payments.send", json!({ "amount": 82, "to": "ACME" }));
        let first = agent.requests_confirmation(&plane, &body).await.expect(201);
        let asked = first.json();
        let id = asked["decision_id"].as_str().unwrap();
        assert_eq!(first.header("location"), Some(format!("/v1/decisions/{id}").as_str()));
        assert_eq!((&asked["state"], &asked["kind"]), (&json!("pending"), &json!("confirmation")));
        let again = agent.requests_confirmation(&plane, &body).await.expect(200);
        assert_eq!((again.json(), again.header("location")), (asked.clone(), None));
        // Members in another order and another text: the tool and its arguments identify the action.
        let mut reworded = confirmation("payments.send", json!({ "to": "ACME", "amount": 82.0 }));
        reworded["action"] = json!("Pay the invoice");
        assert_eq!(agent.requests_confirmation(&plane, &reworded).await.expect(200).json()["decision_id"], id);
        assert_eq!(alice.pending_questions(&plane).await, 1);

        let changed = agent.requests_approval(&plane, "payments.send", json!({ "amount": 83, "to": "ACME" })).await;
        assert_ne!((&changed["decision_id"], &changed["digest"]), (&asked["decision_id"], &asked["digest"]));
        assert_eq!(alice.pending_questions(&plane).await, 2);

        alice.rejects(&plane, &asked, None).await;
        let anew = agent.requests_confirmation(&plane, &body).await.expect(201).json();
        assert_ne!(anew["decision_id"], asked["decision_id"]);
        assert_eq!(anew["digest"], asked["digest"], "the same action has the same digest");
    }

    /// AAEP-6.1-09
    async fn without_a_tool_the_words_are_the_action_and_an_idempotency_key_goes_before_them(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let first = agent.requests_confirmation(&plane, &worded("Send the letter", "It cannot be called back")).await.expect(201).json();
        let again = agent.requests_confirmation(&plane, &worded("Send the letter", "It cannot be called back")).await.expect(200).json();
        assert_eq!(again["decision_id"], first["decision_id"]);
        let mut others = vec![
            worded("Send the letter!", "It cannot be called back"),
            worded("Send the letter", "It cannot be called back!"),
        ];
        others.push(worded("Send the letter", "It cannot be called back"));
        others[2]["extra_context"] = json!({ "pages": 2 });
        let mut ids = BTreeSet::from([first["decision_id"].to_string()]);
        for other in &others {
            ids.insert(agent.requests_confirmation(&plane, other).await.expect(201).json()["decision_id"].to_string());
        }
        assert_eq!(ids.len(), 4, "one changed character is another question");

        let keyed = |key: &str, action: &str| {
            let mut body = worded(action, "It cannot be called back");
            body["idempotency_key"] = json!(key);
            body
        };
        let one = agent.requests_confirmation(&plane, &keyed("letter-1", "Send the letter")).await.expect(201).json();
        let reworded = agent.requests_confirmation(&plane, &keyed("letter-1", "Send that letter")).await.expect(200).json();
        assert_eq!(reworded["decision_id"], one["decision_id"]);
        let two = agent.requests_confirmation(&plane, &keyed("letter-2", "Send the letter")).await.expect(201).json();
        assert_ne!(two["decision_id"], one["decision_id"]);
    }

    ///
    async fn an_idempotency_key_of_another_agent_leads_to_no_question_of_its(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let other = plane.agent_key("alice", &["payments.send"]).await;
        let mut body = worded("Send the letter", "It cannot be called back");
        body["idempotency_key"] = json!("letter-1");
        let mine = agent.requests_confirmation(&plane, &body).await.expect(201).json();
        let theirs = other.requests_confirmation(&plane, &body).await.expect(201).json();
        assert_ne!(mine["decision_id"], theirs["decision_id"]);
        let tool = confirmation("payments.send", json!({ "amount": 1 }));
        let mine = agent.requests_confirmation(&plane, &tool).await.expect(201).json();
        let theirs = other.requests_confirmation(&plane, &tool).await.expect(201).json();
        assert_ne!((&mine["decision_id"], &mine["digest"]), (&theirs["decision_id"], &theirs["digest"]));
    }

    /// AAEP-6.1-09
    async fn of_simultaneous_raises_of_one_action_a_single_question_comes(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let body = confirmation("payments.send", json!({ "amount": 82 }));
        let raises = (0..20).map(|_| agent.requests_confirmation(&plane, &body));
        let answers = futures_util::future::join_all(raises).await;
        let ids: BTreeSet<String> = answers.iter().map(|answer| answer.json()["decision_id"].to_string()).collect();
        let fresh = answers.iter().filter(|answer| answer.status == 201).count();
        let known = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!((ids.len(), fresh, known), (1, 1, 19));
        assert_eq!(alice.pending_questions(&plane).await, 1);
    }

    ///
    async fn a_question_about_an_executed_action_names_its_last_execution(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let arguments = json!({ "amount": 82 });
        let asked = agent.requests_approval(&plane, "payments.send", arguments.clone()).await;
        assert_eq!(asked.get("last_ran_at"), None);
        alice.accepts(&plane, &asked).await;
        let claim = json!({ "tool": "payments.send", "arguments": arguments });
        agent.claims(&plane, &asked, &claim).await.expect(200);
        let ran_at = plane.now().to_rfc3339();
        agent.reports(&plane, &asked, "committed").await.expect(200);
        plane.advance_secs(60).await;
        let anew = agent.requests_approval(&plane, "payments.send", arguments).await;
        assert_eq!(anew["last_ran_at"], ran_at);
        assert_eq!(agent.reads_decision(&plane, &anew).await.expect(200).json()["last_ran_at"], ran_at);
    }

    ///
    async fn an_access_token_asks_as_its_delegation_and_every_path_also_stands_under_its_project(kit) {
        let AgentFixture { plane, alice, agent, .. } = kit.fixture_with(Setup::payments(), &["calendar.read"]).await;
        let agent = agent.as_test_agent();
        let body = confirmation("payments.send", json!({ "amount": 82 }));
        let scoped = "/projects/calendar/v1";
        let answer = agent.post(&plane, &format!("{scoped}/confirmations"), &body).await.expect(201);
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let asked = answer.json();
        let below = format!("{scoped}/decisions/{}", asked["decision_id"].as_str().unwrap());
        assert_eq!(agent.reads_decision(&plane, &asked).await.expect(200).header("cache-control"), Some("no-store"));
        let looked = agent.send(&plane.public, http::Method::GET, &below, None).await.expect(200);
        assert_eq!(looked.json(), asked);
        alice.accepts(&plane, &asked).await;
        let claim = json!({ "tool": "payments.send", "arguments": { "amount": 82 } });
        agent.post(&plane, &format!("{below}/claim"), &claim).await.expect(200);
        agent.post(&plane, &format!("{below}/outcome"), &json!({ "status": "committed" })).await.expect(200);
        let question = agent.post(&plane, &format!("{scoped}/clarifications"), &json!({ "question": "Which?" })).await;
        let below = format!("{scoped}/decisions/{}", question.expect(201).json()["decision_id"].as_str().unwrap());
        let withdrawn = agent.post(&plane, &format!("{below}/withdraw"), &json!({})).await.expect(200);
        assert_eq!(withdrawn.header("cache-control"), Some("no-store"));
        assert_eq!(withdrawn.json()["state"], "cancelled");
    }
}

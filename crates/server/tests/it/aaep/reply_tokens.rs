//! Tokens that tie a reply to its question: unguessable, single-use, and no credential.

use super::Waiting;
use countersign_testkit::{
    Backend, Kit, Setup, aaep::ReceivedEvents, decisions::DecisionFixture, leaks::Haystack, on_both_stores,
};
use serde_json::{Value, json};
use std::collections::HashSet;

fn token(question: &Value) -> String {
    question["reply_token"].as_str().unwrap().to_owned()
}

async fn tokens_of(asked: &DecisionFixture, heard: &mut ReceivedEvents, count: usize) -> Vec<String> {
    let mut tokens = Vec::new();
    for n in 0..count {
        asked.agent.requests_approval(&asked.plane, "mail.send", json!({ "n": n })).await;
        tokens.push(token(&heard.next_of("awaiting.confirmation").await));
    }
    tokens
}

fn roomy() -> Setup {
    Setup::payments_with(|document| {
        document.decisions.max_open_per_agent = 1000;
        document.decisions.max_open_per_person = 1000;
        document.decisions.max_raised_per_hour = 1000;
    })
}

on_both_stores! {
    /// AAEP-6.2-01, AAEP-6.2.1-02
    async fn every_question_has_a_token_of_32_hex_digits_that_stands_nowhere_at_rest(kit) {
        let (plane, _folder) = kit.lasting_plane(roomy()).await;
        let asked = DecisionFixture::on(plane).await;
        let (_phone, mut heard) = asked.alice.subscribed(&asked.plane).await;
        let mut tokens = tokens_of(&asked, &mut heard, 20).await;
        for n in 0..5 {
            asked.agent.requests_clarification(&asked.plane, &json!({ "question": format!("Which, {n}?") })).await.expect(201);
            tokens.push(token(&heard.next_of("awaiting.clarification").await));
        }
        for token in &tokens {
            let tail = token.strip_prefix("rpl_").unwrap();
            assert!(tail.len() == 32 && tail.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{token}");
        }
        assert_eq!(tokens.iter().collect::<HashSet<_>>().len(), tokens.len());
        // A later subscriber receives the same tokens.
        let (_tablet, mut at_tablet) = asked.alice.subscribed(&asked.plane).await;
        for _ in 0..20 {
            assert!(tokens.contains(&token(&at_tablet.next_of("awaiting.confirmation").await)));
        }
        let haystack = Haystack::stored(&asked.plane.place).await;
        for token in &tokens {
            haystack.assert_absent("a reply token", token.strip_prefix("rpl_").unwrap());
        }
    }

    /// AAEP-6.2.2-01, AAEP-6.9-02
    async fn a_token_that_was_used_is_used_for_good_also_a_day_later(kit) {
        let waiting = Waiting::on(kit).await;
        let reply = waiting.yes_but(|_| {});
        waiting.counts(&reply, "accepted").await;
        let settled = waiting.document().await;
        // The same action raised again is another question with another token; the captured reply does not fit it.
        waiting.plane.advance_secs(400).await;
        let again = waiting.agent.requests_approval(&waiting.plane, "payments.send", json!({ "amount": "82000" })).await;
        assert_ne!(again["decision_id"], settled["decision_id"]);
        let mut heard = waiting.heard;
        let question = heard.next_of("awaiting.confirmation").await;
        assert_ne!(question["reply_token"], reply["reply_token"]);
        assert_ne!(question["session_id"], waiting.question["session_id"]);
        for hours in [0, 1, 25] {
            waiting.plane.advance_secs(hours * 3600).await;
            let mut captured = reply.clone();
            captured["timestamp"] = json!(countersign_testkit::aaep::moment(waiting.plane.now()));
            for captured in [&reply, &captured] {
                assert_eq!(waiting.phone.replies(&waiting.plane, captured).await.status, 204);
            }
            let first = waiting.agent.reads_decision(&waiting.plane, &waiting.decision).await.json();
            assert_eq!((&first["state"], &first["settled_at"]), (&settled["state"], &settled["settled_at"]));
            let second = waiting.agent.reads_decision(&waiting.plane, &again).await.json();
            assert_ne!(second["state"], "accepted", "a reply to one question answers no other");
        }
    }

    /// AAEP-6.3.5-03
    async fn a_late_sender_hears_the_settlement_once_like_everybody_and_nothing_besides(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let (phone, mut at_phone) = alice.subscribed(&plane).await;
        let (tablet, mut at_tablet) = alice.subscribed(&plane).await;
        agent.requests_approval(&plane, "payments.send", json!({})).await;
        let question = at_phone.next_of("awaiting.confirmation").await;
        at_tablet.next_of("awaiting.confirmation").await;
        phone.rejects(&plane, &question).await.expect(204);
        tablet.accepts(&plane, &question).await.expect(204);
        tablet.accepts(&plane, &question).await.expect(204);
        // Both receive the next event alike, and nothing follows for the late sender alone.
        agent.requests_approval(&plane, "mail.send", json!({})).await;
        for heard in [&mut at_phone, &mut at_tablet] {
            let changed = heard.event().await;
            assert_eq!((&changed["from_state"], &changed["to_state"]), (&json!("awaiting_input"), &json!("thinking")));
            assert_eq!(heard.event().await["type"], "aaep:agent.session.completed");
            assert_eq!(heard.event().await["type"], "aaep:agent.session.started");
        }
    }

    /// AAEP-6.6-04
    async fn the_forwarder_of_a_question_is_irrelevant_and_its_answerer_is_recorded(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let mut forwarder = alice.subscriber_like(&plane, json!({ "name": "bridge", "may_answer": false })).await;
        forwarder.subscribes_with(&plane, json!({ "supports_confirmation_reply": false })).await;
        let mut at_bridge = forwarder.opens_stream(&plane).await;
        let mut phone = alice.subscriber(&plane).await;
        phone.subscribes(&plane).await;
        let decision = agent.requests_approval(&plane, "payments.send", json!({})).await;
        // The phone never received the event itself: the bridge handed it over out of band.
        let question = at_bridge.next_of("awaiting.confirmation").await;
        let reply = phone.approval(&plane, &question);
        assert!(reply.as_object().unwrap().keys().all(|name| !name.contains("forward")));
        let taken_back = alice.subscriber(&plane).await;
        let path = format!("/aaep/v1/subscriber-tokens/{}", taken_back.token_id);
        alice.send(&plane, http::Method::DELETE, &path, &json!(null)).await.expect(200);
        let bob = plane.person("bob").await.subscriber(&plane).await;
        for (whose, token, status) in [
            ("none", String::new(), 401),
            ("an unknown one", "cst_guessed".into(), 401),
            ("one that was taken back", taken_back.token, 401),
            ("the agent's own key", agent.token.clone(), 401),
            ("the forwarder's, which only listens", forwarder.token.clone(), 204),
            ("somebody else's", bob.token, 204),
        ] {
            let mut sender = phone.clone();
            sender.token = token;
            assert_eq!(sender.replies(&plane, &reply).await.status, status, "{whose}");
            assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending", "{whose}");
        }
        phone.replies(&plane, &reply).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
    }
}

/// AAEP-6.2.2-02
#[tokio::test]
async fn two_installations_have_no_token_in_common() {
    let mut seen = HashSet::new();
    for seed in [1, 2] {
        let setup = Setup { seed, ..roomy() };
        let asked = DecisionFixture::on(Kit(Backend::Sqlite).plane_with(setup).await).await;
        let (_phone, mut heard) = asked.alice.subscribed(&asked.plane).await;
        for token in tokens_of(&asked, &mut heard, 100).await {
            assert!(seen.insert(token), "a token of one installation in the other");
        }
    }
    assert_eq!(seen.len(), 200);
}

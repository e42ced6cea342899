//! `confirmation.reply` on the wire: a malformed message is refused, a well-formed one acknowledged, and only a reply
//! that is valid in every respect counts (AAEP 6.3).

use super::Waiting;
use countersign_testkit::{
    decisions::{DecisionFixture, confirmation},
    on_sqlite,
};
use serde_json::{Value, json};

on_sqlite! {
    /// AAEP-6.3.1-02
    async fn a_token_counts_exactly_as_it_was_given_out(kit) {
        let waiting = Waiting::on(kit).await;
        let token = waiting.question["reply_token"].as_str().unwrap().to_owned();
        let at = token.rfind(|c: char| c.is_ascii_lowercase()).expect("a letter in the token");
        let other = format!("{}{}{}", &token[..at], token[at..=at].to_uppercase(), &token[at + 1..]);
        assert!(other != token);
        waiting.does_not_count(&waiting.yes_but(|reply| reply["reply_token"] = json!(other))).await;
        waiting.counts(&waiting.yes_but(|_| {}), "accepted").await;
    }

    /// AAEP-6.3.1-04
    async fn a_subscription_that_is_not_the_senders_or_not_open_carries_no_answer(kit) {
        let waiting = Waiting::on(kit).await;
        let plane = &waiting.plane;
        let mut closed = waiting.alice.subscriber(plane).await;
        closed.subscribes(plane).await;
        let close = json!({ "type": "subscription.close", "subscription_id": closed.subscription_id });
        closed.replies(plane, &close).await.expect(204);
        let bob = plane.person("bob").await;
        let mut of_bob = bob.subscriber(plane).await;
        of_bob.subscribes(plane).await;
        let unknown = "sub_00000000000000000000000000000000".to_owned();
        for id in [closed.subscription_id, of_bob.subscription_id.clone(), unknown] {
            waiting.does_not_count(&waiting.yes_but(|reply| reply["subscription_id"] = json!(id))).await;
        }
        // Nor with alice's subscription id.
        of_bob.subscription_id = waiting.phone.subscription_id.clone();
        of_bob.accepts(plane, &waiting.question).await.expect(204);
        assert_eq!(waiting.state().await, "pending");
    }

    /// AAEP-6.3.1-04
    async fn another_subscription_of_the_same_person_counts(kit) {
        let waiting = Waiting::on(kit).await;
        let mut other = waiting.alice.subscriber(&waiting.plane).await;
        other.subscribes(&waiting.plane).await;
        waiting.counts(&waiting.yes_but(|reply| reply["subscription_id"] = json!(other.subscription_id)), "accepted").await;
    }

    /// AAEP-6.3.4-01, AAEP-6.2.1-01, AAEP-6.3.1-01, AAEP-6.3.1-03, AAEP-6.3.1-05
    async fn an_invalid_reply_is_refused_before_anything_is_looked_up(kit) {
        let waiting = Waiting::on(kit).await;
        let tail = waiting.question["reply_token"].as_str().unwrap().strip_prefix("rpl_").unwrap();
        assert!(tail.len() == 32 && tail.bytes().all(|b| b.is_ascii_hexdigit()), "{tail}");
        for member in ["type", "reply_token", "decision", "subscription_id", "timestamp"] {
            waiting.is_no_message(&waiting.yes_but(|reply| drop(reply.as_object_mut().unwrap().remove(member)))).await;
        }
        let wrong: [(&str, Value); 10] = [
            ("type", json!("confirmation")), ("type", json!("Confirmation.Reply")), ("decision", json!("maybe")),
            ("timestamp", json!("noon")),
            ("extra", json!(1)), ("session_id", json!("sess_1")), ("reply_token", json!(["rpl_1"])),
            ("reply_token", json!("dec_1")), ("modified_action", json!("less")), ("decided_by", json!("")),
        ];
        for (member, value) in wrong {
            waiting.is_no_message(&waiting.yes_but(|reply| reply[member] = value)).await;
        }
        let text = waiting.yes_but(|_| {}).to_string();
        for text in [text[..text.len() - 1].to_owned(), format!("{text}{text}"), format!("[{text}]"), String::new()] {
            let answer = waiting.phone.post_text(&waiting.plane, "/aaep/v1/replies", text).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()));
        }
        assert_eq!(waiting.state().await, "pending");
    }

    /// AAEP-6.3.4-02, AAEP-6.3.4-07
    async fn a_token_of_no_question_changes_nothing(kit) {
        let waiting = Waiting::on(kit).await;
        for token in ["rpl_00000000000000000000000000000000", "rpl_x"] {
            waiting.does_not_count(&waiting.yes_but(|reply| reply["reply_token"] = json!(token))).await;
        }
        waiting.counts(&waiting.yes_but(|_| {}), "accepted").await;
    }

    /// AAEP-6.3.4-06, AAEP-6.3.4-07
    async fn a_question_takes_no_answer_that_it_does_not_allow(kit) {
        let asked = kit.decision_fixture().await;
        let (phone, mut heard) = asked.alice.subscribed(&asked.plane).await;
        let mut body = confirmation("payments.send", json!({}));
        body["allowed_replies"] = json!(["reject"]);
        let decision = asked.agent.requests_confirmation(&asked.plane, &body).await.expect(201).json();
        let question = heard.next_of("awaiting.confirmation").await;
        assert_eq!(question["allowed_replies"], json!(["reject"]));
        phone.accepts(&asked.plane, &question).await.expect(204);
        assert_eq!(asked.agent.reads_decision(&asked.plane, &decision).await.json()["state"], "pending");
        phone.rejects(&asked.plane, &question).await.expect(204);
        assert_eq!(asked.agent.reads_decision(&asked.plane, &decision).await.json()["state"], "rejected");
    }

    /// AAEP-6.2.4-01, AAEP-6.3.4-05
    async fn a_reply_token_without_a_proven_person_is_worth_nothing(kit) {
        let waiting = Waiting::on(kit).await;
        let plane = &waiting.plane;
        let reply = waiting.yes_but(|_| {});
        let mut nobody = waiting.phone.clone();
        for token in ["", "cst_guessed", &waiting.agent.token] {
            nobody.token = token.to_owned();
            let answer = nobody.replies(plane, &reply).await;
            assert_eq!(answer.refusal(), (401, "sign_in_required".into()));
        }
        assert_eq!(waiting.state().await, "pending");
        let id = format!("/aaep/v1/subscriber-tokens/{}", waiting.phone.token_id);
        waiting.alice.send(plane, http::Method::DELETE, &id, &Value::Null).await.expect(200);
        assert_eq!(waiting.replies(&reply).await.status, 401, "a token that was taken back");
        assert_eq!(waiting.state().await, "pending");
    }

    /// AAEP-6.3.5-02, AAEP-6.3.4-03, AAEP-6.7.1-01
    async fn only_the_first_valid_reply_counts(kit) {
        let waiting = Waiting::on(kit).await;
        let (plane, question) = (&waiting.plane, &waiting.question);
        let mut other = waiting.alice.subscriber(plane).await;
        other.subscribes(plane).await;
        waiting.counts(&waiting.yes_but(|_| {}), "accepted").await;
        let settled = waiting.document().await;
        for late in [waiting.phone.rejects(plane, question).await, waiting.phone.accepts(plane, question).await,
            other.rejects(plane, question).await, other.accepts(plane, question).await] {
            assert_eq!(late.status, 204);
            assert_eq!(waiting.document().await, settled);
        }
    }

    /// AAEP-6.2.4-03
    async fn only_a_person_named_by_policy_answers_and_over_any_subscription_of_theirs(kit) {
        let waiting = Waiting::on(kit).await;
        let plane = &waiting.plane;
        let reads = json!({ "name": "display in the hall", "may_answer": false });
        let mut display = waiting.alice.subscriber_like(plane, reads).await;
        let accepted = display.subscribes(plane).await;
        assert_eq!(accepted["honored_capabilities"]["supports_confirmation_reply"], false);
        display.accepts(plane, &waiting.question).await.expect(204);
        display.subscription_id = waiting.phone.subscription_id.clone();
        display.accepts(plane, &waiting.question).await.expect(204);
        let (of_bob, _) = plane.person("bob").await.subscribed(plane).await;
        of_bob.accepts(plane, &waiting.question).await.expect(204);
        let connected = plane.connect(&waiting.alice, plane.acme(), &["calendar.read"]).await;
        let access = plane.register(plane.acme(), &connected).await.access_token;
        let mut agent = waiting.phone.clone();
        for token in [waiting.agent.token.clone(), access, connected.delegation_token] {
            agent.token = token;
            assert_eq!(agent.accepts(plane, &waiting.question).await.status, 401);
        }
        assert_eq!(waiting.state().await, "pending");
        let (second, _) = waiting.alice.subscribed(plane).await;
        second.accepts(plane, &waiting.question).await.expect(204);
        assert_eq!(waiting.state().await, "accepted");
    }

    /// AAEP-6.2.4-03, R-4
    async fn a_token_is_too_little_where_policy_wants_a_fresh_sign_in(kit) {
        let DecisionFixture { plane, agent, .. } = kit.decision_fixture().await;
        let carol = plane.person_in("calendar", "carol", &[countersign_engine::Role::Approver]).await;
        let (phone, mut heard) = carol.subscribed(&plane).await;
        let decision = agent.requests_approval(&plane, "payments.release", json!({})).await;
        let question = heard.next_of("awaiting.confirmation").await;
        phone.accepts(&plane, &question).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending");
        carol.accepts(&plane, &decision).await;
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
    }
}

//! `GET /aaep/v1/ws`: the same messages over a socket.

use super::Waiting;
use countersign_testkit::{
    aaep::{SocketMessage, subscription_request},
    aaep_judge::judge_message,
    decisions::DecisionFixture,
    on_sqlite,
};
use http::StatusCode;
use serde_json::json;

on_sqlite! {
    /// AAEP 10.2, R-11
    async fn nobody_is_let_in_without_credentials_or_with_a_cookie_from_another_page(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let place = plane.on_a_port().await;
        let agent = format!("Bearer {}", agent.token);
        for headers in [vec![], vec![("authorization", "Bearer cst_guessed")], vec![("authorization", agent.as_str())]] {
            let mut socket = place.socket(&headers).await.unwrap();
            let rejected = socket.message().await;
            judge_message("subscription.rejected", &rejected);
            assert_eq!(rejected["reason_code"], "authentication_required");
            assert_eq!(socket.next().await, SocketMessage::Closed(Some(4002)));
        }
        let cookie = ("cookie", alice.cookie.as_str());
        for headers in [vec![cookie], vec![cookie, ("origin", "https://evil.example")]] {
            let mut socket = place.socket(&headers).await.unwrap();
            assert_eq!(socket.message().await["reason_code"], "authorization_denied");
            assert_eq!(socket.next().await, SocketMessage::Closed(Some(4003)));
        }
        let mut socket = place.socket(&[cookie, ("origin", "https://api.example.test")]).await.unwrap();
        socket.send(&subscription_request(json!({}))).await;
        judge_message("subscription.accepted", &socket.message().await);
        place.serving.stop().await;
    }

    /// C18
    async fn a_client_with_subprotocols_must_offer_ours(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let phone = alice.subscriber(&plane).await;
        let place = plane.on_a_port().await;
        let bearer = format!("Bearer {}", phone.token);
        let refused = place.socket(&[("authorization", &bearer), ("sec-websocket-protocol", "chat")]).await;
        assert_eq!(refused.err(), Some(StatusCode::BAD_REQUEST));
        let socket = place.socket(&[("authorization", &bearer), ("sec-websocket-protocol", "chat, aaep.v1")]).await.unwrap();
        assert_eq!(socket.headers["sec-websocket-protocol"], "aaep.v1");
        let socket = place.socket(&[("authorization", &bearer)]).await.unwrap();
        assert_eq!(socket.headers.get("sec-websocket-protocol"), None);
    }

    /// AAEP B.2
    async fn an_invalid_message_ends_the_socket_and_an_invalid_reply_is_ignored(kit) {
        let Waiting { plane, phone, question, agent, decision, .. } = Waiting::on(kit).await;
        let place = plane.on_a_port().await;
        let mut socket = place.socket_of(&phone).await;
        socket.send_bytes(b"{}").await;
        assert_eq!(socket.code().await, Some(4004));
        for text in ["nonsense", "[]", r#"{"type":"hello"}"#] {
            let mut socket = place.socket_of(&phone).await;
            socket.send_text(text).await;
            assert_eq!(socket.code().await, Some(4004), "{text}");
        }
        let mut socket = place.socket_of(&phone).await;
        socket.send_text(&" ".repeat(70_000)).await;
        assert_eq!(socket.code().await, Some(1009));
        let mut socket = place.socket_of(&phone).await;
        socket.send(&subscription_request(json!({ "max_events_per_second": 0 }))).await;
        judge_message("subscription.rejected", &socket.message().await);
        assert_eq!(socket.next().await, SocketMessage::Closed(Some(4001)));
        let mut socket = place.socket_of(&phone).await;
        socket.send(&json!({ "type": "confirmation.reply", "reply_token": question["reply_token"], "decision": "maybe" })).await;
        assert_eq!(socket.next_of("awaiting.confirmation").await["reply_token"], question["reply_token"]);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "pending");
    }

    /// AAEP-6.3.5-01
    async fn a_subscription_is_asked_for_heard_answered_changed_and_closed_over_one_socket(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let mut phone = alice.subscriber(&plane).await;
        let place = plane.on_a_port().await;
        let mut socket = place.socket_of(&phone).await;
        socket.send(&subscription_request(json!({}))).await;
        let accepted = socket.message().await;
        judge_message("subscription.accepted", &accepted);
        phone.subscription_id = accepted["subscription_id"].as_str().unwrap().to_owned();

        let decision = agent.requests_approval(&plane, "payments.send", json!({})).await;
        let question = socket.next_of("awaiting.confirmation").await;
        socket.send(&phone.approval(&plane, &question)).await;
        assert_eq!(socket.next_of("state.changed").await["to_state"], "calling_tool");
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");

        socket.send(&json!({ "type": "subscription.renegotiate", "subscription_id": phone.subscription_id,
            "capabilities": { "preferred_verbosity": "terse" } })).await;
        let changed = socket.message().await;
        judge_message("subscription.accepted", &changed);
        assert_eq!(changed["honored_capabilities"]["preferred_verbosity"], "terse");
        socket.send(&json!({ "type": "subscription.close", "subscription_id": phone.subscription_id })).await;
        assert_eq!(socket.code().await, Some(4005));
    }

    /// AAEP 5.9
    async fn a_later_request_that_is_rejected_is_answered_and_the_subscription_goes_on(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let mut phone = alice.subscriber(&plane).await;
        let place = plane.on_a_port().await;
        let mut socket = place.socket_of(&phone).await;
        socket.send(&subscription_request(json!({}))).await;
        phone.subscription_id = socket.message().await["subscription_id"].as_str().unwrap().to_owned();
        let mut unsupported = subscription_request(json!({}));
        unsupported["aaep_version"] = json!("9.0.0");
        for (wrong, reason) in [(subscription_request(json!({ "max_events_per_second": 0 })), "unknown"), (unsupported, "version_unsupported")] {
            socket.send(&wrong).await;
            let rejected = socket.message().await;
            judge_message("subscription.rejected", &rejected);
            assert_eq!(rejected["reason_code"], reason);
        }
        let decision = agent.requests_approval(&plane, "payments.send", json!({})).await;
        let question = socket.next_of("awaiting.confirmation").await;
        socket.send(&phone.approval(&plane, &question)).await;
        assert_eq!(socket.next_of("state.changed").await["to_state"], "calling_tool");
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
    }

    /// C15
    async fn a_reply_without_a_handshake_comes_over_a_subscription_of_its_own(kit) {
        let Waiting { plane, phone, question, agent, decision, .. } = Waiting::on(kit).await;
        let place = plane.on_a_port().await;
        let mut socket = place.socket_of(&phone).await;
        let mut reply = phone.approval(&plane, &question);
        reply.as_object_mut().unwrap().remove("subscription_id");
        socket.send(&reply).await;
        loop {
            if socket.next_of("state.changed").await["to_state"] == "calling_tool" {
                break;
            }
        }
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
    }

    /// R-23
    async fn taking_the_token_back_ends_the_socket(kit) {
        let DecisionFixture { plane, alice, .. } = kit.decision_fixture().await;
        let phone = alice.subscriber(&plane).await;
        let place = plane.on_a_port().await;
        let mut socket = place.socket_of(&phone).await;
        socket.send(&subscription_request(json!({}))).await;
        socket.message().await;
        let id = format!("/aaep/v1/subscriber-tokens/{}", phone.token_id);
        alice.send(&plane, http::Method::DELETE, &id, &json!(null)).await.expect(200);
        assert_eq!(socket.code().await, Some(4003));
    }
}

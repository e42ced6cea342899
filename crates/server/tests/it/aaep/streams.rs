//! `GET /aaep/v1/events`: the stream itself.

use super::Waiting;
use axum::body::Body;
use countersign_testkit::{Answer, aaep::ReceivedEvents, decisions::DecisionFixture, on_both_stores};
use http::{Method, Request};
use serde_json::json;

on_both_stores! {
    /// AAEP 10.2, R-12
    async fn a_stream_is_for_the_owner_of_the_subscription(kit) {
        let DecisionFixture { plane, alice, agent } = kit.decision_fixture().await;
        let mut phone = alice.subscriber(&plane).await;
        phone.subscribes(&plane).await;
        let get = |request: http::request::Builder| request.body(Body::empty()).unwrap();
        let of = |id: &str| format!("/aaep/v1/events?subscription_id={id}");
        let missing = Answer::to(&plane.public, get(phone.request(Method::GET, "/aaep/v1/events"))).await;
        assert_eq!(missing.refusal(), (400, "invalid_request".into()));
        let unknown = Answer::to(&plane.public, get(phone.request(Method::GET, &of("sub_1")))).await;
        assert_eq!(unknown.refusal(), (404, "not_found".into()));
        let place = of(&phone.subscription_id);
        let bob = plane.person("bob").await.subscriber(&plane).await;
        let of_bob = Answer::to(&plane.public, get(bob.request(Method::GET, &place))).await;
        assert_eq!(of_bob.json()["error_description"], unknown.json()["error_description"]);
        for request in [Request::get(&place), Request::get(&place).header("authorization", format!("Bearer {}", agent.token))] {
            let nobody = Answer::to(&plane.public, get(request)).await;
            assert_eq!(nobody.refusal(), (401, "sign_in_required".into()));
            assert_eq!(nobody.header("www-authenticate"), Some("Bearer"));
        }
        ReceivedEvents::open(&plane.public, get(alice.request(Method::GET, &place))).await;
    }

    /// AAEP B.1
    async fn the_stream_has_the_headers_and_lines_that_clients_and_proxies_need(kit) {
        let mut waiting = Waiting::on(kit).await;
        let header = |name: &str| waiting.heard.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header("content-type").as_deref(), Some("text/event-stream"));
        assert_eq!(header("cache-control").as_deref(), Some("no-store, no-cache"));
        assert_eq!(header("x-accel-buffering").as_deref(), Some("no"));
        waiting.phone.rejects(&waiting.plane, &waiting.question).await.expect(204);
        let line = waiting.heard.line().await.unwrap();
        assert_eq!(line.event.as_deref(), Some("aaep.event"));
        let event: serde_json::Value = serde_json::from_str(line.data.as_ref().unwrap()).unwrap();
        assert_eq!(event["event_id"].as_str(), line.id.as_deref());
        let mut again = waiting.phone.opens_stream(&waiting.plane).await;
        assert_eq!(again.line().await.unwrap().retry.as_deref(), Some("1000"));
    }

    /// AAEP B.1.5, S1
    async fn a_stream_that_broke_off_goes_on_where_it_was(kit) {
        let Waiting { plane, agent, phone, heard, question, decision, .. } = Waiting::on(kit).await;
        drop(heard);
        agent.withdraws(&plane, &decision, &json!({})).await.expect(200);
        let last = question["event_id"].as_str().unwrap();
        let mut again = phone.opens_stream_after(&plane, Some(last)).await;
        let next = again.event().await;
        assert_eq!((&next["type"], &next["from_state"]), (&json!("aaep:agent.state.changed"), &json!("awaiting_input")));
    }

    /// AAEP-6.7-02
    async fn a_late_subscriber_gets_the_open_question_and_may_answer_it(kit) {
        let Waiting { plane, alice, agent, question, decision, .. } = Waiting::on(kit).await;
        let (late, mut heard) = alice.subscribed(&plane).await;
        let summary = heard.event().await;
        let told = (&summary["type"], &summary["to_state"]);
        assert_eq!(told, (&json!("aaep:agent.state.changed"), &json!("awaiting_input")));
        let again = heard.event().await;
        for member in ["type", "event_id", "reply_token", "timestamp"] {
            assert_eq!(again[member], question[member]);
        }
        late.accepts(&plane, &again).await.expect(204);
        assert_eq!(agent.reads_decision(&plane, &decision).await.json()["state"], "accepted");
    }

    /// AAEP 5.9
    async fn a_second_stream_of_a_subscription_ends_the_first(kit) {
        let Waiting { plane, phone, mut heard, .. } = Waiting::on(kit).await;
        let mut second = phone.opens_stream(&plane).await;
        second.next_of("awaiting.confirmation").await;
        heard.rest().await;
    }

    ///
    async fn taking_a_token_back_ends_its_stream(kit) {
        let Waiting { plane, alice, phone, mut heard, .. } = Waiting::on(kit).await;
        let id = format!("/aaep/v1/subscriber-tokens/{}", phone.token_id);
        alice.send(&plane, Method::DELETE, &id, &json!(null)).await.expect(200);
        let last = heard.rest().await.pop().unwrap();
        assert_eq!(last.event.as_deref(), Some("aaep.close"));
        assert!(last.data.unwrap().contains("authorization_denied"));
    }
}

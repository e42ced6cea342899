//! The list of a person's pending questions for their subscribers, and extensions of the deadline.

use super::Waiting;
use axum::body::Body;
use countersign_testkit::{Answer, Plane, Setup, TestPerson, aaep::Subscriber, on_sqlite};
use http::{Method, Request};
use serde_json::{Value, json};

async fn lists(plane: &Plane, subscriber: &Subscriber) -> Vec<Value> {
    let request = subscriber.request(Method::GET, "/aaep/v1/questions").body(Body::empty()).unwrap();
    Answer::to(&plane.public, request).await.expect(200).json()["questions"].as_array().unwrap().clone()
}

async fn more(plane: &Plane, subscriber: &Subscriber, decision: &Value, seconds: Value) -> Answer {
    let path = format!("/aaep/v1/questions/{}/more-time", decision["decision_id"].as_str().unwrap());
    subscriber.post(plane, &path, &json!({ "seconds": seconds })).await
}

on_sqlite! {
    /// AAEP-6.2.4-01
    async fn nobody_lists_or_extends_questions_for_others(kit) {
        let waiting = Waiting::on(kit).await;
        let (plane, decision) = (&waiting.plane, &waiting.decision);
        for credential in [None, Some(waiting.agent.token.as_str()), Some("cst_00")] {
            let mut request = Request::builder().method(Method::GET).uri("/aaep/v1/questions");
            if let Some(credential) = credential {
                request = request.header("authorization", format!("Bearer {credential}"));
            }
            assert_eq!(Answer::to(&plane.public, request.body(Body::empty()).unwrap()).await.status, 401);
        }
        let stranger = plane.person("bob").await.subscriber(plane).await;
        assert!(lists(plane, &stranger).await.is_empty());
        assert_eq!(more(plane, &stranger, decision, json!(60)).await.status, 404);
        assert_eq!(more(plane, &stranger, &json!({ "decision_id": "dec_0" }), json!(60)).await.status, 404);
        let reading = json!({ "name": "ear", "may_answer": false });
        let reader = waiting.alice.subscriber_like(plane, reading).await;
        assert_eq!(lists(plane, &reader).await.len(), 1, "whoever only listens may look");
        assert_eq!(more(plane, &reader, decision, json!(60)).await.status, 403);
        for seconds in [json!(0), json!(86_401), json!(1.5), json!("60")] {
            assert_eq!(more(plane, &waiting.phone, decision, seconds).await.status, 400);
        }
        assert_eq!(waiting.document().await["deadline"], decision["deadline"]);
    }

    ///
    async fn a_question_is_listed_with_all_that_decides_it_until_it_is_settled(kit) {
        let waiting = Waiting::on(kit).await;
        let (plane, question) = (&waiting.plane, &waiting.question);
        let listed = lists(plane, &waiting.phone).await;
        let shown = &listed[0];
        assert_eq!((listed.len(), &shown["decision_id"]), (1, &waiting.decision["decision_id"]));
        for member in ["event_id", "session_id", "action", "consequence", "risk_level", "irreversible", "default_decision"] {
            assert_eq!(shown[member], question[member], "{member}");
        }
        assert_eq!((&shown["words"], &shown["assurance"]), (&json!("agent"), &json!("token")));
        assert_eq!(shown["deadline"], waiting.decision["deadline"]);
        assert!(!shown.to_string().contains("rpl_"), "tokens come with events only");
        waiting.phone.accepts(plane, question).await.expect(204);
        assert!(lists(plane, &waiting.phone).await.is_empty());
        assert_eq!(more(plane, &waiting.phone, &waiting.decision, json!(60)).await.status, 409);
    }

    /// AAEP-6.4.2-06
    async fn more_time_is_given_up_to_the_bound_with_an_event_for_all_and_for_later_subscribers(kit) {
        let asked = kit.decision_fixture_with(Setup::payments_with(|p| p.decisions.max_extension_seconds = 900)).await;
        let mut waiting = Waiting::after(asked, "payments.send").await;
        let before = waiting.question["timeout_seconds"].as_i64().unwrap();
        let plane = &waiting.plane;
        for (seconds, expected) in [(600, before + 600), (600, before + 900), (60, before + 900)] {
            let told = more(plane, &waiting.phone, &waiting.decision, json!(seconds)).await.expect(200).json();
            assert_eq!(told["deadline"], plane.now().plus_secs(expected).to_rfc3339());
        }
        let said = waiting.heard.next_of("progress.updated").await;
        assert_eq!(said["eta_ms"], (before + 600) * 1000);
        plane.advance_secs(before + 1).await;
        let Waiting { plane, .. } = waiting;
        let (phone, mut heard) = TestPerson::sign_in(&plane, "alice").await.subscribed(&plane).await;
        let again = heard.next_of("awaiting.confirmation").await;
        let deadline = &again["extensions"]["dev_countersign"]["deadline"];
        assert_eq!(*deadline, lists(&plane, &phone).await[0]["deadline"]);
        phone.accepts(&plane, &again).await.expect(204);
        assert!(lists(&plane, &phone).await.is_empty(), "an answer within the time that was given counts");
    }
}

//! The way back: a one-time code through the browser, the token to the operator alone.

use super::{changed, delegations, request, show, yes};
use countersign_testkit::{Plane, Setup, TestPerson, on_both_stores};
use serde_json::{Value, json};

const TOKEN: &str = "/agent/delegate/token";

/// Approves a request; returns the body of the 201.
async fn approved(plane: &Plane, alice: &TestPerson, changes: Value) -> Value {
    let waiting = request(plane, changes).await;
    let shown = show(plane, alice, &waiting).await;
    alice.post(plane, "/agent/delegate", &yes(&waiting, &shown)).await.expect(201).json()
}

fn exchange(plane: &Plane, granted: &Value) -> Value {
    plane.exchange_body(plane.acme(), granted["code"].as_str().unwrap())
}

on_both_stores! {
    /// AAP-5.1-07
    async fn without_code_verifier_or_the_same_operators_signature_there_is_no_token(kit) {
        let plane = kit.plane_with(Setup { operators: vec!["acme.test", "other.test"], ..Setup::default() }).await;
        let alice = plane.person("alice").await;
        let granted = approved(&plane, &alice, json!({})).await;
        let foreign = plane.operator("other.test").jwt(plane.service(), plane.now());
        let expired = plane.acme().jwt(plane.service(), plane.now().plus_secs(-3600));
        let verifier = "another-verifier-that-is-long-enough-0123456789-0123456789";
        let cases = [
            ("no JWT", json!({ "operator_jwt": null }), 400, "invalid_request"),
            ("no code", json!({ "code": null }), 400, "invalid_request"),
            ("no verifier", json!({ "code_verifier": null }), 400, "invalid_request"),
            ("another operator's JWT", json!({ "operator_jwt": foreign }), 400, "invalid_request"),
            ("an expired JWT", json!({ "operator_jwt": expired }), 401, "operator_jwt_expired"),
            ("another verifier", json!({ "code_verifier": verifier }), 400, "invalid_request"),
            ("the challenge as verifier", json!({ "code_verifier":
                plane.connect_body(plane.acme(), &[])["code_challenge"] }), 400, "invalid_request"),
            ("an empty verifier", json!({ "code_verifier": "" }), 400, "invalid_request"),
            ("another code", json!({ "code": format!("code_{}", "A".repeat(43)) }), 400, "invalid_request"),
            ("the delegation's id as code", json!({ "code": granted["delegation_id"] }), 400, "invalid_request"),
        ];
        for (what, changes, status, code) in cases {
            let answer = plane.post(TOKEN, &changed(exchange(&plane, &granted), changes)).await;
            assert_eq!(answer.refusal(), (status, code.into()), "{what}: {}", answer.text());
            assert!(!answer.text().contains("eyJ"), "{what}");
        }
        plane.post(TOKEN, &exchange(&plane, &granted)).await.expect(200);
    }

    /// AAP-5.1-07
    async fn a_code_is_used_up_by_its_first_use_also_by_two_at_once(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let granted = approved(&plane, &alice, json!({})).await;
        let body = exchange(&plane, &granted);
        let (one, two) = tokio::join!(plane.post(TOKEN, &body), plane.post(TOKEN, &body));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400], "{} {}", one.text(), two.text());
        let again = plane.post(TOKEN, &body).await;
        assert_eq!(again.refusal(), (400, "invalid_request".into()));
    }

    /// AAP-5.1-07
    async fn a_code_is_good_for_ten_minutes_to_the_second(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let (late, in_time) = (approved(&plane, &alice, json!({})).await, approved(&plane, &alice, json!({})).await);
        plane.advance_secs(599).await;
        plane.engine.run_maintenance().await.unwrap();
        plane.post(TOKEN, &exchange(&plane, &in_time)).await.expect(200);
        plane.advance_secs(1).await;
        let answer = plane.post(TOKEN, &exchange(&plane, &late)).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()));
    }

    /// AAP-5.1-07
    async fn the_browser_is_sent_back_with_code_state_and_issuer_and_without_the_token(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let state = "st/ate?with&odd=characters";
        let granted = approved(&plane, &alice, json!({ "callback": plane.acme().callback(), "state": state })).await;
        let redirect = url::Url::parse(granted["redirect"].as_str().unwrap()).unwrap();
        assert_eq!(&redirect.as_str()[..redirect.as_str().find('?').unwrap()], plane.acme().callback());
        let told: Vec<(String, String)> = redirect.query_pairs().into_owned().collect();
        let wanted = [("code", granted["code"].as_str().unwrap()), ("state", state), ("iss", plane.service())];
        assert_eq!(told, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(!redirect.as_str().contains("eyJ"));
        plane.post(TOKEN, &exchange(&plane, &granted)).await.expect(200);
    }

    /// AAP-5.1-07
    async fn without_a_callback_there_is_a_code_to_copy_and_nowhere_to_go(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let granted = approved(&plane, &alice, json!({})).await;
        assert!(granted.get("redirect").is_none_or(Value::is_null), "{granted}");
        let code = granted["code"].as_str().unwrap();
        assert!(code.starts_with("code_") && code.len() == 48, "{code}");
        let exchanged = plane.post(TOKEN, &exchange(&plane, &granted)).await.expect(200).json();
        assert_eq!(exchanged["delegation_id"], granted["delegation_id"]);
        assert_eq!(exchanged["scopes"], json!(["calendar.read", "calendar.write"]));
        assert_eq!(exchanged["effective_policy"], granted["effective_policy"]);
        assert_eq!(delegations(&plane, &alice).await, 1);
    }

    /// AAP-5.1-07
    async fn a_code_of_one_project_is_none_in_another(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        plane.account("alice").await;
        for project in ["north", "south"] {
            plane.give_roles(project, "alice", &[countersign_engine::Role::User]).await;
        }
        let alice = TestPerson::sign_in(&plane, "alice").await;
        let waiting = plane.connect_request("/projects/north", plane.acme(), &["calendar.read"]).await;
        let granted = plane.approve_at("/projects/north", &alice, &waiting).await;
        let answer = plane.post("/projects/south/agent/delegate/token", &exchange(&plane, &granted)).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()));
        plane.post("/projects/north/agent/delegate/token", &exchange(&plane, &granted)).await.expect(200);
    }
}

//! The manifest's requirements are the enforced ones.

use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{Plane, Setup, on_sqlite};
use http::Method;
use serde_json::{Value, json};

async fn manifest(plane: &Plane) -> Value {
    plane.get("/.well-known/agent-auth.json").await.expect(200).json()
}

/// A registration of an operator without a delegation.
async fn registers_without_a_user(plane: &Plane) -> (u16, Value) {
    let body = json!({ "mode": "user_delegated", "operator_jwt": plane.acme().jwt(plane.service(), plane.now()) });
    let answer = plane.post("/agent/register", &body).await;
    (answer.status, answer.json()["error"].clone())
}

/// The usual project with one change, in force at once.
async fn changed(plane: &Plane, change: impl FnOnce(&mut ProjectDocument)) {
    let mut document = countersign_testkit::calendar("calendar");
    change(&mut document);
    plane.engine.apply_project(document, "test").await.unwrap();
}

on_sqlite! {
    /// AAP-2-06
    async fn the_tier_that_the_manifest_states_is_the_tier_that_registering_needs(kit) {
        let plane = kit.plane().await;
        assert_eq!(manifest(&plane).await["minimum_tier"], 2);
        assert_eq!(registers_without_a_user(&plane).await, (403, json!("tier_not_met")));

        changed(&plane, |p| p.minimum_tier = 1).await;
        assert_eq!(manifest(&plane).await["minimum_tier"], 1);
        assert_eq!(registers_without_a_user(&plane).await, (200, Value::Null));

        changed(&plane, |p| p.minimum_tier = 2).await;
        assert_eq!(registers_without_a_user(&plane).await, (403, json!("tier_not_met")));
    }

    /// AAP-11.5-01, AAP-11.5-02
    async fn a_mode_that_the_manifest_does_not_list_is_not_served_and_each_that_it_lists_is_explained(kit) {
        let plane = kit.plane().await;
        let manifest = manifest(&plane).await;
        assert_eq!(manifest["identity_modes_supported"], json!(["user_delegated"]));
        let disclosures = manifest["disclosures"].as_object().unwrap();
        assert_eq!(disclosures.keys().collect::<Vec<_>>(), ["user_delegated"]);
        assert!(disclosures.values().all(|text| !text.as_str().unwrap().trim().is_empty()));
        let mut body = json!({ "operator_jwt": plane.acme().jwt(plane.service(), plane.now()) });
        for unlisted in ["service_account", "robot"] {
            body["mode"] = json!(unlisted);
            assert_eq!(plane.post("/agent/register", &body).await.refusal(), (400, "mode_not_supported".into()));
        }
    }

    /// AAP-11.5-02
    async fn a_project_may_explain_a_mode_in_its_own_words(kit) {
        let own = "It sees your calendar as you do.";
        let setup = Setup::with_project(|p| drop(p.disclosures.insert("user_delegated".into(), own.into())));
        let plane = kit.plane_with(setup).await;
        assert_eq!(manifest(&plane).await["disclosures"], json!({ "user_delegated": own }));
    }

    /// AAP-19.1-06
    async fn an_intent_is_required_unless_the_project_says_otherwise(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let agent = plane.register(plane.acme(), &connected).await;
        let without_intent = || {
            let mut request = agent.request(Method::GET, "/calendar/events", "READ_CALENDAR");
            request.headers_mut().unwrap().remove("x-agent-intent-type");
            request.body(axum::body::Body::empty()).unwrap()
        };
        assert_eq!(manifest(&plane).await["intent_required"], true);
        let refused = countersign_testkit::send_to(&plane.api(), without_intent()).await;
        assert_eq!(refused.refusal(), (400, "invalid_request".into()));
        assert_eq!(plane.upstream.reached().len(), 0);

        changed(&plane, |p| p.intent_required = false).await;
        assert_eq!(manifest(&plane).await["intent_required"], false);
        countersign_testkit::send_to(&plane.api(), without_intent()).await.expect(200);
    }
}

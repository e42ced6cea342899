//! T1: an operator without a user reads the project's low-stakes resources, and nothing else.

use countersign_testkit::{Altered as _, Plane, Registered, Setup, on_sqlite};
use http::Method;
use serde_json::json;

async fn operator_only(plane: &Plane) -> Registered {
    let operator_jwt = plane.acme().jwt(plane.service(), plane.now());
    plane.register_with(&json!({ "mode": "user_delegated", "operator_jwt": operator_jwt }), None).await
}

on_sqlite! {
    /// AAP-11.6-03, AAP-G-54
    async fn a_session_without_a_delegation_names_none_but_itself(kit) {
        let plane = kit.plane_with(Setup::with_project(|document| document.minimum_tier = 1)).await;
        let agent = operator_only(&plane).await;
        let call = || agent.request(Method::GET, "/clock", "READ_CLOCK");
        assert!(!call().headers_ref().unwrap().contains_key("x-agent-delegation"));
        plane.try_call(call()).await.expect(200);
        let answer = plane.try_call(call().without("x-agent-session")).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()));
        assert_eq!(plane.upstream.reached().len(), 1);
    }

    /// AAP-13.3-04
    async fn an_operator_without_a_user_cannot_name_one(kit) {
        let plane = kit.plane_with(Setup::with_project(|document| document.minimum_tier = 1)).await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["clock.read"]).await;
        let agent = operator_only(&plane).await;
        let call = agent.request(Method::GET, "/clock", "READ_CLOCK");
        let answer = plane.try_call(call.instead("x-agent-delegation", &connected.delegation_id)).await;
        assert_eq!(answer.refusal(), (401, "delegation_mismatch".into()));
        assert!(plane.upstream.reached().is_empty());
    }
}

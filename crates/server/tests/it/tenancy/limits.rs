//! What is used up in one project is not used up in another (AAP 3.1).

use super::Door;
use countersign_engine::Role;
use countersign_testkit::{Answer, Plane, Registered, Setup, on_both_stores};
use http::Method;
use serde_json::{Value, json};

const SCOPES: &[&str] = &["calendar.read", "calendar.write"];

/// The same name in both projects, as an operator is free to choose it.
const SESSION: &str = "sess_5e1ec7ed5e1ec7ed5e1ec7ed5e1ec7ed";

/// Limits of one use: of the receipt, or of the project's policy.
fn limits() -> [(&'static str, Value, Value, Method); 4] {
    [
        ("requests_per_hour", json!({ "requests_per_hour": 1 }), json!({}), Method::GET),
        ("writes_per_session", json!({ "writes_per_session": 1 }), json!({}), Method::POST),
        ("max_requests", json!({}), json!({ "after_use": { "max_requests": 1 } }), Method::GET),
        ("max_writes", json!({}), json!({ "after_use": { "max_writes": 1 } }), Method::POST),
    ]
}

on_both_stores! {
    /// AAP-3.1-14
    async fn a_limit_that_is_used_up_in_one_project_is_untouched_in_another(kit) {
        for (name, of_receipt, of_policy, method) in limits() {
            let mut setup = Setup::multi();
            for project in &mut setup.projects {
                project.auto_revoke = serde_json::from_value(of_policy.clone()).unwrap();
            }
            let plane = kit.plane_with(setup).await;
            let carol = plane.person_in("north", "carol", &[Role::User]).await;
            plane.give_roles("south", "carol", &[Role::User]).await;
            let mut agents = Vec::new();
            for door in [Door::by_path("north"), Door::by_path("south")] {
                let connected = door.connect(&plane, &carol, plane.acme()).await;
                let mut claims = plane.receipt_claims(plane.acme(), "carol", &connected, SCOPES);
                (claims["session_id"], claims["usage_limits"]) = (json!(SESSION), of_receipt.clone());
                let agent = door.registered(&plane, &connected, Some(&plane.acme().sign_receipt(&claims))).await;
                agents.push((door, agent));
            }
            let [(north, of_north), (south, of_south)] = &agents[..] else { unreachable!() };
            assert!(call(&plane, north, of_north, &method).await.is_success(), "{name}");
            for _ in 0..3 {
                let refused = call(&plane, north, of_north, &method).await;
                assert!([401, 429].contains(&refused.status), "{name}: {}", refused.text());
            }
            assert!(call(&plane, south, of_south, &method).await.is_success(), "{name}: it was used up in the north");
            assert!(!call(&plane, south, of_south, &method).await.is_success(), "{name}: the south has the same limit");
        }
    }
}

async fn call(plane: &Plane, door: &Door, agent: &Registered, method: &Method) -> Answer {
    let intent = if *method == Method::GET { "READ_CALENDAR" } else { "SCHEDULE_EVENT" };
    plane.call_at(&plane.api_at(door.address.clone()), agent, method.clone(), "/calendar/events", intent).await
}

//! Sensitive changes need a sign-in within the last five minutes.

use super::{RIGHT, WRONG, browser, holds};
use countersign_engine::Role;
use countersign_testkit::{Answer, Plane, Setup, TestPerson, on_sqlite};
use http::Method;
use serde_json::json;

async fn apply(plane: &Plane, person: &TestPerson) -> Answer {
    let document = person.get(plane, "/v1/project").await.expect(200).json()["document"].clone();
    person.send(plane, Method::PUT, "/v1/project", &document).await
}

on_sqlite! {
    ///
    async fn a_project_is_changed_only_within_five_minutes_of_a_proof(kit) {
        let plane = kit.plane().await;
        let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
        let told = admin.get(&plane, "/session").await.expect(200).json();
        assert_eq!(told["fresh_until"], plane.now().plus_secs(300).to_rfc3339());
        apply(&plane, &admin).await.expect(200);
        plane.advance_secs(300).await;
        apply(&plane, &admin).await.expect(200);
        plane.advance_secs(1).await;
        let mut document = admin.get(&plane, "/v1/project").await.expect(200).json()["document"].clone();
        document["display_name"] = json!("Taken over");
        let stale = admin.send(&plane, Method::PUT, "/v1/project", &document).await;
        assert_eq!(stale.refusal(), (403, "fresh_sign_in_required".into()));
        let shown = admin.get(&plane, "/v1/project").await.expect(200).json();
        assert_eq!(shown["document"]["display_name"], "Calendar");
    }

    ///
    async fn the_password_again_is_a_proof_and_gives_a_session_in_place_of_the_old_one(kit) {
        let plane = kit.plane().await;
        let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
        plane.advance_secs(3600).await;
        assert_eq!(apply(&plane, &admin).await.status, 403);
        let wrong = admin.post(&plane, "/session/fresh", &json!({ "password": WRONG })).await;
        assert_eq!(wrong.refusal(), (401, "sign_in_failed".into()));
        assert_eq!(apply(&plane, &admin).await.refusal(), (403, "fresh_sign_in_required".into()));
        let proven = admin.post(&plane, "/session/fresh", &json!({ "password": RIGHT })).await.expect(200);
        let proven = browser("root", &proven);
        assert!(!holds(&plane, &admin).await);
        apply(&plane, &proven).await.expect(200);
    }

    ///
    async fn nobody_proves_the_presence_of_somebody_else(kit) {
        let plane = kit.plane().await;
        let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
        plane.engine.people().add_person("mallory", "mallory", "mallory knows this one", false).await.unwrap();
        let named = json!({ "name": "mallory", "password": "mallory knows this one" });
        assert_eq!(admin.post(&plane, "/session/fresh", &named).await.refusal(), (401, "sign_in_failed".into()));
        let nobody = plane.post("/session/fresh", &json!({ "password": RIGHT })).await;
        assert_eq!(nobody.refusal(), (401, "sign_in_required".into()));
    }
}

on_sqlite! {
    ///
    async fn an_installation_may_want_a_younger_proof(kit) {
        let plane = kit.plane_with(Setup { fresh_s: 60, ..Setup::default() }).await;
        let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
        let told = admin.get(&plane, "/session").await.expect(200).json();
        assert_eq!(told["fresh_until"], plane.now().plus_secs(60).to_rfc3339());
        plane.advance_secs(60).await;
        apply(&plane, &admin).await.expect(200);
        plane.advance_secs(1).await;
        assert_eq!(apply(&plane, &admin).await.refusal(), (403, "fresh_sign_in_required".into()));
    }
}

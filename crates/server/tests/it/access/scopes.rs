//! The project's definition of a scope counts, not the receipt's.

use countersign_testkit::{Setup, calendar, on_sqlite};
use http::Method;
use serde_json::json;

const ALL: &[&str] = &["calendar.read", "calendar.write", "calendar.admin"];

on_sqlite! {
    /// AAP-12.3-04
    async fn an_action_that_no_granted_scope_allows_is_refused(kit) {
        let scene = kit.fixture_with(Setup::default(), &["calendar.read"]).await;
        for (method, path, intent) in [
            (Method::POST, "/calendar/events", "SCHEDULE_EVENT"),
            (Method::PUT, "/calendar/events/1", "SCHEDULE_EVENT"),
            (Method::DELETE, "/calendar/events/1", "CLEAN_UP"),
            (Method::POST, "/mail/invitations", "SEND_INVITATION"),
            // Low stakes are a floor for operators alone; with a user, the user's grant counts.
            (Method::GET, "/clock", "READ_CLOCK"),
        ] {
            let answer = scene.plane.call(&scene.agent, method, path, intent).await;
            assert_eq!(answer.refusal(), (403, "scope_not_granted".into()), "{path}");
        }
        assert_eq!(scene.reached(), 0);
        scene.read().await.expect(200);
    }

    /// AAP-12.3-02
    async fn a_receipt_never_widens_the_grants_of_the_delegation(kit) {
        let scene = kit.fixture_with(Setup::default(), &["calendar.read"]).await;
        for beyond in [["calendar.read", "calendar.write"], ["calendar.read", "no.such"]] {
            let (body, _) = scene.receipt_body(&beyond, |_| ());
            let answer = scene.plane.post("/agent/register", &body).await;
            assert_eq!(answer.refusal(), (403, "scope_not_granted".into()));
        }
    }

    /// AAP-12.3-01
    async fn a_receipt_that_brings_its_own_definition_of_a_scope_changes_nothing(kit) {
        let scene = kit.fixture_with(Setup::default(), ALL).await;
        let wished = ["events.list", "events.create", "events.delete"];
        let (agent, _) = scene
            .with_receipt(&["calendar.read"], |claims| {
                claims["allows"] = json!(wished);
                claims["description"] = json!("Do anything with your calendar");
                claims["scope_definitions"] = json!([{ "id": "calendar.read", "allows": wished }]);
                claims["calendar.read"] = json!({ "allows": wished, "explicitly_excludes": ["events.list"] });
            })
            .await;
        let answer = scene.plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await;
        assert_eq!(answer.refusal(), (403, "consent_scope_exceeded".into()));
        let answer = scene.plane.call(&agent, Method::DELETE, "/calendar/events/1", "CLEAN_UP").await;
        assert_eq!(answer.refusal(), (403, "scope_not_granted".into()));
        assert_eq!(scene.reached(), 0);
        scene.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    }

    /// AAP-12.3-05
    async fn an_exclusion_beats_every_permission(kit) {
        let scene = kit.fixture_with(Setup::default(), ALL).await;
        let (named, _) = scene.with_receipt(ALL, |_| ()).await;
        let (only_admin, _) = scene
            .with_receipt(&["calendar.admin"], |claims| claims["session_id"] = json!("sess_0000000000000000000000000000feed"))
            .await;
        for agent in [&scene.agent, &named, &only_admin] {
            let answer = scene.plane.call(agent, Method::DELETE, "/calendar/events/1", "CLEAN_UP").await;
            assert_eq!(answer.refusal(), (403, "scope_not_granted".into()));
        }
        assert_eq!(scene.reached(), 0);
        let connected = scene.plane.connect(&scene.alice, scene.plane.acme(), &["calendar.admin"]).await;
        let agent = scene.plane.register(scene.plane.acme(), &connected).await;
        scene.plane.call(&agent, Method::DELETE, "/calendar/events/1", "CLEAN_UP").await.expect(200);
    }

    /// AAP-12.3-01
    async fn the_projects_latest_word_counts_from_the_next_call_on(kit) {
        let scene = kit.fixture().await;
        scene.read().await.expect(200);
        scene.write().await.expect(201);
        let mut document = calendar("calendar");
        document.scopes[0].allows = vec!["events.get".into()];
        document.routes.retain(|route| route.action != "events.list");
        scene.plane.engine.apply_project(document, "test").await.unwrap();
        assert_eq!(scene.read().await.refusal(), (404, "route_not_found".into()));

        let mut document = calendar("calendar");
        document.scopes[1].explicitly_excludes.push("events.list".into());
        scene.plane.engine.apply_project(document, "test").await.unwrap();
        assert_eq!(scene.read().await.refusal(), (403, "scope_not_granted".into()));

        let mut document = calendar("calendar");
        document.scopes[0].explicitly_excludes.push("events.create".into());
        scene.plane.engine.apply_project(document, "test").await.unwrap();
        let writes = || scene.plane.upstream.reached().iter().filter(|r| r.method == Method::POST).count();
        assert_eq!(scene.write().await.refusal(), (403, "scope_not_granted".into()));
        assert_eq!(writes(), 1, "the one before");
        scene.plane.engine.apply_project(calendar("calendar"), "test").await.unwrap();
        scene.read().await.expect(200);
    }
}

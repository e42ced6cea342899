//! Dry runs behind the tower layer: the same flow, the same answers.

use super::dry_run::of;
use countersign_protocol::project::{DryRunSpelling, RouteDryRun, UpstreamDryRun};
use countersign_testkit::{Setup, on_sqlite};
use http::Method;
use serde_json::json;

const SCOPES: &[&str] = &["calendar.read", "calendar.write", "mail.invite"];

on_sqlite! {
    /// AAP-14.1-01, AAP-14.1-02, AAP-14.1-12, R-20
    async fn the_layer_previews_and_refuses_like_the_proxy(kit) {
        let setup = Setup::with_project(|document| of(document, "update").dry_run = Some(RouteDryRun::Offered(false)));
        let scene = kit.fixture_with(setup, SCOPES).await;
        let call = |method: Method, path: &str, intent: &str| scene.agent.request(method, path, intent);
        for (path, intent, needs) in [
            ("/calendar/events?dry_run=true", "SCHEDULE_EVENT", "nothing"),
            ("/mail/invitations?dry_run=true", "SEND_INVITATION", "person"),
        ] {
            let answer = scene.plane.try_call(call(Method::POST, path, intent)).await;
            assert_eq!(super::dry_run::previewed(answer)["would_need"], needs);
        }
        for (target, code) in [
            ("/calendar/events?dry_run=1", "invalid_request"),
            ("/calendar/events?dry_run=true&dry_run=true", "invalid_request"),
        ] {
            let answer = scene.plane.try_call(call(Method::POST, target, "SCHEDULE_EVENT")).await;
            assert_eq!(answer.refusal(), (400, code.into()), "{target}");
        }
        let declared = scene.plane.try_call(call(Method::PUT, "/calendar/events/1?dry_run=true", "SCHEDULE_EVENT")).await;
        assert_eq!(declared.refusal(), (400, "dry_run_unsupported".into()));
        assert_eq!((scene.reached(), scene.alice.pending_questions(&scene.plane).await), (0, 0));
        assert_eq!(scene.calls().await.iter().filter(|call| call["dry_run"] == true).count(), 3);
        scene.write().await.expect(201);
    }

    /// AAP-14.1-02, R-20
    async fn the_service_inside_gets_the_declared_spelling_alone(kit) {
        for upstream in [DryRunSpelling::Query, DryRunSpelling::Header] {
            let setup = Setup::with_project(|document| {
                for route in ["create", "invite"] {
                    of(document, route).dry_run = Some(RouteDryRun::Upstream(UpstreamDryRun { upstream }));
                }
            });
            let scene = kit.fixture_with(setup, SCOPES).await;
            for (path, intent) in [("/calendar/events", "SCHEDULE_EVENT"), ("/mail/invitations", "SEND_INVITATION")] {
                for (target, header) in [(format!("{path}?dry_run=true"), false), (path.to_owned(), true)] {
                    let mut request = scene.agent.request(Method::POST, &target, intent);
                    if header {
                        request = request.header("x-agent-dry-run", "true");
                    }
                    let answer = scene.plane.try_call(request).await;
                    assert!(answer.is_success(), "{}", answer.text());
                    assert_eq!(answer.header("x-agent-dry-run"), Some("true"));
                    let got = scene.plane.upstream.reached().pop().unwrap();
                    let expected = json!({ "query": upstream == DryRunSpelling::Query, "header": upstream == DryRunSpelling::Header });
                    let found = json!({
                        "query": got.query.as_deref() == Some("dry_run=true"), "header": got.headers.contains_key("x-agent-dry-run"),
                    });
                    assert_eq!(found, expected, "{got:?}");
                }
            }
            assert_eq!(scene.alice.pending_questions(&scene.plane).await, 0);
        }
    }
}

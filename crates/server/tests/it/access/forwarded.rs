//! The forwarded request: verified facts, and no claim of the agent about itself.

use countersign_gateway::VerifiedCaller;
use countersign_testkit::{Altered as _, Backend, Kit, Setup};
use http::Method;

///
#[tokio::test]
async fn credentials_and_claims_are_taken_away_before_the_upstream_sees_the_request() {
    let scene = Kit(Backend::Sqlite).fixture().await;
    let (agent, receipt) = scene.with_receipt(&["calendar.write"], |_| ()).await;
    let call = agent
        .request(Method::POST, "/calendar/events", "SCHEDULE_EVENT")
        .header("x-agent-consent", &receipt)
        .header("x-agent-intent", "words")
        .header("x-agent-confirm", "true")
        .header("x-agent-acting-for", "bob")
        .header("dpop", "proof")
        .header("x-http-method-override", "DELETE")
        .header("x-http-method", "DELETE")
        .header("x-method-override", "DELETE")
        .header("accept-language", "de");
    scene.plane.try_call(call).await.expect(201);
    let reached = &scene.plane.upstream.reached()[0];
    let mut names: Vec<_> = reached.headers.keys().map(http::HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["aap-version", "accept-language", "content-type", "x-agent-intent-type"]);
}

/// AAP-13.3-04
#[tokio::test]
async fn the_upstream_gets_the_verified_identity_of_the_caller() {
    let scene = Kit(Backend::Sqlite).fixture().await;
    scene.write().await.expect(201);
    let reached = &scene.plane.upstream.reached()[0];
    let caller = VerifiedCaller {
        operator: "acme.test".into(),
        acting_for: Some("alice".into()),
        account_id: None,
        session_id: scene.agent.session_id.clone(),
        action: "events.create".into(),
        route: "create".into(),
    };
    assert_eq!(reached.caller, Some(caller));
    assert_eq!((&reached.method, reached.path.as_str()), (&Method::POST, "/calendar/events"));
}

/// AAP-16.1-04, AAP-22.1-02
#[tokio::test]
async fn every_answer_has_a_name_and_says_the_version() {
    let scene = Kit(Backend::Sqlite).fixture().await;
    let refused = scene.agent.request(Method::GET, "/nowhere", "READ_CALENDAR");
    let challenged = scene.agent.request(Method::GET, "/calendar/events", "READ_CALENDAR").without("authorization");
    let answers = [scene.read().await, scene.plane.try_call(refused).await, scene.plane.try_call(challenged).await];
    let mut names: Vec<_> = answers.iter().map(|answer| answer.header("x-request-id").unwrap()).collect();
    names.dedup();
    assert_eq!(names.len(), 3);
    for answer in &answers {
        assert_eq!(answer.header("aap-version-served"), Some("2.0"));
    }
    assert_eq!(answers[1].json()["request_id"], names[1]);
}

///
#[tokio::test]
async fn the_upstream_gets_the_matched_path() {
    let scene = Kit(Backend::Sqlite).fixture_with(Setup::default(), &["calendar.read", "clock.read"]).await;
    for path in ["/calendar/events/1", "/calendar/events/a%20b", "/calendar/events/%c3%bc", "/calendar/events/a.b"] {
        scene.plane.call(&scene.agent, Method::GET, path, "READ_CALENDAR").await.expect(200);
        let reached = scene.plane.upstream.reached().pop().unwrap();
        assert_eq!((reached.path.as_str(), reached.caller.unwrap().route.as_str()), (path, "get"));
    }
    // A query is no part of the path.
    let path = "/calendar/events?next=/../clock";
    scene.plane.call(&scene.agent, Method::GET, path, "READ_CALENDAR").await.expect(200);
    assert_eq!(scene.plane.upstream.reached().pop().unwrap().caller.unwrap().route, "list");
}

//! Paths and headers that two programs could read in two ways are never forwarded.

use countersign_testkit::{Backend, Kit, Scene, Setup};
use http::{HeaderValue, Method};

async fn scene() -> Scene {
    let all = ["calendar.read", "calendar.write", "clock.read"];
    Kit(Backend::Sqlite).scene_with(Setup::default(), &all).await
}

/// R-3, AAP-12.3-04
#[tokio::test]
async fn a_path_that_could_be_read_as_another_one_matches_no_route() {
    let scene = scene().await;
    let confusing = [
        // up and down
        "/calendar/events/..",
        "/calendar/events/.",
        "/calendar/events/../events",
        "/calendar/../calendar/events",
        "/./calendar/events",
        "/calendar/events/../../clock",
        "/../clock",
        // encoded
        "/calendar/events/%2e%2e",
        "/calendar/events/%2E%2e",
        "/calendar/events/.%2e",
        "/calendar/events/a%2f..%2f..%2fclock",
        "/calendar/events%2F1",
        "/calendar%2fevents",
        "/%2fclock",
        "/calendar/events/..%5cclock",
        "/calendar/events/a%5Cb",
        "/calendar/events/1%00",
        // parameters
        "/calendar/events;v=1",
        "/calendar;x/events",
        "/calendar/events/1;jsessionid=2",
        "/calendar/events/..;/clock",
        // slashes
        "//calendar/events",
        "/calendar//events",
        "/calendar/events/",
        "/calendar/events//",
        "/calendar/events/1/",
        "/calendar/events//1",
        "/clock/",
        "//clock",
        // case, and more or fewer segments
        "/Calendar/events",
        "/calendar/EVENTS",
        "/CLOCK",
        "/calendar",
        "/",
        "/calendar/events/1/2",
        "/calendar/events%20",
    ];
    for path in confusing {
        for (method, intent) in [(Method::GET, "READ_CALENDAR"), (Method::PUT, "SCHEDULE_EVENT")] {
            let answer = scene.plane.call(&scene.agent, method, path, intent).await;
            assert_eq!(answer.refusal(), (404, "route_not_found".into()), "{path}");
        }
    }
    let backslash = http::Uri::try_from("/calendar/events/..\\clock");
    if let Ok(uri) = backslash {
        let answer = scene.plane.call(&scene.agent, Method::GET, &uri.to_string(), "READ_CALENDAR").await;
        assert_eq!(answer.refusal(), (404, "route_not_found".into()));
    }
    assert_eq!(scene.reached(), 0);
}

///
#[tokio::test]
async fn the_upstream_gets_the_matched_path() {
    let scene = scene().await;
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

/// R-3, AAP-12.3-04
#[tokio::test]
async fn a_method_counts_as_it_is_written() {
    let scene = scene().await;
    for method in ["get", "Get", "HEAD", "OPTIONS", "PATCH", "TRACE", "FETCH"] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let answer = scene.plane.call(&scene.agent, method.clone(), "/calendar/events", "READ_CALENDAR").await;
        assert_eq!(answer.status, 404, "{method}");
    }
    assert_eq!(scene.reached(), 0);
}

///
#[tokio::test]
async fn a_header_that_stands_twice_or_cannot_be_read_is_refused() {
    let scene = scene().await;
    let (agent, receipt) = scene.with_receipt(&["calendar.read", "calendar.write"], |_| ()).await;
    let given = [
        ("authorization", format!("Bearer {}", agent.access_token)),
        ("aap-version", "2.0".into()),
        ("x-agent-mode", "user_delegated".into()),
        ("x-agent-delegation", scene.connected.delegation_id.clone()),
        ("x-agent-session", agent.session_id.clone()),
        ("x-agent-intent-type", "SCHEDULE_EVENT".into()),
        ("x-agent-consent", receipt.clone()),
    ];
    for (name, value) in given {
        for second in [HeaderValue::from_str(&value).unwrap(), HeaderValue::from_static("another")] {
            for method in [Method::GET, Method::POST] {
                let call = agent.request(method, "/calendar/events", "SCHEDULE_EVENT");
                let call = if name == "x-agent-consent" { call.header(name, &value) } else { call };
                let answer = scene.plane.try_call(call.header(name, &second)).await;
                assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{name}");
            }
        }
        if name != "x-agent-consent" {
            let mut call = agent.request(Method::GET, "/calendar/events", "SCHEDULE_EVENT");
            let unreadable = HeaderValue::from_bytes(b"\xff\xfe").unwrap();
            call.headers_mut().unwrap().insert(name, unreadable);
            assert_eq!(scene.plane.try_call(call).await.refusal(), (400, "invalid_request".into()), "{name}");
        }
    }
    assert_eq!(scene.reached(), 0);
}

//! Every response names its version (AAP 22.1, C-84).

use axum::body::Body;
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, agent_request, send_to};
use http::{Method, Request};

#[track_caller]
fn says_its_version(answer: &Answer, what: &str) {
    assert_eq!(answer.header("aap-version-served"), Some("2.0"), "{what}: {}", answer.text());
    if let Some(accepted) = answer.header("aap-version-accepted") {
        assert!(is_comma_list_of_versions(accepted), "{what}: {accepted:?}");
    }
}

fn is_comma_list_of_versions(text: &str) -> bool {
    let number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    text.split(',').all(|v| v.trim().split_once('.').is_some_and(|(major, minor)| number(major) && number(minor)))
}

async fn ask(plane: &Plane, method: Method, path: &str) -> Answer {
    plane.send(agent_request(method, path).body(Body::from("{}")).unwrap()).await
}

/// AAP-22.1-02, AAP-22.1-03
#[tokio::test]
async fn every_answer_of_an_aap_route_names_its_version_also_in_refusals() {
    let plane = Kit(Backend::Sqlite).plane_with(Setup::multi()).await;
    let well_known = ["agent-auth.json", "agent-identity.json", "agent-jwks.json"];
    for name in well_known {
        let path = format!("/.well-known/{name}");
        says_its_version(&plane.get(&path).await.expect(200), &path);
        says_its_version(&ask(&plane, Method::POST, &path).await.expect(405), &path);
    }
    says_its_version(&plane.get("/.well-known/agent-auth.json?projectId=nobody").await.expect(404), "no project");
    says_its_version(&plane.get("/.well-known/agent-auth.json?projectId=a&projectId=b").await.expect(400), "two");
    says_its_version(&plane.get("/.well-known/agent-auth.txt").await.expect(404), "no page");
    for name in ["register", "delegate", "delegate/requests", "delegate/token", "revoke", "cancel", "audit", "nothing"]
    {
        let method = if name == "audit" { Method::GET } else { Method::POST };
        for path in [
            format!("/agent/{name}"),
            format!("/projects/north/agent/{name}"),
            format!("/projects/nobody/agent/{name}"),
            format!("https://south.api.example.test/agent/{name}"),
        ] {
            let refused = ask(&plane, method.clone(), &path).await;
            assert!(refused.status >= 400);
            says_its_version(&refused, &path);
            says_its_version(&ask(&plane, Method::PATCH, &path).await, &path);
        }
    }
    let too_large = agent_request(Method::POST, "/projects/north/agent/register").body(Body::from("x".repeat(70_000)));
    says_its_version(&plane.send(too_large.unwrap()).await.expect(413), "too large");
    let form = Request::post("/projects/north/agent/register").header("aap-version", "2.0").body(Body::from("a=b"));
    says_its_version(&plane.send(form.unwrap()).await.expect(415), "a form");
}

/// C-84: a route outside AAP makes no claims about AAP.
#[tokio::test]
async fn pages_and_the_installations_own_interfaces_speak_no_aap_version() {
    let plane = Kit(Backend::Sqlite).plane().await;
    for path in ["/session", "/v1/agents", "/agents", "/projects/calendar/agents", "/nothing"] {
        assert_eq!(plane.get(path).await.header("aap-version-served"), None, "{path}");
    }
}

/// AAP-22.1-02
#[tokio::test]
async fn every_answer_to_a_call_says_it_too() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
    let agent = plane.register(plane.acme(), &connected).await;
    let read = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    says_its_version(&read, "a read");
    let refused = plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await.expect(403);
    says_its_version(&refused, "no scope");
    let nobody = Request::get("/calendar/events").body(Body::empty()).unwrap();
    says_its_version(&send_to(&plane.api(), nobody).await.expect(401), "nobody");
    plane.upstream.set_status(500);
    let broken = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(500);
    says_its_version(&broken, "the upstream's own error");
}

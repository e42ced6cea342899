//! The pages keep projects apart as well.

use super::{BASE, Door};
use axum::body::Body;
use countersign_engine::Role;
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, TestPerson};
use http::{Method, header};
use serde_json::json;

async fn plane() -> (Plane, TestPerson) {
    let plane = Kit(Backend::Sqlite).plane_with(Setup::multi()).await;
    let carol = plane.person_in("north", "carol", &[Role::User]).await;
    plane.give_roles("south", "carol", &[Role::User, Role::Admin]).await;
    (plane, carol)
}

async fn open(plane: &Plane, who: &TestPerson, host: &str, path: &str) -> Answer {
    let request = who.request(Method::GET, path).header(header::HOST, host).header(header::ACCEPT, "text/html");
    plane.send(request.body(Body::empty()).unwrap()).await
}

async fn send_form(plane: &Plane, who: &TestPerson, host: &str, path: &str, fields: &str) -> Answer {
    let request = who.request(Method::POST, path).header(header::HOST, host).header(header::ACCEPT, "text/html");
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    plane.send(request.body(Body::from(format!("csrf={}&{fields}", who.csrf))).unwrap()).await
}

/// AAP-3.1-10
#[tokio::test]
async fn a_connection_has_no_page_in_another_project() {
    let (plane, carol) = plane().await;
    let north = Door::by_path("north");
    let connected = north.connect(&plane, &carol, plane.acme()).await;
    for id in [connected.delegation_id.as_str(), "del_000000000000000000000000000000"] {
        for (host, prefix) in [(BASE.to_owned(), "/projects/south"), (format!("south.{BASE}"), "")] {
            for page in ["", "/revoke"] {
                let answer = open(&plane, &carol, &host, &format!("{prefix}/agents/{id}{page}")).await.expect(404);
                assert!(!answer.text().contains("acme.test"), "{}", answer.text());
            }
            send_form(&plane, &carol, &host, &format!("{prefix}/agents/{id}/revoke"), "").await.expect(404);
        }
    }
    let south = open(&plane, &carol, BASE, "/projects/south/agents").await.expect(200);
    assert!(!south.text().contains(&connected.delegation_id), "{}", south.text());
    let own = open(&plane, &carol, BASE, "/projects/north/agents").await.expect(200);
    assert!(own.text().contains(&connected.delegation_id));
    let agent = north.registered(&plane, &connected, None).await;
    north.call(&plane, &agent).await.expect(200);
}

/// AAP-3.1-10
#[tokio::test]
async fn a_connect_request_has_no_page_on_another_projects_host() {
    let (plane, carol) = plane().await;
    let request = Door::by_path("north").connect_request(&plane, plane.acme()).await;
    let path = format!("/connect/{request}");
    let crossed = open(&plane, &carol, &format!("south.{BASE}"), &path).await.expect(404);
    let nobodys = open(&plane, &carol, &format!("south.{BASE}"), "/connect/creq_unknown").await.expect(404);
    assert_eq!(crossed.text(), nobodys.text());
    assert_eq!(send_form(&plane, &carol, &format!("south.{BASE}"), &path, "answer=deny").await.status, 404);
    for host in [BASE.to_owned(), format!("north.{BASE}")] {
        assert!(open(&plane, &carol, &host, &path).await.expect(200).text().contains("acme.test"), "{host}");
    }
}

/// AAP-3.1-07: an operator that asked on a project's host is answered in the name of that host (RFC 9207).
#[tokio::test]
async fn the_answer_names_the_service_that_the_operator_asked() {
    let (plane, carol) = plane().await;
    let acme = plane.acme();
    for (door, issuer) in [
        (Door::by_host("north"), "https%3A%2F%2Fnorth.api.example.test"),
        (Door::by_path("north"), "https%3A%2F%2Fapi.example.test"),
    ] {
        let mut body = plane.connect_body(acme, &["calendar.read"]);
        body["operator_jwt"] = json!(door.jwt(&plane, acme));
        body["callback"] = json!(acme.callback());
        let asked = door.post(&plane, "/agent/delegate/requests", &body).await.expect(201).json();
        let request = asked["request_id"].as_str().unwrap();
        // The person answers on the base host, where they are signed in.
        let base = Door::by_path("north");
        let shown = base.show(&plane, &carol, request).await.expect(200).json();
        let granted = base.agree(&plane, &carol, request, &shown["disclosure_id"]).await.expect(201).json();
        let redirect = granted["redirect"].as_str().unwrap();
        assert!(redirect.ends_with(&format!("&iss={issuer}")), "{redirect}");
        let token = crate::schemas::claims_of(granted["delegation_token"].as_str().unwrap());
        assert_eq!(token["iss"], door.service());
    }
}

//! Discovery of a service before the first request.

use crate::{
    fixture::{ClientFixture, SERVICE, config, create_event, delegation, list_events, manifest},
    service::{EVENTS, MANIFEST, REGISTER, header},
};
use countersign_client::agent::{AgentCall, AgentConfig, CallError, DiscoverError};
use countersign_protocol::ids::ProjectId;
use serde_json::json;

use crate::fixture::at;

/// AAP-3-09
#[tokio::test]
async fn the_manifest_is_read_before_anything_else_is_asked() {
    let mut fixture = ClientFixture::new();
    fixture.agent.restore(delegation());
    fixture.service.answers(REGISTER, [crate::service::refusal(503, "service_unavailable")]);
    fixture.agent.register(None, at(0)).await.unwrap_err();
    assert_eq!(fixture.service.paths(), [MANIFEST, REGISTER]);

    let mut fixture = ClientFixture::new();
    fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap();
    assert_eq!(fixture.service.paths()[0], MANIFEST);

    let mut fixture = ClientFixture::new();
    fixture.agent.call(&list_events(), at(0)).await.unwrap_err();
    assert_eq!(fixture.service.paths(), [MANIFEST]);
}

/// AAP-3.1-06
#[tokio::test]
async fn an_agent_that_knows_its_project_asks_for_its_manifest_alone() {
    let mut scoped = manifest();
    scoped["project_id"] = json!("blue");
    let mut fixture = ClientFixture::with(&scoped, of_project("blue"));
    fixture.agent.discover().await.unwrap();
    let urls: Vec<String> = fixture.service.received().into_iter().map(|request| request.url).collect();
    assert_eq!(urls, [format!("{SERVICE}{MANIFEST}?projectId=blue")]);
}

#[tokio::test]
async fn a_manifest_of_another_project_is_not_worked_with() {
    let mut other = manifest();
    other["project_id"] = json!("red");
    for answer in [other, manifest()] {
        let mut fixture = ClientFixture::with(&answer, of_project("blue"));
        assert_eq!(fixture.agent.discover().await, Err(DiscoverError::OtherProject));
    }
}

#[tokio::test]
async fn a_platform_manifest_asks_for_a_project_instead_of_calling_a_template() {
    let mut platform = manifest();
    platform["endpoints"]["register"] = json!("/projects/{projectId}/agent/register");
    assert_eq!(ClientFixture::at(&platform).agent.discover().await, Err(DiscoverError::ProjectNeeded));
}

/// A service posing as another would collect operator JWTs valid there.
#[tokio::test]
async fn a_manifest_that_speaks_for_another_service_is_refused() {
    let mut thief = manifest();
    thief["service"] = json!("https://bank.example");
    let told = "https://bank.example".to_owned();
    assert_eq!(ClientFixture::at(&thief).agent.discover().await, Err(DiscoverError::OtherService { told }));
}

#[tokio::test]
async fn endpoints_elsewhere_are_never_called() {
    for elsewhere in ["https://bank.example/agent/register", "//bank.example/x", "http://calendar.example/x"] {
        let mut leading_away = manifest();
        leading_away["endpoints"]["register"] = json!(elsewhere);
        let mut fixture = ClientFixture::at(&leading_away);
        fixture.agent.restore(delegation());
        fixture.agent.register(None, at(0)).await.unwrap_err();
        assert_eq!(fixture.service.paths(), [MANIFEST], "{elsewhere}");
    }
}

/// The token goes only to the configured origin, regardless of the path.
#[tokio::test]
async fn a_call_cannot_leave_the_service() {
    let (mut fixture, _) = ClientFixture::registered().await;
    for path in ["@bank.example/", ".bank.example/", "https://bank.example/", "calendar/events", ":8443/x"] {
        let error = fixture.agent.call(&AgentCall::get(path).intent_type("READ_CALENDAR"), at(1)).await.unwrap_err();
        assert_eq!(error, CallError::BadPath, "{path}");
    }
    assert_eq!(fixture.service.paths(), [MANIFEST, REGISTER]);
}

#[tokio::test]
async fn the_api_may_be_at_another_configured_origin() {
    let api = countersign_protocol::origin::Origin::parse("https://api.calendar.example").unwrap();
    let mut fixture = ClientFixture::with(&manifest(), AgentConfig { api: Some(api), ..config() });
    fixture.agent.restore(delegation());
    fixture.agent.discover().await.unwrap();
    let receipt = fixture.consents();
    fixture.admits(receipt.session_id());
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
    let sent = &fixture.service.received_at(EVENTS)[0];
    assert_eq!(sent.url, format!("https://api.calendar.example{EVENTS}"));
    assert_eq!(header(sent, "authorization"), "Bearer access-1");
}

fn of_project(id: &str) -> AgentConfig {
    AgentConfig { project: Some(ProjectId::parse(id).unwrap()), ..config() }
}

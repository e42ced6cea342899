//! Negotiation between different protocol versions.

use crate::{
    fixture::{ClientFixture, access, at, config, create_event, delegation, list_events, manifest},
    service::{EVENTS, MANIFEST, REGISTER, ok, refusal, with},
};
use countersign_client::{
    agent::{AgentConfig, CallError, DiscoverError, Notice, RegisterError, WireError},
    transport::Response,
};
use serde_json::{Value, json};

const TWO: &[&str] = &["2.0", "2.1"];

/// AAP-13.4-04
#[tokio::test]
async fn without_a_common_version_the_agent_stops_with_a_message() {
    for lists in [
        json!({ "spec_versions_accepted": ["3.0"], "spec_versions_supported": ["aap/2.0"] }),
        json!({ "spec_versions_accepted": [], "spec_versions_supported": ["aap/1.2", "aap/1.1"] }),
        json!({ "spec_versions_accepted": [], "spec": "aap/3.0" }),
    ] {
        let mut fixture = ClientFixture::at(&changed(&lists));
        fixture.agent.restore(delegation());
        let error = fixture.agent.register(None, at(0)).await.unwrap_err();
        assert!(matches!(error, RegisterError::Discover(DiscoverError::NoCommonVersion { .. })));
        assert!(matches!(fixture.notices().last(), Some(Notice::ProtocolError { .. })));
        fixture.agent.call(&create_event(), at(0)).await.unwrap_err();
        fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap_err();
        fixture.agent.discover().await.unwrap_err();
        assert_eq!(fixture.service.paths(), [MANIFEST], "the version is not sent again");
    }
}

/// AAP-13.4-04
#[tokio::test]
async fn the_version_is_taken_from_the_manifest_before_the_first_request() {
    for (lists, version) in [
        (json!({ "spec_versions_accepted": ["2.0", "3.0"] }), "2.0"),
        (json!({ "spec_versions_accepted": ["1.3", "2.0", "2.1"] }), "2.1"),
        (json!({ "spec_versions_accepted": ["2.0"], "spec_versions_supported": ["aap/2.1"] }), "2.0"),
        (json!({ "spec_versions_accepted": [], "spec_versions_supported": ["aap/2.0"] }), "2.0"),
        (json!({ "spec_versions_accepted": [], "spec": "aap/2.0-draft" }), "2.0"),
    ] {
        let mut fixture = speaking_two(&changed(&lists));
        fixture.service.answers(REGISTER, [refusal(503, "service_unavailable")]);
        fixture.agent.register(None, at(0)).await.unwrap_err();
        assert_eq!(fixture.service.versions(REGISTER), [version]);
    }
}

/// AAP-13.4-04
#[tokio::test]
async fn a_refused_version_is_replaced_once_by_one_that_both_list() {
    for name in ["aap-version-accepted", "x-aap-version-required"] {
        let mut fixture = speaking_two(&changed(&json!({ "spec_versions_accepted": ["2.0", "2.1"] })));
        let sess = fixture.consents();
        let admitted = ok(&access("access-1", sess.session_id()));
        fixture.service.answers(REGISTER, [with(unsupported(), name, "1.3, 2.0"), admitted]);
        fixture.agent.register(Some(&sess), at(0)).await.unwrap();
        fixture.agent.call(&create_event(), at(1)).await.unwrap();
        assert_eq!(fixture.service.versions(REGISTER), ["2.1", "2.0"]);
        assert_eq!(fixture.service.versions(EVENTS), ["2.0"], "the refused one is not sent again");
    }
}

/// AAP-13.4-04
#[tokio::test]
async fn a_refused_version_without_another_in_common_is_the_end() {
    for answer in [
        with(unsupported(), "aap-version-accepted", "3.0"),
        with(unsupported(), "aap-version-accepted", "2.0"),
        unsupported(),
    ] {
        let (mut fixture, _) = ClientFixture::registered().await;
        fixture.service.answers(EVENTS, [answer]);
        let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
        assert!(matches!(error, CallError::Wire(WireError::NoCommonVersion { .. })), "{error}");
        assert!(matches!(fixture.notices().last(), Some(Notice::ProtocolError { .. })));
        let sent = fixture.service.received().len();
        fixture.agent.call(&create_event(), at(2)).await.unwrap_err();
        fixture.agent.discover().await.unwrap_err();
        assert_eq!(fixture.service.received().len(), sent);
    }
}

/// AAP-13.4-04
#[tokio::test]
async fn a_service_that_refuses_both_versions_is_not_asked_a_third_time() {
    let mut fixture = speaking_two(&changed(&json!({ "spec_versions_accepted": ["2.0", "2.1"] })));
    fixture.service.answers(REGISTER, [with(unsupported(), "aap-version-accepted", "2.0, 2.1")]);
    fixture.agent.register(None, at(0)).await.unwrap_err();
    fixture.agent.register(None, at(0)).await.unwrap_err();
    assert_eq!(fixture.service.versions(REGISTER), ["2.1", "2.0"]);
}

/// AAP-22.2-04
#[tokio::test]
async fn an_answer_in_a_higher_version_is_discarded_and_asked_for_once_more() {
    let (mut fixture, _) = ClientFixture::registered().await;
    let right = with(ok(&json!({ "events": ["right"] })), "aap-version-served", "2.0");
    fixture.service.answers(EVENTS, [higher(), right]);
    let answer = fixture.agent.call(&list_events(), at(1)).await.unwrap();
    assert_eq!(answer.body, json!({ "events": ["right"] }).to_string());
    assert_eq!(fixture.service.versions(EVENTS), ["2.0", "2.0"]);
    assert!(matches!(fixture.notices().last(), Some(Notice::ProtocolError { .. })));

    let (mut fixture, _) = ClientFixture::registered().await;
    fixture.service.answers(EVENTS, [higher()]);
    let error = fixture.agent.call(&list_events(), at(1)).await.unwrap_err();
    let served = "2.1".to_owned();
    assert_eq!(error, CallError::Wire(WireError::OtherVersionServed { asked: "2.0", served }));
    assert_eq!(fixture.service.versions(EVENTS).len(), 2);
}

/// AAP-22.2-04
#[tokio::test]
async fn the_second_attempt_is_at_a_version_that_both_list() {
    let mut fixture = speaking_two(&changed(&json!({ "spec_versions_accepted": ["2.0"] })));
    let sess = fixture.consents();
    let served = with(ok(&access("discarded", sess.session_id())), "aap-version-served", "2.1");
    let served = with(served, "aap-version-accepted", "2.1, 2.2");
    let right = with(ok(&access("access-1", sess.session_id())), "aap-version-served", "2.1");
    fixture.service.answers(REGISTER, [served.clone(), right]);
    fixture.agent.register(Some(&sess), at(0)).await.unwrap();
    assert_eq!(fixture.service.versions(REGISTER), ["2.0", "2.1"]);

    let (mut fixture, _) = ClientFixture::registered().await;
    fixture.service.answers(EVENTS, [with(higher(), "aap-version-accepted", "2.1")]);
    let error = fixture.agent.call(&list_events(), at(1)).await.unwrap_err();
    assert!(matches!(error, CallError::Wire(WireError::NoCommonVersion { .. })));
    assert_eq!(fixture.service.versions(EVENTS), ["2.0"]);
}

/// A write with a success response has run. Repeating it could run it twice.
#[tokio::test]
async fn a_write_that_may_have_run_in_another_version_is_not_repeated() {
    let (mut fixture, _) = ClientFixture::registered().await;
    fixture.service.answers(EVENTS, [higher()]);
    let error = fixture.agent.call(&create_event(), at(1)).await.unwrap_err();
    assert_eq!(error, CallError::Wire(WireError::MayHaveRun { asked: "2.0", served: "2.1".to_owned() }));
    assert_eq!(fixture.service.versions(EVENTS).len(), 1);
    assert!(matches!(fixture.notices().last(), Some(Notice::ProtocolError { .. })));

    let refused = Response { status: http::StatusCode::SERVICE_UNAVAILABLE, ..higher() };
    fixture.service.answers(EVENTS, [refused, ok(&json!({}))]);
    fixture.agent.call(&create_event(), at(2)).await.unwrap();
}

fn speaking_two(manifest: &Value) -> ClientFixture {
    let mut fixture = ClientFixture::with(manifest, AgentConfig { versions: TWO, ..config() });
    fixture.agent.restore(delegation());
    fixture
}

fn changed(members: &Value) -> Value {
    let mut changed = manifest();
    for (name, value) in members.as_object().unwrap() {
        changed[name] = value.clone();
    }
    changed
}

fn unsupported() -> Response {
    refusal(400, "spec_version_unsupported")
}

fn higher() -> Response {
    with(ok(&json!({ "events": ["in another form"] })), "aap-version-served", "2.1")
}

//! Bootstrap: the person decides on the service's own page.

use crate::{
    fixture::{CALLBACK, ClientFixture, OPERATOR, SERVICE, at, connect_answer, delegation_token, exchange_answer},
    service::{CONNECT, EXCHANGE, MANIFEST, refusal},
};
use countersign_client::agent::{ConnectError, Notice, WireError};
use countersign_jose::{Expected, KeyPolicy, KeySet, pkce, verify_operator};
use serde_json::json;

/// AAP-13.2-05
#[tokio::test]
async fn a_page_that_is_not_the_services_own_is_not_opened() {
    for page in [
        "https://calendar.example.evil.test/connect/1",
        "https://calendar.example@evil.test/connect/1",
        "http://calendar.example/connect/1",
        "https://calendar.example:8443/connect/1",
        "//evil.test/connect/1",
        "javascript:alert(1)",
    ] {
        let mut fixture = ClientFixture::new();
        fixture.service.answers(CONNECT, [connect_answer(page)]);
        let error = fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap_err();
        assert_eq!(error, ConnectError::ForeignConnectUrl, "{page}");
        assert!(fixture.opened.lock().unwrap().is_empty());
        assert!(!fixture.notices().iter().any(|notice| matches!(notice, Notice::PleaseConnect { .. })));
        assert_eq!(fixture.agent.finish_connect("code", at(1)).await.unwrap_err(), ConnectError::NothingPending);
    }
}

/// AAP-13.2-02, AAP-13.2-05
#[tokio::test]
async fn the_services_page_opens_in_the_persons_browser_under_the_operators_domain() {
    let mut fixture = ClientFixture::new();
    let page = fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap();
    assert_eq!(page, "https://calendar.example/connect/creq_1");
    assert_eq!(*fixture.opened.lock().unwrap(), std::slice::from_ref(&page));
    let operator = fixture.operator.domain().clone();
    let notice = Notice::PleaseConnect { service: SERVICE.to_owned(), operator, url: page.clone() };
    assert!(notice.to_string().contains(OPERATOR) && notice.to_string().contains(&page));
    assert_eq!(fixture.notices().last(), Some(&notice));
    assert_eq!(fixture.agent.operator_domain().as_str(), OPERATOR);
    fixture.agent.finish_connect("code", at(1)).await.unwrap();
    assert_eq!(fixture.agent.operator_domain().as_str(), OPERATOR);
}

#[tokio::test]
async fn the_request_carries_a_proof_of_the_operator_and_a_challenge_that_the_exchange_meets() {
    let mut fixture = ClientFixture::new();
    fixture.agent.connect(&["calendar.read", "calendar.write"], Some(CALLBACK), at(0)).await.unwrap();
    fixture.agent.finish_connect(" one-time-code\n", at(1)).await.unwrap();
    let (asked, exchanged) = (&fixture.service.bodies(CONNECT)[0], &fixture.service.bodies(EXCHANGE)[0]);
    assert_eq!(asked["mode"], "user_delegated");
    assert_eq!(asked["scopes"], json!(["calendar.read", "calendar.write"]));
    assert_eq!((&asked["code_challenge_method"], &asked["callback"]), (&json!("S256"), &json!(CALLBACK)));
    assert_eq!(exchanged["code"], "one-time-code");
    let verifier = exchanged["code_verifier"].as_str().unwrap();
    assert!(pkce::verify(asked["code_challenge"].as_str().unwrap(), verifier));
    let keys = KeySet::parse(&fixture.operator.documents(at(0))[1].body, &KeyPolicy::default()).unwrap();
    for (body, now) in [(asked, at(0)), (exchanged, at(1))] {
        let expected = Expected { operator: fixture.operator.domain(), service: SERVICE };
        verify_operator(body["operator_jwt"].as_str().unwrap(), &keys, expected, now).unwrap();
    }
    assert_eq!(fixture.agent.delegation().unwrap().subject(), "john@example.com");
}

#[tokio::test]
async fn every_connection_has_a_state_and_a_verifier_of_its_own() {
    let mut fixture = ClientFixture::new();
    for _ in 0..2 {
        fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap();
        fixture.agent.finish_connect("code", at(1)).await.unwrap();
    }
    let (asked, exchanged) = (fixture.service.bodies(CONNECT), fixture.service.bodies(EXCHANGE));
    assert_ne!(asked[0]["state"], asked[1]["state"]);
    assert_ne!(exchanged[0]["code_verifier"], exchanged[1]["code_verifier"]);
}

#[tokio::test]
async fn a_redirect_that_answers_something_else_is_ignored_and_the_right_one_still_works() {
    let mut fixture = ClientFixture::new();
    fixture.agent.connect(&["calendar.read"], Some(CALLBACK), at(0)).await.unwrap();
    let state = fixture.service.bodies(CONNECT)[0]["state"].as_str().unwrap().to_owned();
    let foreign = [
        format!("{CALLBACK}?code=c&state=another&iss={SERVICE}"),
        format!("{CALLBACK}?code=c&iss={SERVICE}"),
        format!("{CALLBACK}?code=c&state={state}"),
        format!("{CALLBACK}?code=c&state={state}&iss=https://evil.test"),
        format!("{CALLBACK}?code=c&code=d&state={state}&iss={SERVICE}"),
        format!("{CALLBACK}?state={state}&iss={SERVICE}"),
        format!("{CALLBACK}?error=access_denied&state=another&iss={SERVICE}"),
        format!("{CALLBACK}?error=access_denied&state={state}&iss=https://evil.test"),
        format!("https://evil.test/connected?code=c&state={state}&iss={SERVICE}"),
        format!("{CALLBACK}/deeper?code=c&state={state}&iss={SERVICE}"),
    ];
    for redirect in foreign {
        let error = fixture.agent.finish_redirect(&redirect, at(1)).await.unwrap_err();
        assert!(matches!(error, ConnectError::ForeignRedirect(_)), "{redirect}: {error}");
    }
    assert_eq!(fixture.service.paths(), [MANIFEST, CONNECT]);
    let right = format!("{CALLBACK}?code=c&state={state}&iss=https%3A%2F%2Fcalendar.example");
    assert_eq!(fixture.agent.finish_redirect(&right, at(1)).await.unwrap().id(), "del_k9x2mq");
}

#[tokio::test]
async fn a_rejection_is_final_and_nothing_is_exchanged() {
    let mut fixture = ClientFixture::new();
    fixture.agent.connect(&["calendar.read"], Some(CALLBACK), at(0)).await.unwrap();
    let state = fixture.service.bodies(CONNECT)[0]["state"].as_str().unwrap().to_owned();
    let no = format!("{CALLBACK}?error=access_denied&state={state}");
    assert_eq!(fixture.agent.finish_redirect(&no, at(1)).await.unwrap_err(), ConnectError::Denied);
    assert_eq!(fixture.agent.finish_connect("code", at(1)).await.unwrap_err(), ConnectError::NothingPending);
    assert_eq!(fixture.service.paths(), [MANIFEST, CONNECT]);
}

#[tokio::test]
async fn after_ten_minutes_it_is_over() {
    let mut fixture = ClientFixture::new();
    fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap();
    assert_eq!(fixture.agent.finish_connect("code", at(600)).await.unwrap_err(), ConnectError::Expired);
    assert!(fixture.service.received_at(EXCHANGE).is_empty());
}

#[tokio::test]
async fn a_mistyped_code_can_be_typed_again() {
    let mut fixture = ClientFixture::new();
    fixture.service.answers(EXCHANGE, [refusal(400, "invalid_request"), exchange_answer()]);
    fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap();
    let error = fixture.agent.finish_connect("cde", at(1)).await.unwrap_err();
    assert!(matches!(error, ConnectError::Wire(WireError::Refused(_))));
    fixture.agent.finish_connect("code", at(2)).await.unwrap();
}

#[tokio::test]
async fn a_question_that_the_service_would_refuse_is_not_sent() {
    let mut fixture = ClientFixture::new();
    let error = fixture.agent.connect(&["calendar.own"], None, at(0)).await.unwrap_err();
    assert_eq!(error, ConnectError::UnknownScope("calendar.own".to_owned()));
    let error = fixture.agent.connect(&["calendar.read"], Some("https://evil.test/cb"), at(0)).await.unwrap_err();
    assert_eq!(error, ConnectError::CallbackNotListed);
    assert_eq!(fixture.service.paths(), [MANIFEST]);
}

#[tokio::test]
async fn a_delegation_for_somebody_else_is_not_taken() {
    for (service, operator) in [("https://bank.example", OPERATOR), (SERVICE, "other.example")] {
        let mut fixture = ClientFixture::new();
        fixture.service.answers(
            EXCHANGE,
            [crate::service::ok(&json!({ "delegation_token": delegation_token(service, operator),
                "delegation_id": "del_k9x2mq", "scopes": ["calendar.read"], "effective_policy": {} }))],
        );
        fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap();
        assert_eq!(fixture.agent.finish_connect("c", at(1)).await.unwrap_err(), ConnectError::ForeignDelegation);
        assert!(fixture.agent.delegation().is_none());
    }
}

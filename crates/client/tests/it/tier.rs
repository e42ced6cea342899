//! A service that demands a higher tier than the agent has.

use crate::{
    fixture::{ClientFixture, OPERATOR, SERVICE, at, create_event, delegation, manifest},
    service::{MANIFEST, REGISTER},
};
use countersign_client::agent::{CallError, ConnectError, DiscoverError, Lost, Notice, RegisterError};
use serde_json::json;

/// AAP-2-07, AAP-2-08
#[tokio::test]
async fn beyond_its_reach_the_agent_does_nothing_and_says_so() {
    let mut fixture = ClientFixture::at(&of_tier(4));
    fixture.agent.restore(delegation());
    let beyond = DiscoverError::TierOutOfReach { needed: 4, has: 3 };
    assert_eq!(fixture.agent.register(None, at(0)).await.unwrap_err(), RegisterError::Discover(beyond.clone()));
    assert_eq!(fixture.agent.call(&create_event(), at(0)).await.unwrap_err(), CallError::Discover(beyond.clone()));
    assert_eq!(
        fixture.agent.connect(&["calendar.read"], None, at(0)).await.unwrap_err(),
        ConnectError::Discover(beyond)
    );
    assert_eq!(fixture.service.paths(), [MANIFEST]);
    let notice = Notice::ManualAuthorization { service: SERVICE.to_owned(), needed: 4, has: 2 };
    assert_eq!(fixture.notices(), vec![notice.clone(); 3]);
    assert!(notice.to_string().contains(SERVICE) && notice.to_string().contains("tier 4"));
}

/// AAP-2-07, AAP-2-08
#[tokio::test]
async fn without_a_receipt_nothing_is_sent_to_a_service_of_tier_three() {
    let mut fixture = ClientFixture::at(&of_tier(3));
    fixture.agent.restore(delegation());
    let error = fixture.agent.register(None, at(0)).await.unwrap_err();
    assert_eq!(error, RegisterError::TierNotMet { needed: 3, has: 2 });
    fixture.agent.call(&create_event(), at(0)).await.unwrap_err();
    assert_eq!(fixture.service.paths(), [MANIFEST]);
    let notice = Notice::ManualAuthorization { service: SERVICE.to_owned(), needed: 3, has: 2 };
    assert!(fixture.notices().contains(&notice));

    let receipt = fixture.consents();
    fixture.admits(receipt.session_id());
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
}

#[tokio::test]
async fn without_a_person_only_a_service_of_tier_one_is_asked() {
    let mut fixture = ClientFixture::at(&of_tier(2));
    let error = fixture.agent.register_without_user(at(0)).await.unwrap_err();
    assert_eq!(error, RegisterError::Lost(Lost::NotConnected));
    assert_eq!(fixture.service.paths(), [MANIFEST]);

    let mut fixture = ClientFixture::at(&of_tier(1));
    fixture.service.answers(REGISTER, [crate::service::refusal(503, "service_unavailable")]);
    fixture.agent.register_without_user(at(0)).await.unwrap_err();
    let body = &fixture.service.bodies(REGISTER)[0];
    assert!(body.get("delegation_token").is_none() && body.get("consent_receipt").is_none());
}

/// AAP-5.1-01, AAP-5.1-02, AAP-5.1-03
#[tokio::test]
async fn without_a_delegation_the_person_is_asked_and_nothing_else_happens() {
    let mut fixture = ClientFixture::new();
    let error = fixture.agent.register(None, at(0)).await.unwrap_err();
    assert_eq!(error, RegisterError::Lost(Lost::NotConnected));
    for _ in 0..3 {
        let error = fixture.agent.call(&create_event(), at(0)).await.unwrap_err();
        assert_eq!(error, CallError::Lost(Lost::NotConnected));
    }
    assert_eq!(fixture.service.paths(), [MANIFEST]);
    assert!(
        fixture
            .service
            .received()
            .iter()
            .all(|request| request.body.is_empty() && !request.headers.contains_key("authorization"))
    );
    let operator = fixture.operator.domain().clone();
    let notice = Notice::ConnectNeeded { service: SERVICE.to_owned(), operator };
    assert_eq!(fixture.notices().into_iter().filter(|told| *told == notice).count(), 4);
    assert!(notice.to_string().contains(SERVICE) && notice.to_string().contains(OPERATOR));
}

fn of_tier(tier: u8) -> serde_json::Value {
    let mut manifest = manifest();
    manifest["minimum_tier"] = json!(tier);
    manifest
}

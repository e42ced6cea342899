//! Which manifests an agent accepts.

use crate::fixture::{ClientFixture, at, create_event, delegation, manifest};
use countersign_client::agent::{AgentCall, CallError, DiscoverError};
use serde_json::{Value, json};

/// AAP-19.1-02
#[tokio::test]
async fn a_draft_of_the_same_version_is_read_and_another_spelling_is_not() {
    assert!(accepts(&changed(|m| m["spec"] = json!("aap/2.0-draft"))).await);
    for spec in ["2.0", "aap/2", "aap/two", "AAP/2.0"] {
        assert!(!accepts(&changed(|m| m["spec"] = json!(spec))).await, "{spec}");
    }
}

/// AAP-19.1-05
#[tokio::test]
async fn a_minimum_tier_outside_one_to_four_is_refused() {
    for tier in [json!(0), json!(5), json!(-1), json!(2.5), json!("2"), json!(null)] {
        assert!(!accepts(&changed(|m| m["minimum_tier"] = tier.clone())).await, "{tier}");
    }
    for tier in 1..=4 {
        assert!(accepts(&changed(|m| m["minimum_tier"] = json!(tier))).await, "{tier}");
    }
}

/// AAP-19.1-06
#[tokio::test]
async fn an_absent_intent_required_means_that_it_is() {
    let read = || AgentCall::get("/calendar/events");
    let (mut fixture, _) = ClientFixture::registered().await;
    assert_eq!(fixture.agent.call(&read(), at(1)).await.unwrap_err(), CallError::IntentTypeNeeded);
    assert!(fixture.service.received_at("/calendar/events").is_empty());

    let mut fixture = ClientFixture::at(&changed(|m| m["intent_required"] = json!(false)));
    fixture.agent.restore(delegation());
    fixture.agent.discover().await.unwrap();
    let receipt = fixture.consents();
    fixture.admits(receipt.session_id());
    fixture.agent.register(Some(&receipt), at(0)).await.unwrap();
    fixture.agent.call(&read(), at(1)).await.unwrap();
    fixture.agent.call(&create_event(), at(1)).await.unwrap();
}

/// AAP-19.1-10
#[tokio::test]
async fn a_scope_without_id_description_or_allows_is_refused() {
    for member in ["id", "description", "allows"] {
        let lacking = changed(|m| drop(m["scopes"][0].as_object_mut().unwrap().remove(member)));
        assert!(!accepts(&lacking).await, "{member}");
    }
}

/// AAP-19.1-14
#[tokio::test]
async fn a_manifest_lacks_none_of_the_four_endpoints_and_each_is_a_reference() {
    for name in ["register", "delegate", "revoke", "audit"] {
        assert!(!accepts(&changed(|m| drop(m["endpoints"].as_object_mut().unwrap().remove(name)))).await, "{name}");
        assert!(!accepts(&changed(|m| m["endpoints"][name] = json!("/a b<c>"))).await, "{name}");
    }
}

/// AAP-19.1-15
#[tokio::test]
async fn conformance_names_a_known_tier_and_a_spec() {
    assert!(!accepts(&changed(|m| m["conformance"]["tier"] = json!("gold"))).await);
    for member in ["tier", "spec"] {
        assert!(!accepts(&changed(|m| drop(m["conformance"].as_object_mut().unwrap().remove(member)))).await);
    }
    for tier in ["core", "extended", "full"] {
        assert!(accepts(&changed(|m| m["conformance"]["tier"] = json!(tier))).await);
    }
}

/// AAP-19.1-16, AAP-22.4-02
#[tokio::test]
async fn members_that_nobody_knows_are_ignored() {
    let newer = changed(|m| {
        m["from_2_7"] = json!({ "anything": [1, 2] });
        m["scopes"][0]["colour"] = json!("green");
        m["conformance"]["badge"] = json!(true);
    });
    assert!(accepts(&newer).await);
}

#[tokio::test]
async fn an_invalid_manifest_is_refused() {
    let mut fixture = ClientFixture::new();
    for (body, status) in [("<html>", 200), ("{\"spec\":1,\"spec\":1}", 200)] {
        let answer = crate::service::refusal(status, "");
        let answer = countersign_client::transport::Response { body: body.into(), ..answer };
        fixture.service.answers(crate::service::MANIFEST, [answer]);
        assert!(matches!(fixture.agent.discover().await, Err(DiscoverError::NotUsable(_))), "{body}");
    }
    fixture.service.answers(crate::service::MANIFEST, [crate::service::refusal(302, "")]);
    assert_eq!(fixture.agent.discover().await, Err(DiscoverError::NoManifest { status: 302 }));
}

fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut changed = manifest();
    change(&mut changed);
    changed
}

async fn accepts(manifest: &Value) -> bool {
    ClientFixture::at(manifest).agent.discover().await.is_ok()
}

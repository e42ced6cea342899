use super::producer::{TOKEN, accepted, accepting, answer, config, subscriber};
use countersign_client::{
    aaep::{SubscribeError, SubscriberClient},
    transport::{FetchError, Unreachable},
};
use countersign_protocol::{
    aaep::handshake::{ReasonCode, SubscriptionRequest},
    ids::ProjectId,
};
use serde_json::{Value, json};

const SUBSCRIPTIONS: &str = "/aaep/v1/subscriptions";

async fn refused(with: countersign_client::transport::Response) -> SubscribeError {
    let producer = accepting();
    producer.answers(SUBSCRIPTIONS, [with]);
    SubscriberClient::connect(config(), producer, Box::new(|| 0)).await.err().unwrap()
}

#[tokio::test]
async fn a_producers_refusal_is_shown_with_its_reason() {
    let no = json!({ "type": "subscription.rejected", "reason_code": "authorization_denied", "reason_message": "No." });
    let SubscribeError::Rejected(rejected) = refused(answer(403, &no)).await else { panic!() };
    assert_eq!(rejected.reason_code, ReasonCode::AuthorizationDenied);
    let SubscribeError::Refused(refused) = refused(answer(401, &json!({ "error": "sign_in_required" }))).await else {
        panic!()
    };
    assert_eq!(refused.status, 401);
}

#[tokio::test]
async fn an_invalid_subscription_is_refused() {
    let mut other = accepted("sub_1");
    other["aaep_version"] = json!("2.0.0");
    assert_eq!(refused(answer(201, &other)).await, SubscribeError::OtherVersion("2.0.0".into()));
    for (member, value) in [("subscription_id", json!("sub-1")), ("novelty", json!(1)), ("producer", Value::Null)] {
        let mut bad = accepted("sub_1");
        bad[member] = value;
        assert!(matches!(refused(answer(201, &bad)).await, SubscribeError::BadAnswer(_)), "{member}");
    }
    let unreachable = Unreachable::Fetch(FetchError::Connect);
    let producer = accepting();
    producer.results(SUBSCRIPTIONS, [Err(unreachable.clone())]);
    let error = SubscriberClient::connect(config(), producer, Box::new(|| 0)).await.err().unwrap();
    assert_eq!(error, SubscribeError::Unreachable(unreachable));
}

#[tokio::test]
async fn a_subscriber_sends_its_capabilities_and_its_token_in_one_header() {
    let producer = accepting();
    let subscriber = subscriber(&producer).await;
    assert_eq!(subscriber.accepted().subscription_id, "sub_1");
    let asked = SubscriptionRequest::parse(&producer.bodies(SUBSCRIPTIONS)[0]).unwrap();
    let can = asked.capabilities;
    assert_eq!((can.supports_confirmation_reply, can.supports_clarification_reply), (Some(true), Some(true)));
    assert_eq!((can.supported_conformance_levels, can.accept_signed_manifests_only), (Some(vec![1, 2, 3]), None));
    let request = &producer.received()[0];
    assert_eq!(request.headers["authorization"], format!("Bearer {TOKEN}"));
    assert!(request.headers["authorization"].is_sensitive());
    assert!(!request.url.contains("cst_") && !String::from_utf8_lossy(&request.body).contains("cst_"));
    assert!(!format!("{:?}", config()).contains("cst_"));
}

#[tokio::test]
async fn a_project_has_its_own_address() {
    let producer = accepting();
    producer.answers("/projects/calendar/aaep/v1/subscriptions", [answer(201, &accepted("sub_1"))]);
    let mut config = config();
    config.project = Some(ProjectId::parse("calendar").unwrap());
    SubscriberClient::connect(config, producer.clone(), Box::new(|| 0)).await.unwrap();
    assert_eq!(producer.received()[0].url, "https://producer.example/projects/calendar/aaep/v1/subscriptions");
}

#[tokio::test]
async fn closing_says_so_to_the_producer() {
    let producer = accepting();
    subscriber(&producer).await.replier().close().await.unwrap();
    let said = &producer.bodies("/aaep/v1/replies")[0];
    assert_eq!((&said["type"], &said["subscription_id"]), (&json!("subscription.close"), &json!("sub_1")));
}

//! The client accepts only documents signed by their agent.

use super::{AGENT, CHECK, GAPS, KEYS, SESSION, agent, key, publishes, response, response_to, session, submission};
use crate::service::{Service, ok, refusal};
use countersign_client::{
    ServiceError,
    clarification::{ClarificationError, Flaw, Registry},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// The client's verdict on this response to a check.
async fn made_of(answer: &Value) -> Result<(), ClarificationError> {
    let service = Arc::new(Service::default());
    publishes(&service, &[&key(1)]);
    service.answers(CHECK, [ok(answer)]);
    agent(&service).check(&submission()).await.map(drop)
}

fn is_not_proven(made: &Result<(), ClarificationError>, place: &str) {
    let wrong = match made {
        Err(ClarificationError::NotProven(wrong)) => wrong,
        other => panic!("{other:?}"),
    };
    assert!(wrong.place.starts_with(place), "{wrong}");
}

/// WWA-9-03
#[tokio::test]
async fn an_unsigned_message_is_refused() {
    let whole = response_to(&response(&key(1)));
    let mut unsigned = whole.clone();
    unsigned["clarification"].as_object_mut().unwrap().remove("signature");
    is_not_proven(&made_of(&unsigned).await, "signature");
    let mut without = whole.clone();
    without.as_object_mut().unwrap().remove("clarification");
    is_not_proven(&made_of(&without).await, "");
    assert_eq!(made_of(&whole).await, Ok(()));
}

/// WWA-9-03
#[tokio::test]
async fn a_message_that_was_changed_or_signed_by_somebody_else_is_refused() {
    let mut changed = response_to(&response(&key(1)));
    changed["clarification"]["gaps"][0]["suggestions"] = json!(["offshore"]);
    is_not_proven(&made_of(&changed).await, "signature");
    is_not_proven(&made_of(&response_to(&response(&key(2)))).await, "agent_public_key");
    let mut renamed = response(&key(2));
    renamed.clarification.agent_id = "somebody-else".into();
    renamed.clarification.signature = super::signed(&key(2), &renamed.clarification);
    assert_eq!(made_of(&response_to(&renamed)).await, Err(ClarificationError::UnknownAgent("somebody-else".into())));
}

#[tokio::test]
async fn members_beside_the_message_must_equal_the_signed_ones() {
    let whole = response_to(&response(&key(1)));
    let changes = [
        ("gaps", json!([])),
        ("status", json!("ready_to_proceed")),
        ("blocking_count", json!(0)),
        ("warning_count", json!(1)),
        ("session_id", json!("9d5b1f0a-3c27-4e94-9a61-2f7d40c3b815")),
    ];
    for (member, value) in changes {
        let mut changed = whole.clone();
        changed[member] = value;
        let made = made_of(&changed).await;
        assert!(matches!(made, Err(ClarificationError::NotAsSigned(_))), "{member}: {made:?}");
    }
}

#[tokio::test]
async fn a_refusal_and_a_strange_answer_are_no_documents() {
    let service = Arc::new(Service::default());
    publishes(&service, &[&key(1)]);
    service.answers(GAPS, [refusal(404, "not_found"), ok(&json!([1]))]);
    let refused = agent(&service).gaps(&session()).await.unwrap_err();
    assert!(matches!(refused, ClarificationError::Service(ServiceError::Refused(why)) if why.status == 404));
    assert!(matches!(agent(&service).gaps(&session()).await.unwrap_err(), ClarificationError::NotProven(_)));
    let asked = service.received_at(GAPS);
    assert_eq!(asked[0].url, format!("https://plane.example{GAPS}?session_id={SESSION}"));
}

/// W-19
#[tokio::test]
async fn keys_that_were_given_count_and_not_those_that_the_service_publishes() {
    let service = Arc::new(Service::default());
    publishes(&service, &[&key(2)]);
    service.answers(CHECK, [ok(&response_to(&response(&key(2))))]);
    let registry = Registry::default().with_key(AGENT, key(1).public_key());
    let made = agent(&service).trusting(registry).check(&submission()).await;
    let Err(ClarificationError::NotProven(wrong)) = made else { panic!("{made:?}") };
    assert_eq!(wrong.flaw, Flaw::UnknownKey { agent_id: AGENT.into() });
    assert!(service.received_at(KEYS).is_empty());
}

/// W-20
#[tokio::test]
async fn a_key_that_was_put_in_force_since_is_looked_up_once() {
    let service = Arc::new(Service::default());
    publishes(&service, &[&key(1)]);
    let answers = [ok(&response_to(&response(&key(1)))), ok(&response_to(&response(&key(2))))];
    service.answers(CHECK, answers);
    let agent = agent(&service);
    agent.check(&submission()).await.unwrap();
    publishes(&service, &[&key(1), &key(2)]);
    agent.check(&submission()).await.unwrap();
    agent.check(&submission()).await.unwrap();
    assert_eq!(service.received_at(KEYS).len(), 2);
    publishes(&service, &[&key(1)]);
    service.answers(CHECK, [ok(&response_to(&response(&key(3))))]);
    assert!(agent.check(&submission()).await.is_err());
}

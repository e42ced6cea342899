//! Cache lifetimes of operator documents, and refetching.

use crate::{
    fixture::{DOMAIN, DirectoryFixture, SOURCE, at, domain, jwks},
    operator_host::{Answer, IDENTITY, JWKS},
};
use countersign_outbound::operators::{DirectoryConfig, OperatorUnavailable};
use http::StatusCode;
use serde_json::json;
use std::{future::poll_fn, pin::pin, task::Poll};

const IDENTITY_URL: &str = "https://acme.test/.well-known/agent-identity.json";
const JWKS_URL: &str = "https://acme.test/.well-known/agent-jwks.json";

fn unreachable<T>(answer: Result<T, OperatorUnavailable>) -> bool {
    matches!(answer, Err(OperatorUnavailable::Unreachable { .. }))
}

/// AAP-4.1-01, AAP-4.1-02, AAP-4-02
#[tokio::test]
async fn the_manifest_is_fetched_and_then_the_keys_it_names_and_nothing_else() {
    let fixture = DirectoryFixture::start().await;
    let operator = fixture.lookup("k1", 0).await.unwrap();
    assert_eq!(fixture.asked.urls(), [IDENTITY_URL, JWKS_URL]);
    assert_eq!((operator.identity.operator.as_str(), operator.fetched_at), ("Test Operator", at(0)));
    assert!(operator.keys.get("k1").is_some());
}

/// AAP-4.1-02, AAP-19.2-05
#[tokio::test]
async fn keys_may_lie_below_the_operators_domain() {
    let fixture = DirectoryFixture::start().await;
    let mut identity = fixture.host.identity();
    identity["signing_keys"] = json!("https://keys.acme.test/set.json");
    fixture.host.set_document(IDENTITY, identity.to_string());
    fixture.host.set_document("/set.json", jwks(&["below"]).to_string());
    fixture.lookup("below", 0).await.unwrap();
    assert_eq!(fixture.asked.urls(), [IDENTITY_URL, "https://keys.acme.test/set.json"]);
}

/// AAP-4.1-06, AAP-20.3-01
#[tokio::test]
async fn both_documents_serve_for_one_hour_even_if_the_operator_is_gone_and_no_second_longer() {
    let fixture = DirectoryFixture::start().await;
    fixture.lookup("k1", 0).await.unwrap();
    fixture.host.go_offline();
    fixture.lookup("k1", 1).await.unwrap();
    fixture.lookup("k1", 3_600).await.unwrap();
    assert_eq!(fixture.fetches(), 2);

    fixture.host.recover();
    fixture.lookup("k1", 3_601).await.unwrap();
    assert_eq!(fixture.asked.urls()[2..], [IDENTITY_URL, JWKS_URL]);
}

/// AAP-20.3-02, AAP-20.3-03
#[tokio::test]
async fn when_the_hour_is_over_an_operator_that_cannot_be_reached_is_refused() {
    for path in [IDENTITY, JWKS] {
        let fixture = DirectoryFixture::start().await;
        fixture.lookup("k1", 0).await.unwrap();
        fixture.host.set_answer(path, Answer::status(StatusCode::SERVICE_UNAVAILABLE));
        fixture.lookup("k1", 3_600).await.unwrap();
        assert!(unreachable(fixture.lookup("k1", 3_601).await), "{path}");
        // Not even if the clock is set back.
        assert!(unreachable(fixture.lookup("k1", 3_600).await), "{path}");
    }
}

/// AAP-20.1-04
#[tokio::test]
async fn a_key_published_after_caching_is_found_by_exactly_one_more_fetch() {
    let fixture = DirectoryFixture::start().await;
    fixture.lookup("k1", 0).await.unwrap();
    fixture.host.set_document(JWKS, jwks(&["k1", "k2"]).to_string());
    fixture.lookup("k2", 1).await.unwrap();
    assert_eq!(fixture.asked.urls()[2..], [JWKS_URL]);
    fixture.lookup("k2", 2).await.unwrap();
    fixture.lookup("k1", 2).await.unwrap();
    assert_eq!(fixture.fetches(), 3);
}

/// AAP-20.1-04
#[tokio::test]
async fn unknown_kids_fetch_the_keys_again_at_most_once_a_minute() {
    let fixture = DirectoryFixture::start().await;
    fixture.lookup("k1", 0).await.unwrap();
    assert_eq!(fixture.lookup("forged-1", 10).await.unwrap_err(), OperatorUnavailable::UnknownKid);
    assert_eq!(fixture.fetches(), 3);
    assert_eq!(fixture.lookup("forged-2", 11).await.unwrap_err(), OperatorUnavailable::UnknownKid);
    assert_eq!(fixture.lookup("forged-3", 69).await.unwrap_err(), OperatorUnavailable::UnknownKid);
    assert_eq!(fixture.fetches(), 3);
    assert_eq!(fixture.lookup("forged-4", 70).await.unwrap_err(), OperatorUnavailable::UnknownKid);
    assert_eq!(fixture.fetches(), 4);
}

/// AAP-20.1-04
#[tokio::test]
async fn the_minute_between_forced_fetches_outlives_the_hour() {
    let fixture = DirectoryFixture::start().await;
    fixture.lookup("k1", 0).await.unwrap();
    fixture.lookup("forged", 3_590).await.unwrap_err();
    fixture.lookup("k1", 3_601).await.unwrap();
    assert_eq!(fixture.fetches(), 5);
    fixture.lookup("forged", 3_602).await.unwrap_err();
    assert_eq!(fixture.fetches(), 5);
}

/// AAP-20.3-01
#[tokio::test]
async fn a_forced_fetch_that_fails_says_so_and_leaves_the_known_keys_in_use() {
    let fixture = DirectoryFixture::start().await;
    fixture.lookup("k1", 0).await.unwrap();
    fixture.host.go_offline();
    assert!(unreachable(fixture.lookup("k2", 1).await));
    assert!(unreachable(fixture.lookup("k2", 2).await));
    fixture.lookup("k1", 3).await.unwrap();
    assert_eq!(fixture.fetches(), 3);
}

/// AAP-4.1-08
#[tokio::test]
async fn a_failed_host_is_not_asked_again_for_a_minute() {
    let fixture = DirectoryFixture::start().await;
    fixture.host.go_offline();
    assert!(unreachable(fixture.lookup("k1", 0).await));
    assert_eq!(fixture.fetches(), 1);
    fixture.host.recover();
    assert!(unreachable(fixture.lookup("k1", 59).await));
    assert_eq!(fixture.fetches(), 1);
    fixture.lookup("k1", 60).await.unwrap();
    assert_eq!(fixture.fetches(), 3);
}

/// AAP-4.1-08
#[tokio::test]
async fn ten_callers_at_once_make_one_fetch() {
    let fixture = DirectoryFixture::start().await;
    fixture.host.stall();
    let mut callers = pin!(async {
        let ask = || fixture.lookup("k1", 0);
        tokio::join!(ask(), ask(), ask(), ask(), ask(), ask(), ask(), ask(), ask(), ask())
    });
    // All ten have begun before the host responds to any of them.
    let begun = poll_fn(|context| Poll::Ready(callers.as_mut().poll(context).is_pending())).await;
    assert!(begun);
    fixture.host.recover();
    let (a, b, c, d, e, f, g, h, i, j) = callers.await;
    assert!([a, b, c, d, e, f, g, h, i, j].iter().all(Result::is_ok));
    assert_eq!(fixture.asked.urls(), [IDENTITY_URL, JWKS_URL]);
}

#[tokio::test]
async fn callers_with_a_known_key_do_not_wait_for_a_forced_fetch() {
    let fixture = DirectoryFixture::start().await;
    fixture.lookup("k1", 0).await.unwrap();
    fixture.host.stall();
    let mut forged = pin!(fixture.lookup("forged", 1));
    assert!(poll_fn(|context| Poll::Ready(forged.as_mut().poll(context).is_pending())).await);
    fixture.lookup("k1", 1).await.unwrap();
    fixture.host.recover();
    assert_eq!(forged.await.unwrap_err(), OperatorUnavailable::UnknownKid);
}

/// AAP-4.1-08
#[tokio::test]
async fn a_caller_that_hangs_up_does_not_undo_the_fetch_it_began() {
    let fixture = DirectoryFixture::start().await;
    fixture.host.stall();
    {
        let mut hasty = pin!(fixture.lookup("k1", 0));
        assert!(poll_fn(|context| Poll::Ready(hasty.as_mut().poll(context).is_pending())).await);
    }
    fixture.host.recover();
    fixture.lookup("k1", 0).await.unwrap();
    assert_eq!(fixture.fetches(), 2);
}

#[tokio::test]
async fn a_source_that_names_too_many_unknown_operators_has_to_wait_and_others_do_not() {
    let fixture =
        DirectoryFixture::start_with(DirectoryConfig { new_hosts_a_minute: 2, ..DirectoryConfig::default() }).await;
    let directory = &fixture.directory;
    fixture.lookup("k1", 0).await.unwrap();
    fixture.host.go_offline();
    // A second new host within a minute is fetched, a third is refused.
    let second = directory.operator(&domain("keys.acme.test"), "k1", at(0), SOURCE).await;
    assert!(unreachable(second));
    let third = directory.operator(&domain("stranger.test"), "k1", at(0), SOURCE).await.unwrap_err();
    assert_eq!(third, OperatorUnavailable::TooMany { retry_after: 30 });
    assert_eq!(fixture.fetches(), 3);

    assert!(unreachable(directory.operator(&domain("stranger.test"), "k1", at(0), "203.0.113.9").await));
    // Known operators do not count, not even when they are fetched again.
    fixture.lookup("k1", 1).await.unwrap();
    fixture.host.recover();
    fixture.lookup("k1", 3_601).await.unwrap();
}

#[tokio::test]
async fn a_source_that_names_hosts_at_random_pushes_no_known_operator_out() {
    let config = DirectoryConfig { new_hosts_a_minute: 2, max_hosts: 20, ..DirectoryConfig::default() };
    let fixture = DirectoryFixture::start_with(config).await;
    fixture.lookup("k1", 0).await.unwrap();
    fixture.host.go_offline();
    for n in 0..500 {
        let made_up = domain(&format!("host-{n}.keys.acme.test"));
        let _ = fixture.directory.operator(&made_up, "k1", at(0), "203.0.113.9").await.unwrap_err();
    }
    fixture.lookup("k1", 1).await.unwrap();
    assert_eq!(fixture.fetches(), 4);
}

#[tokio::test]
async fn a_key_that_left_the_set_is_missed_when_the_set_is_read_again() {
    let fixture = DirectoryFixture::start().await;
    let (directory, acme) = (&fixture.directory, &domain(DOMAIN));
    let published = |kid, secs| directory.key_last_published(acme, kid, at(secs));
    fixture.lookup("k1", 0).await.unwrap();
    fixture.host.set_document(JWKS, jwks(&["k2"]).to_string());
    assert_eq!(published("k1", 3_600).await, Ok(Some(at(0))));
    assert_eq!(published("k1", 3_601).await, Ok(None));
    assert_eq!(published("k2", 3_700).await, Ok(Some(at(3_601))));
    assert_eq!(fixture.fetches(), 4);
    fixture.host.go_offline();
    assert!(unreachable(published("k2", 7_300).await));
}

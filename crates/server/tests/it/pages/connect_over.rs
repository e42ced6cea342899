//! Requests that can no longer be answered, and answers to a text that has changed.

use super::*;
use countersign_testkit::calendar;

const SCOPES: &[&str] = &["calendar.read"];

/// AAP-5.1-07
#[tokio::test]
async fn after_ten_minutes_the_request_is_dead_and_says_so() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let path = format!("/connect/{request}");
    plane.advance_secs(599).await;
    let open_form = fields(&open_as(&plane, &alice, &path).await.expect(200).words());
    plane.advance_secs(1).await;
    for page in [
        open_as(&plane, &alice, &path).await,
        send_as(&plane, &alice, &path, &answering(&open_form, "approve", true)).await,
        send_as(&plane, &alice, &path, &answering(&open_form, "deny", false)).await,
    ] {
        assert!(page.expect(410).words().contains("This request has expired"));
    }
    assert_eq!(delegations(&plane, &alice).await, 0);
}

#[tokio::test]
async fn a_request_that_never_was_is_not_found() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let page = open_as(&plane, &alice, "/connect/creq_00000000000000000000000000000000").await.expect(404);
    assert!(page.words().contains("No such request"));
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
}

/// the second of two answers is told that it came too late.
#[tokio::test]
async fn the_first_answer_counts_and_the_second_is_refused_as_late() {
    let plane = plane().await;
    let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let path = format!("/connect/{request}");
    let late = fields(&open_as(&plane, &bob, &path).await.expect(200).words());
    answer(&plane, &alice, &request, "deny", false).await.expect(200);
    for (choice, ticked) in [("approve", true), ("deny", false)] {
        let page = send_as(&plane, &bob, &path, &answering(&late, choice, ticked)).await.expect(410);
        assert!(page.words().contains("Already answered"));
    }
    assert_eq!(delegations(&plane, &bob).await, 0);
}

/// AAP-17.2-03
#[tokio::test]
async fn a_consent_to_a_changed_disclosure_shows_the_new_one_instead() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let path = format!("/connect/{request}");
    let read = fields(&open_as(&plane, &alice, &path).await.expect(200).words());
    let mut changed = calendar("calendar");
    changed.scopes[0].allows.push("events.delete".into());
    changed.scopes[0].description = "See and empty your calendar".into();
    plane.engine.apply_project(changed, "test").await.unwrap();
    let page = send_as(&plane, &alice, &path, &answering(&read, "approve", true)).await.expect(409).words();
    assert!(page.contains("has changed since you saw it") && page.contains("See and empty your calendar"), "{page}");
    assert_eq!(delegations(&plane, &alice).await, 0);
    send_as(&plane, &alice, &path, &answering(&fields(&page), "approve", true)).await.expect(200);
}

/// An action added to a scope is not in its description, but is on the page all the same.
#[tokio::test]
async fn an_approval_does_not_cover_an_action_added_behind_unchanged_words() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let request = plane.connect_request("", plane.acme(), SCOPES).await;
    let path = format!("/connect/{request}");
    let read = fields(&open_as(&plane, &alice, &path).await.expect(200).words());
    let mut changed = calendar("calendar");
    changed.scopes[0].allows.push("mail.send".into());
    plane.engine.apply_project(changed, "test").await.unwrap();
    send_as(&plane, &alice, &path, &answering(&read, "approve", true)).await.expect(409);
    assert_eq!(delegations(&plane, &alice).await, 0);
}

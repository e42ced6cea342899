//! A person's delegations, and their revocation.

use super::*;
use countersign_engine::Role;

const SCOPES: &[&str] = &["calendar.read", "mail.invite"];

#[tokio::test]
async fn somebody_elses_connection_is_not_there() {
    let plane = plane().await;
    let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
    let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
    assert!(!open_as(&plane, &bob, "/agents").await.expect(200).words().contains("acme."));
    let own = format!("/agents/{}", connected.delegation_id);
    for path in [own.clone(), format!("{own}/revoke"), "/agents/del_unknown".into()] {
        let page = open_as(&plane, &bob, &path).await.expect(404).words();
        assert!(page.contains("There is no such page") && !page.contains("acme."), "{path}: {page}");
    }
    let csrf = hidden(&open_as(&plane, &bob, "/account").await.words(), "csrf");
    send_as(&plane, &bob, &format!("{own}/revoke"), &[("csrf", &csrf)]).await.expect(404);
    assert!(open_as(&plane, &alice, &own).await.expect(200).words().contains("Active"));
}

/// AAP-13.2-02
#[tokio::test]
async fn the_domain_of_every_agent_can_be_read_at_any_time_also_when_it_is_cut_off() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
    let path = format!("/agents/{}", connected.delegation_id);
    for page in ["/agents", path.as_str()] {
        assert!(open_as(&plane, &alice, page).await.expect(200).words().contains("acme.test"));
    }
    cut_off(&plane, &alice, &path).await;
    for page in ["/agents", path.as_str()] {
        let page = open_as(&plane, &alice, page).await.expect(200).words();
        assert!(page.contains("acme.test") && page.contains("Ended"), "{page}");
    }
}

/// AAP-8.2-01
#[tokio::test]
async fn cutting_off_asks_once_more_and_then_bites_at_once() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
    let agent = plane.register(plane.acme(), &connected).await;
    let path = format!("/agents/{}", connected.delegation_id);
    open_as(&plane, &alice, &format!("{path}/revoke")).await.expect(200);
    send_as(&plane, &alice, &format!("{path}/revoke"), &[("csrf", "made-up")]).await.expect(403);
    plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);

    let done = cut_off(&plane, &alice, &path).await;
    let refused = plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await;
    assert_eq!(refused.refusal(), (401, "delegation_revoked".into()));
    let page = open_as(&plane, &alice, &done).await.expect(200).words();
    assert!(page.contains("Access of acme.test is revoked."), "{page}");
    let audit = open_as(&plane, &alice, &path).await.expect(200).words();
    assert!(audit.contains("delegation_revoked") && audit.contains("user_requested"), "{audit}");
}

/// AAP-17.3-05
#[tokio::test]
async fn a_second_revocation_is_answered_as_such() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
    let path = format!("/agents/{}", connected.delegation_id);
    let csrf = hidden(&open_as(&plane, &alice, &format!("{path}/revoke")).await.words(), "csrf");
    send_as(&plane, &alice, &format!("{path}/revoke"), &[("csrf", &csrf)]).await.expect(303);
    let again = send_as(&plane, &alice, &format!("{path}/revoke"), &[("csrf", &csrf)]).await.expect(303);
    let page = open_as(&plane, &alice, again.header("location").unwrap()).await.expect(200).words();
    assert!(page.contains("was already revoked"), "{page}");
}

#[tokio::test]
async fn an_address_cannot_make_the_page_say_that_something_was_cut_off() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
    let page = open_as(&plane, &alice, &format!("/agents?revoked={}", connected.delegation_id)).await.expect(200);
    assert!(!page.words().contains("is revoked."));
}

/// AAP-17.4-04
#[tokio::test]
async fn its_entries_are_shown_page_by_page_each_once() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
    let agent = plane.register(plane.acme(), &connected).await;
    for n in 0..55 {
        plane.call(&agent, Method::GET, &format!("/calendar/events/n{n}x"), "READ_CALENDAR").await.expect(200);
    }
    let first = open_as(&plane, &alice, &format!("/agents/{}", connected.delegation_id)).await.expect(200).words();
    assert!(first.contains("57 entries in all"), "{first}");
    let next = first.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let second = open_as(&plane, &alice, next).await.expect(200).words();
    for n in 0..55 {
        let path = format!("/calendar/events/n{n}x<");
        assert_eq!(first.matches(&path).count() + second.matches(&path).count(), 1, "{path}");
    }
    assert!(!second.contains("rel=\"next\"") && second.contains("First entries"));
    open_as(&plane, &alice, &format!("{next}x")).await.expect(400);
}

///
#[tokio::test]
async fn with_several_projects_everything_is_on_one_page_and_each_link_names_its_project() {
    let plane = plane_with(Setup::multi()).await;
    let alice = plane.person_in("north", "alice", &[Role::User]).await;
    plane.give_roles("south", "alice", &[Role::User]).await;
    let north = plane.connect_at("/projects/north", &alice, plane.acme(), SCOPES).await.delegation_id;
    let request = plane.connect_request("/projects/south", plane.acme(), SCOPES).await;
    let page = answer(&plane, &alice, &request, "approve", true).await.expect(200).words();
    let south = page.split("href=\"/projects/south/agents/").nth(1).unwrap().split('"').next().unwrap();

    let all = open_as(&plane, &alice, "/agents").await.expect(200).words();
    assert!(all.contains(&format!("href=\"/projects/north/agents/{north}\"")), "{all}");
    assert!(all.contains(&format!("href=\"/projects/south/agents/{south}/revoke\"")), "{all}");
    let of_north = open_as(&plane, &alice, "/projects/north/agents").await.expect(200).words();
    assert!(of_north.contains(&north) && !of_north.contains(south));
    open_as(&plane, &alice, &format!("/agents/{north}")).await.expect(404);
    open_as(&plane, &alice, &format!("/projects/south/agents/{north}")).await.expect(404);
    let done = cut_off(&plane, &alice, &format!("/projects/south/agents/{south}")).await;
    assert!(open_as(&plane, &alice, &done).await.expect(200).words().contains("is revoked."));
}

#[tokio::test]
async fn a_connection_whose_time_is_over_is_shown_as_ended() {
    let plane = plane_with(Setup::with_project(|document| document.max_duration = "2h".into())).await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
    plane.advance_secs(2 * 3600).await;
    let page = open_as(&plane, &alice, "/agents").await.expect(200).words();
    assert!(page.contains("It has expired."), "{page}");
    let sent_on = open_as(&plane, &alice, &format!("/agents/{}/revoke", connected.delegation_id)).await;
    assert_eq!(
        sent_on.expect(303).header("location"),
        Some(format!("/agents?already={}", connected.delegation_id)).as_deref()
    );
}

/// Confirms on the page; returns the redirect's target.
async fn cut_off(plane: &Plane, who: &TestPerson, path: &str) -> String {
    let page = open_as(plane, who, &format!("{path}/revoke")).await.expect(200).words();
    let sent = send_as(plane, who, &format!("{path}/revoke"), &[("csrf", &hidden(&page, "csrf"))]).await;
    sent.expect(303).header("location").unwrap().to_owned()
}

///
#[tokio::test]
async fn an_agent_that_a_restore_suspended_is_allowed_again_by_its_person_and_nobody_else() {
    let plane = plane().await;
    let (alice, connected) = {
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
        (alice, connected)
    };
    plane.engine.start_epoch().await.unwrap();
    drop(alice);
    let (alice, bob) = (countersign_testkit::TestPerson::sign_in(&plane, "alice").await, plane.person("bob").await);
    let path = format!("/agents/{}", connected.delegation_id);
    let page = open_as(&plane, &alice, &path).await.expect(200).words();
    assert!(page.contains("Suspended") && page.contains("Allow again"), "{page}");
    let of_bob = hidden(&open_as(&plane, &bob, "/account").await.words(), "csrf");
    send_as(&plane, &bob, &format!("{path}/lift"), &[("csrf", &of_bob)]).await.expect(404);
    send_as(&plane, &alice, &format!("{path}/lift"), &[("csrf", "made-up")]).await.expect(403);
    let refused = plane.post("/agent/register", &plane.register_body(plane.acme(), &connected)).await;
    assert_eq!(refused.refusal(), (403, "delegation_suspended".into()));
    send_as(&plane, &alice, &format!("{path}/lift"), &[("csrf", &hidden(&page, "csrf"))]).await.expect(303);
    let agent = plane.register(plane.acme(), &connected).await;
    plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    let page = open_as(&plane, &alice, &path).await.expect(200).words();
    assert!(page.contains("Active") && !page.contains("Allow again"), "{page}");
}

/// AAP-14.3-02, AAP-8.4-05
#[tokio::test]
async fn the_page_of_an_agent_says_when_it_was_last_used_and_by_which_rules_it_ends() {
    let setup = Setup::with_project(|document| {
        document.auto_revoke = serde_json::from_value(json!({ "after_inactivity": "14d" })).unwrap();
    });
    let plane = plane_with(setup).await;
    let alice = plane.person("alice").await;
    let connected = plane.connect(&alice, plane.acme(), SCOPES).await;
    let path = format!("/agents/{}", connected.delegation_id);
    let page = open_as(&plane, &alice, &path).await.expect(200).words();
    assert!(page.contains("after 14 days without a request (rule of Calendar)"), "{page}");
    assert!(!page.contains("Last used"), "it was not used: {page}");
    plane.advance_secs(60).await;
    plane.register(plane.acme(), &connected).await;
    let page = open_as(&plane, &alice, &path).await.expect(200).words();
    let after = page.split("Last used").nth(1).unwrap();
    assert!(after.contains(&plane.now().to_rfc3339()), "{page}");
}

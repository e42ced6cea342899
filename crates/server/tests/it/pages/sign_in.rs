//! Signing in and out with forms.

use super::*;
use countersign_engine::Throttle;
use countersign_testkit::PASSWORD;

async fn sign_in(plane: &Plane, fields: &[(&str, &str)]) -> Answer {
    let request = Request::post("/sign-in").header(header::ACCEPT, HTML).header(header::CONTENT_TYPE, FORM);
    plane.send(request.body(form(fields)).unwrap()).await
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_name_have_the_same_refusal() {
    let plane = plane().await;
    plane.account("alice").await;
    for name in ["alice", "nobody"] {
        let page =
            sign_in(&plane, &[("username", name), ("password", "wrong"), ("next", "/account")]).await.expect(401);
        assert_eq!(page.header("set-cookie"), None);
        let page = page.words();
        assert!(page.contains("The user name or the password is not right."), "{page}");
        assert_eq!(hidden(&page, "next"), "/account");
        assert!(!page.contains("wrong\""), "a password is never sent back");
    }
}

#[tokio::test]
async fn too_many_attempts_are_refused_with_the_time_to_wait() {
    let throttle = Throttle { per_account_and_network: 2, ..Throttle::default() };
    let plane = plane_with(Setup { throttle, ..Setup::default() }).await;
    plane.account("alice").await;
    for _ in 0..2 {
        sign_in(&plane, &[("username", "alice"), ("password", "wrong")]).await.expect(401);
    }
    let page = sign_in(&plane, &[("username", "alice"), ("password", PASSWORD)]).await.expect(429);
    assert!(page.header("retry-after").unwrap().parse::<i64>().unwrap() > 0);
    assert!(page.words().contains("There were too many attempts. Wait"), "{}", page.words());
}

#[tokio::test]
async fn missing_members_are_named() {
    let plane = plane().await;
    let page = sign_in(&plane, &[("username", ""), ("password", "x")]).await.expect(422).words();
    assert!(page.contains("Enter your user name."));
    let page = sign_in(&plane, &[("username", "alice"), ("password", "")]).await.expect(422).words();
    assert!(page.contains("Enter your password.") && page.contains("value=\"alice\""));
    let twice = sign_in(&plane, &[("username", "alice"), ("username", "bob"), ("password", "x")]).await.expect(400);
    assert!(twice.words().contains("This request cannot be understood"));
}

#[tokio::test]
async fn another_sites_form_signs_nobody_in() {
    let plane = plane().await;
    plane.account("alice").await;
    for (name, value) in [("origin", "https://evil.test"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
        let request = Request::post("/sign-in").header(header::CONTENT_TYPE, FORM).header(name, value);
        let body = form(&[("username", "alice"), ("password", PASSWORD)]);
        let page = plane.send(request.body(body).unwrap()).await.expect(403);
        assert_eq!(page.header("set-cookie"), None, "{name}: {value}");
    }
}

#[tokio::test]
async fn signing_in_leads_on_to_a_page_of_ours_and_nowhere_else() {
    let plane = plane().await;
    plane.account("alice").await;
    let places = [
        ("/connect/creq_1", "/connect/creq_1"),
        ("https://evil.test", "/agents"),
        ("//evil.test", "/agents"),
        ("/\\evil.test", "/agents"),
        ("", "/agents"),
    ];
    for (next, wanted) in places {
        let sent = sign_in(&plane, &[("username", "alice"), ("password", PASSWORD), ("next", next)]).await.expect(303);
        assert_eq!(sent.header("location"), Some(wanted), "{next}");
        let cookie = sent.header("set-cookie").unwrap();
        for part in ["__Host-countersign=", "Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
    }
}

#[tokio::test]
async fn a_signed_in_person_is_not_asked_again_unless_a_fresh_proof_is_needed() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    let sent_on = open_as(&plane, &alice, "/sign-in?next=%2Faccount").await.expect(303);
    assert_eq!(sent_on.header("location"), Some("/account"));
    let page = open_as(&plane, &alice, "/sign-in?fresh&next=%2Faccount").await.expect(200).words();
    assert!(page.contains("Confirm it is you") && page.contains("readonly"), "{page}");
}

///
#[tokio::test]
async fn a_fresh_proof_is_for_the_same_person_and_replaces_the_session() {
    let plane = plane().await;
    let (alice, bob) = (plane.person("alice").await, plane.person("bob").await);
    plane.advance_secs(600).await;
    let csrf = hidden(&open_as(&plane, &alice, "/sign-in?fresh").await.words(), "csrf");
    let as_bob = [("csrf", csrf.as_str()), ("username", "bob"), ("password", PASSWORD)];
    send_as(&plane, &alice, "/sign-in", &as_bob).await.expect(403);
    let as_alice = [("csrf", csrf.as_str()), ("username", "alice"), ("password", PASSWORD)];
    send_as(&plane, &bob, "/sign-in", &as_alice).await.expect(403);
    let proven = send_as(&plane, &alice, "/sign-in", &as_alice).await.expect(303);
    let cookie = proven.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    open_as(&plane, &alice, "/account").await.expect(303);
    let alice = TestPerson { cookie, ..alice };
    let session = alice.get(&plane, "/session").await.expect(200).json();
    assert_eq!(session["fresh_until"], plane.now().plus_secs(300).to_rfc3339());
}

#[tokio::test]
async fn signing_out_needs_the_form_and_ends_the_session() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    send_as(&plane, &alice, "/sign-out", &[("csrf", "made-up")]).await.expect(403);
    let csrf = hidden(&open_as(&plane, &alice, "/account").await.expect(200).words(), "csrf");
    let sent = send_as(&plane, &alice, "/sign-out", &[("csrf", &csrf)]).await.expect(303);
    assert!(sent.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert!(open(&plane, sent.header("location").unwrap()).await.expect(200).words().contains("You are signed out."));
    open_as(&plane, &alice, "/account").await.expect(303);
}

#[tokio::test]
async fn signing_out_everywhere_ends_every_session() {
    let plane = plane().await;
    let alice = plane.person("alice").await;
    plane.advance_secs(1).await;
    let elsewhere = TestPerson::sign_in(&plane, "alice").await;
    plane.advance_secs(1).await;
    let csrf = hidden(&open_as(&plane, &alice, "/account").await.expect(200).words(), "csrf");
    let sent = send_as(&plane, &alice, "/sign-out-everywhere", &[("csrf", &csrf)]).await.expect(303);
    let page = open(&plane, sent.header("location").unwrap()).await.expect(200).words();
    assert!(page.contains("You are signed out on every device."), "{page}");
    for who in [&alice, &elsewhere] {
        open_as(&plane, who, "/account").await.expect(303);
    }
}

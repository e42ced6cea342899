//! Tokens for a person's own programs: created, shown once, revoked.

use super::*;
use countersign_testkit::decisions::DecisionFixture;

fn listen(token: &str) -> Request<Body> {
    let request = Request::get("/aaep/v1/questions").header(header::AUTHORIZATION, format!("Bearer {token}"));
    request.body(Body::empty()).unwrap()
}

fn secret_on(page: &str) -> String {
    let code = page.split("<code id=\"code\"").nth(1).unwrap().split('>').nth(1).unwrap();
    code.split('<').next().unwrap().to_owned()
}

///
#[tokio::test]
async fn a_token_is_shown_once_works_and_is_taken_back() {
    let DecisionFixture { plane, alice, .. } = Kit(Backend::Sqlite).decision_fixture().await;
    let csrf = alice.csrf.clone();
    let wanted =
        [("csrf", csrf.as_str()), ("project", "calendar"), ("name", "Kitchen <speaker>"), ("may_answer", "true")];
    let made = send_as(&plane, &alice, "/account/subscribers", &wanted).await.expect(200);
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let secret = secret_on(&made.words());
    assert!(secret.starts_with("cst_") && made.words().contains("Kitchen &#60;speaker&#62;"), "{}", made.words());
    plane.send(listen(&secret)).await.expect(200);

    let page = open_as(&plane, &alice, "/account").await.expect(200).words();
    assert!(page.contains("Kitchen &#60;speaker&#62;") && !page.contains(&secret), "{page}");
    assert!(page.contains("Listens and answers for you."), "{page}");
    let path = page.split("action=\"/account/subscribers/").nth(1).unwrap().split('"').next().unwrap();
    let path = format!("/account/subscribers/{path}");
    let bob = plane.person("bob").await;
    send_as(&plane, &bob, &path, &[("csrf", &bob.csrf)]).await.expect(404);
    send_as(&plane, &alice, &path, &[("csrf", "made-up")]).await.expect(403);
    let page = follow(&plane, &alice, send_as(&plane, &alice, &path, &[("csrf", &csrf)]).await).await;
    assert!(page.contains("is revoked.") && page.contains("There are none."), "{page}");
    plane.send(listen(&secret)).await.expect(401);
}

///
#[tokio::test]
async fn a_token_in_an_address_exists_only_where_the_project_allows_it() {
    let DecisionFixture { plane, alice, .. } = Kit(Backend::Sqlite).decision_fixture().await;
    let csrf = alice.csrf.clone();
    let wanted = [("csrf", csrf.as_str()), ("project", "calendar"), ("name", "Old one"), ("legacy", "true")];
    assert!(!open_as(&plane, &alice, "/account").await.words().contains("name=\"legacy\""));
    let page = send_as(&plane, &alice, "/account/subscribers", &wanted).await.expect(422).words();
    assert!(page.contains("does not let tokens stand in addresses") && page.contains("Old one"), "{page}");

    let setup = Setup::payments_with(|document| document.decisions.legacy_subscribers = true);
    let DecisionFixture { plane, alice, .. } = Kit(Backend::Sqlite).decision_fixture_with(setup).await;
    let csrf = alice.csrf.clone();
    let wanted = [("csrf", csrf.as_str()), ("project", "calendar"), ("name", "Old one"), ("legacy", "true")];
    assert!(open_as(&plane, &alice, "/account").await.words().contains("name=\"legacy\""));
    let page = send_as(&plane, &alice, "/account/subscribers", &wanted).await.expect(200).words();
    assert!(page.contains(&format!("/aaep/legacy/{}</code>", secret_on(&page))), "{page}");
    assert!(page.contains("Only listens."), "{page}");
}

#[tokio::test]
async fn an_incomplete_form_makes_no_token() {
    let DecisionFixture { plane, alice, .. } = Kit(Backend::Sqlite).decision_fixture().await;
    let csrf = alice.csrf.clone();
    let long = "x".repeat(129);
    for name in ["", "   ", long.as_str()] {
        let wanted = [("csrf", csrf.as_str()), ("project", "calendar"), ("name", name)];
        let page = send_as(&plane, &alice, "/account/subscribers", &wanted).await.expect(422).words();
        assert!(page.contains("Give it a name of at most 128 characters."), "{page}");
    }
    let wanted = [("csrf", csrf.as_str()), ("project", "nowhere"), ("name", "x")];
    send_as(&plane, &alice, "/account/subscribers", &wanted).await.expect(404);
    let wanted = [("csrf", "made-up"), ("project", "calendar"), ("name", "x")];
    send_as(&plane, &alice, "/account/subscribers", &wanted).await.expect(403);
    assert!(open_as(&plane, &alice, "/account").await.words().contains("There are none."));
    assert!(!open_as(&plane, &alice, "/account?taken-back=tok_x").await.words().contains("id=\"notice\""));
}

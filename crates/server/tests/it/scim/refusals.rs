//! Requests that are refused, and change nothing.

use super::{IDP, TestProvider, scim_error, user, with_scim};
use axum::body::Body;
use countersign_engine::{Address, ApiKeyKind};
use countersign_testkit::{Backend, Kit, Setup, agent_request};
use http::{Method, Request};
use serde_json::{Value, json};

async fn setting() -> (countersign_testkit::Plane, TestProvider) {
    TestProvider::on(Kit(Backend::Sqlite), IDP).await
}

/// R-10
#[tokio::test]
async fn only_a_key_of_the_kind_scim_provisions_users_and_it_can_do_nothing_else() {
    let (plane, provider) = setting().await;
    let at = plane.at().await;
    let id = provider.creates(&plane, "ada").await;
    for kind in [ApiKeyKind::Agent, ApiKeyKind::Admin, ApiKeyKind::EnforcementPoint] {
        let other = TestProvider::of(&plane, &at, kind).await;
        other.get(&plane, "/Users").await.expect(403);
        other.send(&plane, Method::POST, "/Users/.search", Some(&json!({}))).await.expect(403);
        other.post(&plane, &user("eve")).await.expect(403);
        other.delete(&plane, &id).await.expect(403);
    }
    for secret in ["csk_unknown", "not-a-key", ""] {
        let nobody = TestProvider { secret: secret.into(), prefix: String::new() };
        nobody.get(&plane, "/Users").await.expect(401);
    }
    let bare = Request::get("/scim/v2/Users").body(Body::empty()).unwrap();
    plane.send(bare).await.expect(401);

    let with_key = |method: Method, path: &str, body: Value| {
        let request = agent_request(method, path).header("authorization", format!("Bearer {}", provider.secret));
        plane.send(request.body(Body::from(body.to_string())).unwrap())
    };
    let event = json!({ "event": "user.offboarded", "event_id": "e1", "user": "root" });
    with_key(Method::POST, "/agent/events", event).await.expect(403);
    let question = json!({ "tool": "mail.send", "arguments": {}, "summary": "Send" });
    let answer = with_key(Method::POST, "/v1/confirmations", question).await;
    assert!(matches!(answer.status, 400..=403), "{}", answer.text());
    with_key(Method::PUT, "/v1/project", json!(at.project.document)).await.expect(403);
    with_key(Method::GET, "/v1/project", json!({})).await.expect(403);
    let audit = with_key(Method::GET, "/agent/audit?session_id=x", json!({})).await;
    assert!(matches!(audit.status, 400..=404), "{}", audit.text());
    assert_eq!(provider.get(&plane, "/Users").await.expect(200).json()["totalResults"], 1);
}

/// R-12
#[tokio::test]
async fn users_of_another_project_look_like_unknown_ones() {
    let mut setup = Setup::multi();
    setup.projects.iter_mut().for_each(|document| with_scim(document, IDP));
    let plane = Kit(Backend::Sqlite).plane_with(setup).await;
    plane.account("root").await;
    let project = async |id: &str| plane.engine.project(&Address::Scoped(id.into())).await.unwrap();
    let north = TestProvider::of(&plane, &project("north").await, ApiKeyKind::Scim).await;
    let south = TestProvider::of(&plane, &project("south").await, ApiKeyKind::Scim).await;
    let id = north.creates(&plane, "ada").await;

    let off = || json!([{ "op": "replace", "value": { "active": false } }]);
    let unknown = south.get(&plane, "/Users/usr_unknown").await.expect(404).json();
    assert_eq!(south.get(&plane, &format!("/Users/{id}")).await.expect(404).json(), unknown);
    assert_eq!(south.patch(&plane, &id, off()).await.expect(404).json(), unknown);
    assert_eq!(south.put(&plane, &id, &user("ada")).await.expect(404).json(), unknown);
    assert_eq!(south.delete(&plane, &id).await.expect(404).json(), unknown);
    let query = "/Users?filter=externalId%20eq%20%22ada%22";
    assert_eq!(south.get(&plane, query).await.expect(200).json()["totalResults"], 0);
    let all = south.send(&plane, Method::POST, "/.search", Some(&json!({}))).await.expect(200).json();
    assert_eq!(all["totalResults"], 0);
    // The same person in both projects: offboarding in one leaves the other alone.
    let other = south.creates(&plane, "ada").await;
    south.patch(&plane, &other, off()).await.expect(200);
    south.delete(&plane, &other).await.expect(204);
    let kept = north.get(&plane, &format!("/Users/{id}")).await.expect(200).json();
    assert_eq!(kept["active"], true);
    // A key is valid in its own project only.
    let crossed = TestProvider { secret: north.secret.clone(), prefix: south.prefix.clone() };
    crossed.get(&plane, "/Users").await.expect(401);
}

/// R-12
#[tokio::test]
async fn an_installation_of_many_projects_does_not_provision_local_accounts() {
    let mut setup = Setup::multi();
    setup.projects.iter_mut().for_each(|document| with_scim(document, "local"));
    let plane = Kit(Backend::Sqlite).plane_with(setup).await;
    plane.account("root").await;
    let at = plane.engine.project(&Address::Scoped("north".into())).await.unwrap();
    let north = TestProvider::of(&plane, &at, ApiKeyKind::Scim).await;
    north.post(&plane, &user("bob")).await.expect(403);
    let query = "/Users?filter=externalId%20eq%20%22root%22";
    north.get(&plane, query).await.expect(403);
}

#[tokio::test]
async fn a_second_user_with_the_same_id_or_name_is_a_conflict() {
    let (plane, provider) = setting().await;
    let id = provider.creates(&plane, "ada").await;
    let conflict = (409, "uniqueness".to_owned());
    let mut same_id = user("ada");
    same_id["userName"] = json!("another");
    assert_eq!(scim_error(&provider.post(&plane, &same_id).await), conflict);
    let mut same_name = user("bob");
    same_name["userName"] = json!("ADA@corp.test");
    assert_eq!(scim_error(&provider.post(&plane, &same_name).await), conflict);
    let bob = provider.creates(&plane, "bob").await;
    let rename = json!([{ "op": "replace", "path": "userName", "value": "ada@CORP.test" }]);
    assert_eq!(scim_error(&provider.patch(&plane, &bob, rename).await), conflict);
    // Another spelling of the own name is no conflict.
    let rename = json!([{ "op": "replace", "path": "userName", "value": "ADA@corp.test" }]);
    provider.patch(&plane, &id, rename).await.expect(200);
}

#[tokio::test]
async fn malformed_users_are_refused() {
    let (plane, provider) = setting().await;
    let invalid = (400, "invalidValue".to_owned());
    for body in [
        json!({}),
        json!({ "userName": "ada" }),
        json!({ "externalId": "ada" }),
        json!({ "userName": "", "externalId": "ada" }),
        json!({ "userName": "ada", "externalId": 7 }),
        json!({ "userName": "ada", "externalId": "ada", "active": "maybe" }),
        json!({ "userName": "ada", "externalId": "ada", "displayName": "x".repeat(257) }),
        json!({ "userName": "ada", "externalId": "ada", "name": "Ada" }),
        json!({ "userName": "ada", "externalId": "ada", "roles": ["admin"] }),
        json!({ "userName": "ada", "externalId": "ada", "roles": [{ "value": "owner" }] }),
        json!({ "userName": "ada", "externalId": "ada", "emails": vec![json!({ "value": "a" }); 21] }),
    ] {
        assert_eq!(scim_error(&provider.post(&plane, &body).await), invalid, "{body}");
    }
    let raw = |body: &str, kind: &str| {
        let request = Request::post("/scim/v2/Users").header("content-type", kind);
        let request = request.header("authorization", format!("Bearer {}", provider.secret));
        plane.send(request.body(Body::from(body.to_owned())).unwrap())
    };
    let twice = r#"{"userName":"a","externalId":"a","externalId":"b"}"#;
    for body in ["", "[]", "{", twice] {
        let answer = raw(body, "application/scim+json").await;
        assert_eq!(scim_error(&answer), (400, "invalidSyntax".into()), "{body}");
    }
    raw("{}", "text/plain").await.expect(415);
    let large = format!("{{\"userName\":\"{}\"}}", "x".repeat(2_000_000));
    raw(&large, "application/scim+json").await.expect(413);
    assert_eq!(provider.get(&plane, "/Users").await.expect(200).json()["totalResults"], 0);
}

#[tokio::test]
async fn a_patch_that_cannot_be_read_changes_nothing() {
    let (plane, provider) = setting().await;
    let id = provider.creates(&plane, "ada").await;
    let before = provider.get(&plane, &format!("/Users/{id}")).await.json();
    for (operations, kind) in [
        (json!([]), "invalidSyntax"),
        (json!([{ "op": "deactivate" }]), "invalidSyntax"),
        (json!([{ "op": "remove" }]), "noTarget"),
        (json!([{ "op": "replace", "value": false }]), "invalidValue"),
        (json!([{ "op": "replace", "path": "active", "value": "off" }]), "invalidValue"),
        (json!([{ "op": "replace", "path": "active", "value": [false] }]), "invalidValue"),
        (json!([{ "op": "replace", "path": "activ", "value": false }]), "invalidPath"),
        (json!([{ "op": "replace", "path": "active.value", "value": false }]), "invalidPath"),
        (json!([{ "op": "replace", "path": "emails[type eq", "value": "x" }]), "invalidPath"),
        (json!([{ "op": "replace", "path": "emails[type gt \"a\"].value", "value": "x" }]), "invalidPath"),
        (json!([{ "op": "remove", "path": "active" }]), "mutability"),
        (json!([{ "op": "remove", "path": "userName" }]), "mutability"),
        (json!([{ "op": "replace", "path": "externalId", "value": "bob" }]), "mutability"),
        (json!([{ "op": "add", "path": "roles", "value": [{ "value": "admin" }] }]), "invalidValue"),
        // Nothing of a request counts unless all of it does.
        (json!([{ "op": "replace", "path": "active", "value": false }, { "op": "remove" }]), "noTarget"),
    ] {
        let answer = provider.patch(&plane, &id, operations.clone()).await;
        assert_eq!(scim_error(&answer), (400, kind.to_owned()), "{operations}");
    }
    assert_eq!(scim_error(&provider.put(&plane, &id, &user("bob")).await), (400, "mutability".into()));
    assert_eq!(provider.get(&plane, &format!("/Users/{id}")).await.json(), before);
}

#[tokio::test]
async fn an_unknown_filter_is_refused_instead_of_ignored() {
    let (plane, provider) = setting().await;
    for filter in [
        "",
        "userName",
        "userName%20eq",
        "userName%20eq%20ada",
        "userName%20co%20%22a%22",
        "emails%20eq%20%22a%22",
        "userName%20eq%20%22a%22%20or%20externalId%20eq%20%22b%22",
    ] {
        let answer = provider.get(&plane, &format!("/Users?filter={filter}")).await;
        assert_eq!(scim_error(&answer), (400, "invalidFilter".into()), "{filter}");
    }
    provider.get(&plane, "/Groups").await.expect(404);
    provider.send(&plane, Method::POST, "/Users/x", Some(&json!({}))).await.expect(405);
}

/// R-12
#[tokio::test]
async fn a_platform_admin_is_nobodys_user() {
    let (plane, provider) = TestProvider::on(Kit(Backend::Sqlite), "local").await;
    plane.engine.people().add_person("boss", "boss", countersign_testkit::PASSWORD, true).await.unwrap();
    assert_eq!(scim_error(&provider.post(&plane, &user("boss")).await), (409, "uniqueness".into()));
}

#[tokio::test]
async fn a_project_without_a_policy_has_no_users() {
    let plane = Kit(Backend::Sqlite).plane().await;
    plane.account("root").await;
    let provider = TestProvider::of(&plane, &plane.at().await, ApiKeyKind::Scim).await;
    provider.post(&plane, &user("ada")).await.expect(403);
    assert_eq!(provider.get(&plane, "/Users").await.expect(200).json()["totalResults"], 0);
}

//! The documented requests of Okta and Entra, and the documents of RFC 7643.

use super::{IDP, TestProvider, scim_error, user};
use countersign_testkit::{Backend, Kit};
use http::{Method, Request};
use serde_json::{Value, json};

async fn setting() -> (countersign_testkit::Plane, TestProvider) {
    TestProvider::on(Kit(Backend::Sqlite), IDP).await
}

/// https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20/
#[tokio::test]
async fn okta_finds_creates_updates_and_deactivates_a_user() {
    let (plane, okta) = setting().await;
    let none =
        okta.get(&plane, "/Users?filter=userName%20eq%20%22test.user%40okta.local%22&startIndex=1&count=100").await;
    let none = none.expect(200).json();
    assert_eq!((&none["totalResults"], &none["startIndex"]), (&json!(0), &json!(1)));
    let created = json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
        "userName": "test.user@okta.local",
        "name": { "givenName": "Test", "familyName": "User" },
        "emails": [{ "primary": true, "value": "test.user@okta.local", "type": "work" }],
        "displayName": "Test User",
        "locale": "en-US",
        "externalId": "00ujl29u0le5T6Aj10h7",
        "groups": [],
        "password": "1mz050nq",
        "active": true,
    });
    let answer = okta.post(&plane, &created).await.expect(201);
    let made = answer.json();
    let id = made["id"].as_str().unwrap().to_owned();
    let location = format!("{}/scim/v2/Users/{id}", plane.service());
    assert_eq!(answer.header("location"), Some(location.as_str()));
    assert_eq!(made["meta"]["location"], location);
    for kept in ["userName", "name", "emails", "displayName", "externalId", "active", "schemas"] {
        assert_eq!(made[kept], created[kept], "{kept}");
    }
    assert!(!answer.text().contains("1mz050nq"), "a password came back");
    let read = okta.get(&plane, &format!("/Users/{id}")).await.expect(200).json();
    assert_eq!(read, made);

    let mut changed = created.clone();
    changed["id"] = json!(id);
    changed["name"]["givenName"] = json!("Another");
    let put = okta.put(&plane, &id, &changed).await.expect(200).json();
    assert_eq!(put["name"], json!({ "givenName": "Another", "familyName": "User" }));
    let off = json!([{ "op": "replace", "value": { "active": false } }]);
    assert_eq!(okta.patch(&plane, &id, off).await.expect(200).json()["active"], false);
    // A change of the profile does not bring the user back, a PUT with active does.
    changed.as_object_mut().unwrap().remove("active");
    assert_eq!(okta.put(&plane, &id, &changed).await.expect(200).json()["active"], false);
    changed["active"] = json!(true);
    assert_eq!(okta.put(&plane, &id, &changed).await.expect(200).json()["active"], true);
    changed["active"] = json!(false);
    assert_eq!(okta.put(&plane, &id, &changed).await.expect(200).json()["active"], false);
    let found = okta.get(&plane, "/Users?filter=userName+eq+%22TEST.user%40okta.local%22").await.expect(200).json();
    assert_eq!(found["Resources"][0]["id"], id);
}

/// https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups
#[tokio::test]
async fn entra_finds_creates_updates_and_deactivates_a_user() {
    let (plane, entra) = setting().await;
    let created = json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User",
                    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
        "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
        "userName": "Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1",
        "active": true,
        "emails": [{ "primary": true, "type": "work", "value": "Test_User@testuser.com" }],
        "meta": { "resourceType": "User" },
        "name": { "formatted": "givenName familyName", "familyName": "familyName", "givenName": "givenName" },
        "roles": [],
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { "department": "bob" },
    });
    let id = entra.post(&plane, &created).await.expect(201).json()["id"].as_str().unwrap().to_owned();
    let query = "/Users?filter=externalId%20eq%20%220a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef%22";
    assert_eq!(entra.get(&plane, query).await.expect(200).json()["totalResults"], 1);
    let changes = json!([
        { "op": "Replace", "path": "emails[type eq \"work\"].value", "value": "updatedEmail@microsoft.com" },
        { "op": "Replace", "path": "name.familyName", "value": "updatedFamilyName" },
        { "op": "Add", "path": "emails[type eq \"home\"].value", "value": "home@testuser.com" },
        { "op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "x" },
        { "op": "Add", "path": "title", "value": "Engineer" },
        { "op": "Replace", "value": { "displayName": "Shown", "name.givenName": "updatedGivenName" } },
        { "op": "Replace", "path": "userName", "value": "5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com" },
    ]);
    let answer = entra.patch(&plane, &id, changes).await.expect(200).json();
    assert_eq!(answer["userName"], "5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com");
    assert_eq!(answer["displayName"], "Shown");
    let name = json!({ "formatted": "givenName familyName", "familyName": "updatedFamilyName",
                       "givenName": "updatedGivenName" });
    assert_eq!(answer["name"], name);
    let emails = json!([{ "primary": true, "type": "work", "value": "updatedEmail@microsoft.com" },
                        { "type": "home", "value": "home@testuser.com" }]);
    assert_eq!(answer["emails"], emails);
    let remove = json!([{ "op": "Remove", "path": "emails[type eq \"home\"]" }]);
    assert_eq!(entra.patch(&plane, &id, remove).await.expect(200).json()["emails"].as_array().unwrap().len(), 1);
    for (said, active) in [("False", false), ("True", true), ("False", false)] {
        let operations = json!([{ "op": "Replace", "path": "active", "value": said }]);
        assert_eq!(entra.patch(&plane, &id, operations).await.expect(200).json()["active"], active);
    }
}

/// Both providers send these, Entra as texts and with capitals.
#[tokio::test]
async fn every_documented_spelling_of_a_deactivation_deactivates() {
    let (plane, provider) = setting().await;
    for (n, operation) in [
        json!({ "op": "Replace", "value": { "active": false } }),
        json!({ "op": "replace", "value": { "active": "False" } }),
        json!({ "op": "Replace", "path": "active", "value": "False" }),
        json!({ "op": "Replace", "path": "active", "value": false }),
        json!({ "op": "Add", "path": "active", "value": "false" }),
        json!({ "op": "Replace", "path": "urn:ietf:params:scim:schemas:core:2.0:User:active", "value": "False" }),
        json!({ "op": "Replace", "value": { "urn:ietf:params:scim:schemas:core:2.0:User:active": false } }),
    ]
    .into_iter()
    .enumerate()
    {
        let id = provider.creates(&plane, &format!("leaver-{n}")).await;
        let answer = provider.patch(&plane, &id, json!([operation])).await.expect(200).json();
        assert_eq!((&answer["active"], answer.get("roles")), (&json!(false), None), "{operation}");
    }
}

/// RFC 7644 3.9 and 3.4.3
#[tokio::test]
async fn only_the_selected_attributes_come_back() {
    let (plane, provider) = setting().await;
    let mut whole = user("ada");
    whole["name"] = json!({ "givenName": "Ada", "familyName": "King" });
    let id = provider.post(&plane, &whole).await.expect(201).json()["id"].as_str().unwrap().to_owned();
    let path = format!("/Users/{id}");
    let members = |resource: &Value| -> Vec<String> {
        let mut names: Vec<String> = resource.as_object().unwrap().keys().cloned().collect();
        names.sort_unstable();
        names
    };
    let only =
        provider.get(&plane, &format!("{path}?attributes=USERNAME,name.givenName,unknown")).await.expect(200).json();
    assert_eq!(members(&only), ["id", "name", "schemas", "userName"]);
    assert_eq!(only["name"], json!({ "givenName": "Ada" }));
    let core = "urn:ietf:params:scim:schemas:core:2.0:User:name.familyName";
    let without = provider.get(&plane, &format!("{path}?excludedAttributes={core},id,meta")).await.expect(200).json();
    assert_eq!((&without["id"], &without["name"]), (&json!(id), &json!({ "givenName": "Ada" })));
    assert!(without.get("meta").is_none() && without.get("userName").is_some());
    let both = provider.get(&plane, &format!("{path}?attributes=name&excludedAttributes=meta")).await;
    assert_eq!(scim_error(&both), (400, "invalidValue".into()));

    let list = provider.get(&plane, "/Users?attributes=userName").await.expect(200).json();
    assert_eq!(members(&list["Resources"][0]), ["id", "schemas", "userName"]);
    let asked = json!({ "schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],
        "filter": "externalId eq \"ada\"", "attributes": ["userName"], "startIndex": 1, "count": 10 });
    for path in ["/Users/.search", "/.search"] {
        assert_eq!(provider.send(&plane, Method::POST, path, Some(&asked)).await.expect(200).json(), list, "{path}");
    }
    let patch = json!({ "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        "Operations": [{ "op": "replace", "path": "displayName", "value": "Ada" }] });
    let answer = provider.send(&plane, Method::PATCH, &format!("{path}?attributes=displayName"), Some(&patch)).await;
    assert_eq!(members(&answer.expect(200).json()), ["displayName", "id", "schemas"]);
}

#[tokio::test]
async fn lists_come_in_pages_from_one_on() {
    let (plane, provider) = setting().await;
    for n in 0..5 {
        provider.creates(&plane, &format!("user-{n}")).await;
    }
    for (query, first, names) in [
        ("", 1, &["user-0", "user-1", "user-2", "user-3", "user-4"][..]),
        ("?startIndex=2&count=2", 2, &["user-1", "user-2"]),
        ("?startIndex=0&count=1", 1, &["user-0"]),
        ("?startIndex=-3&count=-1", 1, &[]),
        ("?startIndex=6", 6, &[]),
    ] {
        let page = provider.get(&plane, &format!("/Users{query}")).await.expect(200).json();
        let found: Vec<&str> =
            page["Resources"].as_array().unwrap().iter().map(|user| user["externalId"].as_str().unwrap()).collect();
        assert_eq!((found.as_slice(), &page["startIndex"]), (names, &json!(first)), "{query}");
        assert_eq!((&page["totalResults"], &page["itemsPerPage"]), (&json!(5), &json!(names.len())), "{query}");
    }
}

#[tokio::test]
async fn the_service_describes_itself_without_a_key() {
    let (plane, provider) = setting().await;
    let get = async |path: &str| {
        plane.send(Request::get(format!("/scim/v2{path}")).body(axum::body::Body::empty()).unwrap()).await
    };
    let config = get("/ServiceProviderConfig").await.expect(200).json();
    assert_eq!(config["patch"]["supported"], true);
    assert_eq!(config["authenticationSchemes"][0]["type"], "oauthbearertoken");
    let types = get("/ResourceTypes").await.expect(200).json();
    assert_eq!(types["Resources"][0]["endpoint"], "/Users");
    assert_eq!(get("/ResourceTypes/User").await.expect(200).json(), types["Resources"][0]);
    let schemas = get("/Schemas").await.expect(200).json();
    let id = schemas["Resources"][0]["id"].as_str().unwrap();
    assert_eq!(get(&format!("/Schemas/{id}")).await.expect(200).json(), schemas["Resources"][0]);
    get("/Schemas?filter=id%20eq%20%22a%22").await.expect(403);
    get("/Schemas/urn:other").await.expect(404);
    // Every described attribute is kept, and nothing else comes back.
    let described: Vec<&str> = schemas["Resources"][0]["attributes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attribute| attribute["name"].as_str().unwrap())
        .collect();
    let mut whole = user("ada");
    whole["displayName"] = json!("Ada");
    whole["name"] = json!({ "formatted": "Ada" });
    whole["emails"] = json!([{ "value": "ada@corp.test" }]);
    whole["title"] = json!("Countess");
    let answer = provider.send(&plane, Method::POST, "/Users", Some(&whole)).await.expect(201).json();
    let mut returned: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = [described, vec!["schemas", "id", "meta"]].concat();
    returned.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(returned, wanted);
    let _: Value = answer;
}

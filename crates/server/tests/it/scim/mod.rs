//! `/scim/v2`: an identity provider provisions and offboards the users of a project.

mod judge;
mod refusals;
mod shapes;
mod story;

use axum::body::Body;
use countersign_engine::{ApiKeyKind, NewKey, ProjectAt};
use countersign_protocol::project::{ProjectDocument, ScimPolicy};
use countersign_testkit::{Answer, Kit, Plane, Setup};
use http::{Method, Request};
use serde_json::{Value, json};

pub(crate) const IDP: &str = "https://idp.test";

pub(crate) fn with_scim(document: &mut ProjectDocument, issuer: &str) {
    let (roles, assignable_roles) = (vec!["user".into()], vec!["approver".into(), "auditor".into()]);
    document.scim = Some(ScimPolicy { issuer: issuer.into(), roles, assignable_roles });
}

/// The key of an identity provider.
pub(crate) struct TestProvider {
    pub(crate) secret: String,
    pub(crate) prefix: String,
}

impl TestProvider {
    /// A plane with users of this issuer, and the provider's key. `root` is responsible for it.
    pub(crate) async fn on(kit: Kit, issuer: &str) -> (Plane, Self) {
        let plane = kit.plane_with(Setup::with_project(|document| with_scim(document, issuer))).await;
        plane.account("root").await;
        let provider = Self::of(&plane, &plane.at().await, ApiKeyKind::Scim).await;
        (plane, provider)
    }

    pub(crate) async fn of(plane: &Plane, at: &ProjectAt, kind: ApiKeyKind) -> Self {
        let new = NewKey {
            kind,
            principal: "directory".into(),
            responsible: "root".into(),
            actions: Vec::new(),
            asks: Vec::new(),
            jkt: None,
        };
        let secret = plane.engine.people().add_key(&at.project, &new).await.unwrap().secret;
        Self { secret, prefix: at.prefix() }
    }

    pub(crate) async fn send(&self, plane: &Plane, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/scim/v2{path}", self.prefix))
            .header("authorization", format!("Bearer {}", self.secret))
            .header("content-type", "application/scim+json; charset=utf-8");
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let answer = plane.send(request.body(body).unwrap()).await;
        let kind = answer.header("content-type").unwrap_or_default();
        assert!(answer.status == 204 || kind == "application/scim+json", "{kind}: {}", answer.text());
        answer
    }

    pub(crate) async fn get(&self, plane: &Plane, path: &str) -> Answer {
        self.send(plane, Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, plane: &Plane, body: &Value) -> Answer {
        self.send(plane, Method::POST, "/Users", Some(body)).await
    }

    pub(crate) async fn patch(&self, plane: &Plane, id: &str, operations: Value) -> Answer {
        let body = json!({ "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": operations });
        self.send(plane, Method::PATCH, &format!("/Users/{id}"), Some(&body)).await
    }

    pub(crate) async fn put(&self, plane: &Plane, id: &str, body: &Value) -> Answer {
        self.send(plane, Method::PUT, &format!("/Users/{id}"), Some(body)).await
    }

    pub(crate) async fn delete(&self, plane: &Plane, id: &str) -> Answer {
        self.send(plane, Method::DELETE, &format!("/Users/{id}"), None).await
    }

    /// Provisions a user; returns its id.
    pub(crate) async fn creates(&self, plane: &Plane, external_id: &str) -> String {
        let answer = self.post(plane, &user(external_id)).await.expect(201).json();
        answer["id"].as_str().unwrap().to_owned()
    }
}

/// The smallest user.
pub(crate) fn user(external_id: &str) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
        "userName": format!("{external_id}@corp.test"),
        "externalId": external_id,
        "active": true,
    })
}

/// Status and `scimType` of an error.
pub(crate) fn scim_error(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["scimType"].as_str().unwrap_or_default().to_owned())
}

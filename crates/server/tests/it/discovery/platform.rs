//! The platform as an operator: the same for every project, on every host (AAP 3.1, C-71).

use crate::schemas;
use countersign_testkit::{Answer, Plane, Setup, on_sqlite};
use http::Request;
use serde_json::Value;

const IDENTITY: &str = "/.well-known/agent-identity.json";
const KEYS: &str = "/.well-known/agent-jwks.json";

/// The document as every project and host publishes it; fails if any of them differs.
async fn everywhere(plane: &Plane, path: &str) -> Answer {
    let plain = plane.get(path).await.expect(200);
    for query in ["?projectId=north", "?projectId=south", "?projectId=nobody"] {
        assert_eq!(plane.get(&format!("{path}{query}")).await.expect(200).body, plain.body, "{query}");
    }
    for host in ["north.api.example.test", "south.api.example.test", "api.example.test"] {
        let request = Request::get(path).header("host", host).body(axum::body::Body::empty()).unwrap();
        assert_eq!(plane.send(request).await.expect(200).body, plain.body, "{host}");
    }
    plain
}

on_sqlite! {
    /// AAP-3.1-08
    async fn the_identity_manifest_is_that_of_the_installation_and_of_no_project(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        let identity = everywhere(&plane, IDENTITY).await.json();
        schemas::assert_valid("operator-identity", &identity);
        assert_eq!(identity["domain"], "api.example.test");
        assert_eq!(identity["signing_keys"], format!("{}{KEYS}", plane.service()));
    }

    /// AAP-3.1-09, AAP-20.1-01
    async fn the_key_that_signs_delegations_is_published_once_for_all_projects(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        for project in ["north", "south"] {
            let name = format!("user-of-{project}");
            let user = plane.person_in(project, &name, &[countersign_engine::Role::User]).await;
            let prefix = format!("/projects/{project}");
            let connected = plane.connect_at(&prefix, &user, plane.acme(), &["calendar.read"]).await;
            let keys = everywhere(&plane, KEYS).await.json();
            let kid = kid_of(&connected.delegation_token);
            let key = keys["keys"].as_array().unwrap().iter().find(|key| key["kid"] == kid.as_str());
            assert_eq!(key.expect("the key that signed it")["use"], "sig");
        }
    }

    /// AAP-20.1-01
    async fn every_key_that_is_published_has_a_name_of_its_own(kit) {
        let plane = kit.plane().await;
        plane.engine.rotate_keys().await.unwrap();
        let keys = plane.get(KEYS).await.expect(200).json();
        let kids: Vec<&str> = keys["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap()).collect();
        assert_eq!(kids.len(), 2, "the new key and the old one");
        assert!(kids.iter().all(|kid| !kid.is_empty()) && kids[0] != kids[1], "{kids:?}");
    }
}

fn kid_of(jwt: &str) -> String {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let header = URL_SAFE_NO_PAD.decode(jwt.split('.').next().unwrap()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    header["kid"].as_str().unwrap().to_owned()
}

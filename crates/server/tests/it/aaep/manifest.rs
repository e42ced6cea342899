//! `GET /.well-known/aaep-manifest.json`

use axum::body::Body;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_jose::{KeyPolicy, KeySet};
use countersign_testkit::{Plane, Setup, aaep_judge::judge_message, on_sqlite};
use http::Request;
use serde_json::{Value, json};

const PATH: &str = "/.well-known/aaep-manifest.json";

async fn signed(plane: &Plane, path: &str) -> String {
    let request = Request::get(path).header("accept", "application/jose").body(Body::empty()).unwrap();
    let answer = plane.send(request).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/jose"));
    answer.text()
}

on_sqlite! {
    /// AAEP 5.10
    async fn the_manifest_has_the_offer_and_is_signed_on_request(kit) {
        let plane = kit.plane().await;
        let answer = plane.get(PATH).await.expect(200);
        let manifest = answer.json();
        judge_message("producer.manifest", &manifest);
        for level in [2, 3] {
            assert!(manifest["conformance_levels_supported"].as_array().unwrap().contains(&json!(level)));
        }
        let jws = signed(&plane, PATH).await;
        let payload = URL_SAFE_NO_PAD.decode(jws.split('.').nth(1).unwrap()).unwrap();
        let payload: Value = serde_json::from_slice(&payload).unwrap();
        assert_eq!(payload["agent_id"], manifest["agent_id"]);
        let header = URL_SAFE_NO_PAD.decode(jws.split('.').next().unwrap()).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        let jwks = plane.get("/.well-known/agent-jwks.json").await.expect(200);
        let keys = KeySet::parse(&jwks.body, &KeyPolicy { allow_published_test_keys: false }).unwrap();
        assert!(keys.find(header["kid"].as_str().unwrap()).is_ok(), "signed with a published key");
    }

    ///
    async fn each_project_of_several_has_its_own(kit) {
        let plane = kit.plane_with(Setup::multi()).await;
        assert_eq!(plane.get(PATH).await.refusal(), (404, "project_not_found".into()));
        let north = plane.get(&format!("{PATH}?projectId=north")).await.expect(200).json();
        let south = plane.get(&format!("{PATH}?projectId=south")).await.expect(200).json();
        assert!(north["agent_id"] != south["agent_id"], "{north}");
        assert_eq!(north["dev_countersign"]["path_prefix"], "/projects/north/aaep/v1");
        assert_eq!(plane.get(&format!("/projects/north{PATH}")).await.expect(200).json(), north);
        assert_eq!(plane.get(&format!("{PATH}?projectId=west")).await.status, 404);
    }
}

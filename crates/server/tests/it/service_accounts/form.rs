//! Proposals and documents that are refused, with the member named.

use super::desk::Desk;
use countersign_testkit::on_sqlite;
use serde_json::{Value, json};

on_sqlite! {
    /// AAP-19.5-02, AAP-19.5-04, AAP-19.5-05, AAP-17.2-04
    async fn each_wrong_member_of_a_proposal_is_refused_by_its_name(kit) {
        let desk = Desk::open(kit).await;
        let request_id = desk.request(&["bank.read", "bank.note"]).await;
        let refused = async |pointer: &str, value: Value, names: &str| {
            let mut body = Desk::proposal(&request_id);
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            let parent = body.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            if value.is_null() { parent.remove(name) } else { parent.insert(name.into(), value) };
            let answer = desk.ada.post(&desk.scene.plane, "/agent/delegate", &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{pointer}: {}", answer.text());
            let why = answer.json()["error_description"].as_str().unwrap().to_owned();
            assert!(why.contains(names), "{pointer}: {why}");
        };
        refused("/request_id", Value::Null, "request_id").await;
        refused("/account_id", Value::Null, "account_id").await;
        refused("/org_id", Value::Null, "org_id").await;
        refused("/granted_scope", Value::Null, "granted_scope").await;
        for id in ["acme", "svc_ab", "svc_Acme", "svc_acme-prod", "user_1"] {
            refused("/account_id", json!(id), "account_id").await;
        }
        refused("/org_id", json!(""), "org_id").await;
        refused("/granted_scope", json!("engineering-team"), "granted_scope").await;
        refused("/granted_scope/description", Value::Null, "granted_scope.description").await;
        refused("/granted_scope/description", json!("x".repeat(201)), "granted_scope.description").await;
        refused("/granted_scope/scopes", json!([]), "granted_scope.scopes").await;
        refused("/granted_scope/scopes", json!(["bank.unknown"]), "bank.unknown").await;
        refused("/granted_scope/extra", json!(1), "granted_scope").await;
        refused("/granted_scope/resources", json!(["inbox:a"]), "granted_scope.resources[0]").await;
        refused("/granted_scope/resources", json!(["account:a1", "acc*"]), "granted_scope.resources[1]").await;
        refused("/granted_scope/resources", json!(["account:a@b"]), "granted_scope.resources[0]").await;
        refused("/granted_scope/resources", json!(["account:a1", "account:a1"]), "granted_scope.resources[1]").await;
        refused("/usage_limits", json!({ "requests_per_hour": 0 }), "usage_limits").await;
        refused("/usage_limits", json!({ "per_day": 1 }), "usage_limits").await;
        refused("/operator", json!("other.test"), "operator").await;
    }

    /// AAP-19.5-03
    async fn an_admin_without_an_address_cannot_confirm(kit) {
        let desk = Desk::open(kit).await;
        let plane = &desk.scene.plane;
        let bob = plane.person_in("bank", "bob", &[countersign_engine::Role::Admin]).await;
        let body = Desk::proposal(&desk.request(&["bank.read", "bank.note"]).await);
        let answer = bob.post(plane, "/agent/delegate", &body).await;
        assert_eq!(answer.refusal(), (403, "not_authorized".into()));
        assert!(answer.text().contains("countersign user email"), "{}", answer.text());
        plane.engine.people().set_email("bob", "bob@bank.test").await.unwrap();
        let shown = bob.post(plane, "/agent/delegate", &body).await.expect(200).json();
        assert_eq!(shown["authorized_by"], "bob@bank.test");
        assert!(plane.engine.people().set_email("bob", "bob at bank").await.is_err());
    }

    /// AAP-11.4-04, AAP-11.3-06
    async fn a_document_that_cannot_name_data_subjects_or_matches_nothing_is_refused(kit) {
        let desk = Desk::open(kit).await;
        let document = serde_json::to_value(&desk.document).unwrap();
        let problems = |change: &dyn Fn(&mut Value)| {
            let mut changed = document.clone();
            change(&mut changed);
            let found = countersign_engine::check_project(&serde_json::from_value(changed).unwrap());
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(problems(&|_| {}), Vec::<String>::new());
        let route = |changed: &Value, id: &str| {
            changed["routes"].as_array().unwrap().iter().position(|route| route["id"] == id).unwrap()
        };
        let statement = route(&document, "statement");
        let found = problems(&|doc| drop(doc["routes"][statement].as_object_mut().unwrap().remove("data_subjects")));
        assert!(found.len() == 1 && found[0].contains("data_subjects is required"), "{found:?}");
        let found = problems(&|doc| doc["resources"][0]["pattern"] = json!("inbox:*"));
        assert!(found.len() == 1 && found[0].starts_with("resources[0].pattern"), "{found:?}");
        let found = problems(&|doc| doc["resources"][1]["pattern"] = json!("account:*"));
        assert!(found.iter().any(|why| why.contains("stands twice")), "{found:?}");
        let found = problems(&|doc| doc["routes"][statement]["resource"] = json!("statement:{body.account}"));
        assert!(found.iter().any(|why| why.contains("path.NAME and query.NAME")), "{found:?}");
        let found = problems(&|doc| doc["routes"][statement]["data_subjects"] = json!({}));
        assert!(found.iter().any(|why| why.contains("either header or member")), "{found:?}");
        let found = problems(&|doc| doc["disclosures"] = json!({ "service_account": "It has wide access." }));
        assert!(found.len() == 1 && found[0].contains("{granted_scope.description}"), "{found:?}");
    }
}

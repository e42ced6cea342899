//! Accounts that cross users: every entry names whose data was touched, or nothing is handed out.

use super::desk::Desk;
use countersign_testkit::{on_both_stores, on_sqlite};
use serde_json::{Value, json};

async fn crossing(desk: &Desk) -> super::Account {
    let resources = json!(["statement:a1", "account:*"]);
    desk.grant(|body| body["granted_scope"]["resources"] = resources).await
}

fn subjects(entries: &[Value]) -> Vec<Value> {
    entries.iter().map(|entry| entry["data_subjects"].clone()).collect()
}

on_both_stores! {
    /// AAP-11.4-01, AAP-G-15, R-25
    async fn every_entry_names_the_people_as_the_service_named_them(kit) {
        let desk = Desk::open(kit).await;
        let account = crossing(&desk).await;
        let session = desk.session(&account).await;
        desk.scene.bank.set_response_header("x-data-subjects", "user_b, user_a ,user_b");
        let lying = session.call("GET", "/statements/a1").with("x-data-subjects", "nobody").with("data-subjects", "x");
        desk.scene.sends_raw(lying).await.expect(200);
        let entries = desk.entries(&format!("event_type=call&account_id={}", account.id)).await;
        assert_eq!(subjects(&entries), [json!(["user_a", "user_b"])]);
        assert!(!desk.scene.bank.got()[0].headers.contains_key("x-data-subjects"));
        // Leaves hold commitments; the names can be erased with their openings.
        desk.scene.bank.set_manner(countersign_testkit::bank::Manner::Status(404));
        desk.calls(&session, "GET", "/statements/a1").await.expect(404);
        let entries = desk.entries(&format!("event_type=call&account_id={}", account.id)).await;
        assert_eq!(subjects(&entries)[1], json!(["user_a", "user_b"]), "failed calls that touched data, too");
    }

    /// AAP-11.4-04
    async fn a_call_that_cannot_name_them_is_refused_or_not_handed_out(kit) {
        let desk = Desk::open(kit).await;
        let account = crossing(&desk).await;
        let session = desk.session(&account).await;
        let no_source = desk.calls(&session, "GET", "/accounts/a1").await;
        assert_eq!(no_source.refusal(), (403, "not_authorized".into()));
        assert_eq!(desk.calls(&session, "GET", "/accounts").await.refusal(), (403, "not_authorized".into()));
        assert_eq!(desk.scene.bank.got().len(), 0, "nothing was forwarded");
        let silent = desk.calls(&session, "GET", "/statements/a1").await;
        assert_eq!(silent.refusal(), (502, "upstream_failed".into()));
        assert!(!silent.text().contains("bank\""), "{}", silent.text());
        let entries = desk.entries(&format!("event_type=call&account_id={}", account.id)).await;
        let outcomes: Vec<_> = entries.iter().map(|entry| entry["outcome"].as_str().unwrap()).collect();
        let unknown = "unknown: the response does not say whose data it touched";
        assert_eq!(outcomes, ["403 not_authorized", "403 not_authorized", unknown]);
    }
}

on_sqlite! {
    /// AAP-11.4-01
    async fn they_are_read_from_the_body_where_the_route_says_so(kit) {
        let desk = Desk::open_with(kit, |document| {
            let statement = document.routes.iter_mut().find(|route| route.id == "statement").unwrap();
            statement.data_subjects = serde_json::from_value(json!({ "member": "/items/*/owner" })).unwrap();
        });
        let desk = desk.await;
        let account = crossing(&desk).await;
        let session = desk.session(&account).await;
        let body = r#"{"items":[{"owner":"user_a"},{"owner":"user_c"}]}"#;
        desk.scene.bank.set_read_response(200, body);
        assert_eq!(desk.calls(&session, "GET", "/statements/a1").await.expect(200).text(), body, "handed out unchanged");
        for unknown in [r#"{"items":[{"owner":"user_a"},{}]}"#, r#"{"items":[]}"#, "[1", r#"{"items":[{"owner":7}]}"#] {
            desk.scene.bank.set_read_response(200, unknown);
            let answer = desk.calls(&session, "GET", "/statements/a1").await;
            assert_eq!(answer.refusal(), (502, "upstream_failed".into()), "{unknown}");
        }
        let entries = desk.entries(&format!("event_type=call&account_id={}", account.id)).await;
        assert_eq!(subjects(&entries)[0], json!(["user_a", "user_c"]));
        // A person's delegation needs none of it.
        let alice = desk.user_session(&super::desk::session_id(9)).await.expect(200).json();
        desk.calls_as_alice(&alice, "GET", "/statements/a1").await.expect(200);
    }
}

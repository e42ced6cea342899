//! Calls of a service account: its headers, its boundary, its entries.

use super::desk::{ADA, Account, AccountSession, Desk, session_id, without};
use countersign_gateway::{GatewaySettings, Network};
use countersign_protocol::project::ConcurrentUse;
use countersign_testkit::{bank::GatewayListener, on_both_stores, on_sqlite};
use serde_json::json;

on_both_stores! {
    /// AAP-11.2-04, AAP-11.3-01, AAP-11.3-06, AAP-11.7-02
    async fn only_granted_resources_and_actions_pass(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let session = desk.session(&account).await;
        desk.calls(&session, "GET", "/accounts/a1").await.expect(200);
        for path in ["/accounts/a2", "/accounts/a11", "/accounts/A1", "/accounts/a", "/statements/a1", "/accounts/a1%2A"] {
            let answer = desk.calls(&session, "GET", path).await;
            assert_eq!(answer.refusal(), (403, "boundary_violation".into()), "{path}");
        }
        let ungranted = desk.calls(&session, "DELETE", "/payees/p1").await;
        assert_eq!(ungranted.refusal(), (403, "scope_not_granted".into()), "the scope comes before the boundary");
        assert_eq!(desk.scene.bank.got().len(), 1, "nothing refused was forwarded");
        desk.calls(&session, "GET", "/accounts").await.expect(200);

        let all = desk.grant(|body| {
            body["account_id"] = json!("svc_all_accounts");
            body["granted_scope"]["resources"] = json!(["payee:*"]);
        });
        let session = desk.session(&all.await).await;
        assert_eq!(desk.calls(&session, "GET", "/accounts/a1").await.refusal(), (403, "boundary_violation".into()));
    }

    /// AAP-11.4-02, AAP-11.4-03, AAP-11.6-04, AAP-17.4-01, AAP-17.4-07, AAP-11.3-04
    async fn each_call_leaves_an_entry_that_is_found_by_grant_account_and_session(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let session = desk.session(&account).await;
        desk.calls(&session, "GET", "/accounts/a1").await.expect(200);
        desk.calls(&session, "GET", "/accounts/a2").await;
        let by = async |query: String| desk.entries(&format!("event_type=call&{query}")).await;
        let found = by(format!("delegation_id={}", account.grant)).await;
        assert_eq!(by(format!("account_id={}", account.id)).await, found);
        assert_eq!(by(format!("session_id={}", session.session_id)).await, found);
        let said: Vec<_> = found.iter().map(|entry| (&entry["path"], &entry["outcome"])).collect();
        assert_eq!(said, [(&json!("/accounts/a1"), &json!("200 OK")), (&json!("/accounts/a2"), &json!("403 boundary_violation"))]);
        for entry in &found {
            assert_eq!((&entry["mode"], &entry["account_id"]), (&json!("service_account"), &json!("svc_acme_prod")));
            assert_eq!((&entry["method"], &entry["intent_type"]), (&json!("GET"), &json!("READ_ACCOUNTS")));
            assert!(entry.get("acting_for").is_none() && entry.get("data_subjects").is_none(), "{entry}");
        }
        assert_eq!(desk.audit("").await.refusal(), (400, "invalid_request".into()));
        let alice = desk.scene.alice.get(&desk.scene.plane, &format!("/agent/audit?account_id={}", account.id)).await;
        assert_eq!(alice.refusal(), (401, "delegation_not_found".into()), "a plain user");
        let anonymous = desk.scene.plane.get(&format!("/agent/audit?account_id={}", account.id)).await;
        assert_eq!(anonymous.status, 401);
        let plane = &desk.scene.plane;
        plane.audit(plane.acme(), &format!("account_id={}", account.id)).await.expect(200);
    }
}

on_both_stores! {
    /// AAP-11.3-01, AAP-11.3-05
    async fn a_route_that_does_not_say_what_its_resource_is_is_closed_to_service_accounts(kit) {
        let desk = Desk::open_with(kit, |document| {
            document.routes.iter_mut().find(|route| route.id == "accounts").unwrap().resource = None;
        });
        let desk = desk.await;
        let account = desk.grant(|_| {}).await;
        let session = desk.session(&account).await;
        let refused = desk.calls(&session, "GET", "/accounts").await;
        assert_eq!(refused.refusal(), (403, "boundary_violation".into()));
        assert!(refused.json()["hint"].as_str().unwrap().contains("resource"), "{}", refused.text());
        desk.calls(&session, "GET", "/accounts/a1").await.expect(200);
        let alice = desk.user_session(&session_id(1)).await.expect(200).json();
        desk.calls_as_alice(&alice, "GET", "/accounts").await.expect(200);
        // The owner says that it has none, and the admin reads so before the grant.
        desk.change(|document| {
            document.routes.iter_mut().find(|route| route.id == "accounts").unwrap().resource = Some("none".into());
        })
        .await;
        desk.calls(&session, "GET", "/accounts").await.expect(200);
        let request_id = desk.request(&["bank.read", "bank.note"]).await;
        let body = Desk::proposal(&request_id);
        let shown = desk.ada.post(&desk.scene.plane, "/agent/delegate", &body).await.expect(200).json();
        let listed = json!(["GET /accounts", "POST /notes", "GET /prices", "GET /ticker"]);
        assert_eq!(shown["routes_without_resource"], listed);
    }

    /// AAP-13.3-05, AAP-11.4-02
    async fn the_entries_of_its_suspension_name_the_account_and_its_mode(kit) {
        let mut desk = Desk::open_with(kit, |document| document.concurrent_use = Some(ConcurrentUse::default())).await;
        let trusted = |settings: &mut GatewaySettings| settings.trusted_proxies = vec![Network::parse("127.0.0.1").unwrap()];
        desk.scene.gateway = GatewayListener::of(&desk.scene.plane, trusted).await;
        let account = desk.grant(|_| {}).await;
        let session = desk.session(&account).await;
        let from = |address: &str| session.call("GET", "/accounts/a1").with("x-forwarded-for", address);
        desk.scene.sends_raw(from("203.0.113.7")).await.expect(200);
        let flagged = desk.scene.sends_raw(from("198.51.100.1")).await;
        assert_eq!(flagged.refusal(), (403, "delegation_suspended".into()));
        let body = json!({ "delegation_id": account.grant });
        desk.ada.post(&desk.scene.plane, "/agent/lift", &body).await.expect(200);
        for event in ["delegation_suspended", "delegation_lifted"] {
            let [entry] = desk.entries(&format!("event_type={event}&delegation_id={}", account.grant)).await.try_into().unwrap();
            assert_eq!((&entry["mode"], &entry["account_id"]), (&json!("service_account"), &json!(account.id)), "{entry}");
            assert!(entry.get("acting_for").is_none(), "{entry}");
        }
    }
}

on_sqlite! {
    /// AAP-11.6-01, AAP-11.6-02, AAP-11.6-04, AAP-11.6-06
    async fn mode_and_account_are_declared_on_every_call_and_never_inferred(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let session = desk.session(&account).await;
        let refused = async |sent, code: (u16, &str)| {
            assert_eq!(desk.scene.sends_raw(sent).await.refusal(), (code.0, code.1.into()));
        };
        let call = || session.call("GET", "/accounts/a1");
        refused(without(call(), "x-agent-mode"), (400, "mode_missing")).await;
        let other_mode = without(call(), "x-agent-mode").with("x-agent-mode", "user_delegated");
        refused(other_mode, (400, "mode_not_supported")).await;
        refused(without(call(), "x-agent-account"), (400, "invalid_request")).await;
        let other = without(call(), "x-agent-account").with("x-agent-account", "svc_other");
        refused(other, (401, "delegation_mismatch")).await;
        refused(call().with("x-agent-delegation", "del_another1"), (401, "delegation_mismatch")).await;
        refused(without(call(), "x-agent-session"), (400, "invalid_request")).await;
        refused(without(call(), "x-agent-intent-type"), (400, "invalid_request")).await;
        assert_eq!(desk.scene.bank.got().len(), 0);
        desk.scene.sends_raw(call()).await.expect(200);
        desk.scene.sends_raw(call().with("x-agent-delegation", &account.grant)).await.expect(200);
    }

    /// R-8
    async fn the_open_questions_of_one_operators_accounts_do_not_silence_those_of_another(kit) {
        let desk = Desk::open_with(kit, |document| {
            document.decisions.max_open_per_person = 1;
            document.routes.iter_mut().find(|route| route.id == "notes").unwrap().requires_confirmation = Some(true);
        });
        let desk = desk.await;
        let (one, two) = (desk.grant(|_| {}).await, desk.grant(|body| body["account_id"] = json!("svc_second")).await);
        let note = |session: &AccountSession, text: &str| session.call("POST", "/notes").json(format!(r#"{{"note":"{text}"}}"#));
        let held = (403, "irreversible_requires_confirm".to_owned());
        let first = desk.session(&one).await;
        assert_eq!(desk.scene.sends_raw(note(&first, "a")).await.refusal(), held);
        assert_eq!(desk.scene.sends_raw(note(&first, "b")).await.status, 429);
        let same_operator = desk.session(&two).await;
        assert_eq!(desk.scene.sends_raw(note(&same_operator, "c")).await.status, 429, "one limit an operator");
        let plane = &desk.scene.plane;
        let foreign = plane.operator("evil.test");
        let project = plane.at().await.project;
        let operator = countersign_protocol::domain::Domain::parse("evil.test").unwrap();
        let mut body = Desk::proposal("");
        body["account_id"] = json!("svc_third");
        let proposed = serde_json::from_value(body).unwrap();
        let agents = || plane.engine.agents();
        let reviewed = agents().review_account(&project, ADA, &operator, &proposed, "en").await.unwrap();
        let shown = ("en", reviewed.digest, reviewed.shown_at);
        let (grant, token) = agents().create_account(&project, ADA, &operator, &proposed, shown).await.unwrap();
        let third = Account { id: "svc_third".into(), grant: grant.id, token };
        let jwt = foreign.jwt(plane.service(), plane.now());
        let answer = desk.registers(&third, |body| body["operator_jwt"] = json!(jwt)).await.expect(200).json();
        let session = AccountSession::of(&third, &answer);
        assert_eq!(desk.scene.sends_raw(note(&session, "d")).await.refusal(), held);
    }

    /// AAP-11.3-05
    async fn a_grant_without_resources_covers_no_route_with_one(kit) {
        let desk = Desk::open(kit).await;
        for (n, resources) in [json!([]), serde_json::Value::Null].into_iter().enumerate() {
            let account = desk.grant(|body| {
                body["account_id"] = json!(format!("svc_bare_{n}"));
                match resources.is_null() {
                    true => drop(body["granted_scope"].as_object_mut().unwrap().remove("resources")),
                    false => body["granted_scope"]["resources"] = resources,
                }
            });
            let session = desk.session(&account.await).await;
            let bound = desk.calls(&session, "GET", "/accounts/a1").await;
            assert_eq!(bound.refusal(), (403, "boundary_violation".into()));
            desk.calls(&session, "GET", "/accounts").await.expect(200);
        }
    }

    /// AAP-11.2-04
    async fn a_scope_that_is_widened_later_gives_an_account_nothing_new(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|body| body["granted_scope"]["resources"] = json!(["account:a1", "payee:*"])).await;
        let session = desk.session(&account).await;
        desk.change(|document| document.scopes[0].allows.push("payees.remove".into())).await;
        let mut call = session.call("DELETE", "/payees/p1");
        call = without(call, "x-agent-intent-type").with("x-agent-intent-type", "READ_ACCOUNTS");
        assert_eq!(desk.scene.sends_raw(call).await.refusal(), (403, "scope_not_granted".into()));
        desk.calls(&session, "GET", "/accounts/a1").await.expect(200);
    }

    /// AAP-11.7-03, AAP-11.7-02
    async fn an_account_is_the_same_for_all_its_sessions_and_no_person_to_the_service(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let (one, two) = (desk.session(&account).await, desk.session(&account).await);
        assert_ne!(one.session_id, two.session_id);
        let bodies = [&one, &two].map(async |session| desk.calls(session, "GET", "/accounts/a1").await.expect(200).body);
        let [first, second] = bodies;
        assert_eq!(first.await, second.await);
        let identity = desk.scene.bank.got()[0].headers["countersign-identity"].to_str().unwrap().to_owned();
        let told = super::desk::claims(&identity);
        assert_eq!((&told["sub"], &told["mode"]), (&json!("svc_acme_prod"), &json!("service_account")));
    }

    /// R-1
    async fn a_held_call_of_an_account_is_decided_by_admins(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|body| {
            body["granted_scope"]["scopes"] = json!(["bank.payees"]);
            body["granted_scope"]["resources"] = json!(["payee:p1"]);
        });
        let account = account.await;
        let session = desk.session(&account).await;
        let beyond = desk.calls(&session, "DELETE", "/payees/p2").await;
        assert_eq!(beyond.refusal(), (403, "boundary_violation".into()), "nobody is asked about it");
        let held = desk.calls(&session, "DELETE", "/payees/p1").await;
        assert_eq!(held.refusal(), (403, "irreversible_requires_confirm".into()));
        assert_eq!(desk.scene.alice.pending_questions(&desk.scene.plane).await, 0);
        let decision = countersign_testkit::bank::BankFixture::decision(&held);
        desk.ada.accepts(&desk.scene.plane, &decision).await;
        desk.scene.sends_raw(session.call("DELETE", "/payees/p1").confirmed("true")).await.expect(200);
        assert_eq!(desk.scene.bank.effects().len(), 1);
    }
}

//! The audit of calls through the gateway: one entry each, and never any free text.

use countersign_testkit::{
    Setup,
    bank::{Bank, BankFixture, GatewayRequest, Manner},
    leaks::Haystack,
    on_sqlite, stored_evidence,
};
use serde_json::{Value, json};

const WORDS: &str = "pay the doctor about Bob's knee, marker 4711";

on_sqlite! {
    /// AAP-7.1-02, R-3
    async fn a_held_call_has_an_entry_when_it_is_refused_and_one_when_it_ran_with_the_decision_and_its_digest(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        scene.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
        let calls = scene.calls().await;
        assert_eq!(outcomes(&calls), ["403 irreversible_requires_confirm", "201 Created"]);
        let ran = json!({
            "timestamp": scene.plane.now().to_rfc3339(),
            "event_type": "call",
            "mode": "user_delegated",
            "method": "POST",
            "path": "/transfers",
            "intent_type": "PAY",
            "session_id": scene.agent.session_id,
            "delegation_id": scene.connected.delegation_id,
            "operator": "acme.test",
            "acting_for": "alice",
            "action": "transfers.send",
            "outcome": "201 Created",
            "effect": "committed",
            "decision_id": decision["decision_id"],
            "action_sha256": decision["digest"],
        });
        assert_eq!(without_place(&calls[1]), ran);
        let asked = without_place(&calls[0]);
        assert_eq!((&asked["path"], &asked["mode"], &asked["intent_type"]), (&ran["path"], &ran["mode"], &ran["intent_type"]));
    }

    /// AAP-7.1-02
    async fn every_call_of_a_known_agent_has_one_entry_with_its_outcome(kit) {
        let scene = kit.bank().await;
        scene.bank.set_manner(Manner::Vanishing);
        let mut told = Vec::new();
        for (sent, status, outcome) in [
            (GatewayRequest::new("POST", "/notes").json("[]"), 502, "unknown: the connection broke"),
            (GatewayRequest::new("GET", "/accounts"), 502, "unknown: the connection broke"),
        ] {
            scene.sends(sent).await.expect(status);
            told.push(outcome);
        }
        scene.bank.set_manner(Manner::Obliging);
        for (sent, status, outcome) in [
            (GatewayRequest::new("GET", "/accounts/ours?since=2026"), 200, "200 OK"),
            (GatewayRequest::new("POST", "/notes").json("{}"), 201, "201 Created"),
            (GatewayRequest::new("POST", "/pings").confirmed("true"), 201, "201 Created"),
            (GatewayRequest::new("POST", "/pings"), 403, "403 irreversible_requires_confirm"),
            (BankFixture::transfer(), 403, "403 irreversible_requires_confirm"),
            (BankFixture::transfer().json("{"), 400, "400 invalid_request"),
            (BankFixture::transfer().confirmed("dec_0.cft_0"), 403, "403 irreversible_requires_confirm"),
            (GatewayRequest::new("GET", "/accounts").with("x-agent-dry-run", "yes"), 400, "400 invalid_request"),
            (GatewayRequest::new("GET", "/accounts").with("x-agent-consent", "a.b.c"), 401, "401 consent_invalid"),
        ] {
            assert_eq!(scene.sends(sent).await.status, status, "{outcome}");
            told.push(outcome);
        }
        let calls = scene.calls().await;
        assert_eq!(outcomes(&calls), told);
        for call in &calls {
            assert_eq!((&call["mode"], &call["acting_for"]), (&json!("user_delegated"), &json!("alice")));
            assert_eq!(call["session_id"], scene.agent.session_id);
            assert!(call["intent_type"].is_string() && call["path"].is_string() && call["method"].is_string());
        }
        assert_eq!(calls[2]["path"], "/accounts/ours", "without its query");
        assert_eq!(calls[4]["confirmation"], "self_asserted");
        assert!(calls.iter().enumerate().all(|(n, call)| n == 4 || call["confirmation"].is_null()));
    }

    /// AAP-7.1-02, R-24
    async fn a_refusal_by_a_limit_stands_in_the_audit_as_well(kit) {
        let scene = kit.bank().await;
        let agent = scene.limited(json!({ "writes_per_session": 1, "requests_per_hour": 2 })).await;
        scene.sends_as(&agent, GatewayRequest::new("POST", "/notes").json("{}")).await.expect(201);
        scene.sends_as(&agent, GatewayRequest::new("POST", "/notes").json("{}")).await.expect(429);
        scene.sends_as(&agent, GatewayRequest::new("GET", "/accounts")).await.expect(200);
        scene.sends_as(&agent, GatewayRequest::new("GET", "/accounts")).await.expect(429);
        scene.sends_as(&agent, BankFixture::transfer()).await.expect(429);
        let limit = "429 usage_limit_reached";
        assert_eq!(outcomes(&scene.calls().await), ["201 Created", limit, "200 OK", limit, limit]);
    }

    /// AAP-7.1-02, R-24
    async fn that_a_write_began_is_in_the_evidence_and_not_in_the_list(kit) {
        let (scene, _folder) = lasting(kit).await;
        let before = stored_evidence(&scene.plane.place).await.len();
        scene.sends(GatewayRequest::new("POST", "/notes").json("{}")).await.expect(201);
        let log = stored_evidence(&scene.plane.place).await;
        let events: Vec<&str> = log[before..].iter().map(|entry| entry.event_type.as_str()).collect();
        assert_eq!(events, ["call_started", "call"]);
        assert_eq!(scene.calls().await.len(), 1);
        let of = |filter: &str| format!("/agent/audit?delegation_id={}{filter}", scene.connected.delegation_id);
        let all = scene.alice.get(&scene.plane, &of("&limit=200")).await.expect(200).text();
        assert!(!all.contains("call_started"), "{all}");
    }

    /// AAP-7-06, AAP-12.4-01, AAP-12.4-02
    async fn free_text_about_a_call_is_neither_kept_nor_passed_on(kit) {
        let (scene, _folder) = lasting(kit).await;
        let worded = |sent: GatewayRequest| sent.with("x-agent-intent", WORDS);
        scene.sends(worded(GatewayRequest::new("GET", "/accounts"))).await.expect(200);
        scene.sends(worded(GatewayRequest::new("POST", "/notes").json("{}"))).await.expect(201);
        let held = scene.sends(worded(BankFixture::transfer())).await;
        scene.alice.accepts(&scene.plane, &BankFixture::decision(&held)).await;
        scene.sends(worded(BankFixture::transfer().confirmed("true"))).await.expect(201);
        scene.sends(worded(GatewayRequest::new("GET", "/accounts").with("x-agent-consent", "a.b.c"))).await.expect(401);
        let mut typed = scene.authenticated(&scene.agent, GatewayRequest::new("GET", "/accounts"));
        typed.headers.iter_mut().filter(|(name, _)| name == "x-agent-intent-type").for_each(|h| h.1 = WORDS.into());
        assert_eq!(scene.sends_raw(typed).await.refusal(), (400, "intent_type_unknown".into()));
        for got in scene.bank.got() {
            assert!(!format!("{:?}", got.headers).contains("marker 4711"), "{got:?}");
        }
        let calls = scene.calls().await;
        assert_eq!(calls.len(), 6);
        assert!(calls.iter().all(|call| call.get("intent").is_none_or(Value::is_null)));
        // The write has one entry, with its type and session in place of the text.
        let notes: Vec<&Value> = calls.iter().filter(|call| call["path"] == "/notes").collect();
        assert_eq!(notes.len(), 1, "{notes:#?}");
        let told = ["session_id", "method", "intent_type", "outcome"].map(|member| notes[0][member].clone());
        assert_eq!(told, [json!(scene.agent.session_id), json!("POST"), json!("NOTE"), json!("201 Created")]);
        assert_eq!(calls[5]["intent_type"], Value::Null, "free text is no type");
        let stored = Haystack::stored(&scene.plane.place).await;
        stored.assert_present("the session", &scene.agent.session_id);
        stored.assert_absent("the free text", WORDS);
        stored.assert_absent("its marker", "knee, marker 4711");
        stored.assert_absent("the access token", &scene.agent.access_token);
    }
}

async fn lasting(kit: countersign_testkit::Kit) -> (BankFixture, countersign_testkit::leaks::Folder) {
    let bank = Bank::open().await;
    let (plane, folder) = kit.lasting_plane(Setup::bank(&bank, |_| {})).await;
    (BankFixture::on(plane, bank).await, folder)
}

fn outcomes(calls: &[Value]) -> Vec<&str> {
    calls.iter().map(|call| call["outcome"].as_str().expect("an outcome")).collect()
}

/// An entry without its position in the log.
fn without_place(entry: &Value) -> Value {
    let mut entry = entry.clone();
    let members = entry.as_object_mut().expect("an object");
    for place in ["lane", "seq", "leaf_hash"] {
        members.remove(place).expect("a place");
    }
    entry
}

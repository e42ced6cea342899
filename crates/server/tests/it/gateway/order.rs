//! The order of checks at the gateway (R-28): of several faults of a call, the first is reported, and
//! no person is asked about a call that would not pass. `core::access` proves the order for every set of faults.

use countersign_protocol::project::{ProjectDocument, Route, Scope};
use countersign_testkit::{
    bank::{BankFixture, GATEWAY, GatewayRequest, Holder},
    on_sqlite,
};
use serde_json::json;

/// The faults of a call in the order of the checks, and the response to each.
const FAULTS: [(&str, u16, &str); 15] = [
    ("credentials", 401, "agent_auth_required"),
    ("version", 400, "spec_version_unsupported"),
    ("route", 404, "route_not_found"),
    ("access token", 401, "access_token_invalid"),
    ("proof", 401, "dpop_invalid"),
    ("mode", 400, "mode_missing"),
    ("echo", 401, "delegation_mismatch"),
    ("delegation", 401, "delegation_revoked"),
    ("consent", 401, "consent_invalid"),
    ("window", 401, "consent_expired"),
    ("scope", 403, "scope_not_granted"),
    ("intent", 400, "intent_type_unknown"),
    ("dry run", 400, "dry_run_unsupported"),
    ("limit", 429, "usage_limit_reached"),
    ("confirmation", 403, "irreversible_requires_confirm"),
];

const GRANTED: &[&str] = &["bank.note", "bank.pay"];

on_sqlite! {
    /// R-28, R-8, C-93
    async fn of_two_faults_the_earlier_check_is_the_refusal_and_nobody_is_asked_in_vain(kit) {
        let scene = kit.bank_with(with_memos).await;
        let agents = Agents::of(&scene).await;
        for fixed in 0..=FAULTS.len() {
            let wrong: Vec<&str> = FAULTS.iter().skip(fixed).map(|(fault, ..)| *fault).collect();
            let before = (scene.bank.got().len(), scene.alice.pending_questions(&scene.plane).await);
            let answer = scene.sends_raw(sent(&scene, agents.with(&wrong), &wrong)).await;
            let forwarded = match FAULTS.get(fixed) {
                Some((_, status, code)) => {
                    assert_eq!(answer.refusal(), (*status, (*code).to_owned()), "{wrong:?}");
                    0
                }
                None => {
                    answer.expect(201);
                    1
                }
            };
            let after = (scene.bank.got().len(), scene.alice.pending_questions(&scene.plane).await);
            let asked = usize::from(wrong == ["confirmation"]);
            assert_eq!(after, (before.0 + forwarded, before.1 + asked), "{wrong:?}");
        }
    }
}

fn sent(scene: &BankFixture, agent: &Holder, wrong: &[&str]) -> GatewayRequest {
    let is = |fault: &str| wrong.contains(&fault);
    let path = match (is("route"), is("scope"), is("confirmation")) {
        (true, ..) => "/nowhere",
        (_, true, _) => "/memos/other",
        (_, _, true) => "/memos/held",
        _ => "/memos",
    };
    let target = if is("dry run") { format!("{path}?dry_run=true") } else { path.to_owned() };
    let proven = if is("proof") { "/elsewhere" } else { path };
    let proof = agent.proof("POST", &format!("{GATEWAY}{proven}"), scene.plane.now()).expect("a key");
    let token = if is("access token") { "DPoP aat_of_nobody".to_owned() } else { agent.authorization() };
    let given = [
        ("authorization", token.as_str(), !is("credentials")),
        ("aap-version", if is("version") { "9.9" } else { "2.0" }, true),
        ("dpop", proof.as_str(), true),
        ("x-agent-mode", "user_delegated", !is("mode")),
        ("x-agent-delegation", if is("echo") { "del_0000000000" } else { &agent.delegation_id }, true),
        ("x-agent-session", &agent.session_id, true),
        ("x-agent-consent", "not.the.receipt", is("consent")),
        ("x-agent-intent-type", if is("intent") { "NOT_LISTED" } else { "DO_IT" }, true),
    ];
    let body = GatewayRequest::new("POST", &target).json(r#"{"to":"theirs"}"#);
    given.iter().filter(|(_, _, sent)| *sent).fold(body, |sent, (name, value, _)| sent.with(name, value))
}

/// A route without fault, one with a scope that is not granted, and one that needs approval.
fn with_memos(document: &mut ProjectDocument) {
    let other =
        json!({ "id": "bank.other", "description": "Memos", "allows": ["memos.other"], "intent_types": ["DO_IT"] });
    document.scopes.push(serde_json::from_value::<Scope>(other).unwrap());
    let note = document.scopes.iter_mut().find(|scope| scope.id == "bank.note").unwrap();
    note.allows.push("memos.write".into());
    note.intent_types.push("DO_IT".into());
    for (path, action, held) in
        [("/memos", "memos.write", false), ("/memos/other", "memos.other", true), ("/memos/held", "memos.write", true)]
    {
        let route = json!({
            "id": path.replace('/', "-"), "method": "POST", "path": path, "action": action,
            "requires_confirmation": held, "irreversible": false,
        });
        document.routes.push(serde_json::from_value::<Route>(route).unwrap());
    }
}

/// Agents with a revoked delegation, an expired window and no writes left; then with one fault less each.
struct Agents(Vec<(&'static str, Holder)>);

impl Agents {
    async fn of(scene: &BankFixture) -> Self {
        let plane = &scene.plane;
        plane.advance_secs(700).await;
        let standing = plane.connect(&scene.alice, plane.acme(), GRANTED).await;
        let revoked = plane.connect(&scene.alice, plane.acme(), GRANTED).await;
        let mut agents = Vec::new();
        for (n, (fault, open_s, writes)) in
            [("delegation", 10, 1), ("window", 10, 1), ("limit", 3000, 1), ("", 3000, 2)].into_iter().enumerate()
        {
            let connected = if fault == "delegation" { &revoked } else { &standing };
            let now = plane.now();
            let mut claims = plane.receipt_claims(plane.acme(), "alice", connected, GRANTED);
            claims["session_id"] = json!(format!("sess_{n:032x}{}", connected.delegation_id));
            claims["execution_window"] =
                json!({ "earliest": now.to_rfc3339(), "latest": now.plus_secs(open_s).to_rfc3339() });
            claims["usage_limits"] = json!({ "writes_per_session": writes });
            let receipt = plane.acme().sign_receipt(&claims);
            let agent = plane.holder(connected, |body| body["consent_receipt"] = json!(receipt)).await;
            if writes == 1 {
                scene.sends_raw(sent(scene, &agent, &[])).await.expect(201);
            }
            agents.push((fault, agent));
        }
        let body = json!({ "delegation_id": revoked.delegation_id });
        scene.alice.post(plane, "/agent/revoke", &body).await.expect(200);
        plane.advance_secs(400).await;
        Self(agents)
    }

    /// The agent with the first of these faults.
    fn with(&self, wrong: &[&str]) -> &Holder {
        let found = self.0.iter().find(|(fault, _)| fault.is_empty() || wrong.contains(fault));
        found.map(|(_, agent)| agent).expect("one without fault")
    }
}

//! The order of checks at the gateway (R-28): of several faults of a call, the first is reported, and
//! no person is asked about a call that would not pass. `core::access` proves the order for every set of faults.

use crate::service_accounts::{Desk, without};
use countersign_gateway::Network;
use countersign_jose::ProofKey;
use countersign_protocol::{
    aap::registry,
    domain::Domain,
    project::{ConcurrentUse, ProjectDocument, Route, Scope},
};
use countersign_testkit::{
    Kit, Setup,
    bank::{Bank, BankFixture, GATEWAY, GatewayListener, GatewayRequest, Holder},
    on_sqlite,
};
use serde_json::json;

/// The faults of a call in the order of the checks, and the response to each.
const FAULTS: [(&str, u16, &str); 19] = [
    ("credentials", 401, "agent_auth_required"),
    ("version", 400, "spec_version_unsupported"),
    ("route", 404, "route_not_found"),
    ("access token", 401, "access_token_invalid"),
    ("proof", 401, "dpop_invalid"),
    ("mode", 400, "mode_missing"),
    ("echo", 401, "delegation_mismatch"),
    ("operator suspended", 403, "operator_suspended"),
    ("delegation suspended", 403, "delegation_suspended"),
    ("delegation revoked", 401, "delegation_revoked"),
    ("delegation expired", 401, "delegation_expired"),
    ("consent", 401, "consent_invalid"),
    ("window", 401, "consent_expired"),
    ("tier", 403, "tier_not_met"),
    ("scope", 403, "scope_not_granted"),
    ("intent", 400, "intent_type_unknown"),
    ("dry run", 400, "invalid_request"),
    ("limit", 429, "usage_limit_reached"),
    ("confirmation", 403, "irreversible_requires_confirm"),
];

/// The same for a service account, which alone has a boundary.
const OF_AN_ACCOUNT: [(&str, u16, &str); 5] = [
    ("scope", 403, "scope_not_granted"),
    ("intent", 400, "intent_type_unknown"),
    ("boundary", 403, "boundary_violation"),
    ("limit", 429, "usage_limit_reached"),
    ("confirmation", 403, "irreversible_requires_confirm"),
];

const GRANTED: &[&str] = &["bank.read", "bank.note", "bank.pay"];
const PROVIDER: &str = "models.test";
const SUSPENDED: &str = "suspended.test";
const UNLISTED: &str = "unlisted.test";

on_sqlite! {
    /// AAP-16.2-27, R-28, R-8, C-93
    async fn of_two_faults_the_earlier_check_is_the_refusal_and_nobody_is_asked_in_vain(kit) {
        let scene = scene(kit).await;
        let agents = Agents::of(&scene).await;
        require_good_standing(&scene).await;
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

    /// AAP-16.2-27, R-28, R-8
    async fn the_boundary_of_an_account_comes_after_the_intent_and_before_the_limits(kit) {
        let desk = Desk::open(kit).await;
        let mut sessions = Vec::new();
        for (fault, scopes, writes) in [
            ("scope", ["bank.read", "bank.note"], 1),
            ("limit", ["bank.payees", "bank.note"], 1),
            ("", ["bank.payees", "bank.note"], 2),
        ] {
            let account = desk.grant(|body| {
                body["account_id"] = json!(format!("svc_of_{}", sessions.len()));
                body["granted_scope"]["scopes"] = json!(scopes);
                body["granted_scope"]["resources"] = json!(["payee:p1"]);
                body["usage_limits"] = json!({ "writes_per_session": writes });
            });
            let session = desk.session(&account.await).await;
            desk.scene.sends_raw(session.call("POST", "/notes").json(r#"{"text":"one"}"#)).await.expect(201);
            sessions.push((fault, session));
        }
        let forwarded = desk.scene.bank.got().len();
        for (first, (_, status, code)) in OF_AN_ACCOUNT.iter().enumerate() {
            let wrong: Vec<&str> = OF_AN_ACCOUNT[first..].iter().map(|(fault, ..)| *fault).collect();
            let (_, session) = sessions.iter().find(|(fault, _)| fault.is_empty() || wrong.contains(fault)).unwrap();
            let payee = if wrong.contains(&"boundary") { "p2" } else { "p1" };
            let mut call = session.call("DELETE", &format!("/payees/{payee}"));
            if wrong.contains(&"intent") {
                call = without(call, "x-agent-intent-type").with("x-agent-intent-type", "NOT_LISTED");
            }
            assert_eq!(desk.scene.sends_raw(call).await.refusal(), (*status, (*code).to_owned()), "{wrong:?}");
            let asked = usize::from(wrong == ["confirmation"]);
            assert_eq!(desk.ada.pending_questions(&desk.scene.plane).await, asked, "{wrong:?}");
        }
        assert_eq!(desk.scene.bank.got().len(), forwarded);
    }
}

/// A bank behind a proxy, with operators of each standing.
async fn scene(kit: Kit) -> BankFixture {
    let bank = Bank::open().await;
    let setup = Setup::bank(&bank, with_memos);
    let plane = kit.plane_with(Setup { operators: vec!["acme.test", SUSPENDED, UNLISTED, PROVIDER], ..setup }).await;
    for operator in &plane.operators {
        let mut identity = operator.identity();
        identity["model_providers"] = json!([PROVIDER]);
        operator.publish_identity(&identity);
    }
    let mut scene = BankFixture::on(plane, bank).await;
    let behind_proxy = |settings: &mut countersign_gateway::GatewaySettings| {
        settings.trusted_proxies = vec![Network::parse("127.0.0.1").unwrap()];
    };
    scene.gateway = GatewayListener::of(&scene.plane, behind_proxy).await;
    scene
}

/// From now on the memos need trust tier 4.
async fn require_good_standing(scene: &BankFixture) {
    let operators = json!([
        { "domain": "acme.test", "standing": "good" },
        { "domain": SUSPENDED, "standing": "suspended" },
    ]);
    let published = json!({ "published": "2026-06-01T00:00:00Z", "operators": operators });
    scene.plane.operator(PROVIDER).host.set_document(registry::PATH, published.to_string());
    let mut document = (*scene.plane.at().await.project.document).clone();
    document.trusted_providers = vec![Domain::parse(PROVIDER).unwrap()];
    for route in document.routes.iter_mut().filter(|route| route.path.starts_with("/memos")) {
        route.minimum_tier = Some(4);
    }
    scene.plane.engine.apply_project(document, "test").await.unwrap();
}

fn sent(scene: &BankFixture, agent: &Holder, wrong: &[&str]) -> GatewayRequest {
    let is = |fault: &str| wrong.contains(&fault);
    let path = match (is("route"), is("scope"), is("confirmation")) {
        (true, ..) => "/nowhere",
        (_, true, _) => "/memos/other",
        (_, _, true) => "/memos/held",
        _ => "/memos",
    };
    let target = if is("dry run") { format!("{path}?dry_run=yes") } else { path.to_owned() };
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
    document.token_duration = Some("1h".into());
    (document.credential_ttl, document.max_agent_ttl) = (14_400, 14_400);
    document.concurrent_use = Some(ConcurrentUse::default());
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

/// An agent for every state of things: the fault, its operator, whether its delegation is an hour old, the seconds for which
/// its window is open, and its writes, of which one is used. Each has the faults that come after its own as well.
const AGENTS: [(&str, &str, bool, i64, u8); 8] = [
    ("operator suspended", SUSPENDED, true, 10, 1),
    ("delegation suspended", UNLISTED, true, 10, 1),
    ("delegation revoked", UNLISTED, true, 10, 1),
    ("delegation expired", UNLISTED, true, 10, 1),
    ("window", UNLISTED, false, 10, 1),
    ("tier", UNLISTED, false, 3000, 1),
    ("limit", "acme.test", false, 3000, 1),
    ("", "acme.test", false, 3000, 2),
];

struct Agents(Vec<(&'static str, Holder)>);

impl Agents {
    async fn of(scene: &BankFixture) -> Self {
        let plane = &scene.plane;
        let mut granted = Vec::new();
        for (n, (_, operator, old, ..)) in AGENTS.iter().enumerate() {
            if n > 0 && AGENTS[n - 1].2 != *old {
                plane.advance_secs(3000).await;
            }
            granted.push(plane.connect(&scene.alice, plane.operator(operator), GRANTED).await);
        }
        let mut agents = Vec::new();
        for (n, ((fault, operator, _, open_s, writes), connected)) in AGENTS.iter().zip(&granted).enumerate() {
            let (now, operator) = (plane.now(), plane.operator(operator));
            let mut claims = plane.receipt_claims(operator, "alice", connected, GRANTED);
            claims["session_id"] = json!(format!("sess_{n:032x}{}", connected.delegation_id));
            claims["execution_window"] =
                json!({ "earliest": now.to_rfc3339(), "latest": now.plus_secs(*open_s).to_rfc3339() });
            claims["usage_limits"] = json!({ "writes_per_session": writes });
            let mut body = plane.register_body(operator, connected);
            body["consent_receipt"] = json!(operator.sign_receipt(&claims));
            let agent = plane.holder_with(&body, Some(ProofKey::generate().unwrap()), connected).await;
            scene.sends_raw(sent(scene, &agent, &[])).await.expect(201);
            if matches!(*fault, "operator suspended" | "delegation suspended") {
                let elsewhere = GatewayRequest::new("GET", "/accounts").with("x-forwarded-for", "198.51.100.1");
                let suspended = scene.sends_as(&agent, elsewhere).await;
                assert_eq!(suspended.refusal(), (403, "delegation_suspended".into()));
            }
            if *fault == "delegation revoked" {
                let body = json!({ "delegation_id": connected.delegation_id });
                scene.alice.post(plane, "/agent/revoke", &body).await.expect(200);
            }
            agents.push((*fault, agent));
        }
        plane.advance_secs(905).await;
        Self(agents)
    }

    /// The agent with the first of these faults.
    fn with(&self, wrong: &[&str]) -> &Holder {
        let found = self.0.iter().find(|(fault, _)| fault.is_empty() || wrong.contains(fault));
        found.map(|(_, agent)| agent).expect("one without fault")
    }
}

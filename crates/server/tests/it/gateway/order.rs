//! The order of checks at the gateway (R-28): of several faults of a call, the first is reported, and
//! no person is asked about a call that would not pass.
//!
//! The reference model is a list. A call has some of the faults; the response names the earliest.

use countersign_protocol::project::{ProjectDocument, Route, Scope};
use countersign_testkit::{
    Connected,
    bank::{BankScene, GATEWAY, GatewayRequest, Holder},
    on_sqlite,
};
use serde_json::json;
use std::collections::BTreeSet;

/// The faults of a call, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    NoCredentials,
    Version,
    Route,
    AccessToken,
    Proof,
    Mode,
    Echo,
    Delegation,
    Consent,
    Window,
    Tier,
    Scope,
    Intent,
    DryRun,
    Limit,
    Confirmation,
}

use Wrong::{
    AccessToken, Confirmation, Consent, Delegation, DryRun, Echo, Intent, Limit, Mode, NoCredentials, Proof, Tier,
    Version, Window,
};

/// The faults of the request itself, independent of its sender.
const REQUEST: &[Wrong] =
    &[NoCredentials, Version, Wrong::Route, AccessToken, Proof, Mode, Echo, Consent, Intent, DryRun, Confirmation];

/// The response to the earliest fault; a call without fault is let through.
fn model(wrong: &BTreeSet<Wrong>) -> (u16, &'static str) {
    match wrong.first() {
        None => (201, ""),
        Some(NoCredentials) => (401, "agent_auth_required"),
        Some(Version) => (400, "spec_version_unsupported"),
        Some(Wrong::Route) => (404, "route_not_found"),
        Some(AccessToken) => (401, "access_token_invalid"),
        Some(Proof) => (401, "dpop_invalid"),
        Some(Mode) => (400, "mode_missing"),
        Some(Echo) => (401, "delegation_mismatch"),
        Some(Delegation) => (401, "delegation_revoked"),
        Some(Consent) => (401, "consent_invalid"),
        Some(Window) => (401, "consent_expired"),
        Some(Tier) => (403, "tier_not_met"),
        Some(Wrong::Scope) => (403, "scope_not_granted"),
        Some(Intent) => (400, "intent_type_unknown"),
        Some(DryRun) => (400, "dry_run_unsupported"),
        Some(Limit) => (429, "usage_limit_reached"),
        Some(Confirmation) => (403, "irreversible_requires_confirm"),
    }
}

const GRANTED: &[&str] = &["bank.note", "bank.pay"];

on_sqlite! {
    /// R-28, R-8, C-93
    async fn of_two_faults_the_earlier_check_is_the_refusal_and_nobody_is_asked_in_vain(kit) {
        let scene = kit.bank_with(with_memos).await;
        let agents = Agents::of(&scene).await;
        let all: Vec<Wrong> = REQUEST.iter().copied().chain([Delegation, Window, Wrong::Scope, Limit]).collect();
        for combination in subsets(&all) {
            check(&scene, agents.that_is(&combination), &combination).await;
        }
    }

    /// R-28, C-93
    async fn of_two_faults_without_a_receipt_the_earlier_check_is_the_refusal(kit) {
        let scene = kit.bank_with(with_memos).await;
        scene.plane.advance_secs(700).await;
        let connected = scene.plane.connect(&scene.alice, scene.plane.acme(), GRANTED).await;
        let agent = scene.plane.holder(&connected, |_| {}).await;
        let all: Vec<Wrong> = REQUEST.iter().copied().chain([Tier, Wrong::Scope]).collect();
        for combination in subsets(&all) {
            check(&scene, &agent, &combination).await;
        }
    }
}

async fn check(scene: &BankScene, agent: &Holder, wrong: &BTreeSet<Wrong>) {
    let before = (scene.bank.got().len(), scene.alice.waiting_questions(&scene.plane).await);
    let answer = scene.once(sent(scene, agent, wrong)).await;
    let (status, code) = model(wrong);
    assert_eq!(answer.status, status, "{wrong:?}: {}", answer.text());
    if !code.is_empty() {
        assert_eq!(answer.code(), code, "{wrong:?}");
    }
    let after = (scene.bank.got().len(), scene.alice.waiting_questions(&scene.plane).await);
    let asked = *wrong == BTreeSet::from([Confirmation]);
    assert_eq!(after, (before.0 + usize::from(wrong.is_empty()), before.1 + usize::from(asked)), "{wrong:?}");
}

fn sent(scene: &BankScene, agent: &Holder, wrong: &BTreeSet<Wrong>) -> GatewayRequest {
    let is = |fault: Wrong| wrong.contains(&fault);
    let path = path_of(wrong);
    let target = if is(DryRun) { format!("{path}?dry_run=true") } else { path.to_owned() };
    let proven = if is(Proof) { "/elsewhere" } else { path };
    let proof = agent.proof("POST", &format!("{GATEWAY}{proven}"), scene.plane.now()).expect("a key");
    let token = if is(AccessToken) { "DPoP aat_of_nobody".to_owned() } else { agent.authorization() };
    let intent = if is(Intent) { "NOT_LISTED" } else { "DO_IT" };
    let delegation = if is(Echo) { "del_00000000000000000000000000000000" } else { &agent.delegation_id };
    let given = [
        ("authorization", token.as_str(), !is(NoCredentials)),
        ("aap-version", if is(Version) { "9.9" } else { "2.0" }, true),
        ("dpop", proof.as_str(), true),
        ("x-agent-mode", "user_delegated", !is(Mode)),
        ("x-agent-delegation", delegation, true),
        ("x-agent-session", &agent.session_id, true),
        ("x-agent-consent", "not.the.receipt", is(Consent)),
        ("x-agent-intent-type", intent, true),
    ];
    let body = GatewayRequest::new("POST", &target).json(r#"{"to":"theirs"}"#);
    given.iter().filter(|(_, _, sent)| *sent).fold(body, |sent, (name, value, _)| sent.with(name, value))
}

/// The path of a call with these faults; a route of its own for each.
fn path_of(wrong: &BTreeSet<Wrong>) -> &'static str {
    if wrong.contains(&Wrong::Route) {
        return "/nowhere";
    }
    match (wrong.contains(&Tier), wrong.contains(&Wrong::Scope), wrong.contains(&Confirmation)) {
        (false, false, false) => "/memos",
        (false, false, true) => "/memos/held",
        (false, true, false) => "/memos/other",
        (false, true, true) => "/memos/other/held",
        (true, false, false) => "/memos/high",
        (true, false, true) => "/memos/high/held",
        (true, true, false) => "/memos/high/other",
        (true, true, true) => "/memos/high/other/held",
    }
}

/// A route for each fault that depends on the path.
fn with_memos(document: &mut ProjectDocument) {
    for (scope, allows) in [("bank.memo", "memos.write"), ("bank.other", "memos.other")] {
        let scope: Scope = serde_json::from_value(json!({
            "id": scope, "description": "Memos", "allows": [allows], "intent_types": ["DO_IT"],
        }))
        .unwrap();
        document.scopes.push(scope);
    }
    let note = document.scopes.iter_mut().find(|scope| scope.id == "bank.note").unwrap();
    note.allows.push("memos.write".into());
    note.intent_types.push("DO_IT".into());
    for (high, other, held) in (0..8).map(|n| (n & 4 > 0, n & 2 > 0, n & 1 > 0)) {
        let path = format!(
            "/memos{}{}{}",
            if high { "/high" } else { "" },
            if other { "/other" } else { "" },
            if held { "/held" } else { "" }
        );
        let route: Route = serde_json::from_value(json!({
            "id": format!("memos{high}{other}{held}"), "method": "POST", "path": path,
            "action": if other { "memos.other" } else { "memos.write" },
            "minimum_tier": if high { 3 } else { 2 },
            "requires_confirmation": held, "irreversible": false,
        }))
        .unwrap();
        document.routes.push(route);
    }
}

/// No fault, each alone, every pair, and every suffix of the order.
fn subsets(all: &[Wrong]) -> BTreeSet<BTreeSet<Wrong>> {
    let sorted: BTreeSet<Wrong> = all.iter().copied().collect();
    let all: Vec<Wrong> = sorted.into_iter().collect();
    let mut subsets = BTreeSet::from([BTreeSet::new()]);
    for (n, first) in all.iter().enumerate() {
        subsets.extend(all.iter().map(|second| BTreeSet::from([*first, *second])));
        subsets.insert(all[n..].iter().copied().collect());
    }
    subsets
}

/// Agents with an active or revoked delegation, an open or expired window, and writes left or used up.
struct Agents(Vec<(BTreeSet<Wrong>, Holder)>);

impl Agents {
    async fn of(scene: &BankScene) -> Self {
        let plane = &scene.plane;
        plane.advance_secs(700).await;
        let standing = plane.connect(&scene.alice, plane.acme(), GRANTED).await;
        let revoked = plane.connect(&scene.alice, plane.acme(), GRANTED).await;
        let mut agents = Vec::new();
        for n in 0..8 {
            let (is_revoked, over, used_up) = (n & 4 > 0, n & 2 > 0, n & 1 > 0);
            let faults = [(Delegation, is_revoked), (Window, over), (Limit, used_up)];
            let connected = if is_revoked { &revoked } else { &standing };
            let writes = if used_up { 1 } else { 2 };
            let agent = consented(scene, connected, (n, writes), if over { 10 } else { 3000 }).await;
            if used_up {
                assert_eq!(scene.once(sent(scene, &agent, &BTreeSet::new())).await.status, 201);
            }
            agents.push((faults.iter().filter(|(_, is)| *is).map(|(fault, _)| *fault).collect(), agent));
        }
        let body = json!({ "delegation_id": revoked.delegation_id });
        scene.alice.post(plane, "/agent/revoke", &body).await.expect(200);
        plane.advance_secs(400).await;
        Self(agents)
    }

    fn that_is(&self, wrong: &BTreeSet<Wrong>) -> &Holder {
        let theirs: BTreeSet<Wrong> =
            wrong.iter().copied().filter(|w| [Delegation, Window, Limit].contains(w)).collect();
        self.0.iter().find(|(faults, _)| *faults == theirs).map(|(_, agent)| agent).expect("one for each")
    }
}

/// A session with a receipt for this many writes, in a window of this length.
async fn consented(scene: &BankScene, connected: &Connected, (n, writes): (i32, i32), open_s: i64) -> Holder {
    let (plane, now) = (&scene.plane, scene.plane.now());
    let mut claims = plane.receipt_claims(plane.acme(), "alice", connected, GRANTED);
    claims["session_id"] = json!(format!("sess_{n:032x}{}", connected.delegation_id));
    claims["execution_window"] = json!({ "earliest": now.to_rfc3339(), "latest": now.plus_secs(open_s).to_rfc3339() });
    claims["usage_limits"] = json!({ "writes_per_session": writes });
    plane.holder(connected, |body| body["consent_receipt"] = json!(plane.acme().sign_receipt(&claims))).await
}

//! The order of checks: of several faults, the first is reported.
//!
//! The reference model is a list. A call has some of the faults; the response names the earliest.

use countersign_protocol::project::{ProjectDocument, Route, Scope};
use countersign_testkit::{Altered as _, Plane, Registered, Scene, Setup, on_sqlite};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The faults of a call, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    NoCredentials,
    Version,
    Route,
    AccessToken,
    Mode,
    Echo,
    Delegation,
    Consent,
    Window,
    Tier,
    Scope,
    Intent,
    DryRun,
    Confirmation,
}

use Wrong::{
    AccessToken, Confirmation, Consent, Delegation, DryRun, Echo, Intent, Mode, NoCredentials, Tier, Version, Window,
};

const REQUEST: &[Wrong] = &[NoCredentials, Version, Wrong::Route, AccessToken, Mode, Echo, Consent, Intent, DryRun];

/// The response to the earliest fault; a call without fault is let through.
fn model(wrong: &BTreeSet<Wrong>) -> (u16, Option<&'static str>) {
    let (status, code) = match wrong.first() {
        None => return (201, None),
        Some(NoCredentials) => (401, "agent_auth_required"),
        Some(Version) => (400, "spec_version_unsupported"),
        Some(Wrong::Route) => (404, "route_not_found"),
        Some(AccessToken) => (401, "access_token_invalid"),
        Some(Mode) => (400, "mode_missing"),
        Some(Echo) => (401, "delegation_mismatch"),
        Some(Delegation) => (401, "delegation_revoked"),
        Some(Consent) => (401, "consent_invalid"),
        Some(Window) => (401, "consent_expired"),
        Some(Tier) => (403, "tier_not_met"),
        Some(Wrong::Scope) => (403, "scope_not_granted"),
        Some(Intent) => (400, "intent_type_unknown"),
        Some(DryRun) => (400, "dry_run_unsupported"),
        Some(Confirmation) => (403, "irreversible_requires_confirm"),
    };
    (status, Some(code))
}

on_sqlite! {
    /// R-28, C-93
    async fn of_two_faults_the_earlier_check_is_the_refusal(kit) {
        let setup = Setup { projects: vec![document(2)], ..Setup::default() };
        let scene = kit.scene_with(setup, &["calendar.write", "mail.invite"]).await;
        let agents = Agents::of(&scene).await;
        let all: Vec<Wrong> = REQUEST.iter().copied().chain([Delegation, Window, Wrong::Scope, Confirmation]).collect();
        for combination in subsets(&all) {
            let agent = agents.that_is(&combination);
            let (method, path, intent) = match (combination.contains(&Wrong::Scope), combination.contains(&Confirmation)) {
                (false, false) => (Method::POST, "/calendar/events", "SCHEDULE_EVENT"),
                (false, true) => (Method::POST, "/mail/invitations", "SEND_INVITATION"),
                (true, false) => (Method::DELETE, "/calendar/events/1", "CLEAN_UP"),
                (true, true) => (Method::POST, "/mail/broadcasts", "BROADCAST"),
            };
            check(&scene.plane, agent, method, path, intent, &combination).await;
        }
    }

    /// R-28, C-93
    async fn of_two_faults_at_t1_the_earlier_check_is_the_refusal(kit) {
        let plane = kit.plane_with(Setup { projects: vec![document(1)], ..Setup::default() }).await;
        let operator_jwt = plane.acme().jwt(plane.service(), plane.now());
        let agent = plane.register_with(&json!({ "mode": "user_delegated", "operator_jwt": operator_jwt }), None).await;
        let all: Vec<Wrong> = REQUEST.iter().copied().chain([Tier, Wrong::Scope]).collect();
        for combination in subsets(&all) {
            let (method, path) = match (combination.contains(&Tier), combination.contains(&Wrong::Scope)) {
                (false, false) => (Method::GET, "/clock"),
                (true, false) => (Method::PUT, "/clock"),
                (false, true) => (Method::GET, "/clock/zone"),
                (true, true) => (Method::PUT, "/clock/zone"),
            };
            check(&plane, &agent, method, path, "READ_CLOCK", &combination).await;
        }
    }
}

async fn check(plane: &Plane, agent: &Registered, method: Method, path: &str, intent: &str, wrong: &BTreeSet<Wrong>) {
    let reached = plane.upstream.reached().len();
    let path = if wrong.contains(&Wrong::Route) { "/nowhere" } else { path };
    let path = if wrong.contains(&DryRun) { format!("{path}?dry_run=true") } else { path.to_owned() };
    let reads = method == Method::GET;
    let mut call = agent.request(method, &path, if wrong.contains(&Intent) { "NOT_LISTED" } else { intent });
    for fault in wrong {
        call = match fault {
            NoCredentials => call.without("authorization"),
            Version => call.instead("aap-version", "9.9"),
            // A removed header stays removed.
            AccessToken if !wrong.contains(&NoCredentials) => call.instead("authorization", "Bearer aat_of_nobody"),
            Mode => call.without("x-agent-mode"),
            Echo => call.instead("x-agent-delegation", "del_00000000000000000000000000000000"),
            Consent => call.instead("x-agent-consent", "not.the.receipt"),
            _ => call,
        };
    }
    let answer = plane.try_call(call).await;
    let (status, code) = model(wrong);
    let status = if reads && code.is_none() { 200 } else { status };
    assert_eq!(answer.status, status, "{wrong:?}: {}", answer.text());
    match code {
        Some(code) => assert_eq!(answer.code(), code, "{wrong:?}"),
        None => assert_eq!(answer.json()["from"], "upstream"),
    }
    let forwarded = plane.upstream.reached().len() - reached;
    assert_eq!(forwarded, usize::from(code.is_none()), "{wrong:?}");
}

/// No fault, each alone, every pair, and every suffix of the order.
fn subsets(all: &[Wrong]) -> BTreeSet<BTreeSet<Wrong>> {
    let mut subsets = BTreeSet::from([BTreeSet::new()]);
    for (n, first) in all.iter().enumerate() {
        subsets.extend(all.iter().map(|second| BTreeSet::from([*first, *second])));
        subsets.insert(all[n..].iter().copied().collect());
        subsets.insert(all[..=n].iter().copied().collect());
    }
    subsets
}

/// Agents with an active or revoked delegation, and with an open or expired window.
struct Agents([[Registered; 2]; 2]);

impl Agents {
    async fn of(scene: &Scene) -> Self {
        let revoked = scene.plane.connect(&scene.alice, scene.plane.acme(), &["calendar.write", "mail.invite"]).await;
        let plane = &scene.plane;
        let mut of_revoked = Vec::new();
        let mut of_standing = Vec::new();
        for (n, end) in [(1, 86_400), (2, 10)] {
            for (connected, list) in [(&scene.connected, &mut of_standing), (&revoked, &mut of_revoked)] {
                let mut claims =
                    plane.receipt_claims(plane.acme(), "alice", connected, &["calendar.write", "mail.invite"]);
                claims["session_id"] = json!(format!("sess_{n:032x}{}", connected.delegation_id));
                claims["execution_window"] = window(plane, end);
                let mut body = plane.register_body(plane.acme(), connected);
                body["consent_receipt"] = json!(plane.acme().sign_receipt(&claims));
                list.push(plane.register_with(&body, Some(connected)).await);
            }
        }
        let body = json!({ "delegation_id": revoked.delegation_id });
        scene.alice.post(plane, "/agent/revoke", &body).await.expect(200);
        plane.advance_secs(400).await;
        Self([of_standing.try_into().unwrap(), of_revoked.try_into().unwrap()])
    }

    fn that_is(&self, wrong: &BTreeSet<Wrong>) -> &Registered {
        &self.0[usize::from(wrong.contains(&Delegation))][usize::from(wrong.contains(&Window))]
    }
}

fn window(plane: &Plane, end: i64) -> Value {
    json!({ "earliest": plane.now().to_rfc3339(), "latest": plane.now().plus_secs(end).to_rfc3339() })
}

/// The calendar, with an irreversible action outside every grant and a low-stakes one that is excluded.
fn document(minimum_tier: u8) -> ProjectDocument {
    let mut document = countersign_testkit::calendar("calendar");
    document.minimum_tier = minimum_tier;
    let scopes: Vec<Scope> = serde_json::from_value(json!([
        { "id": "mail.broadcast", "description": "Write to everybody", "allows": ["mail.broadcast"],
          "irreversible": true, "intent_types": ["BROADCAST"] },
        { "id": "clock.zone", "description": "Read the time zone", "allows": ["clock.zone"], "low_stakes": true,
          "intent_types": ["READ_CLOCK"] },
    ]))
    .unwrap();
    document.scopes.extend(scopes);
    let clock = document.scopes.iter_mut().find(|scope| scope.id == "clock.read").unwrap();
    clock.explicitly_excludes.push("clock.zone".into());
    let routes: Vec<Route> = serde_json::from_value(json!([
        { "id": "broadcast", "method": "POST", "path": "/mail/broadcasts", "action": "mail.broadcast" },
        { "id": "zone", "method": "GET", "path": "/clock/zone", "action": "clock.zone" },
        { "id": "set-zone", "method": "PUT", "path": "/clock/zone", "action": "clock.zone" },
    ]))
    .unwrap();
    document.routes.extend(routes);
    document
}

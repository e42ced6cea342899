//! Scenarios for the access decision: few agents, scopes and routes, so that rules interact.

use countersign_core::{
    aap::access::{AccessView, Bearer, Call, CallCredential, DryRun, ProvenProof, Scheme},
    records::{
        AccessToken, Delegation, DelegationState, Project, Receipt, RevokeReason, ScopeExpansion, SeenStanding,
        Session, SessionEnd, SessionState, SuspendReason,
    },
};
use countersign_protocol::{
    aaep::event::Reversibility,
    aap::{
        consent_receipt::UsageLimits,
        manifest::ConformanceTier,
        policy::{EffectivePolicy, PolicySources},
        registry::OperatorStanding,
    },
    domain::Domain,
    facts::VerifiedProof,
    hash::Digest,
    ids::ProjectId,
    project::{
        Confirmed, ConformanceClaim, DpopPolicy, DryRunSpelling, ProjectDocument, Route, RouteDryRun, Scope,
        UpstreamDryRun,
    },
    time::UnixMillis,
};
use proptest::{option, prelude::*, sample::subsequence};
use serde_json::json;
use std::sync::Arc;

pub(crate) const NOW: UnixMillis = UnixMillis(1_800_000_000_000);
pub(crate) const ACTIONS: [&str; 3] = ["thing.look", "thing.make", "thing.send"];
const INTENTS: [&str; 2] = ["LOOK", "MAKE"];
const SCOPES: [&str; 4] = ["one.a", "two.b", "three.c", "four.d"];

/// A call and its view.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) call: Call,
    pub(crate) view: AccessView,
    /// Whether a proof must carry our nonce.
    pub(crate) nonce_demanded: bool,
}

pub(crate) fn worlds() -> impl Strategy<Value = World> {
    (calls(), documents(), option::weighted(0.95, bearers()), possessions(), any::<bool>()).prop_map(
        |(call, document, bearer, (key, scheme, proof), nonce_demanded)| {
            let credential = match call.credential {
                CallCredential::Token { hash, .. } => CallCredential::Token { hash, scheme },
                other => other,
            };
            let jkt = key.map(|key| Digest::of(key.as_bytes()));
            let bearer = bearer.map(|b| Bearer { token: AccessToken { jkt, ..b.token }, ..b });
            // A session without a delegation has none to name.
            let has_one = bearer.as_ref().is_none_or(|bearer| bearer.delegation.is_some());
            let delegation_id = call.delegation_id.filter(|id| has_one || id != "del_mine");
            World {
                call: Call { credential, proof: proof.map(str::to_owned), delegation_id, ..call },
                view: AccessView { project: Arc::new(project(document)), bearer },
                nonce_demanded,
            }
        },
    )
}

/// The bound key of the token, the authorization scheme, and the proof.
type Possession = (Option<&'static str>, Scheme, Option<&'static str>);

/// Mostly an unbound bearer token, or a bound token with a valid proof.
fn possessions() -> impl Strategy<Value = Possession> {
    let key = Some("the key");
    prop_oneof![
        10 => Just((None, Scheme::Bearer, None)),
        20 => Just((key, Scheme::Dpop, Some("good"))),
        1 => Just((None, Scheme::Dpop, Some("good"))),
        1 => Just((key, Scheme::Bearer, Some("good"))),
        1 => Just((key, Scheme::Dpop, None)),
        1 => Just((key, Scheme::Dpop, Some("bad"))),
        1 => Just((key, Scheme::Dpop, Some("of another key"))),
        2 => Just((key, Scheme::Dpop, Some("without a nonce"))),
    ]
}

/// The verification result of each of those proofs.
#[expect(clippy::disallowed_methods, reason = "in these worlds the signatures were checked")]
pub(crate) fn proven(raw: &str) -> Result<ProvenProof, String> {
    let key: &[u8] = if raw == "of another key" { b"another key" } else { b"the key" };
    let proof = VerifiedProof::attest(Digest::of(key), "the jti".into(), NOW, None);
    match raw {
        "bad" => Err("it is bad".into()),
        _ => Ok(ProvenProof { proof, nonce: raw != "without a nonce" }),
    }
}

/// Mostly valid, so that late checks are reached.
fn mostly<T: Clone + std::fmt::Debug + 'static>(right: T, wrong: Vec<T>) -> impl Strategy<Value = T> {
    prop_oneof![12 => Just(right), 1 => proptest::sample::select(wrong)]
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn token(text: &[u8]) -> CallCredential {
    CallCredential::Token { hash: Digest::of(text), scheme: Scheme::Bearer }
}

fn calls() -> impl Strategy<Value = Call> {
    let credential =
        mostly(token(b"the token"), vec![CallCredential::None, CallCredential::Unusable, token(b"another")]);
    let version = mostly(some("2.0"), vec![None, some("9.9"), some("")]);
    let mode = mostly(some("user_delegated"), vec![None, some(""), some("service_account"), some("other")]);
    let delegation_id = prop_oneof![4 => Just(None), 12 => Just(some("del_mine")), 1 => Just(some("del_other"))];
    let session_id = mostly(some("sess_mine"), vec![None, some("sess_other")]);
    let intent =
        prop_oneof![Just(some("LOOK")), Just(some("MAKE")), Just(some("ELSE")), Just(some("free text")), Just(None)];
    let consent = mostly(None, vec![Some(Digest::of(b"receipt")), Some(Digest::of(b"another receipt"))]);
    let method = proptest::sample::select(vec!["GET", "POST"]);
    let path = proptest::sample::select(vec!["/thing.look", "/thing.make", "/thing.send"]);
    let markers = mostly(DryRun::No, vec![DryRun::Requested, DryRun::Requested, DryRun::Unclear("odd")]);
    let path = prop_oneof![12 => path, 1 => Just("/no")];
    (
        credential,
        version,
        mode,
        delegation_id,
        session_id,
        intent,
        consent,
        (method, path),
        (markers, option::of(Just("true".to_owned()))),
    )
        .prop_map(
            |(credential, version, mode, delegation_id, session_id, intent_type, consent, at, (dry_run, confirm))| {
                Call {
                    method: at.0.into(),
                    path: at.1.into(),
                    credential,
                    version,
                    mode,
                    delegation_id,
                    session_id,
                    intent_type,
                    consent,
                    dry_run,
                    confirm,
                    ..Call::default()
                }
            },
        )
}

fn documents() -> impl Strategy<Value = ProjectDocument> {
    let routes = proptest::collection::vec(flags(), 6);
    let tier = mostly(1_u8, vec![2, 2, 3, 4]);
    let claim = mostly(ConformanceTier::Core, vec![ConformanceTier::Extended, ConformanceTier::Full]);
    let tier = (tier, claim, proptest::sample::select(vec!["reject", "notify", "silent"]));
    (tier, any::<bool>(), any::<bool>(), SCOPES.map(scope), routes, proptest::bool::weighted(0.1)).prop_map(
        |((minimum_tier, claim, scope_expansion), intent_required, strict_intent_types, scopes, flags, required)| {
            ProjectDocument {
                minimum_tier,
                conformance: ConformanceClaim { tier: claim, tested: None },
                intent_required,
                strict_intent_types,
                scope_expansion: scope_expansion.into(),
                dpop: DpopPolicy { required, ..DpopPolicy::default() },
                scopes: scopes.into(),
                routes: routes_with(&flags),
                ..document()
            }
        },
    )
}

fn scope(id: &'static str) -> impl Strategy<Value = Scope> {
    let allows = subsequence(ACTIONS.to_vec(), 1..=3);
    let excludes = prop_oneof![5 => Just(vec![]), 1 => subsequence(ACTIONS.to_vec(), 1..=1)];
    let flags = (proptest::bool::weighted(0.2), proptest::bool::weighted(0.2), any::<bool>());
    let confirmation = proptest::sample::select(vec![Confirmed::Decision, Confirmed::SelfAsserted]);
    (allows, excludes, flags, subsequence(INTENTS.to_vec(), 1..=2), confirmation).prop_map(
        move |(allows, excludes, (irreversible, requires_confirmation, low_stakes), intents, confirmation)| Scope {
            id: id.into(),
            description: "words".into(),
            allows: owned(&allows),
            explicitly_excludes: owned(&excludes),
            irreversible,
            requires_confirmation,
            undo_window_s: None,
            intent_types: owned(&intents),
            low_stakes,
            confirmation,
        },
    )
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The optional settings of a route.
#[derive(Clone, Debug)]
struct Flags {
    writes: Option<bool>,
    minimum_tier: Option<u8>,
    irreversible: Option<bool>,
    requires_confirmation: Option<bool>,
    scope: Option<&'static str>,
    intent_types: Vec<&'static str>,
    dry_run: Option<RouteDryRun>,
    /// Other settings that require a person: reversibility, approvers, assurance.
    demands: (Option<Reversibility>, Vec<&'static str>, Option<&'static str>),
}

fn flags() -> impl Strategy<Value = Flags> {
    let held = || mostly(None, vec![Some(true), Some(false)]);
    let tier = mostly(None, vec![Some(1), Some(2), Some(3), Some(4)]);
    let scope = mostly(None, SCOPES.map(Some).to_vec());
    let demands = (
        mostly(None, vec![Some(Reversibility::Irreversible)]),
        mostly(vec![], vec![vec!["role:approver"]]),
        mostly(None, vec![Some("session")]),
    );
    let intents = mostly(vec![], vec![vec!["LOOK"], vec!["MAKE"]]);
    let by_upstream = RouteDryRun::Upstream(UpstreamDryRun { upstream: DryRunSpelling::Header });
    let dry_run = [None, Some(RouteDryRun::Offered(false)), Some(RouteDryRun::Offered(true)), Some(by_upstream)];
    let dry_run = proptest::sample::select(dry_run.to_vec());
    (any::<Option<bool>>(), tier, held(), held(), scope, intents, demands, dry_run).prop_map(
        |(writes, minimum_tier, irreversible, requires_confirmation, scope, intent_types, demands, dry_run)| Flags {
            writes,
            minimum_tier,
            irreversible,
            requires_confirmation,
            scope,
            intent_types,
            dry_run,
            demands,
        },
    )
}

/// GET and POST for each action, at a path of the same name.
fn routes_with(flags: &[Flags]) -> Vec<Route> {
    let named = ACTIONS.iter().flat_map(|action| [("GET", *action), ("POST", *action)]);
    named.zip(flags).map(|((method, action), flags)| route(method, action, flags)).collect()
}

fn route(method: &str, action: &str, flags: &Flags) -> Route {
    Route {
        id: format!("{method} {action}"),
        method: method.into(),
        path: format!("/{action}"),
        action: action.into(),
        writes: flags.writes,
        minimum_tier: flags.minimum_tier,
        irreversible: flags.irreversible,
        requires_confirmation: flags.requires_confirmation,
        scope: flags.scope.map(str::to_owned),
        intent_types: owned(&flags.intent_types),
        dry_run: flags.dry_run.clone(),
        reversibility: flags.demands.0,
        approvers: owned(&flags.demands.1),
        assurance: flags.demands.2.map(str::to_owned),
        ..Route::default()
    }
}

pub(crate) fn document() -> ProjectDocument {
    serde_json::from_value(json!({ "id": "small" })).unwrap()
}

pub(crate) fn project(document: ProjectDocument) -> Project {
    let id = ProjectId::parse("small").unwrap();
    Project { key: 1, version: 3, id, created_at: NOW, changed_at: NOW, document: document.into() }
}

fn bearers() -> impl Strategy<Value = Bearer> {
    let token = (mostly(1_i64, vec![2]), mostly(1_000_i64, vec![0, -1, 1]));
    let state = mostly(
        None,
        vec![Some(SessionEnd::Cancelled), Some(SessionEnd::ReceiptRevoked), Some(SessionEnd::KeyWithdrawn)],
    );
    let key_age = mostly(0_i64, vec![3600, 3601]);
    let receipt = (option::of(receipts()), expansions());
    (token, option::weighted(0.7, delegations()), receipt, state, (key_age, standings())).prop_map(
        |((project, left), delegation, (receipt, expansions), end, (key_age, standing))| {
            let token = AccessToken {
                key: 30,
                version: 1,
                project,
                hash: Digest::of(b"the token"),
                session: 20,
                mode: Default::default(),
                expires_at: NOW.plus_millis(left),
                jkt: None,
            };
            let state = end.map_or(SessionState::Open, |why| SessionState::Closed { at: NOW, why });
            let session = Session {
                state,
                receipt,
                expansions,
                standing,
                key_seen_at: NOW.plus_secs(-key_age),
                ..session(delegation.as_ref())
            };
            Bearer { token, session, delegation }
        },
    )
}

/// Mostly good and recent.
fn standings() -> impl Strategy<Value = Option<SeenStanding>> {
    let standing = mostly(
        Some(OperatorStanding::Good),
        vec![None, Some(OperatorStanding::Suspended), Some(OperatorStanding::Revoked)],
    );
    let age = mostly(0_i64, vec![3600, 3601]);
    let seen = (standing, age).prop_map(|(standing, age)| SeenStanding {
        standing,
        providers: Vec::new(),
        seen_at: NOW.plus_secs(-age),
    });
    option::weighted(0.9, seen)
}

fn session(delegation: Option<&Delegation>) -> Session {
    Session {
        key: 20,
        version: 7,
        project: 1,
        operator: Domain::parse("acme.test").unwrap(),
        session_id: "sess_mine".into(),
        modes_fixed: false,
        former: Vec::new(),
        user_delegated: true,
        service_account: None,
        delegation: delegation.map(|d| d.key),
        subject: delegation.map(|d| d.subject.clone()),
        receipt: None,
        expansions: Vec::new(),
        earlier_receipts: Vec::new(),
        operator_kid: "key-1".into(),
        key_seen_at: NOW,
        standing: None,
        opened_at: NOW,
        state: SessionState::Open,
        jkt: None,
        tokens: vec![30],
    }
}

fn delegations() -> impl Strategy<Value = Delegation> {
    let revoked = mostly(None, vec![Some(RevokeReason::ManualRevoke), Some(RevokeReason::TaskComplete)]);
    let ends = (mostly(1000_i64, vec![-301, -300, 0]), mostly(1000_i64, vec![-1, 0, 1]));
    let suspended = mostly(None, vec![Some(SuspendReason::ConcurrentUse)]);
    (subsequence(SCOPES.to_vec(), 0..=4), revoked, suspended, ends).prop_map(
        |(scopes, revoked, suspended, (token, policy))| Delegation {
            scopes: owned(&scopes),
            state: match (suspended, revoked) {
                (Some(why), _) => DelegationState::Suspended { at: NOW, why },
                (None, Some(reason)) => DelegationState::Revoked { at: NOW, reason },
                (None, None) => DelegationState::Active,
            },
            ..delegation(NOW.plus_secs(token), NOW.plus_secs(policy))
        },
    )
}

pub(crate) fn delegation(token_expires_at: UnixMillis, policy_expires_at: UnixMillis) -> Delegation {
    Delegation {
        key: 10,
        version: 5,
        project: 1,
        id: "del_mine".into(),
        person: 2,
        subject: "alice".into(),
        service_account: None,
        operator: Domain::parse("acme.test").unwrap(),
        operator_name: "Acme".into(),
        scopes: vec![],
        max_agent_ttl: 3600,
        granted_at: NOW,
        token_expires_at,
        policy_expires_at,
        idle_check_at: None,
        policy: EffectivePolicy::default(),
        policy_sources: PolicySources::default(),
        shown: Digest::of(b"shown"),
        language: "en".into(),
        state: DelegationState::Active,
    }
}

/// Approved by a person, or silent.
fn expansions() -> impl Strategy<Value = Vec<ScopeExpansion>> {
    let expansion = |scope: &str, silent: bool| ScopeExpansion {
        scope: scope.to_owned(),
        at: NOW,
        decision_id: (!silent).then(|| "dec_1".into()),
    };
    let some = (subsequence(SCOPES.to_vec(), 1..=2), any::<bool>());
    let some = some.prop_map(move |(scopes, silent)| scopes.iter().map(|scope| expansion(scope, silent)).collect());
    prop_oneof![3 => Just(Vec::new()), 1 => some]
}

fn receipts() -> impl Strategy<Value = Receipt> {
    let window = mostly(None, vec![Some((-10_i64, 10_i64)), Some((301, 400)), Some((-400, -301)), Some((300, 400))]);
    let end = mostly(1000_i64, vec![-301, -300]);
    (subsequence(SCOPES.to_vec(), 1..=4), window, end).prop_map(|(scopes, window, end)| Receipt {
        sha256: Digest::of(b"receipt"),
        said: Digest::of(b"said"),
        scopes: owned(&scopes),
        issued_at: NOW.plus_secs(-500),
        expires_at: NOW.plus_secs(end),
        window: window.map(|(from, to)| (NOW.plus_secs(from), NOW.plus_secs(to))),
        limits: UsageLimits::default(),
        heartbeat_s: None,
    })
}

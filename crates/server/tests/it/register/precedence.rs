//! Of several faults, the first in a fixed order is reported (C-93).

use super::support::{Ready, SQLITE, claims_of, tampered, told, with};
use axum::body::Body;
use countersign_engine::store::{self, SessionById};
use countersign_jose::ProofKey;
use countersign_protocol::{aap::registry, domain::Domain};
use countersign_testkit::{Answer, Connected, Plane, Setup, TestOperator, TestPerson, agent_request};
use http::{HeaderValue, Method};
use serde_json::{Value, json};

/// Every fault in the order of the checks.
const ORDER: &[(&str, u16, &str)] = &[
    ("version", 400, "spec_version_unsupported"),
    ("schema", 400, "invalid_request"),
    ("no operator", 400, "invalid_request"),
    ("mode", 400, "mode_not_supported"),
    ("two proofs", 401, "dpop_invalid"),
    ("no proof", 401, "dpop_missing"),
    ("proof", 401, "dpop_invalid"),
    ("operator unknown", 401, "operator_not_found"),
    ("operator key unknown", 401, "operator_not_found"),
    ("operator signature", 401, "operator_jwt_invalid"),
    ("operator expired", 401, "operator_jwt_expired"),
    ("operator audience", 401, "operator_jwt_invalid"),
    ("operator suspended", 403, "operator_suspended"),
    ("delegation signature", 401, "delegation_invalid"),
    ("delegation unknown", 401, "delegation_not_found"),
    ("delegation revoked", 401, "delegation_revoked"),
    ("delegation expired", 401, "delegation_expired"),
    ("delegation of another", 401, "delegation_mismatch"),
    ("no consent", 401, "consent_missing"),
    ("consent signature", 401, "consent_invalid"),
    ("consent audience", 403, "consent_service_mismatch"),
    ("consent expired", 401, "consent_expired"),
    ("consent window", 401, "consent_expired"),
    ("tier", 403, "tier_not_met"),
    ("consent scope", 403, "scope_not_granted"),
];

/// Publishes the registry of operators that the service trusts.
const PROVIDER: &str = "models.test";
const SUSPENDED: &str = "suspended.test";
const UNLISTED: &str = "unlisted.test";
const SCOPES: &[&str] = &["calendar.read", "calendar.write"];

/// A service of trust tier 4, which needs every anchor of a registration.
struct World {
    plane: Plane,
    alice: TestPerson,
    /// A delegation to each operator, and two to acme that ended.
    connected: Vec<(&'static str, Connected)>,
    revoked: Connected,
    expired: Connected,
}

impl World {
    async fn start() -> Self {
        let mut setup = Setup::with_project(|project| {
            project.token_duration = Some("1h".into());
            project.dpop.nonce_at_register = false;
        });
        setup.operators = vec!["acme.test", SUSPENDED, UNLISTED, PROVIDER];
        let plane = SQLITE.plane_with(setup).await;
        for operator in &plane.operators {
            operator.publish_identity(&with(operator.identity(), "model_providers", json!([PROVIDER])));
        }
        let alice = plane.person("alice").await;
        let give = async |plane: &Plane, to: &str| plane.connect(&alice, plane.operator(to), SCOPES).await;
        let (revoked, expired) = (give(&plane, "acme.test").await, give(&plane, "acme.test").await);
        alice.post(&plane, "/agent/revoke", &json!({ "delegation_id": revoked.delegation_id })).await.expect(200);
        plane.advance_secs(3901).await;
        let mut connected = Vec::new();
        for operator in ["acme.test", SUSPENDED, UNLISTED] {
            connected.push((operator, give(&plane, operator).await));
        }
        require_good_standing(&plane).await;
        Self { plane, alice, connected, revoked, expired }
    }

    /// Sends a request with these faults.
    async fn send(&self, faults: &[&str]) -> Answer {
        let has = |fault: &str| faults.contains(&fault);
        let mut body = json!({
            "mode": if has("mode") { "robot" } else { "user_delegated" },
            "operator_jwt": self.operator_jwt(&has),
            "delegation_token": self.delegation_token(&has).await,
            "consent_receipt": self.receipt(&has),
        });
        if has("delegation of another") {
            body["acting_for"] = json!("bob");
        }
        if has("schema") {
            body["acting_for"] = json!(7);
        }
        let left_out =
            [("no operator", "operator_jwt"), ("no delegation", "delegation_token"), ("no consent", "consent_receipt")];
        for (_, member) in left_out.iter().filter(|(fault, _)| has(fault)) {
            body = with(body, member, Value::Null);
        }
        let mut request = agent_request(Method::POST, "/agent/register").body(Body::from(body.to_string())).unwrap();
        for proof in self.proofs(&has) {
            request.headers_mut().append("dpop", proof.parse().unwrap());
        }
        if has("version") {
            request.headers_mut().insert("aap-version", HeaderValue::from_static("9.9"));
        }
        self.plane.send(request).await
    }

    fn operator(&self, has: &dyn Fn(&str) -> bool) -> &TestOperator {
        let domain = match () {
            () if has("operator suspended") => SUSPENDED,
            () if has("tier") => UNLISTED,
            () => "acme.test",
        };
        self.plane.operator(domain)
    }

    fn connected(&self, has: &dyn Fn(&str) -> bool) -> &Connected {
        let operator = self.operator(has).domain();
        &self.connected.iter().find(|(to, _)| *to == operator).unwrap().1
    }

    fn proofs(&self, has: &dyn Fn(&str) -> bool) -> Vec<String> {
        let url = format!("{}/agent/{}", self.plane.service(), if has("proof") { "revoke" } else { "register" });
        let proof = || ProofKey::generate().unwrap().proof("POST", &url, None, None, "once", self.plane.now()).unwrap();
        match () {
            () if has("two proofs") => vec![proof(), proof()],
            () if has("no proof") => Vec::new(),
            () => vec![proof()],
        }
    }

    fn operator_jwt(&self, has: &dyn Fn(&str) -> bool) -> String {
        let operator = self.operator(has);
        let now = self.plane.now().secs();
        let mut claims = operator.claims(self.plane.service(), self.plane.now());
        if has("operator audience") {
            claims["aud"] = json!("https://elsewhere.test");
        }
        if has("operator expired") {
            (claims["iat"], claims["exp"]) = (json!(now - 900), json!(now - 600));
        }
        if has("operator unknown") {
            claims["iss"] = json!("nobody.test");
        }
        let kid = if has("operator key unknown") { "key-9" } else { "key-1" };
        let header = json!({ "alg": "ES256", "kid": kid, "typ": "JWT" });
        let jwt = operator.key.sign_with_header(&header, &claims).unwrap();
        if has("operator signature") { tampered(&jwt) } else { jwt }
    }

    async fn delegation_token(&self, has: &dyn Fn(&str) -> bool) -> String {
        let connected = match () {
            () if has("delegation revoked") => &self.revoked,
            () if has("delegation expired") => &self.expired,
            () => self.connected(has),
        };
        let claims = claims_of(&connected.delegation_token);
        let token = match has("delegation unknown") {
            true => self.plane.sign_delegation(&with(claims, "delegation_id", json!("del_0123456789"))).await,
            false => connected.delegation_token.clone(),
        };
        if has("delegation signature") { tampered(&token) } else { token }
    }

    fn receipt(&self, has: &dyn Fn(&str) -> bool) -> String {
        let (now, operator) = (self.plane.now(), self.operator(has));
        let scopes = if has("consent scope") { &["calendar.admin"] } else { SCOPES };
        let mut claims = self.plane.receipt_claims(operator, "alice", self.connected(has), scopes);
        if has("consent window") {
            let at = |secs| now.plus_secs(secs).to_rfc3339();
            claims["execution_window"] = json!({ "earliest": at(900), "latest": at(1800) });
        }
        if has("consent expired") {
            (claims["iat"], claims["exp"]) = (json!(now.secs() - 900), json!(now.secs() - 600));
        }
        if has("consent audience") {
            claims["aud"] = json!("https://elsewhere.test");
        }
        let receipt = operator.sign_receipt(&claims);
        if has("consent signature") { tampered(&receipt) } else { receipt }
    }

    /// Whether an operator has a session under the id that every receipt names.
    async fn has_session(&self, operator: &str) -> bool {
        let claims = self.plane.receipt_claims(self.plane.acme(), "alice", &self.connected[0].1, SCOPES);
        let (project, operator) = (self.plane.at().await.project.key, operator.to_owned());
        let session_id = claims["session_id"].as_str().unwrap().to_owned();
        let look = SessionById { project, operator, session_id };
        store::find_one(&**self.plane.engine.store(), look).await.unwrap().is_some()
    }
}

async fn require_good_standing(plane: &Plane) {
    let operators = json!([
        { "domain": "acme.test", "standing": "good" },
        { "domain": SUSPENDED, "standing": "suspended" },
    ]);
    let registry = json!({ "published": "2026-06-01T00:00:00Z", "operators": operators });
    plane.operator(PROVIDER).host.set_document(registry::PATH, registry.to_string());
    let mut document = (*plane.at().await.project.document).clone();
    document.minimum_tier = 4;
    document.trusted_providers = vec![Domain::parse(PROVIDER).unwrap()];
    plane.engine.apply_project(document, "test").await.unwrap();
}

/// C-93, AAP-16.2-24, AAP-16.2-26: of two neighbouring faults, and of one and all those after it.
#[tokio::test]
async fn the_first_fault_in_the_fixed_order_is_the_refusal() {
    let world = World::start().await;
    let faults: Vec<&str> = ORDER.iter().map(|(fault, ..)| *fault).collect();
    for (first, (fault, status, code)) in ORDER.iter().enumerate() {
        for wrong in [&faults[first..=(first + 1).min(faults.len() - 1)], &faults[first..]] {
            let answer = world.send(wrong).await;
            assert_eq!(answer.refusal(), told(*status, code), "{fault} of {wrong:?}: {}", answer.text());
        }
    }
    world.send(&[]).await.expect(200);
}

/// AAP-G-56: the proofs of operator, key, standing, delegation and consent, each of them failed or left out.
#[tokio::test]
async fn any_single_failed_anchor_issues_no_token_and_leaves_no_session() {
    let world = World::start().await;
    let before = sessions_started(&world).await;
    let anchors = ORDER.iter().map(|(fault, status, code)| (*fault, *status, *code));
    for (fault, status, code) in anchors.chain([("no delegation", 403, "tier_not_met")]) {
        let answer = world.send(&[fault]).await;
        assert_eq!(answer.refusal(), told(status, code), "{fault}");
        assert!(!answer.text().contains("aat_"), "{fault}: {}", answer.text());
        for operator in ["acme.test", SUSPENDED, UNLISTED, "nobody.test"] {
            assert!(!world.has_session(operator).await, "{fault}: a session of {operator}");
        }
    }
    assert_eq!(sessions_started(&world).await, before);
    assert!(world.send(&[]).await.expect(200).text().contains("aat_"));
    assert!(world.has_session("acme.test").await && sessions_started(&world).await == before + 1);
}

/// The number of sessions in the audits of all delegations.
async fn sessions_started(world: &World) -> u64 {
    let mut started = 0;
    let ended = [&world.revoked, &world.expired];
    for connected in world.connected.iter().map(|(_, connected)| connected).chain(ended) {
        let query = format!("/agent/audit?delegation_id={}&event_type=session_started", connected.delegation_id);
        let page = world.alice.get(&world.plane, &query).await.expect(200).json();
        started += page["total_count"].as_u64().unwrap();
    }
    started
}

/// The tier is checked after the receipt and before the scopes: without a delegation there are none.
#[tokio::test]
async fn the_tier_comes_after_consent() {
    let ready = Ready::on(SQLITE).await;
    let alone = with(ready.body(), "delegation_token", Value::Null);
    assert_eq!(ready.refusal(&alone).await, told(403, "tier_not_met"));
    let receipt = ready.plane.acme().sign_receipt(&with(ready.receipt(), "scopes", json!(["calendar.admin"])));
    let with_receipt = |receipt: &str| with(alone.clone(), "consent_receipt", json!(receipt));
    assert_eq!(ready.refusal(&with_receipt(&tampered(&receipt))).await, told(401, "consent_invalid"));
    assert_eq!(ready.refusal(&with_receipt(&receipt)).await, told(403, "tier_not_met"));
    let world = World::start().await;
    let neither = world.send(&["no delegation", "no consent"]).await;
    assert_eq!(neither.refusal(), told(401, "consent_missing"));
}

#[tokio::test]
async fn an_unreadable_body_is_refused_after_the_version_only() {
    let ready = Ready::on(SQLITE).await;
    for (version, code) in [("9.9", "spec_version_unsupported"), ("2.0", "invalid_request")] {
        let request = agent_request(Method::POST, "/agent/register").body(Body::from("{\"mode\":")).unwrap();
        let mut request = request;
        request.headers_mut().insert("aap-version", HeaderValue::from_static(version));
        assert_eq!(ready.plane.send(request).await.refusal(), told(400, code));
    }
}

//! Of several faults, the first in a fixed order is reported (C-93).

use super::support::{Ready, SQLITE, claims_of, tampered, told, with};
use axum::body::Body;
use countersign_testkit::{Answer, Connected, Plane, Setup, agent_request};
use http::{HeaderValue, Method};
use serde_json::{Value, json};

/// Every fault in the order of the checks. A request has the faults from one on to the end.
const ORDER: &[(&str, u16, &str)] = &[
    ("version", 400, "spec_version_unsupported"),
    ("schema", 400, "invalid_request"),
    ("mode", 400, "mode_not_supported"),
    ("operator unknown", 401, "operator_not_found"),
    ("operator key unknown", 401, "operator_not_found"),
    ("operator signature", 401, "operator_jwt_invalid"),
    ("operator expired", 401, "operator_jwt_expired"),
    ("operator audience", 401, "operator_jwt_invalid"),
    ("delegation signature", 401, "delegation_invalid"),
    ("delegation unknown", 401, "delegation_not_found"),
    ("delegation revoked", 401, "delegation_revoked"),
    ("delegation expired", 401, "delegation_expired"),
    ("delegation of another", 401, "delegation_mismatch"),
    ("consent signature", 401, "consent_invalid"),
    ("consent audience", 403, "consent_service_mismatch"),
    ("consent expired", 401, "consent_expired"),
    ("consent window", 401, "consent_expired"),
    ("consent scope", 403, "scope_not_granted"),
];

struct World {
    ready: Ready,
    revoked: Connected,
    expired: Connected,
    of_another: Connected,
}

impl World {
    async fn start() -> Self {
        let mut setup = Setup::with_project(|p| p.token_duration = Some("1h".into()));
        setup.operators = vec!["acme.test", "other.test"];
        let plane = SQLITE.plane_with(setup).await;
        let bob = plane.person("bob").await;
        let give = async |plane: &Plane| plane.connect(&bob, plane.operator("other.test"), &["calendar.read"]).await;
        let (revoked, expired) = (give(&plane).await, give(&plane).await);
        bob.post(&plane, "/agent/revoke", &json!({ "delegation_id": revoked.delegation_id })).await.expect(200);
        plane.advance_secs(3901).await;
        let of_another = give(&plane).await;
        Self { ready: Ready::at(plane).await, revoked, expired, of_another }
    }

    /// Sends a request with the faults from `first` on.
    async fn send(&self, first: usize) -> Answer {
        let has = |fault: &str| ORDER.iter().position(|(name, ..)| *name == fault).unwrap() >= first;
        let mut body = json!({
            "mode": if has("mode") { "robot" } else { "user_delegated" },
            "operator_jwt": self.operator_jwt(&has),
            "delegation_token": self.delegation_token(&has).await,
            "consent_receipt": self.receipt(&has),
        });
        if has("schema") {
            body["acting_for"] = json!(7);
        }
        let mut request = agent_request(Method::POST, "/agent/register").body(Body::from(body.to_string())).unwrap();
        if has("version") {
            request.headers_mut().insert("aap-version", HeaderValue::from_static("9.9"));
        }
        self.ready.plane.send(request).await
    }

    fn operator_jwt(&self, has: &dyn Fn(&str) -> bool) -> String {
        let mut claims = self.ready.operator_claims();
        let now = self.ready.plane.now().secs();
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
        let jwt = self.ready.plane.acme().key.sign_with_header(&header, &claims).unwrap();
        if has("operator signature") { tampered(&jwt) } else { jwt }
    }

    async fn delegation_token(&self, has: &dyn Fn(&str) -> bool) -> String {
        let connected = match () {
            () if has("delegation revoked") => &self.revoked,
            () if has("delegation expired") => &self.expired,
            () if has("delegation of another") => &self.of_another,
            () => &self.ready.connected,
        };
        let token = connected.delegation_token.clone();
        if !has("delegation unknown") {
            return token;
        }
        let claims = with(claims_of(&token), "delegation_id", json!("del_0123456789"));
        let unknown = self.ready.plane.sign_delegation(&claims).await;
        if has("delegation signature") { tampered(&unknown) } else { unknown }
    }

    fn receipt(&self, has: &dyn Fn(&str) -> bool) -> String {
        let now = self.ready.plane.now();
        let mut claims = self.ready.receipt();
        if has("consent scope") {
            claims["scopes"] = json!(["calendar.admin"]);
        }
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
        let receipt = self.ready.plane.acme().sign_receipt(&claims);
        if has("consent signature") { tampered(&receipt) } else { receipt }
    }
}

/// C-93, AAP-16.2-24
#[tokio::test]
async fn the_first_fault_in_the_fixed_order_is_the_refusal() {
    let world = World::start().await;
    for (first, (fault, status, code)) in ORDER.iter().enumerate() {
        let answer = world.send(first).await;
        assert_eq!(answer.refusal(), told(*status, code), "{fault}: {}", answer.text());
    }
    world.send(ORDER.len()).await.expect(200);
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

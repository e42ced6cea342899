//! The whole flow once, with a secret or a free text in every member that takes one. The values that must not be found
//! afterwards are collected on the way.

use super::{add, new_key, project};
use axum::body::Body;
use countersign_engine::{
    Address, ApiKeyKind, Role,
    store::{self, SecretByName, SigningKeys},
};
use countersign_jose::Sealer;
use countersign_testkit::{PASSWORD, Plane, TestPerson, agent_request};
use http::{Method, header};
use serde_json::json;

const GUESS: &str = "a wrong guess of the password";
const NEW_PASSWORD: &str = "the password after the old one";
const VERIFIER: &str = "a-code-verifier-of-the-test-that-is-long-enough-0123456789";

/// The collected values, by their kind.
#[derive(Default)]
pub(super) struct Told {
    /// Each of these lets its holder act.
    pub(super) secrets: Vec<(&'static str, Vec<u8>)>,
    /// Values that open a page for a signed-in person: stored, but not for readers of the log.
    pub(super) unlogged: Vec<(&'static str, String)>,
    /// Free text about an intent (AAP 12.4).
    pub(super) intents: Vec<(&'static str, String)>,
    /// Values that are rightly stored, to show that the search finds them.
    pub(super) kept: Vec<(&'static str, String)>,
}

impl Told {
    fn secret(&mut self, what: &'static str, secret: impl AsRef<[u8]>) {
        self.secrets.push((what, secret.as_ref().to_vec()));
    }

    fn person(&mut self, person: &TestPerson) {
        let (_, value) = person.cookie.split_once('=').unwrap();
        self.secret("a cookie", value.strip_prefix("web_").unwrap());
        self.secret("a CSRF token", &person.csrf);
    }

    /// The signature of a JWT: its header and claims alone grant nothing, but no signature may be stored.
    fn jwt(&mut self, what: &'static str, jwt: &str) {
        self.secret(what, jwt);
        self.secret(what, jwt.rsplit('.').next().unwrap());
    }
}

/// Connect, register with a receipt, call, be refused, revoke, use keys, fail to sign in, rotate.
pub(super) async fn run(plane: &Plane) -> Told {
    let mut told = Told::default();
    told.secret("the password", PASSWORD);
    let alice = plane.person_in("calendar", "alice-who-is-kept", &[Role::User]).await;
    told.person(&alice);
    told.kept.push(("a person's name", alice.name.clone()));
    sign_ins(plane, &mut told).await;
    let delegation_id = agent(plane, &alice, &mut told).await;
    keys(plane, &delegation_id, &mut told).await;
    own_keys(plane, &mut told).await;
    plane.engine.run_maintenance().await.unwrap();
    told
}

async fn sign_ins(plane: &Plane, told: &mut Told) {
    plane.account("root").await;
    told.secret("a guess", GUESS);
    told.secret("another password", NEW_PASSWORD);
    let guess = plane.post("/session", &json!({ "name": "root", "password": GUESS })).await;
    assert_eq!(guess.status, 401);
    // People type their password into the wrong field.
    let swapped = plane.post("/session", &json!({ "name": NEW_PASSWORD, "password": "root-account" })).await;
    assert_eq!(swapped.status, 401);
    let root = TestPerson::sign_in(plane, "root").await;
    told.person(&root);
    let fresh = root.post(plane, "/session/fresh", &json!({ "password": PASSWORD })).await.expect(200);
    let value = fresh.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    told.secret("a cookie", value.split_once("=web_").unwrap().1);
    plane.engine.people().set_password("root", NEW_PASSWORD).await.unwrap();
    let stale = root.post(plane, "/agent/revoke", &json!({ "delegation_id": "del_0000000000" })).await;
    assert_eq!(stale.status, 401);
}

/// The agent's part, with free text in every place that takes it; returns the delegation's id.
async fn agent(plane: &Plane, alice: &TestPerson, told: &mut Told) -> String {
    let acme = plane.acme();
    told.secret("a code verifier", VERIFIER);
    told.jwt("an operator JWT", &acme.jwt(plane.service(), plane.now()));
    let mut asked = plane.connect_body(acme, &["calendar.read", "calendar.write"]);
    asked["callback"] = json!(acme.callback());
    let asked = plane.post("/agent/delegate/requests", &asked).await.expect(201).json();
    let page = format!("/connect/{}", asked["request_id"].as_str().unwrap());
    alice.get(plane, &page).await.expect(200);
    told.unlogged.push(("a connect request's id", page["/connect/creq_".len()..].to_owned()));
    let granted = plane.approve_at("", alice, asked["request_id"].as_str().unwrap()).await;
    let code = granted["code"].as_str().unwrap();
    told.secret("a code", code.strip_prefix("code_").unwrap());
    told.jwt("a delegation token", granted["delegation_token"].as_str().unwrap());
    let exchanged = plane.post("/agent/delegate/token", &plane.exchange_body(acme, code)).await.expect(200).json();
    told.jwt("a delegation token", exchanged["delegation_token"].as_str().unwrap());
    let connected = countersign_testkit::Connected {
        delegation_id: exchanged["delegation_id"].as_str().unwrap().to_owned(),
        delegation_token: exchanged["delegation_token"].as_str().unwrap().to_owned(),
    };
    told.kept.push(("a delegation's id", connected.delegation_id.clone()));
    let agent = registered(plane, &alice.name, &connected, told).await;
    calls(plane, &agent, told).await;
    let cancel = json!({ "operator_jwt": acme.jwt(plane.service(), plane.now()), "session_id": agent.session_id });
    assert!(plane.post("/agent/cancel", &cancel).await.status < 500);
    connected.delegation_id
}

async fn registered(
    plane: &Plane,
    person: &str,
    connected: &countersign_testkit::Connected,
    told: &mut Told,
) -> countersign_testkit::Registered {
    let acme = plane.acme();
    // The maximal length of an intent.
    let receipts = format!("RECEIPT-INTENT book the clinic for my biopsy {}", "on Tuesday ".repeat(42));
    let receipts: String = receipts.chars().take(500).collect();
    assert_eq!(receipts.chars().count(), 500);
    told.intents.push(("the receipt's intent", "RECEIPT-INTENT book the clinic".into()));
    told.intents.push(("the register body's intent", "BODY-INTENT find me a lawyer".into()));
    let mut claims = plane.receipt_claims(acme, person, connected, &["calendar.read", "calendar.write"]);
    claims["intent"] = json!(receipts);
    let receipt = acme.sign_receipt(&claims);
    told.jwt("a consent receipt", &receipt);
    let mut body = plane.register_body(acme, connected);
    body["consent_receipt"] = json!(receipt);
    body["intent"] = json!("BODY-INTENT find me a lawyer");
    let agent = plane.register_with(&body, Some(connected)).await;
    told.secret("an access token", &agent.access_token);
    claims["intent"] = json!(format!("{receipts}."));
    for refused in [format!("{receipt}x"), acme.sign_receipt(&claims)] {
        body["consent_receipt"] = json!(refused);
        let answer = plane.post("/agent/register", &body).await;
        assert_eq!(answer.refusal(), (401, "consent_invalid".into()));
    }
    agent
}

async fn calls(plane: &Plane, agent: &countersign_testkit::Registered, told: &mut Told) {
    let marker = "HEADER-INTENT she wants to leave her husband";
    told.intents.push(("the header's intent", marker.into()));
    let calls = [
        (Method::GET, "/calendar/events", 200),
        (Method::POST, "/calendar/events", 201),
        (Method::DELETE, "/calendar/events/1", 403),
        (Method::GET, "/no/such/route", 404),
    ];
    for (method, path, status) in calls {
        let request = agent.request(method, path, "SCHEDULE_EVENT").header("x-agent-intent", marker);
        let answer = countersign_testkit::send_to(&plane.api(), request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(!answer.text().contains("HEADER-INTENT"));
    }
    // An intent type that is a free text.
    let request = agent.request(Method::GET, "/calendar/events", "TYPE-INTENT my test results please");
    told.intents.push(("the intent type's text", "TYPE-INTENT my test results please".into()));
    let answer = countersign_testkit::send_to(&plane.api(), request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    for reached in plane.upstream.reached() {
        assert!(!format!("{:?}", reached.headers).contains("INTENT she"), "free text goes nowhere");
        assert!(!format!("{:?}", reached.headers).contains(&agent.access_token));
    }
    let mut stranger = agent.clone();
    stranger.access_token = "an-access-token-that-nobody-was-ever-given".into();
    told.secret("a token of nobody", &stranger.access_token);
    plane.call(&stranger, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(401);
}

async fn keys(plane: &Plane, delegation_id: &str, told: &mut Told) {
    let admin = add(plane, ApiKeyKind::Admin).await;
    let gone = add(plane, ApiKeyKind::Agent).await;
    let project = project(plane, Address::Unscoped).await;
    plane.engine.people().revoke_key(&project, &gone.key.id).await.unwrap();
    told.kept.push(("a key's id", admin.key.id.clone()));
    told.kept.push(("a principal", new_key(ApiKeyKind::Admin).principal));
    for (key, status) in [(&admin.secret, 200), (&gone.secret, 403)] {
        told.secret("an API key", key.strip_prefix("csk_").unwrap());
        let request = agent_request(Method::GET, &format!("/agent/audit?delegation_id={delegation_id}"));
        let request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        assert_eq!(plane.send(request.body(Body::empty()).unwrap()).await.status, status);
        let body = json!({ "delegation_id": delegation_id, "reason": "admin_requested" });
        let request =
            agent_request(Method::POST, "/agent/revoke").header(header::AUTHORIZATION, format!("Bearer {key}"));
        assert_eq!(plane.send(request.body(Body::from(body.to_string())).unwrap()).await.status, status);
    }
}

/// The service's own private keys, opened with the key-encryption key.
async fn own_keys(plane: &Plane, told: &mut Told) {
    plane.engine.rotate_keys().await.unwrap();
    let sealer = Sealer::new(&[7; 32]).unwrap();
    let rows = store::find_all(&**plane.engine.store(), SigningKeys).await.unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let pkcs8 = sealer.open(&format!("signing-key:{}", row.kid), &row.sealed).unwrap();
        told.kept.push(("a public key's name", row.kid));
        told.secret("a private key", &*pkcs8);
        let scalar = pkcs8.windows(2).position(|pair| pair == [0x04, 0x20]).unwrap() + 2;
        told.secret("a private key's number", &pkcs8[scalar..scalar + 32]);
    }
    let secret = store::find_one(&**plane.engine.store(), SecretByName("mac".into())).await.unwrap().unwrap();
    told.secret("the MAC key", &*sealer.open("secret:mac", &secret.sealed).unwrap());
    told.secret("the key-encryption key", [7; 32]);
}

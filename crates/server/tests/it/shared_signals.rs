//! `POST /ssf/v1/events`: security events about people, from a transmitter of Shared Signals.

use crate::scim::{TestProvider, with_scim};
use axum::body::Body;
use countersign_core::{
    records::{Record, WebSession},
    step::Effects,
};
use countersign_engine::{
    Address, ApiKeyKind,
    store::{self, Outcome, PersonBySubject},
};
use countersign_jose::SigningKey;
use countersign_protocol::{
    aap::policy::LifecycleEvent,
    hash::Digest,
    project::{ProjectDocument, SignalTransmitter},
};
use countersign_testkit::{
    Answer, Backend, Connected, Kit, Plane, Registered, Setup, TestPerson, faulty_store::WriteFaults, on_both_stores,
    operator_host::JWKS,
};
use http::{Method, Request};
use serde_json::{Value, json};
use std::sync::Arc;

const IDP: &str = "https://idp.test";
const SESSION_REVOKED: &str = "https://schemas.openid.net/secevent/caep/event-type/session-revoked";
const CREDENTIAL_CHANGE: &str = "https://schemas.openid.net/secevent/caep/event-type/credential-change";
const ACCOUNT_DISABLED: &str = "https://schemas.openid.net/secevent/risc/event-type/account-disabled";
const ACCOUNT_PURGED: &str = "https://schemas.openid.net/secevent/risc/event-type/account-purged";

fn listening(document: &mut ProjectDocument) {
    with_scim(document, IDP);
    document.shared_signals = vec![SignalTransmitter {
        issuer: IDP.into(),
        jwks_uri: format!("{IDP}{JWKS}"),
        audience: "https://api.example.test/ssf".into(),
        people: None,
        session_revoked: None,
        credential_change: None,
    }];
}

fn setup(change: impl FnOnce(&mut ProjectDocument)) -> Setup {
    let project = |document: &mut ProjectDocument| {
        listening(document);
        change(document);
    };
    Setup { operators: vec!["acme.test", "idp.test"], ..Setup::with_project(project) }
}

/// A person of the identity provider with an agent, and the transmitter that reports about them.
struct Signalled {
    plane: Plane,
    provider: TestProvider,
    user: String,
    ada: TestPerson,
    connected: Connected,
    agent: Registered,
}

impl Signalled {
    async fn on(kit: Kit) -> Self {
        Self::with(kit, |_| {}).await
    }

    async fn with(kit: Kit, change: impl FnOnce(&mut ProjectDocument)) -> Self {
        Self::on_plane(kit.plane_with(setup(change)).await).await
    }

    /// On a store that can be made to fail, with a lifecycle event for revoked sessions.
    async fn failing() -> (Self, WriteFaults) {
        let faults = WriteFaults::default();
        let setup = setup(|document| {
            document.auto_revoke = serde_json::from_value(json!({ "on_events": ["user.role_changed"] })).unwrap();
            document.shared_signals[0].session_revoked = Some(LifecycleEvent::UserRoleChanged);
        });
        let around = faults.clone();
        let setup = Setup { wrap_store: Arc::new(move |store| around.wrap(store)), ..setup };
        (Self::on_plane(Kit(Backend::Sqlite).plane_with(setup).await).await, faults)
    }

    async fn on_plane(plane: Plane) -> Self {
        plane.account("root").await;
        let provider = TestProvider::of(&plane, &plane.at().await, ApiKeyKind::Scim).await;
        let user = provider.creates(&plane, "ada").await;
        let ada = signed_in(&plane, "ada", 1).await;
        let connected = plane.connect(&ada, plane.acme(), &["calendar.read"]).await;
        let agent = plane.register(plane.acme(), &connected).await;
        Self { plane, provider, user, ada, connected, agent }
    }

    async fn reads(&self) -> Answer {
        self.plane.call(&self.agent, Method::GET, "/calendar/events", "READ_CALENDAR").await
    }

    fn token(&self, claims: &Value) -> String {
        self.plane.operator("idp.test").key.sign("secevent+jwt", claims).unwrap()
    }

    async fn receives(&self, event: &str, sub_id: Value) -> Answer {
        send(&self.plane, &self.token(&claims(&self.plane, event, sub_id))).await
    }

    async fn is_untouched(&self) {
        self.reads().await.expect(200);
        self.ada.get(&self.plane, "/session").await.expect(200);
    }
}

fn claims(plane: &Plane, event: &str, sub_id: Value) -> Value {
    json!({
        "iss": IDP,
        "jti": format!("jti-{event}-{}", plane.now().0),
        "iat": plane.now().secs(),
        "aud": "https://api.example.test/ssf",
        "sub_id": sub_id,
        "events": { event: { "event_timestamp": plane.now().secs() } },
    })
}

fn ada() -> Value {
    json!({ "format": "iss_sub", "iss": IDP, "sub": "ada" })
}

async fn send(plane: &Plane, token: &str) -> Answer {
    let request = Request::post("/ssf/v1/events")
        .header("content-type", "application/secevent+jwt")
        .header("accept", "application/json")
        .body(Body::from(token.to_owned()));
    plane.send(request.unwrap()).await
}

/// A sign-in session of a person of the identity provider, as a sign-in there would start it.
async fn signed_in(plane: &Plane, subject: &str, n: i64) -> TestPerson {
    let secret = format!("web_test-{n}");
    let lookup = PersonBySubject { issuer: IDP.into(), subject: subject.into() };
    let person = store::find_one(&**plane.engine.store(), lookup).await.unwrap().unwrap();
    let session = WebSession {
        key: 8_000_000_000_000_000 + n,
        version: 1,
        token_hash: Digest::of(secret.as_bytes()),
        person: person.key,
        generation: person.generation,
        started_at: plane.now(),
        proven_at: plane.now(),
        expires_at: plane.now().plus_secs(3600),
    };
    let csrf = plane.engine.people().csrf_token(&session).unwrap();
    let effects = Effects { puts: vec![Record::WebSession(session)], ..Effects::default() };
    assert_eq!(plane.engine.store().commit(effects).await, Outcome::Committed);
    TestPerson { name: subject.into(), cookie: format!("__Host-countersign={secret}"), csrf }
}

on_both_stores! {
    ///
    async fn a_revoked_session_signs_the_person_out_everywhere_once_and_their_agents_register_again(kit) {
        let world = Signalled::on(kit).await;
        let plane = &world.plane;
        world.reads().await.expect(200);
        let phone = world.ada.subscriber(plane).await;
        let token = world.token(&claims(plane, SESSION_REVOKED, ada()));
        let answer = send(plane, &token).await.expect(202);
        assert!(answer.body.is_empty(), "{}", answer.text());
        world.ada.get(plane, "/session").await.expect(401);
        let questions = Request::get("/aaep/v1/questions").header("authorization", format!("Bearer {}", phone.token));
        plane.send(questions.body(Body::empty()).unwrap()).await.expect(401);
        assert_eq!(world.reads().await.refusal(), (401, "access_token_invalid".into()));
        let again = plane.register(plane.acme(), &world.connected).await;
        plane.call(&again, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);

        let back = signed_in(plane, "ada", 2).await;
        send(plane, &token).await.expect(202);
        back.get(plane, "/session").await.expect(200);
        plane.call(&again, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    }

    /// AAP-8.3-08, AAP-8.3-09, R-22
    async fn a_disabled_account_is_offboarded_once(kit) {
        let world = Signalled::on(kit).await;
        let plane = &world.plane;
        let token = world.token(&claims(plane, ACCOUNT_DISABLED, ada()));
        send(plane, &token).await.expect(202);
        let answer = world.reads().await;
        assert_eq!(answer.refusal(), (401, "auto_revoked".into()));
        assert_eq!(answer.header("x-agent-revoke-reason"), Some("event_triggered"));
        world.ada.get(plane, "/session").await.expect(401);
        let path = format!("/Users/{}", world.user);
        assert_eq!(world.provider.get(plane, &path).await.expect(200).json()["active"], false);

        let on = json!([{ "op": "replace", "value": { "active": true } }]);
        world.provider.patch(plane, &world.user, on).await.expect(200);
        let back = signed_in(plane, "ada", 2).await;
        let connected = plane.connect(&back, plane.acme(), &["calendar.read"]).await;
        let agent = plane.register(plane.acme(), &connected).await;
        send(plane, &token).await.expect(202);
        plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        back.get(plane, "/session").await.expect(200);
    }
}

/// AAP-8.3-08
#[tokio::test]
async fn an_event_that_the_project_calls_a_lifecycle_event_ends_the_delegations_that_have_it() {
    let role_changed = Some(LifecycleEvent::UserRoleChanged);
    for (demanded, ends) in [(json!(["user.role_changed"]), true), (json!([]), false)] {
        let world = Signalled::with(Kit(Backend::Sqlite), |document| {
            document.auto_revoke = serde_json::from_value(json!({ "on_events": demanded })).unwrap();
            document.shared_signals[0].session_revoked = role_changed;
        })
        .await;
        let plane = &world.plane;
        world.receives(CREDENTIAL_CHANGE, ada()).await.expect(202);
        let again = plane.register(plane.acme(), &world.connected).await;
        plane.call(&again, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        plane.advance_secs(1).await;
        for _ in 0..2 {
            world.receives(SESSION_REVOKED, ada()).await.expect(202);
            let refused = plane.call(&again, Method::GET, "/calendar/events", "READ_CALENDAR").await;
            let code = if ends { "auto_revoked" } else { "access_token_invalid" };
            assert_eq!(refused.refusal(), (401, code.into()), "{demanded}");
            world.ada.get(plane, "/session").await.expect(401);
        }
    }
}

///
#[tokio::test]
async fn a_token_whose_lifecycle_event_was_begun_as_another_signs_the_person_out_once() {
    for now in [LifecycleEvent::ResourceDeleted, LifecycleEvent::UserOffboarded] {
        let (world, faults) = Signalled::failing().await;
        let plane = &world.plane;
        let token = world.token(&claims(plane, SESSION_REVOKED, ada()));
        faults.fail_entries("lifecycle_event", Outcome::Unavailable("a fault of the test".into()));
        send(plane, &token).await.expect(503);
        world.ada.get(plane, "/session").await.expect(200);
        faults.stop();
        let mut document = (*plane.at().await.project.document).clone();
        document.shared_signals[0].session_revoked = Some(now);
        plane.engine.apply_project(document, "test").await.unwrap();
        send(plane, &token).await.expect(202);
        world.ada.get(plane, "/session").await.expect(401);
        let back = signed_in(plane, "ada", 2).await;
        send(plane, &token).await.expect(202);
        back.get(plane, "/session").await.expect(200);
    }
}

///
#[tokio::test]
async fn a_token_is_sent_again_whatever_kept_a_step_of_it_from_being_committed() {
    let (world, faults) = Signalled::failing().await;
    let plane = &world.plane;
    let token = world.token(&claims(plane, SESSION_REVOKED, ada()));
    let reached = Outcome::LimitReached { counter: "a counter" };
    let outcomes = [Outcome::OutOfTime, reached, Outcome::Spent { key: "a key".into() }];
    for entry in ["auto_revoked", "session_cancelled"] {
        for outcome in &outcomes {
            faults.fail_entries(entry, outcome.clone());
            send(plane, &token).await.expect(503);
        }
    }
    faults.stop();
    world.ada.get(plane, "/session").await.expect(200);
    send(plane, &token).await.expect(202);
    world.ada.get(plane, "/session").await.expect(401);
    assert_eq!(world.reads().await.refusal(), (401, "auto_revoked".into()));
}

///
#[tokio::test]
async fn a_transmitter_for_local_people_reports_about_them_and_about_nobody_of_its_own_issuer() {
    let local = |document: &mut ProjectDocument| document.shared_signals[0].people = Some("local".into());
    let world = Signalled::with(Kit(Backend::Sqlite), local).await;
    let plane = &world.plane;
    let root = TestPerson::sign_in(plane, "root").await;
    world.receives(ACCOUNT_DISABLED, ada()).await.expect(202);
    world.is_untouched().await;
    let subject = json!({ "format": "iss_sub", "iss": IDP, "sub": "root" });
    world.receives(SESSION_REVOKED, subject).await.expect(202);
    root.get(plane, "/session").await.expect(401);
    world.is_untouched().await;
}

///
#[tokio::test]
async fn one_of_several_projects_cannot_act_on_local_people() {
    let mut setup = Setup { operators: vec!["acme.test", "idp.test"], ..Setup::multi() };
    setup.projects.iter_mut().for_each(|document| {
        listening(document);
        document.shared_signals[0].people = Some("local".into());
    });
    let plane = Kit(Backend::Sqlite).plane_with(setup).await;
    plane.account("root").await;
    let subject = json!({ "format": "iss_sub", "iss": IDP, "sub": "root" });
    let token =
        plane.operator("idp.test").key.sign("secevent+jwt", &claims(&plane, ACCOUNT_DISABLED, subject)).unwrap();
    let request = Request::post("/projects/north/ssf/v1/events").header("content-type", "application/secevent+jwt");
    let answer = plane.send(request.body(Body::from(token)).unwrap()).await;
    assert_eq!(answer.expect(400).json()["err"], "invalid_issuer");
}

async fn setting() -> Signalled {
    Signalled::on(Kit(Backend::Sqlite)).await
}

#[tokio::test]
async fn a_changed_credential_signs_the_person_out_and_keeps_the_delegation() {
    let world = setting().await;
    world.receives(CREDENTIAL_CHANGE, json!({ "format": "opaque", "id": "ada" })).await.expect(202);
    world.ada.get(&world.plane, "/session").await.expect(401);
    assert_eq!(world.reads().await.refusal(), (401, "access_token_invalid".into()));
    world.plane.register(world.plane.acme(), &world.connected).await;
}

#[tokio::test]
async fn a_purged_account_of_a_complex_subject_is_offboarded() {
    let world = setting().await;
    let subject = json!({ "format": "complex", "user": ada(), "device": { "format": "opaque", "id": "laptop" } });
    world.receives(ACCOUNT_PURGED, subject).await.expect(202);
    assert_eq!(world.reads().await.refusal(), (401, "auto_revoked".into()));
}

#[tokio::test]
async fn events_about_others_are_received_and_change_nothing() {
    let world = setting().await;
    let stranger = json!({ "format": "iss_sub", "iss": IDP, "sub": "nobody" });
    let foreign = json!({ "format": "iss_sub", "iss": "https://other.test", "sub": "ada" });
    let local = json!({ "format": "iss_sub", "iss": "local", "sub": "root" });
    let by_mail = json!({ "format": "email", "email": "ada@corp.test" });
    for subject in [stranger, foreign, local, by_mail, json!("ada"), json!(null)] {
        world.receives(ACCOUNT_DISABLED, subject).await.expect(202);
        world.plane.advance_secs(1).await;
    }
    let verification = "https://schemas.openid.net/secevent/ssf/event-type/verification";
    world.receives(verification, ada()).await.expect(202);
    world.is_untouched().await;
}

///
#[tokio::test]
async fn a_token_that_does_not_verify_changes_nothing() {
    let world = setting().await;
    let plane = &world.plane;
    let good = claims(plane, ACCOUNT_DISABLED, ada());
    let but = |member: &str, value: Value| {
        let mut claims = good.clone();
        claims[member] = value;
        claims
    };
    let now = plane.now().secs();
    for (claims, err) in [
        (but("iss", json!("https://other.test")), "invalid_issuer"),
        (but("iss", json!(null)), "invalid_request"),
        (but("aud", json!("https://other.test")), "invalid_audience"),
        (but("aud", json!(["https://other.test"])), "invalid_audience"),
        (but("aud", json!(null)), "invalid_audience"),
        (but("exp", json!(now - 301)), "invalid_request"),
        (but("iat", json!(now - 8 * 86_400)), "invalid_request"),
        (but("iat", json!(now + 301)), "invalid_request"),
        (but("iat", json!("now")), "invalid_request"),
        (but("jti", json!(null)), "invalid_request"),
        (but("events", json!({})), "invalid_request"),
        (but("events", json!([ACCOUNT_DISABLED])), "invalid_request"),
    ] {
        let answer = send(plane, &world.token(&claims)).await.expect(400);
        assert_eq!(answer.json()["err"], err, "{claims}");
        assert!(answer.json()["description"].as_str().is_some_and(|why| !why.is_empty()));
    }
    let key = &plane.operator("idp.test").key;
    for typ in ["JWT", "at+jwt", "logout+jwt"] {
        let answer = send(plane, &key.sign(typ, &good).unwrap()).await.expect(400);
        assert_eq!(answer.json()["err"], "invalid_request", "{typ}");
    }
    let forged = SigningKey::generate(Some("key-1")).unwrap().sign("secevent+jwt", &good).unwrap();
    assert_eq!(send(plane, &forged).await.expect(400).json()["err"], "authentication_failed");
    let unknown = SigningKey::generate(Some("key-2")).unwrap().sign("secevent+jwt", &good).unwrap();
    for _ in 0..3 {
        assert_eq!(send(plane, &unknown).await.expect(400).json()["err"], "invalid_key");
    }
    // One fetch for all of them, and at most one a minute for unknown keys.
    let fetches = plane.operator("idp.test").host.fetches();
    assert_eq!(fetches.iter().filter(|path| *path == JWKS).count(), 1, "{fetches:?}");
    for body in ["", "a", "a.b", "a.b.c", "{}"] {
        assert_eq!(send(plane, body).await.expect(400).json()["err"], "invalid_request", "{body:?}");
    }
    let as_json = Request::post("/ssf/v1/events").header("content-type", "application/json");
    let answer = plane.send(as_json.body(Body::from(world.token(&good))).unwrap()).await.expect(400);
    assert_eq!(answer.json()["err"], "invalid_request");
    send(plane, &"x".repeat(20_000)).await.expect(413);
    world.is_untouched().await;
    send(plane, &world.token(&but("aud", json!(["other", "https://api.example.test/ssf"])))).await.expect(202);
    assert_eq!(world.reads().await.refusal(), (401, "auto_revoked".into()));
}

///
#[tokio::test]
async fn while_the_transmitters_keys_cannot_be_fetched_it_is_told_to_send_again() {
    let world = setting().await;
    let host = &world.plane.operator("idp.test").host;
    host.go_offline();
    world.receives(ACCOUNT_DISABLED, ada()).await.expect(503);
    host.recover();
    world.receives(ACCOUNT_DISABLED, ada()).await.expect(503);
    world.plane.advance_secs(61).await;
    world.receives(ACCOUNT_DISABLED, ada()).await.expect(202);
}

///
#[tokio::test]
async fn a_project_acts_on_its_own_transmitters_and_people_only() {
    let mut setup = Setup { operators: vec!["acme.test", "idp.test"], ..Setup::multi() };
    setup.projects.iter_mut().for_each(listening);
    setup.projects[1].shared_signals.clear();
    let plane = Kit(Backend::Sqlite).plane_with(setup).await;
    plane.account("root").await;
    let south = plane.engine.project(&Address::Scoped("south".into())).await.unwrap();
    let provider = TestProvider::of(&plane, &south, ApiKeyKind::Scim).await;
    let user = provider.creates(&plane, "ada").await;
    let person = signed_in(&plane, "ada", 1).await;
    let token = plane.operator("idp.test").key.sign("secevent+jwt", &claims(&plane, ACCOUNT_DISABLED, ada())).unwrap();
    let send = async |project: &str| {
        let request = Request::post(format!("/projects/{project}/ssf/v1/events"));
        let request = request.header("content-type", "application/secevent+jwt").body(Body::from(token.clone()));
        plane.send(request.unwrap()).await
    };
    assert_eq!(send("south").await.expect(400).json()["err"], "invalid_issuer");
    send("north").await.expect(202);
    person.get(&plane, "/session").await.expect(200);
    assert_eq!(provider.get(&plane, &format!("/Users/{user}")).await.expect(200).json()["active"], true);
}

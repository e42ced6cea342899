//! Delegations that end by their policy: its layers, the completion of a task, lifecycle events (AAP 8.3, 8.4, 17.6).

use axum::body::Body;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_engine::{ApiKeyKind, Role};
use countersign_protocol::project::ProjectDocument;
use countersign_server::admin::{AdminRequest as _, AssignRoles};
use countersign_testkit::{
    AgentFixture, Answer, Connected, Plane, Registered, Setup, TestPerson, agent_request, on_both_stores, on_sqlite,
};
use http::Method;
use serde_json::{Value, json};

const SCOPES: [&str; 2] = ["calendar.read", "calendar.write"];

/// Alice connects acme's agent under a policy of her own.
async fn connect_with(plane: &Plane, alice: &TestPerson, user_override: Value) -> (Connected, Value) {
    let request_id = plane.connect_request("", plane.acme(), &SCOPES).await;
    let ask = json!({ "request_id": request_id, "user_override": user_override });
    let shown = alice.post(plane, "/agent/delegate", &ask).await.expect(200).json();
    let approval = json!({
        "request_id": request_id, "disclosure_id": shown["disclosure_id"], "acknowledged_disclosure": true,
    });
    let granted = alice.post(plane, "/agent/delegate", &approval).await.expect(201).json();
    assert_eq!(granted["effective_policy"], shown["effective_policy"]);
    let body = plane.exchange_body(plane.acme(), granted["code"].as_str().unwrap());
    let token = plane.post("/agent/delegate/token", &body).await.expect(200).json();
    assert_eq!(token["effective_policy_sources"], shown["effective_policy_sources"]);
    let connected = Connected {
        delegation_id: token["delegation_id"].as_str().unwrap().to_owned(),
        delegation_token: token["delegation_token"].as_str().unwrap().to_owned(),
    };
    (connected, shown)
}

/// Access tokens are valid for a day.
pub(super) async fn agent_under(kit: countersign_testkit::Kit, user_override: Value) -> AgentFixture {
    let a_day = |document: &mut ProjectDocument| (document.credential_ttl, document.max_agent_ttl) = (86_400, 86_400);
    let plane = kit.plane_with(Setup::with_project(a_day)).await;
    let alice = plane.person("alice").await;
    let (connected, _) = connect_with(&plane, &alice, user_override).await;
    let agent = plane.register(plane.acme(), &connected).await;
    AgentFixture { plane, alice, connected, agent }
}

pub(super) async fn complete(plane: &Plane, agent: &Registered, body: &Value) -> Answer {
    let request = agent_request(Method::POST, "/agent/task-complete")
        .header("authorization", format!("Bearer {}", agent.access_token));
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

pub(super) async fn report(plane: &Plane, key: &str, body: &Value) -> Answer {
    let request = agent_request(Method::POST, "/agent/events").header("authorization", format!("Bearer {key}"));
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

pub(super) async fn admin_key(plane: &Plane) -> String {
    plane.person_in("calendar", "root", &[Role::Admin]).await;
    plane.key_of(ApiKeyKind::Admin, "root", &[], &[]).await.token
}

/// The refusal of a call with its revoke reason.
pub(super) fn ended(answer: &Answer) -> (u16, String, Option<String>) {
    let (status, code) = answer.refusal();
    (status, code, answer.header("x-agent-revoke-reason").map(str::to_owned))
}

fn auto_revoked(reason: &str) -> (u16, String, Option<String>) {
    (401, "auto_revoked".into(), Some(reason.into()))
}

on_both_stores! {
    /// AAP-8.4-01, AAP-8.4-02, AAP-8.4-03, AAP-8.4-04, AAP-8.4-05, AAP-8.4-06, AAP-19.6-06, C-60
    async fn the_strictest_of_three_policies_is_granted_and_everyone_is_told_whose_it_is(kit) {
        let setup = Setup::with_project(|document| {
            document.max_duration = "30d".into();
            document.auto_revoke = serde_json::from_value(json!({ "on_events": ["user.role_changed"] })).unwrap();
        });
        let plane = kit.plane_with(setup).await;
        let mut identity = plane.acme().identity();
        identity["countersign"]["auto_revoke_policy"] = json!({ "on_task_completion": true, "max_duration": "P14D" });
        plane.acme().publish_identity(&identity);
        plane.advance_secs(3601).await;
        let alice = plane.person("alice").await;
        let (connected, shown) = connect_with(&plane, &alice, json!({ "after_duration": "7d" })).await;
        let effective = json!({
            "expires_at": plane.now().plus_secs(7 * 86400).to_rfc3339(),
            "on_task_completion": true, "on_events": ["user.offboarded", "user.role_changed"],
        });
        let sources = json!({
            "expires_at": ["user"], "on_task_completion": ["operator"], "on_events": ["service"],
        });
        assert_eq!((&shown["effective_policy"], &shown["effective_policy_sources"]), (&effective, &sources));
        assert_eq!(shown["auto_revoke_policy"]["operator_default"]["max_duration"], "14d");
        assert_eq!(shown["access_ends_at"], effective["expires_at"]);
        let agent = plane.register(plane.acme(), &connected).await;
        assert_eq!((&agent.answer["effective_policy"], &agent.answer["effective_policy_sources"]), (&effective, &sources));
        // A looser wish changes nothing.
        let (_, loose) = connect_with(&plane, &alice, json!({ "after_duration": "52w" })).await;
        assert_eq!(loose["effective_policy"]["expires_at"], plane.now().plus_secs(14 * 86400).to_rfc3339());
        assert_eq!(loose["effective_policy_sources"]["expires_at"], json!(["operator"]));
        // The stored policy counts, not the project's later one.
        plane.advance_secs(7 * 86400).await;
        let register = plane.post("/agent/register", &plane.register_body(plane.acme(), &connected)).await;
        assert_eq!(ended(&register), auto_revoked("policy_expired"));
    }

    /// AAP-8.3-03, AAP-17.6-01, AAP-17.6-02, AAP-17.6-03, AAP-17.6-04, AAP-8.5-05
    async fn a_completed_task_closes_the_session_and_ends_a_delegation_whose_policy_says_so(kit) {
        let scene = agent_under(kit, json!({ "on_task_completion": true })).await;
        let body = json!({ "session_id": scene.agent.session_id, "summary": "two events moved" });
        scene.read().await.expect(200);
        let first = complete(&scene.plane, &scene.agent, &body).await.expect(200).json();
        assert_eq!(first, json!({ "completed_at": scene.plane.now().to_rfc3339(), "revoked": true }));
        assert_eq!(ended(&scene.read().await), auto_revoked("task_complete"));
        scene.plane.advance_secs(60).await;
        assert_eq!(complete(&scene.plane, &scene.agent, &body).await.expect(200).json(), first);
        let register = scene.plane.post("/agent/register", &scene.plane.register_body(scene.plane.acme(), &scene.connected)).await;
        assert_eq!(ended(&register), auto_revoked("task_complete"));
        let audit = scene.audit("event_type=task_completed").await;
        assert_eq!((&audit["total_count"], &audit["entries"][0]["summary"]), (&json!(1), &json!("two events moved")));
        let audit = scene.audit("event_type=auto_revoked").await;
        assert_eq!((&audit["total_count"], &audit["entries"][0]["trigger"]), (&json!(1), &json!("on_task_completion")));
    }

    /// AAP-8.4-08
    async fn the_token_ends_with_the_policy_and_the_record_decides_without_the_tokens_skew(kit) {
        let scene = agent_under(kit, json!({ "after_duration": "1h" })).await;
        let payload = scene.connected.delegation_token.split('.').nth(1).unwrap();
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
        assert_eq!(claims["exp"], scene.plane.now().secs() + 3600);
        scene.plane.advance_secs(3599).await;
        scene.plane.register(scene.plane.acme(), &scene.connected).await;
        scene.plane.advance_secs(1).await;
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        assert_eq!(ended(&scene.plane.post("/agent/register", &body).await), auto_revoked("policy_expired"));
    }

    /// AAP-8.3-01, AAP-8.3-04, AAP-8.5-05
    async fn a_delegation_without_requests_for_its_period_ends_and_each_request_starts_the_period_again(kit) {
        let scene = agent_under(kit, json!({ "after_inactivity": "1h" })).await;
        for _ in 0..3 {
            scene.plane.advance_secs(3599).await;
            scene.read().await.expect(200);
        }
        scene.plane.advance_without_settling(3600).await;
        assert_eq!(ended(&scene.read().await), auto_revoked("inactivity"));
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        assert_eq!(ended(&scene.plane.post("/agent/register", &body).await), auto_revoked("inactivity"));
        let audit = scene.audit("event_type=auto_revoked").await;
        assert_eq!(audit["total_count"], 1);
        assert_eq!(audit["entries"][0]["trigger"], "inactivity_timeout");
    }

    /// AAP-8.3-01, AAP-8.3-04
    async fn inactivity_is_recorded_without_a_request_and_a_registration_in_time_prevents_it(kit) {
        let scene = agent_under(kit, json!({ "after_inactivity": "1h" })).await;
        scene.plane.advance_secs(3599).await;
        scene.plane.register(scene.plane.acme(), &scene.connected).await;
        scene.plane.advance_secs(3599).await;
        assert_eq!(scene.audit("event_type=auto_revoked").await["total_count"], 0);
        scene.plane.advance_secs(1).await;
        assert_eq!(scene.audit("event_type=auto_revoked").await["total_count"], 1);
    }

    /// AAP-8.3-06, AAP-8.3-07, AAP-8.5-05
    async fn a_used_up_budget_ends_the_delegation_and_only_a_new_one_works(kit) {
        let scene = agent_under(kit, json!({ "after_use": { "max_requests": 3 } })).await;
        for _ in 0..3 {
            scene.read().await.expect(200);
        }
        assert_eq!(ended(&scene.read().await), auto_revoked("policy_expired"));
        let audit = scene.audit("event_type=auto_revoked").await;
        assert_eq!((&audit["total_count"], &audit["entries"][0]["trigger"]), (&json!(1), &json!("after_use")));
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        assert_eq!(ended(&scene.plane.post("/agent/register", &body).await), auto_revoked("policy_expired"));
        let (body, _) = scene.receipt_body(&SCOPES, |_| {});
        assert_eq!(ended(&scene.plane.post("/agent/register", &body).await), auto_revoked("policy_expired"));
        let (connected, _) = connect_with(&scene.plane, &scene.alice, json!({})).await;
        let agent = scene.plane.register(scene.plane.acme(), &connected).await;
        AgentFixture { connected, agent, ..scene }.read().await.expect(200);
    }

    /// AAP-8.3-06, AAP-8.3-07
    async fn writes_have_a_budget_of_their_own_and_no_registration_outlives_it(kit) {
        let scene = agent_under(kit, json!({ "after_use": { "max_writes": 1 } })).await;
        scene.read().await.expect(200);
        scene.write().await.expect(201);
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        assert_eq!(ended(&scene.plane.post("/agent/register", &body).await), auto_revoked("policy_expired"));
        let reached = scene.reached();
        assert_eq!(ended(&scene.write().await), auto_revoked("policy_expired"));
        assert_eq!(scene.reached(), reached);
    }

    /// AAP-8.3-01, AAP-8.5-05, R-36
    async fn a_suspended_delegation_ends_with_its_policy(kit) {
        let scene = agent_under(kit, json!({ "after_duration": "1h" })).await;
        scene.plane.engine.start_epoch().await.unwrap();
        let alice = TestPerson::sign_in(&scene.plane, "alice").await;
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        assert_eq!(scene.plane.post("/agent/register", &body).await.refusal(), (403, "delegation_suspended".into()));
        scene.plane.advance_secs(3600).await;
        let path = format!("/agent/audit?delegation_id={}&event_type=auto_revoked", scene.connected.delegation_id);
        let audit = alice.get(&scene.plane, &path).await.expect(200).json();
        assert_eq!((&audit["total_count"], &audit["entries"][0]["trigger"]), (&json!(1), &json!("expires_at")));
        let body = scene.plane.register_body(scene.plane.acme(), &scene.connected);
        assert_eq!(ended(&scene.plane.post("/agent/register", &body).await), auto_revoked("policy_expired"));
        let lifted = json!({ "delegation_id": scene.connected.delegation_id });
        assert_eq!(ended(&alice.post(&scene.plane, "/agent/lift", &lifted).await), auto_revoked("policy_expired"));
    }

    /// AAP-8.3-06
    async fn of_concurrent_calls_no_more_succeed_than_the_budget_allows(kit) {
        let scene = agent_under(kit, json!({ "after_use": { "max_requests": 5 } })).await;
        let answers = futures_util::future::join_all((0..12).map(|_| scene.read())).await;
        let succeeded = answers.iter().filter(|answer| answer.status == 200).count();
        assert!((1..=5).contains(&succeeded), "{succeeded}");
        assert!(answers.iter().all(|answer| answer.status == 200 || answer.code() == "auto_revoked"));
    }

    /// AAP-8.3-05, AAP-8.3-09, AAP-8.5-05, AAP-16.2-20
    async fn offboarding_a_user_ends_everything_of_theirs_and_of_nobody_else(kit) {
        let scene = kit.fixture().await;
        let bob = scene.plane.person("bob").await;
        let of_bob = scene.plane.connect(&bob, scene.plane.acme(), &SCOPES).await;
        let bobs = scene.plane.register(scene.plane.acme(), &of_bob).await;
        let key = admin_key(&scene.plane).await;
        let event = json!({ "event": "user.offboarded", "event_id": "hr-1", "user": "alice" });
        let applied = report(&scene.plane, &key, &event).await.expect(200).json();
        assert_eq!(applied["revoked"], json!([scene.connected.delegation_id]));
        for answer in [scene.read().await, scene.write().await] {
            assert_eq!(ended(&answer), auto_revoked("event_triggered"));
        }
        assert_eq!(scene.reached(), 0);
        scene.plane.call(&bobs, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        // Her membership and her sign-in ended with it: she connects nothing any more.
        let request = scene.plane.connect_request("", scene.plane.acme(), &SCOPES).await;
        let answer = scene.alice.post(&scene.plane, "/agent/delegate", &json!({ "request_id": request })).await;
        assert_eq!(answer.status, 401);
        let back = TestPerson::sign_in(&scene.plane, "alice").await;
        let answer = back.post(&scene.plane, "/agent/delegate", &json!({ "request_id": request })).await;
        assert_eq!(answer.status, 403);
    }

    /// AAP-8.3-05, AAP-8.3-08
    async fn an_event_ends_the_delegations_whose_policy_lists_it_once(kit) {
        let scene = agent_under(kit, json!({ "on_events": ["user.role_changed"] })).await;
        let other = scene.plane.connect(&scene.alice, scene.plane.acme(), &SCOPES).await;
        let others = scene.plane.register(scene.plane.acme(), &other).await;
        let key = admin_key(&scene.plane).await;
        let event = json!({ "event": "user.role_changed", "event_id": "hr-2", "user": "alice" });
        let applied = report(&scene.plane, &key, &event).await.expect(200).json();
        assert_eq!(applied["revoked"], json!([scene.connected.delegation_id]));
        assert_eq!(ended(&scene.read().await), auto_revoked("event_triggered"));
        scene.plane.call(&others, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        // Alice connects again; the same event once more does not end that.
        let (again, _) = connect_with(&scene.plane, &scene.alice, json!({ "on_events": ["user.role_changed"] })).await;
        let agent = scene.plane.register(scene.plane.acme(), &again).await;
        assert_eq!(report(&scene.plane, &key, &event).await.expect(200).json()["revoked"], json!([]));
        scene.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        let next = json!({ "event": "user.role_changed", "event_id": "hr-3", "user": "alice" });
        assert_eq!(report(&scene.plane, &key, &next).await.expect(200).json()["revoked"], json!([again.delegation_id]));
    }

    /// AAP-8.3-05, AAP-8.3-08
    async fn another_role_given_at_the_command_line_ends_the_delegations_with_a_policy_for_it(kit) {
        let policy = json!({ "on_events": ["user.role_changed"] });
        let scene = agent_under(kit, policy.clone()).await;
        let other = scene.plane.connect(&scene.alice, scene.plane.acme(), &SCOPES).await;
        let others = scene.plane.register(scene.plane.acme(), &other).await;
        let assigns = async |roles: &[Role]| {
            let request = AssignRoles { name: "alice".into(), roles: roles.to_vec(), project: None };
            request.run(&scene.plane.engine).await.unwrap().revoked
        };
        assert_eq!(assigns(&[Role::Approver, Role::User]).await, std::slice::from_ref(&scene.connected.delegation_id));
        assert_eq!(ended(&scene.read().await), auto_revoked("event_triggered"));
        scene.plane.call(&others, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        let (again, _) = connect_with(&scene.plane, &scene.alice, policy).await;
        assert!(assigns(&[Role::User, Role::Approver]).await.is_empty(), "the same roles");
        let agent = scene.plane.register(scene.plane.acme(), &again).await;
        scene.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
        assert_eq!(assigns(&[Role::User]).await, [again.delegation_id]);
    }

    /// AAP-8.3-05
    async fn a_cancelled_subscription_ends_every_delegation_that_lists_it(kit) {
        let scene = agent_under(kit, json!({ "on_events": ["org.subscription_cancelled"] })).await;
        let other = scene.plane.connect(&scene.alice, scene.plane.acme(), &SCOPES).await;
        let key = admin_key(&scene.plane).await;
        let event = json!({ "event": "org.subscription_cancelled", "event_id": "billing-1" });
        let applied = report(&scene.plane, &key, &event).await.expect(200).json();
        assert_eq!(applied["revoked"], json!([scene.connected.delegation_id]));
        assert_eq!(ended(&scene.read().await), auto_revoked("event_triggered"));
        scene.plane.register(scene.plane.acme(), &other).await;
    }
}

on_sqlite! {
    /// AAP-17.6-01
    async fn without_that_policy_a_completed_task_ends_its_session_alone(kit) {
        let scene = kit.fixture().await;
        let body = json!({ "session_id": scene.agent.session_id });
        assert_eq!(complete(&scene.plane, &scene.agent, &body).await.expect(200).json()["revoked"], false);
        assert_eq!(scene.read().await.refusal(), (401, "access_token_invalid".into()));
        let agent = scene.plane.register(scene.plane.acme(), &scene.connected).await;
        scene.plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200);
    }

    /// AAP-17.6-04
    async fn only_the_sessions_own_agent_reports_its_completion(kit) {
        let scene = kit.fixture().await;
        let bob = scene.plane.person("bob").await;
        let of_bob = scene.plane.connect(&bob, scene.plane.acme(), &SCOPES).await;
        let bobs = scene.plane.register(scene.plane.acme(), &of_bob).await;
        let body = json!({ "session_id": scene.agent.session_id });
        assert_eq!(complete(&scene.plane, &bobs, &body).await.refusal(), (404, "session_not_found".into()));
        let unknown = json!({ "session_id": "sess_00000000000000000000000000000000" });
        assert_eq!(complete(&scene.plane, &scene.agent, &unknown).await.refusal(), (404, "session_not_found".into()));
        let long = json!({ "session_id": scene.agent.session_id, "summary": "x".repeat(501) });
        for malformed in [json!({}), long] {
            assert_eq!(complete(&scene.plane, &scene.agent, &malformed).await.refusal(), (400, "invalid_request".into()));
        }
        assert_eq!(scene.plane.post("/agent/task-complete", &body).await.refusal(), (401, "agent_auth_required".into()));
        scene.read().await.expect(200);
    }

    /// A cancelled session is not completed afterwards.
    async fn a_cancelled_session_cannot_be_completed(kit) {
        let scene = kit.fixture().await;
        let body = json!({ "session_id": scene.agent.session_id });
        let cancel = agent_request(Method::POST, "/agent/cancel").header("authorization", format!("Bearer {}", scene.agent.access_token));
        scene.plane.send(cancel.body(Body::from(body.to_string())).unwrap()).await.expect(200);
        assert_eq!(complete(&scene.plane, &scene.agent, &body).await.refusal(), (401, "access_token_invalid".into()));
    }

    /// AAP-8.3-05
    async fn a_malformed_event_or_a_caller_without_the_right_ends_nothing(kit) {
        let scene = kit.fixture().await;
        let (plane, key) = (&scene.plane, admin_key(&scene.plane).await);
        let sound = json!({ "event": "user.offboarded", "event_id": "hr-1", "user": "alice" });
        let malformed = [
            json!({ "event": "user.promoted", "event_id": "e", "user": "alice" }),
            json!({ "event": "user.offboarded", "user": "alice" }),
            json!({ "event": "user.offboarded", "event_id": "", "user": "alice" }),
            json!({ "event": "user.offboarded", "event_id": "e" }),
            json!({ "event": "resource.deleted", "event_id": "e" }),
            json!({ "event": "user.role_changed", "event_id": "e", "user": "alice", "delegation_id": "del_x" }),
            json!({ "event": "user.offboarded", "event_id": "e", "user": "alice", "more": true }),
        ];
        for body in malformed {
            assert_eq!(report(plane, &key, &body).await.refusal(), (400, "invalid_request".into()), "{body}");
        }
        let nobody = json!({ "event": "user.offboarded", "event_id": "e", "user": "nobody" });
        assert_eq!(report(plane, &key, &nobody).await.status, 404);
        let agents = plane.key_of(ApiKeyKind::Agent, "alice", &[], &[]).await.token;
        let answers = [
            report(plane, &agents, &sound).await,
            report(plane, &scene.agent.access_token, &sound).await,
            scene.alice.post(plane, "/agent/events", &sound).await,
        ];
        for answer in answers {
            assert_eq!(answer.status, 403, "{}", answer.text());
        }
        assert_eq!(plane.post("/agent/events", &sound).await.status, 401);
        scene.read().await.expect(200);
    }

    /// C-60, AAP-8.4-03, AAP-19.6-02, AAP-19.6-04
    async fn a_policy_that_cannot_be_kept_is_refused_by_its_member(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let request_id = plane.connect_request("", plane.acme(), &SCOPES).await;
        let cases = [
            (json!({ "after_inactivity": "3599s" }), "after_inactivity"),
            (json!({ "after_use": { "max_requests": 0 } }), "after_use.max_requests"),
            (json!({ "after_use": { "max_writes": 0 } }), "after_use.max_writes"),
            (json!({ "after_duration": "soon" }), "duration"),
            (json!({ "on_events": ["user.promoted"] }), "user.promoted"),
        ];
        for (policy, named) in cases {
            let body = json!({ "request_id": request_id, "user_override": policy });
            let answer = alice.post(&plane, "/agent/delegate", &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{policy}");
            assert!(answer.text().contains(named), "{}", answer.text());
        }
        let both = json!({ "request_id": request_id, "policy": {}, "user_override": {} });
        assert_eq!(alice.post(&plane, "/agent/delegate", &both).await.status, 400);
    }
}

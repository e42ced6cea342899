//! `required` in the OpenAPI description matches the endpoints: a body with exactly these members is accepted, and
//! one without any of them is refused as malformed.

use crate::mplp::Stage;
use countersign_engine::Role;
use countersign_protocol::project::RouteUndo;
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, bank::BankFixture, decisions::confirmation};
use http::Method;
use serde_json::{Value, json};
use std::{collections::BTreeSet, future::Future};

const PLAN: &str = "8d5b1f0a-3c27-4e94-9a61-2f7d40c3b815";
const STEP: &str = "2c9e7b14-6f53-4a08-b2d7-91f4a6e03c85";

/// Types with dependencies between members that `required` cannot express; their descriptions state them.
const EITHER_OR: [&str; 2] = ["ClaimRequest", "DelegateRequest"];

struct Description(Value);

impl Description {
    async fn of(plane: &Plane) -> Self {
        Self(plane.get("/openapi.json").await.expect(200).json())
    }

    fn required(&self, name: &str) -> BTreeSet<String> {
        let schema = &self.0["components"]["schemas"][name];
        assert!(schema.is_object(), "{name} is not described");
        let names = schema["required"].as_array().into_iter().flatten();
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    /// The name of every type that is a JSON body.
    fn bodies(&self) -> BTreeSet<String> {
        let items = self.0["paths"].as_object().unwrap().values();
        let operations = items.flat_map(|item| item.as_object().unwrap().values());
        let schema = |operation: &Value| operation.pointer("/requestBody/content/application~1json/schema").cloned();
        let named = operations.filter_map(schema).flat_map(|schema| references(&schema));
        named.flat_map(|name| self.alternatives(name)).collect()
    }

    /// The types that a body may have.
    fn alternatives(&self, name: String) -> Vec<String> {
        match self.0["components"]["schemas"][&name].get("oneOf") {
            Some(alternatives) => references(alternatives),
            None => vec![name],
        }
    }
}

fn references(schema: &Value) -> Vec<String> {
    let text = schema.to_string();
    let parts = text.split("\"#/components/schemas/").skip(1);
    parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
}

/// The object at a pointer of a body has the type; `send` tries a body.
async fn demands<F: Future<Output = Answer>>(
    (description, seen): (&Description, &mut BTreeSet<String>),
    name: &str,
    body: Value,
    place: &str,
    send: impl Fn(Value) -> F,
) {
    let members: BTreeSet<String> = body.pointer(place).unwrap().as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, description.required(name), "{name}: what is sent here is what is required, and no more");
    for member in &members {
        let mut without = body.clone();
        without.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(member);
        let answer = send(without).await;
        assert_eq!(answer.status, 400, "{name} without {member}: {}", answer.text());
    }
    let answer = send(body).await;
    assert!(answer.is_success(), "{name} with nothing but what is required: {}", answer.text());
    seen.insert(name.to_owned());
}

fn plan() -> Value {
    json!({
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
        "plan_id": PLAN, "context_id": STEP, "title": "Tidy", "objective": "No old notes", "status": "draft",
        "steps": [{ "step_id": STEP, "description": "Look", "status": "pending" }],
    })
}

fn confirm() -> Value {
    json!({
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
        "confirm_id": "5f0d3a76-1b28-4c9d-8e43-70b6f2d9a151", "target_type": "other", "target_id": STEP,
        "status": "pending", "requested_by_role": "agent", "requested_at": "2026-11-15T12:00:00Z",
    })
}

#[tokio::test]
async fn bodies_are_taken_with_all_required_members_and_refused_without_any_of_them() {
    let anybody = Setup::payments_with(|document| document.minimum_tier = 1);
    let stage = Stage::with(Kit(Backend::Sqlite), anybody).await;
    let (plane, agent, alice, device) = (&stage.plane, &stage.agent, &stage.alice, &stage.device);
    let description = Description::of(plane).await;
    let mut seen = BTreeSet::new();
    macro_rules! demands {
        ($name:literal, $body:expr, $place:literal, $send:expr) => {
            demands((&description, &mut seen), $name, $body, $place, $send).await
        };
    }
    let post = |path: &'static str| move |body: Value| async move { agent.post(plane, path, &body).await };
    let page = |path: &'static str| move |body: Value| async move { alice.post(plane, path, &body).await };
    let open = |path: &'static str| move |body: Value| async move { plane.post(path, &body).await };

    demands!("SignIn", json!({ "name": "alice", "password": countersign_testkit::PASSWORD }), "", open("/session"));
    demands!("NewToken", json!({ "name": "speaker" }), "", page("/aaep/v1/subscriber-tokens"));

    demands!(
        "ConnectRequestBody",
        plane.connect_body(plane.acme(), &["calendar.read"]),
        "",
        open("/agent/delegate/requests")
    );
    let request = plane.connect_request("", plane.acme(), &["calendar.read"]).await;
    let code = plane.approve_at("", alice, &request).await["code"].as_str().unwrap().to_owned();
    demands!("ExchangeRequest", plane.exchange_body(plane.acme(), &code), "", open("/agent/delegate/token"));
    let mut known = json!({ "mode": "user_delegated", "operator_jwt": plane.acme().jwt(plane.service(), plane.now()) });
    demands!("RegisterRequest", known.clone(), "", open("/agent/register"));
    let connected = plane.connect(alice, plane.acme(), &["calendar.read"]).await;
    known["delegation_token"] = json!(connected.delegation_token);
    let registered = plane.register_with(&known, Some(&connected)).await;
    let ends = registered.as_test_agent();
    let completed = plane.register_with(&known, Some(&connected)).await;
    demands!("TaskCompleteRequest", json!({ "session_id": completed.session_id }), "", |body: Value| {
        let request = countersign_testkit::agent_request(Method::POST, "/agent/task-complete");
        let request = request.header("authorization", format!("Bearer {}", completed.access_token));
        async move { plane.send(request.body(axum::body::Body::from(body.to_string())).unwrap()).await }
    });
    demands!("HeartbeatRequest", json!({ "session_id": registered.session_id }), "", |body: Value| {
        let request = countersign_testkit::agent_request(Method::POST, "/agent/heartbeat");
        let request = request.header("authorization", format!("Bearer {}", registered.access_token));
        async move { plane.send(request.body(axum::body::Body::from(body.to_string())).unwrap()).await }
    });
    let root = plane.person_in("calendar", "root", &[Role::Admin]).await;
    let event = json!({ "event": "org.subscription_cancelled", "event_id": "evt-1" });
    demands!("LifecycleEventRequest", event, "", |body: Value| {
        let root = root.clone();
        async move { root.post(plane, "/agent/events", &body).await }
    });
    demands!("CancelRequest", json!({ "session_id": registered.session_id }), "", |body: Value| {
        let ends = ends.clone();
        async move {
            let request = countersign_testkit::agent_request(Method::POST, "/agent/cancel");
            let request = request.header("authorization", format!("Bearer {}", ends.token));
            plane.send(request.body(axum::body::Body::from(body.to_string())).unwrap()).await
        }
    });
    demands!("LiftRequest", json!({ "delegation_id": connected.delegation_id }), "", page("/agent/lift"));
    // One of two ids is needed, so neither is required by itself.
    assert_eq!(page("/agent/revoke")(json!({})).await.status, 400);
    page("/agent/revoke")(json!({ "delegation_id": connected.delegation_id })).await.expect(200);
    seen.insert("RevokeRequest".to_owned());

    demands!(
        "ConfirmationRequest",
        json!({ "action": "Call", "consequence": "They know" }),
        "",
        post("/v1/confirmations")
    );
    demands!("ClarificationRequest", json!({ "question": "Which?" }), "", post("/v1/clarifications"));
    let asked = agent.requests_confirmation(plane, &confirmation("mail.send", json!({}))).await.expect(201).json();
    let below = |asked: &Value, end: &str| format!("/v1/decisions/{}/{end}", asked["decision_id"].as_str().unwrap());
    alice.accepts(plane, &asked).await;
    agent.claims(plane, &asked, &json!({ "tool": "mail.send", "arguments": {} })).await.expect(200);
    let path = below(&asked, "outcome");
    demands!("OutcomeRequest", json!({ "status": "committed" }), "", |body: Value| {
        let path = path.clone();
        async move { agent.post(plane, &path, &body).await }
    });
    let asked =
        agent.requests_confirmation(plane, &confirmation("mail.send", json!({ "n": 1 }))).await.expect(201).json();
    let path = format!("/aaep/v1/questions/{}/more-time", asked["decision_id"].as_str().unwrap());
    demands!("MoreTimeRequest", json!({ "seconds": 30 }), "", |body: Value| {
        let path = path.clone();
        async move { device.post(plane, &path, &body).await }
    });
    let bank = &Kit(Backend::Sqlite)
        .bank_with(|document| {
            document.routes[4].undo = Some(RouteUndo::HOLD);
            document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(30);
        })
        .await;
    bank.approved(BankFixture::transfer()).await;
    let queued = bank.sends(BankFixture::transfer().confirmed("true")).await.expect(202).json();
    let undo_id = queued["undo_url"].as_str().unwrap().rsplit('/').next().unwrap();
    demands!("UndoRequest", json!({ "undo_id": undo_id }), "", |body: Value| async move {
        bank.posts(&bank.agent, "/agent/undo", &body).await
    });
    let path = below(&asked, "withdraw");
    demands!("WithdrawRequest", json!({}), "", |body: Value| {
        let path = path.clone();
        async move { agent.post(plane, &path, &body).await }
    });

    let wrapped = json!({ "plan": plan() });
    demands!("PlanSubmission", wrapped.clone(), "", post("/mplp/v1/plans"));
    demands!("Plan", plan(), "", post("/mplp/v1/plans"));
    demands!("Meta", wrapped.clone(), "/plan/meta", post("/mplp/v1/plans"));
    demands!("PlanStep", wrapped, "/plan/steps/0", post("/mplp/v1/plans"));
    let below = |end: &str| format!("/mplp/v1/plans/{PLAN}/{end}");
    let path = below("propose");
    let proposed = agent.post(plane, &path, &json!({})).await.expect(201).json();
    seen.insert("ProposeRequest".to_owned());
    let path = format!("/mplp/v1/confirms/{}/decisions", proposed["confirm_id"].as_str().unwrap());
    demands!("DecisionRequest", json!({ "status": "approved" }), "", |body: Value| {
        let path = path.clone();
        async move { device.post(plane, &path, &body).await }
    });
    let path = below(&format!("steps/{STEP}"));
    demands!("StepReport", json!({ "status": "in_progress" }), "", |body: Value| {
        let path = path.clone();
        async move { agent.post(plane, &path, &body).await }
    });
    let path = below("cancel");
    demands!("ReasonGiven", json!({}), "", |body: Value| {
        let path = path.clone();
        async move { agent.post(plane, &path, &body).await }
    });
    demands!(
        "Confirm",
        json!({ "confirm": confirm(), "target": { "what": "it" } }),
        "/confirm",
        post("/mplp/v1/confirms")
    );

    let unclear = json!({ "plan_object": { "components": [{ "name": "form" }], "languages": ["ar-sa"] } });
    demands!("CheckRequest", unclear.clone(), "", post("/v1/clarification/submit-clarification"));
    let session = agent.post(plane, "/v1/clarification/submit-clarification", &unclear).await.expect(200).json();
    let session = session["session_id"].clone();
    let answer = json!({ "session_id": session, "gap_id": "gap-001", "answer": "button" });
    demands!("ResolveRequest", answer, "", post("/v1/clarification/resolve-gap"));
    demands!("SessionRequest", json!({ "session_id": session }), "", post("/v1/clarification/confirm-plan"));
    demands!("Prove", json!({ "password": countersign_testkit::PASSWORD }), "", page("/session/fresh"));

    let left: BTreeSet<String> = description.bodies().difference(&seen).cloned().collect();
    let known = ["ConfirmSubmission", "Governance", "ProjectDocument", "UndoCallRequest"].iter().chain(&EITHER_OR);
    assert_eq!(left, known.map(|name| (*name).to_owned()).collect(), "whoever adds a body adds it here");
}

/// The project document, by an admin: the required members of its entries.
#[tokio::test]
async fn the_entries_of_a_project_document_need_their_required_members() {
    let stage = Stage::with(Kit(Backend::Sqlite), Setup::payments()).await;
    let plane = &stage.plane;
    let description = Description::of(plane).await;
    let mut seen = BTreeSet::new();
    let root = plane.person_in("calendar", "root", &[countersign_engine::Role::Admin]).await;
    let put = |body: Value| {
        let root = root.clone();
        async move { root.send(plane, Method::PUT, "/v1/project", &body).await }
    };
    let shown = root.get(plane, "/v1/project").await.expect(200).json();
    let mut document = shown["document"].clone();
    let scope = document["scopes"][0].clone();
    let action = scope["allows"][0].clone();
    document["routes"] = json!([{ "id": "r", "method": "POST", "path": "/r", "action": action }]);
    document["upstreams"] = json!([]);
    demands((&description, &mut seen), "Route", document.clone(), "/routes/0", put).await;
    document["actions"] = json!([{ "name": "mail.send" }]);
    demands((&description, &mut seen), "ActionPolicy", document.clone(), "/actions/0", put).await;
    let mut route = document.clone();
    route["routes"][0]["describe"] = json!({ "action": "Do it" });
    demands((&description, &mut seen), "RouteTexts", route.clone(), "/routes/0/describe", put).await;
    route["routes"][0]["values"] = json!([{ "name": "amount", "from": "body.amount", "unit": "USD" }]);
    demands((&description, &mut seen), "ValueField", route, "/routes/0/values/0", put).await;
    document["upstreams"] = json!([{ "id": "u", "url": "http://127.0.0.1:9000" }]);
    demands((&description, &mut seen), "Upstream", document, "/upstreams/0", put).await;
}

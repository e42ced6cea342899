//! Plans and Confirms over HTTP. Every produced document is validated, also by foreign validators.

mod allowances;
mod confirms;
mod decisions;
mod documents;
mod events;
mod following;
mod guide;
mod imports;
mod locked;
mod plans;
mod roles;
mod samples;
mod steps;
mod strangers;

use countersign_engine::{ApiKeyKind, Role};
use countersign_testkit::{
    Answer, Backend, Kit, Plane, Setup, TestAgent, TestPerson,
    decisions::ALL,
    mplp_judge::{judge, problems, published_problems},
};
use http::Method;
use serde_json::{Value, json};
use std::sync::Mutex;

/// The start of most tests: an agent with a key of alice's, and alice with a device that answers.
pub(crate) struct Stage {
    pub(crate) plane: Plane,
    pub(crate) alice: TestPerson,
    pub(crate) agent: TestAgent,
    /// Alice's, with a subscriber token.
    pub(crate) device: TestAgent,
    kit: Kit,
    produced: Mutex<Vec<(&'static str, Value)>>,
}

/// The actions that the agent's key lists beside the usual ones.
const TARGETS: [&str; 4] = ["mplp.context", "mplp.trace", "mplp.extension", "mplp.other"];

impl Stage {
    pub(crate) async fn set(kit: Kit) -> Self {
        Self::with(kit, Setup::payments()).await
    }

    pub(crate) async fn with(kit: Kit, setup: Setup) -> Self {
        Self::on(kit, kit.plane_with(with_targets(setup)).await).await
    }

    pub(crate) async fn on(kit: Kit, plane: Plane) -> Self {
        Self::with_key(kit, plane, &[ALL, &TARGETS].concat()).await
    }

    /// With an agent whose key lists these actions.
    pub(crate) async fn with_key(kit: Kit, plane: Plane, actions: &[&str]) -> Self {
        let alice = plane.person("alice").await;
        let agent = plane.agent_key("alice", actions).await;
        let device = device_of(&plane, &alice).await;
        Self { plane, alice, agent, device, kit, produced: Mutex::default() }
    }

    /// Another person with a device that answers.
    pub(crate) async fn person(&self, name: &str, role: Role) -> TestAgent {
        let person = self.plane.person_in("calendar", name, &[role]).await;
        device_of(&self.plane, &person).await
    }

    pub(crate) async fn admin_key(&self) -> TestAgent {
        self.plane.key_of(ApiKeyKind::Admin, "alice", &[], &[]).await
    }

    pub(crate) async fn get(&self, who: &TestAgent, below: &str) -> Answer {
        self.send(who, Method::GET, below, None).await
    }

    pub(crate) async fn post(&self, who: &TestAgent, below: &str, body: &Value) -> Answer {
        self.send(who, Method::POST, below, Some(body)).await
    }

    pub(crate) async fn put(&self, who: &TestAgent, below: &str, body: &Value) -> Answer {
        self.send(who, Method::PUT, below, Some(body)).await
    }

    async fn send(&self, who: &TestAgent, method: Method, below: &str, body: Option<&Value>) -> Answer {
        let path = format!("/mplp/v1/{below}");
        let answer = who.send(&self.plane.public, method, &path, body.map(Value::to_string)).await;
        if answer.is_success() {
            self.produced.lock().unwrap().extend(produced(below, &answer));
        }
        answer
    }

    /// Writes and proposes a plan; returns its Confirm.
    pub(crate) async fn proposed(&self, plan: &Value) -> Value {
        self.post(&self.agent, "plans", plan).await;
        let id = plan.get("plan").unwrap_or(plan)["plan_id"].as_str().unwrap().to_owned();
        self.post(&self.agent, &format!("plans/{id}/propose"), &json!({})).await.expect(201).json()
    }

    /// Asks for an approval of a target other than a plan; returns its Confirm.
    pub(crate) async fn asked(&self, target_type: &str, n: u64) -> Value {
        self.post(&self.agent, "confirms", &confirm(target_type, n)).await.expect(201).json()
    }

    pub(crate) async fn decides(&self, who: &TestAgent, confirm: &Value, body: &Value) -> Answer {
        self.post(who, &format!("{}/decisions", place(confirm)), body).await
    }

    /// Alice decides from her device; returns the Confirm with the decision in it.
    pub(crate) async fn says(&self, confirm: &Value, status: &str, reason: Option<&str>) -> Value {
        let mut body = json!({ "status": status });
        body.as_object_mut().unwrap().extend(reason.map(|reason| ("reason".to_owned(), json!(reason))));
        self.decides(&self.device, confirm, &body).await.expect(201).json()
    }

    pub(crate) async fn confirm(&self, confirm: &Value) -> Value {
        self.get(&self.agent, &place(confirm)).await.expect(200).json()
    }

    pub(crate) async fn plan(&self, n: u64) -> Value {
        self.get(&self.agent, &format!("plans/{}", id(n))).await.expect(200).json()
    }

    /// All events so far that this reader may see.
    pub(crate) async fn told(&self, who: &TestAgent) -> Vec<Value> {
        let page = self.get(who, "events?limit=200").await.expect(200).json();
        page["items"].as_array().unwrap().clone()
    }

    /// The types of the events, in order.
    pub(crate) async fn told_types(&self) -> Vec<String> {
        let told = self.told(&self.agent).await;
        told.iter().map(|event| event["event_type"].as_str().unwrap().to_owned()).collect()
    }
}

/// Validates on drop, so that no test can forget it.
impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let documents = std::mem::take(&mut *self.produced.lock().unwrap());
        if self.kit.0 == Backend::Sqlite && !documents.is_empty() {
            return judge(&documents);
        }
        for (name, document) in &documents {
            let found = [problems(name, document), published_problems(name, document)].concat();
            assert!(found.is_empty(), "no sound {name}: {found:#?}\n{document:#}");
        }
    }
}

/// The documents of a response, by the names of their schemas.
fn produced(below: &str, answer: &Answer) -> Vec<(&'static str, Value)> {
    let path = below.split('?').next().unwrap();
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["events"] => items(answer).into_iter().flat_map(of_bus).collect(),
        ["learning-samples"] => lines(answer).into_iter().flat_map(of_learning).collect(),
        ["roles"] => items(answer).into_iter().map(|role| ("role", role)).collect(),
        [_, _, "actions" | "diff"] | ["allowances", ..] => Vec::new(),
        ["plans", _, "trace"] => vec![("trace", answer.json())],
        ["plans", _, "propose"] => vec![("confirm", answer.json())],
        [kind @ ("plans" | "confirms"), ..] => {
            let name = if *kind == "plans" { "plan" } else { "confirm" };
            let document = answer.json();
            let all = if document.get("items").is_some() { items(answer) } else { vec![document] };
            all.into_iter().map(|document| (name, document)).collect()
        }
        _ => panic!("what is produced at {below}?"),
    }
}

pub(crate) fn items(answer: &Answer) -> Vec<Value> {
    answer.json()["items"].as_array().expect("a list").clone()
}

pub(crate) fn lines(answer: &Answer) -> Vec<Value> {
    answer.text().lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

pub(crate) fn of_bus(event: Value) -> Vec<(&'static str, Value)> {
    let family = match event["event_family"].as_str().unwrap() {
        "pipeline_stage" => "pipeline-stage",
        "graph_update" => "graph-update",
        "runtime_execution" => "runtime-execution",
        other => panic!("a family that is not emitted: {other}"),
    };
    vec![("bus-event", event.clone()), (family, event)]
}

fn of_learning(sample: Value) -> Vec<(&'static str, Value)> {
    let mut all = vec![("learning-sample", sample.clone())];
    if sample["sample_family"] == "intent_resolution" {
        all.push(("learning-sample-intent", sample));
    }
    all
}

async fn device_of(plane: &Plane, person: &TestPerson) -> TestAgent {
    let subscriber = person.subscriber(plane).await;
    TestAgent { token: subscriber.token, principal: subscriber.token_id }
}

/// A key lists only actions that the project knows.
pub(crate) fn with_targets(mut setup: Setup) -> Setup {
    let policies = TARGETS.map(|name| json!({ "name": name }));
    let policies: Vec<_> = policies.into_iter().map(|policy| serde_json::from_value(policy).unwrap()).collect();
    setup.projects[0].actions.extend(policies);
    setup
}

/// An id of version 4, the same for the same number.
pub(crate) fn id(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012x}")
}

/// The id of a step of a plan.
pub(crate) fn step(plan: u64, n: u64) -> String {
    id(plan * 1000 + n)
}

/// A plan with this many steps, each after the one before.
pub(crate) fn plan(n: u64, steps: u64) -> Value {
    let step = |at: u64| {
        let mut all = json!({ "step_id": step(n, at), "description": format!("Do part {at}"), "status": "pending" });
        if at > 1 {
            all["dependencies"] = json!([step(n, at - 1)]);
        }
        all
    };
    json!({
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
        "plan_id": id(n),
        "context_id": id(1_000_000 + n),
        "title": format!("Tidy the notes {n}"),
        "objective": "The notes are in order",
        "status": "draft",
        "steps": (1..=steps).map(step).collect::<Vec<_>>(),
    })
}

/// A plan of one step that archives any of three notes, this many times.
pub(crate) fn archiving(n: u64, uses: u64) -> Value {
    let action = json!({
        "tool": "notes.archive",
        "arguments": { "note": "a" },
        "released": { "note": { "one_of": ["a", "b", "c"] } },
        "uses": uses,
    });
    json!({ "plan": plan(n, 1), "actions": { (step(n, 1)): action } })
}

/// A Confirm as an agent writes it.
pub(crate) fn confirm(target_type: &str, n: u64) -> Value {
    json!({
        "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
        "confirm_id": id(9_000_000 + n),
        "target_type": target_type,
        "target_id": id(n),
        "status": "pending",
        "requested_by_role": "agent",
        "requested_at": "2025-12-07T00:00:00Z",
        "reason": "It is time",
    })
}

/// The path of a Confirm.
pub(crate) fn place(confirm: &Value) -> String {
    format!("confirms/{}", confirm["confirm_id"].as_str().expect("a Confirm"))
}

/// The status of a Confirm, and that of each of its decisions.
pub(crate) fn statuses(confirm: &Value) -> (String, Vec<String>) {
    let text = |value: &Value| value["status"].as_str().unwrap().to_owned();
    let decisions = confirm["decisions"].as_array().cloned().unwrap_or_default();
    (text(confirm), decisions.iter().map(text).collect())
}

//! A project with rules for three fields of a payment, and an agent that wants to make one.

use countersign_engine::{ApiKeyKind, Role};
use countersign_testkit::{Answer, Kit, Plane, Setup, TestAgent, TestPerson, decisions::ALL};
use http::Method;
use serde_json::{Map, Value, json};

pub(crate) struct World {
    pub(crate) plane: Plane,
    pub(crate) alice: TestPerson,
    pub(crate) agent: TestAgent,
}

/// | field | severity | who may answer | suggestions |
/// |---|---|---|---|
/// | `account` | BLOCK | the agent | Operating, Reserve |
/// | `region` | WARN | the agent | none |
/// | `beneficiary` | BLOCK, all of `build` | a person | none |
/// | `plan.objective`, of a plan that people approve | BLOCK | the agent | none |
pub(crate) fn setup() -> Setup {
    let payment = json!([{ "field": "what", "present": true }]);
    Setup::payments_with(|document| {
        document.clarification = serde_json::from_value(json!({
            "agent_id": "meridian-asks",
            "session_seconds": 3600,
            "pack": false,
            "rules": [
                { "id": "account", "kind": "required", "field": "account", "person": false, "when": payment,
                  "question": "Which account is charged?", "context": "There are two, and they are not alike.",
                  "suggestions": ["Operating", "Reserve"] },
                { "id": "region", "kind": "required", "field": "region", "severity": "WARN", "when": payment,
                  "question": "Where does the money go?", "context": "Fees depend on it." },
                { "id": "beneficiary", "kind": "required", "field": "beneficiary", "person": true, "when": payment,
                  "question": "Who gets the money?", "context": "Nobody gives it back.",
                  "blocked_operations": ["build"] },
                { "id": "objective", "kind": "required", "field": "plan.objective", "person": false,
                  "question": "What is the plan for?", "context": "Whoever approves it wants to know." },
            ],
        }))
        .unwrap();
    })
}

/// A plan with these members, and `what`.
pub(crate) fn plan(members: &Value) -> Value {
    let mut plan = Map::from_iter([("what".to_owned(), json!("pay the deposit"))]);
    plan.extend(members.as_object().unwrap().clone());
    Value::Object(plan)
}

/// Everything but the account.
pub(crate) fn without_account() -> Value {
    plan(&json!({ "region": "EU", "beneficiary": "Harbour Estates" }))
}

pub(crate) fn complete() -> Value {
    plan(&json!({ "account": "Reserve", "region": "EU", "beneficiary": "Harbour Estates" }))
}

impl World {
    pub(crate) async fn made(kit: Kit) -> Self {
        let plane = kit.plane_with(setup()).await;
        let alice = plane.person("alice").await;
        let agent = plane.agent_key("alice", ALL).await;
        Self { plane, alice, agent }
    }

    pub(crate) async fn post(&self, who: &TestAgent, below: &str, body: &Value) -> Answer {
        who.post(&self.plane, &place(below), body).await
    }

    pub(crate) async fn get(&self, who: &TestAgent, below: &str) -> Answer {
        who.send(&self.plane.public, Method::GET, &place(below), None).await
    }

    pub(crate) async fn submits(&self, plan: &Value) -> Value {
        self.post(&self.agent, "submit-clarification", &json!({ "plan_object": plan })).await.expect(200).json()
    }

    /// The agent answers the gap about a field of a session.
    pub(crate) async fn answers(&self, asked: &Value, field: &str, answer: &str) -> Answer {
        let body = json!({ "session_id": asked["session_id"], "gap_id": gap(asked, field)["id"], "answer": answer });
        self.post(&self.agent, "resolve-gap", &body).await
    }

    pub(crate) async fn confirms(&self, asked: &Value) -> Answer {
        self.post(&self.agent, "confirm-plan", &session(asked)).await
    }

    pub(crate) async fn device(&self, name: &str, roles: &[Role]) -> TestAgent {
        let person = self.plane.person_in("calendar", name, roles).await;
        let subscriber = person.subscriber(&self.plane).await;
        TestAgent { token: subscriber.token, principal: subscriber.token_id }
    }

    pub(crate) async fn admin_key(&self) -> TestAgent {
        self.plane.key_of(ApiKeyKind::Admin, "alice", &[], &[]).await
    }
}

pub(crate) fn place(below: &str) -> String {
    format!("/v1/clarification/{below}")
}

pub(crate) fn session(asked: &Value) -> Value {
    json!({ "session_id": asked["session_id"] })
}

/// `below?session_id=`
pub(crate) fn of(below: &str, asked: &Value) -> String {
    format!("{below}?session_id={}", asked["session_id"].as_str().expect("a session"))
}

pub(crate) fn gap(asked: &Value, field: &str) -> Value {
    let gaps = asked["gaps"].as_array().expect("gaps");
    gaps.iter().find(|gap| gap["field"] == field).unwrap_or_else(|| panic!("no gap about {field}: {asked}")).clone()
}

/// The open fields.
pub(crate) fn open(told: &Value) -> Vec<String> {
    let gaps = told["gaps"].as_array().expect("gaps");
    gaps.iter().map(|gap| gap["field"].as_str().unwrap().to_owned()).collect()
}

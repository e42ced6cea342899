//! Plans at the bank: an agent's drafts, and people's decisions about them.

use super::BankFixture;
use crate::{Answer, Plane, TestPerson};
use countersign_engine::{Allowance, AnswerContent, CountedAnswer, Extra, NotCounted, ProvenPerson, Refusal, Via};
use countersign_protocol::{
    aaep::event::{Risk, YesNo},
    bounds::Bounds,
    mplp::MplpId,
    project::ProjectDocument,
};
use http::Method;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Transfers of medium risk, so that one approval may cover several, with high limits for open questions.
pub fn payouts(document: &mut ProjectDocument) {
    transfers(document).risk = Some(Risk::Medium);
    document.decisions.max_open_per_agent = 200;
    document.decisions.max_open_per_person = 200;
}

pub fn transfers(document: &mut ProjectDocument) -> &mut countersign_protocol::project::Route {
    document.routes.iter_mut().find(|route| route.id == "transfers").expect("the route of the transfers")
}

/// The action of a step: transfers of at most 500 dollars to the usual payee, `uses` times.
pub fn paying(uses: u64) -> Value {
    paying_within(json!({ "most": "500.00" }), uses)
}

/// The action of a step, with a limit of the test's own.
pub fn paying_within(bound: Value, uses: u64) -> Value {
    let mut action = paying_exactly("100.00");
    action["released"] = json!({ "body.amount": bound });
    action["uses"] = json!(uses);
    action
}

/// Exactly one transfer.
pub fn paying_exactly(amount: &str) -> Value {
    let body = json!({ "from": "ours", "to": "theirs", "amount": amount, "currency": "USD" });
    json!({ "route": "transfers", "arguments": { "body": body } })
}

/// An agent's plan, built step by step.
#[derive(Clone, Debug)]
pub struct PlanDraft {
    number: u64,
    steps: Vec<Value>,
    actions: Map<String, Value>,
    lasts_seconds: Option<i64>,
}

impl Default for PlanDraft {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, steps: Vec::new(), actions: Map::new(), lasts_seconds: None }
    }
}

impl PlanDraft {
    /// A plan of one step.
    pub fn of(action: Value) -> Self {
        Self::default().runs(action)
    }

    /// Adds a step with this action.
    #[must_use]
    pub fn runs(self, action: Value) -> Self {
        let mut plan = self.agent_step("Pay somebody");
        plan.actions.insert(plan.step(plan.steps.len()), action);
        plan
    }

    /// Adds a step with this action, which depends on the previous step.
    #[must_use]
    pub fn then_runs(self, action: Value) -> Self {
        let before = self.step(self.steps.len());
        let mut plan = self.runs(action);
        if let Some(step) = plan.steps.last_mut() {
            step["dependencies"] = json!([before]);
        }
        plan
    }

    /// Adds a step that the agent carries out by itself.
    #[must_use]
    pub fn agent_step(mut self, description: &str) -> Self {
        let step_id = self.step(self.steps.len() + 1);
        self.steps.push(json!({ "step_id": step_id, "description": description, "status": "pending" }));
        self
    }

    #[must_use]
    pub fn lasting(self, seconds: i64) -> Self {
        Self { lasts_seconds: Some(seconds), ..self }
    }

    pub fn id(&self) -> String {
        id(self.number * 1000)
    }

    /// The id of a step, starting at 1.
    pub fn step(&self, number: usize) -> String {
        id(self.number * 1000 + u64::try_from(number).expect("a few steps"))
    }

    /// The request body.
    pub fn submission(&self) -> Value {
        let plan = json!({
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": self.id(),
            "context_id": id(900_000_000 + self.number),
            "title": "Pay the suppliers",
            "objective": "All invoices of this month are paid",
            "status": "draft",
            "steps": self.steps,
        });
        let mut whole = json!({ "plan": plan, "actions": self.actions });
        if let Some(seconds) = self.lasts_seconds {
            whole["lasts_seconds"] = json!(seconds);
        }
        whole
    }

    fn path(&self, below: &str) -> String {
        format!("/mplp/v1/plans/{}{below}", self.id())
    }
}

/// An id of version 4, the same for the same number.
fn id(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012x}")
}

impl BankFixture {
    pub async fn writes(&self, draft: &PlanDraft) -> Answer {
        self.posts(&self.agent, "/mplp/v1/plans", &draft.submission()).await
    }

    /// Proposes a written plan; returns the ids of the pending decision.
    pub async fn proposes(&self, draft: &PlanDraft, how: &Value) -> Value {
        let proposed = self.posts(&self.agent, &draft.path("/propose"), how).await.expect(201);
        let name = |header: &str| proposed.header(header).expect("the name of the question").to_owned();
        json!({ "decision_id": name("countersign-decision"), "confirm_id": name("countersign-confirm") })
    }

    /// Writes and proposes a plan.
    pub async fn proposed(&self, draft: &PlanDraft) -> Value {
        self.writes(draft).await.expect(201);
        self.proposes(draft, &json!({})).await
    }

    /// Writes and proposes a plan, and alice approves all of it.
    pub async fn planned(&self, draft: &PlanDraft) -> Value {
        let decision = self.proposed(draft).await;
        self.alice.accepts(&self.plane, &decision).await;
        decision
    }

    /// The plan as its agent reads it.
    pub async fn plan(&self, draft: &PlanDraft) -> Value {
        self.requests(&self.agent, Method::GET, &draft.path("")).await.expect(200).json()
    }

    /// The status of a plan, and of each of its steps.
    pub async fn statuses(&self, draft: &PlanDraft) -> (String, Vec<String>) {
        let plan = self.plan(draft).await;
        let status = |value: &Value| value["status"].as_str().expect("a status").to_owned();
        (status(&plan), plan["steps"].as_array().expect("steps").iter().map(status).collect())
    }

    /// The call of a step, and its remaining uses.
    pub async fn step(&self, draft: &PlanDraft, number: usize) -> Value {
        let actions = self.requests(&self.agent, Method::GET, &draft.path("/actions")).await.expect(200).json();
        actions["steps"][number - 1].clone()
    }

    /// The remaining uses of a step.
    pub async fn uses_left(&self, draft: &PlanDraft, number: usize) -> i64 {
        self.step(draft, number).await["runs"]["left"]["uses"].as_i64().expect("what is left of a step")
    }

    /// The Confirm of a plan's question, as its agent reads it.
    pub async fn confirm(&self, decision: &Value) -> Value {
        let path = format!("/mplp/v1/confirms/{}", decision["confirm_id"].as_str().expect("a Confirm"));
        self.requests(&self.agent, Method::GET, &path).await.expect(200).json()
    }
}

impl TestPerson {
    /// Approves only some steps of a plan.
    pub async fn accepts_steps(
        &self,
        plane: &Plane,
        decision: &Value,
        steps: &[String],
    ) -> Result<CountedAnswer, NotCounted> {
        let steps = steps.iter().map(|step| MplpId::parse(step).expect("an id")).collect();
        self.approves_with(plane, decision, Extra { steps: Some(steps), ..Extra::default() }).await
    }

    /// Gives a standing approval within limits.
    pub async fn accepts_within(
        &self,
        plane: &Plane,
        decision: &Value,
        bounds: Value,
    ) -> Result<CountedAnswer, NotCounted> {
        let bounds: Bounds = serde_json::from_value(bounds).expect("bounds");
        self.approves_with(plane, decision, Extra { bounds: Some(bounds), ..Extra::default() }).await
    }

    async fn approves_with(&self, plane: &Plane, decision: &Value, extra: Extra) -> Result<CountedAnswer, NotCounted> {
        let given = AnswerContent::Reply { decision: YesNo::Accept, rationale: None, modified_action: None };
        self.submits_answer(plane, decision, given, extra).await
    }

    /// Cancels a question.
    pub async fn withdraws(&self, plane: &Plane, decision: &Value) -> Result<(), NotCounted> {
        let id = decision["decision_id"].as_str().expect("an id");
        let by = self.answerer(plane).await;
        plane.engine.decisions().call_off(&plane.at().await, id, &by, Some("not now".into()), false).await.map(|_| ())
    }

    /// Revokes the allowance of a step of a plan.
    pub async fn revokes_allowance(&self, plane: &Plane, step: &Value) -> Result<Allowance, Refusal> {
        let id = step["runs"]["left"]["allowance_id"].as_str().expect("something that is left");
        plane.engine.decisions().revoke_allowance(&plane.at().await, id, &self.answerer(plane).await, None).await
    }

    /// Cancels a plan with its remaining allowances.
    pub async fn cancels_plan(&self, plane: &Plane, draft: &PlanDraft) -> Result<(), Refusal> {
        let id = MplpId::parse(&draft.id()).expect("an id");
        plane.engine.plans().cancel_plan(&plane.at().await, &id, &self.answerer(plane).await, None).await.map(|_| ())
    }

    /// Reports an unknown outcome.
    pub async fn reconciles(&self, plane: &Plane, execution: &str, ran: bool) -> Result<(), Refusal> {
        let by = self.answerer(plane).await;
        let found =
            plane.engine.decisions().reconcile(&plane.at().await, execution, &by, ran, "it stands in the ledger").await;
        found.map(|_| ())
    }

    pub(crate) async fn answerer(&self, plane: &Plane) -> ProvenPerson {
        let at = plane.at().await;
        plane.engine.decisions().answerer(&at, &self.member(plane, &at).await, Via::Page)
    }
}

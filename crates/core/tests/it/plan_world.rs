//! Test fixture: a project with an agent that proposes plans, and every operation on a plan.

use crate::{
    decision_world::{ALICE, Ask, BOB, CAROL, DAN, NOW, Plane, answer, reply},
    mplp_submit::id,
};
use countersign_core::{
    bounded::{ActionTarget, Arguments, Units},
    decision::{
        answer::{Answer, Extra},
        claim::{Claim, ClaimView},
        due::{AllowanceDueView, DueView, ExecutionView},
        grant::AskedFor,
        raise::{RaiseView, Raised},
        revoke::{By, CancelPlan, CancelPlanView},
        terms::{self, People},
    },
    mplp::{
        plan::{ReportStep, StepView, WritePlan, WriteView},
        progress::is_running,
        question, submit,
    },
    records::{Allowance, Decision, DecisionTarget, Execution, Plan, Point, Question},
    refusal::Refusal,
    step::{Operation, Step},
};
use countersign_protocol::{
    aaep::event::YesNo,
    hash::Digest,
    ids::RowKey,
    mplp::{PlanSubmission, StepReport, TargetType},
    project::ProjectDocument,
    time::UnixMillis,
};
use serde_json::{Map, Value, json};

/// Actions of low and medium risk, three with named approvers; `vault` is irreversible and of high risk.
pub(crate) fn document() -> ProjectDocument {
    serde_json::from_value(json!({
        "id": "small",
        "actions": [
            { "name": "look", "irreversible": false, "risk": "low", "default_decision": "accept" },
            { "name": "send", "irreversible": false, "risk": "low" },
            { "name": "pay", "irreversible": false, "risk": "medium", "lease_seconds": 30 },
            { "name": "vault", "risk": "high", "approvers": ["role:approver", "user:carol"], "assurance": "fresh" },
            { "name": "ledger", "irreversible": false, "risk": "low", "approvers": ["user:carol"], "assurance": "session" },
            { "name": "diary", "irreversible": false, "risk": "low", "approvers": ["user:dan"] },
        ],
        "decisions": { "lease_seconds": 20, "allowance_seconds": 60 },
        "plans": { "timeout_seconds": 120, "default_seconds": 300, "max_seconds": 1000, "max_uses": 10 },
    }))
    .unwrap()
}

/// A plan with these steps: dependencies, counted from 1, and the action or null.
pub(crate) fn plan_of(steps: &[(&[usize], Value)]) -> PlanSubmission {
    let step = |(at, (before, _)): (usize, &(&[usize], Value))| {
        let before: Vec<_> = before.iter().map(|n| id(*n)).collect();
        json!({ "step_id": id(at + 1), "description": format!("step {}", at + 1), "status": "pending", "dependencies": before })
    };
    let actions = steps.iter().enumerate().filter(|(_, (_, action))| !action.is_null());
    let whole = json!({
        "plan": {
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": id(900), "context_id": id(901), "title": "Pay the bills", "objective": "Nothing is owed",
            "status": "approved", "steps": steps.iter().enumerate().map(step).collect::<Vec<_>>(),
        },
        "actions": actions.map(|(at, (_, action))| (id(at + 1).to_string(), action.clone())).collect::<Map<_, _>>(),
    });
    PlanSubmission::read(whole.to_string().as_bytes()).unwrap()
}

/// A tool call about to run.
pub(crate) fn call(tool: &str, arguments: &Value) -> AskedFor {
    let arguments = Arguments::of_tool(arguments.as_object().unwrap());
    AskedFor { what: ActionTarget::Tool { name: tool.into() }, arguments, units: Units::of_tool() }
}

/// A claim for a call from the plan or the confirmation request.
pub(crate) fn use_of(plane: &Plane, call: AskedFor) -> Claim {
    let ActionTarget::Tool { name } = &call.what else { panic!("{:?}", call.what) };
    let digest = Digest::of(format!("{name} {}", call.arguments.compact()).as_bytes());
    let rules = Some(terms::rules(&plane.project.document, name, None));
    Claim {
        digest,
        effect: None,
        point: Point::AgentClaimed,
        node: 1,
        call: Some(call),
        rules,
        probe: None,
        cancel: None,
        undo: None,
        window_closed: false,
    }
}

pub(crate) fn report(status: &str) -> StepReport {
    serde_json::from_value(json!({ "status": status })).unwrap()
}

pub(crate) fn yes(person: RowKey) -> Answer {
    answer(person, reply(YesNo::Accept), NOW)
}

pub(crate) fn no(person: RowKey) -> Answer {
    answer(person, reply(YesNo::Reject), NOW)
}

pub(crate) fn only(steps: &[usize]) -> Extra {
    Extra { steps: Some(steps.iter().map(|n| id(*n)).collect()), ..Extra::default() }
}

impl Plane {
    pub(crate) fn write(&self, submission: &PlanSubmission, now: UnixMillis) -> Result<Step<Plan>, Refusal> {
        let document = &self.project.document;
        let operation = WritePlan {
            by: self.raiser(0),
            document: submission.plan.clone(),
            actions: submit::planned(document, submission).unwrap(),
            lasts_s: submit::lifetime_s(document, submission).unwrap(),
            clarified: None,
        };
        let known = self.store.plans().find(|plan| plan.id == submission.plan.plan_id).cloned();
        let view = WriteView { place: self.place(), known, guards: self.guards(0) };
        operation.decide(&view, &self.env(now))
    }

    pub(crate) fn propose(&self, plan: RowKey, now: UnixMillis) -> Result<Step<Raised>, Refusal> {
        let plan = self.store.plan(plan).clone();
        let env = self.env(now);
        let ask = Ask { question: Question::Confirmation(question::about(&plan)), ..Ask::of("plan") };
        let digest = Digest::of(format!("{} {}", plan.key, plan.revision).as_bytes());
        let target = DecisionTarget {
            target_type: TargetType::Plan,
            target_id: plan.id.clone(),
            plan: Some(plan.key),
            requested_by_role: "agent".into(),
            reason: None,
            trace: None,
        };
        let mut raise = self.asking(&ask, digest, &env);
        raise.asked.target = Some(target);
        let named = plan.actions.values().map(|planned| self.named(&planned.tool)).collect();
        let view = RaiseView {
            project: self.project.clone(),
            session: None,
            pending: None,
            under_way: None,
            same_effect: None,
            last_ran_at: None,
            people: People { own: ALICE, named: Vec::new(), asks: Vec::new(), needs_s: None },
            plan: Some((plan, named)),
            guards: self.guards(0),
            somebody_there: true,
        };
        raise.decide(&view, &env)
    }

    fn named(&self, tool: &str) -> Vec<RowKey> {
        let people = [("user:alice", ALICE), ("user:bob", BOB), ("user:carol", CAROL), ("user:dan", DAN)];
        let policy = terms::policy_of(&self.project.document, tool);
        let is_named = |name: &str| policy.is_some_and(|policy| policy.approvers.iter().any(|known| known == name));
        people.into_iter().filter(|(name, _)| is_named(name)).map(|(_, person)| person).collect()
    }

    /// Writes and proposes a plan; returns the keys of the plan and its question.
    pub(crate) fn proposed(&mut self, submission: &PlanSubmission) -> (RowKey, RowKey) {
        let step = self.write(submission, self.store.now).unwrap();
        let plan = self.commit(step).key;
        (plan, self.proposes(plan))
    }

    pub(crate) fn proposes(&mut self, plan: RowKey) -> RowKey {
        let step = self.propose(plan, self.store.now).unwrap();
        self.commit(step).decision.key
    }

    /// Also approved by the person the agent acts for.
    pub(crate) fn approved(&mut self, submission: &PlanSubmission) -> RowKey {
        let (plan, decision) = self.proposed(submission);
        let step = self.answer(decision, yes(ALICE), NOW).unwrap();
        self.commit(step);
        plan
    }

    /// The allowance of a step, counted from 1.
    pub(crate) fn allowance_of_step(&self, step: usize) -> Option<&Allowance> {
        self.store.allowances().find(|row| row.step.as_ref().is_some_and(|of| of.step == id(step)))
    }

    pub(crate) fn claim_of(
        &self,
        allowance: RowKey,
        claim: Claim,
        approver_stands: bool,
        now: UnixMillis,
    ) -> Result<Step<Execution>, Refusal> {
        let AllowanceDueView { place, decision, session, allowance, plan } = self.allowance_seen(allowance);
        let under_way = self.store.under_way(claim.digest).map(|run| self.store.decision(run.decision).id.clone());
        let (allowance, guards, same_effect) = (Some(allowance), self.guards(0), None);
        let view = ClaimView {
            place,
            decision,
            allowance,
            session,
            guards,
            approver_stands,
            under_way,
            same_effect,
            fence: 0,
            plan,
        };
        claim.decide(&view, &self.env(now))
    }

    pub(crate) fn on_allowance<O: Operation<View = AllowanceDueView>>(
        &self,
        allowance: RowKey,
        operation: O,
        now: UnixMillis,
    ) -> Result<Step<O::Answer>, O::Refusal> {
        operation.decide(&self.allowance_seen(allowance), &self.env(now))
    }

    fn allowance_seen(&self, allowance: RowKey) -> AllowanceDueView {
        let allowance = self.store.allowance(allowance).clone();
        let DueView { place, decision, session, plan } = self.due_view(allowance.decision);
        AllowanceDueView { place, decision, session, plan: plan.filter(|_| allowance.step.is_some()), allowance }
    }

    pub(crate) fn on_use<O: Operation<View = ExecutionView>>(
        &self,
        execution: RowKey,
        operation: O,
        now: UnixMillis,
    ) -> Result<Step<O::Answer>, O::Refusal> {
        let execution = self.store.execution(execution).clone();
        let AllowanceDueView { place, decision, session, allowance, plan } = self.allowance_seen(execution.allowance);
        let view = ExecutionView { place, decision, session, execution, allowance: Some(allowance), plan };
        operation.decide(&view, &self.env(now))
    }

    pub(crate) fn report_step(
        &self,
        plan: RowKey,
        step: usize,
        report: StepReport,
        now: UnixMillis,
    ) -> Result<Step<Plan>, Refusal> {
        let plan = self.store.plan(plan).clone();
        let allowance = self.allowance_of_step(step).filter(|row| row.is_open()).cloned();
        let approved = self.approval(&plan);
        let view = StepView { place: self.place(), plan, approved, allowance, guards: self.guards(0) };
        ReportStep { step: id(step), report }.decide(&view, &self.env(now))
    }

    pub(crate) fn cancel(
        &self,
        plan: RowKey,
        by: By,
        reason: Option<&str>,
        now: UnixMillis,
    ) -> Result<Step<Plan>, Refusal> {
        let plan = self.store.plan(plan).clone();
        let approved = self.approval(&plan);
        let of_plan = |row: &&Allowance| row.step.as_ref().is_some_and(|of| of.plan == plan.key);
        let allowances = self.store.allowances().filter(of_plan).cloned().collect();
        let guards = self.guards(0);
        let view = CancelPlanView { place: self.place(), plan: plan.clone(), approved, allowances, guards };
        CancelPlan { by, reason: reason.map(str::to_owned) }.decide(&view, &self.env(now))
    }

    /// The approval of a running plan, and its session.
    fn approval(&self, plan: &Plan) -> Option<(Decision, countersign_core::records::AaepSession)> {
        let DueView { decision, session, .. } = self.due_view(plan.confirm.filter(|_| is_running(plan))?);
        Some((decision, session))
    }
}

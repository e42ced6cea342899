//! One approval for several calls: a plan is approved once, its calls run without further questions, and a call outside of
//! it is held, with its deviation shown. The unused part of an approval can be revoked at any time.

use super::{
    super::{
        plane::{PERSON, trouble},
        steps::{Steps, check},
    },
    Branch,
    calls::payout,
    desk::{action, describe},
};
use crate::DemoFailure;
use countersign_client::{
    agent::{AgentCall, CallError},
    mplp::Mplp,
};
use countersign_protocol::mplp::{
    AllowanceShown, MplpId, Plan, PlanStatus, PlanSubmission, ProposeRequest, StepReport, StepStatus,
};
use http::StatusCode;

const PLAN: &str = include_str!("../../../../examples/plan.json");
const PAYOUTS: &str = "/payouts";

const ACME: &str = "Acme Cleaning";
const GLOBEX: &str = "Globex Paper";

pub(super) async fn play(branch: &mut Branch, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
    let plan = branch.is_proposed_and_approved(steps).await?;
    branch.runs_unasked(&plan, steps).await?;
    branch.is_one_too_many(steps).await?;
    branch.is_another_amount(steps).await?;
    branch.is_taken_back(&plan, steps).await
}

impl Branch {
    async fn is_proposed_and_approved(&mut self, steps: &mut Steps<'_>) -> Result<Plan, DemoFailure> {
        let submission = PlanSubmission::read(PLAN.as_bytes()).map_err(trouble)?;
        let mplp = self.desk.plans()?;
        let plan = mplp.write(&submission).await.map_err(trouble)?;
        check(plan.status == PlanStatus::Draft, "a plan did not begin as a draft")?;
        let early = payout("acme-1", ACME, "480.00");
        let held = self.desk.is_held(&early).await?;
        let proposed = mplp.propose(&plan.plan_id, &ProposeRequest::default()).await.map_err(trouble)?;
        check(proposed.decision_id != held, "a plan and a call were taken for the same question")?;
        steps.done(
            "planned: the agent proposed to pay five invoices; before anybody approved that, the first was held",
        )?;
        let question = self.desk.reads(&self.node, &proposed.decision_id).await?;
        check(action(&question).contains("Pay the suppliers of July"), "the person was asked something else")?;
        steps.done(&format!("{PERSON} reads what would run, in the words of the bank's owner:"))?;
        for shown in self.shown_of(&mplp, &plan.plan_id).await? {
            steps.seen(&format!("\"{shown}\""))?;
        }
        self.desk.approves(&question).await?;
        self.bank_paid(0)?;
        steps.done(&format!("{PERSON} approved the plan on the phone, once; nothing has run by that alone"))?;
        Ok(plan)
    }

    async fn runs_unasked(&mut self, plan: &Plan, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let mplp = self.desk.plans()?;
        let own = plan.steps.first().ok_or_else(|| DemoFailure::new("the plan has no steps"))?;
        for status in [StepStatus::InProgress, StepStatus::Completed] {
            let report = StepReport { status, reason: None };
            mplp.report(&plan.plan_id, &own.step_id, &report).await.map_err(trouble)?;
        }
        for (reference, to, amount) in
            [("acme-1", ACME, "480.00"), ("acme-2", ACME, "419.90"), ("globex-71", GLOBEX, "120.00")]
        {
            self.answers(&payout(reference, to, amount), StatusCode::CREATED).await?;
        }
        self.bank_paid(3)?;
        let now = mplp.plan(&plan.plan_id).await.map_err(trouble)?;
        let statuses: Vec<StepStatus> = now.steps.iter().map(|step| step.status).collect();
        let wanted = [StepStatus::Completed, StepStatus::Completed, StepStatus::InProgress, StepStatus::Pending];
        check(statuses == wanted, &format!("the plan's steps are {statuses:?}"))?;
        steps.done("unasked: three invoices were paid without a further question, and the plan's progress says so")
    }

    async fn is_one_too_many(&mut self, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let told = self.is_held_and_told(&payout("acme-3", ACME, "0.10")).await?;
        check(told.iter().any(|line| line.contains("uses are claimed")), &format!("the difference is {told:?}"))?;
        self.bank_paid(3)?;
        steps.done("one too many: a third invoice of the same supplier was held, and the deviation shown:")?;
        told.iter().try_for_each(|line| steps.seen(line))
    }

    async fn is_another_amount(&mut self, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let told = self.is_held_and_told(&payout("globex-72", GLOBEX, "300.01")).await?;
        check(told.iter().any(|line| line.contains("body.amount")), &format!("the difference is {told:?}"))?;
        self.bank_paid(3)?;
        steps.done("another amount: one cent above the bound was held, and the deviation shown:")?;
        told.iter().try_for_each(|line| steps.seen(line))?;
        self.answers(&payout("globex-72", GLOBEX, "300.00"), StatusCode::CREATED).await?;
        self.bank_paid(4)?;
        steps.done("exactly the bound was paid")
    }

    async fn is_taken_back(&mut self, plan: &Plan, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let person = self.desk.person_client()?;
        let of_plan = |open: &AllowanceShown| open.plan_id.as_ref() == Some(&plan.plan_id);
        let open: Vec<AllowanceShown> =
            person.allowances().await.map_err(trouble)?.into_iter().filter(of_plan).collect();
        let [only] = open.as_slice() else {
            return Err(DemoFailure::new(format!(
                "not as promised: {} standing approvals of the plan are active",
                open.len()
            )));
        };
        check(only.left.uses == 1, &format!("{} uses are left", only.left.uses))?;
        person.revoke(&only.left.allowance_id, Some("that is enough")).await.map_err(trouble)?;
        self.desk.is_held(&payout("globex-73", GLOBEX, "10.00")).await?;
        self.bank_paid(4)?;
        steps.done(&format!("revoked: {PERSON} revoked the one remaining payment, and the next call was held"))
    }

    /// The calls of the steps, as rendered for people.
    async fn shown_of(&self, mplp: &Mplp, plan: &MplpId) -> Result<Vec<String>, DemoFailure> {
        let actions = mplp.actions(plan).await.map_err(trouble)?;
        let shown: Vec<String> = actions.steps.into_iter().filter_map(|step| Some(step.runs?.shown)).collect();
        let bounded = |text: &String| text.contains("at most 500.00 USD") || text.contains("at most 300.00 USD");
        check(shown.len() == 2 && shown.iter().all(bounded), &format!("the steps are shown as {shown:?}"))?;
        Ok(shown)
    }

    /// The deviation of a held call from the plan.
    async fn is_held_and_told(&mut self, call: &AgentCall) -> Result<Vec<String>, DemoFailure> {
        match self.desk.call(call).await {
            Err(CallError::NotPermitted(why)) if why.code == "irreversible_requires_confirm" => {
                check(!why.plan_difference.is_empty(), "a call beside the plan was held without the difference")?;
                Ok(why.plan_difference)
            }
            other => Err(DemoFailure::new(format!("not as promised: the call was not held: {}", describe(&other)))),
        }
    }

    fn bank_paid(&self, payouts: usize) -> Result<(), DemoFailure> {
        let paid = self.bank.effects(PAYOUTS).len();
        check(paid == payouts, &format!("the bank paid {paid} invoices, not {payouts}"))
    }
}

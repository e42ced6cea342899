//! Asking instead of guessing: a plan leaves the debited account open. The agent's own answer does not suffice for an
//! irreversible call, so a person answers. Approvers of the plan, and later auditors, see the author of the answer.

use super::{
    super::{
        plane::{PERSON, transport, trouble},
        steps::{Steps, check},
    },
    Branch,
    calls::payout,
    desk::action,
};
use crate::DemoFailure;
use countersign_client::{
    aaep::{Asks, ReceivedQuestion},
    clarification::{ChainReport, Registry, Signer, check_audit, published_keys},
};
use countersign_protocol::{
    clarification::{
        Gap, GivenBy, Status,
        submission::{CheckRequest, CheckResponse, ConfirmResponse, PlanAccepted, ResolveStatus},
    },
    mplp::MplpId,
};
use serde_json::Value;

const PLAN: &str = include_str!("../../../../examples/clarification/plan.json");
/// The place of the answer in the plan.
const PLACE: &str = "/actions/6d2e9f30-8b45-4ca7-9e16-4f0a2d8c3b75/arguments/body/from";
const ANSWER: &str = "main";

pub(super) async fn play(branch: &mut Branch, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
    let session = branch.is_unclear(steps).await?;
    branch.is_escalated_and_answered(&session, steps).await?;
    branch.is_confirmed(&session, steps).await?;
    branch.is_audited(&session, steps).await
}

impl Branch {
    async fn is_unclear(&mut self, steps: &mut Steps<'_>) -> Result<MplpId, DemoFailure> {
        let plan_object = serde_json::from_str(PLAN).map_err(trouble)?;
        let asked = CheckRequest { plan_object, session_id: None, protocol_version: None };
        let told = self.desk.clarifications()?.check(&asked).await.map_err(trouble)?;
        check(told.status == Status::NeedsClarification, "a plan that names no account was taken for clear")?;
        steps.done("unclear: a plan to pay a deposit names no account; instead of guessing the agent asks, signed:")?;
        steps.seen(&format!("\"{}\"", the_gap(&told)?.question))?;
        self.refuses(&payout("acme-9", "Acme Cleaning", "1.00"), (409, "clarification_required")).await?;
        steps.done("stopped: while that is open, the gateway refuses what the session would otherwise be held for")?;
        Ok(told.session_id)
    }

    async fn is_escalated_and_answered(&mut self, session: &MplpId, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let clarifications = self.desk.clarifications()?;
        let open = clarifications.gaps(session).await.map_err(trouble)?;
        let gap = the_gap(&open)?;
        let guessed = clarifications.answer(session, &gap.id, "savings").await.map_err(trouble)?;
        let escalated = guessed.status == ResolveStatus::Escalated && guessed.accepted_answer.is_none();
        check(escalated && guessed.open_gaps == 1, "the agent settled what a person owes")?;
        steps
            .done("escalated: the agent's own answer does not settle it, for money that has left does not come back")?;
        let decision = guessed.decision_id.ok_or_else(|| DemoFailure::new("not as promised: nobody was asked"))?;
        let question = self.desk.reads(&self.node, &decision).await?;
        let read = asked(&question);
        check(read == gap.question, &format!("{PERSON} was asked {read:?}"))?;
        self.desk.answers(&question, ANSWER).await?;
        let now = clarifications.gaps(session).await.map_err(trouble)?;
        check(now.gaps.is_empty(), "a person's answer did not settle it")?;
        steps.done(&format!("answered: {PERSON} chose \"{ANSWER}\" on the phone, and nothing is unclear any more"))
    }

    async fn is_confirmed(&mut self, session: &MplpId, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let confirmed = self.desk.clarifications()?.confirm(session).await.map_err(trouble)?;
        let ConfirmResponse::Accepted(accepted) = confirmed else {
            return Err(DemoFailure::new("not as promised: a plan without gaps was not accepted"));
        };
        check(has_nothing_but_the_answer(&accepted)?, "the accepted plan has something that nobody said")?;
        let decision =
            accepted.decision_id.ok_or_else(|| DemoFailure::new("not as promised: the plan was not proposed"))?;
        let question = self.desk.reads(&self.node, &decision).await?;
        check(action(&question).contains("Pay the deposit"), "another plan was proposed")?;
        let told = clarified(&question)?;
        steps.done(&format!("confirmed: the plan is attested and proposed, and {PERSON} reads what was clarified:"))?;
        steps.seen(&told)?;
        self.desk.approves(&question).await?;
        steps.done(&format!("{PERSON} approved it: the plan as submitted, with that answer and nothing else"))
    }

    async fn is_audited(&mut self, session: &MplpId, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let audit = self.desk.clarifications()?.audit(session).await.map_err(trouble)?.document;
        let keys = published_keys(&self.node.origin, None, &transport()?).await.map_err(trouble)?;
        let registry = Registry::default().with(&keys);
        let report = check_audit(&audit, &registry).map_err(trouble)?;
        check(is_told_truly(&report), &format!("the audit shows {report}"))?;
        steps.done("audited: all questions and answers were verified offline, with only the published keys")?;
        let mut forged = audit;
        let answer =
            forged.pointer_mut("/record/chain/1/answer").ok_or_else(|| DemoFailure::new("there is no answer"))?;
        *answer = Value::from("savings");
        let Err(wrong) = check_audit(&forged, &registry) else {
            return Err(DemoFailure::new("not as promised: a forged answer was taken for genuine"));
        };
        check(wrong.place.starts_with("record.chain[1]"), &format!("the forgery was found at {}", wrong.place))?;
        steps.done("forged: another answer in its place was found at once:")?;
        steps.seen(&wrong.to_string())
    }
}

fn the_gap(told: &CheckResponse) -> Result<&Gap, DemoFailure> {
    match told.gaps.as_slice() {
        [only] if only.person_must_answer => Ok(only),
        gaps => Err(DemoFailure::new(format!("not as promised: {} gaps are open", gaps.len()))),
    }
}

fn asked(question: &ReceivedQuestion) -> &str {
    match question.request() {
        Asks::Clarification(asked) => &asked.question,
        Asks::Confirmation(_) => "",
    }
}

/// Without the answer, the plan is the submitted one.
fn has_nothing_but_the_answer(accepted: &PlanAccepted) -> Result<bool, DemoFailure> {
    let mut plan = accepted.plan.clone();
    let (parent, member) = PLACE.rsplit_once('/').unwrap_or_default();
    let taken = plan.pointer_mut(parent).and_then(Value::as_object_mut).and_then(|body| body.remove(member));
    let submitted: Value = serde_json::from_str(PLAN).map_err(trouble)?;
    Ok(taken == Some(Value::from(ANSWER)) && plan == submitted)
}

/// The clarified value in the question, with the author of the answer.
fn clarified(question: &ReceivedQuestion) -> Result<String, DemoFailure> {
    let told = question.facts().clarification.as_ref().and_then(|told| told.answers.first());
    let told = told.ok_or_else(|| DemoFailure::new("not as promised: the plan does not say what was clarified"))?;
    check(told.answer == ANSWER && told.given_by == GivenBy::Person, &format!("the plan says {told:?}"))?;
    Ok(format!("\"{}\" \"{}\", answered by a person", told.question, told.answer))
}

/// First the agent's answer, which was not accepted; then a person's, which was.
fn is_told_truly(report: &ChainReport) -> bool {
    let given: Vec<_> = report.rounds.iter().map(|round| (round.given_by, round.resolved)).collect();
    let right = given == [(Some(GivenBy::Own), false), (Some(GivenBy::Person), true)];
    right && report.signer == Signer::Known && report.attested_at.is_some()
}

//! `…/claim`, `…/outcome`, `…/withdraw`: claiming an approval, reporting its outcome, or withdrawing a question.

use super::{AgentPrincipal, raise::digest_of};
use crate::{
    projects::ProjectAt,
    services::Decisions,
    session_locks::SessionLockGuard,
    store::{ExecutionFenced, ExecutionsOfDecision, MembershipOf, Outcome},
};
use countersign_core::{
    bounded::{ActionTarget, Arguments, Units},
    decision::{
        answer::is_entitled_by_policy,
        cancel::Withdraw,
        claim::{Claim, ClaimView},
        due::DueView,
        grant::AskedFor,
        outcome::{OutcomeReport, may_report},
        terms::rules,
    },
    mplp::roles::Deciding,
    people::ProjectMember,
    records::{Allowance, Ballot, Decision, DecisionState, Execution, Person, Point},
    refusal::Refusal,
    step::{Guard, Operation as _, Step},
};
use countersign_protocol::{
    decisions::{ClaimRequest, DecisionDocument, OutcomeRequest, OutcomeStatus, WithdrawRequest},
    hash::Digest,
    ids::RowKey,
};
use serde_json::{Map, Value};

/// The subject of a claim.
pub(crate) struct Claiming {
    pub(crate) digest: Digest,
    pub(crate) effect: Option<Digest>,
    /// For an approval with several allowances, the one that covers this call.
    pub(crate) allowance: Option<RowKey>,
}

impl<'engine> Decisions<'engine> {
    /// Claims an approval. Its whole basis is decided again, and the claim is durable before this returns.
    pub async fn claim(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &str,
        body: &ClaimRequest,
    ) -> Result<DecisionDocument, Refusal> {
        let claim = || async {
            let decision = self.own_decision(at, agent, id).await?;
            let tool = body.tool.as_deref().unwrap_or(&decision.action);
            self.clarifications().check_run(&at.project, &agent.raiser, (tool, None), Some(&decision)).await?;
            let digest = claimed_digest(at, agent, body)?;
            let call = claimed_call(body);
            let lock = self.engine.session_locks.lock(decision.asked_in).await;
            let allowance = self.allowance_for(agent, &decision, call.as_ref()).await?;
            let claiming = Claiming { digest, effect: decision.effect, allowance };
            let view = self.claim_view(at, agent.guards.clone(), &decision, &claiming).await?;
            let tool = body.tool.as_deref().unwrap_or(&decision.action);
            let operation = Claim {
                digest,
                effect: claiming.effect,
                point: Point::AgentClaimed,
                node: self.store.lane(),
                call,
                rules: Some(rules(&at.project.document, tool, None)),
                probe: None,
                cancel: None,
                undo: None,
                window_closed: false,
            };
            let step = operation.decide(&view, &self.env()?)?;
            Ok::<_, Refusal>((lock, step.map(|execution| (view.decision, execution))))
        };
        match self.run_to_outcome(claim).await? {
            (Outcome::Committed, (decision, execution)) => self.claim_document(at, decision, execution).await,
            (Outcome::OutOfTime, _) => Err(Refusal::ApprovalGone("it has expired")),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// The very use that was claimed: an approval may have others.
    async fn claim_document(
        self,
        at: &ProjectAt,
        decision: Decision,
        execution: Execution,
    ) -> Result<DecisionDocument, Refusal> {
        let page = self.page_of(at, &decision.id);
        let mut whole = self.load_whole(decision).await?;
        whole.execution = Some(execution);
        Ok(whole.document(page))
    }

    /// The approval of a decision that covers the call. Standing approvals are for the requester's session.
    async fn allowance_for(
        self,
        agent: &AgentPrincipal,
        decision: &Decision,
        call: Option<&AskedFor>,
    ) -> Result<Option<RowKey>, Refusal> {
        let allowances = self.allowances_of(decision).await?;
        if !allowances.iter().any(Allowance::is_bounded) {
            return Ok(None);
        }
        if decision.raised_by.session != agent.raiser.session {
            return Err(Refusal::ConfirmationInvalid("it was given to another session".into()));
        }
        let said = || Refusal::invalid("this is a standing approval: send tool and arguments of the call to run");
        let call = call.ok_or_else(said)?;
        match best_match(&allowances, call) {
            Some(key) => Ok(Some(key)),
            None => Err(Refusal::ConfirmationInvalid(self.difference_to_approval(decision, &allowances, call).await?)),
        }
    }

    async fn difference_to_approval(
        self,
        decision: &Decision,
        allowances: &[Allowance],
        call: &AskedFor,
    ) -> Result<String, Refusal> {
        let patterns = allowances.iter().filter_map(|allowance| Some((allowance.key, allowance.pattern.as_ref()?)));
        let nearest = countersign_core::bounded::differences(patterns, &call.what, &call.arguments, &call.units);
        let what = if decision.plan().is_some() { "the plan" } else { "the approval" };
        Ok(match nearest {
            Some((_, lines)) => {
                let lines: Vec<String> = lines.iter().map(|line| line.text("en")).collect();
                format!("{what} does not cover this call: {}", lines.join("; "))
            }
            None => format!("{what} does not cover this action"),
        })
    }

    /// The highest fence among all claims of this effect so far.
    async fn highest_fence(self, project: RowKey, claiming: &Claiming) -> Result<i64, Refusal> {
        let lookup = ExecutionFenced { project, fence_of: claiming.effect.unwrap_or(claiming.digest) };
        let newest = self.find_one(lookup).await?;
        Ok(newest.map_or(0, |execution| execution.fence))
    }

    /// The whole basis of a claim, as the store has it now.
    pub(crate) async fn claim_view(
        self,
        at: &ProjectAt,
        mut guards: Vec<Guard>,
        decision: &Decision,
        claiming: &Claiming,
    ) -> Result<ClaimView, Refusal> {
        let decision: Decision = self.load(decision.key).await?;
        let allowances = self.allowances_of(&decision).await?;
        let allowance = match claiming.allowance {
            Some(key) => allowances.into_iter().find(|allowance| allowance.key == key),
            None => allowances.into_iter().next(),
        };
        let approver_stands = self.is_approver_entitled(at, &decision, &mut guards).await?;
        let session = self.session_of_decision(&decision).await?;
        let under_way = self.under_way(decision.project, claiming.digest).await?;
        // A claimed approval of one call is refused by its own state; a standing one does not run equal calls side by side.
        let once = !allowance.as_ref().is_some_and(Allowance::is_bounded);
        let same_use = |execution: &Execution| execution.decision == decision.key && once;
        let under_way = under_way.filter(|(execution, _)| !same_use(execution)).map(|(_, id)| id);
        let same_effect = self.same_effect(decision.project, claiming.effect).await?;
        let plan = self.plan_of(allowance.as_ref().and_then(|a| Some(a.step.as_ref()?.plan))).await?;
        Ok(ClaimView {
            place: at.project_ref(),
            allowance,
            session,
            guards,
            approver_stands,
            under_way,
            same_effect,
            fence: self.highest_fence(decision.project, claiming).await?,
            plan,
            decision,
        })
    }

    /// Whether the basis of an approval of a tool call still holds: its rules, and its approver.
    pub(super) async fn is_still_claimable(
        self,
        at: &ProjectAt,
        decision: &Decision,
        allowance: &Allowance,
        tool: &str,
    ) -> Result<bool, Refusal> {
        let now = rules(&at.project.document, tool, None);
        let same_rules = allowance.rules.is_none_or(|then| then == now);
        Ok(same_rules && self.is_approver_entitled(at, decision, &mut Vec::new()).await?)
    }

    async fn is_approver_entitled(
        self,
        at: &ProjectAt,
        decision: &Decision,
        guards: &mut Vec<Guard>,
    ) -> Result<bool, Refusal> {
        match &decision.state {
            DecisionState::Accepted { by, .. } => self.still_entitled(at, decision, by, guards).await,
            _ => Ok(true),
        }
    }

    /// Whether the approver could still approve: the account, and the role in the project that entitled it.
    async fn still_entitled(
        self,
        at: &ProjectAt,
        decision: &Decision,
        by: &Ballot,
        guards: &mut Vec<Guard>,
    ) -> Result<bool, Refusal> {
        let person: Option<Person> = self.get(by.person).await?;
        let Some(person) = person.filter(|person| !person.disabled) else { return Ok(false) };
        let membership = self.find_one(MembershipOf { project: at.project.key, person: person.key }).await?;
        let member = ProjectMember { person, membership, fresh_until: self.now() };
        guards.extend(member.guards());
        let roles = member.roles();
        let approves = Deciding::of(&at.project.document, &member.person.subject, &roles).approves();
        Ok(approves && is_entitled_by_policy(decision, member.person.key, &roles, true))
    }

    pub async fn report(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &str,
        body: &OutcomeRequest,
    ) -> Result<DecisionDocument, Refusal> {
        if body.error_message.as_ref().is_some_and(|why| !(1..=4096).contains(&why.chars().count())) {
            return Err(Refusal::invalid("error_message has 1 to 4096 characters"));
        }
        let operation = match body.status {
            OutcomeStatus::Running => OutcomeReport::Running,
            OutcomeStatus::Committed => OutcomeReport::Committed,
            // The agent's report is not the upstream's: the call's reservation is not given back.
            OutcomeStatus::Failed => OutcomeReport::Failed { why: body.error_message.clone(), refused: false },
        };
        let report = || async {
            let decision = self.own_decision(at, agent, id).await?;
            let lock = self.engine.session_locks.lock(decision.asked_in).await;
            if decision.plan().is_none() {
                // The steps of a plan name their own enforcement point.
                may_report(decision.point, Point::AgentClaimed)?;
            }
            let execution = self.reported_execution(&decision, body.execution_id.as_deref()).await?;
            may_report(execution.point, Point::AgentClaimed)?;
            let session = self.session_of_decision(&decision).await?;
            let view = self.execution_view(at.project_ref(), decision, session, execution).await?;
            let step = operation.clone().decide(&view, &self.env()?)?;
            Ok::<_, Refusal>((lock, step.map(|execution| (view.decision, execution))))
        };
        match self.run_to_outcome(report).await? {
            (Outcome::Committed, (decision, execution)) => self.claim_document(at, decision, execution).await,
            (Outcome::OutOfTime, _) => Err(Refusal::Conflict("the lease has lapsed".into())),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// The execution of a report: the named one, the only one in progress, or the last.
    async fn reported_execution(self, decision: &Decision, id: Option<&str>) -> Result<Execution, Refusal> {
        let all = self.find_all(ExecutionsOfDecision(decision.key)).await?;
        if let Some(id) = id {
            let named = all.into_iter().find(|execution| execution.id == id);
            return named.ok_or_else(|| Refusal::NotFound("there is no such execution of this decision".into()));
        }
        let mut open = all.iter().filter(|execution| execution.is_under_way());
        match (open.next(), open.next()) {
            (Some(_), Some(_)) => Err(Refusal::invalid("several calls are in progress: name one by execution_id")),
            (Some(only), None) => Ok(only.clone()),
            (None, _) => all.into_iter().next_back().ok_or_else(|| Refusal::Conflict("nothing was claimed".into())),
        }
    }

    pub async fn withdraw(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &str,
        body: &WithdrawRequest,
    ) -> Result<DecisionDocument, Refusal> {
        if body.reason.as_ref().is_some_and(|why| !(1..=4096).contains(&why.chars().count())) {
            return Err(Refusal::invalid("reason has 1 to 4096 characters"));
        }
        self.run_locked(|| async {
            let decision = self.own_decision(at, agent, id).await?;
            self.decide_withdrawal(at, decision, body.reason.clone()).await
        })
        .await?;
        self.decision(at, agent, id).await
    }

    /// Withdraws a question that needs no answer any more.
    pub(crate) async fn withdraw_open(self, at: &ProjectAt, key: RowKey, reason: &str) -> Result<(), Refusal> {
        self.run_locked(|| async {
            let decision: Option<Decision> = self.get(key).await?;
            match decision.filter(Decision::is_pending) {
                Some(decision) => self.decide_withdrawal(at, decision, Some(reason.to_owned())).await,
                None => Ok((None, Step::answer(()))),
            }
        })
        .await
    }

    async fn decide_withdrawal(
        self,
        at: &ProjectAt,
        decision: Decision,
        reason: Option<String>,
    ) -> Result<(Option<SessionLockGuard<'engine>>, Step<()>), Refusal> {
        let lock = self.engine.session_locks.lock(decision.asked_in).await;
        let session = self.session_of_decision(&decision).await?;
        let plan = self.plan_of(decision.plan()).await?;
        let view = DueView { place: at.project_ref(), decision, session, plan };
        let step = Withdraw { reason }.decide(&view, &self.env()?)?;
        Ok((lock, step))
    }
}

/// An open one comes first; the claim names the reason if none is open.
fn best_match(allowances: &[Allowance], call: &AskedFor) -> Option<RowKey> {
    let fits = |allowance: &&Allowance| allowance.pattern.as_ref().is_some_and(|pattern| call.fits(pattern).is_ok());
    let best = allowances.iter().filter(fits).min_by_key(|allowance| (!allowance.is_open(), allowance.key));
    best.map(|allowance| allowance.key)
}

/// The call that the agent is about to run, where it names it.
fn claimed_call(body: &ClaimRequest) -> Option<AskedFor> {
    let tool = body.tool.clone()?;
    Some(call_of(tool, &body.arguments.clone().unwrap_or_default()))
}

/// A call of an agent's own tool.
pub(crate) fn call_of(tool: String, arguments: &Map<String, Value>) -> AskedFor {
    AskedFor {
        what: ActionTarget::Tool { name: tool },
        arguments: Arguments::of_tool(arguments),
        units: Units::of_tool(),
    }
}

/// The digest of the call that the agent is about to run: computed here, or matched exactly.
fn claimed_digest(at: &ProjectAt, agent: &AgentPrincipal, body: &ClaimRequest) -> Result<Digest, Refusal> {
    match (&body.tool, &body.digest) {
        (Some(tool), None) => digest_of(at, agent, tool.clone(), body.arguments.clone().unwrap_or_default()),
        (None, Some(hex)) if body.arguments.is_none() => {
            Digest::from_hex(hex).ok_or_else(|| Refusal::invalid("digest is 64 hex digits"))
        }
        _ => Err(Refusal::invalid("name the call to run: tool and arguments, or the digest")),
    }
}

//! `POST /v1/confirmations`, `POST /v1/clarifications`, and the two AAEP events that raise a question.

use super::{AgentPrincipal, claims::call_of};
use crate::{
    projects::ProjectAt,
    services::Decisions,
    store::{
        self, AllowancesOpenByDigest, DecisionPendingSame, ExecutionOfEffect, ExecutionUnderWay, MembershipOf, Outcome,
        PersonBySubject,
    },
};
use countersign_core::{
    aaep::repeat::SentEvent,
    aap::access::{Limit, Usage},
    decision::{
        document::Whole,
        grant::AskedFor,
        raise::{NewQuestion, Raise, RaiseView, Raised, limit_reached},
        terms::{People, Wishes, policy_for, role},
    },
    held::of_arguments,
    people::accounts::LOCAL,
    records::{
        AaepSession, Allowance, Clarification, Confirmation, Decision, Execution, Plan, Point, Project, Question,
    },
    refusal::Refusal,
    signals::Audience,
    step::{Operation as _, Step},
};
use countersign_protocol::{
    aaep::event::{ResponseKind, Summaries, YesNo},
    action::{Action, AgentAction},
    decisions::{ClarificationRequest, ConfirmationRequest, DecisionDocument},
    hash::Digest,
    ids::RowKey,
    mplp::MplpId,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A pending question.
#[derive(Clone, Debug)]
pub struct RaisedDecision {
    pub document: DecisionDocument,
    pub decision: Decision,
    /// False if it was pending already.
    pub fresh: bool,
}

/// A question to raise, with the parts that only its view needs.
pub(crate) struct RaiseRequest {
    pub(crate) asked: NewQuestion,
    /// The AAEP session to ask in.
    pub(crate) session_id: Option<String>,
    /// The proposed plan, in the version that the question was made from.
    pub(crate) plan: Option<Plan>,
    /// The limits of a held call, which would refuse it after its approval.
    pub(crate) usage: Option<Usage>,
}

impl From<NewQuestion> for RaiseRequest {
    fn from(asked: NewQuestion) -> Self {
        Self { asked, session_id: None, plan: None, usage: None }
    }
}

impl Decisions<'_> {
    pub async fn raise_confirmation(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        body: &ConfirmationRequest,
    ) -> Result<RaisedDecision, Refusal> {
        self.raise_confirmation_sent(at, agent, body, None).await
    }

    /// The same for an event: sent again, it yields the same question.
    pub(crate) async fn raise_confirmation_sent(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        body: &ConfirmationRequest,
        sent: Option<SentEvent>,
    ) -> Result<RaisedDecision, Refusal> {
        let tool = body.tool.clone().unwrap_or_default();
        agent.may_ask_for(&tool)?;
        self.clarifications().check_question(&at.project, &agent.raiser, &tool).await?;
        let digest = agent_digest(at, agent, body)?;
        let call = body.tool.clone().map(|tool| call_of(tool, &body.arguments.clone().unwrap_or_default()));
        if let Some(covered) = self.already_allowed(at, agent, &tool, call.as_ref()).await? {
            return Ok(covered);
        }
        let (session, key) = (body.session_id.as_deref(), body.idempotency_key.as_deref());
        let same = same(agent, &tool, session, key, &digest, "confirmation");
        if let Some(accepted) = self.accepted_unspent(at, agent, &tool, digest, same).await? {
            return Ok(accepted);
        }
        let mut question = Confirmation {
            action: body.action.clone(),
            consequence: body.consequence.clone(),
            summaries: summaries(&body.summary_terse, &body.summary_normal, &body.summary_detailed),
            extra_context: body.extra_context.clone(),
            allowed_replies: body.allowed_replies.clone().unwrap_or_else(|| vec![YesNo::Accept, YesNo::Reject]),
            tool: if tool.is_empty() { "confirmed_action".into() } else { tool.clone() },
            details: Some(call.as_ref().map(|call| of_arguments(call.arguments.root())).unwrap_or_default()),
            facts: Box::default(),
        };
        if let Some(call) = &call {
            question.facts.deviation = self.deviation(&agent.raiser, call).await?;
        }
        let named = body.clarification_session_id.as_ref();
        question.facts.clarification = self.clarifications().clarified(&at.project, &agent.raiser, named).await?;
        let keep = match &body.tool {
            Some(tool) => Some(self.seal_call(&at.project, tool, body.arguments.as_ref()).await?),
            None => None,
        };
        let question = Question::Confirmation(question);
        let wishes = Wishes {
            risk: body.risk_level,
            irreversible: body.irreversible,
            reversibility: body.reversibility,
            timeout_s: body.timeout_seconds,
            default: body.default_decision,
        };
        let asked = NewQuestion {
            wishes,
            language: body.language.clone(),
            correlation_id: body.correlation_id.clone(),
            keep,
            sent,
            ..NewQuestion::by_agent(digest, same, tool, question)
        };
        self.ask(at, agent, RaiseRequest { session_id: body.session_id.clone(), ..asked.into() }).await
    }

    pub async fn raise_clarification(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        body: &ClarificationRequest,
    ) -> Result<RaisedDecision, Refusal> {
        self.raise_clarification_sent(at, agent, body, None).await
    }

    pub(crate) async fn raise_clarification_sent(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        body: &ClarificationRequest,
        sent: Option<SentEvent>,
    ) -> Result<RaisedDecision, Refusal> {
        let question = Clarification {
            question: body.question.clone(),
            summaries: summaries(&body.summary_terse, &body.summary_normal, &body.summary_detailed),
            kinds: body.accepted_response_kinds.clone().unwrap_or_else(|| vec![ResponseKind::Freetext]),
            choices: body.choices.clone().unwrap_or_default(),
            context: body.context.clone(),
            default_response: body.default_response.clone(),
        };
        let words = serde_json::to_value(&question).map_err(|_| Refusal::Internal)?;
        let arguments = words.as_object().cloned().unwrap_or_default();
        let digest = digest_of(at, agent, String::new(), arguments)?;
        let (session, key) = (body.session_id.as_deref(), body.idempotency_key.as_deref());
        let same = same(agent, "", session, key, &digest, "clarification");
        let asked = NewQuestion {
            wishes: Wishes { timeout_s: body.timeout_seconds, ..Wishes::default() },
            language: body.language.clone(),
            correlation_id: body.correlation_id.clone(),
            sent,
            ..NewQuestion::by_agent(digest, same, String::new(), Question::Clarification(question))
        };
        self.ask(at, agent, RaiseRequest { session_id: body.session_id.clone(), ..asked.into() }).await
    }

    /// An approved plan or a standing approval answers before anybody is asked. An approval that can no longer be claimed
    /// does not prevent the question.
    async fn already_allowed(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        tool: &str,
        call: Option<&AskedFor>,
    ) -> Result<Option<RaisedDecision>, Refusal> {
        let Some(call) = call else { return Ok(None) };
        let (project, point) = (at.project.key, Point::AgentClaimed);
        let mut passed_over = Vec::new();
        while let Some(allowance) = self.find_covering(project, &agent.raiser, point, call, &passed_over).await? {
            let decision: Option<Decision> = store::get(&*self.store, allowance.decision).await?;
            let decision = decision.ok_or(Refusal::Internal)?;
            if self.is_still_claimable(at, &decision, &allowance, tool).await? {
                return self.allowed(at, decision, allowance).await.map(Some);
            }
            passed_over.push(allowance.key);
        }
        Ok(None)
    }

    /// The unclaimed approval of exactly this call, given to the same principal: a restarted agent continues with
    /// it, and nobody is asked twice.
    async fn accepted_unspent(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        tool: &str,
        digest: Digest,
        same: Digest,
    ) -> Result<Option<RaisedDecision>, Refusal> {
        let open = store::find_all(&*self.store, AllowancesOpenByDigest { project: at.project.key, digest }).await?;
        let now = self.now();
        let fits = |allowance: &Allowance| {
            let own = allowance.raised_by.principal == agent.raiser.principal && allowance.point == Point::AgentClaimed;
            own && !allowance.is_bounded() && now < allowance.until
        };
        for allowance in open.into_iter().filter(fits) {
            let decision: Option<Decision> = store::get(&*self.store, allowance.decision).await?;
            let Some(decision) = decision.filter(|decision| decision.same == same) else { continue };
            if self.is_still_claimable(at, &decision, &allowance, tool).await? {
                return self.allowed(at, decision, allowance).await.map(Some);
            }
        }
        Ok(None)
    }

    async fn allowed(
        self,
        at: &ProjectAt,
        decision: Decision,
        allowance: Allowance,
    ) -> Result<RaisedDecision, Refusal> {
        let session = self.session_of_decision(&decision).await?;
        let page = self.page_of(at, &decision.id);
        let whole =
            Whole { decision: decision.clone(), session, allowance: Some(allowance), execution: None, undoable: None };
        Ok(RaisedDecision { document: whole.document(page), decision, fresh: false })
    }

    pub(crate) async fn ask(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        asking: RaiseRequest,
    ) -> Result<RaisedDecision, Refusal> {
        let project = Arc::new(at.project.clone());
        let raise = || async {
            let session = self.session_to_ask_in(at, agent, asking.session_id.as_deref()).await?;
            let lock = match &session {
                Some(session) => self.session_locks.lock(session.key).await,
                None => None,
            };
            if let Some(raised) = self.events().raised_before(at, asking.asked.sent.as_ref()).await? {
                return Ok((lock, Step::answer((raised, self.now()))));
            }
            let view = self.raise_view(&project, agent, &asking, session).await?;
            let env = self.env()?;
            let step = self.raise(agent, &asking.asked)?.decide(&view, &env)?;
            Ok::<_, Refusal>((lock, step.map(|raised| (self.raised(at, raised), env.now))))
        };
        match self.run_to_outcome(raise).await? {
            (Outcome::Committed, (raised, _)) => Ok(raised),
            (Outcome::LimitReached { counter }, (_, now)) => match (Limit::from_name(counter), asking.usage) {
                (Some(limit), Some(usage)) => {
                    if let Some(delegation) = agent.raiser.delegation.filter(|_| limit.ends_delegation()) {
                        self.agents().end_used_up(delegation).await?;
                    }
                    Err(usage.refusal(limit, now))
                }
                _ => Err(limit_reached(counter, &project, now)),
            },
            _ => Err(Refusal::Unavailable),
        }
    }

    /// The question that [`Self::ask`] would raise now, or its refusal. Nothing is committed, and nobody is asked.
    pub(crate) async fn would_ask(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        asking: &RaiseRequest,
    ) -> Result<RaisedDecision, Refusal> {
        let project = Arc::new(at.project.clone());
        let view = self.raise_view(&project, agent, asking, None).await?;
        let env = self.env()?;
        let step = self.raise(agent, &asking.asked)?.decide(&view, &env)?;
        for count in step.effects.counts.iter().filter(|count| count.by >= 0) {
            let stands = self.store.count(&count.key).await?;
            if stands.saturating_add(count.by) > count.limit {
                return Err(match (Limit::from_name(count.name), &asking.usage) {
                    (Some(limit), Some(usage)) => usage.refusal(limit, env.now),
                    _ => limit_reached(count.name, &project, env.now),
                });
            }
        }
        Ok(self.raised(at, step.answer))
    }

    fn raise(self, agent: &AgentPrincipal, asked: &NewQuestion) -> Result<Raise, Refusal> {
        // The same 128 bits are the Confirm's UUID.
        let id = format!("dec_{}", MplpId::from_random(self.env()?.mint().bytes()).simple());
        Ok(Raise {
            reply_token: self.reply_token(&id)?,
            id,
            by: agent.raiser.clone(),
            producer: agent.producer.clone(),
            asked: asked.clone(),
        })
    }

    async fn raise_view(
        self,
        project: &Arc<Project>,
        agent: &AgentPrincipal,
        asking: &RaiseRequest,
        session: Option<AaepSession>,
    ) -> Result<RaiseView, Refusal> {
        let asked = &asking.asked;
        let store = &*self.store;
        let pending = store::find_one(store, DecisionPendingSame { project: project.key, same: asked.same }).await?;
        let session = match &pending {
            Some(pending) => Some(self.session_of_decision(pending).await?),
            None => session,
        };
        let policy = policy_for(&project.document, &asked.action, asked.route.as_deref());
        let policy = policy.filter(|_| asking.plan.is_none());
        let mut approvers = policy.as_deref().map_or_else(Vec::new, |policy| policy.approvers.clone());
        let named = self.people_named(project.key, &approvers).await?;
        let plan = self.plan_to_propose(project, asking.plan.as_ref(), &mut approvers).await?;
        let asks = agent.asks.clone();
        let own = agent.raiser.person;
        let by_steps: Vec<RowKey> = plan.iter().flat_map(|(_, named)| named.concat()).collect();
        let concerned: Vec<RowKey> = [named.as_slice(), &by_steps, asks.as_slice(), &[own]].concat();
        self.events().load_time_extensions(project, &concerned).await?;
        let needs_s = self.hub.longest_time_extension(project.key, &concerned);
        let among = Audience { people: concerned, roles: approvers.iter().filter_map(|name| role(name)).collect() };
        Ok(RaiseView {
            under_way: self.under_way(project.key, asked.digest).await?,
            same_effect: self.same_effect(project.key, asked.effect).await?,
            last_ran_at: self.last_run_at(project.key, asked.digest).await?,
            people: People { own, named, asks, needs_s },
            plan,
            guards: agent.guards.clone(),
            somebody_there: !project.document.decisions.early_reject || self.hub.has_answerer(project.key, &among),
            project: Arc::clone(project),
            session,
            pending,
        })
    }

    /// The current plan, with the people named by the policies of its steps. `approvers` gets all of them.
    async fn plan_to_propose(
        self,
        project: &Project,
        shown: Option<&Plan>,
        approvers: &mut Vec<String>,
    ) -> Result<Option<(Plan, Vec<Vec<RowKey>>)>, Refusal> {
        let Some(shown) = shown else { return Ok(None) };
        let plan: Option<Plan> = store::get(&*self.store, shown.key).await?;
        let plan = plan.ok_or(Refusal::Internal)?;
        if plan.revision != shown.revision {
            return Err(Refusal::Conflict("the plan was changed meanwhile: propose it again".into()));
        }
        let mut named = Vec::with_capacity(plan.actions.len());
        for planned in plan.actions.values() {
            let policy = policy_for(&project.document, &planned.tool, planned.action.route.as_deref());
            let of_step = policy.as_deref().map_or(&[][..], |policy| &policy.approvers);
            named.push(self.people_named(project.key, of_step).await?);
            approvers.extend(of_step.iter().cloned());
        }
        Ok(Some((plan, named)))
    }

    pub(super) async fn under_way(
        self,
        project: RowKey,
        digest: Digest,
    ) -> Result<Option<(Execution, String)>, Refusal> {
        let execution = store::find_one(&*self.store, ExecutionUnderWay { project, digest }).await?;
        let Some(execution) = execution else { return Ok(None) };
        let decision: Option<Decision> = store::get(&*self.store, execution.decision).await?;
        Ok(decision.map(|decision| (execution, decision.id)))
    }

    /// The execution that has, or may have, had this effect already.
    pub(super) async fn same_effect(
        self,
        project: RowKey,
        effect: Option<Digest>,
    ) -> Result<Option<(Execution, String)>, Refusal> {
        let Some(effect) = effect else { return Ok(None) };
        let execution = store::find_one(&*self.store, ExecutionOfEffect { project, effect }).await?;
        let Some(execution) = execution else { return Ok(None) };
        let decision: Option<Decision> = store::get(&*self.store, execution.decision).await?;
        // The effect is taken for good, even after its decision was removed by retention.
        let decision = decision.map_or_else(|| "that is not kept any more".into(), |decision| decision.id);
        Ok(Some((execution, decision)))
    }

    /// The people named by policy, as far as they are members of the project.
    async fn people_named(self, project: RowKey, approvers: &[String]) -> Result<Vec<RowKey>, Refusal> {
        let mut found = Vec::new();
        for subject in approvers.iter().filter_map(|name| name.strip_prefix("user:")) {
            let lookup = PersonBySubject { issuer: LOCAL.into(), subject: subject.to_owned() };
            let person = store::find_one(&*self.store, lookup).await?;
            let Some(person) = person.filter(|person| !person.disabled) else { continue };
            let place = store::find_one(&*self.store, MembershipOf { project, person: person.key }).await?;
            found.extend(place.map(|place| place.person));
        }
        Ok(found)
    }

    async fn session_to_ask_in(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: Option<&str>,
    ) -> Result<Option<AaepSession>, Refusal> {
        match id {
            Some(id) => self.events().session_of_agent(at, agent, id).await.map(Some),
            None => Ok(None),
        }
    }

    fn raised(self, at: &ProjectAt, raised: Raised) -> RaisedDecision {
        let Raised { decision, session, fresh } = raised;
        let page = self.page_of(at, &decision.id);
        let whole = Whole { decision: decision.clone(), session, allowance: None, execution: None, undoable: None };
        RaisedDecision { document: whole.document(page), decision, fresh }
    }

    /// The page to answer a question at.
    pub(crate) fn page_of(self, at: &ProjectAt, decision_id: &str) -> String {
        format!("{}/inbox/{}/{decision_id}", self.settings.origin, at.project.id)
    }
}

/// With a named tool the digest decides; else the agent's own key, else its text, within the session (E-07).
/// The digest names its principal; a key equals only keys of the same agent.
fn same(
    agent: &AgentPrincipal,
    tool: &str,
    session: Option<&str>,
    key: Option<&str>,
    digest: &Digest,
    kind: &'static str,
) -> Digest {
    let session = session.unwrap_or_default();
    match (tool, key) {
        (tool, _) if !tool.is_empty() => *digest,
        (_, Some(key)) => Digest::of(format!("{}\n{session}\n{kind}\n{key}", agent.principal()).as_bytes()),
        (_, None) => Digest::of(format!("{session}\n{}", digest.hex()).as_bytes()),
    }
}

/// The digest of the action that the agent announces.
fn agent_digest(at: &ProjectAt, agent: &AgentPrincipal, body: &ConfirmationRequest) -> Result<Digest, Refusal> {
    match &body.tool {
        Some(tool) => digest_of(at, agent, tool.clone(), body.arguments.clone().unwrap_or_default()),
        None if body.arguments.is_some() => Err(Refusal::invalid("arguments need the tool that they are for")),
        None => {
            let words = AgentAction::text_arguments(&body.action, &body.consequence, body.extra_context.as_ref());
            digest_of(at, agent, String::new(), words)
        }
    }
}

pub(crate) fn digest_of(
    at: &ProjectAt,
    agent: &AgentPrincipal,
    tool: String,
    arguments: Map<String, Value>,
) -> Result<Digest, Refusal> {
    let action =
        AgentAction { project: at.project.id.to_string(), principal: agent.raiser.principal.clone(), tool, arguments };
    Action::Agent(action).digest().map_err(|_| Refusal::invalid("the arguments have no canonical form"))
}

fn summaries(terse: &Option<String>, normal: &Option<String>, detailed: &Option<String>) -> Summaries {
    Summaries { terse: terse.clone(), normal: normal.clone(), detailed: detailed.clone() }
}

//! Finding the approval of exactly this call, or asking a person for it (C-02).

use super::{Connect, DecidedCall, HeldFacts, Permit, permit::OpenPermit, reversible::PlannedCancel};
use crate::{
    decisions::{AgentPrincipal, Claiming, RaiseRequest, RaisedDecision},
    projects::ProjectAt,
    runner::TRIES,
    services::Calls,
    store::{self, AllowancesOpenByDigest, Outcome},
};
use countersign_core::{
    aap::access::{CallFacts, CallVerdict, NeedsApproval},
    bounded::{ActionTarget, Arguments, Units},
    decision::{claim::Claim, grant::AskedFor, queue::queued_already, raise::NewQuestion},
    held::{self, Fields, HttpRequest},
    mplp::deviation,
    records::{
        Allowance, Confirmation, Decision, DecisionState, Defaulted, ExecutionProbe, Point, Question, TextAuthor,
    },
    refusal::{Awaiting, PendingApproval, Refusal},
};
use countersign_protocol::{
    aap::undo::QueuedResponse,
    hash::Digest,
    ids::{RowKey, prefixed},
    project::Route,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The longest time that a connection is held for a person's answer.
pub(super) const LONGEST_WAIT_S: u64 = 55;

/// A request, read strictly and rendered for a person.
pub(super) struct RenderedRequest {
    pub(super) digest: Digest,
    /// An error if the request cannot be rendered. A call that an approval covers already needs no question.
    pub(super) question: Result<Confirmation, held::UnreadableRequest>,
    pub(super) effect: Option<held::Effect>,
    /// The upstream path to probe for the outcome of the call.
    pub(super) probe_path: Option<String>,
    /// The same as arguments, for approvals that cover more than one call.
    pub(super) call: AskedFor,
}

/// A call that is checked for an approval.
pub(super) struct HeldCall {
    pub(super) decided: DecidedCall,
    pub(super) request: HttpRequest,
    pub(super) at: ProjectAt,
    pub(super) rendered: RenderedRequest,
    /// The decision that the caller named, by token or id; empty if it named none.
    pub(super) named: String,
}

/// The result of the search for an approval.
pub(super) enum Approval {
    Claimed(Claimed, HttpRequest),
    /// A person is asked, and the call is pending.
    Pending(Box<Pending>),
}

/// A call with an approval: claimed, or held for its undo window.
pub(super) enum Claimed {
    Permit(Permit),
    Queued(Box<QueuedResponse>),
}

/// A call that is pending for a person's answer. Dropped, it is recorded as abandoned.
pub(super) struct Pending {
    held: HeldCall,
    decision: Decision,
    seconds: u64,
}

/// A pending call that was answered, or has waited long enough.
pub(super) struct Answered {
    held: HeldCall,
    decision: Decision,
}

type Looked = Result<Next, Refusal>;

enum Next {
    Claimed(Claimed),
    Wait(Box<Decision>, u64),
}

impl HeldCall {
    pub(super) fn needs(&self) -> Result<&NeedsApproval, Refusal> {
        self.decided.needs_approval().ok_or(Refusal::Internal)
    }

    /// How long the caller is ready to wait for a person.
    fn waits(&self) -> Option<u64> {
        self.decided.call.wait_s.filter(|seconds| *seconds > 0)
    }

    pub(super) fn agent(&self) -> Result<AgentPrincipal, Refusal> {
        AgentPrincipal::of_call(self.decided.facts())
    }
}

impl Calls<'_> {
    /// Claims the approval that covers exactly this request, or raises a question.
    ///
    /// A header never authorises: `true` requests a search for an approval, a confirmation token names one, and either is
    /// claimed for this digest and by this session, or not at all.
    pub(super) async fn approve(
        self,
        decided: DecidedCall,
        request: HttpRequest,
        connect: &mut dyn Connect,
    ) -> Result<Approval, Refusal> {
        let (at, rendered) = match self.rendered(&decided, &request).await {
            Ok(rendered) => rendered,
            Err(refusal) => return Err(decided.refuse(refusal).await),
        };
        let named =
            decided.call.confirm.as_deref().and_then(|token| token.split_once('.')).map(|(id, _)| id.to_owned());
        let mut held = HeldCall { decided, request, at, rendered, named: named.unwrap_or_default() };
        match self.claim_or_ask(&mut held, connect).await {
            Ok(Next::Claimed(claimed)) => Ok(Approval::Claimed(claimed, held.request)),
            Ok(Next::Wait(decision, seconds)) => {
                Ok(Approval::Pending(Box::new(Pending { held, decision: *decision, seconds })))
            }
            Err(refusal) => Err(self.refuse_held(held, refusal).await),
        }
    }

    /// The same once a person has answered, or the wait is over; then everything is decided anew.
    pub(super) async fn approve_after_wait(
        self,
        answered: Answered,
        connect: &mut dyn Connect,
    ) -> Result<(Claimed, HttpRequest), Refusal> {
        let Answered { mut held, decision } = answered;
        match self.claim_answered(&mut held, decision, connect).await {
            Ok(claimed) => Ok((claimed, held.request)),
            Err(refusal) => Err(self.refuse_held(held, refusal).await),
        }
    }

    async fn claim_answered(
        self,
        held: &mut HeldCall,
        decision: Decision,
        connect: &mut dyn Connect,
    ) -> Result<Claimed, Refusal> {
        self.agents().forget_credential(&held.decided.address, &held.decided.call);
        self.decide_held_again(held).await?;
        if decision.is_pending() || why_not(&decision) != Awaiting::Redemption {
            return Err(self.awaited(held, why_not(&decision), Some(&decision)));
        }
        self.claim_for_call(held, decision, None, connect).await
    }

    pub(super) async fn rendered(
        self,
        decided: &DecidedCall,
        request: &HttpRequest,
    ) -> Result<(ProjectAt, RenderedRequest), Refusal> {
        self.check_limits(decided.facts()).await?;
        let rendered = rendered(decided.facts(), request)?;
        Ok((self.project(&decided.address).await?, rendered))
    }

    async fn claim_or_ask(self, held: &mut HeldCall, connect: &mut dyn Connect) -> Looked {
        // An open gap stops the call despite any approval (W-26).
        let raiser = held.agent()?.raiser;
        self.clarifications().check_question(&held.at.project, &raiser, held.decided.facts().action()).await?;
        if let Some(claimed) = self.claim_standing(held, connect).await? {
            return Ok(Next::Claimed(claimed));
        }
        match held.decided.call.confirm.clone().as_deref() {
            None => self.ask_for(held, connect).await,
            Some("true") => {
                let approvals = self.approvals_for(held).await?;
                self.claim_one_or_ask(held, approvals, connect).await
            }
            Some(token) => {
                let decision = self.named_approval(held, token).await?;
                self.claim_for_call(held, decision, None, connect).await.map(Next::Claimed)
            }
        }
    }

    /// Calls that an approved plan or a standing approval covers run without a further question. A confirmation
    /// named by the caller takes precedence.
    async fn claim_standing(self, held: &mut HeldCall, connect: &mut dyn Connect) -> Result<Option<Claimed>, Refusal> {
        if !matches!(held.decided.call.confirm.as_deref(), None | Some("true")) {
            return Ok(None);
        }
        let raiser = held.agent()?.raiser;
        let project = held.at.project.key;
        // An approval that was claimed meanwhile, or no longer valid, is passed over for the next one that covers
        // the call; without one, a person is asked.
        let mut passed_over = Vec::new();
        while passed_over.len() < TRIES {
            let call = &held.rendered.call;
            let covering = self.decisions().find_covering(project, &raiser, Point::Gateway, call, &passed_over).await?;
            let Some(allowance) = covering else { return Ok(None) };
            let decision: Option<Decision> = store::get(&*self.store, allowance.decision).await?;
            let decision = decision.ok_or(Refusal::Internal)?;
            match self.claim_for_call(held, decision, Some(allowance.key), connect).await {
                Ok(claimed) => return Ok(Some(claimed)),
                Err(Refusal::ApprovalGone(_) | Refusal::ConfirmationInvalid(_)) => passed_over.push(allowance.key),
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(None)
    }

    /// The decision named by a confirmation token. A caller with a token expects that the question was asked before, so an
    /// invalid one is refused and raises no new question.
    pub(super) async fn named_approval(self, held: &HeldCall, token: &str) -> Result<Decision, Refusal> {
        let other = |why| Err(self.awaited(held, Awaiting::OtherConfirmation(why), None));
        let Some((id, _)) = token.split_once('.') else { return other("it is not a confirmation token") };
        if self.confirm_token(id)? != token {
            return other("it is not a confirmation token of this service");
        }
        let decision = self.decisions().decision_at(held.at.project.key, id).await?;
        let principal = held.decided.facts().principal()?;
        match decision.filter(|decision| decision.raised_by.principal == principal) {
            Some(decision) => Ok(decision),
            None => other("it was given to another agent"),
        }
    }

    /// Claims any approval that is still valid; without one, a person is asked again.
    async fn claim_one_or_ask(
        self,
        held: &mut HeldCall,
        approvals: Vec<Decision>,
        connect: &mut dyn Connect,
    ) -> Looked {
        for decision in approvals {
            match self.claim_for_call(held, decision, None, connect).await {
                // The approval lapsed, another request claimed it, or its basis is gone.
                Err(Refusal::ApprovalGone(_)) => {}
                claimed => return claimed.map(Next::Claimed),
            }
        }
        self.ask_anew(held).await
    }

    /// A request that mentions no approval does not claim one, unless it is ready to wait for it.
    async fn ask_for(self, held: &mut HeldCall, connect: &mut dyn Connect) -> Looked {
        let approvals = self.approvals_for(held).await?;
        match approvals.first() {
            Some(decision) if held.waits().is_none() => Err(self.awaited(held, Awaiting::Redemption, Some(decision))),
            _ => self.claim_one_or_ask(held, approvals, connect).await,
        }
    }

    /// Raises the question, and makes the call pending if the caller waits.
    async fn ask_anew(self, held: &mut HeldCall) -> Looked {
        let decision = self.raise_held(held).await?;
        let Some(seconds) = held.waits() else {
            return Err(self.awaited(held, why_not(&decision), Some(&decision)));
        };
        // Not the step runner: between two commits the call is decided again.
        for _ in 0..TRIES {
            let needs = held.needs()?;
            let (effects, counted) = needs.pending_effects();
            match self.commit(effects).await {
                Outcome::Committed => {
                    held.decided.set_waiting();
                    return Ok(Next::Wait(Box::new(decision), seconds.min(LONGEST_WAIT_S)));
                }
                Outcome::Stale => self.agents().forget_credential(&held.decided.address, &held.decided.call),
                outcome => return Err(self.limit_refusal(needs.facts(), &counted, &outcome).await),
            }
            self.decide_held_again(held).await?;
        }
        Err(Refusal::Unavailable)
    }

    /// The call once its question is settled, or its wait is over.
    pub(super) async fn once_settled(self, pending: Box<Pending>) -> Result<Answered, Refusal> {
        let Pending { held, decision, seconds } = *pending;
        match self.wait_for(&decision, Duration::from_secs(seconds)).await {
            Ok(decision) => Ok(Answered { held, decision }),
            Err(refusal) => Err(held.decided.refuse(refusal).await),
        }
    }

    async fn wait_for(self, decision: &Decision, wait: Duration) -> Result<Decision, Refusal> {
        const LOOK_AGAIN: Duration = Duration::from_secs(1);
        let over = tokio::time::sleep(wait);
        tokio::pin!(over);
        loop {
            let waiting = self.waiters.register(decision.key);
            let changed = waiting.changed();
            tokio::pin!(changed);
            // From here on no change is missed, so read now.
            changed.as_mut().enable();
            let now: Option<Decision> = store::get(&*self.store, decision.key).await?;
            let now = now.ok_or(Refusal::Internal)?;
            if !now.is_pending() || over.is_elapsed() {
                return Ok(now);
            }
            tokio::select! {
                () = &mut over => {}
                () = changed => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// Decides the same call again from the store. A call that was pending spent its proof when it became pending.
    pub(super) async fn decide_held_again(self, held: &mut HeldCall) -> Result<(), Refusal> {
        let spent = held.needs()?.is_pending();
        match self.decide_again(&mut held.decided, spent).await? {
            CallVerdict::NeedsApproval(needs) => {
                let needs = needs.continuing(held.needs()?);
                held.decided.set_verdict(CallVerdict::NeedsApproval(needs));
                Ok(())
            }
            CallVerdict::Authorized(_) | CallVerdict::DryRun(_) => Err(Refusal::Unavailable),
        }
    }

    /// The accepted, unclaimed decisions of this session for exactly this digest. Standing approvals were checked before and
    /// do not cover the call.
    pub(super) async fn approvals_for(self, held: &HeldCall) -> Result<Vec<Decision>, Refusal> {
        let lookup = AllowancesOpenByDigest { project: held.at.project.key, digest: held.rendered.digest };
        let open = store::find_all(&*self.store, lookup).await?;
        let session = Some(held.decided.facts().session());
        let now = self.now();
        let fits = |allowance: &&Allowance| {
            let own = allowance.point == Point::Gateway && allowance.raised_by.session == session;
            own && !allowance.is_bounded() && now < allowance.until
        };
        let mut approvals = Vec::new();
        for allowance in open.iter().filter(fits) {
            if let Some(queued) = allowance.queued_call() {
                return Err(queued_already(&queued.decision_id));
            }
            approvals.extend(store::get::<Decision>(&*self.store, allowance.decision).await?);
        }
        Ok(approvals)
    }

    /// The claim and its guards, durable before the first byte goes upstream. The connection is opened before it
    ///
    pub(super) async fn claim_for_call(
        self,
        held: &mut HeldCall,
        decision: Decision,
        allowance: Option<RowKey>,
        connect: &mut dyn Connect,
    ) -> Result<Claimed, Refusal> {
        self.approved_is_clear(held, &decision).await?;
        let window_s = self.undo_window_s(held);
        if window_s > 0 {
            return self.queue_for_call(held, &decision, window_s).await;
        }
        let (digest, effect) = (held.rendered.digest, held.rendered.effect.as_ref().map(|effect| effect.digest));
        let claiming = Claiming { digest, effect, allowance };
        let probe = self.probe_for(held, connect.reaches_upstream()).await?;
        let reaches_upstream = connect.reaches_upstream();
        let cancel = self.plan_undo(held.decided.facts(), &held.request, reaches_upstream).await?;
        // Not the step runner: between two commits the call is decided again.
        for _ in 0..TRIES {
            let view = self.decisions().claim_view(&held.at, Vec::new(), &decision, &claiming).await?;
            let claim = |rules| Claim {
                digest,
                effect,
                point: Point::Gateway,
                node: self.store.lane(),
                call: Some(held.rendered.call.clone()),
                rules: Some(rules),
                probe: probe.clone(),
                cancel: cancel
                    .as_ref()
                    .and_then(|cancel| Some((cancel.with_session()?, held.decided.facts().action().to_owned()))),
                undo: cancel.as_ref().and_then(PlannedCancel::within_window),
                window_closed: held.decided.queued.is_some(),
            };
            let needs = held.needs()?;
            // Refused before a connection is opened; decided again below, with the connection.
            needs.claim(claim(needs.facts().rules()), &view, &self.env()?)?;
            connect.connect(needs.facts()).await?;
            let _lock = self.session_locks.lock(decision.asked_in).await;
            let view = self.decisions().claim_view(&held.at, Vec::new(), &decision, &claiming).await?;
            self.require_recent_feed().await?;
            let inflight = self.inflight_write(needs.facts());
            let leased_at_ms = self.clock.monotonic_ms();
            let (step, counted) = needs.claim(claim(needs.facts().rules()), &view, &self.env()?)?;
            match self.commit(step.effects).await {
                Outcome::Committed => {
                    self.limit_cache.add(&counted);
                    let (authorized, execution) = step.answer;
                    let call_id = execution.call_id.clone();
                    let facts = HeldFacts {
                        decision: decision.key,
                        decision_id: decision.id,
                        lease_until: execution.lease_until().unwrap_or(execution.claimed_at),
                        leased_at_ms,
                        execution: execution.key,
                        execution_id: execution.id,
                        fence: execution.fence,
                        digest: execution.digest,
                        effect,
                        effect_key: held.rendered.effect.as_ref().map(|effect| effect.key.clone()),
                        lease_s: execution.lease_s,
                    };
                    held.decided.mark_recorded();
                    let (call, address) = (held.decided.call.clone(), held.decided.address.clone());
                    let open = OpenPermit::new(authorized, call, address);
                    let cancel = cancel.map(|cancel| cancel.of_call(call_id));
                    let open = OpenPermit { held: Some(facts), inflight: Some(inflight), cancel, ..open };
                    return Ok(Claimed::Permit(Permit::new(self.engine, open)));
                }
                Outcome::Stale => self.agents().forget_credential(&held.decided.address, &held.decided.call),
                Outcome::OutOfTime => return Err(Refusal::ApprovalGone("it has expired")),
                outcome => return Err(self.limit_refusal(needs.facts(), &counted, &outcome).await),
            }
            self.decide_held_again(held).await?;
        }
        Err(Refusal::Unavailable)
    }

    /// The request is deleted when it is claimed, so the parts that a probe needs are kept with the claim.
    async fn probe_for(self, held: &HeldCall, reaches_upstream: bool) -> Result<Option<Box<ExecutionProbe>>, Refusal> {
        let facts = held.decided.facts();
        match (&held.rendered.probe_path, facts.upstream()) {
            (Some(path), Some(upstream)) if reaches_upstream => {
                self.decisions().seal_probe(&held.at.project, (facts.route(), upstream), path).await
            }
            _ => Ok(None),
        }
    }

    /// The refusal of an approval that does not cover the call has the one form that the protocol knows (C-02); every refusal
    /// is in the audit.
    pub(super) async fn refuse_held(self, held: HeldCall, refusal: Refusal) -> Refusal {
        let refusal = match refusal {
            Refusal::ApprovalGone(why) => {
                let decision = self.decisions().decision_at(held.at.project.key, &held.named).await.ok().flatten();
                self.awaited(&held, Awaiting::OtherConfirmation(why), decision.as_ref())
            }
            Refusal::ConfirmationInvalid(_) => {
                let why = "it was given for another call";
                self.awaited(&held, Awaiting::OtherConfirmation(why), None)
            }
            refusal => refusal,
        };
        held.decided.refuse(refusal).await
    }

    /// An open gap also stops a call that has an approval.
    pub(super) async fn approved_is_clear(self, held: &HeldCall, approval: &Decision) -> Result<(), Refusal> {
        let raiser = held.agent()?.raiser;
        let facts = held.decided.facts();
        self.clarifications()
            .check_run(&held.at.project, &raiser, (facts.action(), Some(facts.route().id.as_str())), Some(approval))
            .await
    }

    async fn raise_held(self, held: &HeldCall) -> Result<Decision, Refusal> {
        let HeldCall { at, rendered, request, .. } = held;
        let agent = held.agent()?;
        let keep = self.seal_request(&at.project, request, &rendered.digest).await?;
        let asking = self.question_about(held, &agent, Some(keep)).await?;
        let RaisedDecision { decision, .. } = self.decisions().ask(at, &agent, asking).await?;
        Ok(decision)
    }

    /// The question about a call, with the sealed request to keep.
    pub(super) async fn question_about(
        self,
        held: &HeldCall,
        agent: &AgentPrincipal,
        keep: Option<String>,
    ) -> Result<RaiseRequest, Refusal> {
        let HeldCall { at, rendered, .. } = held;
        let mut question = rendered.question.clone().map_err(unreadable)?;
        question.facts.deviation = self.decisions().deviation(&agent.raiser, &rendered.call).await?;
        question.facts.clarification = self.clarifications().clarified(&at.project, &agent.raiser, None).await?;
        let call = held.decided.facts();
        // Questions of different sessions are different (AAP 14.1).
        let same = Digest::of(format!("{}\n{}", call.session(), rendered.digest.hex()).as_bytes());
        let question = Question::Confirmation(question);
        let asked = NewQuestion {
            point: Point::Gateway,
            words: TextAuthor::Owner,
            effect: rendered.effect.as_ref().map(|effect| effect.digest),
            route: Some(call.route().id.clone()),
            room: call.limit_checks().to_vec(),
            keep,
            ..NewQuestion::by_agent(rendered.digest, same, call.action().to_owned(), question)
        };
        Ok(RaiseRequest { usage: Some(call.usage().clone()), ..asked.into() })
    }

    /// The 403, with the decision's id, the URL to wait at, the page, and the next step.
    fn awaited(self, held: &HeldCall, why: Awaiting, decision: Option<&Decision>) -> Refusal {
        let document = &held.at.project.document;
        Refusal::ConfirmationRequired(Box::new(PendingApproval {
            action: held.decided.facts().action().to_owned(),
            why,
            decision: decision.map(|decision| self.facts_of(&held.at, decision)).unwrap_or_default(),
            status: document.confirmation_status,
        }))
    }

    fn facts_of(self, at: &ProjectAt, decision: &Decision) -> Map<String, Value> {
        let id = &decision.id;
        let mut facts = Map::new();
        facts.insert("decision_id".into(), json!(id));
        facts.insert("state".into(), json!(countersign_core::decision::settled_as(decision)));
        let wait = format!("{}{}/v1/decisions/{id}?wait={LONGEST_WAIT_S}", at.service, at.prefix());
        facts.insert("wait".into(), json!(wait));
        facts.insert("page".into(), json!(self.decisions().page_of(at, id)));
        facts.insert("digest".into(), json!(decision.digest.hex()));
        facts.extend(plan_difference(decision).map(|told| ("plan_difference".to_owned(), told)));
        if let Some(redeem) = self.redeem_url(at, id) {
            facts.insert("redeem".into(), json!(redeem));
        }
        match &decision.state {
            DecisionState::Pending { deadline, .. } => {
                facts.insert("deadline".into(), json!(deadline.to_rfc3339()));
            }
            DecisionState::Rejected { rationale, proposal, .. } => {
                facts.extend(rationale.as_ref().map(|reason| ("reason".to_owned(), json!(reason))));
                facts.extend(proposal.clone().map(|proposal| ("proposal".to_owned(), proposal)));
            }
            _ if why_not(decision) == Awaiting::Redemption => {
                facts.extend(self.confirm_token(id).ok().map(|token| ("confirm_token".to_owned(), json!(token))));
            }
            _ => {}
        }
        facts
    }

    /// The URL that runs the request of a decision without sending it again.
    pub(crate) fn redeem_url(self, at: &ProjectAt, decision_id: &str) -> Option<String> {
        let gateway = self.resources_of(&at.project)?;
        Some(format!("{gateway}/.countersign/decisions/{decision_id}/redeem"))
    }

    /// The `X-Agent-Confirm` token of a decision: its id and a MAC of it. Worthless outside of the requester's session.
    pub(crate) fn confirm_token(self, decision_id: &str) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let tag = keys.mac.tag("confirm-token", decision_id.as_bytes());
        let half = tag.first_chunk::<16>().ok_or(Refusal::Internal)?;
        Ok(format!("{decision_id}.{}", prefixed("cft", *half)))
    }
}

/// Reads the request strictly and renders the question. A request with more than one possible reading is refused before
/// anybody is asked.
pub(super) fn rendered(facts: &CallFacts, request: &HttpRequest) -> Result<RenderedRequest, Refusal> {
    let route = facts.route();
    let fields = Fields::read(route, request).map_err(unreadable)?;
    Ok(RenderedRequest {
        digest: facts.digest(request)?,
        question: match held::question(route, request, &fields) {
            Err(why) if !matches!(why, held::UnreadableRequest::TooMuch(_)) => return Err(unreadable(why)),
            question => question,
        },
        effect: held::effect(route, &fields).map_err(unreadable)?,
        probe_path: route.probe.as_ref().and_then(|probe| held::probe_path(probe, &fields)),
        call: call_of_request(route, request, &fields),
    })
}

fn unreadable(why: held::UnreadableRequest) -> Refusal {
    Refusal::invalid(why.to_string())
}

/// A request as a call with arguments.
pub(crate) fn call_of_request(route: &Route, request: &HttpRequest, fields: &Fields) -> AskedFor {
    AskedFor {
        what: ActionTarget::Route { id: route.id.clone() },
        arguments: Arguments::of_request(request, fields),
        units: Units::of_route(route, fields),
    }
}

/// How the call differs from the plan, for the agent.
fn plan_difference(decision: &Decision) -> Option<Value> {
    let Question::Confirmation(asked) = &decision.question else { return None };
    let found = asked.facts.deviation.as_ref()?;
    let lines = deviation::lines(found, "en");
    Some(json!({ "plan_id": found.plan_id, "step_id": found.step_id, "lines": lines }))
}

fn why_not(decision: &Decision) -> Awaiting {
    match &decision.state {
        DecisionState::Pending { .. } => Awaiting::Answer,
        DecisionState::Accepted { .. } | DecisionState::Expired { as_if: Defaulted::Accept, .. } => {
            Awaiting::Redemption
        }
        DecisionState::Rejected { .. } | DecisionState::Answered { .. } => Awaiting::Rejected,
        DecisionState::Expired { .. } => Awaiting::Expired,
        DecisionState::Cancelled { .. } => Awaiting::Cancelled,
    }
}

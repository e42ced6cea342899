//! The flow of a call: decide, approve, connect, claim, send, settle. Every enforcement point uses it.

use super::{
    BodyDigest, DecidedCall, Egress, HeldFacts, Permit, UpstreamError, UpstreamOutcome, Watch,
    approve::{Approval, Claimed, Pending},
    settle::RecordedOutcome,
    undo::UndoOffer,
};
use crate::{completion::Completion, projects::Address, services::Calls};
use async_trait::async_trait;
use countersign_core::{
    aap::access::{Call, CallFacts, ReadWrite},
    decision::outcome::OutcomeReport,
    held::{CancelPath, HttpRequest},
    records::Execution,
    refusal::{Refusal, SentWrite},
};
use countersign_protocol::{
    aap::{dry_run::DryRunPreview, undo::QueuedResponse},
    project::DataSubjectSource,
};
use std::{future::Future, sync::Arc};
use tracing::Instrument as _;

/// How long a claim is trusted without being read again.
const TRUSTED_MS: i64 = 250;

/// An enforcement point's side of one call.
pub trait UpstreamExchange: Connect + Sized + 'static {
    /// The head of the upstream's response.
    type Answer: Send + 'static;

    /// Judges and reads a request that needs no approval. Nothing has been spent on it yet.
    fn read(&mut self, facts: &CallFacts) -> impl Future<Output = Result<(), Refusal>> + Send;

    /// The digests of a write for the recognition of repeats, with its body's digest now or later. With `whole` the
    /// rest of the body is read first, unless it exceeds the limit for kept bodies.
    fn describe(
        &mut self,
        facts: &CallFacts,
        whole: bool,
    ) -> impl Future<Output = Result<(ReadWrite, BodyDigest), Refusal>> + Send;

    /// The complete request, for a person to approve.
    fn read_whole(&mut self, facts: &CallFacts) -> impl Future<Output = Result<HttpRequest, Refusal>> + Send;

    /// Sends the request once, on the connection: `approved`, or the request as read. Each piece needs the send right.
    fn send(
        &mut self,
        permit: &mut Permit,
        approved: Option<HttpRequest>,
    ) -> impl Future<Output = Result<Self::Answer, UpstreamError>> + Send;

    fn outcome(&self, answer: &Self::Answer) -> UpstreamOutcome;

    /// The response, and the people whose data it touched by the route's source; nobody if it does not name them.
    fn data_subjects(
        &mut self,
        source: &DataSubjectSource,
        answer: Self::Answer,
    ) -> impl Future<Output = Result<(Self::Answer, Vec<String>), UpstreamError>> + Send;

    /// The response, and its body if that is short enough to be read before it is handed on.
    fn read_short_body(
        &mut self,
        answer: Self::Answer,
    ) -> impl Future<Output = Result<(Self::Answer, Option<Vec<u8>>), UpstreamError>> + Send {
        async move { Ok((answer, None)) }
    }

    /// Whether the response goes on for as long as the session may.
    fn streams(&self, facts: &CallFacts, answer: &Self::Answer) -> bool;
}

/// Opens the connection to the upstream of a call.
#[async_trait]
pub trait Connect: Send {
    /// Before the claim, or the check of the send right: they are the last thing before the first byte. Repeated calls
    /// change nothing.
    async fn connect(&mut self, facts: &CallFacts) -> Result<(), UpstreamError>;

    /// Whether the call goes to the upstream of the project's document, which the route's probe and cancel endpoint ask. A
    /// service inside the process is another, and is never asked.
    fn reaches_upstream(&self) -> bool {
        false
    }
}

/// How a call was carried out.
pub enum CarriedOut<A> {
    Settled(Box<Settled<A>>),
    /// Approved, and held until its undo window closes (AAP 14.1).
    Queued(Box<QueuedResponse>),
    /// A dry run that the gateway answers.
    Previewed(Box<DryRunPreview>),
}

/// A response with a durable record.
pub struct Settled<A> {
    pub answer: A,
    /// The meter of a response without a length.
    pub egress: Option<Egress>,
    /// The conditions that must hold while a stream is open.
    pub watch: Option<Watch>,
    /// The id of a write with an unknown effect despite a response: its repeats are refused.
    pub unsettled_call: Option<String>,
    /// Whether it is the upstream's own answer to a dry run.
    pub dry_run: bool,
    /// The way to undo the call, while its undo window is open.
    pub undo: Option<UndoOffer>,
}

/// The response of a call that crosses users, once it is known whose data it touched. A response that does not say so is
/// not handed out (C-99); one with an error may concern nobody.
async fn named_subjects<E: UpstreamExchange>(
    permit: &mut Permit,
    exchange: &mut E,
    answer: E::Answer,
) -> Result<E::Answer, UpstreamError> {
    let unknown = UpstreamError::ConnectionLost("the response does not say whose data it touched");
    let source = permit.facts().route().data_subjects.clone().ok_or(unknown)?;
    let failed = matches!(exchange.outcome(&answer), UpstreamOutcome::Responded { status: 400.., .. });
    let (answer, subjects) = exchange.data_subjects(&source, answer).await?;
    if subjects.is_empty() && !failed {
        return Err(unknown);
    }
    permit.set_data_subjects(subjects);
    Ok(answer)
}

/// The response of a call whose cancel endpoint names a member of it.
async fn read_to_complete<E: UpstreamExchange>(
    permit: &mut Permit,
    exchange: &mut E,
    answer: E::Answer,
) -> Result<E::Answer, UpstreamError> {
    if exchange.outcome(&answer).report(permit.facts().route()) != OutcomeReport::Committed {
        return Ok(answer);
    }
    let (answer, body) = exchange.read_short_body(answer).await?;
    permit.set_response(body.as_deref());
    Ok(answer)
}

impl<A> CarriedOut<A> {
    fn settled(settled: Settled<A>) -> Self {
        Self::Settled(Box::new(settled))
    }
}

impl Calls<'_> {
    /// Carries one call out, or refuses it. Either way it is recorded before this returns.
    pub async fn carry_out<E: UpstreamExchange>(
        self,
        address: &Address,
        call: Call,
        mut exchange: E,
    ) -> Result<CarriedOut<E::Answer>, Refusal> {
        let decided = self.decide(address, Box::new(call)).await?;
        if decided.dry_run().is_some() {
            return Box::pin(self.preview(decided, exchange)).await.map(CarriedOut::Previewed);
        }
        if decided.facts().is_dry_run()
            && let Err(refusal) = Box::pin(self.check_limits(decided.facts())).await
        {
            return Err(decided.refuse(refusal).await);
        }
        if decided.needs_approval().is_some() {
            return match exchange.read_whole(decided.facts()).await {
                Ok(request) => Box::pin(self.hold(decided, request, exchange)).await,
                Err(refusal) => Err(decided.refuse(refusal).await),
            };
        }
        if !decided.facts().route().is_speculative() {
            return Box::pin(self.carry_out_recorded(decided, exchange)).await;
        }
        if let Err(refusal) = exchange.read(decided.facts()).await {
            return Err(decided.refuse(refusal).await);
        }
        let permit = self.speculate(decided)?;
        self.forward(permit, exchange, None).await.map(CarriedOut::settled)
    }

    /// Carries out a call whose intent is durable before it is forwarded.
    async fn carry_out_recorded<E: UpstreamExchange>(
        self,
        decided: DecidedCall,
        mut exchange: E,
    ) -> Result<CarriedOut<E::Answer>, Refusal> {
        let whole = match self.read_to_undo(&decided, &mut exchange).await {
            Ok(whole) => whole,
            Err(refusal) => return Err(decided.refuse(refusal).await),
        };
        if whole.is_none()
            && let Err(refusal) = exchange.read(decided.facts()).await
        {
            return Err(decided.refuse(refusal).await);
        }
        let write = match self.refuse_repeat(&decided, whole.as_ref(), &mut exchange).await {
            Ok(write) => write,
            Err(refusal) => return Err(decided.refuse(refusal).await),
        };
        let reaches_upstream = exchange.reaches_upstream();
        let cancel = match self.plan_cancel(decided.facts(), whole.as_ref(), reaches_upstream).await {
            Ok(cancel) => cancel,
            Err(refusal) => return Err(decided.refuse(refusal).await),
        };
        let engine = Arc::clone(self.engine);
        self.spawn_to_completion(async move {
            if let Err(error) = exchange.connect(decided.facts()).await {
                return Err(decided.refuse(error.into()).await);
            }
            let permit = Box::pin(engine.calls().begin(decided, write, cancel)).await?;
            Box::pin(engine.calls().forward(permit, exchange, whole)).await.map(CarriedOut::settled)
        })
        .await
    }

    /// The whole request, where the path of the route's cancel endpoint has a part of its body. A dry run leaves nothing to
    /// undo, and is sent as it was read, with its marker.
    async fn read_to_undo<E: UpstreamExchange>(
        self,
        decided: &DecidedCall,
        exchange: &mut E,
    ) -> Result<Option<HttpRequest>, Refusal> {
        let facts = decided.facts();
        let cancel = facts.route().cancel.as_ref().filter(|_| exchange.reaches_upstream() && facts.writes());
        match cancel.is_some_and(CancelPath::needs_whole_request) {
            true => exchange.read_whole(facts).await.map(Some),
            false => Ok(None),
        }
    }

    /// Runs a kept request, by the id of its decision. `call` has the credentials of the redeeming request.
    pub async fn carry_out_kept<E: UpstreamExchange>(
        self,
        address: &Address,
        call: Call,
        decision_id: &str,
        mut exchange: E,
    ) -> Result<CarriedOut<E::Answer>, Refusal> {
        let (engine, address, id) = (Arc::clone(self.engine), address.clone(), decision_id.to_owned());
        self.spawn_to_completion(async move {
            let (claimed, request) = Box::pin(engine.calls().redeem(&address, call, &id, &mut exchange)).await?;
            engine.calls().forward_claimed(claimed, exchange, request).await
        })
        .await
    }

    /// A caller that hangs up while the question is pending cancels the call; later it cannot.
    async fn hold<E: UpstreamExchange>(
        self,
        decided: DecidedCall,
        request: HttpRequest,
        mut exchange: E,
    ) -> Result<CarriedOut<E::Answer>, Refusal> {
        let engine = Arc::clone(self.engine);
        let approval = self.spawn_to_completion(async move {
            match Box::pin(engine.calls().approve(decided, request, &mut exchange)).await? {
                Approval::Claimed(claimed, request) => {
                    engine.calls().forward_claimed(claimed, exchange, request).await.map(HoldResult::CarriedOut)
                }
                Approval::Pending(pending) => Ok(HoldResult::Pending(pending, exchange)),
            }
        });
        let (pending, mut exchange) = match approval.await? {
            HoldResult::CarriedOut(carried_out) => return Ok(carried_out),
            HoldResult::Pending(pending, exchange) => (pending, exchange),
        };
        let answered = self.once_settled(pending).await?;
        let engine = Arc::clone(self.engine);
        self.spawn_to_completion(async move {
            let (claimed, request) = Box::pin(engine.calls().approve_after_wait(answered, &mut exchange)).await?;
            engine.calls().forward_claimed(claimed, exchange, request).await
        })
        .await
    }

    async fn forward_claimed<E: UpstreamExchange>(
        self,
        claimed: Claimed,
        exchange: E,
        request: HttpRequest,
    ) -> Result<CarriedOut<E::Answer>, Refusal> {
        match claimed {
            Claimed::Permit(permit) => {
                Box::pin(self.forward(permit, exchange, Some(request))).await.map(CarriedOut::settled)
            }
            Claimed::Queued(queued) => Ok(CarriedOut::Queued(queued)),
        }
    }

    /// Outlasts a caller that hangs up.
    pub(super) async fn spawn_to_completion<T: Send + 'static>(
        self,
        task: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> Result<T, Refusal> {
        let task = Completion::of(task.in_current_span(), &self.tasks);
        task.await.map_err(|_| Refusal::OutcomeUnrecorded(None))?
    }

    /// Sends, records the outcome, and only then releases the response.
    pub(super) async fn forward<E: UpstreamExchange>(
        self,
        mut permit: Permit,
        mut exchange: E,
        approved: Option<HttpRequest>,
    ) -> Result<Settled<E::Answer>, Refusal> {
        let result = match self.connect_and_check(&permit, &mut exchange, approved.as_ref()).await {
            Ok(()) => {
                permit.mark_sending();
                exchange.send(&mut permit, approved).await
            }
            Err(error) => Err(error),
        };
        permit.mark_sent();
        let result = match result {
            Ok(answer) if permit.facts().crosses_users() => named_subjects(&mut permit, &mut exchange, answer).await,
            result => result,
        };
        let result = match result {
            Ok(answer) if permit.needs_response() => read_to_complete(&mut permit, &mut exchange, answer).await,
            result => result,
        };
        let outcome = match &result {
            Ok(answer) => exchange.outcome(answer),
            Err(error) => UpstreamOutcome::Failed(*error),
        };
        let streams = result.as_ref().is_ok_and(|answer| exchange.streams(permit.facts(), answer));
        let watch = streams.then(|| permit.watch());
        let dry_run = permit.facts().is_dry_run();
        let (named, unknown) = (permit.sent_write(), outcome.report(permit.facts().route()) == OutcomeReport::Lost);
        let about = |refusal: Refusal| refusal.of_sent(named.clone());
        let address = permit.address().clone();
        let RecordedOutcome { egress, undoable } = permit.settle(outcome).await.map_err(about)?;
        let answer = result.map_err(|error| about(error.into()))?;
        let unsettled_call = named.as_ref().filter(|_| unknown).and_then(SentWrite::call_id).map(str::to_owned);
        let undo = match undoable {
            Some(call) => self.undo_offer(&address, &call).await,
            None => None,
        };
        Ok(Settled { answer, egress, watch, unsettled_call, dry_run, undo })
    }

    /// The connection stands before the right to send is checked. A write's stood before its intent.
    async fn connect_and_check<E: UpstreamExchange>(
        self,
        permit: &Permit,
        exchange: &mut E,
        approved: Option<&HttpRequest>,
    ) -> Result<(), UpstreamError> {
        exchange.connect(permit.facts()).await?;
        self.check_send(permit, approved).await
    }

    /// The right to send, checked immediately before the first byte: the approved bytes, under a claim that no node
    /// can have taken for lapsed.
    async fn check_send(self, permit: &Permit, approved: Option<&HttpRequest>) -> Result<(), UpstreamError> {
        let covered = match (approved, permit.held()) {
            // An approved request has no marker: sent for a dry run, it would be carried out.
            (Some(_), _) if permit.facts().is_dry_run() => false,
            (Some(request), _) => permit.covers(request),
            (None, held) => held.is_none(),
        };
        if !covered {
            tracing::error!("the outgoing request differs from the approved one");
            return Err(UpstreamError::NotSent("it differed from the approved request"));
        }
        if let Some(right) = permit.send_right()
            && !right.is_valid_in_time().await
        {
            return Err(UpstreamError::NotSent("it was revoked, or this node could not read its database"));
        }
        let Some(held) = permit.held() else { return Ok(()) };
        self.check_claim(held).await.inspect_err(|why| {
            tracing::error!(decision = held.decision_id(), ?why, "a claim ended before the request was sent");
        })
    }

    /// A claim that is not fresh is read again: others may have settled it while this node stood still.
    async fn check_claim(self, held: &HeldFacts) -> Result<(), UpstreamError> {
        let has_time = || held.has_lease_at(self.now(), self.clock.monotonic_ms());
        if has_time() && self.clock.monotonic_ms().saturating_sub(held.leased_at_ms) > TRUSTED_MS {
            let found: Result<Option<Execution>, _> = self.get(held.execution).await;
            match found {
                Ok(Some(execution)) if held.is_claim(&execution) => {}
                Ok(_) => return Err(UpstreamError::NotSent("its claim was settled meanwhile")),
                Err(_) => return Err(UpstreamError::NotSent("its claim could not be read again")),
            }
        }
        // Reading takes time, too.
        if has_time() { Ok(()) } else { Err(UpstreamError::NotSent("the lease of its claim was over")) }
    }
}

enum HoldResult<E: UpstreamExchange> {
    CarriedOut(CarriedOut<E::Answer>),
    Pending(Box<Pending>, E),
}

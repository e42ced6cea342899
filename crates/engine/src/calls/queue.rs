//! Undo windows of approved calls: held, undone, or sent when the window has closed (AAP 14.1, R-5, R-21).

use super::{
    Connect, DecidedCall, Permit, UpstreamExchange,
    approve::{Claimed, HeldCall},
};
use crate::{
    decisions::Claiming,
    engine::Tenancy,
    ports::QueuedSender,
    projects::{Address, ProjectAt},
    runner::TRIES,
    services::Calls,
    store::{AllowancesQueuedDue, Outcome},
};
use countersign_core::{
    aap::{
        access::{AccessView, Call, CallVerdict, NeedsApproval, RefusedCall, decide_queued},
        registry::REGISTRIES_UNREAD,
    },
    decision::{
        claim::Claim,
        queue::{DropQueued, Queue, QueueDue, Undo, UndoneBy, nothing_to_undo},
    },
    held::HttpRequest,
    project::undo::hold_window_s,
    records::{Allowance, Decision, Point, Project, QueuedCall},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    aap::undo::{QueuedResponse, UndoResponse},
    decisions::UndoState,
    ids::RowKey,
};
use std::sync::{Arc, PoisonError};
use tokio::task::JoinHandle;

/// The number of rows per query: many more than one project's attempts, so that its calls do not hide those of others.
const BATCH: i64 = 1024;

impl Calls<'_> {
    /// The undo window of a call that has not been held yet, in seconds.
    pub(super) fn undo_window_s(self, held: &HeldCall) -> i64 {
        let facts = held.decided.facts();
        match held.decided.queued {
            Some(_) => 0,
            None => hold_window_s(&facts.project().document, facts.route()),
        }
    }

    /// Holds an approved call for its undo window. Its request stays stored and sealed with its decision.
    pub(super) async fn queue_for_call(
        self,
        held: &mut HeldCall,
        decision: &Decision,
        window_s: i64,
    ) -> Result<Claimed, Refusal> {
        let (digest, effect) = (held.rendered.digest, held.rendered.effect.as_ref().map(|effect| effect.digest));
        let claiming = Claiming { digest, effect, allowance: None };
        // Not the step runner: between two commits the call is decided again.
        for _ in 0..TRIES {
            let _lock = self.session_locks.lock(decision.asked_in).await;
            let view = self.decisions().claim_view(&held.at, Vec::new(), decision, &claiming).await?;
            let (needs, call) = (held.needs()?, &held.decided.call);
            let claim = Claim {
                digest,
                effect,
                point: Point::Gateway,
                node: self.store.lane(),
                call: Some(held.rendered.call.clone()),
                rules: Some(needs.facts().rules()),
                probe: None,
                cancel: None,
                undo: None,
                window_closed: false,
            };
            let (mode, intent_type, consent) = (call.mode.clone(), call.intent_type.clone(), call.consent);
            let queue = Queue { window_s, mode, intent_type, consent };
            let (step, counted) = needs.queue(claim, queue, &view, &self.env()?)?;
            match self.commit(step.effects).await {
                Outcome::Committed => {
                    self.limit_cache.add(&counted);
                    held.decided.mark_recorded();
                    return Ok(Claimed::Queued(Box::new(self.queued_response(&held.at, &step.answer)?)));
                }
                Outcome::Stale => self.agents().forget_credential(&held.decided.address, &held.decided.call),
                Outcome::OutOfTime => return Err(Refusal::ApprovalGone("it has expired")),
                outcome => return Err(self.limit_refusal(needs.facts(), &counted, &outcome).await),
            }
            self.decide_held_again(held).await?;
        }
        Err(Refusal::Unavailable)
    }

    fn queued_response(self, at: &ProjectAt, queued: &QueuedCall) -> Result<QueuedResponse, Refusal> {
        let id = &queued.decision_id;
        Ok(QueuedResponse {
            decision_id: id.clone(),
            undo_url: self.undo_url(at, id)?,
            expires_at: queued.closes_at,
            outcome: format!("{}{}/v1/decisions/{id}", at.service, at.prefix()),
            page: self.decisions().page_of(at, id),
        })
    }

    /// Undoes the held call of a decision.
    pub(super) async fn undo_queued(self, decision: &Decision, by: UndoneBy) -> Result<UndoResponse, Refusal> {
        let allowances = self.decisions().allowances_of(decision).await?;
        let queued = allowances.iter().find_map(|allowance| Some((allowance.key, allowance.queued.as_ref()?)));
        let (key, queued) = queued.ok_or_else(nothing_to_undo)?;
        let undo = || async {
            let (lock, view) = self.decisions().lock_allowance(key).await?.ok_or_else(nothing_to_undo)?;
            Ok::<_, Refusal>((lock, Undo { by: by.clone() }.decide(&view, &self.env()?)?))
        };
        match self.run_to_outcome(undo).await? {
            (Outcome::Committed, undone_at) => {
                Ok(UndoResponse { decision_id: decision.id.clone(), state: UndoState::Undone, undone_at })
            }
            (Outcome::OutOfTime, _) => Err(Refusal::UndoWindowClosed(queued.closes_at)),
            _ => Err(Refusal::Unavailable),
        }
    }

    /// Sets the enforcement point that sends held calls. Without one this node leaves them to others.
    pub fn use_queued_sender(self, sender: Arc<dyn QueuedSender>) {
        *self.queued_sender.write().unwrap_or_else(PoisonError::into_inner) = Some(sender);
    }

    /// Sends every held call with a closed undo window, and returns when all attempts have ended.
    pub async fn send_queued(self) -> Result<(), Refusal> {
        let attempts = self.begin_queued().await?;
        let mut ended = futures_util::future::join_all(attempts).await.into_iter();
        ended.try_for_each(|attempt| attempt.unwrap_or(Err(Refusal::Internal)))
    }

    /// Begins to send every held call with a closed undo window, within the caps. Each attempt is a task of its own, so that a
    /// slow upstream stops no other call. Call it often.
    pub async fn begin_queued(self) -> Result<Vec<JoinHandle<Result<(), Refusal>>>, Refusal> {
        let sender = self.queued_sender.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(sender) = sender else { return Ok(Vec::new()) };
        self.check_clock()?;
        let due = self.find_all(AllowancesQueuedDue { by: self.now(), limit: BATCH }).await?;
        let begin = |allowance: Allowance| {
            let attempt = self.queued_attempts.begin(allowance.key, allowance.project)?;
            let (engine, sender) = (Arc::clone(self.engine), Arc::clone(&sender));
            Some(self.tasks.spawn(async move {
                let sent = engine.calls().send_one(allowance.key, &*sender).await;
                if let Err(refusal) = &sent {
                    tracing::warn!(%refusal, "a held call could not be sent");
                }
                drop(attempt);
                sent
            }))
        };
        Ok(due.into_iter().filter_map(begin).collect())
    }

    async fn send_one(self, key: RowKey, sender: &dyn QueuedSender) -> Result<(), Refusal> {
        let Some(allowance) = self.get::<Allowance>(key).await? else { return Ok(()) };
        let step = QueueDue { serving_since: self.time.serving_since() }.decide(&allowance, &self.env()?)?;
        match self.commit(step.effects).await {
            Outcome::Committed if step.answer => sender.send(key).await,
            Outcome::Unavailable(_) => Err(Refusal::Unavailable),
            // Another node was first, or it is not due by the store's clock.
            _ => Ok(()),
        }
    }

    /// Sends one held call through `exchange`, or ends it when it is refused now.
    pub async fn carry_out_queued<E: UpstreamExchange>(self, key: RowKey, mut exchange: E) -> Result<(), Refusal> {
        let engine = Arc::clone(self.engine);
        self.spawn_to_completion(async move {
            match engine.calls().claim_queued(key, &mut exchange).await {
                Ok(Some((permit, request))) => {
                    // The outcome is recorded; nobody is left to get the response.
                    if let Err(refusal) = engine.calls().forward(permit, exchange, Some(request)).await {
                        tracing::warn!(%refusal, "a held call was sent without a known outcome");
                    }
                    Ok(())
                }
                Ok(None) => Ok(()),
                Err(refusal) => engine.calls().drop_queued(key, &refusal).await,
            }
        })
        .await
    }

    /// Decides the whole call again, and claims its approval. None if it is not held any more.
    async fn claim_queued(
        self,
        key: RowKey,
        connect: &mut dyn Connect,
    ) -> Result<Option<(Permit, HttpRequest)>, Refusal> {
        let Some(allowance) = self.get::<Allowance>(key).await? else { return Ok(None) };
        let Some(queued) = allowance.queued_call() else { return Ok(None) };
        let decision: Decision = self.load(allowance.decision).await?;
        let at = self.project(&self.address_of(allowance.project).await?).await?;
        let request = self.kept_request(&at.project, &decision).await?;
        let request = request.ok_or(Refusal::ApprovalGone("its request is not stored any more"))?;
        let call = call_of_queued(queued, &request);
        let (call, verdict) = self.queued_verdict(&decision, call).await?;
        let needs = match verdict {
            Ok(needs) => needs,
            Err(refused) => return Err(self.record_refused(&call, refused).await),
        };
        let verdict = CallVerdict::NeedsApproval(needs);
        let decided =
            DecidedCall::new(self.engine, verdict, Box::new(call), at.address.clone()).in_queue(decision.clone());
        let rendered = match self.redeemable(&decided, &decision, &request).await {
            Ok(rendered) => rendered,
            Err(refusal) => return Err(decided.refuse(refusal).await),
        };
        let named = decision.id.clone();
        let mut held = HeldCall { decided, request, at, rendered, named };
        match self.claim_for_call(&mut held, decision, Some(key), connect).await {
            Ok(Claimed::Permit(permit)) => Ok(Some((permit, held.request))),
            Ok(Claimed::Queued(_)) => Err(Refusal::Internal),
            Err(refusal) => Err(held.decided.refuse(refusal).await),
        }
    }

    /// A held call by the rows of today: nothing of its delegation, session or receipt is remembered.
    pub(super) async fn queued_verdict(
        self,
        decision: &Decision,
        call: Call,
    ) -> Result<(Call, Result<NeedsApproval, RefusedCall>), Refusal> {
        let view: AccessView = self.agents().queued_view(decision, &call).await?;
        let bearer = view.bearer.as_ref();
        let delegation_id = bearer.and_then(|bearer| Some(bearer.delegation.as_ref()?.id.clone()));
        let session_id = bearer.map(|bearer| bearer.session.session_id.clone());
        let account = view.bearer.as_ref().and_then(|bearer| bearer.service_account());
        let account_id = account.map(|account| account.account_id.clone());
        let call = Call { delegation_id, account_id, session_id, ..call };
        let verdict = decide_queued(&call, &view, self.now());
        Ok((call, verdict))
    }

    /// A failure of today does not end a call that can be sent within its time.
    async fn drop_queued(self, key: RowKey, refusal: &Refusal) -> Result<(), Refusal> {
        let unread = matches!(refusal, Refusal::OperatorNotListed(why) if *why == REGISTRIES_UNREAD);
        if unread
            || matches!(refusal, Refusal::Unavailable | Refusal::UpstreamUnreachable | Refusal::OperatorUnreachable)
        {
            tracing::warn!(%refusal, "a held call could not be sent yet");
            return Ok(());
        }
        self.run_locked(|| async {
            let Some((lock, view)) = self.decisions().lock_allowance(key).await? else {
                return Ok((None, countersign_core::step::Step::answer(())));
            };
            let step = DropQueued { why: refusal.code().to_string() }.decide(&view, &self.env()?)?;
            Ok::<_, Refusal>((lock, step))
        })
        .await
    }

    async fn address_of(self, project: RowKey) -> Result<Address, Refusal> {
        let project: Project = self.load(project).await?;
        let id = project.id.as_str().to_owned();
        Ok(match (self.settings.tenancy, self.settings.subdomains) {
            (Tenancy::Single, _) => Address::Unscoped,
            (Tenancy::Multi, true) => Address::Subdomain(id),
            (Tenancy::Multi, false) => Address::Scoped(id),
        })
    }
}

fn call_of_queued(queued: &QueuedCall, request: &HttpRequest) -> Call {
    Call {
        method: request.method.clone(),
        origin: request.origin.clone(),
        path: request.path().to_owned(),
        query: request.query().map(str::to_owned),
        mode: queued.mode.clone(),
        intent_type: queued.intent_type.clone(),
        consent: queued.consent,
        ..Call::default()
    }
}

//! Authority as a value that cannot be forged: it exists only because its step is durable, it fits one request, and it
//! is settled once. Dropped without an outcome, it records the outcome as unknown.

use super::{BodyDigest, UpstreamError, UpstreamOutcome, Watch, reversible::OpenCancel, settle::RecordedOutcome};
use crate::{
    completion::Completion,
    ended_holders::Generation,
    engine::Engine,
    inflight_writes::{InflightWrite, SendRight, until_deaf},
    projects::Address,
};
use countersign_core::{
    aap::access::{AuthorizedCall, Call, CallFacts},
    held::HttpRequest,
    records::Execution,
    refusal::{Refusal, SentWrite},
};
use countersign_protocol::{action::Action, hash::Digest, ids::RowKey, time::UnixMillis};
use std::{sync::Arc, time::Duration};

/// A call that is let through once. Unless it is a speculative read, its intent is durable, and the claim if it was held.
#[must_use = "a permit is settled with the outcome of its call"]
pub struct Permit {
    engine: Arc<Engine>,
    open: Option<Box<OpenPermit>>,
}

pub(super) struct OpenPermit {
    pub(super) authorized: AuthorizedCall,
    pub(super) held: Option<HeldFacts>,
    /// None once the request was handed to the upstream, and for a speculative read.
    pub(super) inflight: Option<InflightWrite>,
    /// Only for a speculative read: the generation in which it was decided.
    pub(super) decided_in: Option<Generation>,
    pub(super) call: Box<Call>,
    pub(super) address: Address,
    /// Whether the first byte may have left.
    pub(super) sent: bool,
    /// For the recognition of repeats.
    pub(super) body: BodyDigest,
    /// How its upstream undoes it, on routes with a cancel endpoint.
    pub(super) cancel: Option<OpenCancel>,
    /// The people whose data the response touched; only for a service account that crosses users.
    pub(super) data_subjects: Vec<String>,
}

impl OpenPermit {
    pub(super) fn new(authorized: AuthorizedCall, call: Box<Call>, address: Address) -> Self {
        let body = BodyDigest::default();
        Self {
            authorized,
            held: None,
            inflight: None,
            decided_in: None,
            call,
            address,
            sent: false,
            body,
            cancel: None,
            data_subjects: Vec::new(),
        }
    }

    /// The name of a possibly executed call in errors. A write whose repeats are harmless has none: nobody settles it.
    pub(super) fn sent_write(&self) -> Option<SentWrite> {
        let decision = self.held.as_ref().map(|held| SentWrite::Decision(held.decision_id.clone()));
        let settled = || self.authorized.write().filter(|write| write.fingerprint.is_some());
        decision.or_else(|| settled().map(|write| SentWrite::Call(write.call_id.clone())))
    }
}

/// The claim behind an approved call.
#[derive(Clone, Debug)]
pub struct HeldFacts {
    pub(crate) decision: RowKey,
    pub(crate) decision_id: String,
    pub(crate) execution: RowKey,
    pub(crate) execution_id: String,
    /// The fencing number of this claim among those of the same effect or digest.
    pub(crate) fence: i64,
    pub(crate) digest: Digest,
    /// The digest of its effect key.
    pub(crate) effect: Option<Digest>,
    pub(crate) effect_key: Option<String>,
    pub(crate) lease_s: i64,
    pub(crate) lease_until: UnixMillis,
    /// The monotonic clock right before the claim, or its last renewal, was committed.
    pub(crate) leased_at_ms: i64,
}

impl Permit {
    pub(super) fn new(engine: &Arc<Engine>, open: OpenPermit) -> Self {
        Self { engine: Arc::clone(engine), open: Some(Box::new(open)) }
    }

    #[expect(clippy::expect_used, reason = "only `settle` takes it, and it consumes the permit")]
    fn open(&self) -> &OpenPermit {
        self.open.as_ref().expect("a permit is open until it is settled")
    }

    pub fn facts(&self) -> &CallFacts {
        self.open().authorized.facts()
    }

    pub(super) fn held(&self) -> Option<&HeldFacts> {
        self.open().held.as_ref()
    }

    pub(super) fn sent_write(&self) -> Option<SentWrite> {
        self.open().sent_write()
    }

    /// From here on the first byte may have left.
    pub(super) fn mark_sending(&mut self) {
        if let Some(open) = &mut self.open {
            open.sent = true;
        }
    }

    /// The people whose data the response touched, for the record of the outcome (AAP 11.4).
    pub(super) fn set_data_subjects(&mut self, subjects: Vec<String>) {
        if let Some(open) = &mut self.open {
            open.data_subjects = subjects;
        }
    }

    /// Whether the request that undoes the call needs a member of its response.
    pub(super) fn needs_response(&self) -> bool {
        self.open().cancel.as_ref().is_some_and(OpenCancel::needs_response)
    }

    pub(super) fn set_response(&mut self, body: Option<&[u8]>) {
        if let Some(cancel) = self.open.as_mut().and_then(|open| open.cancel.as_mut()) {
            cancel.set_response(body);
        }
    }

    /// The right to go on sending; none once a request with an intent has left.
    pub fn send_right(&self) -> Option<SendRight> {
        let open = self.open();
        let Some(decided_in) = open.decided_in else { return open.inflight.as_ref().map(InflightWrite::send_right) };
        let (engine, facts) = (&self.engine, open.authorized.facts());
        let read = engine.ended_holders.read_right(decided_in, [Some(facts.session()), facts.delegation()]);
        Some(SendRight::of_read(read, engine.feed_freshness.clone()))
    }

    /// Resolves when the rest of the request must not be sent any more. A speculative read that is cut by a revocation is
    /// not woken by it: its next piece is refused.
    pub fn cut(&self) -> impl Future<Output = UpstreamError> + Send + 'static {
        let cut = self.open().inflight.as_ref().map(InflightWrite::cut);
        let deaf = until_deaf(self.engine.feed_freshness.clone());
        async move {
            match cut {
                Some(cut) => cut.await,
                None => deaf.await,
            }
        }
    }

    /// To be called when the request has left completely: a revocation waits for that.
    pub fn mark_sent(&mut self) {
        if let Some(open) = &mut self.open {
            open.inflight = None;
        }
    }

    /// Whether these are exactly the approved bytes. Checked right before they are sent, also in release builds.
    pub(super) fn covers(&self, request: &HttpRequest) -> bool {
        let Some(held) = self.held() else { return self.covers_head(&request.method, &request.target) };
        let Some(principal) = self.facts().delegation_id() else { return false };
        let action = request.action(&self.facts().project().id, principal, self.facts().route());
        Action::Http(action).digest().is_ok_and(|digest| digest == held.digest)
    }

    /// Whether this is the call that was decided, for a body that was not read.
    pub fn covers_head(&self, method: &str, target: &str) -> bool {
        self.facts().covers(method, target)
    }

    pub fn effect_key(&self) -> Option<&str> {
        self.held()?.effect_key.as_deref()
    }

    /// How often the lease of a claim is to be renewed; none without a claim.
    pub fn renew_every(&self) -> Option<Duration> {
        let lease_s = self.held()?.lease_s;
        let third = Duration::from_millis(lease_s.unsigned_abs().saturating_mul(1000) / 3);
        Some(third.max(Duration::from_secs(1)))
    }

    /// Renews the lease while the upstream works.
    pub async fn renew(&mut self) {
        let Some(held) = self.held() else { return };
        let leased_at_ms = self.engine.clock.monotonic_ms();
        let renewed = Box::pin(self.engine.calls().renew_lease(held, self.facts())).await;
        if let (Some(open), Some(lease_until)) = (&mut self.open, renewed)
            && let Some(held) = &mut open.held
        {
            *held = HeldFacts { lease_until, leased_at_ms, ..held.clone() };
        }
    }

    pub(super) fn address(&self) -> &Address {
        &self.open().address
    }

    pub(super) fn watch(&self) -> Watch {
        let open = self.open();
        Watch::new(open.authorized.facts().clone(), Call::clone(&open.call), open.address.clone())
    }

    /// A signed assertion of the caller's identity for the upstream. Only a permit signs one.
    pub fn identity_assertion(&self, audience: &str) -> Result<String, Refusal> {
        self.engine.calls().identity_assertion(self.facts(), audience, self.held())
    }

    /// Records the outcome; only then may the response leave.
    pub(super) async fn settle(mut self, outcome: UpstreamOutcome) -> Result<RecordedOutcome, Refusal> {
        let Some(open) = self.open.take() else { return Err(Refusal::Internal) };
        let (engine, named) = (Arc::clone(&self.engine), open.sent_write());
        // The record is written even if the caller hangs up now.
        let settling = {
            let engine = Arc::clone(&engine);
            async move { engine.calls().settle(open, outcome).await }
        };
        Completion::of(settling, &engine.tasks).await.unwrap_or(Err(Refusal::OutcomeUnrecorded(named)))
    }
}

/// The least remainder of a lease when a request is sent, so that no other node takes it for lapsed meanwhile.
const LEASE_MARGIN_MS: i64 = 2_000;

impl HeldFacts {
    /// Whether the lease has time left, by both clocks: a wall clock can be set, and a monotonic one may stand still while
    /// the machine sleeps.
    pub(super) fn has_lease_at(&self, now: UnixMillis, monotonic_ms: i64) -> bool {
        let lease_ms = self.lease_s.saturating_mul(1000);
        let margin = LEASE_MARGIN_MS.min(lease_ms / 4);
        let elapsed = monotonic_ms.saturating_sub(self.leased_at_ms);
        now.plus_millis(margin) < self.lease_until && elapsed.saturating_add(margin) < lease_ms
    }

    /// Whether this is still the claim that allows sending.
    pub(super) fn is_claim(&self, execution: &Execution) -> bool {
        execution.id == self.execution_id && execution.fence == self.fence && execution.lease_until().is_some()
    }

    pub fn decision_id(&self) -> &str {
        &self.decision_id
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::error!("the outcome of a call that was dropped could not be recorded");
            return;
        };
        let error = match open.sent {
            true => UpstreamError::ConnectionLost("the caller left before the answer came"),
            false => UpstreamError::NotSent("the caller left"),
        };
        let engine = Arc::clone(&self.engine);
        self.engine.tasks.spawn_on(
            async move {
                if let Err(refusal) = engine.calls().settle(open, UpstreamOutcome::Failed(error)).await {
                    tracing::warn!(%refusal, "a call whose caller left could not be recorded");
                }
            },
            &runtime,
        );
    }
}

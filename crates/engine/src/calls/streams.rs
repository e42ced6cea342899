//! Streams: audited at open and close, cut at expiry and revocation.

use crate::{projects::Address, services::Calls};
use countersign_core::{
    aap::access::{Call, CallFacts, check_bearer_at},
    aap::validity::check_receipt,
    project::tier_needed,
    refusal::{ExceededConsent, Refusal},
};
use std::time::Duration;

/// How often a stream's conditions are checked.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The conditions that must hold as long as a stream is open.
pub struct Watch {
    facts: CallFacts,
    call: Call,
    address: Address,
}

impl Watch {
    pub(super) fn new(facts: CallFacts, call: Call, address: Address) -> Self {
        Self { facts, call, address }
    }
}

impl Calls<'_> {
    /// Resolves when the stream must end, with the reason.
    pub async fn wait_for_cut_off(self, watch: &Watch) -> Refusal {
        loop {
            if let Err(refusal) = self.check_stream(watch).await {
                return refusal;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// From the store each time: the cache may be stale, and no commit would notice.
    async fn check_stream(self, watch: &Watch) -> Result<(), Refusal> {
        let now = self.now();
        let at = self.project(&watch.address).await?;
        if at.project.version != watch.facts.project().version {
            return Err(Refusal::Conflict("the project's document has changed".into()));
        }
        let (hash, _) = watch.call.token().ok_or(Refusal::AccessTokenInvalid)?;
        let (document, route) = (&at.project.document, watch.facts.route());
        let tier = tier_needed(document, route);
        let bearer = self.agents().bearer_at_tier(&at.project, hash, tier).await?;
        check_bearer_at(&bearer, document, tier, now)?;
        if !watch.facts.keeps_expansion(&bearer.session) {
            return Err(ExceededConsent::of(watch.facts.action(), None).into());
        }
        bearer.receipt().map_or(Ok(()), |receipt| check_receipt(receipt, now))?;
        if now >= watch.facts.ends_at() { Err(Refusal::AccessTokenExpired) } else { Ok(()) }
    }

    /// The end of a stream, for the audit.
    pub async fn close_stream(self, watch: Watch, why: &str, bytes: u64) {
        let recorded = async {
            let effects = watch.facts.record_stream_end(why, bytes, &self.record_env()?)?;
            Ok::<_, Refusal>(self.commit(effects).await)
        };
        if !matches!(recorded.await, Ok(crate::store::Outcome::Committed)) {
            tracing::error!("the end of a stream could not be recorded");
        }
    }
}

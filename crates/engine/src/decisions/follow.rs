//! `GET /v1/decisions/{id}?wait=`: reading, and long polling. A restart loses no state.

use super::AgentPrincipal;
use crate::{projects::ProjectAt, services::Decisions, store::DecisionById};
use countersign_core::{
    records::{Allowance, Decision, Point},
    refusal::Refusal,
};
use countersign_protocol::decisions::{DecisionDocument, UndoState};
use std::{sync::Arc, time::Duration};

/// Signals of another node may be lost; a waiter reads the store this often.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

impl Decisions<'_> {
    pub async fn decision(self, at: &ProjectAt, agent: &AgentPrincipal, id: &str) -> Result<DecisionDocument, Refusal> {
        let decision = self.own_decision(at, agent, id).await?;
        self.agent_document(at, decision).await
    }

    /// The decision once it is settled, or as it is when `wait` is over. The caller is authenticated again on each wake.
    pub async fn await_decision(
        self,
        at: &ProjectAt,
        token: &str,
        id: &str,
        wait: Duration,
    ) -> Result<DecisionDocument, Refusal> {
        let over = tokio::time::sleep(wait);
        tokio::pin!(over);
        let mut agent = self.reauthenticate_agent(at, token).await?;
        let key = self.own_shared(at, &agent, id).await?.key;
        let waiting = self.waiters.register(key);
        loop {
            let changed = waiting.changed();
            tokio::pin!(changed);
            // From here on no change is missed, so read once more; and then the caller's access, which the same change may
            // have ended.
            changed.as_mut().enable();
            let decision = self.own_shared(at, &agent, id).await;
            agent = self.reauthenticate_agent(at, token).await?;
            let decision = decision?;
            if !decision.is_pending() || over.is_elapsed() {
                return self.agent_document(at, Arc::unwrap_or_clone(decision)).await;
            }
            tokio::select! {
                () = &mut over => {}
                () = changed => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// For a question of the gateway the document names the way on: the URL to redeem the request at and, as long as the
    /// approval is unclaimed, the confirmation token (C-02).
    async fn agent_document(self, at: &ProjectAt, decision: Decision) -> Result<DecisionDocument, Refusal> {
        let page = self.page_of(at, &decision.id);
        let held = decision.point == Point::Gateway && decision.expansion.is_none();
        let whole = self.load_whole(decision).await?;
        let mut document = whole.document(page);
        let now = self.now();
        if let Some(undo) = document.undo.as_mut().filter(|undo| undo.state == UndoState::Open) {
            match now < undo.expires_at {
                true => {
                    let named = whole.undoable.as_ref().map_or(&whole.decision.id, |call| &call.call_id);
                    undo.undo_url = Some(self.calls().undo_url(at, named)?);
                }
                false => undo.state = UndoState::Closed,
            }
        }
        let unspent =
            |allowance: &Allowance| allowance.is_open() && allowance.queued_call().is_none() && now < allowance.until;
        let spendable = whole.allowance.as_ref().is_some_and(unspent);
        if held && (spendable || whole.decision.is_pending()) {
            document.redeem = self.calls().redeem_url(at, &whole.decision.id);
        }
        if held && spendable {
            document.confirm_token = Some(self.calls().confirm_token(&whole.decision.id)?);
        }
        Ok(document)
    }

    /// A decision of another principal does not exist for this one.
    pub(crate) async fn own_decision(
        self,
        at: &ProjectAt,
        agent: &AgentPrincipal,
        id: &str,
    ) -> Result<Decision, Refusal> {
        self.own_shared(at, agent, id).await.map(Arc::unwrap_or_clone)
    }

    async fn own_shared(self, at: &ProjectAt, agent: &AgentPrincipal, id: &str) -> Result<Arc<Decision>, Refusal> {
        let decision = self.find_shared(DecisionById { project: at.project.key, id: id.to_owned() }).await?;
        let own = decision.filter(|decision| decision.raised_by.principal == agent.raiser.principal);
        own.ok_or_else(|| {
            Refusal::NotFound(
                "there is no such decision, or it was settled so long ago that it is not kept any more".into(),
            )
        })
    }
}

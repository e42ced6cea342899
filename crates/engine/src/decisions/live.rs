//! All open decisions of an agent, for the operations that end them.

use crate::{
    services::Decisions,
    store::{
        AaepSessionsLiveOfDelegation, AaepSessionsLiveOfSession, AllowancesLiveOfDelegation, AllowancesLiveOfSession,
        DecisionsLiveOfDelegation, DecisionsLiveOfSession, Outcome, PlansLiveOfDelegation, PlansLiveOfSession,
    },
};
use countersign_core::{
    decision::cancel::Live,
    records::{CancelledFor, Delegation, Project},
    refusal::Refusal,
    step::Effects,
};
use countersign_protocol::ids::RowKey;

impl Decisions<'_> {
    /// Ends decisions that were raised while a delegation, key or session was being ended. That has ended now, so no more
    /// can follow.
    pub(crate) async fn end_late_decisions(
        self,
        project: &Project,
        live: Live,
        why: CancelledFor,
    ) -> Result<(), Refusal> {
        if live.is_empty() {
            return Ok(());
        }
        let (env, mut effects) = (self.env()?, Effects::default());
        live.cancel(&(project.key, project.id.clone()), why, &env, &mut env.mint(), &mut effects)?;
        match self.commit(effects).await {
            Outcome::Unavailable(_) => Err(Refusal::Unavailable),
            _ => Ok(()),
        }
    }

    /// Of a delegation, or of an API key: row keys are unique over all tables.
    pub(crate) async fn live_of_delegation(self, delegation: RowKey) -> Result<Live, Refusal> {
        Ok(Live {
            decisions: self.find_all(DecisionsLiveOfDelegation(delegation)).await?,
            allowances: self.find_all(AllowancesLiveOfDelegation(delegation)).await?,
            sessions: self.find_all(AaepSessionsLiveOfDelegation(delegation)).await?,
            plans: self.find_all(PlansLiveOfDelegation(delegation)).await?,
            notifies_operator: false,
        })
    }

    /// For an end without a person's act, of which the operator is notified.
    pub(crate) async fn live_for_auto_revoke(self, delegation: &Delegation) -> Result<Live, Refusal> {
        let notifies_operator = self.agents().is_enrolled(delegation.project, &delegation.operator).await?;
        Ok(Live { notifies_operator, ..self.live_of_delegation(delegation.key).await? })
    }

    pub(crate) async fn live_of_session(self, session: RowKey) -> Result<Live, Refusal> {
        Ok(Live {
            decisions: self.find_all(DecisionsLiveOfSession(session)).await?,
            allowances: self.find_all(AllowancesLiveOfSession(session)).await?,
            sessions: self.find_all(AaepSessionsLiveOfSession(session)).await?,
            plans: self.find_all(PlansLiveOfSession(session)).await?,
            notifies_operator: false,
        })
    }
}

//! `POST /agent/revoke`

use crate::{projects::ProjectAt, services::Agents, store::DelegationById};
use countersign_core::{
    aap::revoke::{PolicyEnd, Reason, Revoke, RevokeView},
    decision::cancel::Live,
    people::Actor,
    records::{CancelledFor, Delegation, Project},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    aap::revoke::{RevokeRequest, RevokeResponse},
    domain::Domain,
    ids::RowKey,
};

impl Agents<'_> {
    /// Ends a delegation. When this returns, no node lets a call of it through any more.
    pub async fn revoke(self, at: &ProjectAt, actor: &Actor, body: &RevokeRequest) -> Result<RevokeResponse, Refusal> {
        let id = body.delegation_id.as_ref().ok_or_else(|| Refusal::invalid("delegation_id is required"))?;
        let reason = body.reason.as_deref().map(|text| Reason::parse(text).ok_or_else(bad_reason)).transpose()?;
        let revoke = || async {
            let delegation = self.find_one(DelegationById { project: at.project.key, id: id.clone() }).await?;
            let key = delegation.as_ref().map(|delegation: &Delegation| delegation.key);
            let live = match key {
                Some(key) => self.decisions().live_of_delegation(key).await?,
                None => Live::default(),
            };
            let view = RevokeView { project: at.project.clone(), delegation, live };
            let step = Revoke { actor: actor.clone(), reason }.decide(&view, &self.env()?)?;
            let ending = self.subscribe_acknowledgements();
            Ok::<_, Refusal>(step.map(|answer| (answer, key, ending)))
        };
        let (answer, key, ending) = self.run(revoke).await?;
        if let Some(key) = key {
            let holders = [key];
            let (ended, ()) = tokio::join!(
                self.end_late_decisions_of_delegation(&at.project, key),
                self.wait_for_inflight_writes(&holders, ending, answer.revoked_at),
            );
            ended?;
        }
        Ok(answer)
    }

    /// Records the expiry of a delegation. The row's version decides which node does.
    pub(crate) async fn expire_delegation(self, key: RowKey) -> Result<(), Refusal> {
        let Some(delegation) = self.get::<Delegation>(key).await? else { return Ok(()) };
        let project: Project = self.load(delegation.project).await?;
        let live = self.decisions().live_for_auto_revoke(&delegation).await?;
        let view = RevokeView { project, delegation: Some(delegation), live };
        let step = PolicyEnd.decide(&view, &self.env()?)?;
        if self.finish(step).await?.is_some() {
            self.end_late_decisions_of_delegation(&view.project, key).await?;
        }
        Ok(())
    }

    /// Ends decisions that were raised while the delegation, or the API key, was being ended.
    pub(crate) async fn end_late_decisions_of_delegation(self, project: &Project, key: RowKey) -> Result<(), Refusal> {
        let late = self.decisions().live_of_delegation(key).await?;
        self.decisions().end_late_decisions(project, late, CancelledFor::Revoked).await
    }

    /// An operator, by its JWT, as an actor.
    pub async fn operator_actor(self, at: &ProjectAt, jwt: &str, source: &str) -> Result<Actor, Refusal> {
        let proven = self.prove_operator(jwt, &at.service, source).await?;
        let domain: &Domain = proven.fact.domain();
        Ok(Actor::Operator(domain.clone()))
    }
}

fn bad_reason() -> Refusal {
    Refusal::invalid("reason must be user_requested, admin_requested, task_complete or policy_triggered")
}

//! `POST /agent/revoke`

use crate::{projects::ProjectAt, runner::TRIES, services::Agents, store::DelegationById};
use countersign_core::{
    aap::{
        access::budget_checks,
        revoke::{PolicyEnd, Reason, Revoke, RevokeView, may_revoke},
    },
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
        let reason = body.reason.as_deref().map(|text| Reason::parse(text).ok_or_else(bad_reason)).transpose()?;
        match (&body.delegation_id, &body.account_id) {
            (Some(id), None) => self.revoke_by_id(&at.project, actor, reason, id).await,
            (None, Some(account)) => self.revoke_account(&at.project, actor, reason, account).await,
            (Some(_), Some(_)) => Err(Refusal::invalid("send either delegation_id or account_id")),
            (None, None) => Err(Refusal::invalid("delegation_id is required, or account_id for a service account")),
        }
    }

    /// Ends all grants of a service account that the actor may end (AAP 11.2), also those given meanwhile.
    async fn revoke_account(
        self,
        project: &Project,
        actor: &Actor,
        reason: Option<Reason>,
        account: &str,
    ) -> Result<RevokeResponse, Refusal> {
        for _ in 0..TRIES {
            let mut grants = self.grants_of_account(project.key, account).await?;
            grants.retain(|grant| may_revoke(actor, grant));
            let latest = grants.last().ok_or(Refusal::DelegationNotFound)?;
            if grants.iter().all(Delegation::is_ended) {
                // The answer to this request, or to a repeated one.
                return self.revoke_by_id(project, actor, reason, &latest.id).await;
            }
            for grant in grants.iter().filter(|grant| !grant.is_ended()) {
                self.revoke_by_id(project, actor, reason, &grant.id).await?;
            }
        }
        Err(Refusal::Unavailable)
    }

    pub(super) async fn revoke_by_id(
        self,
        project: &Project,
        actor: &Actor,
        reason: Option<Reason>,
        id: &str,
    ) -> Result<RevokeResponse, Refusal> {
        let revoke = || async {
            let delegation = self.find_one(DelegationById { project: project.key, id: id.to_owned() }).await?;
            let key = delegation.as_ref().map(|delegation: &Delegation| delegation.key);
            let live = match key {
                Some(key) => self.decisions().live_of_delegation(key).await?,
                None => Live::default(),
            };
            let view = RevokeView { project: project.clone(), delegation, live };
            let step = Revoke { actor: actor.clone(), reason }.decide(&view, &self.env()?)?;
            let ending = self.subscribe_acknowledgements();
            Ok::<_, Refusal>(step.map(|answer| (answer, key, ending)))
        };
        let (answer, key, ending) = self.run(revoke).await?;
        if let Some(key) = key {
            let holders = [key];
            let (ended, ()) = tokio::join!(
                self.end_late_decisions_of_delegation(project, key),
                self.wait_for_inflight_writes(&holders, ending, answer.revoked_at),
            );
            ended?;
        }
        Ok(answer)
    }

    /// Ends a delegation whose time or inactivity is due, or postpones the check of its inactivity. The row's version
    /// decides which node does.
    pub(crate) async fn settle_delegation(self, key: RowKey) -> Result<(), Refusal> {
        let Some(delegation) = self.get::<Delegation>(key).await? else { return Ok(()) };
        let last_request_at = match delegation.policy.inactivity_timeout {
            Some(_) => self.store.last_request_at(delegation.project, key).await?,
            None => None,
        };
        self.end_by_policy(delegation, PolicyEnd::Due { last_request_at }).await
    }

    /// Ends a delegation with a used-up budget.
    pub(crate) async fn end_used_up(self, key: RowKey) -> Result<(), Refusal> {
        let Some(delegation) = self.get::<Delegation>(key).await? else { return Ok(()) };
        self.end_by_policy(delegation, PolicyEnd::UsedUp).await
    }

    /// The delegation, after its inactivity was judged if that is due.
    pub(crate) async fn settle_inactivity(self, delegation: Option<Delegation>) -> Result<Option<Delegation>, Refusal> {
        match delegation {
            Some(delegation) if delegation.needs_idle_check(self.decision_time()?) => {
                self.settle_delegation(delegation.key).await?;
                Ok(self.get(delegation.key).await?)
            }
            delegation => Ok(delegation),
        }
    }

    /// The delegation, ended if its usage budget has no room left.
    pub(crate) async fn settle_budget(self, delegation: Option<Delegation>) -> Result<Option<Delegation>, Refusal> {
        let Some(delegation) = delegation else { return Ok(None) };
        for count in budget_checks(&delegation).iter() {
            if self.store.count(&count.key).await? > count.limit {
                self.end_used_up(delegation.key).await?;
                return Ok(self.get(delegation.key).await?);
            }
        }
        Ok(Some(delegation))
    }

    async fn end_by_policy(self, delegation: Delegation, end: PolicyEnd) -> Result<(), Refusal> {
        let key = delegation.key;
        let project: Project = self.load(delegation.project).await?;
        let live = self.decisions().live_for_auto_revoke(&delegation).await?;
        let view = RevokeView { project, delegation: Some(delegation), live };
        let step = end.decide(&view, &self.env()?)?;
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

//! Continuing with a restored database, and lifting the suspensions that this caused.

use crate::{
    engine::Engine,
    store::{
        AllAccessTokens, AllPeople, AllowancesDue, ApiKeyById, DecisionsDue, DelegationById, DelegationsOfProject,
        RollbacksDue, UndoableCallsDue,
    },
};
use countersign_core::{
    aap::lift::{LiftDelegation, LiftKey},
    epoch::{EpochStarted, EpochView, Holdings, StartEpoch},
    people::Actor,
    records::{ApiKey, Delegation, DelegationState, Epoch, Project, Raiser},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use std::{collections::BTreeSet, sync::Arc};

/// The row with the database's identity.
const EPOCH: RowKey = 1;
const ALL: (UnixMillis, i64) = (UnixMillis(i64::MAX), i64::MAX);

impl Engine {
    /// Ends everything that may have been used or revoked after the database was copied, in one step. For `restore`,
    /// while no node is in service.
    pub async fn start_epoch(self: &Arc<Self>) -> Result<EpochStarted, Refusal> {
        self.run(|| async { StartEpoch.decide(&self.epoch_view().await?, &self.env()?) }).await
    }

    async fn epoch_view(self: &Arc<Self>) -> Result<EpochView, Refusal> {
        let epoch: Option<Epoch> = self.get(EPOCH).await?;
        let tokens = self.find_all(AllAccessTokens).await?;
        let mut projects = Vec::new();
        for project in &self.projects().await? {
            projects.push(self.holdings(project).await?);
        }
        Ok(EpochView {
            epoch: epoch.ok_or(Refusal::Internal)?,
            people: self.find_all(AllPeople).await?,
            access_tokens: tokens.iter().map(|token| token.key).collect(),
            projects,
        })
    }

    async fn holdings(self: &Arc<Self>, project: &Project) -> Result<Holdings, Refusal> {
        let mut delegations = Vec::new();
        for delegation in self.delegations_in(project.key).await? {
            if !delegation.is_ended() {
                let live = self.decisions().live_of_delegation(delegation.key).await?;
                delegations.push((delegation, live));
            }
        }
        let mut keys = Vec::new();
        for key in self.people().api_keys(project.key).await?.into_iter().filter(ApiKey::is_live) {
            let live = self.decisions().live_of_delegation(key.key).await?;
            keys.push((key, live));
        }
        let mut others = Vec::new();
        for session in self.sessions_without_delegation(project.key).await? {
            others.push(self.decisions().live_of_session(session).await?);
        }
        let (by, limit) = ALL;
        let mut undoable = self.find_all(UndoableCallsDue { by, limit }).await?;
        undoable.retain(|call| call.project == project.key);
        let mut rollbacks = self.find_all(RollbacksDue { by, limit }).await?;
        rollbacks.retain(|rollback| rollback.project == project.key);
        Ok(Holdings { place: (project.key, project.id.clone()), delegations, keys, others, undoable, rollbacks })
    }

    /// AAP sessions without a delegation that have open records.
    async fn sessions_without_delegation(self: &Arc<Self>, project: RowKey) -> Result<BTreeSet<RowKey>, Refusal> {
        let (by, limit) = ALL;
        let decisions = self.find_all(DecisionsDue { by, limit }).await?;
        let allowances = self.find_all(AllowancesDue { by, limit }).await?;
        let nobodys = |raiser: &Raiser| {
            let none = raiser.delegation.is_none() && raiser.api_key.is_none();
            raiser.session.filter(|_| none)
        };
        let decisions = decisions.iter().filter(|decision| decision.project == project);
        let allowances = allowances.iter().filter(|allowance| allowance.project == project);
        let raisers = decisions.map(|found| &found.raised_by).chain(allowances.map(|found| &found.raised_by));
        Ok(raisers.filter_map(nobodys).collect())
    }

    /// All delegations of a project, oldest first.
    pub async fn delegations_in(self: &Arc<Self>, project: RowKey) -> Result<Vec<Delegation>, Refusal> {
        Ok(self.find_all(DelegationsOfProject(project)).await?)
    }

    /// Lifts the suspension of a delegation; for its person, an admin, or the command line of the service (no actor).
    pub async fn lift_delegation(
        self: &Arc<Self>,
        project: &Project,
        id: &str,
        actor: Option<&Actor>,
    ) -> Result<Delegation, Refusal> {
        self.lift_acknowledged(project, id, actor, None).await
    }

    /// The same for its operator, too, with the acknowledgement of the suspension's notice.
    pub(crate) async fn lift_acknowledged(
        self: &Arc<Self>,
        project: &Project,
        id: &str,
        actor: Option<&Actor>,
        acknowledgement: Option<&str>,
    ) -> Result<Delegation, Refusal> {
        self.run(|| async {
            let found = self.find_one(DelegationById { project: project.key, id: id.to_owned() }).await?;
            let found = found.ok_or(Refusal::DelegationNotFound)?;
            let acknowledged = match (&found.state, acknowledgement) {
                (DelegationState::Suspended { at, .. }, Some(shown)) => {
                    self.agents().acknowledgement(&found.id, *at)? == shown
                }
                _ => false,
            };
            let view = ((project.key, project.id.clone()), found);
            LiftDelegation { actor: actor.cloned(), acknowledged }.decide(&view, &self.env()?)
        })
        .await
    }

    /// The same for an API key.
    pub async fn lift_key(self: &Arc<Self>, project: &Project, id: &str) -> Result<ApiKey, Refusal> {
        self.run(|| async {
            let found = self.find_one(ApiKeyById { project: project.key, id: id.to_owned() }).await?;
            let found = found.ok_or_else(|| Refusal::NotFound("there is no such key in this project".into()))?;
            let view = ((project.key, project.id.clone()), found);
            LiftKey.decide(&view, &self.env()?)
        })
        .await
    }
}

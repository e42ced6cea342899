//! Requests of `countersign service-account`.

use super::{AdminRefusal, AdminRequest, projects::find_project};
use countersign_engine::{Delegation, Engine, Refusal};
use countersign_protocol::{
    aap::delegate::{DelegateRequest, ServiceAccountDisclosure},
    domain::Domain,
    hash::Digest,
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shows what would be granted; grants nothing.
#[derive(Clone, Serialize, Deserialize)]
pub struct ReviewServiceAccount {
    pub project: Option<String>,
    /// The confirming admin's account.
    pub admin: String,
    pub operator: Domain,
    /// `account_id`, `org_id`, `granted_scope`, and optionally `usage_limits` and `policy`.
    pub proposed: DelegateRequest,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct ReviewedServiceAccount {
    pub shown: ServiceAccountDisclosure,
    pub digest: Digest,
    pub shown_at: UnixMillis,
}

impl AdminRequest for ReviewServiceAccount {
    const NAME: &'static str = "review-service-account";
    type Answer = ReviewedServiceAccount;

    async fn run(self, engine: &Arc<Engine>) -> Result<ReviewedServiceAccount, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let agents = engine.agents();
        let reviewed = agents.review_account(&project, &self.admin, &self.operator, &self.proposed, "en").await?;
        Ok(ReviewedServiceAccount { shown: reviewed.shown, digest: reviewed.digest, shown_at: reviewed.shown_at })
    }
}

/// Grants exactly what was shown.
#[derive(Serialize, Deserialize)]
pub struct CreateServiceAccount {
    pub reviewed: ReviewServiceAccount,
    pub digest: Digest,
    pub shown_at: UnixMillis,
}

#[derive(Serialize, Deserialize)]
pub struct CreatedServiceAccount {
    pub grant: Delegation,
    /// For the operator; useless without the operator's own key.
    pub token: String,
}

impl AdminRequest for CreateServiceAccount {
    const NAME: &'static str = "create-service-account";
    type Answer = CreatedServiceAccount;

    async fn run(self, engine: &Arc<Engine>) -> Result<CreatedServiceAccount, AdminRefusal> {
        let ReviewServiceAccount { project, admin, operator, proposed } = self.reviewed;
        let project = find_project(engine, project.as_deref()).await?;
        let shown = ("en", self.digest, self.shown_at);
        let (grant, token) = engine.agents().create_account(&project, &admin, &operator, &proposed, shown).await?;
        Ok(CreatedServiceAccount { grant, token })
    }
}

/// All grants of the project, or those with this grant id or account id.
#[derive(Serialize, Deserialize)]
pub struct ListServiceAccounts {
    pub project: Option<String>,
    pub id: Option<String>,
}

impl AdminRequest for ListServiceAccounts {
    const NAME: &'static str = "list-service-accounts";
    type Answer = Vec<Delegation>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<Delegation>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        let mut found = engine.agents().service_accounts(project.key).await?;
        if let Some(id) = self.id {
            found.retain(|grant| grant.id == id || grant.subject == id);
            if found.is_empty() {
                return Err(AdminRefusal::UnknownServiceAccount);
            }
        }
        Ok(found)
    }
}

#[derive(Serialize, Deserialize)]
pub struct RevokeServiceAccount {
    pub project: Option<String>,
    /// The id of a grant, or of an account.
    pub id: String,
}

impl AdminRequest for RevokeServiceAccount {
    const NAME: &'static str = "revoke-service-account";
    type Answer = Vec<Delegation>;

    async fn run(self, engine: &Arc<Engine>) -> Result<Vec<Delegation>, AdminRefusal> {
        let project = find_project(engine, self.project.as_deref()).await?;
        engine.agents().revoke_service_account(&project, &self.id).await.map_err(|why| match why {
            Refusal::DelegationNotFound => AdminRefusal::UnknownServiceAccount,
            other => other.into(),
        })
    }
}

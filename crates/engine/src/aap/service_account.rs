//! Service accounts by command (AAP 11.2): reviewed and confirmed by an admin at the command line, listed and revoked.

use super::operator::operator_refusal;
use crate::{
    services::Agents,
    store::{DelegationsOfPerson, MembershipOf},
};
use countersign_core::{
    aap::{
        exchange::GrantClaims,
        revoke::Reason,
        service_account::{self, AccountOperator, CreateAccount, ProposedAccount, review, review_digest},
    },
    people::{Actor, ProjectMember},
    records::{Delegation, NO_PERSON, Project, Role},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    aap::delegate::{DelegateRequest, ServiceAccountDisclosure},
    domain::Domain,
    hash::Digest,
    ids::RowKey,
    time::UnixMillis,
};

/// What an admin saw, and when. The confirmation repeats both.
#[derive(Clone, Debug)]
pub struct ReviewedAccount {
    pub shown: ServiceAccountDisclosure,
    pub digest: Digest,
    pub shown_at: UnixMillis,
}

impl Agents<'_> {
    /// Everything that would be granted, for the admin with this name. Grants nothing.
    pub async fn review_account(
        self,
        project: &Project,
        admin: &str,
        operator: &Domain,
        body: &DelegateRequest,
        language: &str,
    ) -> Result<ReviewedAccount, Refusal> {
        let proposed = service_account::proposed(body)?;
        let admin = self.admin_named(project, admin).await?;
        let operator = self.account_operator(project, operator).await?;
        let shown_at = self.decision_time()?;
        let shown = review(project, &operator, &proposed, &admin.person, language, shown_at)?;
        Ok(ReviewedAccount { digest: review_digest(&shown)?, shown, shown_at })
    }

    /// Grants what was reviewed, and returns the grant and its token.
    pub async fn create_account(
        self,
        project: &Project,
        admin: &str,
        operator: &Domain,
        body: &DelegateRequest,
        (language, shown, shown_at): (&str, Digest, UnixMillis),
    ) -> Result<(Delegation, String), Refusal> {
        let proposed: ProposedAccount = service_account::proposed(body)?;
        let operator = self.account_operator(project, operator).await?;
        let granted = self
            .run(|| async {
                let project: Project = self.load(project.key).await?;
                let admin = self.admin_named(&project, admin).await?;
                let operation = CreateAccount {
                    admin: &admin,
                    operator: operator.clone(),
                    proposed: proposed.clone(),
                    language,
                    shown,
                    shown_at,
                };
                operation.decide(&project, &self.env()?)
            })
            .await?;
        let token = self.sign_delegation(&GrantClaims::ServiceAccount(granted.claims))?;
        Ok((granted.grant, token))
    }

    /// All grants to service accounts of a project, oldest first, ended ones included.
    pub async fn service_accounts(self, project: RowKey) -> Result<Vec<Delegation>, Refusal> {
        Ok(self.find_all(DelegationsOfPerson { project, person: NO_PERSON }).await?)
    }

    /// Ends a grant by its id, or all grants of an account.
    pub async fn revoke_service_account(self, project: &Project, id: &str) -> Result<Vec<Delegation>, Refusal> {
        let all = self.service_accounts(project.key).await?;
        let named: Vec<Delegation> = all.into_iter().filter(|grant| grant.id == id || grant.subject == id).collect();
        if named.is_empty() {
            return Err(Refusal::DelegationNotFound);
        }
        for grant in &named {
            self.revoke_by_id(project, &Actor::Service, Some(Reason::AdminRequested), &grant.id).await?;
        }
        let mut ended = Vec::new();
        for grant in named {
            ended.push(self.load(grant.key).await?);
        }
        Ok(ended)
    }

    /// The operator with the default policy of its identity manifest. Without the manifest nothing is shown or granted: the
    /// effective policy would be looser than one of its layers (AAP 8.4).
    async fn account_operator(self, project: &Project, domain: &Domain) -> Result<AccountOperator, Refusal> {
        let identity = self.operators.identity(domain, self.decision_time()?).await.map_err(operator_refusal)?;
        let service = self.origins_of(project).into_iter().next().unwrap_or_else(|| self.settings.origin.to_string());
        Ok(AccountOperator {
            domain: domain.clone(),
            name: identity.operator.clone(),
            policy: identity.countersign.auto_revoke_policy.clone(),
            service,
        })
    }

    async fn admin_named(self, project: &Project, name: &str) -> Result<ProjectMember, Refusal> {
        let refused = || Refusal::NotAuthorized(format!("{name:?} is not an admin of this project"));
        let person = self.people().account(name).await?.ok_or_else(refused)?;
        let membership = self.find_one(MembershipOf { project: project.key, person: person.key }).await?;
        let member = ProjectMember { person, membership, fresh_until: self.decision_time()? };
        if member.person.disabled || !member.has_role(Role::Admin) { Err(refused()) } else { Ok(member) }
    }
}

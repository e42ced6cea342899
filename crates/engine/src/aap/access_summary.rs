//! `GET /agent/access-summary`: the active delegations of the caller, or all of one agent for one person.

use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{DelegationById, DelegationsOfPerson, DelegationsOfProject},
};
use countersign_core::{
    aap::access_summary::{named, summarize},
    people::Actor,
    records::Delegation,
    refusal::Refusal,
};
use countersign_protocol::{aap::access_summary::AccessSummary, time::UnixMillis};

impl Agents<'_> {
    pub async fn access_summary(
        self,
        at: &ProjectAt,
        actor: &Actor,
        delegation_id: Option<&str>,
    ) -> Result<AccessSummary, Refusal> {
        let now = self.decision_time()?;
        let named = match delegation_id {
            Some(id) => {
                let lookup = DelegationById { project: at.project.key, id: id.to_owned() };
                Some(named(actor, self.find_one(lookup).await?)?)
            }
            None => None,
        };
        let mut all = Vec::new();
        for delegation in self.summarized(at, actor, named.as_ref()).await? {
            let Some(delegation) = self.settle_inactivity(Some(delegation)).await? else { continue };
            let used = self.last_used(&delegation).await?;
            all.push((delegation, used));
        }
        let page = |delegation: &Delegation| format!("{}/agents/{}/revoke", at.prefix(), delegation.id);
        Ok(summarize(actor, named.as_ref(), &all, page, now))
    }

    /// The time of the last request under a delegation.
    pub async fn last_used(self, delegation: &Delegation) -> Result<Option<UnixMillis>, Refusal> {
        Ok(self.store.last_request_at(delegation.project, delegation.key).await?)
    }

    /// The candidates, oldest first.
    async fn summarized(
        self,
        at: &ProjectAt,
        actor: &Actor,
        named: Option<&Delegation>,
    ) -> Result<Vec<Delegation>, Refusal> {
        let project = at.project.key;
        let of_person = |person| self.find_all(DelegationsOfPerson { project, person });
        let found = match (named, actor) {
            (Some(named), _) => of_person(named.person).await?,
            (None, Actor::Person(member)) => of_person(member.person.key).await?,
            (None, Actor::Agent(session)) => self.get_some(session.delegation).await?.into_iter().collect(),
            (None, Actor::Operator(domain)) => {
                let mut found = self.find_all(DelegationsOfProject(project)).await?;
                found.retain(|delegation: &Delegation| delegation.operator == *domain);
                found
            }
            (None, Actor::AdminKey(_)) => return Err(Refusal::invalid("delegation_id is required with a key")),
            (None, Actor::OtherKey) => return Err(Refusal::DelegationNotFound),
        };
        Ok(found.into_iter().filter(|delegation| !delegation.is_ended()).collect())
    }
}

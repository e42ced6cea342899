//! `GET /agent/access-summary`: the active delegations of the caller, or all of one agent for one person.

use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{DelegationById, DelegationsOfOperator, DelegationsOfPerson},
};
use countersign_core::{
    aap::{
        access_summary::{DelegationInUse, named, summarize},
        scope_expansion::in_force,
    },
    people::Actor,
    records::{Delegation, Project},
    refusal::Refusal,
};
use countersign_protocol::{aap::access_summary::AccessSummary, ids::RowKey, mplp::AllowanceShown, time::UnixMillis};
use std::collections::HashMap;

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
        let mut delegations = Vec::new();
        for delegation in self.summarized(at, actor, named.as_ref()).await? {
            delegations.extend(self.settle_inactivity(Some(delegation)).await?);
        }
        let all = self.in_use(&at.project, delegations, now).await?;
        let page = |delegation: &Delegation| format!("{}/agents/{}/revoke", at.prefix(), delegation.id);
        Ok(summarize(actor, named.as_ref(), &all, page, now))
    }

    /// Delegations of a project with their use, in a number of queries that does not grow with theirs.
    async fn in_use(
        self,
        project: &Project,
        delegations: Vec<Delegation>,
        now: UnixMillis,
    ) -> Result<Vec<DelegationInUse>, Refusal> {
        let Project { key: project, document, .. } = project;
        let project = *project;
        let keys = delegations.iter().map(|delegation| delegation.key).collect();
        let last_used = self.store.last_requests_at(project, keys).await?;
        let mut standing: HashMap<RowKey, Vec<AllowanceShown>> = HashMap::new();
        for open in self.decisions().open_allowances_under(project, &delegations).await? {
            let delegation = open.allowance.raised_by.delegation.unwrap_or_default();
            standing.entry(delegation).or_default().push(open.shown());
        }
        let mut tasks = self.watched_tasks(project).await?;
        let expanded = self.expanded_sessions(project, &delegations).await?;
        let in_use = delegations.into_iter().map(|delegation| DelegationInUse {
            last_used: last_used.get(&delegation.key).copied(),
            standing_approvals: standing.remove(&delegation.key).unwrap_or_default(),
            tasks: tasks.remove(&delegation.key).unwrap_or_default(),
            scope_expansions: in_force(document, &delegation, &expanded, now),
            delegation,
        });
        Ok(in_use.collect())
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
                self.find_all(DelegationsOfOperator { project, operator: domain.to_string() }).await?
            }
            (None, Actor::AdminKey(_)) => return Err(Refusal::invalid("delegation_id is required with a key")),
            (None, Actor::OtherKey | Actor::Service) => return Err(Refusal::DelegationNotFound),
        };
        Ok(found.into_iter().filter(|delegation| !delegation.is_ended()).collect())
    }
}

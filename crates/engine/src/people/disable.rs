//! Disabling an account, with everything that the person holds.

use super::AccountFailure;
use crate::{
    ended::Ending,
    services::People,
    store::{MembershipOf, SubscriberTokensOfPerson},
};
use countersign_core::{
    people::{
        accounts::AccountRefusal,
        disable::{Disable, DisableView, Disabled, HeldInProject},
    },
    records::{ApiKey, Delegation, Person, Project, SubscriberToken, TokenState},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::ids::RowKey;

impl People<'_> {
    /// Disables a person and ends their sign-in sessions, subscriber tokens, delegations, API keys and all open work
    /// under these, in one step. When this returns, none of it works any more, on any node.
    pub async fn disable_person(self, name: &str, by: &str) -> Result<Disabled, AccountFailure> {
        let person = self.account(name).await?.ok_or_else(|| AccountRefusal::Unknown(name.to_owned()))?;
        self.disable(person.key, by).await
    }

    /// The same for a person of any identity provider.
    pub(crate) async fn disable(self, person: RowKey, by: &str) -> Result<Disabled, AccountFailure> {
        let disable = || async {
            let person: Person = self.get(person).await?.ok_or(Refusal::Internal)?;
            let projects = self.projects().await?;
            let mut held = Vec::new();
            for project in &projects {
                held.push(self.holdings_in(project, &person).await?);
            }
            let view = DisableView { person, projects: held };
            let step = Disable { by: by.to_owned() }.decide(&view, &self.env()?)?;
            let ending = self.subscribe_acknowledgements();
            Ok::<_, AccountFailure>(step.map(|ended| (ended, projects, view, ending)))
        };
        let (ended, projects, view, ending) = self.run(disable).await?;
        self.end_late_decisions(&projects, &view, ending).await?;
        Ok(ended)
    }

    pub(crate) async fn holdings_in(self, project: &Project, person: &Person) -> Result<HeldInProject, Refusal> {
        let membership = self.find_one(MembershipOf { project: project.key, person: person.key }).await?;
        let found: Vec<Delegation> = self.delegations_of(project.key, person.key).await?;
        let mut delegations = Vec::new();
        for delegation in found.into_iter().filter(|delegation| !delegation.is_ended()) {
            let live = self.decisions().live_for_auto_revoke(&delegation).await?;
            delegations.push((delegation, live));
        }
        let found: Vec<ApiKey> = self.api_keys(project.key).await?;
        let mut keys = Vec::new();
        for key in found.into_iter().filter(|key| key.responsible == person.key && key.revoked_at.is_none()) {
            let live = self.decisions().live_of_delegation(key.key).await?;
            keys.push((key, live));
        }
        let tokens = self.find_all(SubscriberTokensOfPerson { project: project.key, person: person.key }).await?;
        let is_active = |token: &SubscriberToken| token.state(person, self.now()) == TokenState::Active;
        Ok(HeldInProject {
            place: (project.key, project.id.clone()),
            is_member: membership.is_some(),
            delegations,
            keys,
            tokens: tokens.into_iter().filter(is_active).collect(),
        })
    }

    /// Ends questions raised during the disabling, and waits for writes that were already in flight.
    async fn end_late_decisions(self, projects: &[Project], view: &DisableView, ending: Ending) -> Result<(), Refusal> {
        let delegations = view.projects.iter().flat_map(|held| &held.delegations);
        let delegations: Vec<RowKey> = delegations.map(|(delegation, _)| delegation.key).collect();
        let late = async {
            for held in &view.projects {
                let Some(project) = projects.iter().find(|project| project.key == held.place.0) else { continue };
                let delegations = held.delegations.iter().map(|(delegation, _)| delegation.key);
                for holder in delegations.chain(held.keys.iter().map(|(key, _)| key.key)) {
                    self.agents().end_late_decisions_of_delegation(project, holder).await?;
                }
            }
            Ok(())
        };
        let (ended, ()) = tokio::join!(late, self.wait_for_inflight_writes(&delegations, ending, self.now()));
        ended
    }
}

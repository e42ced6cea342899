//! Evictions: a credential that is no longer valid, a lost project role, a slow reader. And early rejection, where a
//! project does not want a question to stay pending when nobody can answer it.

use super::hub::{Delivery, Evictions, NO_LONGER_ENTITLED};
use crate::{
    engine::Engine,
    services::Events,
    store::{MembershipOf, SubscriptionsOpenOfPerson},
};
use countersign_core::{
    decision::audience,
    records::{Project, Role, Subscription, SubscriptionOwner},
    refusal::Refusal,
};
use countersign_protocol::{aaep::extension::PREFIX, ids::RowKey};
use std::{collections::HashMap, sync::Arc};

impl Events<'_> {
    /// Runs the hub's due timers. To be called often.
    pub fn run_hub_timers(self) {
        let gone = self.hub.tick(self.now());
        self.evict(gone);
    }

    /// Closes the subscriptions of slow readers, and checks whether anybody is left to answer.
    pub(crate) fn evict(self, gone: Evictions) {
        if gone.too_slow.is_empty() && gone.left.is_empty() {
            return;
        }
        let engine = Arc::clone(self.engine);
        tokio::spawn(async move {
            for outlet in gone.too_slow {
                tracing::warn!(subscription = outlet.id, "closed a subscription whose reader did not keep up");
                engine.events().close_delivery(&outlet).await;
            }
            for outlet in gone.left {
                match outlet.is_implicit {
                    true => engine.events().close_delivery(&outlet).await,
                    false => engine.events().reader_left(&outlet).await,
                }
            }
        });
    }

    /// A person's account or role changed: checks each of their streams again, and delivers nothing on it until then.
    pub(crate) fn recheck_person(self, person: RowKey) {
        let outlets = self.hub.of_person(person);
        if outlets.is_empty() {
            return;
        }
        let engine = Arc::clone(self.engine);
        let outlets: Vec<_> = outlets.into_iter().map(|outlet| (outlet.hold_for_check(), outlet)).collect();
        tokio::spawn(async move {
            let mut known = LoadedRows::default();
            for (_held, outlet) in outlets {
                if let Err(why) = engine.events().recheck_delivery(&outlet, &mut known).await {
                    // Without proof of entitlement the stream ends.
                    tracing::error!(%why, "the entitlement of a subscriber could not be read; its stream ends");
                    engine.hub.end(outlet.key, NO_LONGER_ENTITLED, engine.now());
                }
            }
        });
    }

    async fn recheck_delivery(self, outlet: &Delivery, known: &mut LoadedRows) -> Result<(), Refusal> {
        let Some(project) = known.project(self.engine, outlet.project).await? else { return Ok(()) };
        match known.roles(self.engine, &project, outlet.owner).await? {
            Some(roles) => self.hub.set_roles(outlet.key, roles),
            None => {
                self.hub.end(outlet.key, NO_LONGER_ENTITLED, self.now());
                return self.close_row(&project, outlet.key).await;
            }
        }
        if let Some(credential) = outlet.other_credential()
            && known.roles(self.engine, &project, credential).await?.is_none()
        {
            outlet.expire_reader(self.now());
        }
        Ok(())
    }

    /// Another node changed or opened a subscription.
    pub(crate) fn subscription_changed(self, subscription: RowKey) {
        if self.hub.is_own_signal(subscription) {
            return;
        }
        let engine = Arc::clone(self.engine);
        tokio::spawn(async move {
            if let Err(why) = engine.events().reload_subscription(subscription).await {
                tracing::error!(%why, "a changed subscription could not be read");
            }
        });
    }

    async fn reload_subscription(self, subscription: RowKey) -> Result<(), Refusal> {
        let Some(row) = self.get::<Subscription>(subscription).await? else { return Ok(()) };
        if row.closed_at.is_some() {
            self.hub.end(row.key, super::hub::CLOSED, self.now());
            self.hub.remove_closed((row.project, row.person), row.key);
            return Ok(());
        }
        let Some(project) = self.get::<Project>(row.project).await? else { return Ok(()) };
        let terms = self.terms_of(&project, &row)?;
        self.hub.set_time_extension((row.project, row.person), row.key, terms.time_extension);
        match self.hub.get(row.key) {
            Some(outlet) => outlet.renegotiate(terms, row.may_answer, self.now()),
            None => {
                let answers = row.may_answer && terms.answers_confirmations;
                self.hub.set_remote_subscription((row.project, row.person), row.key, answers);
            }
        }
        Ok(())
    }

    /// Closes subscriptions with a credential that is no longer valid.
    pub(super) fn clean_up_subscriptions(self, project: &Project, person: RowKey) {
        if !self.hub.begin_clean_up((project.key, person), self.now()) {
            return;
        }
        let (engine, project) = (Arc::clone(self.engine), project.clone());
        tokio::spawn(async move {
            if let Err(why) = engine.events().close_invalid_subscriptions(&project, person).await {
                tracing::error!(%why, "old subscriptions could not be closed");
            }
        });
    }

    async fn close_invalid_subscriptions(self, project: &Project, person: RowKey) -> Result<(), Refusal> {
        let rows = self.find_all(SubscriptionsOpenOfPerson { project: project.key, person }).await?;
        let mut known = LoadedRows::default();
        for row in rows {
            if known.roles(self.engine, project, row.owner).await?.is_none() {
                self.close_row(project, row.key).await?;
            }
        }
        Ok(())
    }

    /// Loads the time extensions of these people, unless this node already knows them.
    pub(crate) async fn load_time_extensions(self, project: &Project, people: &[RowKey]) -> Result<(), Refusal> {
        for person in self.hub.people_to_load(project.key, people) {
            let rows =
                self.find_all(SubscriptionsOpenOfPerson { project: project.key, person }).await.map_err(|why| {
                    self.hub.loading_failed(project.key, person);
                    Refusal::from(why)
                })?;
            for row in rows.iter().filter(|row| row.capabilities.get(PREFIX).is_some()) {
                let seconds = self.terms_of(project, row)?.time_extension;
                self.hub.set_time_extension((project.key, person), row.key, seconds);
            }
        }
        Ok(())
    }

    /// A possible answerer may be gone. Only if the project wants it, a question without a possible answerer is
    /// settled early (C2).
    pub(super) async fn settle_if_unanswerable(self, project: &Project, person: RowKey) {
        if !project.document.decisions.early_reject {
            return;
        }
        if let Err(why) = self.settle_unanswerable(project, person).await {
            tracing::error!(%why, "questions that nobody can answer could not be settled; they stay pending until \
                                   their deadline");
        }
    }

    async fn settle_unanswerable(self, project: &Project, person: RowKey) -> Result<(), Refusal> {
        let place = self.find_one(MembershipOf { project: project.key, person }).await?;
        let roles = place.map(|place| place.roles).unwrap_or_default();
        for item in self.decisions().open_questions(project.key, person, &roles).await? {
            if !self.hub.has_answerer(project.key, &audience(&item.decision)) {
                self.decisions().settle_question(item.decision.key, true).await?;
            }
        }
        Ok(())
    }

    async fn close_delivery(self, outlet: &Delivery) {
        let closed = async {
            match self.get::<Project>(outlet.project).await? {
                Some(project) => self.close_row(&project, outlet.key).await,
                None => Ok(()),
            }
        };
        if let Err(why) = closed.await {
            tracing::error!(%why, subscription = outlet.id, "a subscription could not be closed");
        }
    }

    async fn reader_left(self, outlet: &Delivery) {
        if let Ok(Some(project)) = self.get::<Project>(outlet.project).await {
            self.settle_if_unanswerable(&project, outlet.person).await;
        }
    }
}

/// Rows already loaded while checking one person's streams; one person may have thousands.
#[derive(Default)]
struct LoadedRows {
    projects: HashMap<RowKey, Option<Arc<Project>>>,
    roles: HashMap<(RowKey, SubscriptionOwner), Option<Vec<Role>>>,
}

impl LoadedRows {
    async fn project(&mut self, engine: &Arc<Engine>, key: RowKey) -> Result<Option<Arc<Project>>, Refusal> {
        if let Some(known) = self.projects.get(&key) {
            return Ok(known.clone());
        }
        let project = engine.get(key).await?.map(Arc::new);
        self.projects.insert(key, project.clone());
        Ok(project)
    }

    /// The roles of a credential's owner; `None` if it is no longer valid.
    async fn roles(
        &mut self,
        engine: &Arc<Engine>,
        project: &Project,
        owner: SubscriptionOwner,
    ) -> Result<Option<Vec<Role>>, Refusal> {
        let place = (project.key, owner);
        if let Some(known) = self.roles.get(&place) {
            return Ok(known.clone());
        }
        let roles = engine.events().reload_subscriber(project, owner).await?.map(|listener| listener.member.roles());
        self.roles.insert(place, roles.clone());
        Ok(roles)
    }
}

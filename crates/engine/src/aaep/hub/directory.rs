//! Subscriptions on this node, indexed by audience, so that an event reaches its subscribers without a scan.

use super::delivery::Delivery;
use countersign_core::{records::Role, signals::Audience};
use countersign_protocol::ids::RowKey;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Outlets by the key of their subscription.
type Outlets = BTreeMap<RowKey, Arc<Delivery>>;

#[derive(Default)]
pub(super) struct SubscriptionDirectory {
    outlets: HashMap<RowKey, ListedSubscription>,
    /// By person, then project: a change of a person concerns all of their projects.
    people: BTreeMap<(RowKey, RowKey), Outlets>,
    roles: HashMap<(RowKey, Role), Outlets>,
}

struct ListedSubscription {
    outlet: Arc<Delivery>,
    roles: Vec<Role>,
}

impl SubscriptionDirectory {
    /// Of two concurrent additions, the first one stays.
    pub(super) fn add(&mut self, outlet: &Arc<Delivery>, roles: Vec<Role>) {
        if self.outlets.contains_key(&outlet.key) {
            return;
        }
        self.people.entry((outlet.person, outlet.project)).or_default().insert(outlet.key, Arc::clone(outlet));
        self.list_roles(outlet, &roles);
        self.outlets.insert(outlet.key, ListedSubscription { outlet: Arc::clone(outlet), roles });
    }

    pub(super) fn remove(&mut self, key: RowKey) -> Option<Arc<Delivery>> {
        let ListedSubscription { outlet, roles } = self.outlets.remove(&key)?;
        self.unlist_roles(&outlet, &roles);
        let place = (outlet.person, outlet.project);
        if let Some(outlets) = self.people.get_mut(&place) {
            outlets.remove(&key);
            if outlets.is_empty() {
                self.people.remove(&place);
            }
        }
        Some(outlet)
    }

    pub(super) fn set_roles(&mut self, key: RowKey, roles: Vec<Role>) {
        let Some(listed) = self.outlets.get_mut(&key) else { return };
        let (outlet, before) = (Arc::clone(&listed.outlet), std::mem::replace(&mut listed.roles, roles.clone()));
        self.unlist_roles(&outlet, &before);
        self.list_roles(&outlet, &roles);
    }

    pub(super) fn get(&self, key: RowKey) -> Option<&Arc<Delivery>> {
        self.outlets.get(&key).map(|listed| &listed.outlet)
    }

    /// Whether this very outlet is listed, and not a later one of the same subscription.
    pub(super) fn is_listed(&self, outlet: &Arc<Delivery>) -> bool {
        self.get(outlet.key).is_some_and(|listed| Arc::ptr_eq(listed, outlet))
    }

    /// Every outlet of an audience. One that matches twice is returned twice: it ignores the second copy of an event.
    pub(super) fn audience(&self, project: RowKey, to: &Audience) -> impl Iterator<Item = &Arc<Delivery>> {
        let people = to.people.iter().filter_map(move |person| self.people.get(&(*person, project)));
        let roles = to.roles.iter().filter_map(move |role| self.roles.get(&(project, *role)));
        people.chain(roles).flat_map(BTreeMap::values)
    }

    /// Every outlet of a person, in all projects.
    pub(super) fn of_person(&self, person: RowKey) -> Vec<Arc<Delivery>> {
        let places = self.people.range((person, RowKey::MIN)..=(person, RowKey::MAX));
        places.flat_map(|(_, outlets)| outlets.values().cloned()).collect()
    }

    pub(super) fn in_project(&self, project: RowKey, person: RowKey) -> impl Iterator<Item = &Arc<Delivery>> {
        self.people.get(&(person, project)).into_iter().flat_map(BTreeMap::values)
    }

    pub(super) fn count(&self, project: RowKey, person: RowKey) -> usize {
        self.people.get(&(person, project)).map_or(0, BTreeMap::len)
    }

    fn list_roles(&mut self, outlet: &Arc<Delivery>, roles: &[Role]) {
        for role in roles {
            self.roles.entry((outlet.project, *role)).or_default().insert(outlet.key, Arc::clone(outlet));
        }
    }

    fn unlist_roles(&mut self, outlet: &Delivery, roles: &[Role]) {
        for role in roles {
            let place = (outlet.project, *role);
            let Some(outlets) = self.roles.get_mut(&place) else { continue };
            outlets.remove(&outlet.key);
            if outlets.is_empty() {
                self.roles.remove(&place);
            }
        }
    }
}

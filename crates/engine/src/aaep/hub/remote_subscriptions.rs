//! Remote subscriptions that could answer, as far as this node knows.
//!
//! This node does not know whether they have a reader. If in doubt, a question stays pending rather than being
//! rejected.

use countersign_core::signals::Audience;
use countersign_protocol::ids::RowKey;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct RemoteSubscriptions(BTreeMap<(RowKey, RowKey), BTreeSet<RowKey>>);

impl RemoteSubscriptions {
    pub(super) fn insert(&mut self, place: (RowKey, RowKey), subscription: RowKey) {
        self.0.entry(place).or_default().insert(subscription);
    }

    pub(super) fn remove(&mut self, place: (RowKey, RowKey), subscription: RowKey) {
        let Some(known) = self.0.get_mut(&place) else { return };
        known.remove(&subscription);
        if known.is_empty() {
            self.0.remove(&place);
        }
    }

    /// This node does not know the roles of remote subscribers, so anybody in the project may have the role.
    pub(super) fn has_answerer(&self, project: RowKey, among: &Audience) -> bool {
        let anybody = || self.0.range((project, RowKey::MIN)..=(project, RowKey::MAX)).next().is_some();
        among.people.iter().any(|person| self.0.contains_key(&(project, *person)))
            || (!among.roles.is_empty() && anybody())
    }
}

//! The attempts at webhook messages that this node makes now. The caps keep slow operators from occupying the node, and one
//! operator from occupying the attempts of the others.

use countersign_core::records::OutboxMessage;
use countersign_protocol::{domain::Domain, ids::RowKey};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

const AT_A_TIME: usize = 256;
const AT_ONE_OPERATOR: usize = 16;

#[derive(Clone, Default)]
pub(crate) struct WebhookAttempts(Arc<Mutex<Current>>);

#[derive(Default)]
struct Current {
    /// The operator of each message.
    operators: HashMap<RowKey, Domain>,
    last_operator: String,
}

/// Until it is dropped, the attempt counts.
pub(super) struct WebhookAttempt {
    attempts: WebhookAttempts,
    message: RowKey,
}

impl WebhookAttempts {
    /// None while the same message is attempted, or the caps leave no room.
    pub(super) fn begin(&self, message: &OutboxMessage) -> Option<WebhookAttempt> {
        let mut current = self.current();
        if current.operators.contains_key(&message.key) || current.free_at(&message.operator) == 0 {
            return None;
        }
        current.operators.insert(message.key, message.operator.clone());
        Some(WebhookAttempt { attempts: self.clone(), message: message.key })
    }

    /// The number of attempts that may begin at an operator.
    pub(super) fn free_at(&self, operator: &Domain) -> usize {
        self.current().free_at(operator)
    }

    pub(super) fn are_full(&self) -> bool {
        self.current().operators.len() >= AT_A_TIME
    }

    /// The operator that had its turn last, so that the next round begins with another one.
    pub(super) fn last_operator(&self) -> String {
        self.current().last_operator.clone()
    }

    pub(super) fn had_turn(&self, operator: &Domain) {
        self.current().last_operator = operator.as_str().to_owned();
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn free_at(&self, operator: &Domain) -> usize {
        let here = self.operators.values().filter(|other| *other == operator).count();
        AT_ONE_OPERATOR.saturating_sub(here).min(AT_A_TIME.saturating_sub(self.operators.len()))
    }
}

impl Drop for WebhookAttempt {
    fn drop(&mut self) {
        self.attempts.current().operators.remove(&self.message);
    }
}

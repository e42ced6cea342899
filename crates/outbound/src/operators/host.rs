//! The cache entry of one host, and the lock for fetching from it.

use super::{FetchedOperator, OperatorUnavailable};
use countersign_protocol::{domain::Domain, time::UnixMillis};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// Manifest and keys are used for at most an hour (AAP 4.1, C-70).
const TTL: i64 = 3_600_000;
/// A failed host is not contacted again for a minute (C-68).
const REST: i64 = 60_000;
/// Unknown kids fetch the keys again at most once a minute (C-69).
const BETWEEN_MISSES: i64 = 60_000;

pub(super) struct Host {
    domain: Domain,
    turn: Arc<tokio::sync::Mutex<()>>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    knowledge: Knowledge,
    failures_in_a_row: u32,
}

#[derive(Default)]
enum Knowledge {
    #[default]
    Nothing,
    Known {
        operator: Arc<FetchedOperator>,
        missed: Option<Miss>,
    },
    Refused {
        at: UnixMillis,
        why: OperatorUnavailable,
    },
}

/// The last fetch of the keys for an unknown kid.
struct Miss {
    at: UnixMillis,
    /// Why it failed, if it did.
    failed: Option<OperatorUnavailable>,
}

pub(super) enum Recall {
    Answer(Result<Arc<FetchedOperator>, OperatorUnavailable>),
    /// `new`: no valid manifest of this host is cached, so the fetch is charged to the source.
    Fetch {
        new: bool,
    },
}

impl Host {
    pub(super) fn new(domain: Domain) -> Self {
        Self { domain, turn: Arc::default(), memory: Mutex::default() }
    }

    pub(super) fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The lock for fetching from this host. The cached entry stays readable meanwhile.
    pub(super) async fn lock_fetch(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    pub(super) fn recall(&self, now: UnixMillis) -> Recall {
        match &self.memory().knowledge {
            Knowledge::Known { operator, .. } if now.millis_since(operator.fetched_at) <= TTL => {
                Recall::Answer(Ok(Arc::clone(operator)))
            }
            Knowledge::Known { .. } => Recall::Fetch { new: false },
            Knowledge::Refused { at, why } if now.millis_since(*at) < REST => Recall::Answer(Err(why.clone())),
            Knowledge::Refused { .. } | Knowledge::Nothing => Recall::Fetch { new: true },
        }
    }

    /// The operator if it has this key, the refusal if a recent fetch missed it, otherwise `None`.
    pub(super) fn recall_key(
        &self,
        kid: &str,
        now: UnixMillis,
    ) -> Option<Result<Arc<FetchedOperator>, OperatorUnavailable>> {
        match &self.memory().knowledge {
            Knowledge::Known { operator, missed } => match (operator.key(kid), missed) {
                (Ok(_), _) => Some(Ok(Arc::clone(operator))),
                (Err(no_key), Some(last)) if now.millis_since(last.at) < BETWEEN_MISSES => {
                    Some(Err(last.failed.clone().unwrap_or(no_key)))
                }
                (Err(_), _) => None,
            },
            Knowledge::Refused { why, .. } => Some(Err(why.clone())),
            Knowledge::Nothing => Some(Err(OperatorUnavailable::UnknownKid)),
        }
    }

    pub(super) fn known(&self) -> Option<Arc<FetchedOperator>> {
        match &self.memory().knowledge {
            Knowledge::Known { operator, .. } => Some(Arc::clone(operator)),
            _ => None,
        }
    }

    pub(super) fn failures_in_a_row(&self) -> u32 {
        self.memory().failures_in_a_row
    }

    /// Stores manifest and keys.
    pub(super) fn store(&self, operator: Arc<FetchedOperator>) {
        let mut memory = self.memory();
        let missed = match std::mem::take(&mut memory.knowledge) {
            // The minute between forced fetches applies beyond the hour.
            Knowledge::Known { missed, .. } => missed.map(|last| Miss { at: last.at, failed: None }),
            _ => None,
        };
        *memory = Memory { knowledge: Knowledge::Known { operator, missed }, failures_in_a_row: 0 };
    }

    /// Stores keys that were fetched again for an unknown kid.
    pub(super) fn store_keys(&self, now: UnixMillis, operator: Arc<FetchedOperator>) {
        let missed = Some(Miss { at: now, failed: None });
        *self.memory() = Memory { knowledge: Knowledge::Known { operator, missed }, failures_in_a_row: 0 };
    }

    /// Records a failure; the previous entry has expired and is dropped. Returns the number of consecutive failures.
    pub(super) fn store_failure(&self, now: UnixMillis, why: OperatorUnavailable) -> u32 {
        let mut memory = self.memory();
        memory.knowledge = Knowledge::Refused { at: now, why };
        memory.count_failure()
    }

    /// Records a failed fetch of the keys; the cached ones stay valid for their hour (AAP 20.3).
    pub(super) fn store_keys_failure(&self, now: UnixMillis, why: OperatorUnavailable) -> u32 {
        let mut memory = self.memory();
        if let Knowledge::Known { missed, .. } = &mut memory.knowledge {
            *missed = Some(Miss { at: now, failed: Some(why) });
        }
        memory.count_failure()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn count_failure(&mut self) -> u32 {
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.failures_in_a_row
    }
}

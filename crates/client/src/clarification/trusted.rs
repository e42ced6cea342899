//! The trusted keys: given ones, or those that the service publishes.

use super::{ClarificationError, Clarifications};
use countersign_jose::clarification::{ChainReport, Flaw, Registry, Signer, Wrong};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

/// A check of [`countersign_jose::clarification`].
pub(super) type Check = fn(&Value, &Registry) -> Result<ChainReport, Wrong>;

pub(super) enum Trusted {
    Given(Registry),
    Published(Mutex<Option<Registry>>),
}

impl Trusted {
    pub(super) fn given(registry: Registry) -> Self {
        Self::Given(registry)
    }

    pub(super) fn published() -> Self {
        Self::Published(Mutex::new(None))
    }
}

impl Clarifications {
    /// Verifies a document and its signer: the key inside proves only integrity (W-19).
    pub(super) async fn prove_known(&self, document: &Value, check: Check) -> Result<ChainReport, ClarificationError> {
        let report = self.prove(document, check).await?;
        match report.signer {
            Signer::Known => Ok(report),
            Signer::IntegrityOnly => Err(ClarificationError::UnknownAgent(report.agent_id)),
        }
    }

    /// Verifies a document. An unknown key may have been activated a moment ago, so the published keys are fetched
    /// again, once.
    pub(super) async fn prove(&self, document: &Value, check: Check) -> Result<ChainReport, ClarificationError> {
        let known = match &self.trusted {
            Trusted::Given(registry) => return Ok(check(document, registry)?),
            Trusted::Published(known) => known,
        };
        let before = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let judged = before.map(|registry| check(document, &registry));
        match judged {
            Some(Ok(report)) => return Ok(report),
            Some(Err(wrong)) if !is_about_a_key(&wrong) => return Err(wrong.into()),
            Some(Err(_)) | None => {}
        }
        let registry = Registry::default().with(&self.keys().await?);
        *known.lock().unwrap_or_else(PoisonError::into_inner) = Some(registry.clone());
        Ok(check(document, &registry)?)
    }
}

fn is_about_a_key(wrong: &Wrong) -> bool {
    matches!(wrong.flaw, Flaw::UnknownKey { .. } | Flaw::AnotherKey | Flaw::KeyRetired { .. })
}

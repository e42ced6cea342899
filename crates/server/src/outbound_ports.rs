//! The engine's ports, implemented by `outbound`.

use async_trait::async_trait;
use countersign_engine::{KnownOperator, OperatorError, Operators, SeenStanding, SignedMessage};
use countersign_jose::KeySet;
use countersign_outbound::operators::{self, FetchedOperator, OperatorUnavailable};
use countersign_protocol::{aap::identity::IdentityManifest, domain::Domain, time::UnixMillis};
use std::sync::Arc;

/// Operators, as `outbound` fetches and caches them.
#[derive(Clone)]
pub struct OperatorsPort(pub operators::Directory);

#[async_trait]
impl Operators for OperatorsPort {
    async fn operator(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
        source: &str,
    ) -> Result<KnownOperator, OperatorError> {
        self.0.operator(domain, kid, now, source).await.map(|found| known_operator(&found)).map_err(operator_trouble)
    }

    async fn identity(&self, domain: &Domain, now: UnixMillis) -> Result<Arc<IdentityManifest>, OperatorError> {
        self.0.identity(domain, now).await.map_err(operator_trouble)
    }

    async fn last_published(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
    ) -> Result<Option<UnixMillis>, OperatorError> {
        self.0.key_last_published(domain, kid, now).await.map_err(operator_trouble)
    }

    async fn post_webhook(&self, domain: &Domain, now: UnixMillis, message: SignedMessage) -> Result<u16, String> {
        let SignedMessage { headers, body } = message;
        self.0.post_webhook(domain, now, &headers, body).await.map_err(|why| why.to_string())
    }

    async fn show_witness(&self, url: &str, body: Vec<u8>) -> Result<(u16, Vec<u8>), String> {
        self.0.post_checkpoint(url, body).await.map_err(|why| why.to_string())
    }

    async fn standing(
        &self,
        operator: &Domain,
        providers: &[Domain],
        now: UnixMillis,
    ) -> Result<SeenStanding, OperatorError> {
        let found = self.0.standing(operator, providers, now).await.map_err(operator_trouble)?;
        Ok(SeenStanding { standing: found.standing, providers: providers.to_vec(), seen_at: found.fetched_at })
    }

    async fn key_set(&self, url: &str, kid: &str, now: UnixMillis) -> Result<Arc<KeySet>, OperatorError> {
        self.0.key_set(url, kid, now).await.map_err(operator_trouble)
    }
}

fn known_operator(operator: &FetchedOperator) -> KnownOperator {
    let (identity, keys) = (Arc::clone(&operator.identity), Arc::clone(&operator.keys));
    KnownOperator { identity, keys, fetched_at: operator.fetched_at }
}

fn operator_trouble(why: OperatorUnavailable) -> OperatorError {
    match why {
        OperatorUnavailable::NoManifest { why } => OperatorError::NoManifest(why),
        OperatorUnavailable::BadKeys { why } => OperatorError::BadKeys(why),
        OperatorUnavailable::UnknownKid => OperatorError::UnknownKid,
        OperatorUnavailable::DomainDiffers { .. } => OperatorError::DomainDiffers,
        OperatorUnavailable::BadRegistry { .. }
        | OperatorUnavailable::Unreachable { .. }
        | OperatorUnavailable::Forbidden { .. } => OperatorError::Unreachable,
        OperatorUnavailable::TooMany { retry_after } => {
            OperatorError::TooMany { retry_after_s: i64::try_from(retry_after).unwrap_or(60) }
        }
    }
}

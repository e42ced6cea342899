//! The engine's ports, implemented by `outbound`.

use async_trait::async_trait;
use countersign_engine::{KnownOperator, OperatorTrouble, Operators, SignedMessage};
use countersign_outbound::operators::{self, FetchedOperator, OperatorUnavailable};
use countersign_protocol::{domain::Domain, time::UnixMillis};
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
    ) -> Result<KnownOperator, OperatorTrouble> {
        self.0.operator(domain, kid, now, source).await.map(|found| known(&found)).map_err(trouble)
    }

    async fn last_published(
        &self,
        domain: &Domain,
        kid: &str,
        now: UnixMillis,
    ) -> Result<Option<UnixMillis>, OperatorTrouble> {
        self.0.key_last_published(domain, kid, now).await.map_err(trouble)
    }

    async fn post_webhook(&self, domain: &Domain, now: UnixMillis, message: SignedMessage) -> Result<u16, String> {
        let SignedMessage { headers, body } = message;
        self.0.post_webhook(domain, now, &headers, body).await.map_err(|why| why.to_string())
    }
}

fn known(operator: &FetchedOperator) -> KnownOperator {
    let (identity, keys) = (Arc::clone(&operator.identity), Arc::clone(&operator.keys));
    KnownOperator { identity, keys, fetched_at: operator.fetched_at }
}

fn trouble(why: OperatorUnavailable) -> OperatorTrouble {
    match why {
        OperatorUnavailable::NoManifest { why } => OperatorTrouble::NoManifest(why),
        OperatorUnavailable::BadKeys { why } => OperatorTrouble::BadKeys(why),
        OperatorUnavailable::UnknownKid => OperatorTrouble::UnknownKid,
        OperatorUnavailable::DomainDiffers { .. } => OperatorTrouble::DomainDiffers,
        OperatorUnavailable::Unreachable { .. } | OperatorUnavailable::Forbidden { .. } => OperatorTrouble::Unreachable,
        OperatorUnavailable::TooMany { retry_after } => {
            OperatorTrouble::TooMany { retry_after_s: i64::try_from(retry_after).unwrap_or(60) }
        }
    }
}

//! From a JWT to a verified operator, and the refusal for each failure on the way.

use crate::{
    ports::{KnownOperator, OperatorTrouble},
    services::Agents,
};
use countersign_core::refusal::Refusal;
use countersign_jose::{Expected, OperatorRefusal, Peek, ReceiptRefusal, peek, verify_operator, verify_receipt};
use countersign_protocol::{
    domain::Domain,
    facts::{VerifiedOperator, VerifiedReceipt},
    origin::Origin,
};

/// An operator with a verified signature, and the documents that its domain publishes.
pub(crate) struct ProvenOperator {
    pub(crate) fact: VerifiedOperator,
    pub(crate) known: KnownOperator,
}

impl Agents<'_> {
    /// AAP 4.1: verifies the issuer of a JWT, that the issuer publishes the key, and that this key signed it for this service.
    pub(crate) async fn prove_operator(
        self,
        jwt: &str,
        service: &Origin,
        source: &str,
    ) -> Result<ProvenOperator, Refusal> {
        let now = self.deciding_time()?;
        let invalid = |why: &dyn std::fmt::Display| Refusal::OperatorJwtInvalid(why.to_string());
        let Peek { kid, iss, .. } = peek(jwt).map_err(|why| invalid(&why))?;
        let domain = Domain::parse(&iss).map_err(|why| Refusal::OperatorJwtInvalid(format!("iss is {why}")))?;
        let known = self.operators.operator(&domain, &kid, now, source).await.map_err(told)?;
        let expected = Expected { operator: &domain, service: service.as_str() };
        let fact = self.remembered.operators.recall(jwt, service, &known.keys, now, || {
            let fact = verify_operator(jwt, &known.keys, expected, now).map_err(refused)?;
            let until = fact.expires_at();
            Ok((fact, until))
        })?;
        Ok(ProvenOperator { fact, known })
    }

    /// A receipt is signed by the same operator, perhaps with another of its keys.
    pub(crate) async fn prove_receipt(
        self,
        jwt: &str,
        operator: &ProvenOperator,
        service: &Origin,
        source: &str,
    ) -> Result<VerifiedReceipt, Refusal> {
        let now = self.deciding_time()?;
        let kid = peek(jwt).map_err(|why| Refusal::ConsentInvalid(why.to_string()))?.kid;
        let domain = operator.fact.domain();
        let known = match self.operators.operator(domain, &kid, now, source).await {
            Ok(known) => known,
            Err(_) => operator.known.clone(),
        };
        let expected = Expected { operator: domain, service: service.as_str() };
        self.remembered.receipts.recall(jwt, service, &known.keys, now, || {
            let fact = verify_receipt(jwt, &known.keys, expected, now).map_err(receipt_refused)?;
            let window = fact.claims().execution_window.map_or(fact.expires_at(), |window| window.latest);
            let until = fact.expires_at().min(window);
            Ok((fact, until))
        })
    }
}

pub(crate) fn told(trouble: OperatorTrouble) -> Refusal {
    match trouble {
        OperatorTrouble::NoManifest(why) => Refusal::OperatorManifestMissing(why),
        OperatorTrouble::BadKeys(why) => Refusal::OperatorKeysUnusable(why),
        OperatorTrouble::DomainDiffers => {
            Refusal::OperatorJwtInvalid("the identity manifest on that domain names another one".into())
        }
        OperatorTrouble::UnknownKid => Refusal::OperatorKeyUnknown,
        OperatorTrouble::Unreachable => Refusal::OperatorUnreachable,
        OperatorTrouble::TooMany { retry_after_s } => Refusal::OperatorBudget { retry_after_s },
    }
}

fn refused(why: OperatorRefusal) -> Refusal {
    match why {
        OperatorRefusal::Expired => Refusal::OperatorJwtExpired,
        why if why.is_unknown_kid() => Refusal::OperatorKeyUnknown,
        why => Refusal::OperatorJwtInvalid(why.to_string()),
    }
}

fn receipt_refused(why: ReceiptRefusal) -> Refusal {
    match why {
        ReceiptRefusal::WrongService => Refusal::ConsentServiceMismatch,
        ReceiptRefusal::WindowNotOpen | ReceiptRefusal::TooEarly => Refusal::ConsentWindowNotOpen,
        why if why.is_expired() => Refusal::ConsentExpired,
        why => Refusal::ConsentInvalid(why.to_string()),
    }
}

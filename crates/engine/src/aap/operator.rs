//! From a JWT to a verified operator, and the refusal for each failure on the way.

use crate::{
    ports::{KnownOperator, OperatorError},
    services::Agents,
};
use countersign_core::{
    records::{Project, SeenStanding},
    refusal::Refusal,
};
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
        let now = self.decision_time()?;
        let invalid = |why: &dyn std::fmt::Display| Refusal::OperatorJwtInvalid(why.to_string());
        let Peek { kid, iss, .. } = peek(jwt).map_err(|why| invalid(&why))?;
        let domain = Domain::parse(&iss).map_err(|why| Refusal::OperatorJwtInvalid(format!("iss is {why}")))?;
        let known = self.operators.operator(&domain, &kid, now, source).await.map_err(operator_refusal)?;
        let expected = Expected { operator: &domain, service: service.as_str() };
        let fact = self.jwt_cache.operators.get_or_verify(jwt, service.as_str(), &known.keys, now, || {
            let fact = verify_operator(jwt, &known.keys, expected, now).map_err(operator_jwt_refusal)?;
            let until = fact.expires_at();
            Ok((fact, until))
        })?;
        Ok(ProvenOperator { fact, known })
    }

    /// The operator's standing with the model providers that the project trusts; none if it cannot be read.
    pub(crate) async fn operator_standing(self, project: &Project, operator: &Domain) -> Option<SeenStanding> {
        let found = self.operators.standing(operator, &project.document.trusted_providers, self.now()).await;
        if let Err(trouble) = &found {
            tracing::warn!(?trouble, %operator, "the registries of model providers could not be read for an operator");
        }
        found.ok()
    }

    /// A receipt is signed by the same operator, perhaps with another of its keys.
    pub(crate) async fn prove_receipt(
        self,
        jwt: &str,
        operator: &ProvenOperator,
        service: &Origin,
        source: &str,
    ) -> Result<VerifiedReceipt, Refusal> {
        let now = self.decision_time()?;
        let kid = peek(jwt).map_err(|why| Refusal::ConsentInvalid(why.to_string()))?.kid;
        let domain = operator.fact.domain();
        let known = match self.operators.operator(domain, &kid, now, source).await {
            Ok(known) => known,
            Err(_) => operator.known.clone(),
        };
        let expected = Expected { operator: domain, service: service.as_str() };
        self.jwt_cache.receipts.get_or_verify(jwt, service.as_str(), &known.keys, now, || {
            let fact = verify_receipt(jwt, &known.keys, expected, now).map_err(receipt_refusal)?;
            let window = fact.claims().execution_window.map_or(fact.expires_at(), |window| window.latest);
            let until = fact.expires_at().min(window);
            Ok((fact, until))
        })
    }
}

pub(crate) fn operator_refusal(trouble: OperatorError) -> Refusal {
    match trouble {
        OperatorError::NoManifest(why) => Refusal::OperatorManifestMissing(why),
        OperatorError::BadKeys(why) => Refusal::OperatorKeysUnusable(why),
        OperatorError::DomainDiffers => {
            Refusal::OperatorJwtInvalid("the identity manifest on that domain names another one".into())
        }
        OperatorError::UnknownKid => Refusal::OperatorKeyUnknown,
        OperatorError::Unreachable => Refusal::OperatorUnreachable,
        OperatorError::TooMany { retry_after_s } => Refusal::OperatorBudget { retry_after_s },
    }
}

fn operator_jwt_refusal(why: OperatorRefusal) -> Refusal {
    match why {
        OperatorRefusal::Expired => Refusal::OperatorJwtExpired,
        why if why.is_unknown_kid() => Refusal::OperatorKeyUnknown,
        why => Refusal::OperatorJwtInvalid(why.to_string()),
    }
}

fn receipt_refusal(why: ReceiptRefusal) -> Refusal {
    match why {
        ReceiptRefusal::WrongService => Refusal::ConsentServiceMismatch,
        ReceiptRefusal::WindowNotOpen | ReceiptRefusal::TooEarly => Refusal::ConsentWindowNotOpen,
        why if why.is_expired() => Refusal::ConsentExpired,
        why => Refusal::ConsentInvalid(why.to_string()),
    }
}

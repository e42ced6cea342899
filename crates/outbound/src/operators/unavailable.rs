//! Why an operator's key is unavailable. All of them are refusals: none ever lets a call pass (AAP 20.3).

use crate::fetch::FetchError;
use countersign_protocol::domain::Domain;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperatorUnavailable {
    #[error("the domain publishes no usable identity manifest: {why}")]
    NoManifest { why: String },
    /// The one variant that means a wrong JWT, not a missing operator (AAP 4.1 step 4).
    #[error("the identity manifest belongs to {claimed}")]
    DomainDiffers { claimed: Domain },
    #[error("the operator publishes no usable key set: {why}")]
    BadKeys { why: String },
    #[error("the operator does not publish this kid")]
    UnknownKid,
    #[error("the operator could not be reached: {why}")]
    Unreachable { why: String },
    #[error("the operator is at an address that is not connected to: {why}")]
    Forbidden { why: String },
    #[error("the model provider publishes no usable registry: {why}")]
    BadRegistry { why: String },
    #[error("too many unknown operators from this source, again in {retry_after} s")]
    TooMany { retry_after: u64 },
}

impl OperatorUnavailable {
    /// The operator's next step: a different sentence for each cause (C-36).
    pub fn hint(&self) -> String {
        match self {
            Self::NoManifest { why } => {
                format!("publish an identity manifest at https://<iss>/.well-known/agent-identity.json; now {why}")
            }
            Self::DomainDiffers { .. } => "make iss equal to the domain in your identity manifest".into(),
            Self::BadKeys { why } => format!("publish a JWK set at the signing_keys URL of your manifest; now {why}"),
            Self::UnknownKid => {
                "put the signing key with this kid into your JWK set; it is read again a minute after a miss".into()
            }
            Self::Unreachable { why } => format!("your domain could not be fetched: {why}; retry in a minute"),
            Self::Forbidden { why } => format!("serve manifest and keys on port 443 of a public address: {why}"),
            Self::BadRegistry { why } => format!("the model provider must publish a registry of operators; now {why}"),
            Self::TooMany { retry_after } => format!("retry in {retry_after} s"),
        }
    }

    /// A failed fetch of the manifest.
    pub(super) fn of_the_manifest(error: FetchError) -> Self {
        Self::of(error, |why| Self::NoManifest { why })
    }

    /// A failed fetch of the key set.
    pub(super) fn of_the_keys(error: FetchError) -> Self {
        Self::of(error, |why| Self::BadKeys { why })
    }

    /// A failed fetch of a provider's registry.
    pub(super) fn of_the_registry(error: FetchError) -> Self {
        Self::of(error, |why| Self::BadRegistry { why })
    }

    /// An operator with a wrong response must publish something else; one without a response must be retried.
    fn of(error: FetchError, published_wrongly: impl FnOnce(String) -> Self) -> Self {
        let why = error.to_string();
        match error {
            FetchError::Url(_) | FetchError::ForbiddenAddress => Self::Forbidden { why },
            FetchError::Status(400..=499) | FetchError::TooLarge { .. } | FetchError::NotJson => published_wrongly(why),
            _ => Self::Unreachable { why },
        }
    }
}

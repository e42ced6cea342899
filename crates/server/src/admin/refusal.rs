//! Refusals of command line requests.

use countersign_engine::{
    AccountFailure, AccountRefusal, ApplyError, ApplyRefusal, DocumentProblem, KeysError, Refusal, store::StoreError,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdminRefusal {
    #[error("there is no project yet")]
    NoProject,
    /// With all ids.
    #[error("there are several projects")]
    SeveralProjects(Vec<String>),
    /// With the ids of the existing projects.
    #[error("there is no such project")]
    UnknownProject(Vec<String>),
    #[error("project {project} never had a version {version}")]
    UnknownVersion { project: String, version: i64 },
    #[error("the project document has {} problem(s)", .0.len())]
    Problems(Vec<DocumentProblem>),
    #[error("this installation serves one project (tenancy = \"single\") and has one already")]
    SecondProject,
    #[error("there is no account named {0:?}")]
    UnknownPerson(String),
    #[error("the person has no account here")]
    NoAccount,
    #[error("there is no such key in this project")]
    UnknownApiKey,
    #[error("there is no unsettled call with this id in the project")]
    UnknownCall,
    #[error("there is no such token in this project")]
    UnknownSubscriberToken,
    #[error("the operator has no active webhook secret with this id in the project")]
    UnknownWebhookSecret,
    #[error("there is no such service account in this project")]
    UnknownServiceAccount,
    #[error("there is no such webhook message in this project")]
    UnknownWebhookMessage,
    /// The engine's message.
    #[error("{0}")]
    Refused(String),
    /// The store's message.
    #[error("{0}")]
    Store(String),
    #[error("the store could not be read or written")]
    Unavailable,
}

impl From<Refusal> for AdminRefusal {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unavailable => Self::Unavailable,
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<AccountFailure> for AdminRefusal {
    fn from(trouble: AccountFailure) -> Self {
        match trouble {
            AccountFailure::Refused(AccountRefusal::Unknown(name)) => Self::UnknownPerson(name),
            AccountFailure::Refused(why) => Self::Refused(why.to_string()),
            AccountFailure::Engine(refusal) => refusal.into(),
        }
    }
}

impl From<ApplyError> for AdminRefusal {
    fn from(trouble: ApplyError) -> Self {
        match trouble {
            ApplyError::Refused(ApplyRefusal::Problems(problems)) => Self::Problems(problems),
            ApplyError::Refused(ApplyRefusal::SecondProject) => Self::SecondProject,
            ApplyError::Store(why) => why.into(),
            why @ (ApplyError::Refused(_) | ApplyError::Unavailable) => Self::Refused(why.to_string()),
        }
    }
}

impl From<KeysError> for AdminRefusal {
    fn from(why: KeysError) -> Self {
        match why {
            KeysError::Store(why) => why.into(),
            why => Self::Refused(why.to_string()),
        }
    }
}

impl From<StoreError> for AdminRefusal {
    fn from(why: StoreError) -> Self {
        Self::Store(why.to_string())
    }
}

//! Errors of an agent, one enum per operation. Each names the next step.

use super::{ServiceRefusal, versions::NoneInCommon};
use crate::{delegation::BadDelegation, entropy::NoRandomness, transport::Unreachable};
use countersign_jose::SigningFailed;
use countersign_protocol::aap::manifest::NotAManifest;

/// Why a service cannot be used at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoverError {
    #[error("the service could not be reached ({0}): try again later")]
    Unreachable(#[from] Unreachable),
    #[error(
        "the service publishes no discovery manifest (status {status}): check its address, or use it without an agent"
    )]
    NoManifest { status: u16 },
    #[error("the service does not know this project: check the project id")]
    NoSuchProject,
    #[error("{0}: report it to the service")]
    NotUsable(#[from] NotAManifest),
    #[error("the manifest is of {told}, not of the configured service: check the configured address")]
    OtherService { told: String },
    #[error("the service has several projects: configure which one is meant")]
    ProjectNeeded,
    #[error("the service did not confirm the project that was asked for: check the project id")]
    OtherProject,
    #[error("the manifest's endpoint {name:?} is not on the service's own origin: nothing is sent there")]
    ForeignEndpoint { name: String },
    #[error(
        "no protocol version in common (ours: {ours}; the service's: {theirs}): update one side, nothing more is sent"
    )]
    NoCommonVersion { ours: String, theirs: String },
    #[error("the service does not let agents act for a person: there is nothing that this agent can do there")]
    ModeNotSupported,
    #[error("the service demands trust tier {needed}, this agent reaches {has}: the person must act themselves")]
    TierOutOfReach { needed: u8, has: u8 },
    #[error("the service demands proof of possession for tokens: configure this agent with DPoP")]
    ProofOfPossession,
}

/// Why one exchange with a service failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("the service could not be reached ({0}): try again later")]
    Unreachable(#[from] Unreachable),
    #[error(
        "no protocol version in common (ours: {ours}; the service's: {theirs}): update one side, nothing more is sent"
    )]
    NoCommonVersion { ours: String, theirs: String },
    #[error("the service answered in version {served} to a request in {asked}: the answer was discarded, report it")]
    OtherVersionServed { asked: &'static str, served: String },
    #[error(
        "the service answered a write in version {served} to a request in {asked}: it may have been carried out, find out before sending it again"
    )]
    MayHaveRun { asked: &'static str, served: String },
    #[error("the answer of {endpoint} is not the document that it should be: report it to the service")]
    BadAnswer { endpoint: &'static str },
    #[error(transparent)]
    Refused(#[from] Box<ServiceRefusal>),
    #[error(transparent)]
    Unsigned(#[from] SigningFailed),
}

/// A lost or missing authorization. The person has been notified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    #[error("the person has not connected this agent: connect, and have them open the page")]
    NotConnected,
    #[error("access was revoked ({reason}): do not try again unless the person connects the agent again")]
    CutOff { reason: String },
    #[error("the delegation no longer holds ({code}): have the person connect the agent again")]
    Delegation { code: String },
    #[error("the consent to this task is over ({code}): ask the person for fresh consent and register with it")]
    Consent { code: String },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    #[error("the service does not offer the scope {0:?}: use those of its discovery manifest")]
    UnknownScope(String),
    #[error("the callback is not listed in the operator's identity: list it, or connect without one")]
    CallbackNotListed,
    #[error("the connect page is not on the service's own origin: it was not opened, report it")]
    ForeignConnectUrl,
    #[error("no connection is pending: connect first")]
    NothingPending,
    #[error("the person took too long: connect again")]
    Expired,
    #[error("the redirect does not belong to this connection ({0}): ignore it and keep waiting")]
    ForeignRedirect(&'static str),
    #[error("the person rejected the connection: do not ask again unless they want it")]
    Denied,
    #[error("{0}: report it to the service")]
    BadDelegation(#[from] BadDelegation),
    #[error("the delegation was written for another service or another operator: report it to the service")]
    ForeignDelegation,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Lost(#[from] Lost),
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    #[error("the service demands trust tier {needed}, and this is {has}: a consent receipt makes it 3, a delegation 2")]
    TierNotMet { needed: u8, has: u8 },
    #[error("the delegation is for another service or another operator: have the person connect this agent here")]
    ForeignDelegation,
    #[error("the receipt is for another service or another delegation: ask the person for consent to this one")]
    ForeignReceipt,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    #[error("the access token could not be renewed: {0}")]
    Register(RegisterError),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Lost(#[from] Lost),
    #[error("there is no session: register first")]
    NotRegistered,
    #[error("the service demands an intent type: give one that its manifest lists for the scope")]
    IntentTypeNeeded,
    #[error("an intent type is a word of the service's vocabulary such as SCHEDULE_EVENT, never a sentence")]
    NotAnIntentType,
    #[error("a path begins with a slash and stays on the service's origin")]
    BadPath,
    /// 403. Registering again would not help, so it is not done (AAP 16.2).
    #[error("not permitted: {0}")]
    NotPermitted(Box<ServiceRefusal>),
    #[error(transparent)]
    Refused(Box<ServiceRefusal>),
}

/// Errors of the operator's own requests: revoke, cancel, audit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("there is no delegation to revoke")]
    NothingToRevoke,
    #[error("the service offers no endpoint {0:?}")]
    NotOffered(&'static str),
}

impl DiscoverError {
    pub(super) fn none_in_common(ours: String, none: NoneInCommon) -> Self {
        Self::NoCommonVersion { ours, theirs: none.theirs }
    }
}

impl WireError {
    pub(super) fn none_in_common(ours: String, none: NoneInCommon) -> Self {
        Self::NoCommonVersion { ours, theirs: none.theirs }
    }
}

//! All refusals of AAP requests, and their error responses (AAP 16, C-37, C-93).
//!
//! A variant is a fact. Its code, description and hint are defined only here.

mod exceeded_consent;
mod pending_approval;
mod sent_write;
mod unclear;

pub use exceeded_consent::ExceededConsent;
pub use pending_approval::{Awaiting, PendingApproval};
pub use sent_write::SentWrite;
pub use unclear::Unclear;

use crate::{
    aap::access::Limit,
    records::{RevokeReason, SuspendReason},
};
use countersign_protocol::{
    aap::{error::Code, registry::OperatorStanding, version},
    time::UnixMillis,
};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    // the request itself
    #[error("the request asks for protocol version {0}, which is not served here")]
    VersionUnsupported(String),
    #[error("the request names no protocol version")]
    VersionMissing,
    #[error("{0}")]
    InvalidRequest(String),
    #[error("no identity mode is declared")]
    ModeMissing,
    #[error("the identity mode {0:?} is not served here")]
    ModeNotSupported(String),
    #[error("the session was not registered in the identity mode {0:?}")]
    ModeNotRegistered(String),
    #[error("the identity mode {0:?} was not registered before the session's first call")]
    ModesFrozen(&'static str),
    #[error("the header {0} is missing")]
    EchoMissing(&'static str),
    // the operator
    #[error("the operator JWT was refused: {0}")]
    OperatorJwtInvalid(String),
    #[error("the operator JWT has expired")]
    OperatorJwtExpired,
    #[error("the operator's identity manifest is missing or not valid: {0}")]
    OperatorManifestMissing(String),
    #[error("the operator's key set cannot be used: {0}")]
    OperatorKeysUnusable(String),
    #[error("the operator publishes no usable key with this kid")]
    OperatorKeyUnknown,
    #[error("the operator's domain could not be reached, and nothing fresh enough is cached")]
    OperatorUnreachable,
    #[error("too many unknown operators sent requests from this address")]
    OperatorBudget { retry_after_s: i64 },
    #[error("the operator sent too many connect requests to this project")]
    TooManyConnectRequests { retry_after_s: i64 },
    #[error("the operator key that opened this session is no longer published")]
    OperatorKeyWithdrawn,
    #[error("the registry of a model provider calls the operator {}", .0.as_str())]
    OperatorSuspended(OperatorStanding),
    #[error("this needs trust tier 4: {0}")]
    OperatorNotListed(&'static str),
    #[error("the operator's identity manifest has no webhook_url, which is needed here")]
    OperatorWebhookMissing,
    // the delegation
    #[error("the delegation token was refused: {0}")]
    DelegationInvalid(String),
    #[error("there is no such delegation here")]
    DelegationNotFound,
    #[error("the delegation is suspended: {}", match .0 {
        SuspendReason::Restored => "the service was restored from a backup",
        SuspendReason::ConcurrentUse => "it was used from two networks at the same time",
    })]
    DelegationSuspended(SuspendReason),
    #[error("the delegation was revoked")]
    DelegationRevoked(RevokeReason),
    #[error("the delegation ended by its policy")]
    AutoRevoked(RevokeReason),
    #[error("the delegation token has expired")]
    DelegationExpired,
    #[error("{0}")]
    DelegationMismatch(String),
    // the receipt
    #[error("the consent receipt was refused: {0}")]
    ConsentInvalid(String),
    #[error("a consent receipt is needed here, and none was presented")]
    ConsentMissing,
    #[error("the consent receipt was revoked")]
    ConsentRevoked,
    #[error("the consent receipt has expired, or its execution window is over")]
    ConsentExpired,
    #[error("the consent receipt is not valid yet: its execution window or its nbf lies in the future")]
    ConsentWindowNotOpen,
    #[error("the consent receipt is for another service")]
    ConsentServiceMismatch,
    // the requested action
    #[error("this needs trust tier {needed}, and this session has {has}")]
    TierNotMet { needed: u8, has: u8 },
    #[error("{0}")]
    ScopeNotGranted(String),
    #[error("{0}")]
    ConsentScopeExceeded(Box<ExceededConsent>),
    #[error("the request names no intent type")]
    IntentTypeMissing,
    #[error("the intent type {0:?} is in the vocabulary of no granted scope")]
    IntentTypeUnknown(String),
    #[error("the resource {0:?} is outside of what was granted to the service account")]
    BoundaryViolation(String),
    #[error(
        "the route {0} does not say which resource a call of it touches, so a service account has no boundary there"
    )]
    NoBoundary(String),
    #[error("this route has no dry run; nothing was forwarded")]
    DryRunUnsupported,
    #[error("it is not clear whether this is a dry run, so nothing was forwarded: {0}")]
    DryRunUnclear(&'static str),
    #[error("{0}")]
    ConfirmationRequired(Box<PendingApproval>),
    #[error("{0}")]
    ClarificationRequired(Box<Unclear>),
    #[error("{0} was already answered in another way")]
    AlreadyResolved(String),
    #[error("the action {0} must be confirmed by the agent itself")]
    WordRequired(String),
    #[error("the limit {} of the consent receipt is used up", .limit.as_str())]
    UsageLimitReached { limit: Limit, retry_after_s: i64 },
    // the proof of a call
    #[error("a DPoP proof is missing: {0}")]
    DpopMissing(&'static str),
    #[error("the DPoP proof was refused: {0}")]
    DpopInvalid(String),
    #[error("the DPoP proof has no nonce of this service, or an old one")]
    DpopNonceMissing,
    #[error("the DPoP proof was used before")]
    DpopReplayed,
    // the credential of a call
    #[error("agents must authenticate here")]
    NoCredentials,
    #[error("the access token is not known here")]
    AccessTokenInvalid,
    #[error("the session of this access token is over")]
    SessionOver,
    #[error("the access token has expired")]
    AccessTokenExpired,
    #[error("no route of this service matches {0}")]
    RouteNotFound(String),
    // bootstrap
    #[error("this connect request is over: {0}")]
    ConnectRequestGone(&'static str),
    #[error("{0}")]
    Conflict(String),
    #[error("event_id belongs to another event, which was reported before")]
    EventIdTaken,
    // the caller
    #[error("{0}")]
    NotAuthorized(String),
    #[error("there is no such project here")]
    ProjectNotFound,
    #[error("there is no such session here")]
    SessionNotFound,
    #[error("nobody is signed in")]
    SignInRequired,
    #[error("the name or the password is wrong")]
    SignInFailed,
    #[error("this needs a sign-in from within the last five minutes")]
    FreshSignInRequired,
    #[error("the request did not come from this service's own pages")]
    CsrfRejected,
    #[error("too many attempts")]
    TooManyAttempts { retry_after_s: i64 },
    #[error("{0}")]
    NotFound(String),
    // questions
    #[error("{why}")]
    TooManyQuestions { why: &'static str, retry_after_s: i64 },
    #[error("{0}")]
    ConfirmationInvalid(String),
    #[error("the approval cannot be claimed: {0}")]
    ApprovalGone(&'static str),
    #[error("the undo window closed at {}", .0.to_rfc3339())]
    UndoWindowClosed(UnixMillis),
    // us
    #[error("the record of this request could not be written, so it was refused")]
    Unavailable,
    /// With the decision that approved it, or the call's id if it needed no approval.
    #[error(
        "the request was sent and may have been carried out, but its outcome could not be recorded yet{}",
        SentWrite::reference(.0.as_ref())
    )]
    OutcomeUnrecorded(Option<SentWrite>),
    #[error(
        "the upstream failed to respond; the request may have been carried out{}",
        SentWrite::reference(.0.as_ref())
    )]
    UpstreamFailed(Option<SentWrite>),
    #[error("the upstream could not be reached; nothing was sent to it")]
    UpstreamUnreachable,
    #[error(
        "the upstream did not respond in time; the request may have been carried out{}",
        SentWrite::reference(.0.as_ref())
    )]
    UpstreamSlow(Option<SentWrite>),
    /// A repeat of a write that is in flight or has an unknown outcome.
    #[error("this repeats the call {call_id}, which is in progress or has an unknown outcome; nothing was sent")]
    WriteUnsettled { call_id: String, until: UnixMillis },
    #[error("the body has more than {limit} bytes")]
    BodyTooLarge { limit: u64 },
    #[error("the request did not arrive in time")]
    RequestSlow,
    #[error("an internal error occurred")]
    Internal,
}

impl Refusal {
    pub fn invalid(why: impl Into<String>) -> Self {
        Self::InvalidRequest(why.into())
    }

    pub fn code(&self) -> Code {
        match self {
            Self::VersionUnsupported(_) | Self::VersionMissing => Code::SpecVersionUnsupported,
            Self::InvalidRequest(_) | Self::EchoMissing(_) | Self::IntentTypeMissing | Self::DryRunUnclear(_) => {
                Code::InvalidRequest
            }
            Self::ModeMissing => Code::ModeMissing,
            Self::ModeNotSupported(_) | Self::ModeNotRegistered(_) | Self::ModesFrozen(_) => Code::ModeNotSupported,
            Self::OperatorJwtInvalid(_) | Self::OperatorKeyWithdrawn => Code::OperatorJwtInvalid,
            Self::OperatorJwtExpired => Code::OperatorJwtExpired,
            Self::OperatorManifestMissing(_)
            | Self::OperatorKeysUnusable(_)
            | Self::OperatorKeyUnknown
            | Self::OperatorUnreachable
            | Self::OperatorWebhookMissing => Code::OperatorNotFound,
            Self::OperatorSuspended(_) => Code::OperatorSuspended,
            Self::DelegationInvalid(_) => Code::DelegationInvalid,
            Self::DelegationNotFound => Code::DelegationNotFound,
            Self::DelegationSuspended(_) => Code::DelegationSuspended,
            Self::DelegationRevoked(_) => Code::DelegationRevoked,
            Self::AutoRevoked(_) => Code::AutoRevoked,
            Self::DelegationExpired => Code::DelegationExpired,
            Self::DelegationMismatch(_) => Code::DelegationMismatch,
            Self::ConsentInvalid(_) | Self::ConsentRevoked => Code::ConsentInvalid,
            Self::ConsentMissing => Code::ConsentMissing,
            Self::ConsentExpired | Self::ConsentWindowNotOpen => Code::ConsentExpired,
            Self::ConsentServiceMismatch => Code::ConsentServiceMismatch,
            Self::TierNotMet { .. } | Self::OperatorNotListed(_) => Code::TierNotMet,
            Self::ScopeNotGranted(_) => Code::ScopeNotGranted,
            Self::ConsentScopeExceeded(_) => Code::ConsentScopeExceeded,
            Self::IntentTypeUnknown(_) => Code::IntentTypeUnknown,
            Self::BoundaryViolation(_) | Self::NoBoundary(_) => Code::BoundaryViolation,
            Self::DryRunUnsupported => Code::DryRunUnsupported,
            Self::ConfirmationRequired(_) | Self::WordRequired(_) => Code::IrreversibleRequiresConfirm,
            Self::UsageLimitReached { .. } => Code::UsageLimitReached,
            Self::DpopMissing(_) => Code::DpopMissing,
            Self::DpopInvalid(_) | Self::DpopNonceMissing => Code::DpopInvalid,
            Self::DpopReplayed => Code::DpopReplayed,
            Self::NoCredentials => Code::AgentAuthRequired,
            Self::AccessTokenInvalid | Self::SessionOver => Code::AccessTokenInvalid,
            Self::AccessTokenExpired => Code::AccessTokenExpired,
            Self::RouteNotFound(_) => Code::RouteNotFound,
            Self::ConnectRequestGone(_) => Code::ConnectRequestGone,
            Self::ClarificationRequired(_) => Code::ClarificationRequired,
            Self::AlreadyResolved(_) => Code::AlreadyResolved,
            Self::Conflict(_) | Self::EventIdTaken | Self::ApprovalGone(_) | Self::WriteUnsettled { .. } => {
                Code::Conflict
            }
            Self::UndoWindowClosed(_) => Code::UndoWindowClosed,
            Self::NotAuthorized(_) => Code::NotAuthorized,
            Self::ProjectNotFound => Code::ProjectNotFound,
            Self::SessionNotFound => Code::SessionNotFound,
            Self::SignInRequired => Code::SignInRequired,
            Self::SignInFailed => Code::SignInFailed,
            Self::FreshSignInRequired => Code::FreshSignInRequired,
            Self::CsrfRejected => Code::CsrfRejected,
            Self::TooManyAttempts { .. }
            | Self::OperatorBudget { .. }
            | Self::TooManyConnectRequests { .. }
            | Self::TooManyQuestions { .. } => Code::TooManyRequests,
            Self::ConfirmationInvalid(_) => Code::ConfirmationInvalid,
            Self::NotFound(_) => Code::NotFound,
            Self::Unavailable | Self::OutcomeUnrecorded(_) => Code::ServiceUnavailable,
            Self::UpstreamFailed(_) | Self::UpstreamUnreachable => Code::UpstreamFailed,
            Self::UpstreamSlow(_) => Code::UpstreamTimeout,
            Self::BodyTooLarge { .. } => Code::PayloadTooLarge,
            Self::RequestSlow => Code::RequestTimeout,
            Self::Internal => Code::InternalError,
        }
    }

    /// The caller's next step.
    pub fn hint(&self) -> String {
        match self {
            Self::VersionUnsupported(_) | Self::VersionMissing => {
                format!("send Aap-Version with one of: {}", version::list(version::ACCEPTED))
            }
            Self::InvalidRequest(_) => "correct the request and send it again".into(),
            Self::EchoMissing("X-Agent-Session") => {
                "send X-Agent-Session with the session_id that the registration returned".into()
            }
            Self::EchoMissing("X-Agent-Account") => {
                "send X-Agent-Account with the account_id of the service account that was registered".into()
            }
            Self::EchoMissing(_) => {
                "send X-Agent-Delegation with the delegation_id of the delegation token that was registered".into()
            }
            Self::ModeMissing => "declare \"mode\" in the body; there is no default".into(),
            Self::ModeNotSupported(_) => {
                "use a mode listed in identity_modes_supported of the discovery manifest".into()
            }
            Self::ModeNotRegistered(_) => "call in the mode that the session was registered in".into(),
            Self::ModesFrozen(_) => {
                "register every mode of a session before its first call, or register this mode with another session_id"
                    .into()
            }
            Self::OperatorJwtInvalid(_) => {
                "sign a new operator JWT with a published key, for exactly this service".into()
            }
            Self::OperatorJwtExpired => "issue a new operator JWT".into(),
            Self::OperatorManifestMissing(_) => {
                "publish a valid /.well-known/agent-identity.json on the domain named in iss".into()
            }
            Self::OperatorKeysUnusable(_) => {
                "publish a JWK set of public signing keys, each with a kid of its own, at the signing_keys address"
                    .into()
            }
            Self::OperatorKeyUnknown => {
                "publish the signing key with its kid in the operator's JWKS, or sign with a published one".into()
            }
            Self::OperatorUnreachable => {
                "make the operator's domain reachable over https and try again in a minute".into()
            }
            Self::OperatorBudget { .. } | Self::TooManyConnectRequests { .. } | Self::TooManyAttempts { .. } => {
                "wait as long as Retry-After says".into()
            }
            Self::TooManyQuestions { .. } => "no question was raised; wait as long as Retry-After says".into(),
            Self::ConfirmationInvalid(_) => {
                "request an approval of exactly the call to run, and claim it for that call".into()
            }
            Self::OperatorKeyWithdrawn => "register again with a key that is published now".into(),
            Self::OperatorSuspended(_) => "do not retry; settle it with the model provider that suspended you".into(),
            Self::OperatorNotListed(_) => {
                "be listed in good standing in the registry of a model provider that this service trusts, and name the \
                 provider in model_providers of your identity manifest"
                    .into()
            }
            Self::OperatorWebhookMissing => {
                "add webhook_url to your identity manifest: an https address inside your domain, where this service \
                 reports ended delegations"
                    .into()
            }
            Self::DelegationInvalid(_) => "present the delegation token exactly as this service issued it".into(),
            Self::DelegationNotFound => "ask the user to connect the agent again".into(),
            Self::DelegationSuspended(SuspendReason::Restored) => {
                "ask the user to allow this agent again on their page of agents, or an admin to lift it".into()
            }
            Self::DelegationSuspended(SuspendReason::ConcurrentUse) => {
                "find out who else uses the delegation; then the operator acknowledges it with POST /agent/lift, or the \
                 user allows the agent again on their page of agents"
                    .into()
            }
            Self::DelegationRevoked(_) => "tell the user that access was revoked; do not retry".into(),
            Self::AutoRevoked(RevokeReason::PolicyExpired) => {
                "tell the user that the granted time is over, and ask them to connect the agent again".into()
            }
            Self::AutoRevoked(_) => {
                "tell the user that access ended by itself, and ask them to connect the agent again".into()
            }
            Self::DelegationExpired => "ask the user to connect the agent again".into(),
            Self::DelegationMismatch(_) => {
                "check which user's tokens are used; tokens cannot be mixed or passed on".into()
            }
            Self::ConsentInvalid(_) => "have the operator issue a new consent receipt".into(),
            Self::ConsentMissing => "ask the user for consent, and register with the receipt".into(),
            Self::ConsentRevoked => "ask the user for fresh consent".into(),
            Self::ConsentExpired => "ask the user for fresh consent".into(),
            Self::ConsentWindowNotOpen => "wait until the window that the user set begins".into(),
            Self::ConsentServiceMismatch => "obtain a consent receipt whose aud is exactly this service".into(),
            Self::TierNotMet { needed: 2.., has: 0..=1 } => {
                "let the user connect the agent first: start at /agent/delegate/requests".into()
            }
            Self::TierNotMet { .. } => "this service cannot be used at that tier; the user must act themselves".into(),
            Self::ScopeNotGranted(_) => {
                "ask the user to grant the scope; scopes are listed in the discovery manifest".into()
            }
            Self::ConsentScopeExceeded(exceeded) => exceeded.hint().into(),
            Self::IntentTypeMissing => "send X-Agent-Intent-Type with a type that the scope lists".into(),
            Self::IntentTypeUnknown(_) => "use an intent type that the discovery manifest lists for the scope".into(),
            Self::BoundaryViolation(_) => {
                "stay within granted_scope.resources; an admin can approve a new grant with more resources".into()
            }
            Self::NoBoundary(_) => {
                "the service must add resource to the route: a template, or none; people's delegations are not affected".into()
            }
            Self::DryRunUnsupported => "send the request without dry run, or do not send it".into(),
            Self::DryRunUnclear(_) => {
                "send dry_run=true in the query or X-Agent-Dry-Run: true, once; or leave both out".into()
            }
            Self::ConfirmationRequired(awaited) => awaited.hint(),
            Self::ClarificationRequired(unclear) => unclear.hint(),
            Self::AlreadyResolved(_) => "the answer is final; submit a changed plan to have it asked again".into(),
            Self::WordRequired(_) => "send X-Agent-Confirm: true if the action is intended".into(),
            Self::UsageLimitReached { limit: Limit::RequestsPerHour, .. } => "wait as long as Retry-After says".into(),
            Self::UsageLimitReached { .. } => "ask the user for a new consent receipt".into(),
            Self::DpopMissing(_) => {
                "send Authorization: DPoP and a proof for exactly this request, signed with the key of the session; \
                 without such a key register again with a proof"
                    .into()
            }
            Self::DpopInvalid(_) => "make a new proof for exactly this method, address and token".into(),
            Self::DpopNonceMissing => "make a new proof with the nonce of the DPoP-Nonce header, and try again".into(),
            Self::DpopReplayed => "make a new proof, with a jti of its own, for every request".into(),
            Self::NoCredentials => "read /.well-known/agent-auth.json and have the user connect the agent".into(),
            Self::AccessTokenInvalid | Self::SessionOver | Self::AccessTokenExpired => {
                "register again for a new access token".into()
            }
            Self::RouteNotFound(_) => "check method and path against the service's routes".into(),
            Self::ConnectRequestGone(_) => "start again from the agent".into(),
            Self::Conflict(_) | Self::ApprovalGone(_) => "read the current state and decide again".into(),
            Self::EventIdTaken => "send this event with an event_id of its own".into(),
            Self::UndoWindowClosed(_) => {
                "read the decision for the outcome of the call, and correct it by a new action if need be".into()
            }
            Self::NotAuthorized(_) => "use an account or key that is entitled to this".into(),
            Self::ProjectNotFound => "check the project id".into(),
            Self::SessionNotFound => "check the session id".into(),
            Self::SignInRequired => "sign in at /sign-in".into(),
            Self::SignInFailed => "check name and password and try again".into(),
            Self::FreshSignInRequired => "confirm your password at /sign-in and try again".into(),
            Self::CsrfRejected => {
                "send the X-CSRF-Token that GET /session returns, from this service's own origin".into()
            }
            Self::NotFound(_) => "check the address".into(),
            Self::Unavailable => "nothing was carried out; try again shortly".into(),
            Self::OutcomeUnrecorded(_) | Self::UpstreamFailed(_) | Self::UpstreamSlow(_) => {
                "do not repeat it blindly; read the current state first".into()
            }
            Self::WriteUnsettled { call_id, until } => format!(
                "read the current state to see whether it ran; if that does not show it, an administrator settles it \
                 with `countersign call settle {call_id}`; repeats are refused until then, or until {} at most",
                until.to_rfc3339()
            ),
            Self::UpstreamUnreachable => "nothing was sent; try again shortly".into(),
            Self::BodyTooLarge { .. } => "send less; nothing was forwarded".into(),
            Self::RequestSlow => "send the whole request without delay; nothing was forwarded".into(),
            Self::Internal => "try again; if the error persists, report the request id".into(),
        }
    }

    /// The value of `X-Agent-Revoke-Reason`, only on refusals caused by a revocation (AAP 8.5).
    pub fn revoke_reason(&self) -> Option<RevokeReason> {
        match self {
            Self::DelegationRevoked(reason) | Self::AutoRevoked(reason) => Some(*reason),
            Self::OperatorKeyWithdrawn => Some(RevokeReason::KeyRotation),
            _ => None,
        }
    }

    /// The refusal with the decision or call behind it, so that its reader can look up the outcome.
    #[must_use]
    pub fn of_sent(self, sent: Option<SentWrite>) -> Self {
        match self {
            Self::OutcomeUnrecorded(_) => Self::OutcomeUnrecorded(sent),
            Self::UpstreamFailed(_) => Self::UpstreamFailed(sent),
            Self::UpstreamSlow(_) => Self::UpstreamSlow(sent),
            refusal => refusal,
        }
    }

    fn sent(&self) -> Option<&SentWrite> {
        match self {
            Self::OutcomeUnrecorded(sent) | Self::UpstreamFailed(sent) | Self::UpstreamSlow(sent) => sent.as_ref(),
            _ => None,
        }
    }

    /// The decision behind a call that may have been executed.
    pub fn decision_id(&self) -> Option<&str> {
        self.sent().and_then(SentWrite::decision_id)
    }

    /// The id of a write without approval that may have been executed.
    pub fn call_id(&self) -> Option<&str> {
        match self {
            Self::WriteUnsettled { call_id, .. } => Some(call_id),
            refusal => refusal.sent().and_then(SentWrite::call_id),
        }
    }

    pub fn retry_after_s(&self) -> Option<i64> {
        match self {
            Self::OperatorBudget { retry_after_s }
            | Self::TooManyConnectRequests { retry_after_s }
            | Self::TooManyAttempts { retry_after_s }
            | Self::TooManyQuestions { retry_after_s, .. }
            | Self::UsageLimitReached { retry_after_s, .. } => Some(*retry_after_s),
            Self::Unavailable => Some(1),
            _ => None,
        }
    }
}

impl RevokeReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PolicyExpired => "policy_expired",
            Self::Inactivity => "inactivity",
            Self::TaskComplete => "task_complete",
            Self::EventTriggered => "event_triggered",
            Self::ManualRevoke => "manual_revoke",
            Self::KeyRotation => "key_rotation",
        }
    }
}

impl From<countersign_protocol::canonical::NotCanonical> for Refusal {
    fn from(_: countersign_protocol::canonical::NotCanonical) -> Self {
        Self::Internal
    }
}

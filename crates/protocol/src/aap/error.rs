//! The error envelope and its codes (AAP 16): the catalogue's, and our documented extensions (C-37).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The body of every error response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorEnvelope {
    pub error: Code,
    pub error_description: String,
    /// The next step. Always present on 4xx.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    pub request_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs_url: Option<String>,
    /// The decision that a call needs: its id, where to wait, the page, and how to continue (C-02).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub decision: Option<Map<String, Value>>,
    /// A write whose outcome is not known: its `call_id`, and until when its repeats are refused at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub call: Option<Map<String, Value>>,
    /// The clarification session and its open gaps (Clarification 8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub clarification: Option<Map<String, Value>>,
    /// The request for the scope that the consent receipt lacks, as `GET /agent/scope-approval` shows it, with the address
    /// to `poll`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub scope_request: Option<Map<String, Value>>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:literal;)+) => {
        /// A machine-readable code. Each has exactly one status; only a project can choose 428 instead of 403 for a
        /// missing confirmation (C-01).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code { $($(#[$doc])* #[serde(rename = $text)] $name),+ }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text),+ }
            }

            pub const fn status(self) -> u16 {
                match self { $(Code::$name => $status),+ }
            }
        }
    };
}

/// A derived schema would use the variants' names: it cannot see the macro's renames.
#[cfg(feature = "openapi")]
mod described {
    use super::Code;
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{ObjectBuilder, RefOr, Type, schema::Schema},
    };

    impl PartialSchema for Code {
        fn schema() -> RefOr<Schema> {
            let codes = Code::ALL.iter().map(|code| code.as_str());
            let about = "A machine-readable code. Each has exactly one status; only for a missing confirmation a \
                         project can choose 428 instead of 403.";
            ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes)).description(Some(about)).into()
        }
    }

    impl ToSchema for Code {}
}

codes! {
    // The catalogue of AAP 16.2.
    OperatorJwtInvalid = "operator_jwt_invalid", 401;
    OperatorJwtExpired = "operator_jwt_expired", 401;
    OperatorNotFound = "operator_not_found", 401;
    OperatorSuspended = "operator_suspended", 403;
    DelegationNotFound = "delegation_not_found", 401;
    DelegationExpired = "delegation_expired", 401;
    DelegationRevoked = "delegation_revoked", 401;
    DelegationMismatch = "delegation_mismatch", 401;
    ConsentExpired = "consent_expired", 401;
    ConsentScopeExceeded = "consent_scope_exceeded", 403;
    ConsentServiceMismatch = "consent_service_mismatch", 403;
    ScopeNotGranted = "scope_not_granted", 403;
    DpopMissing = "dpop_missing", 401;
    DpopInvalid = "dpop_invalid", 401;
    DpopReplayed = "dpop_replayed", 401;
    ModeNotSupported = "mode_not_supported", 400;
    ModeMissing = "mode_missing", 400;
    BoundaryViolation = "boundary_violation", 403;
    UsageLimitReached = "usage_limit_reached", 429;
    AutoRevoked = "auto_revoked", 401;
    SpecVersionUnsupported = "spec_version_unsupported", 400;
    DryRunUnsupported = "dry_run_unsupported", 400;
    IrreversibleRequiresConfirm = "irreversible_requires_confirm", 403;
    // Our codes, where the catalogue has none that fits (C-37).
    InvalidRequest = "invalid_request", 400;
    AccessTokenInvalid = "access_token_invalid", 401;
    AccessTokenExpired = "access_token_expired", 401;
    ConsentMissing = "consent_missing", 401;
    ConsentInvalid = "consent_invalid", 401;
    DelegationInvalid = "delegation_invalid", 401;
    TierNotMet = "tier_not_met", 403;
    ProjectNotFound = "project_not_found", 404;
    SessionNotFound = "session_not_found", 404;
    NotAuthorized = "not_authorized", 403;
    IntentTypeUnknown = "intent_type_unknown", 400;
    ConfirmationInvalid = "confirmation_invalid", 403;
    DelegationSuspended = "delegation_suspended", 403;
    UndoWindowClosed = "undo_window_closed", 409;
    AgentAuthRequired = "agent_auth_required", 401;
    InternalError = "internal_error", 500;
    // Our codes for HTTP errors and sign-in sessions.
    SignInRequired = "sign_in_required", 401;
    SignInFailed = "sign_in_failed", 401;
    FreshSignInRequired = "fresh_sign_in_required", 403;
    CsrfRejected = "csrf_rejected", 403;
    NotFound = "not_found", 404;
    RouteNotFound = "route_not_found", 404;
    MethodNotAllowed = "method_not_allowed", 405;
    Conflict = "conflict", 409;
    ClarificationRequired = "clarification_required", 409;
    AlreadyResolved = "already_resolved", 409;
    ConnectRequestGone = "connect_request_gone", 410;
    PayloadTooLarge = "payload_too_large", 413;
    UnsupportedMediaType = "unsupported_media_type", 415;
    TooManyRequests = "too_many_requests", 429;
    RequestTimeout = "request_timeout", 408;
    UpstreamFailed = "upstream_failed", 502;
    UpstreamTimeout = "upstream_timeout", 504;
    ServiceUnavailable = "service_unavailable", 503;
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

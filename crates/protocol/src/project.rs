//! A project's document: its publications, scopes and routes.
//!
//! One versioned document in the database; `countersign project apply FILE` replaces it.

mod cancel;
mod dry_run;
mod evidence_policy;
mod heartbeats;
mod identity_provider;
mod plans;
mod probe;
mod reserved;
mod resource;
mod route;
mod trust;
mod undo;
mod upstream;

pub use cancel::RouteCancel;
pub use dry_run::{DryRunSpelling, RouteDryRun, UpstreamDryRun};
pub use evidence_policy::EvidencePolicy;
pub use heartbeats::{HeartbeatPolicy, OnMissed};
pub use identity_provider::{ScimPolicy, SignalTransmitter};
pub use plans::{AskAgain, LearningPolicy, PlanPolicy, RoleEntry};
pub use probe::{ProbeAnswer, ProbeItems, RouteProbe};
pub use reserved::{overlaps_reserved, reserved};
pub use resource::{DataSubjectSource, ResourceEntry, ResourceUsers};
pub use route::{Route, RouteStream, RouteTexts, ValueField};
pub use trust::{ConcurrentUse, ConformanceClaim};
pub use undo::RouteUndo;
pub use upstream::Upstream;

use crate::{
    aaep::event::{Reversibility, Risk, YesNo},
    aap::policy::PolicyLayer,
    clarification::ClarificationPolicy,
    domain::Domain,
    ids::ProjectId,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectDocument {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: ProjectId,
    #[serde(default)]
    pub display_name: String,
    /// The trust tier that registering needs, 1 to 4.
    #[serde(default = "default::minimum_tier")]
    pub minimum_tier: u8,
    /// What the manifest claims, `core` by default. Extended and full demand proofs of possession.
    #[serde(default, skip_serializing_if = "ConformanceClaim::is_default")]
    pub conformance: ConformanceClaim,
    /// The domains of the model providers whose registries of operators count for trust tier 4 (AAP 4.2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub trusted_providers: Vec<Domain>,
    /// Without it, simultaneous use from two networks is not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrent_use: Option<ConcurrentUse>,
    /// What a missed heartbeat of a long task changes (AAP 12.2).
    #[serde(default, skip_serializing_if = "HeartbeatPolicy::is_default")]
    pub heartbeats: HeartbeatPolicy,
    #[serde(default = "crate::json::enabled")]
    pub intent_required: bool,
    /// Whether an intent type that no scope lists is refused, or accepted and marked in the audit.
    #[serde(default = "crate::json::enabled")]
    pub strict_intent_types: bool,
    /// The longest lifetime of an access token, in seconds.
    #[serde(default = "default::ttl")]
    pub credential_ttl: i64,
    /// The longest lifetime of access tokens that one delegation allows, in seconds.
    #[serde(default = "default::ttl")]
    pub max_agent_ttl: i64,
    /// The longest lifetime of a delegation: `90d`, `12h`, `P7D`.
    #[serde(default = "default::max_duration")]
    pub max_duration: String,
    /// When delegations end by themselves. Operators and people can tighten it, never loosen it (AAP 8.4).
    #[serde(default, skip_serializing_if = "PolicyLayer::is_empty")]
    pub auto_revoke: PolicyLayer,
    /// The lifetime of the delegation token itself, if shorter than `max_duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_duration: Option<String>,
    /// The longest lifetime of a consent receipt, from `iat` to `exp`; one that lives longer is refused.
    #[serde(default = "default::max_receipt_duration")]
    pub max_receipt_duration: String,
    /// A call within the delegation and beyond the consent receipt: `reject` it, `notify` the person, who may approve the
    /// scope for the task, or expand it in a `silent` way, which the audit and the access summary show (AAP 19.1).
    #[serde(default = "default::scope_expansion")]
    pub scope_expansion: String,
    #[serde(default = "default::modes")]
    pub identity_modes_supported: Vec<String>,
    /// The disclosure of each mode. A mode without an entry has the built-in text.
    #[serde(default)]
    pub disclosures: BTreeMap<String, String>,
    /// The disclosure that people acknowledge before connecting an agent, if its operator has no text of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liability_disclosure: Option<String>,
    /// A page for people, served beside the manifest at `/.well-known/agent-auth.txt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub companion: Option<String>,
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// The upstreams of the gateway. A route that names none uses the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub upstreams: Vec<Upstream>,
    #[serde(default)]
    pub routes: Vec<Route>,
    /// Whose data the routes' resources have. It decides whether a service account crosses users (AAP 11.3).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceEntry>,
    #[serde(default)]
    pub dpop: DpopPolicy,
    /// The status for a missing approval: 403, as in the vectors, or 428 (C-01).
    #[serde(default = "default::confirmation_status")]
    pub confirmation_status: u16,
    /// The policies of actions. An action without an entry counts as irreversible and of high risk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionPolicy>,
    #[serde(default)]
    pub decisions: DecisionPolicy,
    /// Limits of approved plans and standing approvals.
    #[serde(default)]
    pub plans: PlanPolicy,
    /// The roles for approvals (MPLP). Without entries, every membership role is a role of the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleEntry>,
    #[serde(default)]
    pub learning: LearningPolicy,
    /// The questions that must be answered before a plan may be proposed or run.
    #[serde(default, skip_serializing_if = "ClarificationPolicy::is_default")]
    pub clarification: ClarificationPolicy,
    /// Who may read the transparency log over the project's evidence.
    #[serde(default, skip_serializing_if = "EvidencePolicy::is_default")]
    pub evidence: EvidencePolicy,
    /// Users provisioned by an identity provider. Without it, `/scim/v2` has no users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scim: Option<ScimPolicy>,
    /// The transmitters of security events about people (OpenID Shared Signals).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_signals: Vec<SignalTransmitter>,
}

impl ProjectDocument {
    /// The route's upstream, or the first.
    pub fn upstream_of(&self, route: &Route) -> Option<&Upstream> {
        match &route.upstream {
            Some(id) => self.upstreams.iter().find(|upstream| upstream.id == *id),
            None => self.upstreams.first(),
        }
    }
}

/// The actions that a scope allows. The service's definition counts, regardless of a receipt's (AAP 12.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    pub id: String,
    pub description: String,
    pub allows: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explicitly_excludes: Vec<String>,
    #[serde(default)]
    pub irreversible: bool,
    #[serde(default)]
    pub requires_confirmation: bool,
    /// Seconds in which a call by a route with `undo` can be undone; 0 for none. Without it an irreversible scope has 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo_window_s: Option<i64>,
    pub intent_types: Vec<String>,
    /// Whether an operator without a user (T1) may use its read routes.
    #[serde(default)]
    pub low_stakes: bool,
    /// The required confirmation: a person's decision, or, only if set here, the agent's own word.
    #[serde(default, skip_serializing_if = "Confirmed::is_by_decision")]
    pub confirmation: Confirmed,
}

/// The source of a confirmation (C-02).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Confirmed {
    #[default]
    Decision,
    SelfAsserted,
}

impl Confirmed {
    fn is_by_decision(&self) -> bool {
        *self == Self::Decision
    }
}

/// Proofs of possession (AAP 18). From trust tier 3 and conformance tier `extended` on they are always required.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DpopPolicy {
    pub required: bool,
    /// Whether registering needs a nonce of ours.
    pub nonce_at_register: bool,
    /// Whether every other call needs one.
    pub nonce_at_calls: bool,
}

impl Default for DpopPolicy {
    fn default() -> Self {
        Self { required: false, nonce_at_register: true, nonce_at_calls: false }
    }
}

/// Approvers, assurance and deadline of an action. Callers can only tighten it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ActionPolicy {
    /// The tool, as agents name it.
    pub name: String,
    #[serde(default = "crate::json::enabled")]
    pub irreversible: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversibility: Option<Reversibility>,
    #[serde(default = "default::risk")]
    pub risk: Risk,
    /// `role:approver`, `role:admin` or `user:NAME`. Empty: the person for whom the agent acts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// The least assurance of a valid answer: `token`, `session` or `fresh`. Default: `token`; for irreversible actions
    /// of high risk `session`, or a subscriber token that its person allowed to approve them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<String>,
    /// How long people have to answer, unless the agent sets another time within the bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_timeout_seconds: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_timeout_seconds: Option<i64>,
    /// The result without an answer. `accept` only for actions that are reversible and not of high risk, with at least
    /// 30 seconds to answer. Default: rejection, regardless of the agent's request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_decision: Option<YesNo>,
    /// The lifetime of an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance_seconds: Option<i64>,
    /// How long a claim may take until its outcome is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_seconds: Option<i64>,
}

impl ActionPolicy {
    /// The policy of an unknown action.
    pub fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            irreversible: true,
            reversibility: None,
            risk: default::risk(),
            approvers: Vec::new(),
            assurance: None,
            timeout_seconds: None,
            min_timeout_seconds: None,
            max_timeout_seconds: None,
            default_decision: None,
            allowance_seconds: None,
            lease_seconds: None,
        }
    }
}

/// Limits on all questions of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DecisionPolicy {
    /// The most pending questions of one agent.
    pub max_open_per_agent: i64,
    /// The most pending questions for one person.
    pub max_open_per_person: i64,
    pub max_raised_per_hour: i64,
    /// How long an action that was rejected three times may not be requested again.
    pub pause_seconds: i64,
    /// The longest time that an agent may give people to answer.
    pub max_timeout_seconds: i64,
    /// The most additional time for one question.
    pub max_extension_seconds: i64,
    pub allowance_seconds: i64,
    pub lease_seconds: i64,
    /// Whether people may approve actions of their own agents that policy assigns to approvers (teams of one).
    pub own_approval: bool,
    /// Whether a question that nobody can answer at present is rejected at once instead of staying pending.
    pub early_reject: bool,
    /// How long an AAEP session may be idle before it is ended for its agent.
    pub session_idle_seconds: i64,
    /// Whether subscribers without credentials of their own may use a token in the URL.
    pub legacy_subscribers: bool,
    /// The longest and default lifetime of subscriber tokens.
    pub subscriber_token_days: i64,
    /// The default language of texts.
    pub language: String,
}

impl Default for DecisionPolicy {
    fn default() -> Self {
        Self {
            max_open_per_agent: 20,
            max_open_per_person: 50,
            max_raised_per_hour: 120,
            pause_seconds: 600,
            max_timeout_seconds: 86_400,
            max_extension_seconds: 3600,
            allowance_seconds: 300,
            lease_seconds: 60,
            own_approval: false,
            early_reject: false,
            session_idle_seconds: 3600,
            legacy_subscribers: false,
            subscriber_token_days: 90,
            language: "en".into(),
        }
    }
}

mod default {
    pub(super) fn minimum_tier() -> u8 {
        2
    }
    pub(super) fn ttl() -> i64 {
        3600
    }
    pub(super) fn max_duration() -> String {
        "90d".into()
    }
    pub(super) fn max_receipt_duration() -> String {
        "30d".into()
    }
    pub(super) fn confirmation_status() -> u16 {
        403
    }
    pub(super) fn scope_expansion() -> String {
        "notify".into()
    }
    pub(super) fn risk() -> super::Risk {
        super::Risk::High
    }
    pub(super) fn modes() -> Vec<String> {
        vec!["user_delegated".into()]
    }
}

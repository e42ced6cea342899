//! The records: all state kept between two decisions.
//!
//! Each record has a key and a version. A changed record is written with `version + 1`, and the store accepts it only
//! if the row still has the old version; there is no other way to change a row.

mod aaep;
mod clarification;
mod decisions;
mod earlier_receipts;
mod erasure;
mod executions;
mod heartbeats;
mod lifecycle;
mod log_key;
mod mplp;
mod outbox;
mod rollbacks;
mod scim;
mod service_account;
mod undoable;
mod writes;

pub use aaep::*;
pub use clarification::*;
pub use decisions::*;
pub use earlier_receipts::*;
pub use erasure::*;
pub use executions::*;
pub use heartbeats::*;
pub use lifecycle::*;
pub use log_key::*;
pub use mplp::*;
pub use outbox::*;
pub use rollbacks::*;
pub use scim::*;
pub use service_account::*;
pub use undoable::*;
pub use writes::*;

use countersign_protocol::project::ProjectDocument;
use countersign_protocol::{
    aap::{
        consent_receipt::UsageLimits,
        policy::{EffectivePolicy, PolicyLayer, PolicySources},
        registry::OperatorStanding,
    },
    domain::Domain,
    hash::Digest,
    ids::{ProjectId, RowKey},
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use std::{any::Any, sync::Arc};

/// A row of one table.
pub trait Stored: Serialize + serde::de::DeserializeOwned + Clone + Send + Sync + 'static {
    const TABLE: Table;
    fn key(&self) -> RowKey;
    fn version(&self) -> i64;
    fn into_record(self) -> Record;
}

/// A record of the type that its table has, for caches.
pub type SharedRecord = Arc<dyn Any + Send + Sync>;

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// The tables of records, one per type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Table { $($(#[$doc])* $name),+ }

        impl Table {
            pub const ALL: &'static [Table] = &[$(Table::$name),+];
        }

        /// A row to be written.
        #[derive(Clone, Debug)]
        pub enum Record { $($name($name)),+ }

        impl Record {
            pub fn table(&self) -> Table {
                match self { $(Record::$name(_) => Table::$name),+ }
            }
            pub fn key(&self) -> RowKey {
                match self { $(Record::$name(r) => r.key),+ }
            }
            pub fn version(&self) -> i64 {
                match self { $(Record::$name(r) => r.version),+ }
            }
            pub fn to_json(&self) -> serde_json::Result<String> {
                match self { $(Record::$name(r) => serde_json::to_string(r)),+ }
            }
            pub fn from_json(table: Table, doc: &str) -> serde_json::Result<Self> {
                Ok(match table { $(Table::$name => Record::$name(serde_json::from_str(doc)?)),+ })
            }
            pub fn into_shared(self) -> SharedRecord {
                match self { $(Record::$name(r) => Arc::new(r)),+ }
            }
        }

        $(impl Stored for $name {
            const TABLE: Table = Table::$name;
            fn key(&self) -> RowKey { self.key }
            fn version(&self) -> i64 { self.version }
            fn into_record(self) -> Record { Record::$name(self) }
        })+
    };
}

records! {
    Project, Person, Membership, WebSession, ConnectRequest, Disclosure, Delegation, Session, AccessToken,
    SessionKey, RevokedReceipt, ApiKey, SigningKey, Secret, Decision, Allowance, Execution, AaepSession, Subscription,
    SubscriberToken, HeldRequest, Plan, ImportedConfirm, ClarificationSession, ClarificationEntry, ClarificationKey,
    AgentEvent, Epoch, UnsettledWrite, OutboxMessage, WebhookEnrolment, ScimUser, Heartbeat,
    ReversibleWrite, Rollback, LifecycleReport, UndoableCall, LogKey, Erasure,
}

/// A project and the current version of its document. Older versions stay readable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Project {
    pub key: RowKey,
    pub version: i64,
    pub id: ProjectId,
    pub created_at: UnixMillis,
    pub changed_at: UnixMillis,
    /// Shared, since every request reads it.
    pub document: Arc<ProjectDocument>,
}

/// A person is an issuer and a subject, never an e-mail address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Person {
    pub key: RowKey,
    pub version: i64,
    /// `local` for local accounts.
    pub issuer: String,
    pub subject: String,
    pub display_name: String,
    /// For tokens that must name an admin's address. Never an identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Argon2id, in PHC form. None for people with an external identity provider.
    pub password_hash: Option<String>,
    pub platform_admin: bool,
    pub disabled: bool,
    pub created_at: UnixMillis,
    /// Sign-in sessions of an earlier generation are invalid: sign-out everywhere, a changed password. A number instead
    /// of a time, so that no node's clock can revive one.
    pub generation: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Approver,
    Admin,
    Auditor,
}

/// A person's membership in a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Membership {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub person: RowKey,
    pub roles: Vec<Role>,
}

/// A sign-in session in a browser or another client of the pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebSession {
    pub key: RowKey,
    pub version: i64,
    /// The hash of the cookie's value.
    pub token_hash: Digest,
    pub person: RowKey,
    /// The person's generation at the start of the session.
    pub generation: i64,
    pub started_at: UnixMillis,
    /// The person's last proof of presence (R-4: `fresh` for five minutes).
    pub proven_at: UnixMillis,
    pub expires_at: UnixMillis,
}

/// An operator's request for a delegation by a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectRequest {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// Unguessable: a signed-in person with the link `/connect/{id}` may answer it.
    pub id: String,
    /// The base URI used by the operator; it expects this `iss` in all later tokens.
    pub service: String,
    pub operator: Domain,
    /// The operator's self-chosen display name: decoration, never identity.
    pub operator_name: String,
    /// The operator's own liability disclosure, if its identity manifest has one.
    pub operator_disclosure: Option<String>,
    /// The operator's contact, from its identity manifest.
    #[serde(default)]
    pub operator_contact: Option<String>,
    /// The operator's auto-revoke policy: its manifest's, tightened by the request's.
    #[serde(default)]
    pub operator_policy: PolicyLayer,
    /// A service account is granted by an admin (AAP 11.2).
    #[serde(default)]
    pub mode: Mode,
    pub scopes: Vec<String>,
    pub max_agent_ttl: Option<i64>,
    pub code_challenge: String,
    pub state: String,
    pub callback: Option<String>,
    pub expires_at: UnixMillis,
    pub progress: ConnectProgress,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ConnectProgress {
    Open,
    Denied {
        at: UnixMillis,
    },
    /// The person consented; the operator may exchange the code until `code_expires_at`.
    Approved {
        delegation: RowKey,
        code_hash: Digest,
        code_expires_at: UnixMillis,
    },
    Exchanged {
        delegation: RowKey,
        at: UnixMillis,
    },
}

/// The disclosure shown to a person before consent, bound to this person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disclosure {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: String,
    pub person: RowKey,
    pub operator: Domain,
    pub scopes: Vec<String>,
    pub max_agent_ttl: Option<i64>,
    /// The person's own auto-revoke policy.
    #[serde(default)]
    pub user_policy: PolicyLayer,
    pub request: Option<RowKey>,
    /// Digest of every shown text and its language.
    pub shown: Digest,
    pub language: String,
    pub text: String,
    pub shown_at: UnixMillis,
    pub expires_at: UnixMillis,
    pub spent: bool,
}

/// A person's delegation to the agents of one operator, or an admin's grant to a service account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delegation {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: String,
    /// [`NO_PERSON`] for a service account.
    pub person: RowKey,
    /// `sub` of the token: the person's subject, or the service account.
    pub subject: String,
    /// Only of a service account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<Box<ServiceAccount>>,
    pub operator: Domain,
    pub operator_name: String,
    pub scopes: Vec<String>,
    pub max_agent_ttl: i64,
    pub granted_at: UnixMillis,
    /// The token's own `exp`.
    pub token_expires_at: UnixMillis,
    /// The end by time of the effective policy.
    pub policy_expires_at: UnixMillis,
    /// The effective policy, computed at grant time and authoritative (AAP 8.4).
    #[serde(default)]
    pub policy: EffectivePolicy,
    /// Whose rule decided each of its dimensions.
    #[serde(default)]
    pub policy_sources: PolicySources,
    /// Its inactivity is judged at this time: not later than the period after its last request. Requests do not write this
    /// row; the evidence has their times.
    #[serde(default)]
    pub idle_check_at: Option<UnixMillis>,
    /// The digest of the disclosure shown with the consent.
    pub shown: Digest,
    pub language: String,
    pub state: DelegationState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum DelegationState {
    Active,
    /// Suspended until its person, an admin or the service lifts it (C-86).
    Suspended {
        at: UnixMillis,
        #[serde(default)]
        why: SuspendReason,
    },
    Revoked {
        at: UnixMillis,
        reason: RevokeReason,
    },
    /// Ended by its policy, without a person's act (AAP 8.3).
    AutoRevoked {
        at: UnixMillis,
        reason: RevokeReason,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspendReason {
    /// After a restore it is unknown whether it was revoked since the backup.
    #[default]
    Restored,
    /// Used from two networks at the same time (AAP 13.3). Its operator can lift it, too.
    ConcurrentUse,
}

impl SuspendReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Restored => "restored",
            Self::ConcurrentUse => "concurrent_use",
        }
    }
}

impl Delegation {
    pub fn mode(&self) -> Mode {
        if self.service_account.is_some() { Mode::ServiceAccount } else { Mode::UserDelegated }
    }

    /// Whether it has ended; a suspended one may resume.
    pub fn is_ended(&self) -> bool {
        matches!(self.state, DelegationState::Revoked { .. } | DelegationState::AutoRevoked { .. })
    }

    /// Whether its usage budget has ended it: its time would have done so later.
    pub fn is_used_up(&self) -> bool {
        let DelegationState::AutoRevoked { at, reason: RevokeReason::PolicyExpired } = self.state else { return false };
        at < self.policy_expires_at
    }

    /// The end of a revoked delegation.
    pub fn ended_at(&self) -> Option<UnixMillis> {
        match self.state {
            DelegationState::Active | DelegationState::Suspended { .. } => None,
            DelegationState::Revoked { at, .. } | DelegationState::AutoRevoked { at, .. } => Some(at),
        }
    }

    /// Its expiry or the next check of its inactivity, unless it has ended. A suspended one cannot be used, so only its time
    /// ends it.
    pub fn due(&self) -> Option<UnixMillis> {
        let expires_at = self.policy_expires_at;
        match self.state {
            DelegationState::Active => Some(self.idle_check_at.map_or(expires_at, |at| at.min(expires_at))),
            DelegationState::Suspended { .. } => Some(expires_at),
            DelegationState::Revoked { .. } | DelegationState::AutoRevoked { .. } => None,
        }
    }

    /// Whether its inactivity must be judged before it is honoured.
    pub fn needs_idle_check(&self, now: UnixMillis) -> bool {
        self.state == DelegationState::Active && self.idle_check_at.is_some_and(|at| now >= at)
    }
}

/// The value of `X-Agent-Revoke-Reason` (AAP 8.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevokeReason {
    PolicyExpired,
    Inactivity,
    TaskComplete,
    EventTriggered,
    ManualRevoke,
    KeyRotation,
}

/// An AAP session: one task of one agent, identified by project, operator and session id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub operator: Domain,
    pub session_id: String,
    /// Whether the mode `user_delegated` was registered in it. Delegation, subject and receipt are of that mode.
    #[serde(default = "countersign_protocol::json::enabled")]
    pub user_delegated: bool,
    /// The mode `service_account`, if it was registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<SessionAccount>,
    /// Whether a call has begun in it, so that no further mode joins it (C-54). Written with the first call only, and only
    /// where another mode could join: that call's step and a joining registration exclude each other by the row's version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modes_fixed: bool,
    /// The modes that left it: it has entries under their delegations, and each comes back with the same one only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerMode>,
    /// None at T1: operator only, without a delegation.
    pub delegation: Option<RowKey>,
    pub subject: Option<String>,
    pub receipt: Option<Receipt>,
    /// Of both modes. None of them opens the session again, and an operator that takes back its consent takes back all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_receipts: Vec<EarlierReceipt>,
    /// The scopes beyond that receipt, which stays as it was signed. They end with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansions: Vec<ScopeExpansion>,
    /// The operator key that signed the registration, and its last sighting in the operator's key set (C-88).
    pub operator_kid: String,
    pub key_seen_at: UnixMillis,
    /// The operator's standing with model providers, once trust tier 4 needed it (AAP 4.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<SeenStanding>,
    /// The beginning of its task. A session that fresh consent opens again begins another one.
    pub opened_at: UnixMillis,
    pub state: SessionState,
    /// Thumbprint of the first DPoP key: from then on every token of the session is bound to a key (AAP 18.1). All of
    /// its keys are rows of [`SessionKey`].
    #[serde(default)]
    pub jkt: Option<Digest>,
    /// Live access tokens, oldest first; at most eight (C-65).
    pub tokens: Vec<RowKey>,
}

impl Session {
    /// Whether the other mode could still join it.
    pub fn may_be_joined(&self) -> bool {
        !self.modes_fixed && self.user_delegated != self.service_account.is_some()
    }

    /// The delegation of a mode, if that mode has one.
    pub fn delegation_in(&self, mode: Mode) -> Option<RowKey> {
        match mode {
            Mode::UserDelegated => self.delegation,
            Mode::ServiceAccount => self.service_account.as_ref().map(|account| account.delegation),
        }
    }

    pub fn receipt_in(&self, mode: Mode) -> Option<&Receipt> {
        match mode {
            Mode::UserDelegated => self.receipt.as_ref(),
            Mode::ServiceAccount => self.service_account.as_ref()?.receipt.as_ref(),
        }
    }

    /// The receipts of all modes.
    pub fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        [Mode::UserDelegated, Mode::ServiceAccount].into_iter().filter_map(|mode| self.receipt_in(mode))
    }

    /// The delegations of both modes.
    pub fn delegations(&self) -> impl Iterator<Item = RowKey> {
        [Mode::UserDelegated, Mode::ServiceAccount].into_iter().filter_map(|mode| self.delegation_in(mode))
    }

    /// The delegations of both modes, also of those that left it.
    pub fn delegations_ever(&self) -> impl Iterator<Item = RowKey> {
        self.delegations().chain(self.former.iter().filter_map(|former| former.delegation))
    }

    pub fn has_mode(&self, mode: Mode) -> bool {
        match mode {
            Mode::UserDelegated => self.user_delegated,
            Mode::ServiceAccount => self.service_account.is_some(),
        }
    }

    /// The session with one mode alone: the other has to register again.
    #[must_use]
    pub fn only(mut self, mode: Mode) -> Self {
        let other = mode.other();
        if self.has_mode(other) {
            let delegation = self.delegation_in(other);
            self.former.retain(|former| former.mode != other);
            self.former.push(FormerMode { mode: other, delegation });
        }
        match mode {
            Mode::UserDelegated => Self { service_account: None, ..self },
            Mode::ServiceAccount => Self {
                user_delegated: false,
                delegation: None,
                subject: None,
                receipt: None,
                expansions: Vec::new(),
                ..self
            },
        }
    }

    /// The session as the bearer of one mode sees it: with the delegation of that mode alone.
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Self {
        match (mode, self.service_account.clone()) {
            (Mode::UserDelegated, _) => Self { service_account: None, ..self },
            (Mode::ServiceAccount, account) => Self {
                delegation: account.as_ref().map(|account| account.delegation),
                subject: account.as_ref().map(|account| account.account_id.clone()),
                receipt: account.and_then(|account| account.receipt),
                expansions: Vec::new(),
                ..self
            },
        }
    }
}

/// A scope of the delegation that a session has although its consent receipt lacks it (AAP 12.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScopeExpansion {
    pub scope: String,
    pub at: UnixMillis,
    /// The id of the decision that approved it; none for a silent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
}

/// An operator's standing in the registries that count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenStanding {
    /// None: no registry lists the operator.
    pub standing: Option<OperatorStanding>,
    /// The providers that the project trusted then. With others it is to be looked up again.
    #[serde(default)]
    pub providers: Vec<Domain>,
    /// When the oldest of the documents behind it was fetched.
    pub seen_at: UnixMillis,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SessionState {
    Open,
    Closed { at: UnixMillis, why: SessionEnd },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    Cancelled,
    /// The agent reported its task as complete (AAP 17.6).
    Completed,
    ReceiptRevoked,
    KeyWithdrawn,
    /// Its agent sent no heartbeat in time, and the project's policy ends it (AAP 12.2).
    HeartbeatMissed,
}

/// The stored facts of a consent receipt, never its text (C-14).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub sha256: Digest,
    /// Digest of header and payload: independent of the encoding of the signature.
    pub said: Digest,
    pub scopes: Vec<String>,
    pub issued_at: UnixMillis,
    pub expires_at: UnixMillis,
    pub window: Option<(UnixMillis, UnixMillis)>,
    #[serde(default)]
    pub limits: UsageLimits,
    /// The longest time between two heartbeats, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_s: Option<i64>,
}

/// An opaque credential, stored as its hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessToken {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub hash: Digest,
    pub session: RowKey,
    /// The identity mode of every call with it.
    #[serde(default)]
    pub mode: Mode,
    pub expires_at: UnixMillis,
    /// Thumbprint of its DPoP key.
    #[serde(default)]
    pub jkt: Option<Digest>,
}

/// A DPoP key, valid for one AAP session (AAP 18.1). Agents of one operator that work on one task have separate keys
/// (AAP 12.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionKey {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub session: RowKey,
    pub jkt: Digest,
}

/// A receipt withdrawn by its operator, identified by its content; refused for ever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RevokedReceipt {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub sha256: Digest,
    pub at: UnixMillis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiKeyKind {
    Agent,
    Admin,
    EnforcementPoint,
    /// Provisions users through `/scim/v2`, and nothing else.
    Scim,
}

/// An API key of one kind, for one principal, with a responsible person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiKey {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: String,
    pub hash: Digest,
    pub kind: ApiKeyKind,
    pub principal: String,
    pub responsible: RowKey,
    /// Actions that it may request; empty for none.
    pub actions: Vec<String>,
    /// Subjects that it may ask; empty for the responsible person only.
    pub asks: Vec<String>,
    /// Thumbprint of its DPoP key.
    pub jkt: Option<String>,
    pub created_at: UnixMillis,
    pub revoked_at: Option<UnixMillis>,
    /// Suspended since a restore, until the service lifts it.
    #[serde(default)]
    pub suspended_at: Option<UnixMillis>,
}

impl ApiKey {
    pub fn is_live(&self) -> bool {
        self.revoked_at.is_none() && self.suspended_at.is_none()
    }

    /// The reason of its refusal, for the holder of its secret.
    pub fn refusal(&self) -> &'static str {
        match (self.revoked_at, self.suspended_at) {
            (None, Some(_)) => {
                "the API key is suspended since a restore; ask an administrator of the service to lift it"
            }
            _ => "the API key is unknown or was revoked",
        }
    }
}

/// The identity of the database, and its current restore. There is one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    pub key: RowKey,
    pub version: i64,
    /// The same for all copies of a database.
    pub database: String,
    /// Increases with every restore.
    pub number: i64,
    pub started_at: UnixMillis,
}

/// A signing key of the service. Shared by all projects (AAP 3.1), encrypted at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SigningKey {
    pub key: RowKey,
    pub version: i64,
    pub kid: String,
    pub public_jwk: serde_json::Value,
    pub sealed: String,
    pub created_at: UnixMillis,
    /// Set when a newer key replaces it; the public part stays published until then.
    pub retires_at: Option<UnixMillis>,
}

/// A secret shared by all nodes (MAC keys), encrypted at rest, created once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Secret {
    pub key: RowKey,
    pub version: i64,
    pub name: String,
    pub sealed: String,
}

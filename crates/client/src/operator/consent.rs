//! Asks people for consent. A receipt exists only after an approval of exactly the displayed proposal.

use super::{OperatorKeys, Receipt};
use crate::{
    delegation::Delegation,
    entropy::{self, NoRandomness},
    intent_type::is_intent_type,
    secret::ClientSecret,
};
use countersign_jose::SigningFailed;
use countersign_protocol::{
    aap::{
        consent_receipt::{ConsentMethod, ExecutionWindow, Intent, NewReceipt, ReceiptClaims, UsageLimits},
        manifest::{Manifest, ScopeEntry},
    },
    time::UnixMillis,
};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Proposes tasks to a person and issues receipts for the approved ones.
#[derive(Clone)]
pub struct ConsentDesk {
    operator: OperatorKeys,
    intents: Arc<dyn IntentStore>,
}

/// An agent's task. It has no default window: the duration of the consent is part of the question (AAP 12.2).
#[derive(Clone, Debug)]
pub struct Task {
    /// In the person's own words. They stay with the operator (AAP 12.4).
    pub text: String,
    pub scopes: Vec<String>,
    pub intent_type: Option<String>,
    pub window: ExecutionWindow,
    /// Default: [`USUAL_LIMITS`], since a receipt always has some (AAP 14.2). An empty block sets none.
    pub usage_limits: Option<UsageLimits>,
}

/// Enough for a task that a person can oversee, and low enough to notice a runaway one.
pub const USUAL_LIMITS: UsageLimits =
    UsageLimits { requests_per_hour: Some(60), writes_per_session: Some(10), max_data_egress_kb: Some(10_240) };

/// Why a task cannot be proposed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotProposable {
    #[error("the task has no description: describe it in words that the person can agree to")]
    NoText,
    #[error("the task names no scope: name those that it needs")]
    NoScopes,
    #[error("the service does not offer the scope {0:?}: use those of its discovery manifest")]
    UnknownScope(String),
    #[error("the person has not granted the scope {0:?}: have them connect the agent with it first")]
    BeyondDelegation(String),
    #[error("the delegation belongs to another service or another operator")]
    OtherDelegation,
    #[error("the window ends before it begins")]
    NoWindow,
    #[error("a limit of less than one allows nothing: leave it out, or raise it")]
    LimitOfNothing,
    #[error("an intent type is a word of the service's vocabulary such as SCHEDULE_EVENT, never a sentence")]
    NotAnIntentType,
}

impl ConsentDesk {
    pub fn new(operator: OperatorKeys, intents: Arc<dyn IntentStore>) -> Self {
        Self { operator, intents }
    }

    /// Builds the proposal. Its content can no longer be changed, only answered.
    pub fn propose(
        &self,
        manifest: &Manifest,
        delegation: &Delegation,
        mut task: Task,
    ) -> Result<Proposal, NotProposable> {
        if delegation.service() != manifest.service || delegation.operator() != self.operator.domain() {
            return Err(NotProposable::OtherDelegation);
        }
        if task.text.trim().is_empty() {
            return Err(NotProposable::NoText);
        }
        if !task.intent_type.as_deref().is_none_or(is_intent_type) {
            return Err(NotProposable::NotAnIntentType);
        }
        if task.window.latest <= task.window.earliest {
            return Err(NotProposable::NoWindow);
        }
        if limits(task.usage_limits.get_or_insert(USUAL_LIMITS)).iter().any(|(most, _)| *most < 1) {
            return Err(NotProposable::LimitOfNothing);
        }
        let scopes = shown_scopes(manifest, delegation, &task.scopes)?;
        Ok(Proposal {
            desk: self.clone(),
            service: manifest.service.clone(),
            delegation: delegation.clone(),
            scopes,
            task,
        })
    }
}

/// The limits that are set, with their units.
fn limits(limits: &UsageLimits) -> Vec<(i64, &'static str)> {
    let named = [
        (limits.requests_per_hour, "requests an hour"),
        (limits.writes_per_session, "changes"),
        (limits.max_data_egress_kb, "KB of answers"),
    ];
    named.into_iter().filter_map(|(most, what)| Some((most?, what))).collect()
}

/// The service's own description of each scope: an operator may narrow scopes, not reword them (AAP 12.3).
fn shown_scopes(
    manifest: &Manifest,
    delegation: &Delegation,
    asked: &[String],
) -> Result<Vec<ScopeEntry>, NotProposable> {
    if asked.is_empty() {
        return Err(NotProposable::NoScopes);
    }
    let shown = |id: &String| {
        let scope = manifest.scope(id).ok_or_else(|| NotProposable::UnknownScope(id.clone()))?;
        let granted = delegation.scopes().contains(id);
        if granted { Ok(scope.clone()) } else { Err(NotProposable::BeyondDelegation(id.clone())) }
    };
    asked.iter().map(shown).collect()
}

/// A proposal pending a person's answer. Its `Display` is the text they must be shown.
#[must_use = "a proposal has no effect until a person has answered it"]
pub struct Proposal {
    desk: ConsentDesk,
    service: String,
    delegation: Delegation,
    scopes: Vec<ScopeEntry>,
    task: Task,
}

/// Why an approval led to no receipt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotIssued {
    #[error("the window was over before the person answered: propose the task again")]
    WindowOver,
    #[error(transparent)]
    NotKept(#[from] NotKept),
    #[error(transparent)]
    Unsigned(#[from] SigningFailed),
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

impl Proposal {
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The scopes in the service's own words.
    pub fn scopes(&self) -> &[ScopeEntry] {
        &self.scopes
    }

    /// The person approved exactly this. Each approval is a new session (AAP 13.3).
    pub fn approve(self, now: UnixMillis) -> Result<Receipt, NotIssued> {
        if now > self.task.window.latest {
            return Err(NotIssued::WindowOver);
        }
        let (claims, salt) = (self.claims(now)?, entropy::random()?);
        let intent = Intent::salted(&salt, &self.task.text);
        let jwt = self.desk.operator.sign_receipt(&NewReceipt { claims: claims.clone(), intent })?;
        // Stored before the receipt is released: later nobody could reconstruct the agreed text.
        self.desk.intents.keep(KeptIntent {
            session_id: claims.session_id.clone(),
            delegation_id: claims.delegation_id.clone(),
            text: self.task.text,
            salt,
            scopes: claims.scopes.clone(),
            approved_at: now,
        })?;
        Ok(Receipt { jwt: ClientSecret::new(jwt), claims })
    }

    /// The person rejected it. Nothing of the proposal is kept.
    pub fn deny(self) {}

    fn claims(&self, now: UnixMillis) -> Result<ReceiptClaims, NoRandomness> {
        Ok(ReceiptClaims {
            iss: self.desk.operator.domain().clone(),
            aud: self.service.clone(),
            sub: self.delegation.subject().to_owned(),
            delegation_id: self.delegation.id().to_owned(),
            session_id: entropy::session_id()?,
            intent_type: self.task.intent_type.clone(),
            scopes: self.scopes.iter().map(|scope| scope.id.clone()).collect(),
            consent_method: ConsentMethod::ExplicitUi,
            usage_limits: self.task.usage_limits,
            execution_window: Some(self.task.window),
            iat: now.secs(),
            exp: self.task.window.latest.secs(),
            heartbeat_interval: None,
        })
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} asks to act for you at {}:", self.desk.operator.domain(), self.service)?;
        writeln!(f, "  {}", self.task.text)?;
        for scope in &self.scopes {
            let lasting = if scope.irreversible { " (cannot be undone)" } else { "" };
            writeln!(f, "  {}: {}{lasting}", scope.id, scope.description)?;
        }
        for (most, what) in self.task.usage_limits.iter().flat_map(limits) {
            writeln!(f, "  {what}: no more than {most}")?;
        }
        let ExecutionWindow { earliest, latest } = self.task.window;
        write!(f, "  from {} until {}", earliest.to_rfc3339(), latest.to_rfc3339())
    }
}

impl fmt::Debug for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proposal").field("service", &self.service).finish_non_exhaustive()
    }
}

/// The store of the person's words: on the operator's side only (AAP 12.4, C-14).
pub trait IntentStore: Send + Sync {
    fn keep(&self, intent: KeptIntent) -> Result<(), NotKept>;
}

/// The person's words, and the salt that proves the receipt's hash of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptIntent {
    pub session_id: String,
    pub delegation_id: String,
    pub text: String,
    pub salt: [u8; 16],
    pub scopes: Vec<String>,
    pub approved_at: UnixMillis,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the person's words could not be kept, so there is no receipt: {0}")]
pub struct NotKept(pub String);

/// In memory, for demonstrations and tests.
impl IntentStore for Mutex<Vec<KeptIntent>> {
    fn keep(&self, intent: KeptIntent) -> Result<(), NotKept> {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(intent);
        Ok(())
    }
}

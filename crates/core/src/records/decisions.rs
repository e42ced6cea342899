//! The decision: one record of a question for every protocol.

use super::{OfGap, Role};
use countersign_protocol::{
    aaep::event::{Choice, ResponseKind, Reversibility, Risk, Summaries, YesNo},
    domain::Domain,
    hash::Digest,
    ids::RowKey,
    mplp::{Governance, MplpId, TargetType, TraceBase},
    question::QuestionFacts,
    request::RequestDetail,
    time::UnixMillis,
};
pub use countersign_protocol::{
    decisions::{Assurance, CancelledFor},
    request::TextAuthor,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One exactly defined question that an entitled person decides once, before a deadline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    /// `dec_` and 32 hex digits.
    pub id: String,
    /// The version of the project's document that set the terms.
    pub project_version: i64,
    pub raised_by: Raiser,
    /// The kind of enforcement point that raised it, and the only one that may claim it.
    pub point: Point,
    /// The AAEP session in which it is asked.
    pub asked_in: RowKey,
    /// The action digest.
    pub digest: Digest,
    /// Identifies equal questions (E-07); only one of them can be pending.
    pub same: Digest,
    /// The effect that runs once across all requests; from the route's effect key.
    #[serde(default)]
    pub effect: Option<Digest>,
    /// The action's name in the policy; empty if the agent named no tool.
    pub action: String,
    pub question: Question,
    pub words: TextAuthor,
    pub terms: DecisionTerms,
    /// The language of the question's text.
    pub language: String,
    /// The event of the question: a repetition has the same id and time (S1).
    pub event_id: String,
    pub asked_at: UnixMillis,
    /// When exactly the same call last ran; shown to the approver.
    #[serde(default)]
    pub last_ran_at: Option<UnixMillis>,
    /// SHA-256 of the reply token, which is a MAC of `id` and never stored.
    pub reply_hash: Digest,
    /// The policy that set the terms; if the policy has changed at the claim, the approval is void.
    #[serde(default)]
    pub rules: Option<Digest>,
    /// The target of the approval, if it is more than one action (MPLP 2.3).
    #[serde(default)]
    pub target: Option<DecisionTarget>,
    /// While locked, it accepts no decision (M-27).
    #[serde(default)]
    pub governance: Option<Governance>,
    /// The gap that it asks a person about (W-31).
    #[serde(default)]
    pub gap: Option<OfGap>,
    /// The scopes that an approval adds to the session of its requester. It permits no execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expansion: Option<Box<RequestedExpansion>>,
    pub state: DecisionState,
}

/// A request for scopes beyond a consent receipt, and within its delegation (AAP 12.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedExpansion {
    /// The content of the receipt that it expands.
    pub receipt: Digest,
    pub scopes: Vec<String>,
    /// The end of receipt or delegation.
    pub until: UnixMillis,
}

/// The target of an approval, with its requester's statements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionTarget {
    pub target_type: TargetType,
    pub target_id: MplpId,
    /// The row, if it is a plan of ours.
    #[serde(default)]
    pub plan: Option<RowKey>,
    pub requested_by_role: String,
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub trace: Option<TraceBase>,
}

/// The principal that asked. Only the same principal sees, waits for, claims or closes the decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raiser {
    /// The id of the delegation or the API key, as in the digest.
    pub principal: String,
    /// The person that the agent acts for, or that is responsible for the key.
    pub person: RowKey,
    pub delegation: Option<RowKey>,
    /// The AAP session.
    pub session: Option<RowKey>,
    pub api_key: Option<RowKey>,
    /// The verified domain of the agent's operator.
    pub operator: Option<Domain>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    AgentClaimed,
    Gateway,
    McpProxy,
}

/// The question. Plans and scope expansions are confirmations with a member of their own in the same row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Question {
    Confirmation(Confirmation),
    Clarification(Clarification),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    pub action: String,
    pub consequence: String,
    #[serde(flatten)]
    pub summaries: Summaries,
    /// The agent's own members.
    #[serde(default)]
    pub extra_context: Option<Map<String, Value>>,
    pub allowed_replies: Vec<YesNo>,
    /// The tool name announced before it runs.
    pub tool: String,
    /// Everything that runs, member by member; none in rows from before this was recorded.
    #[serde(default)]
    pub details: Option<Vec<RequestDetail>>,
    /// The hub's own statements about it. Rows from before they were typed have them in `extra_context`.
    #[serde(default)]
    pub facts: Box<QuestionFacts>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clarification {
    pub question: String,
    #[serde(flatten)]
    pub summaries: Summaries,
    /// Never empty: free text if the agent named none (S7).
    pub kinds: Vec<ResponseKind>,
    #[serde(default)]
    pub choices: Vec<Choice>,
    #[serde(default)]
    pub context: Option<String>,
    #[serde(default)]
    pub default_response: Option<String>,
}

/// Approvers, assurance and deadline: the project's policy, which a caller can only tighten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionTerms {
    pub risk: Risk,
    pub irreversible: bool,
    pub reversibility: Option<Reversibility>,
    pub default: YesNo,
    pub timeout_s: i64,
    /// The limit of all extensions.
    pub latest: UnixMillis,
    pub approvers: Approvers,
    /// Further groups whose answer is required, if several policies apply to one question.
    #[serde(default)]
    pub also: Vec<Approvers>,
    /// The least assurance of a valid answer.
    pub floor: Assurance,
    /// Whether a subscriber token that may approve high-risk irreversible actions suffices too.
    #[serde(default)]
    pub high_risk_tokens: bool,
    /// The lifetime of an approval.
    pub allowance_s: i64,
    pub lease_s: i64,
}

/// The people entitled to answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approvers {
    pub people: Vec<RowKey>,
    pub roles: Vec<Role>,
    /// Whether the person that the agent acts for may approve; that person may always reject.
    pub own_yes: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum DecisionState {
    Pending {
        deadline: UnixMillis,
        /// When maintenance next has to act on it.
        due: UnixMillis,
        /// Approvals so far, if more than one is needed.
        ballots: Vec<Ballot>,
    },
    Accepted {
        by: Ballot,
        #[serde(default)]
        rationale: Option<String>,
    },
    Rejected {
        by: Ballot,
        rationale: Option<String>,
        /// The person's alternative: a proposal for a new question.
        proposal: Option<Value>,
    },
    Answered {
        by: Ballot,
        response: Value,
        confidence: Option<f64>,
    },
    /// Nobody answered in time. Never stored or reported as rejected.
    Expired {
        at: UnixMillis,
        as_if: Defaulted,
    },
    Cancelled {
        at: UnixMillis,
        why: CancelledFor,
        /// The person that cancelled it, if a person did.
        #[serde(default)]
        by: Option<Ballot>,
        #[serde(default)]
        reason: Option<String>,
    },
}

/// The default applied to an unanswered question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Defaulted {
    Accept,
    Reject,
    Response { response: String },
    Unavailable,
}

/// One valid answer with its person, time and authentication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ballot {
    pub person: RowKey,
    pub subject: String,
    pub assurance: Assurance,
    /// By the store's clock.
    pub at: UnixMillis,
    /// The decision time stated by the person.
    pub claimed_at: UnixMillis,
    /// The sender's statement about the decider: unverified, kept beside the person and never instead.
    pub decided_by: Option<String>,
    pub correlation_id: Option<String>,
    pub via: Via,
    /// The label of the role under which the person decided (M-06).
    #[serde(default)]
    pub role: Option<String>,
    /// Decided despite a lock, with the entitlement to override it (M-27).
    #[serde(default)]
    pub by_override: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Via {
    Subscription { id: String },
    Page,
    Api,
}

impl Via {
    /// The channel's name in the evidence.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Subscription { .. } => "subscription",
            Self::Page => "page",
            Self::Api => "api",
        }
    }
}

/// A complete request pending approval, encrypted under the project's key. It has the key of its decision and is
/// deleted with the settlement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldRequest {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub sealed: String,
}

impl Decision {
    pub fn is_pending(&self) -> bool {
        matches!(self.state, DecisionState::Pending { .. })
    }

    /// The index key of a pending question visible to this person only.
    pub fn asks_person(person: RowKey) -> String {
        format!("person:{person}")
    }

    /// The index key of a pending question visible to several people.
    pub const ASKS_SEVERAL: &'static str = "several";

    /// The index key of the question while it is pending.
    pub fn asks(&self) -> Option<String> {
        let own = self.raised_by.person;
        let only_own = |who: &Approvers| who.roles.is_empty() && who.people.iter().all(|person| *person == own);
        let alone = self.terms.all_approvers().all(only_own);
        let found = if alone { Self::asks_person(own) } else { Self::ASKS_SEVERAL.into() };
        self.is_pending().then_some(found)
    }

    /// When it was settled; none while it is pending.
    pub fn settled_at(&self) -> Option<UnixMillis> {
        match &self.state {
            DecisionState::Pending { .. } => None,
            DecisionState::Accepted { by, .. }
            | DecisionState::Rejected { by, .. }
            | DecisionState::Answered { by, .. } => Some(by.at),
            DecisionState::Expired { at, .. } | DecisionState::Cancelled { at, .. } => Some(*at),
        }
    }

    /// When a person approved it.
    pub fn approved_at(&self) -> Option<UnixMillis> {
        match &self.state {
            DecisionState::Accepted { by, .. } => Some(by.at),
            _ => None,
        }
    }

    /// When maintenance next has to act on it.
    pub fn due(&self) -> Option<UnixMillis> {
        match self.state {
            DecisionState::Pending { due, .. } => Some(due),
            _ => None,
        }
    }
}

impl Decision {
    pub fn is_locked(&self) -> bool {
        self.governance.as_ref().is_some_and(|governance| governance.locked == Some(true))
    }

    /// The plan that it concerns.
    pub fn plan(&self) -> Option<RowKey> {
        self.target.as_ref().and_then(|target| target.plan)
    }
}

impl DecisionTerms {
    /// A decider must be entitled by each of these.
    pub fn all_approvers(&self) -> impl Iterator<Item = &Approvers> {
        std::iter::once(&self.approvers).chain(&self.also)
    }
}

impl Raiser {
    /// The holder of a standing approval: the AAP session, or the API key without one.
    pub fn holder(&self) -> RowKey {
        self.session.or(self.api_key).unwrap_or_default()
    }
}

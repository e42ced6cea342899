//! A decision, what it allows, and each use of that: three rows, whatever the protocol that asked.

use super::{OfGap, Role};
use crate::bounded::{Pattern, Taken, Tally};
use countersign_protocol::{
    aaep::event::{Choice, ResponseKind, Reversibility, Risk, Summaries, YesNo},
    domain::Domain,
    hash::Digest,
    ids::RowKey,
    mplp::{Governance, MplpId, TargetType, TraceBase},
    request::RequestDetail,
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One exactly defined thing that somebody entitled decides once, before a deadline.
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
    /// The kind of enforcement point that raised it, and the only one that may redeem it.
    pub point: Point,
    /// The AAEP session that it is asked in.
    pub asked_in: RowKey,
    /// The action digest.
    pub digest: Digest,
    /// What makes two questions the same one (E-07); only one of them can be pending.
    pub same: Digest,
    /// The effect that runs once, whatever carries it; from the route's effect key.
    #[serde(default)]
    pub effect: Option<Digest>,
    /// The name that policy knows the action by; empty if the agent named no tool.
    pub action: String,
    pub question: Question,
    pub words: Words,
    pub terms: Terms,
    /// The language of the question's text.
    pub language: String,
    /// The event that asked it: sent again, it has the same id and time (S1).
    pub event_id: String,
    pub asked_at: UnixMillis,
    /// When exactly the same last ran: people are told.
    #[serde(default)]
    pub last_ran_at: Option<UnixMillis>,
    /// SHA-256 of the reply token, which is a MAC of `id` and is stored nowhere.
    pub reply_hash: Digest,
    /// The policy that set the terms; where it is another when the yes is to be spent, the yes is gone.
    #[serde(default)]
    pub rules: Option<Digest>,
    /// What it approves, where that is more than one action (MPLP 2.3).
    #[serde(default)]
    pub target: Option<Target>,
    /// While it is locked it takes no decision (M-27).
    #[serde(default)]
    pub governance: Option<Governance>,
    /// The gap that it asks a person about (W-31).
    #[serde(default)]
    pub gap: Option<OfGap>,
    pub state: DecisionState,
}

/// The resource that an approval is about, and what its requester said about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
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

/// Whose agent asked. Only the same principal sees, waits for, claims or closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raiser {
    /// The delegation's or the API key's id, as it stands in the digest.
    pub principal: String,
    /// The person for whom the agent acts, or who answers for the key.
    pub person: RowKey,
    pub delegation: Option<RowKey>,
    /// The AAP session.
    pub session: Option<RowKey>,
    pub api_key: Option<RowKey>,
    /// The proven domain of the agent's operator.
    pub operator: Option<Domain>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    AgentClaimed,
    Gateway,
    McpProxy,
}

/// Whose words a person reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Words {
    /// The agent's own: nobody has checked them.
    Agent,
    /// Rendered from the request by the owner's template.
    Owner,
}

/// What is asked. Plans, gaps and scope expansions are further kinds of the same row.
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
    #[serde(default)]
    pub extra_context: Option<Map<String, Value>>,
    pub allowed_replies: Vec<YesNo>,
    /// What is announced before it runs.
    pub tool: String,
    /// Everything that runs, member by member; nothing where it was asked before that was recorded.
    #[serde(default)]
    pub details: Option<Vec<RequestDetail>>,
    /// What the hub itself has to say about it, in sentences.
    #[serde(default)]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clarification {
    pub question: String,
    #[serde(flatten)]
    pub summaries: Summaries,
    /// Never empty: free text where the agent named none (S7).
    pub kinds: Vec<ResponseKind>,
    #[serde(default)]
    pub choices: Vec<Choice>,
    #[serde(default)]
    pub context: Option<String>,
    #[serde(default)]
    pub default_response: Option<String>,
}

/// Who decides, how surely, until when: the project's policy, tightened by the caller at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    pub risk: Risk,
    pub irreversible: bool,
    pub reversibility: Option<Reversibility>,
    pub default: YesNo,
    pub timeout_s: i64,
    /// No extension goes beyond this.
    pub latest: UnixMillis,
    pub approvers: Approvers,
    /// Those whose answer must count as well, where several policies meet in one question.
    #[serde(default)]
    pub also: Vec<Approvers>,
    /// The least assurance of an answer that counts.
    pub floor: Assurance,
    /// Whether a subscriber token that may approve high-risk irreversible actions counts as well.
    #[serde(default)]
    pub high_risk_tokens: bool,
    /// How long a yes may be spent.
    pub allowance_s: i64,
    pub lease_s: i64,
}

/// Whose answer counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approvers {
    pub people: Vec<RowKey>,
    pub roles: Vec<Role>,
    /// Whether the yes of the person for whom the agent acts counts; that person's no always does.
    pub own_yes: bool,
}

/// How an answer was proven, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// A same-user socket: reads, and never answers by itself.
    Local,
    Token,
    Session,
    /// Proven again within five minutes.
    Fresh,
    Passkey,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum DecisionState {
    Pending {
        deadline: UnixMillis,
        /// The next moment at which something is to be said or done about it.
        due: UnixMillis,
        /// Yeses so far, where more than one is needed.
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
        /// What the person would have agreed to instead: a proposal for a question of its own.
        proposal: Option<Value>,
    },
    Answered {
        by: Ballot,
        response: Value,
        confidence: Option<f64>,
    },
    /// Nobody answered in time. Never written or told as rejected.
    Expired {
        at: UnixMillis,
        as_if: Defaulted,
    },
    Cancelled {
        at: UnixMillis,
        why: CancelledFor,
        /// Who called it off, where a person did.
        #[serde(default)]
        by: Option<Ballot>,
        #[serde(default)]
        reason: Option<String>,
    },
}

/// What a question that nobody answered came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Defaulted {
    Accept,
    Reject,
    Response { response: String },
    Unavailable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelledFor {
    /// Its raiser does not want it any more.
    Withdrawn,
    SessionOver,
    Revoked,
    /// A person took it back.
    TakenBack,
    /// Another decision let the same effect happen.
    Superseded,
    /// The database was brought back from before, so nobody knows whether it was answered or used since.
    Restored,
}

/// One answer that counted: whose, when, and how it was proven.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ballot {
    pub person: RowKey,
    pub subject: String,
    pub assurance: Assurance,
    /// By the store's clock.
    pub at: UnixMillis,
    /// When the person says that they decided.
    pub claimed_at: UnixMillis,
    /// What the sender says about who decided: a claim, kept beside the person and never instead.
    pub decided_by: Option<String>,
    pub correlation_id: Option<String>,
    pub via: Via,
    /// The label of the role under which the person decided (M-06).
    #[serde(default)]
    pub role: Option<String>,
    /// Taken although it was locked, by whoever may override that (M-27).
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

/// A request that waits for a yes, complete, sealed under the project's key. It has the key of its decision and
/// is gone with the settlement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldRequest {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub sealed: String,
}

/// What may now run: so many uses of one digest, or of a pattern. A yes to one action is one use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allowance {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub decision: RowKey,
    pub raised_by: Raiser,
    pub point: Point,
    /// The one request that was shown; none for a step of a plan.
    pub digest: Option<Digest>,
    /// What else may run: every argument as shown, except those that were released by name, each within its bound.
    #[serde(default)]
    pub pattern: Option<Pattern>,
    #[serde(flatten)]
    pub tally: Tally,
    pub until: UnixMillis,
    /// The policy under which it was asked for.
    #[serde(default)]
    pub rules: Option<Digest>,
    pub lease_s: i64,
    /// Whose yes it is; nobody's where a default gave it.
    #[serde(default)]
    pub decided_by: Option<RowKey>,
    /// The step of a plan that it lets run.
    #[serde(default)]
    pub step: Option<OfPlan>,
    pub state: AllowanceState,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfPlan {
    pub plan: RowKey,
    pub step: MplpId,
    pub tool: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum AllowanceState {
    Open,
    Spent,
    Lapsed { at: UnixMillis },
    Cancelled { at: UnixMillis, why: CancelledFor },
}

/// One use of an allowance, durable before anything runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    pub key: RowKey,
    pub version: i64,
    pub project: RowKey,
    pub id: String,
    pub decision: RowKey,
    pub allowance: RowKey,
    pub raised_by: Raiser,
    /// Where it was claimed, and may be reported.
    pub point: Point,
    /// Of exactly what runs, which a pattern may have let through.
    pub digest: Digest,
    #[serde(default)]
    pub effect: Option<Digest>,
    /// What it takes of the sums of its allowance.
    #[serde(default)]
    pub taken: Vec<Taken>,
    #[serde(default)]
    pub step: Option<OfPlan>,
    pub lease_s: i64,
    /// The lane of the node that claimed it.
    pub node: i64,
    pub claimed_at: UnixMillis,
    /// `call_…`: names the tool call in the session's events.
    pub call_id: String,
    pub state: ExecutionState,
    /// What was seen later and contradicts what a person found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<OutcomeConflict>,
}

/// A later fact beside a reconciliation. Neither replaces the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeConflict {
    pub at: UnixMillis,
    /// Whether the enforcement point saw that it ran.
    pub ran: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ExecutionState {
    Claimed {
        lease_until: UnixMillis,
    },
    Committed {
        at: UnixMillis,
        by: Reporter,
    },
    Failed {
        at: UnixMillis,
        by: Reporter,
        why: Option<String>,
    },
    /// Handed on, and the effect was not observed.
    Released {
        at: UnixMillis,
    },
    /// The lease lapsed: nobody knows whether it ran. A person looks.
    Unknown {
        since: UnixMillis,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Reporter {
    Claimant,
    /// A person found out what became of it.
    Person {
        person: RowKey,
        reason: String,
    },
}

impl Decision {
    pub fn is_pending(&self) -> bool {
        matches!(self.state, DecisionState::Pending { .. })
    }

    /// Under what a question that concerns this person alone is found while it is open.
    pub fn asks_person(person: RowKey) -> String {
        format!("person:{person}")
    }

    /// Under what one is found that several may see.
    pub const ASKS_SEVERAL: &'static str = "several";

    /// Under what it is found by those who may see it, while it is open.
    pub fn asks(&self) -> Option<String> {
        let own = self.raised_by.person;
        let only_own = |who: &Approvers| who.roles.is_empty() && who.people.iter().all(|person| *person == own);
        let alone = self.terms.all_approvers().all(only_own);
        let found = if alone { Self::asks_person(own) } else { Self::ASKS_SEVERAL.into() };
        self.is_pending().then_some(found)
    }

    /// When something is to be said or done about it next.
    /// When a person approved it.
    pub fn approved_at(&self) -> Option<UnixMillis> {
        match &self.state {
            DecisionState::Accepted { by, .. } => Some(by.at),
            _ => None,
        }
    }

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

    /// The plan that it is about.
    pub fn plan(&self) -> Option<RowKey> {
        self.target.as_ref().and_then(|target| target.plan)
    }
}

impl Terms {
    /// Whoever decides must count for each of these.
    pub fn all_approvers(&self) -> impl Iterator<Item = &Approvers> {
        std::iter::once(&self.approvers).chain(&self.also)
    }
}

impl Raiser {
    /// Whose calls a bounded yes covers: those of the session, or of the API key that has none.
    pub fn holder(&self) -> RowKey {
        self.session.or(self.api_key).unwrap_or_default()
    }
}

impl Allowance {
    pub fn is_open(&self) -> bool {
        self.state == AllowanceState::Open
    }

    /// More than a yes to one request: it is listed, and matched against calls.
    pub fn is_bounded(&self) -> bool {
        self.pattern.is_some()
    }
}

impl Execution {
    /// Whether the same digest must wait for this one.
    pub fn is_under_way(&self) -> bool {
        matches!(self.state, ExecutionState::Claimed { .. } | ExecutionState::Unknown { .. })
    }

    /// How long the claim counts unless it is renewed; none once it has ended.
    pub fn lease_until(&self) -> Option<UnixMillis> {
        match self.state {
            ExecutionState::Claimed { lease_until } => Some(lease_until),
            _ => None,
        }
    }
}

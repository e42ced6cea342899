//! Answering a question. The first valid answer settles it; later answers change nothing (AAEP 6.3.4, R-4, R-9).

use super::{
    ProjectRef, REJECTED,
    grant::{AskedFor, approved_extent, record_grant},
    rejections_key,
    settle::{ApprovedExtent, Settlement, permits_execution},
};
use crate::{
    aaep::texts::Notice,
    aap::{
        boundary::CallBoundary,
        scope_expansion::{self, Widening},
    },
    clarification::person::GapSeen,
    env::Env,
    evidence::DraftEntry,
    mplp::roles::Deciding,
    records::{
        AaepSession, Allowance, Approvers, Assurance, Ballot, Clarification, Decision, DecisionState, Plan, Question,
        Role, Via,
    },
    refusal::Refusal,
    step::{Count, Guard, Operation, Step},
};
use countersign_protocol::{
    aaep::event::{ResponseKind, YesNo},
    bounds::Bounds,
    ids::RowKey,
    mplp::MplpId,
    project::PlanPolicy,
    time::UnixMillis,
};
use serde_json::Value;

/// Tolerated clock skew of a subscriber behind the hub (E-03).
const SLOW_CLOCK_S: i64 = 300;

#[derive(Clone, Debug)]
pub struct Answer {
    pub by: ProvenPerson,
    pub given: AnswerContent,
    /// Time of the decision as claimed by the sender.
    pub claimed_at: UnixMillis,
    pub decided_by: Option<String>,
    pub correlation_id: Option<String>,
    pub extra: Extra,
}

/// Optional members of an approval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra {
    /// Limits of a standing approval: uses, expiry, amount.
    pub bounds: Option<Bounds>,
    /// Limits the approval to these steps of the plan.
    pub steps: Option<Vec<MplpId>>,
    /// Overrides the lock of a locked approval (M-27).
    pub by_override: bool,
    /// The role claimed for this decision.
    pub as_role: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AnswerContent {
    Reply { decision: YesNo, rationale: Option<String>, modified_action: Option<Value> },
    Response { response: Value, confidence: Option<f64> },
}

/// An authenticated person, as proven by the transport.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvenPerson {
    pub person: RowKey,
    pub subject: String,
    pub roles: Vec<Role>,
    pub assurance: Assurance,
    /// Their last proof of presence; none for a token.
    pub presence: Option<Presence>,
    /// The project roles under which the person decides (M-06).
    pub deciding: Deciding,
    /// False for a read-only subscription or token.
    pub may_answer: bool,
    /// True for a subscriber token with its person's permission to approve high-risk irreversible actions.
    pub approves_high_risk: bool,
    pub via: Via,
    /// Rows behind this authentication. They must be unchanged at commit.
    pub guards: Vec<Guard>,
}

/// A person's proof of presence, from which an assurance follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    pub at: UnixMillis,
    /// `password`, or `identity_provider`.
    pub by: &'static str,
}

impl ProvenPerson {
    /// Who decided, over which channel, and how surely: the person is hidden, all else can be checked without a name.
    pub(crate) fn record(&self, entry: DraftEntry) -> DraftEntry {
        let age_s = self.presence.map(|presence| entry.at().millis_since(presence.at).max(0) / 1000);
        entry
            .open("assurance", self.assurance.as_str())
            .open("via", self.via.name())
            .open_if("proven_by", self.presence.map(|presence| presence.by))
            .open_if("proven_seconds_before", age_s)
            .open_if("high_risk_token", self.approves_high_risk.then_some(true))
            .hidden("decided_by", self.subject.as_str())
    }

    /// The ballot of an act other than a reply, e.g. calling a question off.
    pub(super) fn ballot(&self, at: UnixMillis, by_override: bool) -> Ballot {
        Ballot {
            person: self.person,
            subject: self.subject.clone(),
            assurance: self.assurance,
            at,
            claimed_at: at,
            decided_by: None,
            correlation_id: None,
            via: self.via.clone(),
            role: Some(self.deciding.label().to_owned()),
            by_override,
        }
    }
}

pub struct AnswerView {
    pub place: ProjectRef,
    /// Pause after repeated rejections of one action.
    pub pause_s: i64,
    pub decision: Decision,
    pub session: AaepSession,
    /// The plan of a question about a plan.
    pub plan: Option<Plan>,
    /// The request under approval, while it is stored. The pattern of a standing approval is built from it.
    pub asked_for: Option<AskedFor>,
    /// Of a service account's call, for a standing approval of more such calls.
    pub boundary: Option<CallBoundary>,
    pub policy: PlanPolicy,
    /// The gap that this answer resolves (W-31).
    pub gap: Option<GapSeen>,
    /// The session that an approval of further scopes expands.
    pub widening: Option<Widening>,
}

/// Reasons to ignore an answer. The AAEP wire does not distinguish them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCounted {
    #[error("there is no such question")]
    Unknown,
    #[error("the question is settled already")]
    Settled,
    #[error("the time to answer is over")]
    TooLate,
    #[error("the answer says that it is older than the question")]
    TooEarly,
    #[error("the answer was given by software, and a person must give it")]
    BySoftware,
    #[error("this person may not decide this")]
    NotEntitled,
    #[error("this needs an answer proven by at least {}", .0.as_str())]
    TooWeak(Assurance),
    #[error(
        "this cannot be undone and its risk is high: sign in to answer, or use a subscriber token that its person \
         allowed to approve such actions"
    )]
    TokenNotAllowed,
    #[error("this question does not accept that answer")]
    NotAllowed,
    #[error("the answering subscriber did not show the complete call: approve it on its page")]
    NotShown,
    #[error("the approval is locked: only a person who may override the lock can decide")]
    Locked,
    #[error("{0}")]
    OutOfBounds(String),
    #[error("{0}")]
    Refused(Refusal),
}

impl From<Refusal> for NotCounted {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<countersign_protocol::canonical::NotCanonical> for NotCounted {
    fn from(why: countersign_protocol::canonical::NotCanonical) -> Self {
        Self::Refused(why.into())
    }
}

#[derive(Clone, Debug)]
pub struct CountedAnswer {
    pub decision: Decision,
    pub allowances: Vec<Allowance>,
}

impl Operation for Answer {
    type View = AnswerView;
    type Answer = CountedAnswer;
    type Refusal = NotCounted;

    /// Checks in the order of AAEP 6.3.4. Its first check, the message's shape, precedes the lookup.
    fn decide(self, view: &AnswerView, env: &Env) -> Result<Step<CountedAnswer>, NotCounted> {
        let decision = &view.decision;
        let DecisionState::Pending { deadline, .. } = decision.state else { return Err(NotCounted::Settled) };
        self.check_time(decision, deadline, env.now)?;
        self.check_entitlement(decision)?;
        self.check_allowed(&decision.question)?;
        self.check_shown(decision)?;
        self.check_plan_value(view, env)?;
        let granted = if self.is_approval() { approved_extent(&self.extra, view)? } else { ApprovedExtent::default() };
        let role = self.role(decision)?;
        let state = self.settled(decision, env.now, &role);
        let settled = Decision { state, version: decision.version + 1, ..decision.clone() };
        let rejected = matches!(settled.state, DecisionState::Rejected { .. });
        let mut mint = env.mint();
        let record = |entry: DraftEntry| record_grant(self.record(entry, &settled, &role), &granted);
        let settlement = Settlement {
            notice: notice(&settled),
            decision: settled.clone(),
            granted: granted.clone(),
            plan: view.plan.as_ref(),
        };
        let (mut effects, allowances) = settlement.effects(&view.place, &view.session, record, env, &mut mint)?;
        if let (Some(gap), AnswerContent::Response { response, .. }) = (&view.gap, &self.given) {
            gap.answered(&view.place, &settled, response, env, &mut mint, &mut effects)?;
        }
        if let (Some(asked), DecisionState::Accepted { .. }) = (&settled.expansion, &settled.state) {
            let widening = view.widening.as_ref().ok_or(Refusal::Internal)?;
            effects = effects.and(scope_expansion::widen(widening, &settled, asked, env)?);
        }
        // The store's clock at commit decides, not `env.now`.
        effects.before = Some(deadline);
        effects.guards.extend(self.by.guards.iter().copied());
        if rejected {
            let key = rejections_key(&settled.raised_by, view.place.0, &settled);
            effects.counts.push(Count {
                name: REJECTED,
                key,
                by: 1,
                limit: i64::MAX,
                until: env.now.plus_secs(view.pause_s),
            });
        }
        Ok(Step { answer: CountedAnswer { decision: settled, allowances }, effects })
    }
}

impl Answer {
    /// Events from before details were recorded omit part of the request: they allow a rejection but no approval.
    fn check_shown(&self, decision: &Decision) -> Result<(), NotCounted> {
        let Question::Confirmation(asked) = &decision.question else { return Ok(()) };
        let over_the_wire = matches!(self.by.via, Via::Subscription { .. });
        let runs_something = !decision.action.is_empty() || decision.target.is_some();
        let unseen = over_the_wire && asked.details.is_none() && runs_something && self.is_approval();
        if unseen { Err(NotCounted::NotShown) } else { Ok(()) }
    }

    fn check_time(&self, decision: &Decision, deadline: UnixMillis, now: UnixMillis) -> Result<(), NotCounted> {
        if now >= deadline || self.claimed_at >= deadline {
            return Err(NotCounted::TooLate);
        }
        if self.claimed_at < decision.asked_at.plus_secs(-SLOW_CLOCK_S) {
            return Err(NotCounted::TooEarly);
        }
        Ok(())
    }

    fn check_entitlement(&self, decision: &Decision) -> Result<(), NotCounted> {
        let by_software = |who: &String| who.starts_with("auto:") || who.starts_with("system:");
        if self.decided_by.as_ref().is_some_and(by_software) {
            return Err(NotCounted::BySoftware);
        }
        if !is_entitled(decision, &self.by, self.is_approval()) {
            return Err(NotCounted::NotEntitled);
        }
        if decision.is_locked() && !(self.extra.by_override && self.by.deciding.overrides()) {
            return Err(NotCounted::Locked);
        }
        let (terms, by) = (&decision.terms, &self.by);
        let floor = match self.is_own_rejection(decision) {
            true => Assurance::Token,
            false => terms.floor_for(by.approves_high_risk),
        };
        match by.assurance < floor {
            true if terms.high_risk_tokens && by.assurance == Assurance::Token => Err(NotCounted::TokenNotAllowed),
            true => Err(NotCounted::TooWeak(floor)),
            false => Ok(()),
        }
    }

    /// A rejection by the person the agent acts for. It is exempt from the assurance floor.
    fn is_own_rejection(&self, decision: &Decision) -> bool {
        self.by.person == decision.raised_by.person
            && matches!(self.given, AnswerContent::Reply { .. })
            && !self.is_approval()
    }

    /// The role recorded with the answer. A claimed role must be one of the person's own.
    fn role(&self, decision: &Decision) -> Result<String, NotCounted> {
        if matches!(decision.question, Question::Clarification(_)) {
            return Ok(self.by.deciding.label().to_owned());
        }
        let said = self.extra.as_role.as_deref();
        self.by.deciding.approving_role(said).map(str::to_owned).ok_or(NotCounted::NotEntitled)
    }

    fn is_approval(&self) -> bool {
        matches!(&self.given, AnswerContent::Reply { decision: YesNo::Accept, modified_action: None, .. })
            || matches!(self.given, AnswerContent::Response { .. })
    }

    fn check_allowed(&self, question: &Question) -> Result<(), NotCounted> {
        let fits = match (question, &self.given) {
            (Question::Confirmation(asked), AnswerContent::Reply { decision, modified_action, .. }) => {
                // A modified action counts as a rejection, under either label (AAEP 6.3.2).
                let effectively = if modified_action.is_some() { YesNo::Reject } else { *decision };
                asked.allowed_replies.contains(decision) && asked.allowed_replies.contains(&effectively)
            }
            (Question::Clarification(asked), AnswerContent::Response { response, .. }) => {
                accepts_response(asked, response)
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(NotCounted::NotAllowed) }
    }

    /// The answer to a gap becomes part of a plan, so it must be valid there.
    fn check_plan_value(&self, view: &AnswerView, env: &Env) -> Result<(), NotCounted> {
        match (&view.gap, &self.given) {
            (Some(gap), AnswerContent::Response { response, .. }) => {
                gap.accepted(response, env).map(drop).map_err(NotCounted::OutOfBounds)
            }
            _ => Ok(()),
        }
    }

    fn settled(&self, decision: &Decision, now: UnixMillis, role: &str) -> DecisionState {
        // Record an override only if there was a lock.
        let by = self.ballot(now, role, self.extra.by_override && decision.is_locked());
        match &self.given {
            AnswerContent::Reply { decision: YesNo::Accept, modified_action: None, rationale } => {
                DecisionState::Accepted { by, rationale: rationale.clone() }
            }
            AnswerContent::Reply { rationale, modified_action, .. } => {
                DecisionState::Rejected { by, rationale: rationale.clone(), proposal: modified_action.clone() }
            }
            AnswerContent::Response { response, confidence } => {
                DecisionState::Answered { by, response: response.clone(), confidence: *confidence }
            }
        }
    }

    fn ballot(&self, at: UnixMillis, role: &str, by_override: bool) -> Ballot {
        Ballot {
            person: self.by.person,
            subject: self.by.subject.clone(),
            assurance: self.by.assurance,
            at,
            claimed_at: self.claimed_at,
            decided_by: self.decided_by.clone(),
            correlation_id: self.correlation_id.clone(),
            via: self.by.via.clone(),
            role: Some(role.to_owned()),
            by_override,
        }
    }

    /// Records the authenticated person; the sender's own `decided_by` is recorded separately as a claim.
    fn record(&self, entry: DraftEntry, settled: &Decision, role: &str) -> DraftEntry {
        let (reason, response, confidence) = match &self.given {
            AnswerContent::Reply { rationale, .. } => (rationale.clone(), None, None),
            AnswerContent::Response { response, confidence } => (None, Some(response.clone()), *confidence),
        };
        self.by
            .record(entry)
            .open("state", super::settle::settled_as(settled))
            .open("allows", permits_execution(settled))
            .open("role", role)
            .open_if("override", (self.extra.by_override && settled.is_locked()).then_some(true))
            .hidden_if("claimed_decided_by", self.decided_by.clone())
            .hidden("claimed_at", self.claimed_at.to_rfc3339())
            .hidden_if("reason", reason)
            .hidden_if("response", response)
            .open_if("confidence", confidence)
            .hidden_if("correlation_id", self.correlation_id.clone())
    }
}

/// Whether this person's approval or rejection would count: by policy, and by an approving role (M-06). The person the
/// agent acts for can always reject.
pub(super) fn is_entitled(decision: &Decision, by: &ProvenPerson, yes: bool) -> bool {
    let own_rejection = by.person == decision.raised_by.person && !yes;
    let is_clarification = matches!(decision.question, Question::Clarification(_));
    let by_role = is_clarification || own_rejection || by.deciding.approves();
    by.may_answer && by_role && is_entitled_by_policy(decision, by.person, &by.roles, yes)
}

/// Whether an approval (`yes`) or rejection by this person counts. The person the agent acts for can always reject;
/// the policy decides whether their approval counts.
pub fn is_entitled_by_policy(decision: &Decision, person: RowKey, roles: &[Role], yes: bool) -> bool {
    decision
        .terms
        .all_approvers()
        .all(|approvers| is_entitled_by(approvers, decision.raised_by.person, (person, roles), yes))
}

fn is_entitled_by(approvers: &Approvers, own: RowKey, (person, roles): (RowKey, &[Role]), yes: bool) -> bool {
    let named = approvers.people.contains(&person) || approvers.roles.iter().any(|role| roles.contains(role));
    match (person == own, yes) {
        (true, true) => approvers.own_yes,
        (true, false) => true,
        (false, _) => named,
    }
}

fn notice(settled: &Decision) -> Notice {
    match settled.state {
        DecisionState::Accepted { .. } if settled.expansion.is_some() => Notice::ScopesApproved,
        DecisionState::Rejected { .. } if settled.expansion.is_some() => Notice::ScopesDenied,
        DecisionState::Accepted { .. } => Notice::Accepted,
        DecisionState::Answered { .. } => Notice::Answered,
        _ => Notice::Rejected,
    }
}

/// Whether the response has one of the kinds accepted by the question (AAEP 6.5.2).
pub fn accepts_response(asked: &Clarification, response: &Value) -> bool {
    asked.kinds.iter().any(|kind| match (kind, response) {
        (ResponseKind::Freetext, Value::String(text)) => !text.is_empty(),
        (ResponseKind::YesNo, Value::Bool(_)) | (ResponseKind::Numeric, Value::Number(_)) => true,
        (ResponseKind::MultipleChoice, Value::String(text)) => asked.choices.iter().any(|c| c.value == *text),
        _ => false,
    })
}

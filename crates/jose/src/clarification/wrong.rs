//! The first problem of a document, with its place and meaning.

use countersign_protocol::{canonical::NotCanonical, clarification::SignedType, mplp::BadDocument};

/// The error for an auditor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{flaw}", place, if place.is_empty() { "" } else { ": " })]
pub struct Wrong {
    /// Such as `record.chain[3].ask_signature`; empty for the document as a whole.
    pub place: String,
    pub flaw: Flaw,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("{0}")]
    Malformed(String),
    #[error("{found} {what}, where {limit} is the maximum")]
    TooMuch { what: &'static str, limit: usize, found: usize },
    #[error("the signed content has no canonical form: {0}")]
    NotCanonical(String),

    #[error(
        "this entry does not follow the one before it: an entry was removed, inserted or moved, or it is of another \
         session"
    )]
    NotLinked,
    #[error("this entry is not the one that was hashed: it was changed afterwards")]
    Changed,
    #[error("this is round {found}, but round {expected} is due")]
    WrongRound { expected: u64, found: u64 },
    #[error("time runs backwards: this is before {after}")]
    TimeRunsBack { after: String },
    #[error("the gap of this number was asked in other words before")]
    GapChanged,
    #[error("the gap of this number was asked about another plan: a number is never used again")]
    GapReused,
    #[error("the {} was not signed like this by the named key: it was changed afterwards, or signed by somebody \
             else", signed_thing(*.0))]
    BadSignature(SignedType),

    #[error("this is not the key that the agent signs with at this point, and nothing in the chain leads to it")]
    AnotherKey,
    #[error("this key was replaced at {since} and counts for 24 hours from then, no longer")]
    KeyRetired { since: String },
    #[error("this key is not registered for {agent_id}: somebody else signed in its name")]
    UnknownKey { agent_id: String },
    #[error("this is a published test key, so anyone may have signed with it")]
    PublishedTestKey,

    #[error("this belongs to another session")]
    AnotherSession,
    #[error("this was signed in the name of another agent")]
    AnotherAgent,
    #[error("it says {found}, but {expected} are there")]
    Miscounted { expected: u64, found: u64 },
    #[error("it says that every gap is resolved, but {gap_id} is open")]
    NotResolved { gap_id: String },
    #[error("it says that a gap is open, but none is")]
    NothingOpen,
    #[error("the status does not fit: it is needs_clarification exactly while a gap is open")]
    WrongStatus,
    #[error("this gap was resolved in round {round}, yet it is asked as an open one")]
    ResolvedAlready { round: u64 },
    #[error(
        "this answer cannot have settled the gap: it is blank, none of the only suggestions, or merely accepts a BLOCK"
    )]
    NoAnswer,
    #[error("a person must give this answer, and it was settled without one")]
    PersonOwes,
    #[error("a decision is attached to an answer that no person gave")]
    NoPerson,

    #[error("this differs from the record")]
    NotAsRecorded,
    #[error("the plan was changed: its digest is another one")]
    PlanChanged,
    #[error("this is not the plan that the chain says was asked about at this point")]
    AnotherPlan,
    #[error("{found} plans, but the chain refers to {expected}")]
    WrongPlans { expected: usize, found: usize },
    #[error("this value is neither in the submitted plan nor an accepted answer: it was assumed silently")]
    Assumed,
    #[error("this value of the submitted plan is missing in the accepted one, and no answer took its place")]
    Lost,
    #[error("the answer to {gap_id} is not in the accepted plan")]
    AnswerDropped { gap_id: String },

    #[error("the chain continues after the attested state: this is another chain, or another state of it")]
    AnotherChain,
    #[error("there is a plan although a gap is open")]
    PlanBeforeAnswers,
    #[error("the session was abandoned before this: nothing is asked, answered or accepted after that")]
    AfterAbandoned,
    #[error("the accepted plan and its attestation come together: one of them was taken away")]
    HalfAccepted,

    #[error("the chain was cut off: {kept} rounds were signed before, {found} are here")]
    Truncated { kept: u64, found: u64 },
    #[error("this is another chain than the one that was signed before")]
    Forked,
}

fn signed_thing(kind: SignedType) -> &'static str {
    match kind {
        SignedType::Message => "message",
        SignedType::Ask => "question",
        SignedType::Answer => "answer",
        SignedType::Chain => "chain",
        SignedType::Rotation => "change of keys",
        SignedType::Plan => "change of plan",
        SignedType::Abandonment => "abandonment",
        SignedType::Attestation => "attestation",
        SignedType::Handoff => "handoff",
    }
}

impl Wrong {
    pub(super) fn at(place: impl Into<String>, flaw: Flaw) -> Self {
        Self { place: place.into(), flaw }
    }

    pub(super) fn malformed(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self::at(place, Flaw::Malformed(why.into()))
    }

    /// The same error with the path seen from an enclosing document.
    pub(super) fn under(self, holder: &str) -> Self {
        let dot = if self.place.is_empty() || self.place.starts_with(['[', '/']) { "" } else { "." };
        Self { place: format!("{holder}{dot}{}", self.place), flaw: self.flaw }
    }
}

impl From<BadDocument> for Wrong {
    fn from(bad: BadDocument) -> Self {
        Self::malformed(bad.member, bad.why)
    }
}

impl From<NotCanonical> for Wrong {
    fn from(why: NotCanonical) -> Self {
        Self::at("", Flaw::NotCanonical(why.to_string()))
    }
}

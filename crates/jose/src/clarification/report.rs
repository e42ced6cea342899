//! Reports of verification, for people and for programs.

use super::{Signer, record::ProvenRecord, round::Exchanged};
use countersign_protocol::clarification::{Attestation, DigestText, Gap, GivenBy, Handoff, Message, Severity, Stamp};
use serde::Serialize;
use std::fmt;

/// The verified kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProvenKind {
    Message,
    Record,
    Attestation,
    Handoff,
    Audit,
}

/// Everything here is verified, except the owner of a key if `signer` says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChainReport {
    pub proven: ProvenKind,
    pub session_id: String,
    pub agent_id: String,
    pub signer: Signer,
    pub rounds: Vec<RoundReport>,
    /// Unanswered gaps, if the document lists them.
    pub open: Vec<OpenGap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_resolved: Option<bool>,
    /// The head of the chain and the time of its signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<DigestText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<Stamp>,
    /// When it was attested that everything is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attested_at: Option<Stamp>,
    /// When and by which party the session was abandoned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<(Stamp, GivenBy)>,
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenGap {
    pub gap_id: String,
    pub severity: Severity,
    pub field: String,
    pub question: String,
}

/// One question and its answer with its giver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoundReport {
    pub round: u64,
    pub gap_id: String,
    pub severity: Severity,
    pub field: String,
    pub question: String,
    pub asked_at: Stamp,
    pub answer: String,
    pub answered_at: Stamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_by: Option<GivenBy>,
    /// The signer of the answer: its giver if attested, else the asking agent.
    pub signed_by: String,
    pub attested: bool,
    /// For an attested answer: whether the key is registered for its signer.
    pub signer: Signer,
    pub resolved: bool,
}

pub(super) fn of_message(message: &Message, signer: Signer) -> ChainReport {
    let open = message.gaps.iter().map(open_gap).collect();
    let signed_at = Some(message.timestamp.clone());
    let about = (message.session_id.as_str(), message.agent_id.as_str());
    ChainReport { open, signed_at, ..empty(ProvenKind::Message, about, signer) }.with_warning()
}

pub(super) fn of_attestation(attestation: &Attestation, signer: Signer) -> ChainReport {
    let about = (attestation.session_id.as_str(), attestation.agent_id.as_str());
    let attested_at = Some(attestation.issued_at.clone());
    let head = Some(attestation.clarification.head);
    let mut report = ChainReport { attested_at, head, ..empty(ProvenKind::Attestation, about, signer) }.with_warning();
    report.warnings.push("the chain it refers to is not in it: prove it together with its record".into());
    report
}

pub(super) fn of_record(proven: &ProvenRecord<'_>) -> ChainReport {
    on_record(ProvenKind::Record, proven).with_warning()
}

pub(super) fn of_handoff(proven: &ProvenRecord<'_>, handoff: &Handoff) -> ChainReport {
    let mut report = on_record(ProvenKind::Handoff, proven).with_warning();
    if handoff.plan.is_none() {
        report.warnings.push("no plan is handed over: it was not confirmed yet".into());
    }
    report
}

pub(super) fn of_audit(proven: &ProvenRecord<'_>, message: &Message, attestation: Option<&Attestation>) -> ChainReport {
    let open = message.gaps.iter().map(open_gap).collect();
    let attested_at = attestation.map(|attestation| attestation.issued_at.clone());
    ChainReport { open, attested_at, ..on_record(ProvenKind::Audit, proven) }.with_warning()
}

fn on_record(what: ProvenKind, proven: &ProvenRecord<'_>) -> ChainReport {
    let (record, walk) = (&proven.record, &proven.walk);
    ChainReport {
        rounds: walk.rounds.iter().map(round).collect(),
        all_resolved: Some(record.all_resolved),
        head: Some(DigestText(walk.head)),
        signed_at: Some(record.signed_at.clone()),
        abandoned: walk.abandoned.clone(),
        ..empty(what, (record.session_id.as_str(), &record.agent_id), walk.keys.signer)
    }
}

fn empty(proven: ProvenKind, (session_id, agent_id): (&str, &str), signer: Signer) -> ChainReport {
    ChainReport {
        proven,
        session_id: session_id.to_owned(),
        agent_id: agent_id.to_owned(),
        signer,
        rounds: Vec::new(),
        open: Vec::new(),
        all_resolved: None,
        head: None,
        signed_at: None,
        attested_at: None,
        abandoned: None,
        warnings: Vec::new(),
    }
}

fn open_gap(gap: &Gap) -> OpenGap {
    let (gap_id, field, question) = (gap.id.clone(), gap.field.clone(), gap.question.clone());
    OpenGap { gap_id, severity: gap.severity, field, question }
}

fn round(exchanged: &Exchanged<'_>) -> RoundReport {
    let round = &exchanged.round;
    RoundReport {
        round: round.round,
        gap_id: round.gap.id.clone(),
        severity: round.gap.severity,
        field: round.gap.field.clone(),
        question: round.gap.question.clone(),
        asked_at: round.ask_timestamp.clone(),
        answer: round.answer.clone(),
        answered_at: round.answer_timestamp.clone(),
        given_by: round.given_by,
        signed_by: round.answered_by.agent_id.clone(),
        attested: round.answered_by.attested,
        signer: exchanged.answerer,
        resolved: round.resolved,
    }
}

impl ChainReport {
    fn with_warning(mut self) -> Self {
        if self.signer == Signer::IntegrityOnly {
            let who = &self.agent_id;
            self.warnings
                .push(format!("integrity only: no registered key of {who} was given, so anyone may have signed"));
        }
        let unknown = |round: &&RoundReport| round.attested && round.signer == Signer::IntegrityOnly;
        let unknown: Vec<String> = self
            .rounds
            .iter()
            .filter(unknown)
            .map(|round| {
                format!(
                    "round {}: the answer was signed in the name of {}, without a registered key",
                    round.round, round.signed_by
                )
            })
            .collect();
        self.warnings.extend(unknown);
        self
    }
}

impl fmt::Display for ChainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signer = match self.signer {
            Signer::Known => "with a registered key",
            Signer::IntegrityOnly => "with a key that is known from the document alone",
        };
        writeln!(f, "session {}, asked by {} {signer}", self.session_id, self.agent_id)?;
        self.rounds.iter().try_for_each(|round| writeln!(f, "{round}"))?;
        for open in &self.open {
            writeln!(f, "open: {} {}: {}", open.gap_id, Quoted(&open.field), Quoted(&open.question))?;
        }
        if let Some(at) = &self.attested_at {
            writeln!(f, "attested {at}: every gap was answered before")?;
        }
        if let Some((at, by)) = &self.abandoned {
            writeln!(f, "abandoned {at} by {}", by.name())?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}

impl fmt::Display for RoundReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let became = if self.resolved { "resolved" } else { "not taken" };
        let whose = match (self.given_by, self.attested) {
            (Some(GivenBy::Person), _) => "a person".to_owned(),
            (_, true) => format!("{}, signed", self.signed_by),
            (Some(GivenBy::Own), false) => "the agent itself, not signed by it".to_owned(),
            (None, false) => "not signed by its giver".to_owned(),
        };
        write!(f, "round {} {} {} ", self.round, self.asked_at, self.gap_id)?;
        write!(f, "{}: {} answered {} ", Quoted(&self.field), Quoted(&self.question), self.answered_at)?;
        write!(f, "{} by {whose}: {became}", Quoted(&self.answer))
    }
}

/// A text of another party, on one line and unable to pass for ours.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

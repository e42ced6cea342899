//! The verified result in words: the questions, the answers, and their sources.

use super::gap_lines::severity;
use crate::{context::Context, failure::Failure, table::printable};
use countersign_client::clarification::{ChainReport, ProvenKind, RoundReport, Signer};
use countersign_protocol::clarification::GivenBy;

pub(super) fn print(report: &ChainReport, json: bool, context: &Context) -> Result<(), Failure> {
    context.say_document(report, json, text)
}

pub(super) fn text(report: &ChainReport) -> String {
    let signer = match report.signer {
        Signer::Known => "signed with a registered key",
        Signer::IntegrityOnly => "signed with an unregistered key",
    };
    let mut lines = vec![
        format!("proven: {} of session {}", kind_name(report.proven), report.session_id),
        format!("asked by {}, {signer}", report.agent_id),
    ];
    lines.extend(report.rounds.iter().flat_map(round));
    for gap in &report.open {
        lines.push(format!("{} {} at {} is open", gap.gap_id, severity(gap.severity), gap.field));
        lines.push(format!("  {}", gap.question));
    }
    lines.extend(report.attested_at.as_ref().map(|at| format!("attested {at}: every gap was answered before")));
    lines.extend(report.abandoned.as_ref().map(|(at, by)| format!("abandoned {at} by {}", by.name())));
    lines.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines.iter().map(|line| printable(line) + "\n").collect()
}

fn kind_name(proven: ProvenKind) -> &'static str {
    match proven {
        ProvenKind::Message => "message",
        ProvenKind::Record => "record",
        ProvenKind::Attestation => "attestation",
        ProvenKind::Handoff => "handoff",
        ProvenKind::Audit => "audit",
    }
}

fn round(round: &RoundReport) -> [String; 4] {
    let became = if round.resolved { "resolved" } else { "not accepted as an answer" };
    [
        format!("round {}: {} {} at {}, {became}", round.round, round.gap_id, severity(round.severity), round.field),
        format!("  asked {}: {}", round.asked_at, round.question),
        format!("  answered {}: {}", round.answered_at, round.answer),
        format!("  by {}", answer_source(round)),
    ]
}

/// The source of an answer, and the signature that proves it.
fn answer_source(round: &RoundReport) -> String {
    let giver = match round.given_by {
        Some(GivenBy::Person) => "a person",
        Some(GivenBy::Own) => "the agent itself",
        None => "an unnamed giver",
    };
    match (round.attested, round.signer) {
        (true, Signer::Known) => format!("{giver}, signed by {} with a registered key", round.signed_by),
        (true, Signer::IntegrityOnly) => format!("{giver}, signed in the name of {}", round.signed_by),
        (false, _) => format!("{giver}; {} signed that it was given", round.signed_by),
    }
}

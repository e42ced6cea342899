//! `countersign audit check`

use crate::{context::Context, failure::Failure, operations};
use countersign_server::admin::{CheckEvidence, EvidenceCheck, EvidenceFault};
use serde_json::{Value, json};
use std::io::{IsTerminal as _, Write as _};

/// Check the whole evidence: altered, missing, moved and cut off entries, altered openings, and rows that contradict them
///
/// An interrupted check goes on where it was. Exits with 1 if anything is wrong. What only signed checkpoints outside the
/// database show is a log that was rewritten as a whole.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Begin again, even if an earlier check was interrupted.
    #[arg(long)]
    from_start: bool,

    /// Print JSON for programs instead of text for people.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let mut last = None;
    let progress = !arguments.json && !context.terminal.accessible && std::io::stderr().is_terminal();
    operations::ask_on(context, CheckEvidence { from_start: arguments.from_start }, |check: EvidenceCheck| {
        if progress {
            show(&check);
        }
        let goes_on = !check.is_finished();
        last = Some(check);
        Ok(goes_on.then_some(CheckEvidence { from_start: false }))
    })?;
    let check = last.unwrap_or_default();
    if progress {
        let _ = writeln!(std::io::stderr().lock());
    }
    match arguments.json {
        true => context.say_json(&as_json(&check))?,
        false => context.say(&summary(&check))?,
    }
    if check.fault_count > 0 { Err(Failure::told()) } else { Ok(()) }
}

/// A bar on one line, drawn over itself.
fn show(check: &EvidenceCheck) {
    const WIDTH: u64 = 30;
    let filled = check.checked.saturating_mul(WIDTH).checked_div(check.total).unwrap_or(WIDTH).min(WIDTH);
    let bar: String = (0..WIDTH).map(|at| if at < filled { '#' } else { '.' }).collect();
    let _ = write!(
        std::io::stderr().lock(),
        "\r[{bar}] {} of {} entries, {} faults",
        check.checked,
        check.total,
        check.fault_count
    );
}

fn summary(check: &EvidenceCheck) -> String {
    let mut text = format!(
        "{} entries checked: {}\n",
        check.checked,
        match check.fault_count {
            0 => "every one is in its place and as it was written, and the rows agree".to_owned(),
            1 => "1 fault".to_owned(),
            faults => format!("{faults} faults"),
        }
    );
    text.extend(check.faults.iter().map(|fault| format!("  {}\n", line(fault))));
    let more = check.fault_count.saturating_sub(check.faults.len() as u64);
    if more > 0 {
        text += &format!("  and {more} more\n");
    }
    text
}

fn line(fault: &EvidenceFault) -> String {
    match (fault.lane, fault.pos) {
        (Some(lane), Some(pos)) => format!("lane {lane}, position {pos}: {}", fault.what),
        (Some(lane), None) => format!("lane {lane}: {}", fault.what),
        _ => fault.what.clone(),
    }
}

fn as_json(check: &EvidenceCheck) -> Value {
    let fault = |fault: &EvidenceFault| json!({ "lane": fault.lane, "position": fault.pos, "what": fault.what });
    json!({
        "started_at": check.started_at.to_rfc3339(),
        "finished_at": check.finished_at.map(|at| at.to_rfc3339()),
        "entries": check.checked,
        "fault_count": check.fault_count,
        "faults": check.faults.iter().map(fault).collect::<Vec<_>>(),
    })
}

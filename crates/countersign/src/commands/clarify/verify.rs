//! `countersign clarify verify FILE`: verifies with only the document and the keys.

use super::report;
use crate::{commands::documents, context::Context, failure::Failure, table::printable};
use countersign_client::clarification::{
    ChainReport, ChainSeal, Registry, Wrong, check_against, check_attestation, check_audit, check_handoff,
    check_message, check_record,
};
use countersign_protocol::{clarification::PublishedKeys, mplp::read};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Verify offline the questions, the answers and their sources: in an audit, a record, a message, an attestation or a
/// handoff
///
/// Ends with 0 when everything in it is verified, with 1 and the first flaw when it is not, with 2 when there is no
/// such document.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The document, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The signers' keys, as `countersign clarify keys --json` prints them; once for each agent. Without them only the
    /// integrity of the document is verified, and not its signers.
    #[arg(long, value_name = "FILE")]
    keys: Vec<PathBuf>,

    /// An earlier audit, record or handoff of the same session: shows that nothing was cut off since.
    #[arg(long, value_name = "FILE")]
    earlier: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, json: bool, context: &Context) -> Result<(), Failure> {
    let registry = registry(&arguments.keys)?;
    let found = documents::read(&arguments.file)?;
    let check = kind(&found).ok_or_else(|| unknown(&arguments.file))?;
    let earlier = arguments.earlier.as_deref().map(documents::read).transpose()?;
    let chains = earlier.as_ref().map(|earlier| record_of(&found).zip(record_of(earlier)).ok_or_else(no_chain));
    let chains = chains.transpose()?;
    let proven = check(&found, &registry).and_then(|report| match chains {
        Some((now, earlier)) => goes_on(now, earlier, &registry).map(|()| report),
        None => Ok(report),
    });
    match proven {
        Ok(report) => report::print(&report, json, context),
        Err(wrong) => print_flaw(&arguments.file, &wrong, json, context),
    }
}

/// Only the first flaw: everything after it depends on it.
fn print_flaw(file: &Path, wrong: &Wrong, json: bool, context: &Context) -> Result<(), Failure> {
    if json {
        context.say_json(&json!({ "proven": null, "place": wrong.place, "wrong": wrong.flaw.to_string() }))?;
    } else {
        context.say(&format!("{} is NOT proven\n{}\n", file.display(), printable(&wrong.to_string())))?;
    }
    Err(Failure::told())
}

type Check = fn(&Value, &Registry) -> Result<ChainReport, Wrong>;

/// Recognises a document by a member that only its kind has. A document that contains others is matched before them.
fn kind(found: &Value) -> Option<Check> {
    let has = |member: &str| found.get(member).is_some();
    let kinds: [(&str, Check); 5] = [
        ("clarification_chain", check_audit),
        ("handoff_version", check_handoff),
        ("attestation_version", check_attestation),
        ("chain", check_record),
        ("protocol_version", check_message),
    ];
    kinds.into_iter().find(|(member, _)| has(member)).map(|(_, check)| check)
}

fn unknown(file: &Path) -> Failure {
    Failure::new(format!("{}: is no audit, record, message, attestation or handoff", file.display()))
        .hint("`countersign clarify audit SESSION --json` prints an audit")
}

fn registry(files: &[PathBuf]) -> Result<Registry, Failure> {
    files.iter().try_fold(Registry::default(), |registry, file| {
        let keys = documents::read(file)?;
        let keys: PublishedKeys = read::value(&keys).map_err(|why| {
            Failure::new(format!("{}: {why}", file.display())).hint("`countersign clarify keys --json` prints keys")
        })?;
        Ok(registry.with(&keys))
    })
}

/// The chain inside a document that has one.
fn record_of(found: &Value) -> Option<&Value> {
    let inside = found.get("record").or_else(|| found.pointer("/context/clarification"));
    inside.or_else(|| found.get("chain").map(|_| found))
}

fn no_chain() -> Failure {
    Failure::new("--earlier compares two chains: both must be an audit, a record or a handoff")
}

/// A chain that was signed earlier is still the beginning of this one (W-09).
fn goes_on(now: &Value, earlier: &Value, registry: &Registry) -> Result<(), Wrong> {
    let kept = ChainSeal::of_record(earlier, registry);
    let kept = kept.map_err(|wrong| Wrong { place: format!("earlier: {}", wrong.place), flaw: wrong.flaw })?;
    check_against(now, &kept, registry).map(drop)
}

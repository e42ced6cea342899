//! `countersign audit verify`: offline, with nothing but the file.

use crate::{cli::Reading, context::Context, failure::Failure};
use countersign_evidence::{
    bundle::{self, MAX_BYTES, Report},
    note::VerifierKey,
};
use countersign_jose::EvidenceCrypto;
use countersign_protocol::time::UnixMillis;
use serde_json::json;
use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

/// Check a bundle of evidence without any service, and tell its story
///
/// Each sentence names the entries of the log that prove it. Exits with 1 and the first thing wrong, if anything is.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    file: PathBuf,

    /// A verifier key that you trust: of the log, or of a witness that must have cosigned. May be repeated.
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,

    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let keys = arguments.key.iter().map(|text| trusted(text)).collect::<Result<Vec<_>, _>>()?;
    let bytes = read(&arguments.file)?;
    let report = bundle::verify(&EvidenceCrypto, &bytes, &keys).map_err(|fault| {
        Failure::new(format!("{}: {} at {}: {}", arguments.file.display(), fault.code.as_str(), fault.place, fault.why))
    })?;
    match arguments.reading.json {
        true => context.say_json(&document(&report)),
        false => context.say(&told(&report)),
    }
}

fn trusted(text: &str) -> Result<VerifierKey, Failure> {
    let hint = "copy it from /evidence/keys or from the witness, over a channel that you trust";
    VerifierKey::parse(&EvidenceCrypto, text).map_err(|why| Failure::new(format!("--key: {why}")).hint(hint))
}

/// No more than a bundle may have, and one byte.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let unread = |why| Failure::new(format!("{}: cannot be read: {why}", path.display()));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unread)?;
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}

fn told(report: &Report) -> String {
    let Report { origin, size, key_is_trusted, cosigned, story, unproven } = report;
    let mut lines = vec![match key_is_trusted {
        true => format!("Proven by the log {origin} of {size} entries, whose key you named."),
        false => format!(
            "Proven by the log {origin} of {size} entries, with the key in the file: compare it with the log's own (--key)."
        ),
    }];
    let times = cosigned.iter().map(|(name, seconds)| {
        let at =
            i64::try_from(*seconds).map_or_else(|_| seconds.to_string(), |at| UnixMillis::from_secs(at).to_rfc3339());
        format!("The witness {name} saw this log at {at}, and no other history of it before.")
    });
    lines.extend(times);
    lines.push(String::new());
    lines.extend(story.iter().map(|told| format!("{}  {}", places(&told.leaves), told.text)));
    if !unproven.is_empty() {
        lines.push(format!(
            "\nNot proven, because the log has it no more or the exporter left it out: {}.",
            unproven.join(", ")
        ));
    }
    lines.push("\nThis shows what happened, not that nothing else did: a bundle is an extract of the log.".into());
    lines.join("\n") + "\n"
}

/// `[entry 12]`
fn places(leaves: &[u64]) -> String {
    let numbers: Vec<String> = leaves.iter().map(ToString::to_string).collect();
    format!("[{} {}]", if leaves.len() == 1 { "entry" } else { "entries" }, numbers.join(" and "))
}

fn document(report: &Report) -> serde_json::Value {
    json!({
        "origin": report.origin,
        "size": report.size,
        "key_is_trusted": report.key_is_trusted,
        "cosigned": report.cosigned.iter().map(|(name, at)| json!({ "witness": name, "seconds": at })).collect::<Vec<_>>(),
        "story": report.story.iter().map(|told| json!({ "text": told.text, "entries": told.leaves })).collect::<Vec<_>>(),
        "unproven": report.unproven,
    })
}

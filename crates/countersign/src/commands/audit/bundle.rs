//! `countersign audit bundle`

use crate::{context::Context, failure::Failure, operations};
use countersign_server::admin::ExportBundle;
use std::{fs, path::PathBuf};

/// Write one file that proves what happened, for anyone to verify without this service
///
/// It has the entries about a decision, a session, a delegation or an execution, their proofs in a signed checkpoint of the log,
/// and the values behind them, some of them personal: leave values out with --withhold.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,

    /// The file to write. It must not exist yet.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Leave out the values of this member, such as decided_by. May be repeated.
    #[arg(long, value_name = "MEMBER")]
    withhold: Vec<String>,

    /// The project. May be omitted if there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

/// Exactly one of them.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct SubjectArguments {
    /// Everything about this decision.
    #[arg(long, value_name = "ID")]
    decision: Option<String>,

    /// Everything in this AAP session.
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Everything under this delegation.
    #[arg(long, value_name = "ID")]
    delegation: Option<String>,

    /// Everything about the decision behind this execution.
    #[arg(long, value_name = "ID")]
    execution: Option<String>,
}

impl SubjectArguments {
    fn named(self) -> Option<(&'static str, String)> {
        let Self { decision, session, delegation, execution } = self;
        let all = [("decision", decision), ("session", session), ("delegation", delegation), ("execution", execution)];
        all.into_iter().find_map(|(kind, id)| Some((kind, id?)))
    }
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let Arguments { subject, output, withhold, project } = arguments;
    let (kind, id) =
        subject.named().ok_or_else(|| Failure::misused("name a decision, session, delegation or execution"))?;
    if output.exists() {
        return Err(Failure::new(format!("{} exists already", output.display())));
    }
    let request = ExportBundle { project, kind: kind.into(), id, withheld: withhold };
    let bundle = operations::ask(context, request)?;
    let text = serde_json::to_string_pretty(&bundle).map_err(|why| Failure::new(why.to_string()))?;
    let unwritten = |why| Failure::new(format!("{}: cannot be written: {why}", output.display()));
    fs::write(&output, text + "\n").map_err(unwritten)?;
    let entries = bundle.get("leaves").and_then(|leaves| leaves.as_array()).map_or(0, Vec::len);
    context.say(&format!("{} has {entries} entries; verify it with `countersign audit verify`\n", output.display()))
}

//! `countersign call settle`

use crate::{context::Context, failure::Failure, operations};
use countersign_server::admin::SettleCall;

/// Record whether a call with an unknown outcome ran. Check the upstream first: repeats are forwarded from then on
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The call, as `countersign call list` and refusals of its repeats name it.
    call_id: String,

    /// It was carried out.
    #[arg(long, required_unless_present = "did_not_run", conflicts_with = "did_not_run")]
    ran: bool,

    /// It was not carried out, and will not be.
    #[arg(long)]
    did_not_run: bool,

    /// How you found out, for the evidence.
    #[arg(long)]
    reason: String,

    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let request = SettleCall {
        project: arguments.project.clone(),
        call_id: arguments.call_id.clone(),
        ran: arguments.ran,
        reason: arguments.reason.clone(),
    };
    let settled = operations::ask(context, request)?;
    let outcome = if arguments.ran { "ran" } else { "did not run" };
    context.say(&format!("call {} is settled: {} {} {outcome}\n", settled.call_id, settled.method, settled.target))
}

//! `countersign key lift`

use crate::{
    commands::lift::{self, Lifted},
    context::Context,
    failure::Failure,
    operations,
    table::printable,
};
use countersign_server::admin::{ApiKey, LiftApiKeys};

/// Reactivate API keys that a restore suspended. Make sure first that they were not revoked since the backup
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    lifted: Lifted,
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let Lifted { id, project, .. } = arguments.lifted;
    let line = |key: &ApiKey| {
        let state = if key.is_live() { "in use" } else { "revoked" };
        format!("key {} of {} is {state}\n", key.id, printable(&key.principal))
    };
    let lifted = operations::ask(context, LiftApiKeys { project, id })?;
    lift::say(context, &lifted, line, "no key is suspended\n")
}

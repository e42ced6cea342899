//! `countersign delegation lift`

use super::word;
use crate::{
    commands::lift::{self, Lifted},
    context::Context,
    failure::Failure,
    operations,
};
use countersign_server::admin::{Delegation, LiftDelegations};

/// Reactivate delegations that a restore suspended. Make sure first that they were not revoked since the backup
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    lifted: Lifted,
}

pub(crate) fn run(arguments: Arguments, context: &Context) -> Result<(), Failure> {
    let Lifted { id, project, .. } = arguments.lifted;
    let line = |found: &Delegation| {
        format!("delegation {} of {} to {} is {}\n", found.id, found.subject, found.operator, word(&found.state))
    };
    let lifted = operations::ask(context, LiftDelegations { project, id })?;
    lift::say(context, &lifted, line, "no delegation is suspended\n")
}

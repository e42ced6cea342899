//! `countersign keys rotate`

use crate::{context::Context, failure::Failure, operations};
use countersign_server::admin::{KeyInUse, RotateSigningKeys};

/// Sign with a new key from now on. The old one stays published while anything signed by it is valid
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, context: &Context) -> Result<(), Failure> {
    let rotated = operations::ask(context, RotateSigningKeys {})?;
    let old =
        |key: &KeyInUse| key.retires_at.map(|at| format!("{} stays published until {}\n", key.kid, at.to_rfc3339()));
    let olds: String = rotated.published.iter().filter_map(old).collect();
    context.say(&format!("{} signs from now on; nodes that run take it up within seconds\n{olds}", rotated.added.kid))
}

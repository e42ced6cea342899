//! `countersign key revoke ID`

use crate::{context::Context, engine, failure::Failure, table::printable};
use countersign_server::admin::Refusal;

/// End an API key at once. Ending it twice changes nothing
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The key, as `countersign key list` names it. Not its secret.
    id: String,

    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let key = engine::run(context, async |engine| {
        let project = engine::project(engine, arguments.project.as_deref()).await?;
        engine.revoke_key(&project, &arguments.id).await.map_err(refused)
    })?;
    let since = key.revoked_at.map_or_else(String::new, |at| at.to_rfc3339());
    context.say(&format!("key {} of {} is revoked since {since}\n", key.id, printable(&key.principal)))
}

fn refused(why: Refusal) -> Failure {
    match why {
        Refusal::NotFound(why) => Failure::new(why).hint("`countersign key list` shows the keys by their ids"),
        why => why.into(),
    }
}

//! `countersign user disable NAME` and `countersign user enable NAME`

use crate::{context::Context, engine, failure::Failure};
use countersign_server::admin::Disabled;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The person.
    name: String,
}

pub(crate) fn run(arguments: &Arguments, disabled: bool, context: &Context) -> Result<(), Failure> {
    let name = &arguments.name;
    if !disabled {
        engine::run(context, async |engine| Ok(engine.set_disabled(name, false).await?))?;
        return context.say(&format!(
            "{name} can sign in; agents, keys and tokens that ended with the account have to be made again\n"
        ));
    }
    let ended = engine::run(context, async |engine| Ok(engine.disable_person(name, "operator").await?))?;
    context.say(&format!("{name} cannot sign in any more, and is signed out everywhere\n{}", told(&ended)))
}

/// What ended, by kind.
fn told(ended: &Disabled) -> String {
    let lines = [
        (ended.delegations, "delegations of agents revoked"),
        (ended.keys, "API keys revoked"),
        (ended.tokens, "subscriber tokens ended"),
        (ended.questions, "open questions cancelled"),
        (ended.approvals, "unused approvals cancelled"),
    ];
    lines.iter().map(|(count, what)| format!("  {what}: {count}\n")).collect()
}

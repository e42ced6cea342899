//! `countersign user disable NAME` and `countersign user enable NAME`

use crate::{context::Context, failure::Failure, operations};
use countersign_server::admin::{DisablePerson, EnablePerson, EndedWithPerson};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The person.
    name: String,
}

pub(crate) fn run(arguments: &Arguments, disabled: bool, context: &Context) -> Result<(), Failure> {
    let name = &arguments.name;
    if !disabled {
        operations::ask(context, EnablePerson { name: name.clone() })?;
        return context.say(&format!(
            "{name} can sign in; agents, keys and tokens that ended with the account have to be made again\n"
        ));
    }
    let ended = operations::ask(context, DisablePerson { name: name.clone() })?;
    context.say(&format!("{name} cannot sign in any more, and is signed out everywhere\n{}", told(&ended)))
}

/// The number of ended items, by kind.
fn told(ended: &EndedWithPerson) -> String {
    let lines = [
        (ended.delegations, "delegations of agents revoked"),
        (ended.api_keys, "API keys revoked"),
        (ended.subscriber_tokens, "subscriber tokens ended"),
        (ended.questions, "open questions cancelled"),
        (ended.approvals, "unused approvals cancelled"),
    ];
    lines.iter().map(|(count, what)| format!("  {what}: {count}\n")).collect()
}

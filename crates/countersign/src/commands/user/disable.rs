//! `countersign user disable NAME` and `countersign user enable NAME`

use crate::{context::Context, engine, failure::Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The person.
    name: String,
}

pub(crate) fn run(arguments: &Arguments, disabled: bool, context: &Context) -> Result<(), Failure> {
    let name = &arguments.name;
    engine::run(context, async |engine| Ok(engine.set_disabled(name, disabled).await?))?;
    context.say(&match disabled {
        true => format!("{name} cannot sign in any more, and is signed out everywhere\n"),
        false => format!("{name} can sign in\n"),
    })
}

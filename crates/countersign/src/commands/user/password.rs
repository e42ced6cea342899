//! `countersign user password NAME`

use crate::{context::Context, engine, failure::Failure, password};
use countersign_server::admin::{AccountRefusal, AccountTrouble};

/// Set a person's password, and end all their sign-ins and subscriber tokens
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The person.
    name: String,

    #[command(flatten)]
    password: password::Source,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let name = &arguments.name;
    engine::run(context, async |engine| {
        if !engine.people().await?.iter().any(|(person, _)| person.subject == *name) {
            return Err(AccountTrouble::Refused(AccountRefusal::Unknown(name.clone())).into());
        }
        let password = password::read(&arguments.password, name, context)?;
        engine.set_password(name, &password).await?;
        Ok(())
    })?;
    context.say(&format!("{name} has a new password, and is signed out everywhere; their subscriber tokens ended\n"))
}

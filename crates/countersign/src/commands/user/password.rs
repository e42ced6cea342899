//! `countersign user password NAME`

use crate::{context::Context, failure::Failure, operations, password};
use countersign_server::admin::{AdminRefusal, ListPeople, SetPassword};

/// Set a person's password, and end all their sign-in sessions and subscriber tokens
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The person.
    name: String,

    #[command(flatten)]
    password: password::PasswordSource,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let name = &arguments.name;
    // Checks the account first, before a password is typed in vain.
    if !operations::ask(context, ListPeople {})?.iter().any(|person| person.name == *name) {
        return Err(AdminRefusal::UnknownPerson(name.clone()).into());
    }
    let password = password::read(&arguments.password, name, context)?;
    operations::ask(context, SetPassword { name: name.clone(), password })?;
    context.say(&format!("{name} has a new password, and is signed out everywhere; their subscriber tokens ended\n"))
}

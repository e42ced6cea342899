//! `countersign user …`

mod add;
mod disable;
mod list;
mod password;
mod role;

use crate::{context::Context, failure::Failure};
use clap::{Subcommand, ValueEnum};
use countersign_server::admin;

/// Manage people's accounts, and their roles in projects
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(add::Arguments),
    List(list::Arguments),
    Role(role::Arguments),
    /// Disable an account, and end its sign-in sessions at once
    Disable(disable::Arguments),
    /// Let the person sign in again
    Enable(disable::Arguments),
    Password(password::Arguments),
}

pub(crate) fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add::run(&arguments, context),
        Command::List(arguments) => list::run(&arguments, context),
        Command::Role(arguments) => role::run(&arguments, context),
        Command::Disable(arguments) => disable::run(&arguments, true, context),
        Command::Enable(arguments) => disable::run(&arguments, false, context),
        Command::Password(arguments) => password::run(&arguments, context),
    }
}

/// A person's role in a project.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleArgument {
    /// Connects agents and revokes their access.
    User,
    /// Answers agents' questions.
    Approver,
    /// Changes the project and revokes any person's connections.
    Admin,
    /// Reads all audit entries.
    Auditor,
}

impl From<RoleArgument> for admin::Role {
    fn from(role: RoleArgument) -> Self {
        match role {
            RoleArgument::User => Self::User,
            RoleArgument::Approver => Self::Approver,
            RoleArgument::Admin => Self::Admin,
            RoleArgument::Auditor => Self::Auditor,
        }
    }
}

/// The name of a role, the same as on the command line.
fn word(role: &admin::Role) -> &'static str {
    match role {
        admin::Role::User => "user",
        admin::Role::Approver => "approver",
        admin::Role::Admin => "admin",
        admin::Role::Auditor => "auditor",
    }
}

fn words(roles: &[admin::Role]) -> String {
    roles.iter().map(word).collect::<Vec<_>>().join(", ")
}
